"""Gaussian mechanism: a continuous Gaussian rounded to a lattice, drawn exactly, at the price of the continuous one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dpaudit.claims import GDP, Adjacency, Claim
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, positive, shown
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.laws import RoundedGaussian
from mechanisms.noise import Noise, one_of, require_step, store

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class GaussianMechanism:
    """Adds rounded Gaussian noise: a continuous Gaussian of deviation sigma, rounded to the lattice, drawn exactly.

    For a value x on the lattice, round(x + noise) = x + round(noise): the release is a fixed map of the continuous Gaussian
    mechanism's, in any dimension, and has at most its privacy loss. That is false off the lattice, so such values are refused.

    Args:
      sensitivity: largest L2 distance of the query on neighbours, exact, at least `lattice`, in output units.
      sigma: standard deviation before rounding, exact, in output units; give this, or `noise_multiplier`, or epsilon and delta.
      noise_multiplier: sigma / sensitivity, exact, dimensionless.
      epsilon: in nats, exact, positive, with `delta`: takes the least noise multiplier, to a part in a million, whose certified
        price keeps the two.
      delta: exact, between 0 and 1, with `epsilon`.
      lattice: distance of adjacent released numbers, exact, in output units.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102) or not positive (DPA104), the sensitivity is below the lattice
        (DPA107), `delta` is not between 0 and 1 (DPA103), or the noise is given by none or several of the three ways (DPA106).
      Unsupported: no noise multiplier from 1e-3 to 1e6 keeps epsilon and delta (DPA202).
    Source: Dong, Roth, Su 2022, Theorem 2.7; docs/sampling.md (rounded Gaussian).
    Example:
      >>> mechanism = GaussianMechanism(sensitivity=3, noise_multiplier=2)
      >>> mechanism.sigma, str(mechanism.claim)
      (Fraction(6, 1), 'mu = 1/2 (GDP) under add_remove')
      >>> round(float(GaussianMechanism(sensitivity=3, epsilon=1, delta="1e-6").noise_multiplier), 4)
      4.2247
    """

    sensitivity: Fraction
    sigma: Fraction
    lattice: Fraction
    adjacency: Adjacency

    release = noise.release
    releases = noise.releases
    to_dict = noise.to_dict

    def __init__(
        self,
        *,
        sensitivity: Exact,
        sigma: Exact | None = None,
        noise_multiplier: Exact | None = None,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        lattice: Exact = 1,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        step, distance = positive(lattice, "lattice"), positive(sensitivity, "sensitivity")
        require_step(distance, step, "sensitivity")
        budget = None if epsilon is None and delta is None else _multiplier_for(epsilon, delta)
        given = one_of(noise_multiplier=noise_multiplier, sigma=sigma, **{"epsilon with delta": budget})
        deviation = distance * given if sigma is None else given
        store(self, sensitivity=distance, sigma=deviation, lattice=step, adjacency=Adjacency.of(adjacency))
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
        """The privacy loss at the declared sensitivity: at most the continuous Gaussian's, for numbers and for arrays."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact) -> PrivacyLoss:
        """The privacy loss of a release, a number or an array, whose value moves by at most `distance`.

        Args:
          distance: L2 distance, exact and positive, in output units.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency. Its upper ends are the continuous Gaussian's, in
          any dimension; its lower ends are what one rounded number loses that moves by as many whole steps as the distance has.
        Raises:
          InvalidArgument: `distance` is not a number (DPA101, DPA102) or not positive (DPA104).
        Source: Dong, Roth, Su 2022, Theorem 2.7.
        Example:
          >>> GaussianMechanism(sensitivity=1, sigma=2).loss_at(1).describe()
          'gaussian(sigma=2, sensitivity=1)'
        """
        from dpaudit.accounting import price_releases

        return price_releases([replace(self._noise.record, sensitivity=positive(distance, "distance"))])

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"rounded Gaussian noise of deviation {shown(self.sigma)} on multiples of {shown(self.lattice)}; "
            f"L2 sensitivity {shown(self.sensitivity)} under {self.adjacency}; mu {shown(self.sensitivity / self.sigma)}"
        )

    @cached_property
    def _noise(self) -> Noise:
        """The noise in steps of the lattice, and its entry in the release log."""
        width = self.sigma / self.lattice
        parameters = (("lattice", self.lattice), ("sigma", self.sigma))
        return Noise(
            RoundedGaussian(width), self.lattice, width, Release("rounded_gaussian", parameters, self.sensitivity, self.adjacency)
        )


def _multiplier_for(epsilon: Exact | None, delta: Exact | None) -> Fraction:
    """The least noise multiplier of a Gaussian whose certified price keeps epsilon and delta."""
    from dpaudit.accounting import calibrate, gaussian

    if epsilon is None or delta is None:
        alone = "delta" if epsilon is None else "epsilon"
        raise InvalidArgument(
            "DPA106",
            f"epsilon and delta are needed together, got {alone} alone. Gaussian noise has no epsilon at delta 0: "
            'write for instance epsilon=1, delta="1e-6", or use LaplaceMechanism, which needs no delta.',
        )
    most, failing = positive(epsilon, "epsilon"), in_range(delta, "delta", lower=0, upper=1, lower_open=True, upper_open=True)
    return calibrate(lambda sigma: gaussian(sigma=sigma), epsilon=most, delta=failing).parameter
