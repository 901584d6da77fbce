"""Geometric draws digit by digit: the digits of a geometric number are independent, so each is looked up in a table of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball
from mechanisms.sampling.cumulative import (
    CHUNK,
    SHIPPED_WORDS,
    CumulativeTable,
    Words,
    cumulative_table,
    draw_places,
    place_of,
)
from mechanisms.sampling.limits import LARGEST, too_large
from mechanisms.sampling.random import BitSource

TOP_SCALE: Final = 24
"""The top digit's law has a scale of at most this, so that its table stays short."""


@dataclass(frozen=True)
class GeometricDigit:
    """A digit: P[D = i] proportional to exp(-rate i) for 0 <= i < size, or for all i >= 0 if `size` is None."""

    rate: Fraction
    size: int | None

    lowest = 0

    @property
    def highest(self) -> int | None:
        """The largest digit."""
        return None if self.size is None else self.size - 1

    def cumulative(self, first: int, last: int) -> Iterator[arb]:
        """P[D <= k] = (1 - exp(-rate (k + 1))) / (1 - exp(-rate size))."""
        rate = ball(-self.rate)
        whole = arb(1) if self.size is None else -(rate * self.size).expm1()
        return (-(rate * (k + 1)).expm1() / whole for k in range(first, last + 1))


@dataclass(frozen=True)
class LaplaceSign:
    """The sign of a discrete Laplace draw: 0, 1, 2 stand for -1, 0, 1, with P[1] = P[-1] = q / (1 + q), q = exp(-1 / scale)."""

    scale: Fraction

    lowest = 0
    highest = 2

    def cumulative(self, first: int, last: int) -> Iterator[arb]:
        """Balls around q / (1 + q) and 1 / (1 + q)."""
        ratio = ball(-1 / self.scale).exp()
        return (value / (1 + ratio) for value in (ratio, arb(1))[first : last + 1])


@dataclass(frozen=True)
class DigitWords:
    """Sizes of the digit sampler, without influence on the law; small ones make rare paths common.

    Args:
      digit: bits of every digit but the top one, from 1 to 12.
      top_scale: the top digit's law has at most this scale, exact and positive.
      words: sizes of the tables.
    """

    digit: int = 8
    top_scale: Fraction = Fraction(TOP_SCALE)
    words: Words = SHIPPED_WORDS

    def __post_init__(self) -> None:
        """Refuse sizes that make no table."""
        if not 1 <= self.digit <= 12 or self.top_scale <= 0:
            raise InvalidArgument(
                "DPA103", f"digit must be from 1 to 12 and top_scale positive, got {self.digit}, {self.top_scale}."
            )


SHIPPED_DIGITS: Final = DigitWords()
"""The sizes that laws sample with."""


@dataclass(frozen=True, eq=False)
class DigitTable:
    """Tables of the digits of a geometric number, the lowest digit first; the last one has no largest value.

    Args:
      digit: bits of every digit but the last.
      digits: one table a digit.
      sign: table of the sign for two-sided draws.
    """

    digit: int
    digits: tuple[CumulativeTable, ...]
    sign: CumulativeTable

    @property
    def shift(self) -> int:
        """Bits below the top digit."""
        return self.digit * (len(self.digits) - 1)

    @property
    def reach(self) -> int:
        """Draws of this size and beyond are less likely than 2**-40 each."""
        return (len(self.digits[-1].below) + 1) << self.shift


@lru_cache(maxsize=32)
def digit_table(scale: Fraction | int, tuning: DigitWords = SHIPPED_DIGITS) -> DigitTable:
    """The digit tables of the geometric law P(k) proportional to exp(-k / scale), kept for further use."""
    exact, lower = Fraction(scale), 0
    while exact > tuning.top_scale * 2 ** (tuning.digit * lower):
        lower += 1
    rates = [Fraction(2 ** (tuning.digit * place)) / exact for place in range(lower + 1)]
    laws = [*(GeometricDigit(rate, 2**tuning.digit) for rate in rates[:-1]), GeometricDigit(rates[-1], None)]
    tables = tuple(cumulative_table(law, tuning.words) for law in laws)
    return DigitTable(tuning.digit, tables, cumulative_table(LaplaceSign(exact), tuning.words))


def draw_geometric(table: DigitTable, source: BitSource, n: int, *, wide: bool = False) -> NDArray[Any]:
    """Independent exact draws of the geometric law."""
    result = np.empty(n, dtype=object if wide else np.int64)
    for start in range(0, n, CHUNK):
        _fill(table, source, result[start : start + CHUNK])
    return result


def _fill(table: DigitTable, source: BitSource, result: NDArray[Any]) -> None:
    """One batch of geometric draws: the top digit, then every lower one beside it."""
    top = draw_places(table.digits[-1], source, len(result))
    if result.dtype != object and int(top.max()) >= LARGEST >> table.shift:
        raise too_large()
    result[:] = top
    for digit in table.digits[-2::-1]:
        result <<= table.digit
        result += draw_places(digit, source, len(result))


def draw_two_sided(table: DigitTable, source: BitSource, n: int, *, wide: bool = False) -> NDArray[Any]:
    """Independent exact draws of the discrete Laplace law: a sign, times one more than a geometric draw."""
    result = np.empty(n, dtype=object if wide else np.int64)
    for start in range(0, n, CHUNK):
        size = result[start : start + CHUNK]
        _fill(table, source, size)
        size += 1
        sign = draw_places(table.sign, source, len(size))
        sign -= 1
        size *= sign
    return result


def draw_one_geometric(table: DigitTable, source: BitSource) -> int:
    """One exact draw of any size; the bits of all digits are drawn at once and all are compared."""
    return _join(table, _places(table.digits, source))


def draw_one_two_sided(table: DigitTable, source: BitSource) -> int:
    """One exact draw of the discrete Laplace law, of any size."""
    sign, *places = _places((table.sign, *table.digits), source)
    return (sign - 1) * (1 + _join(table, places))


def _places(tables: tuple[CumulativeTable, ...], source: BitSource) -> list[int]:
    """One draw from each table, their first bits taken as one number."""
    prefix = tables[0].words.prefix
    word, mask = source.bits(prefix * len(tables)), (1 << prefix) - 1
    return [place_of(table, source, word >> (prefix * index) & mask) for index, table in enumerate(tables)]


def _join(table: DigitTable, places: list[int]) -> int:
    """The number that has these digits."""
    return sum(place << (table.digit * index) for index, place in enumerate(places))
