"""The discrete Gaussian law: a Gaussian density at the integers, normalised."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

from flint import arb

from dpaudit.exact import Exact, in_range, one_given, positive
from mechanisms.laws import law
from mechanisms.sampling import estimates, weights
from mechanisms.sampling.estimates import Estimate


@dataclass(frozen=True, init=False)
class DiscreteGaussian:
    """Discrete Gaussian law: P[X = k] proportional to exp(-k^2 / (2 sigma^2)) on the integers.

    Args:
      sigma: exact, positive, at most 2**512, in units of the integers; the standard deviation of the law is a little less.
      sigma_squared: its square, instead of `sigma`, which may then be irrational.
    Raises:
      InvalidArgument: not exactly one of both (DPA106), not a finite number (DPA101, DPA102), not positive (DPA104) or too large
        (DPA103).
    Source: Canonne, Kamath, Steinke 2020, Definition 1; docs/sampling.md for the sampler.
    Example:
      >>> law = DiscreteGaussian(sigma=1)
      >>> law == DiscreteGaussian(sigma_squared=1)
      True
      >>> print(law.pmf(0), law.tail(1), law.cdf(0), law.variance())
      [0.398942, 0.398943] [0.300528, 0.300529] [0.699471, 0.699472] [0.999999, 1]
    """

    sigma_squared: Fraction

    sample = law.sample
    pmf = law.pmf
    tail = law.tail
    cdf = law.cdf
    variance = law.variance
    below = law.below
    sampler = cached_property(law.envelope_sampler)
    __getstate__ = law.only_fields
    method = "Poisson summation; tails by partial sums or the Euler-Maclaurin formula"
    support = (None, None)
    cut = weights.GAUSSIAN_CUT

    def __init__(self, *, sigma: Exact | None = None, sigma_squared: Exact | None = None) -> None:
        one_given(sigma=sigma, sigma_squared=sigma_squared)
        if sigma_squared is None:
            square = law.positive_scale(cast("Exact", sigma), "sigma") ** 2
        else:
            square = in_range(positive(sigma_squared, "sigma_squared"), "sigma_squared", lower=0, upper=law.LARGEST_SCALE**2)
        object.__setattr__(self, "sigma_squared", square)

    @property
    def width_squared(self) -> Fraction:
        """The square of sigma, by which the sampler sizes its blocks."""
        return self.sigma_squared

    def decay(self, start: int) -> Fraction:
        """Rate at which weights fall beyond `start`, from (start + j)^2 >= start^2 + 2 start j."""
        return start / self.sigma_squared

    def estimate(self, shift: int, reach: int) -> Estimate:  # noqa: ARG002
        """Float formula for the weights."""
        return estimates.gaussian_estimate(self.sigma_squared, shift)

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return weights.gaussian_weight(self.sigma_squared, k)

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return self.weight(k) / weights.gaussian_total(self.sigma_squared)

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return law.even_beyond(lambda place: weights.gaussian_tail(self.sigma_squared, place), k)

    def spread(self) -> arb:
        """Ball around the variance."""
        return weights.gaussian_variance(self.sigma_squared)
