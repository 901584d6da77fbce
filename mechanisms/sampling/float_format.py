"""Binary floating point formats as exact sets of numbers: their order, their neighbours, rounding to the nearest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mechanisms.sampling.envelope import floor_log2
from mechanisms.sampling.limits import require_sizes

MOST_PRECISION: Final = 53
"""Numbers of a format are kept in float64, so no format has more digits."""

SMALLEST_EXPONENT: Final = -1074
"""The smallest positive float64 is 2**SMALLEST_EXPONENT, and no format goes below."""


@dataclass(frozen=True)
class FloatFormat:
    """The numbers m * 2**e with |m| < 2**precision and e >= smallest_exponent, without a largest one.

    Kernels round to `FLOAT64`; formats of a few digits make the set of results small enough to be enumerated.

    Args:
      precision: binary digits of a normal number, from 2 to 53.
      smallest_exponent: exponent of the smallest positive number 2**smallest_exponent, from -1074 to 900.
    Source: IEEE 754-2019, section 3.3.
    """

    precision: int
    smallest_exponent: int

    def __post_init__(self) -> None:
        require_sizes(self, precision=(2, MOST_PRECISION), smallest_exponent=(SMALLEST_EXPONENT, 900))

    def rank(self, value: Fraction) -> int:
        """Rank of the number nearest to `value`, ties to even; the smallest positive number has rank 1, its negative -1."""
        exponent = max(floor_log2(abs(value)) - self.precision + 1, self.smallest_exponent) if value else self.smallest_exponent
        digits = round(abs(value) / Fraction(2) ** exponent)
        # Digits that were rounded up to 2**precision give the rank of the next power of two, as they should.
        rank = digits + ((exponent - self.smallest_exponent) << (self.precision - 1))
        return rank if value > 0 else -rank

    def number(self, rank: int) -> Fraction:
        """The number of a rank, the inverse of `rank`."""
        half = 1 << (self.precision - 1)
        octave = max(abs(rank) // half - 1, 0)
        size = (abs(rank) - octave * half) * Fraction(2) ** (self.smallest_exponent + octave)
        return size if rank >= 0 else -size

    def middle(self, rank: int) -> Fraction:
        """The border at which rounding changes from the number of `rank` to the next one: half way between the two."""
        return (self.number(rank) + self.number(rank + 1)) / 2

    def sum_one(self, first: float, second: float) -> float:
        """The number nearest to the sum of two floats: for float64 what the processor's addition gives."""
        if self.precision == MOST_PRECISION and self.smallest_exponent == SMALLEST_EXPONENT:
            return first + second
        return float(self.number(self.rank(Fraction(first) + Fraction(second))))

    def sum_many(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers nearest to the sums of two float arrays of one shape."""
        if self.precision == MOST_PRECISION and self.smallest_exponent == SMALLEST_EXPONENT:
            return first + second
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([self.sum_one(one, other) for one, other in pairs], dtype=np.float64)


FLOAT64: Final = FloatFormat(MOST_PRECISION, SMALLEST_EXPONENT)
"""The format of Python floats and of numpy.float64; noise never reaches its largest number (docs/laws_and_real_noise.md)."""
