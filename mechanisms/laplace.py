"""Laplace mechanism: discrete Laplace noise on a lattice, exactly, with a privacy loss that is known exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.exact import Exact, integer, positive, shown
from dpaudit.releases import Release
from mechanisms.laws import DiscreteLaplace
from mechanisms.laws.law import Sampler
from mechanisms.noise import Noise, as_text, one_of, read_flag, require_multiple, store
from mechanisms.sampling.random import BitSource
from mechanisms.steps import Value

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
        """What an audit may test: pure differential privacy, for a number and for an array."""
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

    @overload
    def release(self, value: NDArray[Any], source: BitSource | None = None) -> NDArray[Any]: ...
    @overload
    def release(self, value: Exact, source: BitSource | None = None) -> int | Fraction: ...
    def release(self, value: Value, source: BitSource | None = None) -> int | Fraction | NDArray[Any]:
        """One noisy copy of a value.

        Args:
          value: an exact number on the lattice (int, Fraction, Decimal, numeric string, or a float that lies on it), or an
            integer array (for a whole lattice) or float64 array (for a dyadic one) of any shape. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          For a number an int, or a Fraction where the lattice is not 1; for an array a new int64 or float64 array of its shape.
        Raises:
          InvalidArgument: not a number (DPA101, DPA102), wrong dtype (DPA105), off the lattice (DPA107), too large (DPA108)
            or empty (DPA109). All but a result too large for its dtype is refused before randomness is drawn.
        Source: design rule 1 (exactness).
        Example:
          >>> import numpy as np
          >>> LaplaceMechanism(sensitivity=2, epsilon=1).release(np.array([10, 20])).shape
          (2,)
        """
        return self._noise.once(value, source)

    def releases(self, value: Value, count: int, source: BitSource | None = None) -> NDArray[Any]:
        """Independent noisy copies of one value, each paid for; what an audit needs many of.

        Args:
          value: as for `release`.
          count: how many, at least 1.
          source: random bits; None takes the operating system's.
        Returns:
          Array of shape (count, *shape of the value): int64 for a whole lattice, float64 for a dyadic one, else Fractions.
        Raises:
          InvalidArgument: as for `release`, or `count` is no integer from 1 to 2**32 (DPA103, DPA105).
        Source: design rule 4 (the log counts every one of them).
        Example:
          >>> LaplaceMechanism(sensitivity=1, epsilon=1).releases(5, 3).dtype.name
          'int64'
        """
        return self._noise.often(value, count, source)

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
        """The noise in steps of the lattice, and what the release log keeps of it."""
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
