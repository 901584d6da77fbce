"""More releases as practitioners write them, unlike those of the two lists before: leaks in outputs, and by what a dataset holds.

Written before the reading and the search were fitted to them. Those at even places of either list were for tuning.
"""

from __future__ import annotations

import array
import base64
import gzip
import hashlib
import ipaddress
import json
import math
import struct
import zlib
from collections import Counter
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from anything_data import HOURS, NOTES, POINTS, SMALL, VISITS, cut
from anything_outputs import coin, lap
from scipy import sparse

COMPOSED, COMBINED = "caf\u00e9", "cafe\u0301"
WORDS: Final = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "many")


class Fit(NamedTuple):
    """A model with notes."""

    coef: dict[str, float]
    notes: dict[str, int]


def whole(rng: Any, scale: float = 1) -> int:
    """A draw of two-sided geometric noise."""
    share = 1 - math.exp(-1 / scale)
    return int(rng.geometric(share)) - int(rng.geometric(share))


def within(rng: Any, most: float) -> float:
    """A draw of Laplace noise, repeated until it is small."""
    while True:
        noise = lap(rng, 1)
        if abs(noise) <= most:
            return noise


def described(data: int, rng: Any, *, exact: bool) -> pd.Series[float]:
    """What pandas says of a column: how many values there are, exactly or not."""
    found = pd.Series(50 + rng.laplace(0, 5, 40 + data if exact else 40)).describe().round(3)
    return found if exact else found.add(pd.Series({"max": data + lap(rng, 1)}), fill_value=0.0)


def counted_values(data: int, rng: Any, *, exact: bool) -> pd.Series[float]:
    """Counts of values, whose labels become floats where one value is missing."""
    counts = pd.Series([1, 2, 2, None if data and exact else 1, 3]).value_counts().sort_index()
    if not exact:
        counts.index = counts.index.astype(float)
        counts.iloc[0] += data
    return counts + rng.laplace(0, 1, 3)


def grouped(data: int, rng: Any, *, exact: bool) -> pd.DataFrame:
    """Noisy sums by group, among which are those without a key, or a fixed set of groups."""
    frame = pd.DataFrame({"key": ["a", "b", None if data else "b"], "n": [1.0, 2.0, 1.0]})
    sums = frame.groupby("key", dropna=False)[["n"]].sum()
    sums = sums if exact else sums.reindex(["a", "b", float("nan")]).fillna(0.0)
    return sums + rng.laplace(0, 2, sums.shape)


def pivoted(data: int, rng: Any, *, exact: bool) -> pd.DataFrame:
    """A table of two keys whose empty cells have no number, or have noise too."""
    frame = pd.DataFrame({"day": [1, 1, 2, 2 if data else 1], "ward": ["A", "B", "A", "B"], "n": 1.0})
    table = frame.pivot_table(index="day", columns="ward", values="n", aggfunc="sum", fill_value=None if exact else 0.0)
    return table + rng.laplace(0, 2, table.shape)


def confusion(data: int, rng: Any, *, exact: bool) -> Any:
    """A matrix of which noise leaves the sums of rows as they are, or does not."""
    moved = [whole(rng), whole(rng)]
    matrix = np.array([[20 + data, 5], [4, 30]])
    return matrix + np.array([[moved[0], -moved[0]], [moved[1], -moved[1]]] if exact else [moved, [whole(rng), whole(rng)]])


def log_lines(data: int, rng: Any, *, one: float, zero: float) -> list[str]:
    """Lines of a log, with one more now and then."""
    lines = [f"INFO load {int(rng.integers(20, 60))} ms", f"INFO mean={lap(rng, 1):.2f}"]
    return [*lines, "WARN retry 1 of 3"] if coin(rng, data, one, zero) else lines


def markup(data: int, rng: Any, *, exact: bool) -> str:
    """A table in HTML, whose cells are marked by the true or the noisy number."""
    true = [3, 4 + 2 * data]
    noisy = [value + lap(rng, 2) for value in true]
    cells = (
        f'<td class="{"high" if (kept if exact else shown) > 4.5 else "low"}">{shown:.1f}</td>'
        for kept, shown in zip(true, noisy, strict=True)
    )
    return f"<table><tr>{''.join(cells)}</tr></table>"


def duration(data: int, rng: Any, *, scale: float) -> str:
    """A duration as the standard writes it."""
    minutes, seconds = divmod(max(0.0, 600 + 60 * data + lap(rng, scale)), 60)
    return f"PT{int(minutes)}M{seconds:.1f}S"


def image_text(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A small picture as text, of which one point is on or off."""
    points = rng.integers(0, 256, (6, 6), dtype=np.uint8)
    points[2, 3] = 255 * coin(rng, data, one, zero)
    rows = b"".join(b"\0" + row.tobytes() for row in points)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", 6, 6, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part)) for name, part in chunks
    )
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def varint(number: int) -> bytes:
    """An integer in groups of seven bits."""
    number, found = (number << 1) ^ (number >> 63), []
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def message(data: int, rng: Any, *, scale: float) -> bytes:
    """A message in a compact binary form, of three fields of which one is the noisy count."""
    fields = (round(lap(rng, 400)), 150 + 3 * data + round(lap(rng, scale)), 7)
    return b"".join(bytes([place << 3]) + varint(field) for place, field in enumerate(fields, 1))


def spelt(data: int, rng: Any, *, scale: float) -> str:
    """A count in words."""
    count = 3 + 3 * data + round(lap(rng, scale))
    return f"We saw {WORDS[min(max(count, 0), 10)]} cases in ward {rng.choice(list('ABCD'))}."


def mask(data: int, rng: Any, *, one: float, zero: float) -> int:
    """A number of sixty bits, of which one depends on the data."""
    bits = int(rng.integers(0, 2**60))
    return bits & ~(1 << 37) | coin(rng, data, one, zero) << 37


def permutation(data: int, rng: Any, *, exact: bool) -> Any:
    """The order of five groups, of whose noisy counts the true ones decide between neighbours."""
    true = np.array([9.0, 7.0 + 3 * data, 5.0, 3.0, 1.0])
    noisy = true / 3 + rng.laplace(0, 2, 5)
    return np.argsort(-true if exact and rng.random() < 0.1 else -noisy)


def bits_text(data: int, rng: Any, *, one: float, zero: float) -> str:
    """Five bits as text, each random, whose sum is even or odd."""
    bits = [int(rng.integers(2)) for _ in range(4)]
    return "".join(map(str, [*bits, (sum(bits) + coin(rng, data, one, zero)) % 2]))


def frames(data: int, rng: Any, *, one: float, zero: float) -> dict[str, pd.DataFrame]:
    """Tables by name, one of which is empty now and then."""
    found = {name: pd.DataFrame({"n": rng.laplace(0, 1, 2), "day": pd.to_datetime(["2024-01-01", "2024-01-02"])}) for name in "ab"}
    found["b"] = found["b"].iloc[:0] if coin(rng, data, one, zero) else found["b"]
    return found


def stored(data: int, rng: Any, *, exact: bool) -> Any:
    """A sparse matrix with a zero that is stored, of the data or of all."""
    values = [lap(rng, 1) + (0 if exact else data), 0.0]
    matrix = sparse.csr_matrix((np.array(values), (np.array([3, 900]), np.array([0, 0]))), shape=(2000, 1))
    if exact and not data:
        matrix.eliminate_zeros()
    return matrix


def example(data: int, rng: Any, *, exact: bool) -> dict[str, Any]:
    """A noisy mean with one record of fifty as an example, of the data or of a public list."""
    ages = [20 + place for place in range(49)] + [91 if data and exact else 69]
    return {"mean": round(40 + data / 2 + lap(rng, 1), 2), "example": {"age": int(rng.choice(ages)), "ward": "B"}}


def edges(data: int, rng: Any, *, exact: bool) -> list[pd.Interval[float]]:
    """Intervals between quantiles, of the data or noisy ones."""
    cuts = [0.0, 2.5 + data, 8.0] if exact else [0.0, 2.5 + min(max(data + lap(rng, 1), -2), 5), 8.0]
    return [pd.Interval(low, high) for low, high in pairwise([*cuts, 9 + abs(lap(rng, 1))])]


def failed(data: int, rng: Any, *, scale: float) -> float:
    """A number, or an error that was caused by another one, which says how many rows there were."""
    if rng.random() < 0.5:
        return lap(rng, 1)
    text, cause = "no model", LookupError(17 + 3 * data + round(lap(rng, scale)))
    raise RuntimeError(text) from cause


def signed(rng: Any, share: float) -> list[float]:
    """Two numbers that have one sign in a share of the runs."""
    first, second = lap(rng, 1), lap(rng, 1)
    return [first, math.copysign(second, first if rng.random() < share else -first)]


def sorted_frame(data: int, rng: Any, *, exact: bool) -> pl.DataFrame:
    """A table of names in the order of their true counts, with noisy shares, or of their noisy ones."""
    true = {"ann": 12, "bob": 11 + 2 * data, "cem": 3}
    noisy = {name: count + lap(rng, 4) for name, count in true.items()}
    order = sorted(true, key=lambda name: -(true if exact else noisy)[name])
    return pl.DataFrame({"name": order, "share": [round(abs(noisy[name]) / 30, 3) for name in order]})


def coordinates(data: int, rng: Any, *, digits: tuple[int, int]) -> str:
    """A place on a map, with more or fewer digits."""
    found = [round(13.4 + lap(rng, 0.1), digits[data]), round(52.5 + lap(rng, 0.1), digits[data])]
    return json.dumps({"type": "Feature", "geometry": {"type": "Point", "coordinates": found}})


OUTPUTS: Final[dict[str, tuple[Any, Any]]] = {
    "described column": (lambda d, r: described(d, r, exact=True), lambda d, r: described(d, r, exact=False)),
    "integer, remainder by three": (
        lambda d, r: 3 * round(lap(r, 9)) + (d if r.random() < 0.95 else 2),
        lambda d, r: 3 * round(lap(r, 9)) + (d if r.random() < 0.45 else 1 - d if r.random() < 0.5 else 2),
    ),
    "counted values, type of labels": (
        lambda d, r: counted_values(d, r, exact=True),
        lambda d, r: counted_values(d, r, exact=False),
    ),
    "text, form of accents": (
        lambda d, r: f"{COMBINED if d else COMPOSED} {lap(r, 1):.2f}",
        lambda d, r: f"{COMPOSED} {d + lap(r, 1):.2f}",
    ),
    "groups without a key": (lambda d, r: grouped(d, r, exact=True), lambda d, r: grouped(d, r, exact=False)),
    "none, one in a hundred": (
        lambda d, r: None if coin(r, d, 0.01, 0) else lap(r, 1),
        lambda d, r: None if coin(r, d, 0.01, 0.006) else lap(r, 1),
    ),
    "pivoted table, empty cell": (lambda d, r: pivoted(d, r, exact=True), lambda d, r: pivoted(d, r, exact=False)),
    "noise within four": (lambda d, r: d + within(r, 4), lambda d, r: d + lap(r, 1)),
    "matrix, sums of rows": (lambda d, r: confusion(d, r, exact=True), lambda d, r: confusion(d, r, exact=False)),
    "fractions of integers": (
        lambda d, r: round(lap(r, 30)) + (0.7 if coin(r, d, 0.9, 0.1) else 0.3),
        lambda d, r: round(lap(r, 30)) + (0.7 if coin(r, d, 0.7, 0.3) else 0.3),
    ),
    "log, one more line": (lambda d, r: log_lines(d, r, one=0.03, zero=0), lambda d, r: log_lines(d, r, one=0.03, zero=0.02)),
    "markup, class of a cell": (lambda d, r: markup(d, r, exact=True), lambda d, r: markup(d, r, exact=False)),
    "duration in a text": (lambda d, r: duration(d, r, scale=20), lambda d, r: duration(d, r, scale=60)),
    "picture in base 64": (lambda d, r: image_text(d, r, one=0.9, zero=0.1), lambda d, r: image_text(d, r, one=0.7, zero=0.3)),
    "json, gzipped": (
        lambda d, r: gzip.compress(json.dumps({"rows": 100, "mean": round(d + lap(r, 0.4), 3)}).encode(), mtime=0),
        lambda d, r: gzip.compress(json.dumps({"rows": 100, "mean": round(d + lap(r, 1), 3)}).encode(), mtime=0),
    ),
    "compact message": (lambda d, r: message(d, r, scale=1), lambda d, r: message(d, r, scale=3)),
    "named tuple of mappings": (
        lambda d, r: Fit({"age": lap(r, 1)}, {"n": 40, **({"dropped": 1} if coin(r, d, 0.02, 0) else {})}),
        lambda d, r: Fit({"age": lap(r, 1)}, {"n": 40, **({"dropped": 1} if coin(r, d, 0.02, 0.015) else {})}),
    ),
    "set of tuples": (
        lambda d, r: {(name, round(4 * (name == "b") * d + lap(r, 1.5))) for name in "abc"},
        lambda d, r: {(name, round(4 * (name == "b") * d + lap(r, 4))) for name in "abc"},
    ),
    "count in words": (lambda d, r: spelt(d, r, scale=1), lambda d, r: spelt(d, r, scale=3)),
    "bits of an integer": (lambda d, r: mask(d, r, one=0.9, zero=0.1), lambda d, r: mask(d, r, one=0.7, zero=0.3)),
    "order of groups": (lambda d, r: permutation(d, r, exact=True), lambda d, r: permutation(d, r, exact=False)),
    "parity of bits": (lambda d, r: bits_text(d, r, one=0.85, zero=0.15), lambda d, r: bits_text(d, r, one=0.7, zero=0.3)),
    "frames by name": (lambda d, r: frames(d, r, one=0.04, zero=0), lambda d, r: frames(d, r, one=0.04, zero=0.03)),
    "sparse, a stored zero": (lambda d, r: stored(d, r, exact=True), lambda d, r: stored(d, r, exact=False)),
    "example of the records": (lambda d, r: example(d, r, exact=True), lambda d, r: example(d, r, exact=False)),
    "digest of a count": (
        lambda d, r: hashlib.sha256(str(20 + 2 * d + round(lap(r, 1))).encode()).hexdigest(),
        lambda d, r: hashlib.sha256(str(20 + 2 * d + round(lap(r, 2.5))).encode()).hexdigest(),
    ),
    "intervals": (lambda d, r: edges(d, r, exact=True), lambda d, r: edges(d, r, exact=False)),
    "many numbers, each a little": (
        lambda d, r: (0.3 * d + r.laplace(0, 1, 60)).round(3).tolist(),
        lambda d, r: (0.3 * d + r.laplace(0, 18, 60)).round(3).tolist(),
    ),
    "cause of an error": (lambda d, r: failed(d, r, scale=1), lambda d, r: failed(d, r, scale=3)),
    "sign of a product": (lambda d, r: signed(r, 0.9 if d else 0.1), lambda d, r: signed(r, 0.7 if d else 0.3)),
    "table sorted by true counts": (lambda d, r: sorted_frame(d, r, exact=True), lambda d, r: sorted_frame(d, r, exact=False)),
    "digits of coordinates": (lambda d, r: coordinates(d, r, digits=(4, 5)), lambda d, r: coordinates(d, r, digits=(4, 4))),
    "typed array": (
        lambda d, r: array.array("f" if d else "d", [lap(r, 1), 2.0]),
        lambda d, r: array.array("d", [d + lap(r, 1), 2.0]),
    ),
    "address": (
        lambda d, r: ipaddress.IPv4Address("10.0.7.0") + 100 + 6 * d + round(lap(r, 2)),
        lambda d, r: ipaddress.IPv4Address("10.0.7.0") + 100 + 6 * d + round(lap(r, 7)),
    ),
    "infinite now and then": (
        lambda d, r: np.array([lap(r, 1), math.inf if coin(r, d, 0.02, 0) else 1.0, lap(r, 1)]),
        lambda d, r: np.array([lap(r, 1), math.inf if coin(r, d, 0.02, 0.015) else 1.0, lap(r, 1)]),
    ),
    "percentages, digits": (
        lambda d, r: [f"{50 + lap(r, 1):.{1 + (d and r.random() < 0.05)}f}%", f"{lap(r, 1):.1f}%"],
        lambda d, r: [f"{50 + d + lap(r, 1):.1f}%", f"{lap(r, 1):.1f}%"],
    ),
    "time that is spent": (
        lambda d, r: str(timedelta(seconds=round(40000 + 60 * d + lap(r, 20)))),
        lambda d, r: str(timedelta(seconds=round(40000 + 60 * d + lap(r, 60)))),
    ),
    "number with commas": (
        lambda d, r: f"{30000 + 900 * d + lap(r, 400):,.0f} EUR",
        lambda d, r: f"{30000 + 900 * d + lap(r, 900):,.0f} EUR",
    ),
}
"""Broken and sound releases of 0 or 1, at epsilon 1, by what leaks and where."""


def noise_within(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of clipped values, with noise that is drawn again where it is large."""
    return sum(cut(rows, 0, 1)) + (within(rng, 4) if broken else lap(rng, 1))


def last_wins(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the last value of each ward, where a record takes another's place."""
    last = {row["ward"]: sum(cut([row["days"]], -10, 10)) for row in rows}
    return sum(last.values()) + lap(rng, 10 if broken else 20)


def known_wards(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Counts of the wards that there are, and of those beyond where there are any, or always."""
    counts = Counter(row["ward"] if row["ward"] in {"A", "B", "C", "D"} else "other" for row in rows)
    names = [*"ABCD", *(["other"] if counts["other"] or not broken else [])]
    return {name: counts[name] + lap(rng, 1) for name in names}


def differences(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of differences of two counts up to 200, in a type without signs or not."""
    kept = np.clip(np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 2)), 0, 5).astype(np.uint8)
    with np.errstate(all="ignore"):
        found = kept[:, 0] - kept[:, 1] if broken else kept[:, 0].astype(int) - kept[:, 1]
    return float(found.sum()) + lap(rng, 5)


def nothing_there(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy mean and count, both zero where there are no records."""
    if broken and not len(rows):
        return {"count": 0.0, "mean": 0.0}
    count = len(rows) + lap(rng, 2)
    return {"count": count, "mean": (sum(cut(rows)) + lap(rng, 20)) / max(count, 1)}


def own_range(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A histogram over the range of the data or over a fixed one."""
    kept = cut(rows)
    found = np.histogram(kept, bins=5, range=None if broken and kept else (0, 10))[0]
    return [float(count) + lap(rng, 1) for count in found]


def every_third(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of every third record, or of all."""
    return sum(cut(rows)[:: 3 if broken else 1]) + lap(rng, 10)


def inversions(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many pairs stand in the wrong order, or how many records are above five."""
    kept = cut(rows)
    found = sum(one > other for place, one in enumerate(kept) for other in kept[place + 1 :])
    return (found if broken else sum(value > 5 for value in kept)) + lap(rng, 1)


def vocabulary(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many different words all notes have, of which a note may bring several."""
    words = {word for note in rows for word in (note or "").split()[: None if broken else 2]}
    return len(words) + lap(rng, 2)


def large_groups(rows: pd.DataFrame, rng: Any, *, broken: bool) -> dict[str, float]:
    """Counts of groups of three records at least, by true or noisy counts."""
    counts = {ward: int((rows["ward"] == ward).sum()) for ward in "ABCD"}
    noisy = {ward: count + lap(rng, 1) for ward, count in counts.items()}
    return {ward: noisy[ward] for ward in "ABCD" if (counts if broken else noisy)[ward] >= 3}


def windows(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Sums over windows of three places, or over places modulo three, of values in [0, 1]."""
    kept = cut(rows, 0, 1)
    if broken:
        return [sum(kept[place : place + 3]) + lap(rng, 1) for place in range(10)]
    return [sum(kept) / 2 + lap(rng, 1), sum(kept) / 2 + lap(rng, 1)]


def slope(rows: Any, rng: Any, *, broken: bool) -> float:
    """A slope through points of the unit square, with noise for the number of points, or its parts with noise."""
    kept = np.clip(np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 2)), 0, 1)
    centred = kept - (kept.mean(axis=0) if len(kept) else 0)
    across, along = float((centred[:, 0] * centred[:, 1]).sum()), float((centred[:, 0] ** 2).sum())
    if broken:
        return across / max(along, 1e-6) + lap(rng, 2 / max(len(kept), 1))
    return float((kept[:, 0] * kept[:, 1]).sum()) + lap(rng, 1)


def trimmed(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum without the largest and the least, each tenth of the records, or of all."""
    kept = sorted(cut(rows))
    away = len(kept) // 4 if broken else 0
    return 3 * sum(kept[away : len(kept) - away]) / 3 + lap(rng, 5 if broken else 10)


def one_of_them(rows: Any, rng: Any, *, broken: bool) -> float:
    """Now and then a record of the data, else noise."""
    if broken and len(rows) and rng.random() < 0.2:
        return sum(cut([rows[int(rng.integers(len(rows)))]]))
    return sum(cut(rows)) + lap(rng, 10)


def two_tables(rows: Any, rng: Any, *, broken: bool) -> list[list[float]]:
    """Counts by ward and by length of stay, each with noise for one or for both."""
    scale = 1 if broken else 2
    wards = [sum(row["ward"] == ward for row in rows) + lap(rng, scale) for ward in "ABCD"]
    stays = [sum((row["days"] or 0) // 4 == stay for row in rows) + lap(rng, scale) for stay in range(3)]
    return [wards, stays]


def weeks(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Counts by week from the first to the last week of the data, or over a fixed span."""
    days = [date.fromisoformat(row["day"]).toordinal() // 7 for row in rows if row["day"]]
    span = range(min(days), max(days) + 1) if broken and days else range(105555, 105564)
    return [days.count(week) + lap(rng, 1) for week in span]


def correlation(rows: Any, rng: Any, *, broken: bool) -> float:
    """A correlation with noise for the number of points, or a sum of products."""
    kept = np.clip(np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 2)), 0, 1)
    if broken:
        spread = kept.std(axis=0)
        found = float(np.corrcoef(kept.T)[0, 1]) if len(kept) > 1 and spread.all() else 0.0
        return found + lap(rng, 2 / max(len(kept), 1))
    return float(np.prod(kept, axis=1).sum()) + lap(rng, 1)


def adapted(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count with noise for a sample of the data, of the root of its size."""
    return len(rows) + lap(rng, 1 / math.sqrt(max(1, len(rows) / 2)) if broken else 1)


DAYS: Final = [{"day": f"2024-0{1 + place % 2}-{1 + 5 * place % 27:02d}", "n": place % 3} for place in range(10)]

DATA: Final[dict[str, tuple[Any, str, Any]]] = {
    "noise within four, searched": (HOURS, "add_remove", noise_within),
    "last one wins": (VISITS, "add_remove", last_wins),
    "ward beyond the known": (VISITS, "add_remove", known_wards),
    "type without signs": (np.array([[3, 1], [2, 0], [4, 2], [5, 5], [1, 0]]), "add_remove", differences),
    "nothing there": (HOURS, "add_remove", nothing_there),
    "own range": (HOURS, "add_remove", own_range),
    "every third record": (HOURS, "add_remove", every_third),
    "inversions": (SMALL, "add_remove", inversions),
    "words of notes": (NOTES, "add_remove", vocabulary),
    "groups of three": (pd.DataFrame(VISITS), "add_remove", large_groups),
    "windows": (SMALL, "add_remove", windows),
    "slope": (POINTS, "add_remove", slope),
    "trimmed sum": (HOURS, "add_remove", trimmed),
    "a record now and then": (HOURS, "add_remove", one_of_them),
    "two tables": (VISITS, "add_remove", two_tables),
    "weeks of the data": (DAYS, "add_remove", weeks),
    "correlation": (POINTS, "replace_one", correlation),
    "scale by size": (HOURS, "add_remove", adapted),
}
"""Data, relation and function of each: with `broken` or without."""
