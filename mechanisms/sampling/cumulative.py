"""Inversion of a cumulative function: exact draws from certified thresholds, guided by the first bits of one uniform number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import Unsupported
from dpaudit.exact import working_precision
from mechanisms.sampling.exactnum import LazyUniform, only_integer, shift_ball
from mechanisms.sampling.limits import LARGEST, freeze, require_sizes, too_large
from mechanisms.sampling.random import BitSource

CHUNK: Final = 2**16
"""Draws of one batch: few enough for the processor's cache."""

LONGEST: Final = 2**20
"""Most thresholds of one table."""

_UNDECIDED: Final = -1


class CumulativeLaw(Protocol):
    """A law on the integers from `lowest` on, known by its cumulative function."""

    def __hash__(self) -> int:
        """Laws are values: equal ones share their table."""

    @property
    def lowest(self) -> int:
        """The smallest integer that can be drawn."""

    @property
    def highest(self) -> int | None:
        """The largest integer that can be drawn, None when there is none."""

    def cumulative(self, first: int, last: int) -> Iterable[arb]:
        """Balls around P[X <= k] for k = first .. last (lowest <= first, last < highest), at the current working precision."""


@dataclass(frozen=True)
class Words:
    """Sizes of the uniform number's parts, without influence on the law; small ones make rare paths common.

    Args:
      guide: bits that are looked up first, from 1 to 16.
      prefix: bits that are compared with the thresholds, the guide's included, from `guide` to 63.
      step: bits added each time a comparison stays open, at least 1.
      reach: thresholds of a law without a highest integer are tabulated until less than 2**-reach lies beyond, from 1 to 63.
    """

    guide: int = 16
    prefix: int = 63
    step: int = 64
    reach: int = 40

    def __post_init__(self) -> None:
        require_sizes(self, guide=(1, 16), prefix=(self.guide, 63), step=(1, 2**16), reach=(1, 63))


SHIPPED_WORDS: Final = Words()
"""The sizes that laws sample with."""


@dataclass(frozen=True, eq=False)
class CumulativeTable:
    """Thresholds of a law's cumulative function F: entry i is about F(lowest + i).

    Args:
      law: the law.
      words: the sizes it was built with.
      below: a uniform number whose first bits read less than this is certainly less than F.
      beyond: a uniform number whose first bits read this or more is certainly not less than F.
      guide: for each value of the first bits, how far above `lowest` the draw is, -1 where these bits do not decide it.
    """

    law: CumulativeLaw
    words: Words
    below: NDArray[np.uint64]
    beyond: NDArray[np.uint64]
    guide: NDArray[np.int64]

    @cached_property
    def is_open(self) -> bool:
        """True if the law goes on beyond the last threshold."""
        return self.law.highest is None

    @cached_property
    def ends(self) -> tuple[list[int], list[int]]:
        """`beyond` and `below` as Python integers, in which single numbers are found faster."""
        return self.beyond.tolist(), self.below.tolist()


@lru_cache(maxsize=128)
def cumulative_table(law: CumulativeLaw, words: Words = SHIPPED_WORDS) -> CumulativeTable:
    """The certified thresholds of a law, kept for further use."""
    prefix, first = words.prefix, law.lowest
    with working_precision(prefix + 40):
        last = _last_threshold(law, words.reach) if law.highest is None else law.highest - 1
        if last - first >= LONGEST:
            raise Unsupported("DPA202", f"the law has more than 2**{LONGEST.bit_length() - 1} values to tabulate. Narrow it.")
        balls = [shift_ball(value, prefix) for value in law.cumulative(first, last)] if last >= first else []
        whole = 2**prefix
        below = [min(max(only_integer(value.lower().floor()), 0), whole) for value in balls]
        beyond = [min(max(only_integer(value.upper().ceil()), 0), whole) for value in balls]
    # Ends of balls may fall back by a unit where the cumulative function rises by less; the truth does not fall.
    sure_below = np.maximum.accumulate(np.array(below, dtype=np.uint64))
    sure_beyond = np.minimum.accumulate(np.array(beyond, dtype=np.uint64)[::-1])[::-1]
    return CumulativeTable(law, words, freeze(sure_below), freeze(sure_beyond), freeze(_guide(law, words, sure_below, sure_beyond)))


def _last_threshold(law: CumulativeLaw, reach: int) -> int:
    """Twice as far as needed at most: an integer beyond which less than 2**-reach of the law lies."""
    distance = 1
    while distance <= LONGEST:
        (value,) = law.cumulative(law.lowest + distance, law.lowest + distance)
        if shift_ball(1 - value, reach) < 1:
            break
        distance *= 2
    return law.lowest + distance


def _guide(law: CumulativeLaw, words: Words, below: NDArray[np.uint64], beyond: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The place that the first bits decide: the same for the least and the greatest number that starts with them."""
    rest = words.prefix - words.guide
    least = np.arange(2**words.guide, dtype=np.uint64) << np.uint64(rest)
    greatest = least + np.uint64(2**rest - 1)
    low = np.searchsorted(beyond, least, side="right")
    high = np.searchsorted(below, greatest, side="right")
    decided = (low == high) & ((low < len(below)) if law.highest is None else True)
    return np.where(decided, low, _UNDECIDED).astype(np.int64)


def draw_places(table: CumulativeTable, source: BitSource, n: int) -> NDArray[np.int64]:
    """Independent exact draws, as distances from the lowest integer of the law."""
    result = np.empty(n, dtype=np.int64)
    for start in range(0, n, CHUNK):
        _fill(table, source, result[start : start + CHUNK])
    return result


def _fill(table: CumulativeTable, source: BitSource, result: NDArray[np.int64]) -> None:
    """One batch: a look-up for each draw, comparisons for those that it leaves open, in their own places."""
    words = table.words
    first = source.uniform(words.guide, len(result))
    # The guide has an entry for every value of its bits; "clip" spares numpy a check and a copy.
    table.guide.take(first, out=result, mode="clip")
    open_ = np.flatnonzero(result == _UNDECIDED)
    if not len(open_):
        return
    digits = first[open_].astype(np.uint64)
    rest = words.prefix - words.guide
    if rest:
        digits = digits << np.uint64(rest) | source.uniform(rest, len(open_)).astype(np.uint64)
    low = np.searchsorted(table.beyond, digits, side="right")
    high = np.searchsorted(table.below, digits, side="right")
    result[open_] = low
    unclear = (low != high) | ((low == len(table.below)) if table.is_open else False)
    for position in np.flatnonzero(unclear).tolist():
        place = _locate(table, source, int(digits[position]), int(low[position]), int(high[position]))
        if place >= LARGEST:
            raise too_large()
        result[open_[position]] = place


def draw_place(table: CumulativeTable, source: BitSource) -> int:
    """One exact draw of any size; all bits of the prefix are drawn and compared whatever the result."""
    return place_of(table, source, source.bits(table.words.prefix))


def place_of(table: CumulativeTable, source: BitSource, digits: int) -> int:
    """The draw whose uniform number starts with `digits`, which are as many bits as the table's prefix."""
    beyond, below = table.ends
    low, high = bisect_right(beyond, digits), bisect_right(below, digits)
    if low == high and not (table.is_open and low == len(table.below)):
        return low
    return _locate(table, source, digits, low, high)


def _locate(table: CumulativeTable, source: BitSource, digits: int, low: int, high: int) -> int:
    """The first place whose F exceeds the uniform number, from `low` to `high` or beyond the table, by balls and more bits."""
    law, first = table.law, table.law.lowest
    uniform = LazyUniform.begun(source, digits, table.words.prefix, table.words.step)

    def under(place: int) -> bool:
        return uniform.less(lambda _: next(iter(law.cumulative(first + place, first + place))))

    if high == len(table.below) and table.is_open:
        stride = 1
        while not under(high):
            low, high, stride = high + 1, high + stride, 2 * stride
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if under(middle) else (middle + 1, high)
    return low
