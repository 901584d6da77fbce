"""How finely numbers are given out: digits after the point, whether few bits hold them, last bits; of integers what divides them.

Noise added to floats in the usual way shows in the last bits of small outputs, which only `float_bits` looks at. What is read here
is alike for all usual ways to add noise: few digits or many, and the last bits of outputs too large to show what was rounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.leaves import Path
from dpaudit.auditor.statistics.binning import Floats, Labels

_MOST_DIGITS: Final = 9
_LARGEST: Final = 1e10
"""Floats of at most ten digits are taken for decimals: among those of all digits one in a million looks like one."""

_SHORT: Final = 16.0
_FULL: Final = 17.0
_SIGNIFICAND: Final = 52
_BITS: Final = 4
"""Last bits that are read."""

_LEAST_RATIO: Final = 2.5
"""A sum that is rounded from one bit more ends on 1 in half as many cases, since ties go to even numbers; a leak does more."""

_LARGE: Final = 0.75
"""Share of the outputs that are too small for their last bits to be looked at."""

_STRONG: Final = 5.0
"""Standard deviations by which a share has to differ before columns are added: that decides nothing, and costs a little power."""

_FEWEST: Final = 64
_CUT: Final = 1 / 64
"""A larger share of the smallest or the largest value means that others were cut to it."""

_MANY: Final = 64
"""Integers of more values than this are read by what divides them; fewer are events of their own."""

_DIVISIBLE: Final = 12_600
"""Its divisors are the steps in which people count: those of ten and of a hundred, of hours, weeks and angles."""


class Fine(NamedTuple):
    """A place whose precision is read, the size from which on its last bits are, and the bits after these, which are all zero.

    Of a place of `whole` numbers their divisors are read instead.
    """

    path: Path
    limit: float
    unused: int = 0
    whole: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """Names of the columns."""
        return ("precision", "divisor" if self.whole else "last bits")


COLUMNS: Final = 2


def precision(values: Floats) -> Floats:
    """Digits after the point of decimals of few digits; 16 for other numbers that 24 bits hold, 17 for all others."""
    with np.errstate(over="ignore"):
        found = np.where(values.astype(np.float32) == values, _SHORT, _FULL)
    for digits in range(_MOST_DIGITS, -1, -1):
        scale = 10.0**digits
        found[(np.abs(values) * scale < _LARGEST) & (np.rint(values * scale) / scale == values)] = digits
    return found


def columns_of(values: Floats, fine: Fine) -> Floats:
    """The columns of a place: its precision, and the last four bits of the significands of large numbers, -1 for others.

    Of numbers that a type of fewer bits holds the last bits of that type are read, of integers their largest divisor of 12,600.
    """
    found = precision(values)
    if fine.whole:
        return np.column_stack([found, np.gcd(np.fmod(values, _DIVISIBLE).astype(np.int64), _DIVISIBLE).astype(np.float64)])
    read = (np.abs(values) >= fine.limit) & (found >= (_SHORT if fine.unused else _FULL))
    bits = np.where(read, (np.ascontiguousarray(values).view(np.int64) >> fine.unused) % 2**_BITS, -1)
    return np.column_stack([found, bits.astype(np.float64)])


def _unused_bits(values: Floats) -> int:
    """Return how many last bits of the significands are zero in all numbers."""
    held = int(np.bitwise_or.reduce(np.ascontiguousarray(values).view(np.int64) & (2**_SIGNIFICAND - 1)))
    unused = (held & -held).bit_length() - 1
    return unused if 0 <= unused < _SIGNIFICAND - _BITS else 0


def find_fine(path: Path, samples: Iterable[tuple[Floats, Labels]]) -> Fine | None:
    """Return a place with its limit where precision or last bits differ clearly between the datasets of a pair."""
    for every, marks in samples:
        kept = _within_ends(every)
        values, labels = every[kept], marks[kept]
        if len(values) < _FEWEST:
            continue
        if (values == np.rint(values)).all():
            fine = Fine(path, 0.0, whole=True)
            if len(np.unique(values)) > _MANY and _differs(columns_of(values, fine)[:, 1], labels, _LEAST_RATIO):
                return fine
            continue
        fine = Fine(path, float(np.quantile(np.abs(values), _LARGE)), _unused_bits(values))
        digits, last = columns_of(values, fine).T
        read = last >= 0  # how many are large is no matter of precision
        bits = [last[read] // 2**place % 2 for place in range(_BITS)]
        if _differs(digits, labels, 1) or any(_differs(bit, labels[read], _LEAST_RATIO) for bit in bits):
            return fine
    return None


def _within_ends(values: Floats) -> NDArray[np.bool_]:
    """Return which values are not at an end to which others were cut: how many are cut is no matter of precision."""
    if not values.size:
        return np.zeros(0, dtype=np.bool_)
    ends = [end for end in (values.min(), values.max()) if np.count_nonzero(values == end) > _CUT * len(values)]
    return ~np.isin(values, ends)


def _differs(column: Floats, labels: Labels, least: float) -> bool:
    """True if the share of a value differs between the labels by such a factor, and by far more than by chance."""
    if not column.size:
        return False
    values, codes = np.unique(column, return_inverse=True)
    counts = np.stack([np.bincount(codes[labels == label], minlength=values.size) for label in (0, 1)]) + 0.5
    shares = counts / counts.sum(axis=1, keepdims=True)
    pooled = counts.sum(axis=0) / counts.sum()
    spread = np.sqrt(pooled * (1 - pooled) * (1 / counts.sum(axis=1)).sum())
    low, high = np.sort(shares, axis=0)
    return bool(((high - low > _STRONG * spread) & (high >= least * low)).any())
