"""The discrete Laplace law, drawn through its envelope or, with work that does not depend on the draw, digit by digit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

from flint import arb
from numpy.typing import NDArray

from dpaudit.exact import Exact, ball
from mechanisms.laws import law
from mechanisms.laws.law import Sampler
from mechanisms.sampling import estimates, weights
from mechanisms.sampling.digits import digit_table, draw_one_two_sided, draw_two_sided
from mechanisms.sampling.estimates import Estimate
from mechanisms.sampling.random import BitSource


@dataclass(frozen=True, init=False)
class DiscreteLaplace:
    """Discrete Laplace law: P[X = k] proportional to exp(-|k| / scale) on the integers.

    Args:
      scale: exact, positive, at most 2**512, in units of the integers.
    Raises:
      InvalidArgument: not a finite number (DPA101, DPA102), not positive (DPA104) or too large (DPA103).
    Source: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism); docs/sampling.md for the sampler.
    Example:
      >>> law = DiscreteLaplace("1/2")
      >>> isinstance(law.sample(), int), law.sample(4).shape
      (True, (4,))
      >>> print(law.pmf(0), law.tail(1), law.cdf(-1), law.variance())
      [0.761594, 0.761595] [0.119202, 0.119203] [0.119202, 0.119203] [0.36203, 0.362031]
    """

    scale: Fraction

    pmf = law.pmf
    tail = law.tail
    cdf = law.cdf
    variance = law.variance
    below = law.below
    sampler = cached_property(law.envelope_sampler)
    __getstate__ = law.only_fields
    method = "geometric series"
    support = (None, None)
    cut = weights.LAPLACE_CUT

    def __init__(self, scale: Exact) -> None:
        object.__setattr__(self, "scale", law.positive_scale(scale, "scale"))

    @overload
    def sample(self, n: None = None, *, source: BitSource | None = None, wide: bool = False, fixed_work: bool = False) -> int: ...
    @overload
    def sample(self, n: int, *, source: BitSource | None = None, wide: bool = False, fixed_work: bool = False) -> NDArray[Any]: ...
    def sample(
        self, n: int | None = None, *, source: BitSource | None = None, wide: bool = False, fixed_work: bool = False
    ) -> int | NDArray[Any]:
        """Independent exact draws.

        Args:
          n: how many, from 0 to 2**32; None for a single Python int.
          source: random bits; None takes the operating system's.
          wide: whether draws of 2**62 and beyond are wanted, as Python integers.
          fixed_work: whether every draw shall take the same number of table look-ups and none be rejected, so that the time
            taken says less about the noise; somewhat slower.
        Returns:
          One int, or an array of shape (n,): int64, or Python integers if `wide`.
        Raises:
          InvalidArgument: `n` or `source` is not what it should be (DPA103, DPA105), or the law reaches beyond int64 and `wide`
            is False (DPA108); refused before randomness is drawn.
          Unsupported: a draw happened to be 2**62 or larger and `wide` is False (DPA108), less likely than 1e-12.
          EntropyFailure: the operating system gives no random bytes (DPA301).
        Source: docs/sampling.md, "Exactness theorem"; docs/laws_and_real_noise.md, "Fixed work".
        Example:
          >>> DiscreteLaplace(10).sample(3, fixed_work=True).dtype
          dtype('int64')
        """
        count, bits = law.request(n, source)
        return law.draw_checked(self.fixed_sampler if fixed_work else self.sampler, count, bits, wide=wide)

    @cached_property
    def fixed_sampler(self) -> Sampler:
        """The tables of digits."""
        table = digit_table(self.scale)
        return Sampler(
            lambda source, n, wide: draw_two_sided(table, source, n, wide=wide),
            lambda source: draw_one_two_sided(table, source),
            table.reach,
        )

    @property
    def width_squared(self) -> Fraction:
        """Square of the scale, by which the sampler sizes its blocks."""
        return self.scale**2

    def decay(self, start: int) -> Fraction:  # noqa: ARG002
        """Rate at which weights fall beyond `start`; here the same everywhere."""
        return 1 / self.scale

    def estimate(self, shift: int, reach: int) -> Estimate:  # noqa: ARG002
        """Float formula for the weights."""
        return estimates.laplace_estimate(self.scale, shift)

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return weights.laplace_weight(self.scale, k)

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return ball(1 / (2 * self.scale)).tanh() * weights.laplace_weight(self.scale, k)

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return law.even_beyond(lambda place: self.weight(place) / (1 + self.weight(1)), k)

    def spread(self) -> arb:
        """Ball around the variance."""
        return weights.laplace_variance(self.scale)
