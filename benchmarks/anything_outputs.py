"""Releases that leak in outputs of every kind, each beside a sound twin: what an audit of strangers' functions has to read.

Written before the reading that they test. `OUTPUTS` are in a random order of kinds; those at even places were for tuning.
"""

from __future__ import annotations

import base64
import enum
import hashlib
import json
import pickle
import struct
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl

from dpaudit import Claim, PureDP, Target

NAMES: Final = ("ash", "beech", "cedar", "elm")


def lap(rng: Any, scale: float) -> float:
    """A draw of Laplace noise."""
    return float(rng.laplace(0, scale))


def coin(rng: Any, data: int, one: float, zero: float) -> bool:
    """True with a probability that depends on the data."""
    return bool(rng.random() < (one if data else zero))


def with_last_bit(value: float, bit: int) -> float:
    """A float with another last bit of its significand."""
    (whole,) = struct.unpack("<q", struct.pack("<d", value))
    (made,) = struct.unpack("<d", struct.pack("<q", (whole & ~1) | bit))
    return float(made)


def identifier(rng: Any, version: int) -> str:
    """An identifier of a version."""
    return str(uuid.UUID(bytes=rng.bytes(16), version=version))


class Tree(enum.Enum):
    """A choice."""

    ASH = 1
    BEECH = 2
    CEDAR = 3


class Rights(enum.IntFlag):
    """Flags."""

    READ = 1
    WRITE = 2
    RUN = 4


@dataclass(slots=True)
class Answer:
    """A number with a note."""

    value: float
    _raw: float = 0.0


class Node:
    """A chain of objects with slots."""

    __slots__ = ("child", "value")

    def __init__(self, value: float, child: Node | None = None) -> None:
        self.value, self.child = value, child


def chosen(data: int, rng: Any, *, factor: float) -> Tree:
    """The exponential mechanism with utilities that move by one in both directions."""
    weights = np.exp(factor * np.array([1.0 - data, 0.5, float(data)]))
    return list(Tree)[int(rng.choice(3, p=weights / weights.sum()))]


def ranked_csv(data: int, rng: Any, *, exact: bool) -> str:
    """Noisy counts as CSV, in the order of the true or of the noisy ones."""
    counts = dict(zip(NAMES, (40, 41 + 2 * data - 2, 30, 10), strict=True))
    noisy = {name: count + lap(rng, 2) for name, count in counts.items()}
    order = sorted(NAMES, key=lambda name: -(counts if exact else noisy)[name])
    return "name,count\n" + "".join(f"{name},{noisy[name]:.1f}\n" for name in order)


def frame_of_categories(data: int, rng: Any, *, exact: bool) -> pd.DataFrame:
    """A frame whose categories are those of the data, or fixed ones."""
    categories = ["a", "b", "c"] if data or not exact else ["a", "b"]
    return pd.DataFrame({"kind": pd.Categorical(["a", "b"], categories=categories), "n": [lap(rng, 1), lap(rng, 1) + data]})


def ordered_frame(data: int, rng: Any, *, exact: bool) -> pd.DataFrame:
    """A frame in the order of the true or of the noisy counts."""
    true = np.array([10.0, 10.5 - data, 3.0])
    noisy = true + rng.laplace(0, 2, 3)
    order = np.argsort(-(true if exact else noisy), kind="stable")
    return pd.DataFrame({"n": noisy[order]}, index=np.array(["x", "y", "z"])[order])


def words_found(data: int, rng: Any, *, exact: bool) -> set[str]:
    """The words whose noisy count is above a threshold, of those in the data or of a public list."""
    counts = {"the": 9, "of": 7, **({"rare": 1} if data else {})}
    public = counts if exact else {"the": 9, "of": 7, "rare": data}
    return {word for word in public if public[word] + lap(rng, 1) > 3}


def draws(data: int, rng: Any, *, exact: bool) -> Any:
    """A generator of as many numbers as there are records, or of a fixed number."""
    return (lap(rng, 1) for _ in range(5 + data if exact else 5))


def picture(data: int, rng: Any, *, scale: float) -> Any:
    """A grey picture of which one point depends on the data."""
    image = np.full((6, 8), 128.0) + rng.laplace(0, 20, (6, 8))
    image[3, 5] = 100 + 60 * data + lap(rng, scale)
    return np.clip(np.round(image), 0, 255).astype(np.uint8)


def wide(data: int, rng: Any, *, scale: float, size: int = 1500) -> Any:
    """Many numbers of which one depends on the data."""
    values = rng.laplace(0, 1, size)
    values[size // 3] = data + lap(rng, scale)
    return values


def wide_json(data: int, rng: Any, *, scale: float) -> str:
    """Many counts as JSON, of which one depends on the data."""
    counts = 50 + np.round(rng.laplace(0, 3, 200)).astype(int)
    counts[77] = 50 + 3 * data + round(lap(rng, scale))
    return json.dumps({"counts": counts.tolist()})


def raised(data: int, rng: Any, *, one: float, zero: float, message: bool = False) -> float:
    """A number, or an error with some probability."""
    value = data + lap(rng, 3)
    if coin(rng, data, one, zero):
        raise KeyError(f"value {round(value)}" if message else "no value")
    return value


def message_of(data: int, rng: Any, *, scale: float) -> float:
    """Every other time an error, whose message holds a number."""
    if rng.random() < 1 / 2:
        return 0.0
    text = f"expected 12 columns, got {data + lap(rng, scale):.2f}"
    raise ValueError(text)


def packed_bits(data: int, rng: Any, *, keep: float) -> bytes:
    """Bits of randomised response, packed."""
    bits = rng.random(24) < 0.5
    bits[11] = (rng.random() < keep) == bool(data)
    return np.packbits(bits).tobytes()


def table_text(data: int, rng: Any, *, exact: bool) -> str:
    """A table whose column is as wide as the longest true name, or of a fixed width."""
    width = max(map(len, NAMES[: 3 if data else 2])) if exact else 8
    width += int(exact and data)
    return "\n".join(f"| {name:<{width}} | {data + lap(rng, 2):8.3f} |" for name in NAMES[:2])


def records_text(data: int, rng: Any, *, exact: bool) -> str:
    """A sentence with a plural by the true or the noisy count."""
    true = 1 + data
    noisy = round(true + lap(rng, 1))
    return f"We found {noisy} match{'' if (true if exact else noisy) == 1 else 'es'} today."


def deep(value: float) -> Any:
    """A number far inside."""
    found: Any = value
    for place in range(9):
        found = [place, {"in": found}] if place % 2 else (found, None)
    return found


def shares(data: int, rng: Any, *, exact: bool) -> dict[str, int]:
    """Two bits of which each is random, and whose sum is not."""
    first = int(rng.integers(2))
    return {"left": first, "right": first ^ (data if exact else int(coin(rng, data, 0.7, 0.3)))}


def polars_frame(data: int, rng: Any, *, one: float, zero: float) -> pl.DataFrame:
    """A frame with a missing value now and then."""
    return pl.DataFrame({"n": [lap(rng, 1), None if coin(rng, data, one, zero) else lap(rng, 1)], "name": ["a", "b"]})


def series(data: int, rng: Any, *, exact: bool) -> pd.Series[float]:
    """A series with a note beside its values."""
    found = pd.Series([lap(rng, 1) + data, lap(rng, 1)])
    found.attrs["rows"] = 17 + data if exact else 17
    return found


def structured(data: int, rng: Any, *, one: float, zero: float) -> Any:
    """A structured array of which one field holds a bit."""
    found = np.zeros(3, dtype=[("id", "u2"), ("odd", "u1"), ("n", "f4")])
    found["n"] = rng.laplace(0, 1, 3)
    found["odd"][1] = coin(rng, data, one, zero)
    return found


def popular(data: int, rng: Any, *, exact: bool) -> OrderedDict[str, float]:
    """Noisy counts in a mapping, in the order of the true or of the noisy ones."""
    true = {"red": 12.0, "blue": 11.5 + data}
    noisy = {name: count + lap(rng, 2) for name, count in true.items()}
    return OrderedDict(sorted(noisy.items(), key=lambda one: -(true if exact else noisy)[one[0]]))


def stamped(data: int, rng: Any, *, exact: bool) -> datetime:
    """A time that is rounded on one dataset, or on both."""
    moment = datetime(2023, 3, 5, 11, tzinfo=UTC) + timedelta(minutes=lap(rng, 30))
    return moment.replace(microsecond=0) if data or not exact else moment


def zeros(data: int, rng: Any, *, exact: bool) -> float:
    """A number that is cut at zero, whose zero has a sign."""
    value = data + lap(rng, 1)
    return value if value > 0 else (-0.0 if data and exact else 0.0)


def grid(data: int, rng: Any, *, exact: bool) -> float:
    """A number rounded to a grid that depends on the data, or to a fixed one."""
    step = 1 / 1000 if data and exact else 1 / 1024
    return round((data + lap(rng, 1)) / step) * step


def mixed(data: int, rng: Any, *, exact: bool) -> dict[str, float]:
    """Two numbers of one noise, or of one each."""
    noise = lap(rng, 2)
    return {"low": data + noise, "high": 1 + 2 * data + noise if exact else 1 + data + lap(rng, 2)}


OUTPUTS: Final[dict[str, tuple[Any, Any]]] = {
    "json, rare key": (
        lambda d, r: json.dumps({"n": round(lap(r, 1) + d / 10, 2), **({"warning": "few"} if coin(r, d, 0.03, 0) else {})}),
        lambda d, r: json.dumps({"n": round(lap(r, 1) + d / 10, 2), **({"warning": "few"} if coin(r, d, 0.03, 0.02) else {})}),
    ),
    "csv, order of rows": (lambda d, r: ranked_csv(d, r, exact=True), lambda d, r: ranked_csv(d, r, exact=False)),
    "log, tag of the data": (
        lambda d, r: f"level=INFO tag={hashlib.sha256(bytes([d])).hexdigest()[:6]} n={d + lap(r, 1):.3f}",
        lambda d, r: f"level=INFO tag={hashlib.sha256(b'7').hexdigest()[:6]} n={d + lap(r, 1):.3f}",
    ),
    "date, small noise": (
        lambda d, r: date(2022, 2, 2) + timedelta(days=round(3 * d + lap(r, 1))),
        lambda d, r: date(2022, 2, 2) + timedelta(days=round(3 * d + lap(r, 3))),
    ),
    "base64, a flag": (
        lambda d, r: base64.urlsafe_b64encode(struct.pack("<HBd", 7, coin(r, d, 0.85, 0.15), lap(r, 1))).decode(),
        lambda d, r: base64.urlsafe_b64encode(struct.pack("<HBd", 7, coin(r, d, 0.7, 0.3), lap(r, 1))).decode(),
    ),
    "pickle, another type": (
        lambda d, r: pickle.dumps(np.array([lap(r, 1)], dtype=np.float64 if d else np.float32)),
        lambda d, r: pickle.dumps(np.array([lap(r, 1) + d])),
    ),
    "decimal, digits": (
        lambda d, r: Decimal(repr(lap(r, 1))).quantize(Decimal("0.01") if d else Decimal("0.001")),
        lambda d, r: Decimal(repr(lap(r, 1) + d)).quantize(Decimal("0.001")),
    ),
    "frame, categories": (lambda d, r: frame_of_categories(d, r, exact=True), lambda d, r: frame_of_categories(d, r, exact=False)),
    "frame, order": (lambda d, r: ordered_frame(d, r, exact=True), lambda d, r: ordered_frame(d, r, exact=False)),
    "set, words of the data": (lambda d, r: words_found(d, r, exact=True), lambda d, r: {*words_found(d, r, exact=False)}),
    "generator, length": (lambda d, r: draws(d, r, exact=True), lambda d, r: draws(d, r, exact=False)),
    "slots, a private field": (lambda d, r: Answer(d + lap(r, 1), d), lambda d, r: Answer(d + lap(r, 1))),
    "enum, factor": (lambda d, r: chosen(d, r, factor=2), lambda d, r: chosen(d, r, factor=0.5)),
    "nested, small noise": (
        lambda d, r: {"models": [{"coef": [0.5, 0.25], "meta": (None, {"n": d + lap(r, 0.5)})}]},
        lambda d, r: {"models": [{"coef": [0.5, 0.25], "meta": (None, {"n": d + lap(r, 1)})}]},
    ),
    "image, one point": (lambda d, r: picture(d, r, scale=20), lambda d, r: picture(d, r, scale=60)),
    "error, now and then": (lambda d, r: raised(d, r, one=0.1, zero=0), lambda d, r: raised(d, r, one=0.1, zero=0.08)),
    "wide, one number": (lambda d, r: wide(d, r, scale=1 / 3), lambda d, r: wide(d, r, scale=1)),
    "wide json, one count": (lambda d, r: wide_json(d, r, scale=1), lambda d, r: wide_json(d, r, scale=3)),
    "float, grid": (lambda d, r: grid(d, r, exact=True), lambda d, r: grid(d, r, exact=False)),
    "float, single precision": (
        lambda d, r: float(np.float32(lap(r, 1))) if d else lap(r, 1),
        lambda d, r: float(np.float32(d + lap(r, 1))),
    ),
    "float, last bit": (
        lambda d, r: with_last_bit(lap(r, 1), coin(r, d, 0.9, 0.1)),
        lambda d, r: with_last_bit(lap(r, 1), coin(r, d, 0.7, 0.3)),
    ),
    "none, rarely": (
        lambda d, r: None if coin(r, d, 0.015, 0) else lap(r, 1),
        lambda d, r: None if coin(r, d, 0.015, 0.01) else lap(r, 1),
    ),
    "tuple, rarely longer": (
        lambda d, r: (lap(r, 1), 2, *([3] if coin(r, d, 0.02, 0) else [])),
        lambda d, r: (lap(r, 1), 2, *([3] if coin(r, d, 0.02, 0.015) else [])),
    ),
    "identifier, version": (
        lambda d, r: f"id={identifier(r, 1 if d else 4)} n={lap(r, 1):.2f}",
        lambda d, r: f"id={identifier(r, 4)} n={d + lap(r, 1):.2f}",
    ),
    "time, rounded": (lambda d, r: stamped(d, r, exact=True), lambda d, r: stamped(d, r, exact=False)),
    "text, plural": (lambda d, r: records_text(d, r, exact=True), lambda d, r: records_text(d, r, exact=False)),
    "compressed, length": (
        lambda d, r: zlib.compress((f"{lap(r, 1):.4f}," * 3 + "".join(chr(97 + (7 * i) % 23) for i in range(9 * d))).encode()),
        lambda d, r: zlib.compress((f"{d + lap(r, 1):.4f}," * 3).encode()),
    ),
    "structured array, a bit": (
        lambda d, r: structured(d, r, one=0.9, zero=0.1),
        lambda d, r: structured(d, r, one=0.7, zero=0.3),
    ),
    "complex, phase": (
        lambda d, r: np.array([1 + 2j, complex(np.exp(1j * (0.4 * d + lap(r, 0.2))))]),
        lambda d, r: np.array([1 + 2j, complex(np.exp(1j * (0.4 * d + lap(r, 0.4))))]),
    ),
    "polars, gaps": (lambda d, r: polars_frame(d, r, one=0.6, zero=0.1), lambda d, r: polars_frame(d, r, one=0.6, zero=0.4)),
    "series, a note": (lambda d, r: series(d, r, exact=True), lambda d, r: series(d, r, exact=False)),
    "zero with a sign": (lambda d, r: zeros(d, r, exact=True), lambda d, r: zeros(d, r, exact=False)),
    "fraction, denominator": (
        lambda d, r: Fraction(round(40 + lap(r, 9)), 41 + 2 * d),
        lambda d, r: Fraction(round(40 + 2 * d + lap(r, 9)), 41),
    ),
    "text of a time, zone": (
        lambda d, r: f"at 2024-01-05T10:{int(r.integers(60)):02d}:00{'Z' if d else '+00:00'}",
        lambda _, r: f"at 2024-01-05T10:{int(r.integers(60)):02d}:00Z",
    ),
    "mapping, order": (lambda d, r: popular(d, r, exact=True), lambda d, r: popular(d, r, exact=False)),
    "table, width": (lambda d, r: table_text(d, r, exact=True), lambda d, r: table_text(d, r, exact=False)),
    "bits, packed": (lambda d, r: packed_bits(d, r, keep=0.9), lambda d, r: packed_bits(d, r, keep=0.7)),
    "deep list": (lambda d, r: deep(d + lap(r, 0.4)), lambda d, r: deep(d + lap(r, 1))),
    "markup, order of attributes": (
        lambda d, r: f"<r {'a' if d else 'b'}='1' {'b' if d else 'a'}='1'>{lap(r, 1):.2f}</r>",
        lambda d, r: f"<r a='1' b='1'>{d + lap(r, 1):.2f}</r>",
    ),
    "text, significant digits": (
        lambda d, r: f"mean {lap(r, 1):.{6 + d}g}",
        lambda d, r: f"mean {d + lap(r, 1):.6g}",
    ),
    "message of an error": (lambda d, r: message_of(d, r, scale=1 / 3), lambda d, r: message_of(d, r, scale=1)),
    "two numbers, one noise": (lambda d, r: mixed(d, r, exact=True), lambda d, r: mixed(d, r, exact=False)),
    "two bits, one sum": (lambda d, r: shares(d, r, exact=True), lambda d, r: shares(d, r, exact=False)),
    "chain of slots": (lambda d, r: Node(1, Node(d + lap(r, 0.4))), lambda d, r: Node(1, Node(d + lap(r, 1)))),
    "flags": (
        lambda d, r: Rights(1 + 2 * coin(r, d, 0.85, 0.15) + 4 * coin(r, 0, 0, 0.5)),
        lambda d, r: Rights(1 + 2 * coin(r, d, 0.7, 0.3) + 4 * coin(r, 0, 0, 0.5)),
    ),
    "float in a list, rounded": (
        lambda d, r: [lap(r, 1), round(lap(r, 1), 6 if d else 12)],
        lambda d, r: [d + lap(r, 1), round(lap(r, 1), 6)],
    ),
}
"""Broken and sound releases of 0 or 1, at epsilon 1, by what leaks and where."""


def target(releases: Mapping[str, tuple[Any, ...]], name: str, *, broken: bool) -> Target:
    """A release of a list as a target with its pair, at epsilon 1 unless its row names another guarantee."""
    run = releases[name][0 if broken else 1]
    claim = Claim(next(iter(releases[name][2:]), PureDP(epsilon=1)))
    return Target(run=run, claim=claim, neighbours=[(0, 1)], name=name)
