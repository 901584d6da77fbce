"""Truncated laws: a law given that its draw lies in a range, exactly, wherever that range is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isqrt
from typing import Any, Final

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, integer, working_precision
from mechanisms.laws import law as shared
from mechanisms.laws.finite import FiniteLaw, reach_of, table_sampler
from mechanisms.laws.law import IntegerLaw, Sampler
from mechanisms.laws.mirrored import Mirrored
from mechanisms.sampling.cumulative import cumulative_table
from mechanisms.sampling.limits import LARGEST
from mechanisms.sampling.random import BitSource

MOST_TABULATED: Final = 4096
"""Ranges of up to this many integers are drawn from a table of their probabilities."""

MOST_SUMMED: Final = 2**17
"""The variance is summed over ranges of up to this many integers."""

LIKELY: Final = Fraction(1, 4)
"""Ranges at least this likely are met by drawing from the whole law until one draw lies inside."""

DEEPEST: Final = 2**14
"""Bits up to which the probability of a range is computed before it counts as 0."""


@dataclass(frozen=True, init=False)
class TruncatedLaw:
    """The law of a draw given that it lies from `lower` to `upper`: its probabilities, divided by that of the range.

    Bounded noise has the worst privacy loss at its ends: a neighbour can reach outputs that the other cannot, so that a delta is
    unavoidable. Use it where the size of the noise must be bounded, not to save privacy.

    Args:
      law: any law of this package.
      lower: least integer of the range.
      upper: greatest integer of the range, at least `lower`.
    Raises:
      InvalidArgument: `law` is no law or a bound no integer (DPA105), or no draw of the law lies in the range (DPA103).
    Source: docs/laws_and_real_noise.md, "Truncated laws".
    Example:
      >>> from mechanisms.laws import DiscreteGaussian
      >>> law = TruncatedLaw(DiscreteGaussian(sigma=10), lower=-3, upper=3)
      >>> bool(abs(law.sample(1000)).max() <= 3)
      True
      >>> print(law.pmf(0), law.pmf(4), law.tail(-3))
      [0.145721, 0.145722] 0 1
    """

    law: IntegerLaw
    lower: int
    upper: int

    sample = shared.sample
    pmf = shared.pmf
    tail = shared.tail
    cdf = shared.cdf
    variance = shared.variance
    __getstate__ = shared.only_fields

    def __init__(self, law: IntegerLaw, *, lower: int, upper: int) -> None:
        if not all(hasattr(law, name) for name in ("sampler", "support", "weight", "beyond", "below")):
            given = type(law).__name__
            raise InvalidArgument("DPA105", f"law must be a law of mechanisms.laws, got a {given}. Write DiscreteLaplace(scale).")
        least, greatest = integer(lower, "lower"), integer(upper, "upper")
        bottom, top = law.support
        least = least if bottom is None else max(least, bottom)
        greatest = greatest if top is None else min(greatest, top)
        if least > greatest or (isinstance(law, FiniteLaw) and not any(least <= value <= greatest for value in law.values)):
            raise InvalidArgument("DPA103", "no draw of the law lies from lower to upper. Give a range that holds some of it.")
        inner = law.law if isinstance(law, TruncatedLaw) else law
        for name, value in (("law", inner), ("lower", least), ("upper", greatest)):
            object.__setattr__(self, name, value)

    @cached_property
    def sampler(self) -> Sampler:
        """A table for short ranges, draws of the whole law for likely ones, an envelope of the range for others."""
        if isinstance(self.law, FiniteLaw):
            return self.law.within(self.lower, self.upper).sampler
        if self.upper - self.lower < MOST_TABULATED:
            table = cumulative_table(RangeLaw(self.law, self.lower, self.upper))
            return table_sampler(table, range(self.lower, self.upper + 1))
        with working_precision(64):
            mass = range_mass(self.law, self.lower, self.upper)
        if mass >= ball(LIKELY):
            return kept_sampler(self.law.sampler, lambda drawn: drawn, float(mass), self.lower, self.upper)
        mirrored = Mirrored.of(self.law, self.lower, self.upper)
        inner = shared.envelope_sampler(mirrored)
        return kept_sampler(inner, lambda drawn: mirrored.anchor + mirrored.sign * drawn, 0.5, self.lower, self.upper)

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The ends of the range."""
        return self.lower, self.upper

    @property
    def width_squared(self) -> Fraction:
        """That of the whole law."""
        return self.law.width_squared

    @property
    def method(self) -> str:
        """Differences of the whole law's tails."""
        return f"truncation; {self.law.method}"

    def weight(self, k: int) -> arb:
        """Ball around the whole law's weight of k, 0 outside the range."""
        return self.law.weight(k) if self.lower <= k <= self.upper else arb(0)

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return self._share(k, k)

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return self._share(k, self.upper)

    def below(self, k: int) -> arb:
        """Ball around P[X <= k]."""
        return self._share(self.lower, k)

    def _share(self, first: int, last: int) -> arb:
        """Ball around P[first <= X <= last]."""
        least, greatest = max(first, self.lower), min(last, self.upper)
        if least > greatest:
            return arb(0)
        if (least, greatest) == (self.lower, self.upper):
            return arb(1)
        part = self.law.probability(least) if least == greatest else range_mass(self.law, least, greatest)
        return part / range_mass(self.law, self.lower, self.upper)

    def spread(self) -> arb:
        """Ball around the variance, term by term."""
        if self.upper - self.lower >= MOST_SUMMED:
            raise Unsupported("DPA202", f"the variance is summed over at most {MOST_SUMMED} integers. Truncate to a shorter range.")
        weights = [(k, self.law.weight(k)) for k in range(self.lower, self.upper + 1)]
        total = sum((weight for _, weight in weights), arb(0))
        mean = sum((k * weight for k, weight in weights), arb(0)) / total
        square = sum((k * k * weight for k, weight in weights), arb(0)) / total - mean * mean
        return square.nonnegative_part()


def range_mass(law: IntegerLaw, first: int, last: int) -> arb:
    """Ball around P[first <= X <= last] of almost full relative precision, whatever cancels."""
    wanted = ctx.prec
    precision = wanted + 16
    while precision <= wanted + DEEPEST:
        with working_precision(precision):
            mass = _difference(law, first, last)
        if mass > 0 and mass.rel_accuracy_bits() >= wanted - 2:
            return mass
        precision = wanted + 2 * (precision - wanted)
    raise InvalidArgument(
        "DPA103", "the range from lower to upper is so unlikely that it cannot be distinguished from an empty one. Move it."
    )


def _difference(law: IntegerLaw, first: int, last: int) -> arb:
    """P[first <= X <= last] as a difference of the tails that are smallest there."""
    if first > 0:
        return law.beyond(first) - law.beyond(last + 1)
    if last < 0:
        return law.below(last) - law.below(first - 1)
    return 1 - law.below(first - 1) - law.beyond(last + 1)


@dataclass(frozen=True)
class RangeLaw:
    """The law of a draw given its range, as sums of weights: no tail has to be known."""

    law: IntegerLaw
    lowest: int
    highest: int

    def cumulative(self, first: int, last: int) -> list[arb]:
        """Balls around P[X <= k] for k = first .. last."""
        sums = list(accumulate(self.law.weight(k) for k in range(self.lowest, self.highest + 1)))
        return [part / sums[-1] for part in sums[first - self.lowest : last - self.lowest + 1]]


def kept_sampler(inner: Sampler, place: Callable[[Any], Any], share: float, lower: int, upper: int) -> Sampler:
    """The draws of a sampler that lie in a range after `place` moved them; `share` says roughly how many, for the batches."""

    def many(source: BitSource, n: int, wide: bool) -> NDArray[Any]:  # noqa: FBT001 - called by position only
        result = np.empty(n, dtype=object if wide else np.int64)
        inner_wide = wide or inner.reach > LARGEST // 2 or max(abs(lower), abs(upper)) > LARGEST // 2
        filled = 0
        while filled < n:
            # How many are drawn depends on how many are wanted, never on what they were.
            wanted = n - filled
            drawn = place(inner.many(source, int(wanted / share) + isqrt(wanted) + 8, inner_wide))
            inside = drawn[(drawn >= lower) & (drawn <= upper)][:wanted]
            result[filled : filled + len(inside)] = inside
            filled += len(inside)
        return result

    def one(source: BitSource) -> int:
        while True:
            drawn = int(place(inner.one(source)))
            if lower <= drawn <= upper:
                return drawn

    return Sampler(many, one, reach_of(lower, upper))
