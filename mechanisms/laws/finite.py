"""Laws on finitely many integers with exact rational probabilities."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Exact, ball, integer, rational, shown
from mechanisms.laws import law
from mechanisms.laws.law import Sampler
from mechanisms.sampling.cumulative import CumulativeTable, cumulative_table, draw_place, draw_places
from mechanisms.sampling.limits import LARGEST
from mechanisms.sampling.random import BitSource

MOST_VALUES: Final = 2**20
"""Laws on more values than this are refused."""


@dataclass(frozen=True, init=False)
class FiniteLaw:
    """A law on finitely many integers, from weights that are exact rationals.

    Args:
      weights: a mapping from value to weight, or a sequence of the weights of 0, 1, 2, ...; weights are exact, not negative and
        not all 0, and need not add up to 1. At most 2**20 of them.
    Raises:
      InvalidArgument: another type (DPA105), no weight or none above 0 (DPA109), a value that is no integer (DPA105), a weight
        that is not a finite number (DPA101, DPA102) or negative (DPA103), or too many (DPA103).
    Source: docs/laws_and_real_noise.md, "Finite laws".
    Example:
      >>> law = FiniteLaw({-1: 1, 0: 2, 1: 1})
      >>> set(law.sample(100).tolist()) <= {-1, 0, 1}
      True
      >>> print(law.pmf(0), law.tail(1), law.variance())
      0.5 0.25 0.5
    """

    values: tuple[int, ...]
    probabilities: tuple[Fraction, ...]

    sample = law.sample
    __getstate__ = law.only_fields
    method = "exact rational probabilities"
    lowest = 0

    def __init__(self, weights: Mapping[int, Exact] | Sequence[Exact]) -> None:
        several = isinstance(weights, (Mapping, Sequence)) and not isinstance(weights, (str, bytes))
        if not several and not (isinstance(weights, np.ndarray) and weights.ndim == 1):
            given = type(weights).__name__
            raise InvalidArgument("DPA105", f"weights must be a mapping or a sequence, got a {given}. Write {{-1: 1, 0: 2, 1: 1}}.")
        pairs = weights.items() if isinstance(weights, Mapping) else enumerate(weights)
        if len(weights) > MOST_VALUES:
            raise InvalidArgument("DPA103", f"at most 2**20 weights are allowed, got {len(weights)}. Merge some.")
        kept: dict[int, Fraction] = {}
        for place, (value, weight) in enumerate(pairs):
            exact = rational(weight, f"weight number {place}")
            if exact < 0:
                raise InvalidArgument("DPA103", f"weight number {place} must be at least 0, got {shown(exact)}. Leave it out.")
            if exact:
                kept[integer(value, f"value number {place}")] = exact
        if not kept:
            raise InvalidArgument("DPA109", "weights must hold at least one weight above 0. Give one to each value that can occur.")
        total = sum(kept.values(), Fraction(0))
        object.__setattr__(self, "values", tuple(sorted(kept)))
        object.__setattr__(self, "probabilities", tuple(kept[value] / total for value in self.values))

    def within(self, lower: int, upper: int) -> FiniteLaw:
        """The law given that the draw lies from `lower` to `upper`; DPA109 where that is impossible."""
        pairs = zip(self.values, self.probabilities, strict=True)
        return FiniteLaw({value: mass for value, mass in pairs if lower <= value <= upper})

    @cached_property
    def sampler(self) -> Sampler:
        """The table of thresholds."""
        return table_sampler(cumulative_table(self), self.values)

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The least and the greatest value."""
        return self.values[0], self.values[-1]

    @property
    def highest(self) -> int | None:
        """Number of the last value."""
        return len(self.values) - 1

    def cumulative(self, first: int, last: int) -> Iterator[arb]:
        """Balls around the probability of the values up to number k, for k = first .. last."""
        return (ball(mass) for mass in self._sums[first + 1 : last + 2])

    @cached_property
    def _sums(self) -> tuple[Fraction, ...]:
        """Probability of the first 0, 1, 2, ... values."""
        return tuple(accumulate(self.probabilities, initial=Fraction(0)))

    @property
    def width_squared(self) -> Fraction:
        """Square of the greatest size of a value, at least 1."""
        return Fraction(max(abs(self.values[0]), abs(self.values[-1]), 1) ** 2)

    def mass(self, k: int) -> Fraction:
        """P[X = k], exactly."""
        place = bisect_left(self.values, k)
        return self.probabilities[place] if place < len(self.values) and self.values[place] == k else Fraction(0)

    def weight(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return ball(self.mass(k))

    probability = weight

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return ball(1 - self._sums[bisect_left(self.values, k)])

    def below(self, k: int) -> arb:
        """Ball around P[X <= k]."""
        return ball(self._sums[bisect_right(self.values, k)])

    def spread(self) -> arb:
        """Ball around the variance."""
        return ball(self._variance())

    def _variance(self) -> Fraction:
        """The variance, exactly."""
        pairs = list(zip(self.values, self.probabilities, strict=True))
        mean = sum((value * mass for value, mass in pairs), Fraction(0))
        return sum((value * value * mass for value, mass in pairs), Fraction(0)) - mean**2

    def pmf(self, k: int) -> Enclosure:
        """P[X = k] for an integer k, exactly."""
        return Enclosure.point(self.mass(integer(k, "k")))

    def tail(self, k: int) -> Enclosure:
        """P[X >= k] for an integer k, exactly."""
        return Enclosure.point(1 - self._sums[bisect_left(self.values, integer(k, "k"))])

    def cdf(self, k: int) -> Enclosure:
        """P[X <= k] for an integer k, exactly."""
        return Enclosure.point(self._sums[bisect_right(self.values, integer(k, "k"))])

    def variance(self) -> Enclosure:
        """The variance of X, exactly."""
        return Enclosure.point(self._variance())


def table_sampler(table: CumulativeTable, values: Sequence[int]) -> Sampler:
    """Draws of the values that the places of a table stand for, given in increasing order."""
    reach = reach_of(values[0], values[-1])
    stored: NDArray[Any] = np.array(values, dtype="object" if reach else "int64")

    def many(source: BitSource, n: int, wide: bool) -> NDArray[Any]:  # noqa: FBT001 - called by position only
        drawn: NDArray[Any] = stored.take(draw_places(table, source, n))
        return drawn.astype(object) if wide else drawn

    return Sampler(many, lambda source: values[draw_place(table, source)], reach)


def reach_of(lower: int, upper: int) -> int:
    """0 where int64 holds the whole range, else beyond what int64 may be asked to hold."""
    largest = max(abs(lower), abs(upper))
    return 0 if largest < LARGEST else largest
