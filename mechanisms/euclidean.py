"""Euclidean Laplace mechanism: pure epsilon for vectors of bounded L2 sensitivity, the continuous noise rounded exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Enclosure, Exact, Reason, ball, integer, positive, shown, working_precision
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.laws import RoundedGaussian
from mechanisms.laws.law import MOST_DRAWS
from mechanisms.noise import bit_source, in_logged_units, one_of, open_release, read_count, require_step, store
from mechanisms.sampling.envelope import SHIPPED as SHIPPED_CELLS
from mechanisms.sampling.envelope import Tuning, envelope_table
from mechanisms.sampling.euclidean_noise import draw_vectors
from mechanisms.sampling.random import BitSource
from mechanisms.sampling.reals import SHIPPED, DrawnReals, Revealing
from mechanisms.steps import array_steps

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

LARGEST_DIMENSION: Final = 2**24
"""Longer vectors are refused."""

_LARGEST_LENGTH: Final = 2**61


@dataclass(frozen=True, init=False)
class EuclideanLaplace:
    """Law of a random vector with density proportional to exp(-length / scale), every coordinate rounded to the nearest integer.

    In one dimension that is a rounded real Laplace variable, in any dimension the noise of the Euclidean K-norm mechanism.

    Args:
      scale: exact, positive, in units of the integers.
      dimension: number of coordinates, 1 to 2**24.
    Raises:
      InvalidArgument: `scale` is not a finite number (DPA101, DPA102) or not positive (DPA104), `dimension` is no integer (DPA105)
        or out of range (DPA103), or lengths come near 2**62 (DPA108).
    Source: Hardt, Talwar 2010, section 4 (K-norm mechanism); docs/vectors.md for the sampler.
    Example:
      >>> law = EuclideanLaplace(10, dimension=3)
      >>> law.sample().shape, law.sample(5).shape
      ((3,), (5, 3))
      >>> print(EuclideanLaplace(1, dimension=1).pmf(0))
      [0.393469, 0.39347]
    """

    scale: Fraction
    dimension: int

    def __init__(self, scale: Exact, *, dimension: int) -> None:
        width = positive(scale, "scale")
        coordinates = integer(dimension, "dimension", lower=1, upper=LARGEST_DIMENSION)
        # A length beyond (2 dimension + 64) * scale has a probability below e^-50.
        if width * (2 * coordinates + 64) > _LARGEST_LENGTH:
            raise InvalidArgument(
                "DPA108",
                f"scale times (2 * dimension + 64) must be at most 2**61, got scale={shown(width)} and dimension={coordinates}. "
                "Use less noise or a coarser lattice.",
            )
        store(self, scale=width, dimension=coordinates)

    def sample(self, n: int | None = None, *, source: BitSource | None = None) -> NDArray[np.int64]:
        """Independent exact draws.

        Args:
          n: how many vectors, from 0 to 2**32; None for one vector without the first axis.
          source: random bits; None takes the operating system's.
        Returns:
          int64 array of shape (dimension,), or (n, dimension).
        Raises:
          InvalidArgument: `n` or `source` is not what it should be (DPA103, DPA105); refused before randomness is drawn.
          Unsupported: a coordinate happened to be 2**62 or larger (DPA108), less likely than 1e-20.
          EntropyFailure: the operating system gives no random bytes (DPA301).
        Source: docs/vectors.md, "Drawing the Euclidean noise".
        Example:
          >>> EuclideanLaplace("1/2", dimension=2).sample(3).dtype.name
          'int64'
        """
        count = 1 if n is None else integer(n, "n", lower=0, upper=MOST_DRAWS)
        drawn = draw_vectors(self.scale, self.dimension, count, drawn_reals(bit_source(source)))
        return drawn[0] if n is None else drawn

    def pmf(self, k: int, *, precision: int = 128) -> Enclosure:
        """P[X = k] for an integer k and dimension 1, computed with `precision` (32 to 4096) bits."""
        place, bits = integer(k, "k"), integer(precision, "precision", lower=32, upper=4096)
        if self.dimension > 1:
            known = f"probabilities are known in dimension 1 only, got dimension={self.dimension}"
            raise Unsupported("DPA202", f"{known}. Draw samples instead.")
        with working_precision(bits + 64):
            return Enclosure.from_ball(rounded_laplace(self.scale, place), Reason("integral over a cell"), lowest=0, highest=1)


def rounded_laplace(scale: Fraction, k: int) -> arb:
    """Ball around the probability that a real Laplace variable rounds to k, at the current working precision."""
    half = ball(1 / (2 * scale))
    return half.sinh() * ball(-abs(k) / scale).exp() if k else -(-half).expm1()


def drawn_reals(source: BitSource, revealing: Revealing = SHIPPED, cells: Tuning = SHIPPED_CELLS) -> DrawnReals:
    """Real numbers drawn from a source, their normal cells by the sampler of the rounded Gaussian."""
    return DrawnReals(source, envelope_table(RoundedGaussian(2**revealing.normal_bits), cells), revealing)


@dataclass(frozen=True)
class VectorNoise:
    """Euclidean Laplace noise on whole vectors: read, note, draw, add, write.

    `width` is the scale in steps of the lattice; `record` is the entry of the release log for one noisy vector.
    """

    lattice: Fraction
    width: Fraction
    record: Release

    def often(self, value: NDArray[Any], count: int, source: BitSource | None) -> NDArray[Any]:
        """Independent noisy copies of a vector of any shape, along a new first axis."""
        copies = read_count(count)
        if not isinstance(value, np.ndarray):
            raise InvalidArgument(
                "DPA105", f"the value to release must be an array, got a {type(value).__name__}. A number is numpy.array([number])."
            )
        steps, form = array_steps(value, self.lattice)
        law = EuclideanLaplace(self.width, dimension=steps.size)
        form.require_room(self.width * (isqrt(steps.size) + 1))
        bits, hold = open_release(self.record, source, count=copies, dimension=steps.size)
        noise = law.sample(copies, source=bits).reshape(copies, *steps.shape)
        noise += steps
        result = form.write(noise, self.lattice)
        return result if hold is None else hold(in_logged_units(value, self.lattice, self.record), result)


@dataclass(frozen=True, init=False)
class EuclideanMechanism:
    """Adds noise with density proportional to exp(-length / scale) to a whole vector, rounded to the lattice, drawn exactly.

    Pure differential privacy under an L2 sensitivity, in any dimension: for a vector x on the lattice round(x + noise) =
    x + round(noise), so the release is a fixed map of the continuous mechanism's. That is false off the lattice, so such vectors
    are refused. The noise has about scale * sqrt(dimension) in every coordinate.

    Args:
      sensitivity: largest L2 distance of the query on neighbours, exact, at least `lattice`, in output units.
      epsilon: privacy parameter in nats, exact; give this or `scale`.
      scale: scale of the noise, exact, in output units: sensitivity / epsilon.
      lattice: distance of adjacent released numbers, exact, in output units.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102) or not positive (DPA104), the sensitivity is below the lattice
        (DPA107), or not exactly one of epsilon and scale is given (DPA106).
    Source: Hardt, Talwar 2010, section 4; Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 1; docs/vectors.md.
    Example:
      >>> mechanism = EuclideanMechanism(sensitivity=2, epsilon="1/2")
      >>> mechanism.release(np.array([5, 6, 7])).shape
      (3,)
      >>> mechanism.scale, str(mechanism.claim)
      (Fraction(4, 1), 'epsilon = 1/2 under add_remove')
    """

    sensitivity: Fraction
    scale: Fraction
    lattice: Fraction
    adjacency: Adjacency

    to_dict = noise.to_dict

    def __init__(
        self,
        *,
        sensitivity: Exact,
        epsilon: Exact | None = None,
        scale: Exact | None = None,
        lattice: Exact = 1,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        step, distance = positive(lattice, "lattice"), positive(sensitivity, "sensitivity")
        require_step(distance, step, "sensitivity")
        given = one_of(epsilon=epsilon, scale=scale)
        width = distance / given if scale is None else given
        store(self, sensitivity=distance, scale=width, lattice=step, adjacency=Adjacency.of(adjacency))

    @property
    def epsilon(self) -> Fraction:
        """The privacy parameter in nats at the declared sensitivity."""
        return self.sensitivity / self.scale

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy, in any dimension."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The pure bound at the declared sensitivity, which covers every dimension."""
        return self.loss_at(self.sensitivity)

    def loss_at(self, distance: Exact, *, dimension: int = 2) -> PrivacyLoss:
        """The privacy loss of a release whose value moves by at most `distance`.

        Args:
          distance: L2 distance, exact and positive, in output units.
          dimension: how many numbers are released together; for 1 the continuous Laplace mechanism's loss, which rounding cannot
            increase, above 1 the pure bound distance / scale.
        Returns:
          A loss of `dpaudit.accounting` under the mechanism's adjacency that is never below the mechanism's own.
        Raises:
          InvalidArgument: `distance` is not a number (DPA101, DPA102) or not positive (DPA104), or `dimension` is no
            integer (DPA105) or below 1 (DPA103).
        Source: Hardt, Talwar 2010, section 4.
        Example:
          >>> EuclideanMechanism(sensitivity=1, epsilon=1).loss_at(2).epsilon(delta=0).upper
          Fraction(2, 1)
        """
        from dpaudit.accounting import laplace, pure_dp

        moved = positive(distance, "distance")
        if integer(dimension, "dimension", lower=1) == 1:
            return laplace(scale=self.scale, sensitivity=moved, adjacency=self.adjacency)
        return pure_dp(epsilon=moved / self.scale, adjacency=self.adjacency)

    @overload
    def release(self, value: NDArray[np.float64], source: BitSource | None = None) -> NDArray[np.float64]: ...
    @overload
    def release(self, value: NDArray[np.integer[Any]], source: BitSource | None = None) -> NDArray[np.int64]: ...
    def release(self, value: NDArray[Any], source: BitSource | None = None) -> NDArray[Any]:
        """One noisy copy of a vector.

        Args:
          value: integer array (for a whole lattice) or float64 array (for a dyadic one) of any shape, every entry on the lattice;
            the sensitivity is about all entries together. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          A new int64 or float64 array of the same shape.
        Raises:
          InvalidArgument: no array or of another dtype (DPA105), not finite (DPA102), off the lattice (DPA107), too large, or noise
            too large for the array (DPA108), empty (DPA109) or too long (DPA103). All but a result too large for its dtype is
            refused before randomness is drawn.
        Example:
          >>> EuclideanMechanism(sensitivity=1, epsilon=1, lattice="1/4").release(np.array([0.25, 7.5])).dtype.name
          'float64'
        """
        return np.asarray(self._noise.often(value, 1, source)[0])

    def releases(self, value: NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[Any]:
        """Independent noisy copies of one vector, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          Array of shape (count, *shape of the value): int64 for a whole lattice, float64 for a dyadic one.
        Example:
          >>> EuclideanMechanism(sensitivity=1, epsilon=1).releases(np.array([1, 2]), 3).shape
          (3, 2)
        """
        return self._noise.often(value, count, source)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"Euclidean Laplace noise of scale {shown(self.scale)} rounded to multiples of {shown(self.lattice)}; "
            f"L2 sensitivity {shown(self.sensitivity)} under {self.adjacency}; epsilon {shown(self.epsilon)}"
        )

    @cached_property
    def _noise(self) -> VectorNoise:
        """The noise in steps of the lattice, and its entry in the release log."""
        parameters = (("lattice", self.lattice), ("scale", self.scale))
        record = Release("euclidean_laplace", parameters, self.sensitivity, self.adjacency)
        return VectorNoise(self.lattice, self.scale / self.lattice, record)
