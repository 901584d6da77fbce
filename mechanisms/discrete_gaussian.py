"""Discrete Gaussian mechanism: noise on a lattice under zero-concentrated privacy, and its own exact price for one number."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

from dpaudit.claims import ZCDP, Adjacency, Claim
from dpaudit.exact import Exact, integer, positive, shown
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.laws import DiscreteGaussian
from mechanisms.noise import Noise, one_of, require_step, store
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class DiscreteGaussianMechanism:
    """Adds discrete Gaussian noise: P(noise = k * lattice) is proportional to exp(-(k * lattice)^2 / (2 sigma^2)), exactly.

    It is made for zero-concentrated privacy, which it gives with the same rho as the continuous Gaussian, in any dimension. One
    number has an exact privacy loss of its own. For arrays nothing better than rho is known to hold, since the law has no
    rotation symmetry; where Gaussian privacy (GDP) is wanted, `GaussianMechanism` gives it.

    Args:
      sensitivity: largest L2 distance of the query on neighbours, exact, at least `lattice`, in output units.
      sigma: scale of the noise, exact, in output units; its standard deviation is a little less. Give one of sigma,
        sigma_squared and rho.
      sigma_squared: square of sigma, exact, in squared output units; sigma itself may then be irrational.
      rho: zCDP parameter in nats, exact: sensitivity^2 / (2 sigma^2).
      lattice: distance of adjacent released numbers, exact, in output units.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102) or not positive (DPA104), the sensitivity is below the lattice
        (DPA107), sigma is beyond 2**512 steps (DPA103), or not exactly one of sigma, sigma_squared and rho is given (DPA106).
    Source: Canonne, Kamath, Steinke 2020, Theorem 4 and Proposition 5; docs/sampling.md (discrete Gaussian) for arrays.
    Example:
      >>> mechanism = DiscreteGaussianMechanism(sensitivity=1, rho="1/8")
      >>> mechanism.sigma_squared, str(mechanism.claim), isinstance(mechanism.release(42), int)
      (Fraction(4, 1), 'rho = 1/8 (zCDP) under add_remove', True)
    """

    sensitivity: Fraction
    sigma_squared: Fraction
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
        sigma_squared: Exact | None = None,
        rho: Exact | None = None,
        lattice: Exact = 1,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        step, distance = positive(lattice, "lattice"), positive(sensitivity, "sensitivity")
        require_step(distance, step, "sensitivity")
        given = one_of(sigma=sigma, sigma_squared=sigma_squared, rho=rho)
        if rho is not None:
            square = distance**2 / (2 * given)
        elif sigma is not None:
            square = given**2
        else:
            square = given
        store(self, sensitivity=distance, sigma_squared=square, lattice=step, adjacency=Adjacency.of(adjacency))
        _ = self._noise

    @property
    def rho(self) -> Fraction:
        """The zCDP parameter in nats at the declared sensitivity."""
        return self.sensitivity**2 / (2 * self.sigma_squared)

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: zero-concentrated differential privacy, for a number and for an array."""
        return Claim(ZCDP(rho=self.rho), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact privacy loss of releasing one number whose sensitivity is the declared one."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact, *, dimension: int = 1) -> PrivacyLoss:
        """The privacy loss of a release whose value moves by at most `distance`.

        Args:
          distance: L2 distance, exact, at least the lattice, in output units. A number moves by whole steps only.
          dimension: how many numbers are released together; above 1 the loss is what zCDP bounds.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency.
        Raises:
          InvalidArgument: `distance` is not a number (DPA101, DPA102), not positive (DPA104) or below the lattice (DPA107), or
            `dimension` is no integer (DPA105) or below 1 (DPA103).
        Source: Canonne, Kamath, Steinke 2020, Theorem 7 for a number, Proposition 5 for arrays.
        Example:
          >>> DiscreteGaussianMechanism(sensitivity=1, sigma=2).loss_at(3).describe()
          'discrete_gaussian(sigma_squared=4, sensitivity=3)'
        """
        from dpaudit.accounting import discrete_gaussian, zcdp

        moved = positive(distance, "distance")
        require_step(moved, self.lattice, "distance")
        if integer(dimension, "dimension", lower=1) > 1:
            return zcdp(rho=moved**2 / (2 * self.sigma_squared), adjacency=self.adjacency)
        return discrete_gaussian(
            sigma_squared=self.sigma_squared / self.lattice**2, sensitivity=floor(moved / self.lattice), adjacency=self.adjacency
        )

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"discrete Gaussian noise of sigma^2 {shown(self.sigma_squared)} on multiples of {shown(self.lattice)}; "
            f"L2 sensitivity {shown(self.sensitivity)} under {self.adjacency}; rho {shown(self.rho)}"
        )

    @cached_property
    def _noise(self) -> Noise:
        """The noise in steps of the lattice, and its entry in the release log."""
        square = self.sigma_squared / self.lattice**2
        parameters = (("lattice", self.lattice), ("sigma_squared", self.sigma_squared))
        record = Release("discrete_gaussian", parameters, self.sensitivity, self.adjacency)
        return Noise(DiscreteGaussian(sigma_squared=square), self.lattice, Fraction(whole_root_above(ceil(square))), record)
