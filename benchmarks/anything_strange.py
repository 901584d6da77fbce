"""A third list of releases that leak in their outputs, as a stranger would bring them: tables, reports, models, messages.

Written before the reading was fitted to them. Those at even places were for tuning.
"""

from __future__ import annotations

import csv
import io
import json
import struct
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
