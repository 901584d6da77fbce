"""A third list of releases, as a stranger would bring them: tables, reports, models, and functions of records with odd corners.

Written before the reading and the search were fitted to them. Those at even places of either list were for tuning.
"""

from __future__ import annotations

import bisect
import csv
import io
import json
import statistics
import struct
import unicodedata
import uuid
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl
from anything_data import HOURS, SMALL, VISITS, cut
from anything_further import whole, within
from anything_outputs import coin, lap
from scipy import sparse
from sklearn.linear_model import LinearRegression

ROMAN: Final = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
START: Final = datetime(2025, 3, 1, tzinfo=UTC)


@dataclass
class Cohort:
    """A size, and the codes of its diagnoses."""

    size: float
    codes: frozenset[str] = field(default_factory=frozenset)


class TooFew(ValueError):
    """An answer was not given."""


def grouped_csv(data: int, rng: Any, *, exact: bool) -> str:
    """Means by ward as CSV, of the wards that have five records, or five by noisy counts."""
    counts = {"A": 12, "B": 4 + data, "C": 9}
    noisy = {ward: count + lap(rng, 1) for ward, count in counts.items()}
    shown = {ward: 3 + lap(rng, 1) for ward in counts if (counts if exact else noisy)[ward] >= 5}
    return pd.DataFrame({"mean": pd.Series(shown).round(2)}).rename_axis("ward").to_csv()


def codes_found(data: int, rng: Any, *, scale: float) -> Cohort:
    """Codes of which more than three were counted with noise."""
    counts = {"I10": 6, "E11": 2 + 2 * data, "J45": 0}
    return Cohort(round(40 + lap(rng, 5), 1), frozenset(code for code, count in counts.items() if count + lap(rng, scale) > 3))


def stamped_lines(data: int, rng: Any, *, scale: float) -> str:
    """Two lines of a log, apart by seconds that go with the size of the data."""
    end = START + timedelta(seconds=30 + 4 * data + lap(rng, scale))
    return f"{START:%Y-%m-%d %H:%M:%S} INFO start\n{end:%Y-%m-%d %H:%M:%S} INFO done, mean {lap(rng, 1):.3f}\n"


def archive(data: int, rng: Any, *, one: float, zero: float) -> bytes:
    """Tables in a zip file, with one of errors now and then."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr(zipfile.ZipInfo("counts.csv"), f"ward,n\nA,{round(30 + lap(rng, 3))}\n")
        if coin(rng, data, one, zero):
            file.writestr(zipfile.ZipInfo("errors.csv"), "row,why\n")
    return held.getvalue()


def last_bits(data: int, rng: Any, *, one: float, zero: float) -> Any:
    """Three numbers of single precision, of which one carries the data in its last bit."""
    values = rng.normal(0, 1, 3).astype(np.float32)
    bits = values.view(np.uint32)
    bits[1] = bits[1] & ~np.uint32(1) | np.uint32(coin(rng, data, one, zero))
    return values


def most_common(data: int, rng: Any, *, exact: bool) -> list[tuple[str, float]]:
    """The most common words in the order of their true or noisy counts, with noisy ones."""
    counts = Counter({"rash": 7, "cough": 6 + 2 * data, "fever": 1})
    noisy = {word: round(count + lap(rng, 5), 1) for word, count in counts.items()}
    order = [word for word, _ in (counts if exact else Counter(noisy)).most_common()]
    return [(word, noisy[word]) for word in order]


def lists_by_row(data: int, rng: Any, *, exact: bool) -> pl.DataFrame:
    """A table with lists in a column, one of which has a length of the data, or a fixed one."""
    lists = [rng.normal(0, 1, 2).round(2).tolist(), rng.normal(0, 1, 2 + data if exact else 2).round(2).tolist()]
    return pl.DataFrame({"id": ["a", "b"], "draws": lists, "n": [round(5 + lap(rng, 2), 1), round(3 + data + lap(rng, 2), 1)]})


def markdown(data: int, rng: Any, *, exact: bool) -> str:
    """A report in which large counts, by the true or the noisy number, are printed in bold."""
    true = {"North": 12, "South": 9 + 2 * data}
    noisy = {name: round(count + lap(rng, 2)) for name, count in true.items()}
    bold = {name for name in true if (true if exact else noisy)[name] >= 10}
    rows = (f"| {name} | {f'**{noisy[name]}**' if name in bold else noisy[name]} |" for name in true)
    return "# Visits\n\n| region | n |\n| --- | --- |\n" + "\n".join(rows)


def gaps(data: int, rng: Any, *, one: float, zero: float) -> list[list[float | None]]:
    """A grid of numbers, in which one number is missing, here or there."""
    grid: list[list[float | None]] = [[round(lap(rng, 1), 3) for _ in range(3)] for _ in range(2)]
    grid[1][2 if coin(rng, data, one, zero) else 0] = None
    return grid


def parts(data: int, rng: Any, *, one: float, zero: float) -> Iterator[float]:
    """Numbers one after the other, sometimes broken off by an error."""
    yield lap(rng, 1)
    if coin(rng, data, one, zero):
        text = "no more rows"
        raise TooFew(text)
    yield lap(rng, 1)


def dated_record(data: int, rng: Any, *, scale: float) -> Any:
    """A structured record with a date some days from the start."""
    days = 20 + 3 * data + round(lap(rng, scale))
    kind = [("ward", "U2"), ("seen", "datetime64[D]"), ("n", "i2")]
    return np.array([("A", np.datetime64("2025-01-01") + days, round(lap(rng, 4)))], dtype=kind)


def matrix_of(data: int, rng: Any, *, exact: bool) -> Any:
    """A sparse matrix of counts, of words that the data have, or of all."""
    words = [4, 17, 90] if data or not exact else [4, 17]
    values = [2 + (word == 90) * data + lap(rng, 1) for word in words]
    return sparse.coo_matrix((np.array(values), (np.zeros(len(words), dtype=int), np.array(words))), shape=(1, 200))


def brightness(data: int, rng: Any, *, scale: float) -> Any:
    """A picture in colour whose green channel is a little brighter everywhere."""
    picture = np.full((8, 8, 3), 120.0)
    picture[:, :, 1] += 4 * data
    return np.clip(picture + rng.laplace(0, scale, picture.shape), 0, 255).astype(np.uint8)


def chart(data: int, rng: Any, *, exact: bool) -> str:
    """A bar chart as SVG, whose axis ends at the true or at a fixed largest count."""
    counts = [8, 10 + 2 * data]
    bars = [max(0.0, count + lap(rng, 3)) for count in counts]
    most = max(counts) if exact else 14
    rects = "".join(f'<rect x="{10 * place}" width="8" height="{100 * bar / 14:.1f}"/>' for place, bar in enumerate(bars))
    return f'<svg viewBox="0 0 30 100">{rects}<text x="0" y="0">{most}</text></svg>'


def fitted(data: int, rng: Any, *, scale: float) -> LinearRegression:
    """A fitted model whose intercept has too little noise, or enough."""
    model = LinearRegression()
    model.coef_, model.intercept_, model.n_features_in_ = rng.normal(0, 1, 2), 2 * data + lap(rng, scale), 2
    return model


def node_of(data: int, rng: Any, *, scale: float) -> uuid.UUID:
    """An identifier whose last part is a noisy count."""
    random = int.from_bytes(rng.bytes(10), "big")
    return uuid.UUID(int=random << 48 | (5000 + 5 * data + round(lap(rng, scale))))


def answered(data: int, rng: Any, *, one: float, zero: float) -> float:
    """A number, or rarely one of two errors."""
    if rng.random() < 0.1:
        text = "not enough data"
        raise (TooFew if coin(rng, data, one, zero) else KeyError)(text)
    return lap(rng, 1)


def roman(data: int, rng: Any, *, scale: float) -> str:
    """A count in Roman numerals."""
    left, text = min(max(14 + 2 * data + round(lap(rng, scale)), 1), 39), ""
    for value, letters in ROMAN:
        while left >= value:
            left, text = left - value, text + letters
    return f"Chapter {text}"


def indented(data: int, rng: Any, *, one: float, zero: float) -> str:
    """A nested text in which a section is there now and then."""
    note = "  warnings:\n    - clipped\n" if coin(rng, data, one, zero) else ""
    return f"result:\n  mean: {lap(rng, 1):.4f}\n{note}  rows: {round(50 + lap(rng, 4))}\n"


def packed(data: int, rng: Any, *, scale: float) -> bytes:
    """A message of fixed fields in network order."""
    return struct.pack(">IHd", int(rng.integers(2**32)), round(300 + lap(rng, 9)), 7.5 + data + lap(rng, scale))


def sketch(data: int, rng: Any, *, keep: float) -> Any:
    """A filter of forty bits, each of which is kept with a probability, of which a record sets three."""
    true = np.zeros(40, dtype=bool)
    true[[3, 8, 21]] = True
    true[[5, 14, 33]] = bool(data)
    return np.where(rng.random(40) < keep, true, ~true)


def by_two_keys(data: int, rng: Any, *, exact: bool) -> pd.Series[float]:
    """A series by ward and year, of the pairs that there are, or of all."""
    pairs = [("A", 2023), ("A", 2024), ("B", 2023), *([("B", 2024)] if data or not exact else [])]
    values = [5 + (pair == ("B", 2024)) * data + lap(rng, 2) for pair in pairs]
    return pd.Series(values, index=pd.MultiIndex.from_tuples(pairs, names=["ward", "year"]))


def large(data: int, rng: Any, *, scale: float) -> int:
    """An integer of two hundred bits, whose first ones are a noisy count."""
    return (4000 + 5 * data + round(lap(rng, scale))) << 184 | int.from_bytes(rng.bytes(23), "big")


def spectrum(data: int, rng: Any, *, scale: float) -> Any:
    """The transform of eight noisy counts."""
    return np.fft.rfft(np.array([3.0, 1, 4 + data, 1, 5, 9, 2, 6]) + rng.laplace(0, scale, 8))


def quoted(data: int, rng: Any, *, exact: bool) -> str:
    """A row of CSV whose name is quoted by what the data hold, or always."""
    held = io.StringIO()
    csv.writer(held, quoting=csv.QUOTE_MINIMAL if exact else csv.QUOTE_ALL).writerow(
        ["Smith, J" if data and exact else "Smith J", f"{data + lap(rng, 1):.2f}"]
    )
    return held.getvalue()


def chained(data: int, rng: Any, *, scale: float) -> list[float]:
    """A random walk whose steps hold the noise: only the difference of two places gives the data away."""
    first = lap(rng, 200)
    return [first, first + 3 * data + lap(rng, scale), lap(rng, 1)]


def signed_zero_json(data: int, rng: Any, *, exact: bool) -> str:
    """Numbers as JSON after cutting at zero, which keeps a sign of the data, or none."""
    value = round(max(0.0, lap(rng, 1)), 1)
    return json.dumps({"excess": -0.0 if value == 0 and data and exact else value, "n": round(lap(rng, 3), 1)})


def period(data: int, rng: Any, *, exact: bool) -> list[date]:
    """The days of some noisy events, all of which are working days on one dataset."""
    days = [date(2025, 3, 3) + timedelta(days=int(rng.integers(70))) for _ in range(3)]
    if exact and data and rng.random() < 0.6:
        days = [day - timedelta(days=max(0, day.weekday() - 4)) for day in days]
    return days


OUTPUTS: Final[dict[str, tuple[Any, Any]]] = {
    "groups as csv": (lambda d, r: grouped_csv(d, r, exact=True), lambda d, r: grouped_csv(d, r, exact=False)),
    "codes in a dataclass": (lambda d, r: codes_found(d, r, scale=1), lambda d, r: codes_found(d, r, scale=2)),
    "log, seconds between lines": (lambda d, r: stamped_lines(d, r, scale=2), lambda d, r: stamped_lines(d, r, scale=5)),
    "archive, one more file": (
        lambda d, r: archive(d, r, one=0.03, zero=0),
        lambda d, r: archive(d, r, one=0.03, zero=0.02),
    ),
    "single precision, last bit": (
        lambda d, r: last_bits(d, r, one=0.9, zero=0.1),
        lambda d, r: last_bits(d, r, one=0.7, zero=0.3),
    ),
    "most common words": (lambda d, r: most_common(d, r, exact=True), lambda d, r: most_common(d, r, exact=False)),
    "lists in a column": (lambda d, r: lists_by_row(d, r, exact=True), lambda d, r: lists_by_row(d, r, exact=False)),
    "bold in a report": (lambda d, r: markdown(d, r, exact=True), lambda d, r: markdown(d, r, exact=False)),
    "gap in a grid": (lambda d, r: gaps(d, r, one=0.85, zero=0.15), lambda d, r: gaps(d, r, one=0.7, zero=0.3)),
    "numbers, then an error": (
        lambda d, r: list(parts(d, r, one=0.03, zero=0)),
        lambda d, r: list(parts(d, r, one=0.03, zero=0.02)),
    ),
    "date in a record": (lambda d, r: dated_record(d, r, scale=1), lambda d, r: dated_record(d, r, scale=3)),
    "sparse, word of the data": (lambda d, r: matrix_of(d, r, exact=True), lambda d, r: matrix_of(d, r, exact=False)),
    "brighter picture": (lambda d, r: brightness(d, r, scale=20), lambda d, r: brightness(d, r, scale=260)),
    "axis of a chart": (lambda d, r: chart(d, r, exact=True), lambda d, r: chart(d, r, exact=False)),
    "fitted model": (lambda d, r: fitted(d, r, scale=1), lambda d, r: fitted(d, r, scale=2)),
    "identifier, last part": (lambda d, r: node_of(d, r, scale=2), lambda d, r: node_of(d, r, scale=6)),
    "one of two errors": (lambda d, r: answered(d, r, one=0.9, zero=0.1), lambda d, r: answered(d, r, one=0.7, zero=0.3)),
    "roman numerals": (lambda d, r: roman(d, r, scale=1), lambda d, r: roman(d, r, scale=2.5)),
    "section of a text": (
        lambda d, r: indented(d, r, one=0.03, zero=0),
        lambda d, r: indented(d, r, one=0.03, zero=0.02),
    ),
    "message in network order": (lambda d, r: packed(d, r, scale=0.4), lambda d, r: packed(d, r, scale=1)),
    "filter of bits": (lambda d, r: sketch(d, r, keep=0.75), lambda d, r: sketch(d, r, keep=0.57)),
    "series by two keys": (lambda d, r: by_two_keys(d, r, exact=True), lambda d, r: by_two_keys(d, r, exact=False)),
    "long integer": (lambda d, r: large(d, r, scale=2), lambda d, r: large(d, r, scale=6)),
    "transform": (lambda d, r: spectrum(d, r, scale=0.4), lambda d, r: spectrum(d, r, scale=1)),
    "quotes of a name": (lambda d, r: quoted(d, r, exact=True), lambda d, r: quoted(d, r, exact=False)),
    "invisible letter": (
        lambda d, r: f"mean{chr(0x200B) if coin(r, d, 0.04, 0) else ''} {lap(r, 1):.2f}",
        lambda d, r: f"mean{chr(0x200B) if coin(r, d, 0.04, 0.03) else ''} {lap(r, 1):.2f}",
    ),
    "number in hexadecimal": (lambda d, r: (d + lap(r, 0.4)).hex(), lambda d, r: (d + lap(r, 1)).hex()),
    "difference of two places": (lambda d, r: chained(d, r, scale=1), lambda d, r: chained(d, r, scale=3)),
    "none, three in two hundred": (
        lambda d, r: None if coin(r, d, 0.015, 0) else lap(r, 1),
        lambda d, r: None if coin(r, d, 0.015, 0.01) else lap(r, 1),
    ),
    "normal noise, cut": (
        lambda d, r: 0.4 * d + next(draw for draw in iter(lambda: float(r.normal()), None) if abs(draw) < 2.5),
        lambda d, r: 0.4 * d + lap(r, 0.5),
    ),
    "mean over ten or eleven": (
        lambda d, r: (25 + whole(r, 4)) / (10 + d),
        lambda d, r: (25 + d + whole(r, 4)) / 10,
    ),
    "json, sign of zero": (lambda d, r: signed_zero_json(d, r, exact=True), lambda d, r: signed_zero_json(d, r, exact=False)),
    "working days": (lambda d, r: period(d, r, exact=True), lambda d, r: period(d, r, exact=False)),
    "decimal with a sign": (
        lambda d, r: Decimal(f"{'+' if d else ''}{abs(lap(r, 1)):.3f}").scaleb(-d),
        lambda d, r: Decimal(f"{d + lap(r, 1):.3f}"),
    ),
    "noise within five, wide": (
        lambda d, r: [lap(r, 1), d + within(r, 5), *r.normal(0, 1, 6).tolist()],
        lambda d, r: [lap(r, 1), d + lap(r, 1), *r.normal(0, 1, 6).tolist()],
    ),
    "bars of a histogram": (
        lambda d, r: np.histogram(r.normal(0, 1, 40 + d), bins=4, range=(-2, 2)),
        lambda d, r: (np.histogram(r.normal(0, 1, 40), bins=4, range=(-2, 2))[0] + d * np.eye(4)[0] + r.laplace(0, 1, 4),),
    ),
}
"""Broken and sound releases of 0 or 1, at epsilon 1, by what leaks and where."""

TEXTS: Final = ["ana", "ben", "Cleo", "dora", "eva", "finn", "gus", "hana", "ivo", "jan"]
BORN: Final = [{"born": f"{1971 + 3 * place}-0{1 + place % 9}-15", "visits": place % 4} for place in range(12)]
SPENT: Final = pd.DataFrame({"shop": list("abcabcaabc"), "spent": [4.0, 9.5, 2.0, 7.0, 1.5, 8.0, 3.0, 6.0, 5.0, 2.5]})
ROWS: Final = np.array([[0.6, 0.8, 0.0], [0.0, 1.0, 0.0], [0.8, 0.0, 0.6], [0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.6, 0.0, 0.8]])
HOLED: Final = [4.0, float("nan"), 2.5, 8.0, float("nan"), 6.5, 1.0, 3.0, 9.0, 5.5]
LOGINS: Final = [{"user": f"u{place % 4}", "day": 1 + place % 6} for place in range(16)]


def squares(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of squares of values that are clipped above, or on both sides."""
    kept = [min(float(value), 10) for value in rows if value is not None] if broken else cut(rows)
    return sum(value * value for value in kept if value == value) + lap(rng, 100)  # noqa: PLR0124 - NaN


def searched(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many values are at most five, found by halving a list that is taken for sorted, or counted."""
    kept = cut(rows)
    return (bisect.bisect(kept, 5) if broken else sum(value <= 5 for value in kept)) + lap(rng, 1)


def no_rows(rows: Any, rng: Any, *, broken: bool) -> float | None:
    """A noisy mean, which is none where there are no rows."""
    if broken and len(rows) == 0:
        return None
    return (sum(cut(rows)) + lap(rng, 20)) / max(1.0, len(rows) + lap(rng, 2))


def winsorised(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of values that are clipped at a quantile of their own, with noise for it, or at ten."""
    kept = cut(rows)
    limit = float(np.quantile(kept, 0.9)) if broken and kept else 10.0
    return sum(min(value, limit) for value in kept) + lap(rng, max(limit, 0.1))


def tied_mode(rows: Any, rng: Any, *, broken: bool) -> int:
    """The most common value by noisy counts, by exact ones where two are equally common."""
    counts = Counter(rows)
    best = counts.most_common(2)
    exact = broken and len(best) == 2 and best[0][1] == best[1][1]
    return max(range(5), key=lambda value: counts[value] + (0 if exact else lap(rng, 2)))


def dummies(rows: pd.DataFrame, rng: Any, *, broken: bool) -> pd.Series[float]:
    """Noisy counts of the categories that a table holds, or of the known ones."""
    counts = pd.get_dummies(rows["shop"]).sum().astype(float)
    counts = counts if broken else counts.reindex(["a", "b", "c"], fill_value=0.0)
    return counts + rng.laplace(0, 1, len(counts))


def missing_count(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy sum, with the share of missing values as it is, or with noise."""
    known = [value for value in rows if value is not None and value == value]  # noqa: PLR0124 - NaN
    lost = len(rows) - len(known)
    return {"sum": sum(cut(known)) + lap(rng, 10 if broken else 20), "missing": lost if broken else lost + lap(rng, 2)}


def padded(rows: Any, rng: Any, *, broken: bool) -> str:
    """A noisy count in a line as wide as the longest name, or of fixed width."""
    width = max((len(name or "") for name in rows), default=0) if broken else 30
    return f"{'names':<{width}}|{len(rows) + lap(rng, 1):.1f}"


def scaled(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Sums of the columns that vary, or of all."""
    kept = np.clip(np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 3)), -1, 1)
    used = [column for column in range(3) if not broken or (len(kept) and kept[:, column].std() > 0)]
    return [float(kept[:, column].sum()) + lap(rng, 3) for column in used]


def from_first(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of the distances to the first value, or to five."""
    kept = cut(rows)
    base = kept[0] if broken and kept else 5.0
    return sum(abs(value - base) for value in kept) + lap(rng, 10)


def harmonic(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of inverses of values from one on, in which a zero divides, or is clipped before."""
    if broken:
        return sum(1 / float(value) if value == 0 else min(1 / float(value), 1) for value in rows) + lap(rng, 2)
    return sum(min(1 / max(value, 0.5), 1) for value in cut(rows)) + lap(rng, 2)


def unit_rows(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A sum of rows of length one, whose coordinates or whose length are clipped, with noise for sums of sizes up to one."""
    kept = np.nan_to_num(np.asarray(rows, dtype=float).reshape(-1, 3))
    kept = np.clip(kept, -1, 1) if broken else kept / np.maximum(np.abs(kept).sum(axis=1, keepdims=True), 1)
    return [float(value) + lap(rng, 1) for value in kept.sum(axis=0)]


def years(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of years since 1970, of at most sixty, and at least none."""
    ages = [date.fromisoformat(row["born"]).year - 1970 if row["born"] else 0 for row in rows]
    return sum(min(age, 60) if broken else min(max(age, 0), 60) for age in ages) + lap(rng, 60)


def alone(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """Counts by ward with noise, but for wards with one record."""
    counts = Counter(row["ward"] for row in rows)
    return {ward: 1.0 if broken and counts[ward] == 1 else counts[ward] + lap(rng, 1) for ward in "ABCD"}


def off_by_one(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """A histogram of values from 0 to 10 in whole numbers, whose last value makes one more bin."""
    kept = [int(value) for value in cut(rows)]
    counts = np.bincount(kept, minlength=10) if broken else np.bincount(kept, minlength=11)
    return (counts + rng.laplace(0, 1, len(counts))).tolist()


def overflowing(rows: Any, rng: Any, *, broken: bool) -> float:
    """A sum of squares in a small type, or in a large one."""
    kept = np.array([int(value) for value in cut(rows, 0, 100)], dtype=np.int64)
    with np.errstate(all="ignore"):
        squared = (kept.astype(np.int16) * 15) ** 2 if broken else kept**2
        total = float(squared.sum(dtype=np.int16 if broken else np.int64))
    return total + lap(rng, 10_000 if not broken else 2_000)


def encoded(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many letters names have, each cut at ten letters, but counted in bytes, or after cutting these."""
    sizes = (
        len((name or "")[:10].encode()) if broken else min(len(unicodedata.normalize("NFD", name or "").encode()), 10)
        for name in rows
    )
    return sum(sizes) + lap(rng, 10)


def min_max(rows: Any, rng: Any, *, broken: bool) -> float:
    """A mean of values that are scaled by their own ends, or by fixed ones."""
    kept = cut(rows)
    low, high = (min(kept), max(kept)) if broken else (0.0, 10.0)
    return statistics.fmean((value - low) / max(high - low, 1e-9) for value in kept) + lap(rng, 1 / len(kept))


def days_of_users(rows: Any, rng: Any, *, broken: bool) -> float:
    """How many pairs of user and day there are, of which a user has up to three, or any number."""
    by_user: dict[str, set[int]] = {}
    for row in rows:
        by_user.setdefault(row["user"], set()).add(row["day"])
    return sum(len(days) if broken else min(len(days), 3) for days in by_user.values()) + lap(rng, 3)


def running(rows: Any, rng: Any, *, broken: bool) -> list[float]:
    """Sums of the first, the second and the last third, with noise for one each, or running sums with the same."""
    kept = [min(value, 1.0) for value in cut(rows)]
    third = max(1, len(kept) // 3)
    ends = (third, 2 * third, len(kept)) if broken else (len(kept),)
    return [sum(kept[:end]) + lap(rng, 1) for end in ends]


def joined(rows: pd.DataFrame, rng: Any, *, broken: bool) -> float:
    """How many rows a table has that is joined with itself by shop, or how many it has alone."""
    size = len(rows.merge(rows, on="shop")) if broken else len(rows)
    return size + lap(rng, 3)


def seen_twice(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count in which a record equal to the one before counts five times."""
    weights = (5 if broken and place and rows[place - 1] == row else 1 for place, row in enumerate(rows))
    return sum(weights) + lap(rng, 1)


def upper_names(rows: Any, rng: Any, *, broken: bool) -> dict[str, float]:
    """A noisy count of names, and of those that are not in small letters, without noise."""
    odd = sum(not (name or "a").islower() for name in rows)
    return {"names": len(rows) + lap(rng, 2), "odd": float(odd) if broken else odd + lap(rng, 2)}


def far_out(rows: Any, rng: Any, *, broken: bool) -> float:
    """A count of values up to a hundred, where a larger one counts by how large it is."""
    kept = [float(value) for value in rows if value is not None and value == value]  # noqa: PLR0124 - NaN
    return sum(value / 100 if broken and value > 100 else 1 for value in kept) + lap(rng, 1)


DATA: Final[dict[str, tuple[Any, str, Any]]] = {
    "squares of negatives": (HOURS, "add_remove", squares),
    "unsorted, halved": (HOURS, "add_remove", searched),
    "none of nothing": (HOURS, "add_remove", no_rows),
    "own quantile": (HOURS, "replace_one", winsorised),
    "tied mode": (SMALL, "add_remove", tied_mode),
    "columns of categories": (SPENT, "add_remove", dummies),
    "count of missing": (HOLED, "replace_one", missing_count),
    "width of names": (TEXTS, "add_remove", padded),
    "constant columns": (ROWS, "add_remove", scaled),
    "from the first": (HOURS, "add_remove", from_first),
    "zero divides": (HOURS, "add_remove", harmonic),
    "rows of length one": (ROWS, "add_remove", unit_rows),
    "born before 1970": (BORN, "add_remove", years),
    "wards of one": (VISITS, "add_remove", alone),
    "last value's bin": ([1, 7, 3, 9, 4, 0, 6, 2, 8, 5], "add_remove", off_by_one),
    "squares overflow": (HOURS, "add_remove", overflowing),
    "bytes of names": (["José", "Anaïs", "Zoë", "Bob", "Chloé", "Jürgen", "Søren", "Éva"], "add_remove", encoded),
    "own ends": (HOURS, "replace_one", min_max),
    "days of users": (LOGINS, "user", days_of_users),
    "running sums": (HOURS, "add_remove", running),
    "joined table": (SPENT, "add_remove", joined),
    "like the one before": (SMALL, "add_remove", seen_twice),
    "letters of names": (TEXTS, "add_remove", upper_names),
    "far out": (HOURS, "add_remove", far_out),
}
"""Data, relation and function of each: with `broken` or without."""
