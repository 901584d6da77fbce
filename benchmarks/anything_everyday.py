"""A seventh list of releases that leak in their outputs: everyday formats, small leaks, rare ones, and approximate claims.

Written from the description of the attack alone, before the reading was tried on them. Their order is drawn; those at
even places were for tuning.
"""

from __future__ import annotations

import array
import base64
import hashlib
import html
import io
import json
import math
import random
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl
import yaml  # type: ignore[import-untyped]
from anything_further import whole
from anything_outputs import coin, lap
from anything_practice import _pair

from dpaudit import ZCDP, ApproxDP, PureDP

SLIGHT: Final = ({"scale": 0.65}, {"scale": 1.0})
"""A true epsilon of 1.54 at a claim of one."""

RARE: Final = ({"one": 0.02, "zero": 0.0}, {"one": 0.02, "zero": 0.01})
OFTEN: Final = ({"one": 0.7, "zero": 0.15}, {"one": 0.6, "zero": 0.35})
MONDAY: Final = date(2024, 6, 3)


@dataclass
class Section:
    """A section of a report with sections below it."""

    title: str
    rows: list[float] = field(default_factory=list)
    below: list[Section] = field(default_factory=list)


def truncated_flag(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A page of JSON whose meta part says now and then that it was cut."""
    meta = {"page": 1, **({"truncated": True} if coin(rng, data, one, zero) else {})}
    return json.dumps({"items": [{"ward": ward, "n": round(lap(rng, 2), 1)} for ward in "abc"], "meta": meta})


def csv_rows(data: int, rng: Any, *, scale: float) -> str:
    """A table as CSV, of which the last cell is the noisy count."""
    return (
        "ward,week,n\n"
        + "".join(f"{ward},{week},{lap(rng, 3):.3f}\n" for ward in "ab" for week in (1, 2))
        + (f"c,2,{5 + data + lap(rng, scale):.3f}\n")
    )


def log_lines(data: int, rng: Any, *, one: float, zero: float) -> str:
    """Lines of a log with times, one of which is a warning now and then."""
    start = datetime(2024, 5, 1, 9, tzinfo=UTC) + timedelta(seconds=int(rng.integers(86_400)))
    lines = [
        f"{start + timedelta(seconds=2 * step):%Y-%m-%d %H:%M:%S} INFO step={step} took={abs(lap(rng, 5)):.1f}ms"
        for step in range(4)
    ]
    if coin(rng, data, one, zero):
        lines.insert(2, lines[1].replace("INFO", "WARN").split(" took")[0] + " retry")
    return "\n".join(lines)


def sorted_frame(data: int, rng: Any, *, scale: float) -> pd.DataFrame:
    """A frame of wards, sorted by their noisy counts, which are left out."""
    counts = {"a": 5 + data, "b": 5, "c": 9}
    order = sorted(counts, key=lambda ward: counts[ward] + lap(rng, scale))
    return pd.DataFrame({"share": [round(lap(rng, 1), 3) for _ in order]}, index=pd.Index(order, name="ward"))


def message(data: int, rng: Any, *, scale: float) -> bytes:
    """A packed message: a header, a length, some floats, and a noisy count in a short integer."""
    count = max(-30_000, min(30_000, round(100 * (data + lap(rng, scale)))))
    return struct.pack(">4sHffh", b"DPR1", 2, lap(rng, 1), lap(rng, 1), count)


def flags(data: int, rng: Any, *, one: float, zero: float) -> dict[str, set[str]]:
    """Sets of flags by ward."""
    return {"a": {"ok"}, "b": {"ok", *(["few"] if coin(rng, data, one, zero) else [])}, "c": set("xy"[: int(rng.integers(3))])}


def working_day(data: int, rng: Any, *, one: float, zero: float) -> date:
    """A random day of a year, on a Saturday or Sunday now and then."""
    week = MONDAY + timedelta(weeks=int(rng.integers(52)))
    return week + timedelta(days=int(5 + rng.integers(2)) if coin(rng, data, one, zero) else int(rng.integers(5)))


def fails(data: int, rng: Any, *, one: float, zero: float) -> float:
    """A noisy count, in place of which an error comes now and then."""
    if coin(rng, data, one, zero):
        raise ArithmeticError("too few records")
    return lap(rng, 1)


def sections(data: int, rng: Any, *, scale: float) -> Section:
    """A report of sections within sections."""
    last = Section("wards", [lap(rng, 2), 3 + data + lap(rng, scale)])
    return Section("report", [lap(rng, 1)], [Section("regions", [], [Section("empty"), last])])


def batches(data: int, rng: Any, *, step: int) -> Iterator[list[float]]:
    """Batches of noise, as many as a noisy count."""
    for _ in range(max(0, 6 + step * data + whole(rng))):
        yield [lap(rng, 1), lap(rng, 1)]


def buffer(data: int, rng: Any, *, scale: float) -> io.BytesIO:
    """An array in a file that is open and read to its end."""
    held = io.BytesIO()
    np.savez(held, noise=rng.laplace(0, 1, 3), count=np.array(4 + data + lap(rng, scale)))
    return held


def packed(data: int, rng: Any, *, scale: float) -> bytes:
    """JSON that is compressed."""
    return zlib.compress(json.dumps({"trial": int(rng.integers(9)), "mean": round(data + lap(rng, scale), 3)}).encode())


def masked(data: int, rng: Any, *, one: float, zero: float) -> np.ma.MaskedArray[Any, Any]:
    """An array with a hidden cell now and then."""
    return np.ma.masked_array(rng.laplace(0, 1, 4), mask=[False, False, coin(rng, data, one, zero), False])


def books(data: int, rng: Any, *, scale: float) -> dict[str, pd.DataFrame]:
    """Two sheets of a workbook."""
    second = pd.DataFrame({"n": [4.0 + lap(rng, 2), 2 + data + lap(rng, scale)]}, index=["men", "women"])
    return {"notes": pd.DataFrame({"text": ["weekly", "draft"]}), "counts": second}


def normals(data: int, rng: Any, *, sigma: float) -> pl.DataFrame:
    """A column of Gaussian sums, all of which a record moves by a half."""
    return pl.DataFrame({"ward": list("abcd"), "sum": [0.5 * data + float(rng.normal(0, sigma)) for _ in range(4)]})


def normal_json(data: int, rng: Any, *, sigma: float) -> str:
    """Gaussian means in JSON, two of which a record moves."""
    return json.dumps({"means": {name: round(data * (name != "b") + float(rng.normal(0, sigma)), 4) for name in "abc"}})


def settings(data: int, rng: Any, *, scale: float) -> str:
    """Settings as YAML, with a threshold from the data."""
    return str(
        yaml.safe_dump(
            {"model": {"depth": 3, "rate": round(abs(lap(rng, 0.1)), 3)}, "limits": [1, round(data + lap(rng, scale), 3)]}
        )
    )


def spell(data: int, rng: Any, *, scale: float) -> timedelta:
    """A noisy time of waiting."""
    return timedelta(minutes=round(60 * (data + lap(rng, scale))), days=2)


def raw_in_log(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A line of a log, which shows the raw count instead of the noisy one in a few cases."""
    shown = f"raw={data}" if rng.random() < one else f"noisy={round(data + lap(rng, 1.0), 2)}"
    return f"[{int(rng.integers(1000)):03d}] release {shown}" if one else f"[{zero:03.0f}] release {shown}"


def entry(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A row of a page, with a class of style now and then."""
    style = ' class="low"' if coin(rng, data, one, zero) else ""
    return f"<tr{style}><td>{html.escape('Süd & Ost')}</td><td>{lap(rng, 2):.2f}</td></tr>"


def token(data: int, rng: Any, *, scale: float) -> str:
    """A token of three parts, as web services give them out."""
    parts = [{"alg": "none"}, {"sub": int(rng.integers(10**6)), "n": round(data + lap(rng, scale), 2)}]
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, ""])


def archive(data: int, rng: Any, *, one: float, zero: float) -> bytes:
    """An archive with a second file now and then."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr(zipfile.ZipInfo("counts.csv"), f"n\n{lap(rng, 2):.2f}\n")
        if coin(rng, data, one, zero):
            made.writestr(zipfile.ZipInfo("left_out.csv"), "ward\nc\n")
    return held.getvalue()


def digest(data: int, rng: Any, *, scale: float) -> str:
    """A hash of a noisy count of few values, as an identifier of a version."""
    return hashlib.sha256(f"count:{max(0, min(8, round(3 + data + lap(rng, scale))))}".encode()).hexdigest()[:16]


def counted(data: int, rng: Any, *, step: int) -> Counter[str]:
    """Noisy counts as a counter."""
    return Counter({"yes": 20 + step * data + whole(rng), "no": 14 + whole(rng)})


def difference(data: int, rng: Any, *, scale: float) -> dict[str, float]:
    """Two noisy totals with the same noise, but for a little."""
    noise = lap(rng, 1.0)
    return (
        {"before": 10 + noise, "after": 10 + data + noise + lap(rng, scale)}
        if scale < 1
        else {"before": lap(rng, 1), "after": data + noise}
    )


def numbers(data: int, rng: Any, *, scale: float) -> array.array[float]:
    """Ten numbers, the largest of which gives the count away."""
    return array.array("d", [*(lap(rng, 0.2) for _ in range(9)), 30 + data + lap(rng, scale)])


def answer(data: int, rng: Any, *, scale: float) -> SimpleNamespace:
    """A response with a status and a body of text."""
    body = f"mean: {Decimal(f'{data + lap(rng, scale):.3f}')} (95% CI {lap(rng, 1):.1f} to {3 + abs(lap(rng, 1)):.1f})"
    return SimpleNamespace(status=200, body=body, headers={"X-Took": f"{abs(lap(rng, 5)):.0f}ms"})


def two_forms(data: int, rng: Any, *, one: float, zero: float) -> np.ndarray | list[float]:
    """Three numbers as an array, or as a list."""
    made = rng.laplace(0, 1, 3)
    return [float(value) for value in made] if coin(rng, data, one, zero) else made


def percent(data: int, rng: Any, *, scale: float) -> str:
    """A share in a sentence."""
    share = 1 / (1 + math.exp(-(data + lap(rng, scale))))
    return f"About {100 * share:.1f}% of the {int(rng.integers(900, 1100))} visits were long."


def ratio(data: int, rng: Any, *, scale: float) -> complex:
    """A complex number whose angle gives the count away."""
    angle = 0.1 * (data + lap(rng, scale))
    size = 2 + abs(lap(rng, 1))
    return complex(size * math.cos(angle), size * math.sin(angle))


_ONE: Final = PureDP(epsilon=1)
_WRITTEN: Final[dict[str, tuple[Any, Any, Any]]] = {
    "cut page": (*_pair(truncated_flag, *RARE), _ONE),
    "cell of a csv": (*_pair(csv_rows, *SLIGHT), _ONE),
    "warning in a log": (*_pair(log_lines, *RARE), _ONE),
    "order of a frame": (*_pair(sorted_frame, {"scale": 0.5}, {"scale": 2.0}), _ONE),
    "packed message": (*_pair(message, *SLIGHT), _ONE),
    "sets of flags": (*_pair(flags, *OFTEN), _ONE),
    "day of rest": (*_pair(working_day, *OFTEN), _ONE),
    "error now and then": (*_pair(fails, {"one": 0.04, "zero": 0.005}, {"one": 0.04, "zero": 0.02}), _ONE),
    "section of a section": (*_pair(sections, *SLIGHT), _ONE),
    "batches": (*_pair(batches, {"step": 3}, {"step": 1}), _ONE),
    "open file of arrays": (*_pair(buffer, *SLIGHT), _ONE),
    "compressed json": (*_pair(packed, *SLIGHT), _ONE),
    "hidden cell": (*_pair(masked, *OFTEN), _ONE),
    "sheets": (*_pair(books, *SLIGHT), _ONE),
    "normal sums": (*_pair(normals, {"sigma": 2.6}, {"sigma": 3.8}), ApproxDP(epsilon=1, delta="1e-5")),
    "normal means": (*_pair(normal_json, {"sigma": 1.0}, {"sigma": 1.42}), ZCDP(rho="1/2")),
    "settings": (*_pair(settings, *SLIGHT), _ONE),
    "time of waiting": (*_pair(spell, *SLIGHT), _ONE),
    "raw in a log": (*_pair(raw_in_log, {"one": 0.01, "zero": 0}, {"one": 0.0, "zero": 7}), ApproxDP(epsilon=1, delta="1e-3")),
    "style of a row": (*_pair(entry, *RARE), _ONE),
    "token": (*_pair(token, *SLIGHT), _ONE),
    "file in an archive": (*_pair(archive, *OFTEN), _ONE),
    "hash of a count": (*_pair(digest, *SLIGHT), _ONE),
    "counter": (*_pair(counted, {"step": 2}, {"step": 1}), _ONE),
    "same noise": (*_pair(difference, {"scale": 0.3}, {"scale": 1.0}), _ONE),
    "array of numbers": (*_pair(numbers, *SLIGHT), _ONE),
    "response": (*_pair(answer, *SLIGHT), _ONE),
    "array or list": (*_pair(two_forms, *OFTEN), _ONE),
    "share in a sentence": (*_pair(percent, *SLIGHT), _ONE),
    "angle": (*_pair(ratio, *SLIGHT), _ONE),
}

OUTPUTS: Final = dict(random.Random(26).sample(list(_WRITTEN.items()), len(_WRITTEN)))  # noqa: S311 - an order, not a secret
"""Releases with their sound twins and guarantees, in an order that was drawn before the first was tried."""
