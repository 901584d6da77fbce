"""The rounded Gaussian law: a continuous Gaussian number rounded to the nearest integer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpaudit.exact import Exact
from mechanisms.laws import law
from mechanisms.sampling import estimates, weights
from mechanisms.sampling.estimates import Estimate


@dataclass(frozen=True, init=False)
class RoundedGaussian:
    """Rounded Gaussian law: a continuous N(0, sigma^2) rounded to the nearest integer.

    Added to integers it is the continuous Gaussian mechanism followed by rounding, so its privacy is that of the continuous one.

    Args:
      sigma: exact, positive, at most 2**512, in units of the integers; the deviation before rounding.
    Raises:
      InvalidArgument: not a finite number (DPA101, DPA102), not positive (DPA104) or too large (DPA103).
    Source: docs/sampling.md, "Rounded Gaussian".
    Example:
      >>> law = RoundedGaussian(1)
      >>> print(law.pmf(0), law.tail(1), law.cdf(0), law.variance())
      [0.382924, 0.382925] [0.308537, 0.308538] [0.691462, 0.691463] [1.08333, 1.08334]
    """

    sigma: Fraction

    sample = law.sample
    pmf = law.pmf
    tail = law.tail
    cdf = law.cdf
    variance = law.variance
    below = law.below
    sampler = cached_property(law.envelope_sampler)
    __getstate__ = law.only_fields
    method = "error function; variance by the Fourier series of the rounding error"
    support = (None, None)
    cut = weights.GAUSSIAN_CUT

    def __init__(self, sigma: Exact) -> None:
        object.__setattr__(self, "sigma", law.positive_scale(sigma, "sigma"))

    @property
    def width_squared(self) -> Fraction:
        """Square of sigma, by which the sampler sizes its blocks."""
        return self.sigma**2

    def decay(self, start: int) -> Fraction:
        """Rate at which weights fall beyond `start`: that of the density at the left end of the cell of `start`."""
        return (start - Fraction(1, 2)) / self.sigma**2

    def estimate(self, shift: int, reach: int) -> Estimate:
        """Float formula for the weights."""
        return estimates.rounded_estimate(self.sigma**2, shift, reach)

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return weights.rounded_weight(self.sigma**2, k)

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""
        return weights.rounded_probability(self.sigma**2, k)

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""
        return law.even_beyond(lambda place: weights.rounded_tail(self.sigma**2, place), k)

    def spread(self) -> arb:
        """Ball around the variance."""
        return weights.rounded_variance(self.sigma**2)
