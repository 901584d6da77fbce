"""The geometric law, drawn digit by digit with the same work for every draw."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpaudit.exact import Exact, ball
from mechanisms.laws import law
from mechanisms.laws.law import Sampler
from mechanisms.sampling import weights
from mechanisms.sampling.digits import digit_table, draw_geometric, draw_one_geometric


@dataclass(frozen=True, init=False)
class Geometric:
    """Geometric law: P[X = k] proportional to exp(-k / scale) on the integers from 0 on.

    The difference of two independent draws has the discrete Laplace law of the same scale.

    Args:
      scale: exact, positive, at most 2**512, in units of the integers.
    Raises:
      InvalidArgument: not a finite number (DPA101, DPA102), not positive (DPA104) or too large (DPA103).
    Source: docs/laws_and_real_noise.md, "Geometric digits".
    Example:
      >>> law = Geometric(2)
      >>> law.sample() >= 0
      True
      >>> print(law.pmf(0), law.tail(2), law.cdf(-1), law.variance())
      [0.393469, 0.39347] [0.367879, 0.36788] 0 [3.91769, 3.9177]
    """

    scale: Fraction

    sample = law.sample
    pmf = law.pmf
    tail = law.tail
    cdf = law.cdf
    variance = law.variance
    __getstate__ = law.only_fields
    method = "geometric series"
    support = (0, None)

    def __init__(self, scale: Exact) -> None:
        object.__setattr__(self, "scale", law.positive_scale(scale, "scale"))

    @cached_property
    def sampler(self) -> Sampler:
        """The tables of digits."""
        table = digit_table(self.scale)
        return Sampler(
            lambda source, n, wide: draw_geometric(table, source, n, wide=wide),
            lambda source: draw_one_geometric(table, source),
            table.reach,
        )

    @property
    def width_squared(self) -> Fraction:
        """Square of the scale."""
        return self.scale**2

    def decay(self, start: int) -> Fraction:  # noqa: ARG002
        """Rate at which weights fall beyond `start`; here the same everywhere."""
        return 1 / self.scale

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return weights.laplace_weight(self.scale, k) if k >= 0 else arb(0)

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return self.weight(k) * self.below(0)

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return weights.laplace_weight(self.scale, max(k, 0))

    def below(self, k: int) -> arb:
        """Ball around P[X <= k]."""
        return -ball(-(k + 1) / self.scale).expm1() if k >= 0 else arb(0)

    def spread(self) -> arb:
        """Ball around the variance, half that of the two-sided law."""
        return weights.laplace_variance(self.scale) / 2
