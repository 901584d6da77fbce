"""Vector mechanism: a noisy sum of clipped rows, exact from the rows to the noise, for learners and for vector statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, one_given, positive, shown, word
from mechanisms.contributions import LARGEST_LATTICE_BITS, Norm, check_rows, clip_and_sum
from mechanisms.entries import name_contents
from mechanisms.euclidean import EuclideanMechanism
from mechanisms.gaussian import GaussianMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noise import as_text, bit_source, one_of, read_count, store
from mechanisms.sampling.random import BitSource

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

_MOVES: Final = {"add_remove": 1, "zero_out": 1, "replace_one": 2}
"""The distance that one row moves the sum, in norm bounds."""


@dataclass(frozen=True, init=False)
class VectorMechanism:
    """Releases the sum of rows, each clipped to a norm ball on a lattice, with noise in every coordinate.

    Rows become whole steps of `lattice`, whose norm is at most norm_bound by exact arithmetic; they are summed exactly, and the
    noise is drawn exactly, so that the privacy statement holds for the numbers that come out and not only on paper. Noise:
    rounded Gaussian for `sigma` or `noise_multiplier` (norm "l2"), rounded Euclidean Laplace for `epsilon` and norm "l2",
    discrete Laplace for `epsilon` and norm "l1".

    Args:
      norm_bound: largest norm of what one row contributes, public, exact and positive, in the units of the rows.
      norm: "l2" or "l1".
      noise_multiplier: sigma / sensitivity, exact, dimensionless; give this, `sigma` or `epsilon`.
      sigma: standard deviation of the Gaussian before rounding, exact, in the units of the rows.
      epsilon: pure privacy parameter in nats, exact.
      lattice_bits: the lattice is norm_bound / 2**lattice_bits, 1 to 26.
      adjacency: "add_remove" or "zero_out" (one row moves the sum by norm_bound), or "replace_one" (by twice that).
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), out of range (DPA103, DPA105), the noise
        is not given exactly once (DPA106), or norm, noise or adjacency do not go together (DPA103).
    Source: Dwork, McSherry, Nissim, Smith 2006 (sums of bounded vectors); Abadi and others 2016 (clipping); docs/vectors.md.
    Example:
      >>> mechanism = VectorMechanism(norm_bound=1, noise_multiplier=2)
      >>> steps = mechanism.release(np.array([[3.0, 4.0], [0.5, 0.25]]))
      >>> steps.dtype.name, mechanism.in_units(steps).shape, str(mechanism.claim)
      ('int64', (2,), 'mu = 1/2 (GDP) under add_remove')
    """

    norm_bound: Fraction
    norm: Norm
    sigma: Fraction | None
    epsilon: Fraction | None
    lattice_bits: int
    adjacency: Adjacency

    def __init__(
        self,
        *,
        norm_bound: Exact,
        norm: Norm = "l2",
        noise_multiplier: Exact | None = None,
        sigma: Exact | None = None,
        epsilon: Exact | None = None,
        lattice_bits: int = 21,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        relation = Adjacency.of(adjacency)
        if relation.kind not in _MOVES:
            allowed = f"adjacency must be one of {', '.join(_MOVES)} for a sum of rows"
            raise InvalidArgument("DPA103", f"{allowed}, got {relation}. Rows are whole people here.")
        bound = positive(norm_bound, "norm_bound")
        bits = integer(lattice_bits, "lattice_bits", lower=1, upper=LARGEST_LATTICE_BITS)
        given = {"noise_multiplier": noise_multiplier, "sigma": sigma, "epsilon": epsilon}
        name = one_given(**given)
        chosen = {name: one_of(**given)}
        if word(norm, "norm", ("l1", "l2")) == "l1" and "epsilon" not in chosen:
            raise InvalidArgument(
                "DPA103", f'norm must be "l2", or "l1" with epsilon, got "l1" with {next(iter(chosen))}. Give epsilon=.'
            )
        if "noise_multiplier" in chosen:
            chosen["sigma"] = chosen["noise_multiplier"] * bound * _MOVES[relation.kind]
        store(self, norm_bound=bound, norm=norm, sigma=chosen.get("sigma"), epsilon=chosen.get("epsilon"))
        store(self, lattice_bits=bits, adjacency=relation)
        _ = self._additive

    @property
    def lattice(self) -> Fraction:
        """Size of a step, in the units of the rows."""
        return self.norm_bound / (1 << self.lattice_bits)

    @property
    def sensitivity(self) -> Fraction:
        """Largest distance that one row moves the sum, in the norm and in the units of the rows."""
        return self.norm_bound * _MOVES[self.adjacency.kind]

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: Gaussian differential privacy for Gaussian noise, else pure differential privacy."""
        return self._additive.claim

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one release at the sensitivity, for any number of columns."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact) -> PrivacyLoss:
        """The privacy loss of a release whose sum moves by at most `distance`, for any number of columns.

        Args:
          distance: in the mechanism's norm, exact and positive, in the units of the rows; for "l1" a multiple of the lattice.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency that is never below the mechanism's own.
        Raises:
          InvalidArgument: `distance` is not a number (DPA101, DPA102), not positive (DPA104) or off the lattice (DPA107).
        Source: docs/vectors.md, "Privacy and price".
        Example:
          >>> VectorMechanism(norm_bound=1, epsilon=1).loss_at("1/2").epsilon(delta=0).upper
          Fraction(1, 2)
        """
        additive = self._additive
        return additive.loss_at(distance, dimension=2) if isinstance(additive, LaplaceMechanism) else additive.loss_at(distance)

    def release(self, rows: NDArray[Any], source: BitSource | None = None) -> NDArray[np.int64]:
        """The noisy sum of clipped rows.

        Args:
          rows: array of shape (n, d), integers or floats, one row per person (all that the person contributes); n may be 0.
            No number in it is refused: a row that is not finite counts as zero. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          int64 array of shape (d,) in steps of `lattice`; `in_units` converts it.
        Raises:
          InvalidArgument: `rows` is no such array (DPA105, DPA108, DPA109) or there is more noise than 64 bits hold (DPA108);
            refused before randomness is drawn.
        Source: docs/vectors.md.
        Example:
          >>> VectorMechanism(norm_bound=1, epsilon=1).release(np.zeros((0, 5))).shape
          (5,)
        """
        return np.asarray(self.releases(rows, 1, source)[0])

    def releases(self, rows: NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[np.int64]:
        """Independent noisy sums of the same rows, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          int64 array of shape (count, d) in steps of `lattice`.
        Example:
          >>> VectorMechanism(norm_bound=1, sigma=3).releases(np.ones((2, 4)), 3).shape
          (3, 4)
        """
        copies, checked, bits = read_count(count), check_rows(rows), bit_source(source)
        steps = clip_and_sum(checked, norm_bound=self.norm_bound, norm=self.norm, lattice_bits=self.lattice_bits)
        return self._noisy(steps, copies, bits)

    def release_steps(self, steps: NDArray[np.integer[Any]], source: BitSource | None = None) -> NDArray[np.int64]:
        """The noisy copy of a vector that is in steps already, for instance a sum of `clip_rows` that a learner weighted.

        Args:
          steps: integer array of any shape, in steps of `lattice`; the caller answers for its sensitivity. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          int64 array of the same shape, in steps.
        Raises:
          InvalidArgument: no integer array (DPA105), empty (DPA109), too large, or more noise than 64 bits hold (DPA108); refused
            before randomness is drawn.
        Example:
          >>> VectorMechanism(norm_bound=1, sigma=3).release_steps(np.array([[1, 2], [3, 4]])).shape
          (2, 2)
        """
        if not isinstance(steps, np.ndarray) or steps.dtype.kind not in "iu":
            kind = f"an array of {name_contents(steps)}" if isinstance(steps, np.ndarray) else f"a {type(steps).__name__}"
            raise InvalidArgument("DPA105", f"steps must be an array of integers, got {kind}. Rows of numbers go to release().")
        return np.asarray(self._noisy(steps, 1, bit_source(source))[0])

    def in_units(self, steps: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Released steps in the units of the rows, as the floats nearby: what is done to a release costs no privacy."""
        if not isinstance(steps, np.ndarray) or steps.dtype.kind not in "iu":
            raise InvalidArgument("DPA105", "steps must be an array of integers. Give what release() returned.")
        return np.asarray(steps, dtype=np.float64) * float(self.lattice)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        clip = f"sum of rows clipped to {self.norm.upper()} norm {shown(self.norm_bound)}"
        return f"{clip}, steps of {shown(self.lattice)}: {self._additive.describe()}"

    def to_dict(self) -> dict[str, str]:
        """The mechanism as plain text values, exact, from which it can be built again."""
        noise = "epsilon" if self.sigma is None else "sigma"
        return as_text(self, "norm_bound", "norm", noise, "lattice_bits", "adjacency")

    def _noisy(self, steps: NDArray[np.integer[Any]], copies: int, bits: BitSource) -> NDArray[np.int64]:
        """Copies with noise, in steps: the additive mechanism's own path, log included, read and written on integers."""
        noise = replace(self._additive._noise, lattice=Fraction(1))  # noqa: SLF001 - one family of mechanisms
        released: NDArray[np.int64] = noise.often(steps, copies, bits)
        return released

    @cached_property
    def _additive(self) -> GaussianMechanism | LaplaceMechanism | EuclideanMechanism:
        """The mechanism that adds the noise, in the units of the rows."""
        if self.sigma is not None:
            return GaussianMechanism(sensitivity=self.sensitivity, sigma=self.sigma, lattice=self.lattice, adjacency=self.adjacency)
        family = LaplaceMechanism if self.norm == "l1" else EuclideanMechanism
        return family(sensitivity=self.sensitivity, epsilon=self.epsilon, lattice=self.lattice, adjacency=self.adjacency)
