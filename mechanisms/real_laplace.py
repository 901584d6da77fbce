"""Laplace mechanism for floats: continuous noise, rounded once after the addition, at the price of the continuous mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.exact import Exact, integer, positive, shown
from dpaudit.releases import Release
from mechanisms import float_noise, noise
from mechanisms.float_noise import FloatNoise
from mechanisms.noise import one_of, store
from mechanisms.sampling.cells import LaplaceCells

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class RealLaplaceMechanism:
    """Adds continuous Laplace noise to float64 numbers: the released float is the one nearest to value + noise, exactly.

    The noise is a real number of exactly the Laplace law, and rounding happens once, after the addition, so the release is a
    fixed map of the continuous Laplace mechanism's and has at most its loss, whatever the value's size or last digits are.
    The sensitivity must be that of the floats that are handed over; sums in floating point can move by more than those of
    exact numbers, which is why `LaplaceMechanism` with a lattice is the better choice for sums.

    Args:
      sensitivity: largest L1 distance of the float results on neighbours, exact, in output units.
      epsilon: privacy parameter in nats, exact; give this or `scale`.
      scale: scale of the noise, exact, in output units, from 2**-900 to 2**900: sensitivity / epsilon.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), not exactly one of epsilon and scale
        is given (DPA106), or the scale is out of its range (DPA103).
    Source: Dwork, McSherry, Nissim, Smith 2006; Mironov 2012 (why rounding must be exact); docs/laws_and_real_noise.md.
    Example:
      >>> mechanism = RealLaplaceMechanism(sensitivity="0.1", epsilon="1/2")
      >>> isinstance(mechanism.release(0.3), float)
      True
      >>> str(mechanism.claim)
      'epsilon = 1/2 under add_remove'
    """

    sensitivity: Fraction
    scale: Fraction
    adjacency: Adjacency

    release = float_noise.release
    releases = float_noise.releases
    to_dict = noise.to_dict

    def __init__(
        self,
        *,
        sensitivity: Exact,
        epsilon: Exact | None = None,
        scale: Exact | None = None,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        distance = positive(sensitivity, "sensitivity")
        given = one_of(epsilon=epsilon, scale=scale)
        width = distance / given if scale is None else given
        store(self, sensitivity=distance, scale=width, adjacency=Adjacency.of(adjacency))
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
        """The continuous mechanism's loss for one number at the declared sensitivity; the rounded release has at most this."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact, *, dimension: int = 1) -> PrivacyLoss:
        """The privacy loss, before rounding, of a release whose value moves by at most `distance`.

        Args:
          distance: L1 distance, exact, positive, in output units.
          dimension: how many numbers are released together; above 1 the distance may be split between them in many ways, and
            the loss is the pure bound distance / scale that holds for all.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency, an upper bound for the rounded release.
        Raises:
          InvalidArgument: `distance` is not a number (DPA101, DPA102) or not positive (DPA104), or `dimension` is no
            integer (DPA105) or below 1 (DPA103).
        Source: Dwork, McSherry, Nissim, Smith 2006.
        Example:
          >>> RealLaplaceMechanism(sensitivity=1, epsilon=1).loss_at("1/2").epsilon(delta=0).upper
          Fraction(1, 2)
        """
        from dpaudit.accounting import laplace, pure_dp

        moved = positive(distance, "distance")
        if integer(dimension, "dimension", lower=1) > 1:
            return pure_dp(epsilon=moved / self.scale, adjacency=self.adjacency)
        return laplace(scale=self.scale, sensitivity=moved, adjacency=self.adjacency)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"continuous Laplace noise of scale {shown(self.scale)}, rounded once to float64; "
            f"L1 sensitivity {shown(self.sensitivity)} under {self.adjacency}; epsilon {shown(self.epsilon)}"
        )

    @cached_property
    def _noise(self) -> FloatNoise:
        """The noise, and its entry in the release log."""
        record = Release("real_laplace", (("scale", self.scale),), self.sensitivity, self.adjacency)
        return FloatNoise(LaplaceCells, self.scale, record)
