"""Laplace mechanism: discrete Laplace noise on a lattice, exactly, with a privacy loss that is known exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.exact import Exact, integer, positive, shown
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.laws import DiscreteLaplace
from mechanisms.laws.law import Sampler
from mechanisms.noise import Noise, as_text, one_of, read_flag, require_multiple, store

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class LaplaceMechanism:
    """Adds discrete Laplace noise: P(noise = k * lattice) is proportional to exp(-|k| * lattice / scale), exactly.

    Every released number lies on the lattice, so neighbouring values differ by whole steps and the privacy loss at distance d
    is exactly d / scale. An array is released under one L1 sensitivity over all its entries.

    Args:
      sensitivity: largest L1 distance of the query on neighbours, exact, a multiple of `lattice`, in output units.
      epsilon: privacy parameter in nats, exact; give this or `scale`.
      scale: scale of the noise, exact, in output units: sensitivity / epsilon.
      lattice: distance of adjacent released numbers, exact, in output units.
      adjacency: the neighbouring relation that the sensitivity is about.
      fixed_work: whether every draw of noise shall take the same number of table look-ups and none be rejected, so that the time
        it takes says less about it; the same law at the same price, somewhat slower.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104) or not a multiple of the lattice
        (DPA107), not exactly one of epsilon and scale is given (DPA106), or `fixed_work` is no bool (DPA105).
    Source: Ghosh, Roughgarden, Sundararajan 2012 (geometric mechanism); Dwork, McSherry, Nissim, Smith 2006.
    Example:
      >>> mechanism = LaplaceMechanism(sensitivity=1, epsilon="1/2")
      >>> isinstance(mechanism.release(42), int)
      True
      >>> str(mechanism.claim)
      'epsilon = 1/2 under add_remove'
    """

    sensitivity: Fraction
    scale: Fraction
    lattice: Fraction
    adjacency: Adjacency
    fixed_work: bool

    release = noise.release
    releases = noise.releases

    def __init__(
        self,
        *,
        sensitivity: Exact,
        epsilon: Exact | None = None,
        scale: Exact | None = None,
        lattice: Exact = 1,
        adjacency: Adjacency | str = "add_remove",
        fixed_work: bool = False,
    ) -> None:
        read_flag(fixed_work, "fixed_work")
        step, distance = positive(lattice, "lattice"), positive(sensitivity, "sensitivity")
        require_multiple(distance, step, "sensitivity")
        given = one_of(epsilon=epsilon, scale=scale)
        width = distance / given if scale is None else given
        store(self, sensitivity=distance, scale=width, lattice=step, adjacency=Adjacency.of(adjacency), fixed_work=fixed_work)
        _ = self._noise

    @property
    def epsilon(self) -> Fraction:
        """The privacy parameter in nats at the declared sensitivity."""
        return self.sensitivity / self.scale

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy, for a number and for an array."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The exact privacy loss of releasing one number whose sensitivity is the declared one."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact, *, dimension: int = 1) -> PrivacyLoss:
        """The privacy loss of a release whose value moves by at most `distance`.

        Args:
          distance: L1 distance, exact, positive, a multiple of the lattice, in output units.
          dimension: how many numbers are released together; above 1 the distance may be split between them in many ways, and
            the loss is the pure bound distance / scale that holds for all.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency.
        Raises:
          InvalidArgument: as for the sensitivity, or `dimension` is no integer (DPA105) or below 1 (DPA103).
        Source: Ghosh, Roughgarden, Sundararajan 2012.
        Example:
          >>> LaplaceMechanism(sensitivity=1, epsilon=1).loss_at(2).epsilon(delta=0).upper
          Fraction(2, 1)
        """
        from dpaudit.accounting import discrete_laplace, pure_dp

        moved = positive(distance, "distance")
        require_multiple(moved, self.lattice, "distance")
        if integer(dimension, "dimension", lower=1) > 1:
            return pure_dp(epsilon=moved / self.scale, adjacency=self.adjacency)
        return discrete_laplace(scale=self.scale / self.lattice, sensitivity=int(moved / self.lattice), adjacency=self.adjacency)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"discrete Laplace noise of scale {shown(self.scale)} on multiples of {shown(self.lattice)}; "
            f"L1 sensitivity {shown(self.sensitivity)} under {self.adjacency}; epsilon {shown(self.epsilon)}"
            + ("; drawn with fixed work" if self.fixed_work else "")
        )

    def to_dict(self) -> dict[str, str]:
        """The mechanism as plain text values, exact, from which it can be built again; fixed work only where asked for."""
        return as_text(self, "sensitivity", "scale", "lattice", "adjacency", *(("fixed_work",) if self.fixed_work else ()))

    @cached_property
    def _noise(self) -> Noise:
        """The noise in steps of the lattice, and its entry in the release log."""
        width = self.scale / self.lattice
        parameters = (("lattice", self.lattice), ("scale", self.scale))
        law = DiscreteLaplace(width)
        record = Release("discrete_laplace", parameters, self.sensitivity, self.adjacency)
        return Noise(FixedWork(law) if self.fixed_work else law, self.lattice, width, record)


@dataclass(frozen=True)
class FixedWork:
    """A discrete Laplace law that is drawn digit by digit, so that the work does not depend on the draw."""

    law: DiscreteLaplace

    @property
    def sampler(self) -> Sampler:
        """The tables of digits."""
        return self.law.fixed_sampler
