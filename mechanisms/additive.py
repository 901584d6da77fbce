"""Additive noise of any law whose exact loss is known: the mechanism carries it, and laws without one are refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, ApproxDP, Claim, Curve, Guarantee, PureDP
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, positive, shown
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, FiniteLaw, IntegerLaw, RoundedGaussian, Staircase, TruncatedLaw
from mechanisms.noise import Noise, require_multiple, store
from mechanisms.sampling.random import BitSource

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

MOST_VALUES: Final = 4096
"""Finite laws on more values than this are not added: every probability goes to the release log."""


@dataclass(frozen=True, init=False)
class AdditiveMechanism:
    """Adds noise of a given law to a number: the noise is that law in steps of the lattice, exactly.

    Laws whose privacy loss is known exactly may be added: `Staircase`, `DiscreteLaplace`, `DiscreteGaussian`, `RoundedGaussian`,
    `FiniteLaw`, and `TruncatedLaw` Laplace or Gaussian laws on a range symmetric about 0. Bounded noise always has outputs that
    only one of two neighbours can give, so its claim holds up to a delta that no epsilon removes.

    Args:
      law: the noise, in lattice steps.
      sensitivity: largest distance of the query on neighbours, exact, a multiple of `lattice`, in output units.
      lattice: distance of adjacent released numbers, exact, in output units.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104) or not a multiple of the lattice
        (DPA107), or the sensitivity exceeds the one that a staircase was made for (DPA103).
      Unsupported: the loss of this law is not known exactly, or it hides nothing at this sensitivity (DPA202).
    Source: Geng, Viswanath 2014 for the staircase; docs/laws_and_real_noise.md, "Loss of bounded noise".
    Example:
      >>> mechanism = AdditiveMechanism(Staircase(sensitivity=4, epsilon=1), sensitivity=4)
      >>> isinstance(mechanism.release(42), int)
      True
      >>> str(mechanism.claim)
      'epsilon = 1 under add_remove'
    """

    law: IntegerLaw
    sensitivity: Fraction
    lattice: Fraction
    adjacency: Adjacency

    to_dict = noise.to_dict

    def __init__(
        self, law: IntegerLaw, *, sensitivity: Exact, lattice: Exact = 1, adjacency: Adjacency | str = "add_remove"
    ) -> None:
        step, distance = positive(lattice, "lattice"), positive(sensitivity, "sensitivity")
        require_multiple(distance, step, "sensitivity")
        store(self, law=law, sensitivity=distance, lattice=step, adjacency=Adjacency.of(adjacency))
        self._require_step(distance)
        _ = self._noise, self.loss

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure where the noise is, approximate for truncated Laplace noise, else a profile."""
        return Claim(self._guarantee(), adjacency=self.adjacency)

    def _guarantee(self) -> Guarantee:
        """The strongest statement of its kind that holds."""
        if isinstance(self.law, Staircase):
            return PureDP(self.law.epsilon)
        if isinstance(self.law, DiscreteLaplace):
            return PureDP(self.sensitivity / self.lattice / self.law.scale)
        if isinstance(self.law, TruncatedLaw) and isinstance(self.law.law, DiscreteLaplace):
            epsilon = self.sensitivity / self.lattice / self.law.law.scale
            return ApproxDP(epsilon, Fraction(self.loss.delta(epsilon=epsilon).upper))
        return Curve(self.loss)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one release whose value moves by at most the declared sensitivity."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact) -> PrivacyLoss:
        """The privacy loss of a release whose value moves by at most `distance`.

        Args:
          distance: exact, positive, a multiple of the lattice, in output units.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency, for the worst shift up to the distance in both directions.
        Raises:
          InvalidArgument: as for the sensitivity.
          Unsupported: the law hides nothing at this distance (DPA202).
        Source: docs/laws_and_real_noise.md, "Loss of bounded noise".
        Example:
          >>> mechanism = AdditiveMechanism(FiniteLaw([1, 2, 1]), sensitivity=1)
          >>> print(mechanism.loss_at(1).delta(epsilon="0.7"))
          0.25
        """
        from dpaudit.accounting import price_releases

        moved = positive(distance, "distance")
        require_multiple(moved, self.lattice, "distance")
        self._require_step(moved)
        return price_releases([replace(self._noise.record, sensitivity=moved)])

    def release(self, value: Exact, source: BitSource | None = None) -> int | Fraction:
        """One noisy copy of a number.

        Args:
          value: an exact number on the lattice: int, Fraction, Decimal, numeric string, or a float that lies on it.
          source: random bits; None takes the operating system's.
        Returns:
          An int, or a Fraction where the lattice is not 1.
        Raises:
          InvalidArgument: not a number (DPA101, DPA102), an array (DPA105) or off the lattice (DPA107), before randomness is drawn.
        Example:
          >>> mechanism = AdditiveMechanism(FiniteLaw({-1: 1, 0: 2, 1: 1}), sensitivity="1/2", lattice="1/4")
          >>> abs(mechanism.release("3/4") - Fraction(3, 4)) <= Fraction(1, 4)
          True
        """
        released = self._noise.once(self._number(value), source)
        return released if isinstance(released, (int, Fraction)) else int(released)

    def releases(self, value: Exact, count: int, source: BitSource | None = None) -> NDArray[Any]:
        """Independent noisy copies of one number, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          Array of shape (count,): int64 for a whole lattice, float64 for a dyadic one, else Fractions.
        Raises:
          InvalidArgument: as for `release`, or the value is too large for an array (DPA108).
        Example:
          >>> AdditiveMechanism(Staircase(sensitivity=2, epsilon=1), sensitivity=2).releases(5, 3).dtype.name
          'int64'
        """
        return self._noise.often(self._number(value), count, source)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"noise of {type(self.law).__name__} on multiples of {shown(self.lattice)}; "
            f"sensitivity {shown(self.sensitivity)} under {self.adjacency}; {self.loss.describe()}"
        )

    def _number(self, value: Exact) -> Exact:
        """The value, unless it is an array: a sensitivity of several numbers would need a norm and a proof of its own."""
        if isinstance(value, np.ndarray):
            raise InvalidArgument("DPA105", "an array cannot be released by AdditiveMechanism. Release numbers one at a time.")
        return value

    def _require_step(self, distance: Fraction) -> None:
        """Refuse distances for which a staircase was not made: its loss is larger than its epsilon there."""
        if isinstance(self.law, Staircase) and distance > self.law.sensitivity * self.lattice:
            raise InvalidArgument(
                "DPA103",
                f"a staircase with steps of {self.law.sensitivity} covers distances up to "
                f"{shown(self.law.sensitivity * self.lattice)}, got {shown(distance)}. Make it for this sensitivity.",
            )

    @cached_property
    def _noise(self) -> Noise:
        """The noise in steps of the lattice, and its entry in the release log."""
        kind, parameters = log_entry(self.law, self.lattice)
        record = Release(kind, tuple(sorted(parameters.items())), self.sensitivity, self.adjacency)
        return Noise(self.law, self.lattice, Fraction(isqrt(int(self.law.width_squared)) + 1), record)


def log_entry(law: IntegerLaw, lattice: Fraction) -> tuple[str, dict[str, Fraction]]:
    """Kind and exact parameters, in output units, by which the accounting knows noise of a law on a lattice."""
    parameters = {"lattice": lattice}
    if isinstance(law, TruncatedLaw):
        return _truncated_entry(law, lattice)
    if isinstance(law, DiscreteLaplace):
        return "discrete_laplace", {**parameters, "scale": law.scale * lattice}
    if isinstance(law, DiscreteGaussian):
        return "discrete_gaussian", {**parameters, "sigma_squared": law.sigma_squared * lattice**2}
    if isinstance(law, RoundedGaussian):
        return "rounded_gaussian", {**parameters, "sigma": law.sigma * lattice}
    if isinstance(law, Staircase):
        sizes = {"step": law.sensitivity * lattice, "width": law.width * lattice}
        return "staircase", {**parameters, "epsilon": law.epsilon, **sizes}
    if isinstance(law, FiniteLaw) and len(law.values) <= MOST_VALUES:
        values = {f"value_{place:04}": value * lattice for place, value in enumerate(law.values)}
        return "finite_noise", {
            **parameters,
            **values,
            **{f"weight_{place:04}": mass for place, mass in enumerate(law.probabilities)},
        }
    raise _unknown(law)


def _truncated_entry(law: TruncatedLaw, lattice: Fraction) -> tuple[str, dict[str, Fraction]]:
    """Kind and parameters of truncated noise."""
    if isinstance(law.law, FiniteLaw):
        return log_entry(law.law.within(law.lower, law.upper), lattice)
    if law.lower != -law.upper:
        raise Unsupported(
            "DPA202",
            "truncated noise is added on a range symmetric about 0 only: elsewhere its worst shift is not known. Use lower=-upper.",
        )
    parameters = {"lattice": lattice, "reach": law.upper * lattice}
    if isinstance(law.law, DiscreteLaplace):
        return "truncated_discrete_laplace", {**parameters, "scale": law.law.scale * lattice}
    if isinstance(law.law, DiscreteGaussian):
        return "truncated_discrete_gaussian", {**parameters, "sigma_squared": law.law.sigma_squared * lattice**2}
    raise _unknown(law.law)


def _unknown(law: IntegerLaw) -> Unsupported:
    """The refusal of laws without an exact loss."""
    return Unsupported(
        "DPA202",
        f"the privacy loss of noise of this {type(law).__name__} is not known exactly, so it is not added. Use a Staircase, a "
        "discrete Laplace or Gaussian law or one truncated about 0, a rounded Gaussian, or a FiniteLaw of up to 4096 values.",
    )
