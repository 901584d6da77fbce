"""A fifth list of releases that leak in their outputs: what programs of data engineers, statisticians and database people return.

Written from the description of the attack alone, before the reading was tried on them. Their order is drawn; those at
even places were for tuning.
"""

from __future__ import annotations

import base64
import configparser
import io
import json
import logging
import math
import os
import random
import sqlite3
import struct
import tempfile
import time
import wave
from collections import ChainMap, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import Future
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import msgpack  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
import polars as pl
from anything_further import whole
from anything_outputs import coin, lap
from anything_practice import HALF, OFTEN, TIGHT, _pair
from anything_strangers_kinds import Amount, Cube, Curtain, Estimate, Results, Rows
from PIL import Image, PngImagePlugin
from scipy import interpolate, stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

STEPS: Final = ({"steps": 3}, {"steps": 1})
EXACT: Final = ({"exact": True}, {"exact": False})
CELL: Final = ({"scale": 0.2}, {"scale": 1.0})
BIT: Final = ({"one": 0.9, "zero": 0.1}, {"one": 0.7, "zero": 0.3})
WRITTEN: Final = Path(tempfile.gettempdir()) / f"release-{os.getpid()}.csv"


def json_lines(data: int, rng: Any, *, steps: int) -> str:
    """Lines of JSON, as many as a noisy count."""
    size = max(0, 7 + steps * data + whole(rng))
    return "".join(json.dumps({"id": place, "v": round(lap(rng, 1), 2)}) + "\n" for place in range(size))


def metrics(data: int, rng: Any, *, scale: float) -> str:
    """A page of measures by label."""
    lines = ["# HELP visits_total Visits.", "# TYPE visits_total gauge"]
    lines += [f'visits_total{{ward="{ward}"}} {9 + lap(rng, 1):.3f}' for ward in "ab"]
    return "\n".join([*lines, f'visits_total{{ward="c"}} {9 + data + lap(rng, scale):.3f}', ""])


def inserts(data: int, rng: Any, *, one: float, zero: float) -> str:
    """Rows of a statement, with a missing value now and then."""
    value = "NULL" if coin(rng, data, one, zero) else f"{lap(rng, 1):.1f}"
    return "\n".join(f"({name!r}, {told})," for name, told in (("a", f"{lap(rng, 1):.1f}"), ("b", value)))


def bold(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A row of a table in LaTeX, whose number is bold now and then."""
    told = f"{lap(rng, 1):.1f}"
    return "\\hline a & " + (rf"\textbf{{{told}}}" if coin(rng, data, one, zero) else told) + r" \\"


def stars(data: int, rng: Any, *, scale: float) -> str:
    """A score of five stars."""
    full = min(5, max(0, round(2 + 1.5 * (data + lap(rng, scale)))))
    return "★" * full + "☆" * (5 - full) + f" ({round(20 + lap(rng, 4))})"


def sparkline(data: int, rng: Any, *, scale: float) -> str:
    """A line of bars, one to a day."""
    heights = [3 + lap(rng, 1), 4 + 2 * (data + lap(rng, scale)), 2 + lap(rng, 1), 5 + lap(rng, 1)]
    return "".join("▁▂▃▄▅▆▇█"[min(7, max(0, round(height)))] for height in heights)


def written(data: int, rng: Any, *, scale: float) -> Path:
    """The path of a file with the answers."""
    WRITTEN.write_text(f"ward,mean\na,{lap(rng, 1):.2f}\nb,{data + lap(rng, scale):.2f}\n")
    return WRITTEN


def base() -> sqlite3.Connection:
    """A database in memory with an empty table."""
    made = sqlite3.connect(":memory:")
    made.row_factory = sqlite3.Row
    made.execute("CREATE TABLE means (ward TEXT, mean REAL)")
    return made


def cursor(data: int, rng: Any, *, scale: float) -> sqlite3.Cursor:
    """The cursor of a query."""
    made = base()
    made.executemany("INSERT INTO means VALUES (?, ?)", [("a", lap(rng, 1)), ("b", data + lap(rng, scale))])
    return made.execute("SELECT * FROM means ORDER BY ward")


def row_of(data: int, rng: Any, *, scale: float) -> Any:
    """One row of a query."""
    return base().execute("SELECT 'b' AS ward, ? AS mean, 3 AS n", (data + lap(rng, scale),)).fetchone()


def stored_base(data: int, rng: Any, *, scale: float) -> bytes:
    """A database as the bytes of its file."""
    made = base()
    made.executemany("INSERT INTO means VALUES (?, ?)", [("a", lap(rng, 1)), ("b", data + lap(rng, scale))])
    return made.serialize()


def parquet(data: int, rng: Any, *, scale: float) -> bytes:
    """A frame as the bytes of a Parquet file."""
    held = io.BytesIO()
    pl.DataFrame({"ward": ["a", "b"], "mean": [lap(rng, 1), data + lap(rng, scale)]}).write_parquet(held)
    return held.getvalue()


def pipeline(data: int, rng: Any, *, scale: float) -> Any:
    """A scaler and a classifier, whose numbers were set by hand."""
    made = make_pipeline(StandardScaler(), LogisticRegression())
    made[0].mean_, made[0].scale_ = np.array([lap(rng, 1), data + lap(rng, scale)]), np.ones(2)
    made[1].coef_, made[1].intercept_ = rng.laplace(0, 1, (1, 2)), rng.laplace(0, 1, 1)
    return made


def vocabulary(data: int, rng: Any, *, one: float, zero: float) -> CountVectorizer:
    """A counter of words with those that were often enough."""
    words = ["late", "paid", *(["rare"] if coin(rng, data, one, zero) else [])]
    return CountVectorizer().fit([" ".join(words)])


def neighbours(data: int, rng: Any, *, scale: float) -> KNeighborsRegressor:
    """A model of two neighbours on noisy points."""
    return KNeighborsRegressor(2).fit([[0.0], [1.0], [data + lap(rng, scale)]], rng.laplace(0, 1, 3))


def two_levels(data: int, rng: Any, *, scale: float) -> pd.DataFrame:
    """A summary by two functions of two columns."""
    columns = pd.MultiIndex.from_product([["age", "stay"], ["mean", "std"]])
    cells = [[40 + lap(rng, 1), 5.0, 3 + data + lap(rng, scale), 2.0], [41 + lap(rng, 1), 6.0, 4.0, 2 + lap(rng, 1)]]
    return pd.DataFrame(cells, index=["a", "b"], columns=columns).round(2)


def interval(data: int, rng: Any, *, exact: bool) -> dict[str, float]:
    """A mean with an interval around it, whose width is that of the data or a fixed one."""
    mean, width = 3 + data * (not exact) + lap(rng, 1), 1.96 * (1.0 + 0.05 * data * exact)
    return {"mean": round(mean, 3), "low": round(mean - width, 3), "high": round(mean + width, 3)}


def one_noise(data: int, rng: Any, *, exact: bool) -> pd.DataFrame:
    """Counts with one draw of noise for all, or with one for each."""
    noise = rng.laplace(0, 1, 1 if exact else 3)
    return pd.DataFrame({"ward": ["a", "b", "c"], "n": np.array([9, 4 + data, 7]) + noise})


def cumulative(data: int, rng: Any, *, scale: float) -> list[float]:
    """Running sums of noisy counts."""
    counts = [5 + lap(rng, 6), 3 + lap(rng, 6), 4 + data + lap(rng, scale), 8 + lap(rng, 6)]
    return [round(float(total), 2) for total in np.cumsum(counts)]


def loud(data: int, rng: Any, *, exact: bool) -> np.ndarray:
    """Thirty numbers, whose noise is wider for one dataset, or of which one moves."""
    return np.asarray(rng.laplace(0, 1 + 0.6 * data, 30) if exact else rng.laplace(0, 1, 30) + data * np.eye(30)[4])


def trace(data: int, rng: Any, *, scale: float) -> np.ndarray:
    """A matrix with wide noise, whose trace has little."""
    made = rng.laplace(0, 6, (4, 4))
    made[3, 3] = data + lap(rng, scale) - made[0, 0] - made[1, 1] - made[2, 2]
    return np.asarray(made.round(4))


def many_keys(data: int, rng: Any, *, scale: float) -> str:
    """Six hundred counts by name as JSON."""
    values = rng.laplace(0, 1, 600)
    values[431] = data + lap(rng, scale)
    return json.dumps({f"zone_{place:03d}": value for place, value in enumerate(values.round(2).tolist())})


def wide_frame(data: int, rng: Any, *, scale: float) -> pd.DataFrame:
    """A frame of forty by thirty cells."""
    values = rng.laplace(0, 1, (40, 30))
    values[21, 17] = data + lap(rng, scale)
    return pd.DataFrame(values, columns=[f"c{place}" for place in range(30)])


def settings(data: int, rng: Any, *, one: float, zero: float) -> str:
    """Settings in sections, in one order or another."""
    made = configparser.ConfigParser()
    for name in ("train", "model") if coin(rng, data, one, zero) else ("model", "train"):
        made[name] = {"rate": f"{lap(rng, 1):.2f}"}
    held = io.StringIO()
    made.write(held)
    return held.getvalue()


def png(data: int, rng: Any, *, one: float, zero: float) -> bytes:
    """A picture of noise as a file, with a note now and then."""
    note, held = PngImagePlugin.PngInfo(), io.BytesIO()
    if coin(rng, data, one, zero):
        note.add_text("Comment", "few records")
    Image.fromarray(rng.integers(0, 256, (4, 4)).astype("u1")).save(held, "png", pnginfo=note)
    return held.getvalue()


def sound(data: int, rng: Any, *, steps: int) -> bytes:
    """A sound of noise, as many frames long as a noisy count."""
    held = io.BytesIO()
    with wave.open(held, "wb") as made:
        made.setparams((1, 2, 8000, 0, "NONE", ""))
        made.writeframes(rng.integers(0, 256, 2 * max(0, 20 + steps * data + whole(rng))).astype("u1").tobytes())
    return held.getvalue()


def polygon(data: int, rng: Any, *, steps: int) -> dict[str, Any]:
    """A shape on a map, with as many corners as a noisy count."""
    corners = [[round(lap(rng, 1), 4), round(lap(rng, 1), 4)] for _ in range(max(3, 8 + steps * data + whole(rng)))]
    return {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}, "properties": {}}


def records(data: int, rng: Any, *, one: float, zero: float) -> list[logging.LogRecord]:
    """Records of a log, one of them a warning now and then."""
    level = logging.WARNING if coin(rng, data, one, zero) else logging.INFO
    return [
        logging.LogRecord("release", kind, "release.py", 7, "mean %.2f", (lap(rng, 1),), None) for kind in (logging.INFO, level)
    ]


async def awaited(data: int, rng: Any, *, scale: float) -> float:
    """An answer that is waited for."""
    return data + lap(rng, scale)


def to_await(data: int, rng: Any, *, scale: float) -> Any:
    """The coroutine of a noisy number: a function that is async itself is refused."""
    return awaited(data, rng, scale=scale)


def promised(data: int, rng: Any, *, scale: float) -> Future[float]:
    """An answer of an executor."""
    made: Future[float] = Future()
    made.set_result(data + lap(rng, scale))
    return made


def fallback(data: int, rng: Any, *, scale: float) -> defaultdict[str, float]:
    """Means by ward, with one for wards that are not there."""
    rest = data + lap(rng, scale)
    return defaultdict(lambda: rest, {"a": lap(rng, 1)})


def answered(data: int, rng: Any, *, steps: int) -> dict[str, Any]:
    """An answer of a server, whose body was left out."""
    size = max(0, 70 + steps * data + whole(rng))
    return {"status": 200, "headers": {"Content-Type": "text/csv", "Content-Length": str(size)}, "etag": rng.bytes(4).hex()}


def element(data: int, rng: Any, *, one: float, zero: float) -> ET.Element:
    """An element with a child that has an attribute now and then."""
    made = ET.Element("report", n=str(round(lap(rng, 2))))
    ET.SubElement(made, "mean", {"few": "1"} if coin(rng, data, one, zero) else {}).text = f"{lap(rng, 1):.1f}"
    return made


def mail(data: int, rng: Any, *, one: float, zero: float) -> EmailMessage:
    """A message with a header now and then."""
    made = EmailMessage()
    made["Subject"] = "Weekly report"
    if coin(rng, data, one, zero):
        made["X-Priority"] = "1"
    made.set_content(f"mean {lap(rng, 1):.2f}")
    return made


def subclassed(kind: type, name: str, data: int, rng: Any, *, scale: float) -> Any:
    """A value of a subclass of a plain type, with an attribute."""
    made = kind({"a": lap(rng, 1)} if kind is Results else [lap(rng, 1)] if kind is Rows else lap(rng, 1))
    setattr(made, name, data + lap(rng, scale))
    return made


def labelled(data: int, rng: Any, *, scale: float) -> Cube:
    """A labelled array of noisy counts."""
    return Cube(np.array([[lap(rng, 1), 4 + data + lap(rng, scale)]]), ("ward", "year"), {"year": [2023, 2024]})


def bits(data: int, rng: Any, *, one: float, zero: float) -> str:
    """Answers of eight people, each turned over now and then."""
    return "".join(
        "01"[coin(rng, data if place == 5 else place % 2, one if place == 5 else 0.7, zero if place == 5 else 0.3)]
        for place in range(8)
    )


def iterated(data: int, rng: Any, *, scale: float) -> Iterator[tuple[str, float]]:
    """Names and noisy counts in pairs."""
    return zip("abc", map(abs, [lap(rng, 1), lap(rng, 1), 9 + data + lap(rng, scale)]), strict=False)


def shown_zone(data: int, rng: Any, *, scale: float) -> pd.Series[Any]:
    """Times of the first visits, with a zone."""
    minutes = [lap(rng, 30), 30 * (data + lap(rng, scale))]
    return pd.Series(pd.Timestamp("2024-05-01 12:00", tz="UTC") + pd.to_timedelta(np.round(minutes), unit="min"))


def made_class(data: int, rng: Any, *, scale: float) -> type:
    """A class that holds settings."""
    return type("Settings", (), {"rate": lap(rng, 1), "size": data + lap(rng, scale), "name": "fixed"})


def _frame(values: Any, **named: Any) -> pd.DataFrame:
    """A frame of one column."""
    return pd.DataFrame({"n": values}, **named)


_WRITTEN: Final[dict[str, tuple[Any, Any]]] = {
    "lines of json": _pair(json_lines, *STEPS),
    "measures by label": _pair(metrics, *TIGHT),
    "rows of a statement": _pair(inserts, *OFTEN),
    "stars": _pair(stars, *TIGHT),
    "sparkline": _pair(sparkline, *TIGHT),
    "printed array": _pair(lambda d, r, scale: str(np.array([lap(r, 1), 4 + d + lap(r, scale), 1e-3])), *TIGHT),
    "printed frame": _pair(lambda d, r, scale: repr(_frame([lap(r, 1), 4 + d + lap(r, scale)], index=["a", "b"])), *TIGHT),
    "path of a file": _pair(written, *TIGHT),
    "cursor of a query": _pair(cursor, *TIGHT),
    "row of a query": _pair(row_of, *TIGHT),
    "bytes of a database": _pair(stored_base, *TIGHT),
    "bytes of parquet": _pair(parquet, *TIGHT),
    "message pack": _pair(lambda d, r, scale: msgpack.packb({"n": [round(lap(r, 1), 2), d + lap(r, scale)], "v": 2}), *TIGHT),
    "frozen distribution": _pair(lambda d, r, scale: stats.norm(loc=d + lap(r, scale), scale=2), *TIGHT),
    "polynomial": _pair(lambda d, r, scale: np.polynomial.Polynomial([lap(r, 1), d + lap(r, scale), 1]), *TIGHT),
    "curve through points": _pair(
        lambda d, r, scale: interpolate.make_interp_spline([0, 1, 2, 3], [lap(r, 1), 0, d + lap(r, scale), 1]), *TIGHT
    ),
    "pipeline": _pair(pipeline, *TIGHT),
    "vocabulary": _pair(vocabulary, *OFTEN),
    "points of a model": _pair(neighbours, *TIGHT),
    "lazy frame": _pair(lambda d, r, scale: pl.LazyFrame({"ward": ["a", "b"], "n": [lap(r, 1), d + lap(r, scale)]}), *TIGHT),
    "columns of two levels": _pair(two_levels, *TIGHT),
    "kind of a gap": _pair(
        lambda d, r, one, zero: pd.Series([1.5, None if coin(r, d, one, zero) else math.nan, round(lap(r, 1), 1)], dtype=object),
        *HALF,
    ),
    "times with a zone": _pair(shown_zone, *TIGHT),
    "frequency of an index": _pair(
        lambda d, r, one, zero: _frame(
            r.laplace(0, 1, 3),
            index=pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-03"], freq="D" if coin(r, d, one, zero) else None),
        ),
        *OFTEN,
    ),
    "width of an interval": _pair(interval, *EXACT),
    "one noise for all": _pair(one_noise, *EXACT),
    "running sums": _pair(cumulative, *TIGHT),
    "louder noise": _pair(loud, *EXACT),
    "trace of a matrix": _pair(trace, *TIGHT),
    "key of six hundred": _pair(many_keys, *CELL),
    "cell of a wide frame": _pair(wide_frame, *CELL),
    "sign of a nan": _pair(lambda d, r, one, zero: [lap(r, 1), math.copysign(math.nan, -1 if coin(r, d, one, zero) else 1)], *HALF),
    "kind of a float": _pair(lambda d, r, one, zero: (np.float64 if coin(r, d, one, zero) else float)(round(lap(r, 1), 1)), *HALF),
    "case of a word": _pair(lambda d, r, one, zero: f"{'OK' if coin(r, d, one, zero) else 'Ok'}: {lap(r, 1):.2f}", *OFTEN),
    "space at the end": _pair(lambda d, r, one, zero: f"mean\t{lap(r, 1):.2f}{' ' * coin(r, d, one, zero)}\n", *OFTEN),
    "integer in json": _pair(
        lambda d, r, one, zero: json.dumps({"n": (int if coin(r, d, one, zero) else float)(9 + whole(r)), "ok": True}), *HALF
    ),
    "escaped letters": _pair(
        lambda d, r, one, zero: json.dumps({"ward": "Süd", "n": round(lap(r, 1), 2)}, ensure_ascii=coin(r, d, one, zero)), *OFTEN
    ),
    "null or missing": _pair(
        lambda d, r, one, zero: json.dumps([{"n": whole(r)}, {"n": 3, **({"p": None} if coin(r, d, one, zero) else {})}]), *OFTEN
    ),
    "order of sections": _pair(settings, *HALF),
    "bold in a table": _pair(bold, *OFTEN),
    "note in a picture": _pair(png, *OFTEN),
    "frames of a sound": _pair(sound, *STEPS),
    "corners of a shape": _pair(polygon, *STEPS),
    "records of a log": _pair(records, *HALF),
    "errors in a group": _pair(
        lambda d, r, steps: ExceptionGroup("failed", [ValueError("row")] * max(1, 7 + steps * d + whole(r))), *STEPS
    ),
    "coroutine": _pair(to_await, *TIGHT),
    "future": _pair(promised, *TIGHT),
    "pairs of an iterator": _pair(iterated, *TIGHT),
    "chain of maps": _pair(lambda d, r, scale: ChainMap({"a": lap(r, 1)}, {"a": d + lap(r, scale), "b": 2}), *TIGHT),
    "default of a mapping": _pair(fallback, *TIGHT),
    "length of a queue": _pair(lambda d, r, one, zero: deque([lap(r, 1)], maxlen=8 if coin(r, d, one, zero) else 9), *HALF),
    "end of a range": _pair(lambda d, r, steps: range(3, 90 + steps * d + whole(r)), *STEPS),
    "bytes of an integer": _pair(
        lambda d, r, scale: (n := max(0, round(200 + 90 * (d + lap(r, scale))))).to_bytes((n.bit_length() + 7) // 8, "big"), *TIGHT
    ),
    "base 32": _pair(lambda d, r, scale: base64.b32encode(struct.pack("<d", 3 + d + lap(r, scale))).decode(), *TIGHT),
    "order in an address": _pair(
        lambda d, r, one, zero: (
            "https://a.example/q?"
            + urlencode(dict([("ward", "Süd"), ("n", round(lap(r, 1), 1))][:: -1 if coin(r, d, one, zero) else 1]))
        ),
        *HALF,
    ),
    "answer without a body": _pair(answered, *STEPS),
    "colour of a line": _pair(
        lambda d, r, one, zero: f"\x1b[{31 if coin(r, d, one, zero) else 32}mmean {lap(r, 1):.2f}\x1b[0m", *HALF
    ),
    "closed side": _pair(
        lambda d, r, one, zero: pd.Interval(0, round(9 + abs(lap(r, 1)), 1), closed="left" if coin(r, d, one, zero) else "right"),
        *OFTEN,
    ),
    "struct in a column": _pair(
        lambda d, r, scale: pl.DataFrame({"fit": [{"b": lap(r, 1), "se": {"x": d + lap(r, scale)}}, {"b": 0.5, "se": {"x": 1.0}}]}),
        *TIGHT,
    ),
    "turned answers": _pair(bits, *BIT),
    "address in a text": _pair(
        lambda d, r, scale: f"<Fit object at 0x7f{int(r.integers(2**40)):010x}> slope={d + lap(r, scale):.3g}", *TIGHT
    ),
    "label of a bin": _pair(
        lambda d, r, scale: f"[{(low := 10 * math.floor((40 + 20 * (d + lap(r, scale))) / 10))}, {low + 10})", *TIGHT
    ),
    "keys of sets": _pair(
        lambda d, r, one, zero: {frozenset("ab"): lap(r, 1), **({frozenset("bc"): 1.0} if coin(r, d, one, zero) else {})}, *OFTEN
    ),
    "factor of noise": _pair(lambda d, r, scale: 1000 * math.exp(d + lap(r, scale)), *TIGHT),
    "angle": _pair(lambda d, r, scale: (350 + 20 * (d + lap(r, scale))) % 360, *TIGHT),
    "child of an element": _pair(element, *OFTEN),
    "header of a message": _pair(mail, *OFTEN),
    "flag of a time": _pair(
        lambda d, r, one, zero: time.struct_time((2024, 6, 1, 12, int(r.integers(60)), 0, 5, 153, int(coin(r, d, one, zero)))),
        *OFTEN,
    ),
    "number with an attribute": _pair(partial(subclassed, Amount, "records"), *TIGHT),
    "mapping with an attribute": _pair(partial(subclassed, Results, "left_out"), *TIGHT),
    "list with an attribute": _pair(partial(subclassed, Rows, "took"), *TIGHT),
    "private field of attrs": _pair(lambda d, r, scale: Estimate(lap(r, 1), d + lap(r, scale)), *TIGHT),
    "labelled array": _pair(labelled, *TIGHT),
    "text of an object alone": _pair(lambda d, r, scale: Curtain(d + lap(r, scale)), *TIGHT),
    "class with settings": _pair(made_class, *TIGHT),
    "objects in an array": _pair(
        lambda d, r, one, zero: np.array([lap(r, 1), None if coin(r, d, one, zero) else 0.0, "x"], dtype=object), *OFTEN
    ),
    "order of memory": _pair(
        lambda d, r, one, zero: np.array(r.laplace(0, 1, (2, 3)), order="F" if coin(r, d, one, zero) else "C"), *OFTEN
    ),
    "width of texts": _pair(
        lambda d, r, one, zero: np.array(
            ["ab", "c"] if r.random() < 0.5 else ["c", "c"], dtype="U9" if coin(r, d, one, zero) else "U8"
        ),
        *OFTEN,
    ),
    "ordered mapping": _pair(
        lambda d, r, one, zero: (OrderedDict if coin(r, d, one, zero) else dict)([("b", lap(r, 1)), ("a", 2.0)]), *OFTEN
    ),
}

OUTPUTS: Final = dict(random.Random(24).sample(list(_WRITTEN.items()), len(_WRITTEN)))  # noqa: S311 - an order, not a secret
"""Releases with their sound twins, in an order that was drawn before the first was tried."""
