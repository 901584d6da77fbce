"""Losses whose slopes are straight between knots: limits of slope and curvature are exact, and minimisers can be certified.

A loss is given by its pull, the negative slope, a function of the margin that never rises and is constant beyond its last knots.
The numbers of the table are the loss: no library function stands behind them, so that nothing about it is approximate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.exact import integer, word

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOGISTIC_BITS: Final = 8
_LOGISTIC_END: Final = 32
_WIDEST: Final = 30

FAMILIES: Final = ("logistic", "huber", "residual")


@dataclass(frozen=True)
class Loss:
    """A convex loss of margins with a Lipschitz slope.

    Args:
      family: "logistic", log(1 + e^-m) with its slope straight between multiples of 1/256; "huber", the hinge loss max(0, 1 - m)
        with a parabola of width 2**width_bits around its corner; "residual", half the square of m up to |m| = 2**width_bits and
        straight beyond, where m is a prediction less its target.
      width_bits: of the last two, -30 to 30.
    Source: Chaudhuri, Monteleoni, Sarwate 2011, section 3.4 (Huber).
    """

    family: str = "logistic"
    width_bits: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no loss here."""
        word(self.family, "loss", FAMILIES)
        integer(self.width_bits, "width_bits", lower=-_WIDEST, upper=_WIDEST)

    @property
    def steepest(self) -> Fraction:
        """Largest size of a slope."""
        knots = self._knots.pulls
        return max(abs(Fraction(float(knots[0]))), abs(Fraction(float(knots[-1]))))

    @property
    def curvature(self) -> Fraction:
        """Largest change of a slope with the margin, exactly."""
        return self._knots.curvature

    @property
    def at_zero(self) -> Fraction:
        """No less than the loss at a margin of 0, where its least value is 0; 0 for "residual"."""
        return self._knots.at_zero

    @property
    def ends(self) -> tuple[float, float]:
        """First and last knot: the slope is constant before and behind them."""
        return self._knots.first, self._knots.last

    def pulls(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Negative slopes at finite margins, in floats."""
        knots = self._knots
        place = np.clip(margins, knots.first, knots.last)
        place -= knots.first
        place *= 2.0**knots.bits
        cells = np.minimum(place.astype(np.int64), len(knots.rises) - 1)
        place -= cells
        place *= knots.rises[cells]
        place += knots.pulls[cells]
        return place

    @property
    def _knots(self) -> _Knots:
        """The table."""
        return _table(self.family, self.width_bits)


@dataclass(frozen=True, eq=False)
class _Knots:
    """Pulls at equally distant margins, 2**-bits apart."""

    first: float
    bits: int
    pulls: NDArray[np.float64]

    @property
    def last(self) -> float:
        """The last margin of the table."""
        return self.first + len(self.rises) * 2.0**-self.bits

    @cached_property
    def rises(self) -> NDArray[np.float64]:
        """Differences of neighbours in the table."""
        return np.diff(self.pulls)

    @cached_property
    def curvature(self) -> Fraction:
        """The largest difference of neighbours over their distance."""
        exact = list(map(Fraction, self.pulls.tolist()))
        return max(before - after for before, after in pairwise(exact)) / Fraction(2) ** -self.bits

    @cached_property
    def at_zero(self) -> Fraction:
        """Area under the pulls from 0, or from the knot before it, to where they end."""
        exact, width = list(map(Fraction, self.pulls.tolist())), Fraction(2) ** -self.bits
        first = Fraction(self.first)
        if exact[-1] < 0:
            return Fraction(0)
        before = max(first, Fraction(0)) * exact[0]
        start = max(0, int(-first / width))
        inner = exact[start:]
        return before + width * (sum(inner, Fraction(0)) - (inner[0] + inner[-1]) / 2)


@lru_cache(maxsize=32)
def _table(family: str, width_bits: int) -> _Knots:
    """The table of a loss."""
    width = 2.0**width_bits
    if family == "huber":
        return _Knots(1 - width / 2, -width_bits, np.array([1.0, 0.0]))
    if family == "residual":
        return _Knots(-width, -width_bits - 1, np.array([width, -width]))
    cells = 2 * _LOGISTIC_END << _LOGISTIC_BITS
    margins = [cell / 2**_LOGISTIC_BITS - _LOGISTIC_END for cell in range(1, cells)]
    return _Knots(-_LOGISTIC_END, _LOGISTIC_BITS, np.array([1.0, *(1 / (1 + math.exp(margin)) for margin in margins), 0.0]))
