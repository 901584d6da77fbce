"""Gaussian mechanism for floats: continuous noise, rounded once after the addition, at the price of the continuous mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dpaudit.claims import GDP, Adjacency, Claim
from dpaudit.exact import Exact, positive, shown
from dpaudit.releases import Release
from mechanisms import float_noise, noise
from mechanisms.float_noise import FloatNoise
from mechanisms.noise import one_of, store
from mechanisms.sampling.cells import GaussianCells

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class RealGaussianMechanism:
    """Adds continuous Gaussian noise to float64 numbers: the released float is the one nearest to value + noise, exactly.

    As for `RealLaplaceMechanism`, rounding happens once, after the addition of a real number, coordinate by coordinate: the release
    is a fixed map of the continuous Gaussian mechanism's, in any dimension, and has at most its privacy loss.

    Args:
      sensitivity: largest L2 distance of the float results on neighbours, exact, in output units.
      sigma: standard deviation of the noise, exact, in output units, from 2**-900 to 2**900; give this or `noise_multiplier`.
      noise_multiplier: sigma / sensitivity, exact, dimensionless.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), not exactly one of sigma and
        noise_multiplier is given (DPA106), or sigma is out of its range (DPA103).
    Source: Dong, Roth, Su 2022, Theorem 2.7; docs/laws_and_real_noise.md.
    Example:
      >>> mechanism = RealGaussianMechanism(sensitivity="0.3", noise_multiplier=2)
      >>> mechanism.sigma, str(mechanism.claim)
      (Fraction(3, 5), 'mu = 1/2 (GDP) under add_remove')
    """

    sensitivity: Fraction
    sigma: Fraction
    adjacency: Adjacency

    release = float_noise.release
    releases = float_noise.releases
    to_dict = noise.to_dict

    def __init__(
        self,
        *,
        sensitivity: Exact,
        sigma: Exact | None = None,
        noise_multiplier: Exact | None = None,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        distance = positive(sensitivity, "sensitivity")
        given = one_of(noise_multiplier=noise_multiplier, sigma=sigma)
        deviation = distance * given if sigma is None else given
        store(self, sensitivity=distance, sigma=deviation, adjacency=Adjacency.of(adjacency))
        _ = self._noise

    @property
    def noise_multiplier(self) -> Fraction:
        """The standard deviation relative to the sensitivity."""
        return self.sigma / self.sensitivity

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: Gaussian differential privacy with mu = sensitivity / sigma."""
        return Claim(GDP(mu=self.sensitivity / self.sigma), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The continuous mechanism's loss at the declared sensitivity, for numbers and arrays; the release has at most this."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact) -> PrivacyLoss:
        """The privacy loss, before rounding, of a release, a number or an array, whose value moves by at most `distance`.

        Args:
          distance: L2 distance, exact and positive, in output units.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency, an upper bound for the rounded release.
        Raises:
          InvalidArgument: `distance` is not a number (DPA101, DPA102) or not positive (DPA104).
        Source: Dong, Roth, Su 2022, Theorem 2.7.
        Example:
          >>> RealGaussianMechanism(sensitivity=1, sigma=2).loss_at("1/2").describe()
          'gaussian(sigma=2, sensitivity=1/2)'
        """
        from dpaudit.accounting import gaussian

        return gaussian(sigma=self.sigma, sensitivity=positive(distance, "distance"), adjacency=self.adjacency)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"continuous Gaussian noise of deviation {shown(self.sigma)}, rounded once to float64; "
            f"L2 sensitivity {shown(self.sensitivity)} under {self.adjacency}; mu {shown(self.sensitivity / self.sigma)}"
        )

    @cached_property
    def _noise(self) -> FloatNoise:
        """The noise, and its entry in the release log."""
        record = Release("real_gaussian", (("sigma", self.sigma),), self.sensitivity, self.adjacency)
        return FloatNoise(GaussianCells, self.sigma, record)
