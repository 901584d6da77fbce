"""The staircase law: noise whose weights fall in steps, which for pure differential privacy spreads less than Laplace noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, ball, integer, positive, shown, working_precision
from mechanisms.laws import law
from mechanisms.laws.law import Sampler
from mechanisms.sampling.cumulative import SHIPPED_WORDS, CumulativeTable, Words, cumulative_table, draw_place, draw_places
from mechanisms.sampling.digits import SHIPPED_DIGITS, DigitTable, DigitWords, digit_table, draw_geometric, draw_one_geometric
from mechanisms.sampling.limits import LARGEST, too_large
from mechanisms.sampling.random import BitSource
from mechanisms.sampling.uniform import draw_below, draw_many_below

LARGEST_SENSITIVITY: Final = 2**40
"""Larger sensitivities are refused: choose a coarser lattice."""

SMALLEST_EPSILON: Final = Fraction(1, 2**40)
"""Smaller privacy parameters are refused; no use is known for them."""

LARGEST_EPSILON: Final = Fraction(2**20)
"""Larger privacy parameters are refused; no use is known for them."""

DEEPEST: Final = 4096
"""Bits up to which the costs of two widths are compared."""


@dataclass(frozen=True, init=False)
class Staircase:
    """Staircase law: P[X = k] proportional to exp(-epsilon level(k)), level(k) = floor((|k| + sensitivity - width) / sensitivity).

    The weights are equal for |k| < width, then fall by the factor exp(-epsilon) every `sensitivity` integers. Whatever the
    width, moving the law by at most `sensitivity` changes no probability by more than that factor.

    Args:
      sensitivity: length of a step, an integer from 1 to 2**40, in units of the integers.
      epsilon: fall from step to step in nats, exact, from 2**-40 to 2**20.
      width: half length of the top step, from 1 to `sensitivity`; None takes the one with the smallest mean size of the noise.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102, DPA105), not positive (DPA104) or out of range (DPA103).
    Source: Geng, Viswanath 2014, section on discrete queries; docs/laws_and_real_noise.md, "Staircase".
    Example:
      >>> law = Staircase(sensitivity=4, epsilon=2)
      >>> law.width
      2
      >>> law.sample(5).dtype
      dtype('int64')
      >>> print(law.pmf(0), law.pmf(1), law.variance())
      [0.235175, 0.235176] [0.235175, 0.235176] [6.70455, 6.70456]
    """

    sensitivity: int
    epsilon: Fraction
    width: int

    sample = law.sample
    pmf = law.pmf
    tail = law.tail
    cdf = law.cdf
    variance = law.variance
    below = law.below
    __getstate__ = law.only_fields
    method = "geometric series over steps"
    support = (None, None)

    def __init__(self, *, sensitivity: int, epsilon: Exact, width: int | None = None) -> None:
        step = integer(sensitivity, "sensitivity", lower=1, upper=LARGEST_SENSITIVITY)
        fall = positive(epsilon, "epsilon")
        if not SMALLEST_EPSILON <= fall <= LARGEST_EPSILON:
            raise InvalidArgument("DPA103", f"epsilon must be from 2**-40 to 2**20 for a staircase, got {shown(fall)}.")
        half = best_width(step, fall) if width is None else integer(width, "width", lower=1, upper=step)
        for name, value in (("sensitivity", step), ("epsilon", fall), ("width", half)):
            object.__setattr__(self, name, value)

    @cached_property
    def sampler(self) -> Sampler:
        """The tables of the first step and of the others."""
        return staircase_sampler(self)

    @property
    def width_squared(self) -> Fraction:
        """Square of the typical size of the noise."""
        return (self.sensitivity * max(1 / self.epsilon, Fraction(1))) ** 2

    @property
    def top(self) -> int:
        """The number of integers on the top step."""
        return 2 * self.width - 1

    def level(self, k: int) -> int:
        """The number of steps between the top and an integer."""
        return (abs(k) + self.sensitivity - self.width) // self.sensitivity

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return self.fall(self.level(k))

    def fall(self, steps: int) -> arb:
        """exp(-epsilon steps)."""
        return ball(-self.epsilon * steps).exp()

    def drop(self) -> arb:
        """1 - exp(-epsilon)."""
        return -ball(-self.epsilon).expm1()

    def total(self) -> arb:
        """Sum of all weights times 1 - exp(-epsilon): the top step, and twice `sensitivity` integers on every other one."""
        return self.top * self.drop() + 2 * self.sensitivity * self.fall(1)

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return self.weight(k) * self.drop() / self.total()

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return law.even_beyond(self._above, k)

    def _above(self, k: int) -> arb:
        """P[X >= k] for k >= 1: what is left of the step of k, and all steps below it."""
        steps = self.level(k)
        left = steps * self.sensitivity + self.width - k
        return (left * self.drop() + self.sensitivity * self.fall(1)) * self.fall(steps) / self.total()

    def spread(self) -> arb:
        """Ball around the variance: step l >= 1 starts at c = (l - 1) sensitivity + width, and squares of its integers add up."""
        step, half, drop, fall = self.sensitivity, self.width, self.drop(), self.fall(1)
        # Sums over l >= 1 of exp(-epsilon l) (l - 1)^i for i = 0, 1, 2, each times 1 - exp(-epsilon).
        zeroth, first, second = fall, fall**2 / drop, fall**2 * (1 + fall) / drop**2
        squares = step**3 * second + step**2 * (2 * half + step - 1) * first
        squares += (step * half * (half + step - 1) + ball(Fraction((step - 1) * step * (2 * step - 1), 6))) * zeroth
        top = Fraction((half - 1) * half * (2 * half - 1), 6)
        return 2 * (squares + ball(top) * drop) / self.total()


def best_width(sensitivity: int, epsilon: Fraction) -> int:
    """The width whose noise has the smallest mean size, found exactly.

    The mean size is a convex quadratic function of the width over a positive linear one, so it falls and then rises; a bisection
    finds where, comparing neighbours by balls.

    Source: Geng, Viswanath 2014.
    """
    low, high = 1, sensitivity
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _rises(sensitivity, epsilon, middle) else (middle + 1, high)
    return low


def _rises(sensitivity: int, epsilon: Fraction, width: int) -> bool:
    """True if the noise of `width` is on average smaller than that of the next width."""
    precision = 128
    while precision <= DEEPEST:
        with working_precision(precision):
            difference = _mean_size(sensitivity, epsilon, width + 1) - _mean_size(sensitivity, epsilon, width)
            if difference > 0 or difference < 0:
                return bool(difference > 0)
        precision *= 2
    raise Unsupported(
        "DPA202", "the best width of the staircase is not decided: two widths cost the same to 4096 bits. Give width=."
    )


def _mean_size(sensitivity: int, epsilon: Fraction, width: int) -> arb:
    """E|X| times (1 - exp(-epsilon)) / 2, up to what does not depend on the width."""
    fall, drop = ball(-epsilon).exp(), -ball(-epsilon).expm1()
    top = ball(Fraction(width * (width - 1), 2))
    second = sensitivity * width + ball(Fraction(sensitivity * (sensitivity - 1), 2))
    rest = sensitivity**2 * fall**2 / drop**2 + second * fall / drop
    return (top + rest) / ((2 * width - 1) * drop + 2 * sensitivity * fall)


@dataclass(frozen=True)
class StepSide:
    """The side of a staircase draw: 0 on the top step, 1 to the right of it, 2 to the left."""

    staircase: Staircase

    lowest = 0
    highest = 2

    def cumulative(self, first: int, last: int) -> Iterator[arb]:
        """Probabilities of the top step, and of it or the right side."""
        right = self.staircase.beyond(self.staircase.width)
        return (value for value in (1 - 2 * right, 1 - right)[first : last + 1])


@dataclass(frozen=True, eq=False)
class StaircaseTable:
    """The tables of a staircase: its sides, and the digits of the number of steps beyond the second."""

    staircase: Staircase
    side: CumulativeTable
    steps: DigitTable


def staircase_table(staircase: Staircase, words: Words = SHIPPED_WORDS, digits: DigitWords = SHIPPED_DIGITS) -> StaircaseTable:
    """The tables of a staircase; their sizes influence speed only."""
    return StaircaseTable(staircase, cumulative_table(StepSide(staircase), words), digit_table(1 / staircase.epsilon, digits))


def staircase_sampler(staircase: Staircase) -> Sampler:
    """Draws of a staircase: side, number of steps, place on the step."""
    table = staircase_table(staircase)

    def many(source: BitSource, n: int, wide: bool) -> NDArray[Any]:  # noqa: FBT001 - called by position only
        return draw_staircase(table, source, n, wide=wide)

    reach = (table.steps.reach + 2) * staircase.sensitivity
    return Sampler(many, lambda source: draw_one_staircase(table, source), reach)


def draw_staircase(table: StaircaseTable, source: BitSource, n: int, *, wide: bool = False) -> NDArray[Any]:
    """Independent exact draws: a side, a geometric number of steps, and a uniform place on the step that was reached."""
    staircase = table.staircase
    side = draw_places(table.side, source, n)
    place: NDArray[Any] = draw_geometric(table.steps, source, n, wide=wide)
    if not wide and n and int(place.max()) >= LARGEST // staircase.sensitivity - 2:
        raise too_large()
    place *= staircase.sensitivity
    place += staircase.width
    place += draw_many_below(staircase.sensitivity, n, source)
    np.negative(place, out=place, where=side == 2)
    top = np.flatnonzero(side == 0)
    place[top] = draw_many_below(staircase.top, len(top), source) - (staircase.width - 1)
    return place


def draw_one_staircase(table: StaircaseTable, source: BitSource) -> int:
    """One exact draw of any size."""
    staircase = table.staircase
    side = draw_place(table.side, source)
    if side == 0:
        return draw_below(staircase.top, source) - (staircase.width - 1)
    steps = draw_one_geometric(table.steps, source)
    size = steps * staircase.sensitivity + staircase.width + draw_below(staircase.sensitivity, source)
    return size if side == 1 else -size
