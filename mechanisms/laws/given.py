"""A law that its user gives by a function of weights; what can be checked of the function is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, Final

from flint import arb, ctx

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, ball, positive, working_precision
from mechanisms.laws import law
from mechanisms.sampling.estimates import no_estimate

REACH: Final = 32
"""The decay has to hold from this many scales on, and the sampler's blocks reach as far."""

MOST_CHECKED: Final = 2048
"""Neighbouring weights are compared at this many places near 0, and at as many further out."""

MOST_SUMMED: Final = 2**17
"""Normalisers of more terms than this are not summed."""


@dataclass(frozen=True, init=False)
class LawFromWeights:
    """An even law given by a function: P[X = k] proportional to weight(|k|).

    Three conditions make its draws exact. They are the caller's to keep, for no finite number of questions can show them: every
    ball holds the true weight and shrinks as the working precision grows; weights do not increase with k; and from 32 scales on
    each is at most exp(-decay) times the one before. They are tried at many places and a violation that is found is refused.

    Args:
      weight: function from k >= 0 to a python-flint ball, at the current working precision, around the weight of k and of -k;
        the weight of 0 must be 1.
      scale: typical size of the noise, exact, from 1/2**512 to 2**512; it influences speed only.
      decay: rate in nats at which weights fall from one integer to the next, from 32 scales on; exact and positive.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104) or too large (DPA103), `weight` is no
        function or gives no ball (DPA105), or breaks a condition where it was tried (DPA103).
    Source: docs/laws_and_real_noise.md, "Given laws".
    Example:
      >>> law = LawFromWeights(lambda k: (-arb(k) / 2).exp() / (1 + arb(k)), scale=2, decay="1/2")
      >>> law.sample(3).dtype
      dtype('int64')
      >>> print(law.pmf(0), law.cdf(0))
      [0.481765, 0.481766] [0.740882, 0.740883]
    """

    function: Callable[[int], arb]
    scale: Fraction
    rate: Fraction

    sample = law.sample
    pmf = law.pmf
    tail = law.tail
    cdf = law.cdf
    variance = law.variance
    below = law.below
    sampler = cached_property(law.envelope_sampler)
    __getstate__ = law.only_fields
    method = "sum of the given weights, with a geometric bound on the rest"
    support = (None, None)
    cut = Fraction(REACH)
    estimate = no_estimate

    def __init__(self, weight: Callable[[int], arb], *, scale: Exact, decay: Exact) -> None:
        if not callable(weight):
            given = type(weight).__name__
            raise InvalidArgument(
                "DPA105", f"weight must be a function from an int to a ball, got a {given}. Write lambda k: (-arb(k)).exp()."
            )
        for name, value in (
            ("scale", law.positive_scale(scale, "scale")),
            ("rate", positive(decay, "decay")),
            ("function", weight),
        ):
            object.__setattr__(self, name, value)
        self._try_conditions()

    @property
    def width_squared(self) -> Fraction:
        """Square of the scale, by which the sampler sizes its blocks."""
        return self.scale**2

    @property
    def reach(self) -> int:
        """The first integer from which the decay holds."""
        return ceil(REACH * self.scale)

    def decay(self, start: int) -> Fraction:  # noqa: ARG002
        """Rate at which weights fall beyond `start`, which the sampler puts beyond `reach`."""
        return self.rate

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return self.function(abs(k))

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return self.weight(k) / self._sum(lambda _: 1)

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return law.even_beyond(lambda place: self._sum(lambda j: int(j >= place)) / (2 * self._sum(lambda _: 1)), k)

    def spread(self) -> arb:
        """Ball around the variance."""
        return self._sum(lambda j: j * j) / self._sum(lambda _: 1)

    def _sum(self, factor: Callable[[int], int]) -> arb:
        """Sum of factor(|k|) weight(k) over all k, for a factor of at most k^2; the rest by a geometric series."""
        first = self.reach
        # Beyond first + j the terms are at most weight(first) (first + j)^2 exp(-rate j); this many halve often enough.
        last = first + ceil(2 * (ctx.prec + 64) / self.rate) + 1
        if last > MOST_SUMMED:
            raise Unsupported("DPA202", f"probabilities need more than {MOST_SUMMED} terms. Lower the scale or raise the decay.")
        total = factor(0) * self.function(0) + 2 * sum((factor(j) * self.function(j) for j in range(1, last)), arb(0))
        ratio = (-ball(self.rate)).exp()
        drop = 1 - ratio
        rest = 2 * self.function(last) * (last**2 / drop + 2 * last * ratio / drop**2 + ratio * (1 + ratio) / drop**3)
        return total + arb(0).union(rest.upper())

    def _try_conditions(self) -> None:
        """Refuse a function that is seen to break a condition."""
        fall = (-ball(self.rate)).exp()
        near = range(min(self.reach, MOST_CHECKED))
        stride = max(1, self.reach // MOST_CHECKED)
        far = (self.reach + extra for extra in (0, 1, 2, *(2**power for power in range(2, 12))))
        with working_precision(128):
            start = self._try_weight(0)
            if not start.contains(1) or start.rad() > arb(0.5):
                raise InvalidArgument("DPA103", "the weight of 0 must be 1. Divide all weights by that of 0.")
            for first, second in [*((k, k + 1) for k in near), *((k * stride, (k + 1) * stride) for k in near)]:
                if self._try_weight(second) > self._try_weight(first):
                    rising = f"weights must not increase, but that of {second} exceeds that of {first}"
                    raise InvalidArgument("DPA103", f"{rising}. Give a function that falls with k.")
            for k in far:
                if self._try_weight(k + 1) > self._try_weight(k) * fall:
                    slow = f"beyond 32 scales weights must fall by the stated decay, but do not at {k}"
                    raise InvalidArgument("DPA103", f"{slow}. Lower the decay or raise the scale.")

    def _try_weight(self, k: int) -> arb:
        """A weight that is a ball, finite and not negative."""
        value: Any = self.function(k)
        if not isinstance(value, arb):
            raise InvalidArgument("DPA105", f"weight must give python-flint balls (arb), got a {type(value).__name__} at {k}.")
        if not value.is_finite() or value < 0:
            raise InvalidArgument("DPA103", f"weights must be finite and not negative, which that of {k} is not.")
        return value
