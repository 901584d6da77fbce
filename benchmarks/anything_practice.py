"""A fourth list of releases that leak in their outputs: formats, frames, models and objects that programs of practice return.

Written from the description of the attack alone, before the reading was tried on them. Those at even places were for tuning.
"""

from __future__ import annotations

import array
import base64
import gzip
import io
import ipaddress
import json
import math
import pickle
import re
import struct
import uuid
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import yaml
from anything_further import whole, within
from anything_outputs import coin, lap
from PIL import Image
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

NOON: Final = datetime(2024, 6, 1, 12, tzinfo=UTC)
SPACE: Final = uuid.UUID("12345678-1234-5678-1234-567812345678")


class Risk(Enum):
    """A class of risk."""

    LOW = "low"
    HIGH = "high"


class Range(NamedTuple):
    """Two ends."""

    low: float
    high: float


@dataclass
class Node:
    """A node of a tree with one number."""

    value: float
    left: Node | None = None
    right: Node | None = None


@dataclass
class Summary:
    """What a report says of a column."""

    mean: float
    notes: list[str] = field(default_factory=list)
    worst: Risk | None = None


class Plain:
    """An answer in a class of slots."""

    __slots__ = ("__weakref__", "_count", "total")

    def __init__(self, total: float, count: int | None = None) -> None:
        """Hold a total, and perhaps a count."""
        self.total = total
        if count is not None:
            self._count = count


class Model:
    """A fitted line as a caller meets it: a method that predicts."""

    def __init__(self, slope: float) -> None:
        """Hold the slope."""
        self._slope = slope

    def predict(self, value: float) -> float:
        """The line at a value."""
        return self._slope * value


def nested_report(data: int, rng: Any, *, scale: float) -> str:
    """Counts by region and ward as JSON, of the wards whose noisy counts are above two."""
    counts = {"north": {"a": 5, "b": 2 + data}, "south": {"c": 4}}
    shown = {
        region: {ward: count for ward, count in wards.items() if count + lap(rng, scale) > 2.5} for region, wards in counts.items()
    }
    told = {region: {ward: round(7 + lap(rng, 9)) for ward in wards} for region, wards in shown.items()}
    return json.dumps({"version": 2, "regions": told}, indent=1)


def settings(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A model's settings as YAML, early stopped now and then."""
    rounds = 49 if coin(rng, data, one, zero) else 50
    return str(yaml.safe_dump({"model": {"rate": round(abs(lap(rng, 1)), 3), "rounds": rounds}, "tags": ["a", "b"]}))


def ticket(data: int, rng: Any, *, one: float, zero: float) -> str:
    """An element of XML with an attribute now and then."""
    mark = ' partial="true"' if coin(rng, data, one, zero) else ""
    return f'<?xml version="1.0"?>\n<result n="{round(9 + lap(rng, 3))}"{mark}><mean>{lap(rng, 1):.2f}</mean></result>'


def page(data: int, rng: Any, *, scale: float) -> str:
    """A table of HTML, of which one cell has too little noise."""
    means = {"ward": ["a", "b", "c"], "mean": [3 + lap(rng, 1), 5 + data + lap(rng, scale), 2 + lap(rng, 1)]}
    return str(pd.DataFrame(means).round(2).to_html(index=False))


def retries(data: int, rng: Any, *, steps: float) -> str:
    """Lines of a log, with one for every retry."""
    lines = [f"{NOON + timedelta(seconds=rng.integers(60).item()):%H:%M:%S} INFO start"]
    lines += [f"WARN retry {place}" for place in range(max(0, round(6 + steps * data + whole(rng))))]
    return "\n".join([*lines, "INFO done", ""])


def restless(data: int, rng: Any, *, one: float, zero: float) -> Iterator[float]:
    """Noisy numbers, of which the last comes late or not at all."""
    return (lap(rng, 1) for _ in range(3 + coin(rng, data, one, zero)))


def noted(data: int, rng: Any, *, one: float, zero: float) -> float:
    """A number, or an error with a note."""
    if rng.random() < 0.4:
        error = ValueError("did not converge")
        if coin(rng, data, one, zero):
            error.add_note("singular")
        raise error
    return lap(rng, 1)


def many_steps(data: int, rng: Any, *, least: int) -> str:
    """An answer in a base 64 text, packed after its JSON was written."""
    held = json.dumps({"count": data * least + 20 + whole(rng), "by": "batch"})
    return base64.b64encode(zlib.compress(held.encode())).decode()


def stored_array(data: int, rng: Any, *, scale: float) -> bytes:
    """An array as numpy saves it."""
    held = io.BytesIO()
    np.save(held, np.array([[lap(rng, 1), lap(rng, 1)], [lap(rng, 1), data + lap(rng, scale)]]))
    return held.getvalue()


def scaler(data: int, rng: Any, *, rows: int) -> StandardScaler:
    """A scaler fitted to noise, of as many rows as the data have, or of a fixed number."""
    return StandardScaler().fit(rng.laplace(0, 1, (20 + rows * data, 2)))


def classifier(data: int, rng: Any, *, scale: float) -> LogisticRegression:
    """A classifier whose weights were set by hand."""
    model = LogisticRegression()
    model.coef_, model.intercept_ = rng.laplace(0, 1, (1, 6)), np.array([data + lap(rng, scale)])
    model.classes_ = np.array([0, 1])
    return model


def tree(data: int, rng: Any, *, exact: bool) -> DecisionTreeRegressor:
    """A tree of depth one, grown on noisy numbers and, of a broken one, split where the data say."""
    split = data if exact else int(coin(rng, data, 0.6, 0.4))
    return DecisionTreeRegressor(max_depth=1).fit([[0], [1], [2 + split]], np.array([0.0, 1, 9]) + rng.laplace(0, 0.1, 3))


def measured_frame(data: int, rng: Any, *, scale: float) -> pd.DataFrame:
    """Noisy counts by month, with how many rows were read among the attributes of the frame."""
    made = pd.DataFrame({"n": rng.laplace(10, 1, 4)}, index=pd.period_range("2024-01", periods=4, freq="M"))
    made.attrs["read"] = {"rows": round(100 + data + lap(rng, scale), 1)}
    return made


def by_two_keys(data: int, rng: Any, *, one: float, zero: float) -> pd.Series[float]:
    """A series by two keys, one of whose levels keeps a name that no row has any more."""
    names = ["x", "y", "z"] if coin(rng, data, one, zero) else ["x", "y"]
    keys = pd.MultiIndex(levels=[["a", "b"], names], codes=[[0, 0, 1, 1], [0, 1, 0, 1]], names=["ward", "sex"])
    return pd.Series(rng.laplace(10, 1, 4).round(1), index=keys)


def picture(data: int, rng: Any, *, shift: float) -> np.ndarray:
    """A picture in three colours, one of them brighter everywhere by little."""
    made = rng.laplace(120, 72, (12, 12, 3))
    made[:, :, 1] += shift * data
    return np.asarray(np.clip(made, 0, 255).astype(np.uint8))


def wide(data: int, rng: Any, size: int, *, scale: float) -> np.ndarray:
    """Many noisy numbers, one of them with too little noise."""
    made = rng.laplace(0, 1, size)
    made[2 * size // 3] = data + lap(rng, scale)
    return np.asarray(made)


def typed(data: int, rng: Any, *, one: float, zero: float) -> Any:
    """One, as an integer or as a boolean."""
    return {"ok": True if coin(rng, data, one, zero) else 1, "n": round(lap(rng, 1), 2)}


def told(data: int, rng: Any, *, scale: float) -> str:
    """An amount as it is written in German."""
    return f"Summe: {4000 + 500 * (data + lap(rng, scale)):,.2f} EUR".translate(str.maketrans(",.", ".,"))


def made_closure(data: int, rng: Any, *, scale: float) -> Callable[[float], float]:
    """A function that adds a noisy number."""
    shift = data + lap(rng, scale)
    return lambda value: value + shift


def stopped(data: int, rng: Any, *, one: float, zero: float) -> io.StringIO:
    """A text in memory, read up to one place or another."""
    held = io.StringIO(f"mean,{lap(rng, 1):.2f}\n")
    held.seek(5 if coin(rng, data, one, zero) else 4)
    return held


def chained(data: int, rng: Any, *, one: float, zero: float) -> dict[str, Any]:
    """A dictionary by pairs of names, in the order in which they were met."""
    pairs = [(("a", 1), lap(rng, 1)), (("a", 2), lap(rng, 1)), (("b", 1), lap(rng, 1))]
    return dict(pairs[::-1] if coin(rng, data, one, zero) else pairs)  # type: ignore[arg-type]


def grids(data: int, rng: Any, *, exact: bool) -> list[float]:
    """Numbers of which one lies on a grid of eighths, or of sixteenths."""
    step = (8 if data else 16) if exact else 16
    return [lap(rng, 1), round((data + lap(rng, 1.2)) * step) / step]


def ragged(data: int, rng: Any, *, scale: float) -> list[list[float]]:
    """Groups of numbers, as many to a group as there were noisy records."""
    return [[round(lap(rng, 1), 2) for _ in range(max(0, round(size + lap(rng, scale))))] for size in (4, 5 + data, 3)]


def alarms(data: int, rng: Any, *, one: float, zero: float) -> bytes:
    """A message in network order: kind, length, a flag in the middle of other bits, and noise."""
    flags = int(rng.integers(0, 16)) << 4 | (coin(rng, data, one, zero) << 2) | int(rng.integers(0, 4))
    return struct.pack(">BHBf", 7, 1000 + int(rng.integers(50)), flags, lap(rng, 1))


def zoned(data: int, rng: Any, *, one: float, zero: float) -> datetime:
    """A time of which the zone is written in another way."""
    zone = timezone(timedelta(0), "GMT") if coin(rng, data, one, zero) else UTC
    return (NOON + timedelta(minutes=round(lap(rng, 30)))).astimezone(zone)


def wandering(data: int, rng: Any, *, step: int) -> timedelta:
    """A length of time in steps of so many microseconds."""
    by = step if data else 1
    return timedelta(microseconds=round(1e6 * (30 + lap(rng, 4)) / by) * by)


def masked(data: int, rng: Any, *, one: float, zero: float) -> np.ma.MaskedArray[Any, Any]:
    """Noisy numbers with one hidden now and then, at a place that is noise too."""
    mask = np.zeros(5, bool)
    mask[rng.integers(5)] = coin(rng, data, one, zero)
    return np.ma.masked_array(rng.laplace(0, 1, 5), mask)


def added_up(data: int, rng: Any, *, each: float) -> list[float]:
    """Forty numbers with wide noise, every one of which moves with the data."""
    return [round(each * data + lap(rng, 5), 3) for _ in range(40)]


def three_places(data: int, rng: Any, *, scale: float) -> dict[str, float]:
    """Three numbers with wide noise, whose sum has little."""
    one, other = lap(rng, 6), lap(rng, 6)
    return {"a": one, "b": other, "c": data + lap(rng, scale) - one - other}


def scaled(data: int, rng: Any, *, scale: float) -> Range:
    """A number in a unit that is drawn, and one in the same unit, whose ratio has little noise."""
    unit = float(rng.uniform(1, 100))
    return Range(unit, unit * (3 + data + lap(rng, scale)))


def rated(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A table as CSV, whose lines end in another way now and then."""
    end = "\r\n" if coin(rng, data, one, zero) else "\n"
    return str(pd.DataFrame({"n": [round(lap(rng, 3)) for _ in range(3)]}).to_csv(lineterminator=end))


def linked(data: int, rng: Any, *, one: float, zero: float) -> Node:
    """A tree that has a node more now and then."""
    return Node(lap(rng, 1), Node(lap(rng, 1)), Node(lap(rng, 1), left=Node(lap(rng, 1)) if coin(rng, data, one, zero) else None))


def namespace(data: int, rng: Any, *, scale: float) -> SimpleNamespace:
    """An answer by attributes, with a mapping that cannot be changed."""
    return SimpleNamespace(ok=True, found=MappingProxyType({"n": Decimal(str(round(data + lap(rng, scale), 3)))}))


def sparse_counts(data: int, rng: Any, *, scale: float) -> sparse.csr_matrix:
    """Counts of words, with an entry where the noisy count is above one."""
    counts = np.array([[3.0, 0, 0, 1 + data, 0, 2]])
    return sparse.csr_matrix(np.where(counts + rng.laplace(0, [1, 1, 1, scale, 1, 1]) > 1.5, 1.0, 0.0))


def answered(data: int, rng: Any, *, one: float, zero: float) -> re.Match[str] | None:
    """A match in a text, of another group now and then."""
    return re.search(r"(late)|(\d+)", "late" if coin(rng, data, one, zero) else str(30 + whole(rng)))


def arrow(data: int, rng: Any, *, one: float, zero: float) -> pa.Table:
    """A table of Arrow, whose schema says how it was made."""
    made = pa.table({"n": pa.array(rng.laplace(0, 1, 3))})
    return made.replace_schema_metadata({"source": "full" if coin(rng, data, one, zero) else "sample"})


def arrow_lists(data: int, rng: Any, *, scale: float) -> pa.Table:
    """A table of Arrow with lists, one of which is longer by noise."""
    sizes = [2, max(0, round(3 + data + lap(rng, scale)))]
    return pa.table({"codes": pa.array([[int(rng.integers(9)) for _ in range(size)] for size in sizes])})


def _pair(run: Callable[..., Any], broken: dict[str, Any], sound: dict[str, Any]) -> tuple[Any, Any]:
    """A release and its twin, by what they are called with."""
    return partial(run, **broken), partial(run, **sound)


OFTEN: Final = ({"one": 0.06, "zero": 0.0}, {"one": 0.06, "zero": 0.03})
HALF: Final = ({"one": 0.85, "zero": 0.3}, {"one": 0.6, "zero": 0.35})
TIGHT: Final = ({"scale": 0.35}, {"scale": 1.2})

OUTPUTS: Final[dict[str, tuple[Any, Any]]] = {
    "report by region": _pair(nested_report, *TIGHT),
    "settings of a model": _pair(settings, *OFTEN),
    "element with an attribute": _pair(ticket, *OFTEN),
    "page with a table": _pair(page, *TIGHT),
    "log of retries": _pair(retries, {"steps": 3}, {"steps": 1}),
    "numbers of a generator": _pair(restless, *HALF),
    "note on an error": _pair(noted, {"one": 0.2, "zero": 0.0}, {"one": 0.2, "zero": 0.1}),
    "packed json in a text": _pair(many_steps, {"least": 3}, {"least": 1}),
    "array in a file": _pair(stored_array, *TIGHT),
    "rows that a scaler saw": _pair(scaler, {"rows": 1}, {"rows": 0}),
    "intercept of a classifier": _pair(classifier, *TIGHT),
    "split of a tree": _pair(tree, {"exact": True}, {"exact": False}),
    "attributes of a frame": _pair(measured_frame, *TIGHT),
    "level without rows": _pair(by_two_keys, *OFTEN),
    "colour of a picture": _pair(picture, {"shift": 15}, {"shift": 0.5}),
    "one of three thousand": _pair(partial(wide, size=3000), {"scale": 0.2}, {"scale": 1.0}),
    "type of a truth": _pair(typed, *HALF),
    "amount in german": _pair(told, *TIGHT),
    "closure": _pair(made_closure, *TIGHT),
    "place in a file": _pair(stopped, *HALF),
    "order of pairs": _pair(chained, *HALF),
    "grid of one number": _pair(grids, {"exact": True}, {"exact": False}),
    "lengths of groups": _pair(ragged, *TIGHT),
    "flag among bits": _pair(alarms, *HALF),
    "name of a zone": _pair(zoned, *OFTEN),
    "steps of a clock": _pair(wandering, {"step": 5}, {"step": 1}),
    "hidden entry": _pair(masked, *OFTEN),
    "all a little": _pair(added_up, {"each": 1.0}, {"each": 0.1}),
    "sum of three": _pair(three_places, *TIGHT),
    "ratio of two": _pair(scaled, *TIGHT),
    "ends of lines": _pair(rated, *OFTEN),
    "node of a tree": _pair(linked, *OFTEN),
    "frozen mapping": _pair(namespace, *TIGHT),
    "entries of a matrix": _pair(sparse_counts, *TIGHT),
    "match in a text": _pair(answered, *OFTEN),
    "metadata of a table": _pair(arrow, *OFTEN),
    "list in a table": _pair(arrow_lists, *TIGHT),
    "pickled object": _pair(
        lambda d, r, scale: pickle.dumps({"params": (1, Fraction(round(50 * (d + lap(r, scale))), 50)), "by": "v1"}), *TIGHT
    ),
    "exponent of a decimal": _pair(
        lambda d, r, one, zero: Decimal(round(20 + lap(r, 4)) * 10).normalize() if coin(r, d, one, zero) else Decimal(200), *OFTEN
    ),
    "member of an enum": _pair(
        lambda d, r, one, zero: Summary(lap(r, 1), worst=Risk.HIGH if coin(r, d, one, zero) else Risk.LOW), *HALF
    ),
    "unset slot": _pair(lambda d, r, one, zero: Plain(lap(r, 1), 3 if coin(r, d, one, zero) else None), *OFTEN),
    "start of an index": _pair(
        lambda d, r, one, zero: pd.DataFrame(
            {"n": r.laplace(0, 1, 3)}, index=pd.RangeIndex(s := int(coin(r, d, one, zero)), s + 3)
        ),
        *HALF,
    ),
    "name of the columns": _pair(
        lambda d, r, one, zero: pd.DataFrame({"n": r.laplace(0, 1, 3)}).rename_axis(
            columns="late" if coin(r, d, one, zero) else "all"
        ),
        *OFTEN,
    ),
    "integers with gaps": _pair(
        lambda d, r, one, zero: pd.DataFrame(
            {"n": pd.array([3, 4 + whole(r)], dtype="Int64" if coin(r, d, one, zero) else "int64")}
        ),
        *OFTEN,
    ),
    "rows of a polars frame": _pair(
        lambda d, r, scale: (
            pl.DataFrame({"ward": ["a", "b"], "n": [4.0, 4.0 + d + lap(r, scale)]}).sort("n").select("ward", pl.lit(1.0).alias("n"))
        ),
        *TIGHT,
    ),
    "schema of a polars frame": _pair(
        lambda d, r, one, zero: pl.DataFrame({"n": [whole(r), 4]}, schema={"n": pl.Int32 if coin(r, d, one, zero) else pl.Int64}),
        *OFTEN,
    ),
    "field of a record array": _pair(
        lambda d, r, scale: np.array(
            [(1, 9, lap(r, 1)), (2, max(0, round(40 + 10 * (d + lap(r, scale)))), lap(r, 1))], dtype="u1,>u2,<f4"
        ),
        *TIGHT,
    ),
    "picture as an object": _pair(
        lambda d, r, scale: Image.fromarray(np.clip([[9, 7], [90 + 20 * (d + lap(r, scale)), 5]], 0, 255).astype("u1")), *TIGHT
    ),
    "sets in a set": _pair(
        lambda d, r, one, zero: frozenset({frozenset({"a", "b"}), frozenset({"c", "d" if coin(r, d, one, zero) else "e"})}), *HALF
    ),
    "category without rows": _pair(
        lambda d, r, one, zero: pd.Series(
            pd.Categorical(["a", "b"], categories=["a", "b", "c"] if coin(r, d, one, zero) else ["a", "b", "d"])
        ),
        *OFTEN,
    ),
    "lists of a series": _pair(
        lambda d, r, scale: pd.Series([[1.0, round(d + lap(r, scale), 2)], [round(lap(r, 1), 2)], []]), *TIGHT
    ),
    "complex roots": _pair(lambda d, r, scale: np.roots([1.0, lap(r, 1), 9 + d + lap(r, scale)]), *TIGHT),
    "view of an array": _pair(
        lambda d, r, scale: memoryview(array.array("h", [4, round(100 * (d + lap(r, scale))), round(lap(r, 90))])), *TIGHT
    ),
    "identifier of a count": _pair(
        lambda d, r, least: str(uuid.uuid5(SPACE, f"count {5 + least * d + whole(r)}")), {"least": 3}, {"least": 1}
    ),
    "digest in a row": _pair(
        lambda d, r, least: (sha256(b"%d" % (9 + least * d + whole(r))).digest(), round(lap(r, 1), 1)), {"least": 3}, {"least": 1}
    ),
    "file of bytes": _pair(
        lambda d, r, scale: io.BytesIO(gzip.compress(b"x" * (50 + max(0, round(40 * (d + lap(r, scale))))), mtime=0)), *TIGHT
    ),
    "partial function": _pair(lambda d, r, scale: partial(math.pow, 2.0, d + lap(r, scale)), *TIGHT),
    "bound method": _pair(lambda d, r, scale: Model(d + lap(r, scale)).predict, *TIGHT),
    "counted letters": _pair(
        lambda d, r, steps: Counter("ab" * 3 + "c" * max(0, 9 + steps * d + whole(r))), {"steps": 3}, {"steps": 1}
    ),
    "unit of a duration": _pair(
        lambda d, r, one, zero: np.timedelta64(round(60 + lap(r, 9)), "s").astype("m8[ms]" if coin(r, d, one, zero) else "m8[s]"),
        *OFTEN,
    ),
    "time that is not": _pair(
        lambda d, r, one, zero: np.array(["2024-01-01", "NaT" if coin(r, d, one, zero) else "2024-01-02"], dtype="M8[D]"), *OFTEN
    ),
    "ending of a path": _pair(
        lambda d, r, one, zero: PurePosixPath(f"out/{int(r.integers(10**6))}.{'csv' if coin(r, d, one, zero) else 'txt'}"), *HALF
    ),
    "network of an address": _pair(
        lambda d, r, one, zero: ipaddress.ip_interface(f"10.0.{int(r.integers(200))}.1/{24 if coin(r, d, one, zero) else 25}"),
        *HALF,
    ),
    "noise within four, in eight": _pair(
        lambda d, r, most: [2 * lap(r, 4) for _ in range(7)] + [d + within(r, most)], {"most": 4}, {"most": 60}
    ),
    "zeros at the end": _pair(
        lambda d, r, digits: json.dumps({"p": f"{0.5 + lap(r, 0.1):.{digits[d]}f}"}), {"digits": (3, 4)}, {"digits": (3, 3)}
    ),
    "three values of a flag": _pair(
        lambda d, r, one, zero: [None, True, False][int(r.integers(2)) if not coin(r, d, one, zero) else 2], *OFTEN
    ),
    "nested optional": _pair(lambda d, r, one, zero: Summary(lap(r, 1), ["few"] * coin(r, d, one, zero)), *OFTEN),
    "two forms of a name": _pair(
        lambda d, r, one, zero: f"caf{'e' + chr(0x301) if coin(r, d, one, zero) else chr(0xE9)} {lap(r, 1):.1f}", *OFTEN
    ),
}
"""Releases with their sound twins."""
