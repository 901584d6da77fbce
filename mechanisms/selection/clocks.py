"""Noise for races: quantiles of the Gumbel and the exponential law, as balls and as floats that certainly enclose them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from mechanisms.sampling.exactnum import LARGEST_EXPONENT, certexp
from mechanisms.sampling.limits import freeze

_TRUSTED: Final = 2.0**-50
"""Covers the relative error of `certexp`, below 2^-51, and the rounding of one product."""

_HALVINGS: Final = 6
_SHIFT: Final = _HALVINGS * 0.6931471805599453


@dataclass(frozen=True)
class Clock:
    """A law of noise by its quantiles, increasing in the uniform number.

    `quantile` gives the ball, at the working precision, around the quantile of numerator / 2^bits: infinite at an end where the
    law is not bounded. `around` gives floats on both sides of the quantiles of many numerators, for at most 53 bits: so
    many a float holds, of a fraction of 2^bits and of one less it.
    """

    name: str
    quantile: Callable[[int, int], arb]
    around: Callable[[NDArray[np.int64], int], tuple[NDArray[np.float64], NDArray[np.float64]]]

    def between(self, first: NDArray[np.int64], bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and greatest noise that uniform numbers with these first bits can stand for."""
        return self.around(first, bits)[0], self.around(first + 1, bits)[1]


@lru_cache(maxsize=8)
def intervals(clock: Clock, bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and greatest noise by the first bits of the uniform number; 2**bits entries each, read-only."""
    lower, upper = clock.around(np.arange(2**bits + 1), bits)
    return freeze(lower[:-1].copy()), freeze(upper[1:].copy())


def minus_logarithm(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Floats on both sides of -ln of numbers from 0 to 1, by guesses of the mathematical library that `certexp` confirms.

    A guess that it does not confirm is replaced by the trivial bound, so that a poor library costs speed and nothing else.
    """
    with np.errstate(divide="ignore"):
        guess = -np.log(values)
    margin = 2.0**-48 * (1.0 + np.minimum(guess, LARGEST_EXPONENT))
    lower, upper = np.clip(guess - margin, 0.0, LARGEST_EXPONENT), np.clip(guess + margin, 0.0, LARGEST_EXPONENT)
    # A lower end is right where e^-lower is at least the number, an upper one where it is at most that.
    lower[~(certexp(lower) * (1.0 - _TRUSTED) >= values)] = 0.0
    upper[~(certexp(upper) * (1.0 + _TRUSTED) <= values)] = math.inf
    return lower, upper


def _exponential_quantile(numerator: int, bits: int) -> arb:
    """-ln(1 - u)."""
    rest = (1 << bits) - numerator
    return -arb((rest, -bits)).log() if rest else arb.pos_inf()


def _around_exponential(numerators: NDArray[np.int64], bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Floats around -ln(1 - u)."""
    return minus_logarithm((2**bits - numerators) / 2.0**bits)


def _gumbel_quantile(numerator: int, bits: int) -> arb:
    """-ln(-ln u)."""
    if numerator == 0:
        return arb.neg_inf()
    if numerator == 1 << bits:
        return arb.pos_inf()
    return -(-arb((numerator, -bits)).log()).log()


def _around_gumbel(numerators: NDArray[np.int64], bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Floats around -ln(-ln u) = -ln(-ln u / 2^s) - s ln 2, with s so large that the inner number is at most 1."""
    least, greatest = minus_logarithm(numerators / 2.0**bits)
    _, upper = minus_logarithm(np.minimum(least / 2.0**_HALVINGS, 1.0))
    lower, _ = minus_logarithm(np.minimum(greatest / 2.0**_HALVINGS, 1.0))
    # The results are below 64, so that they and the shift are rounded by less than this.
    lower, upper = lower - (_SHIFT + 2.0**-47), upper - (_SHIFT - 2.0**-47)
    lower[numerators == 0] = -math.inf
    return lower, upper


GUMBEL: Final = Clock("gumbel", _gumbel_quantile, _around_gumbel)
EXPONENTIAL: Final = Clock("exponential", _exponential_quantile, _around_exponential)
