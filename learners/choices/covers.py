"""Candidates that need no data: random directions from a public seed, or all points of a lattice in up to four dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from flint import arb

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball_endpoints, float_outward, in_range, integer, positive, working_precision
from learners.rows.seeds import PublicBits
from mechanisms.laws import RoundedGaussian

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGMA: Final = 2**12
"""Entries of directions are normal numbers of this deviation, rounded: a direction is then off by about 1 in 2**13."""

_BLOCK: Final = 2**14
MOST_DIMENSIONS: Final = 4
MOST_POINTS: Final = 2**24


@dataclass(frozen=True)
class RandomCover:
    """Directions evenly spread over the sphere, independent of each other and of all data."""

    dimension: int  # k, at least 1
    size: int  # N, how many, at least 1
    seed: int  # public; a seed gives the same directions on every machine

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """All of them, some thousands at a time."""
        for start in range(0, self.size, self._height):
            yield self._block(start)[:, : self.size - start]

    def candidate(self, place: int) -> NDArray[np.int64]:
        """The one at a place."""
        within = place % self._height
        return self._block(place - within)[:, within]

    @property
    def _height(self) -> int:
        """Number of directions in a block; it depends on nothing that a caller may vary without varying the directions."""
        return max(1, _BLOCK // self.dimension)

    def _block(self, start: int) -> NDArray[np.int64]:
        """A whole block, from bits of its own."""
        source = PublicBits(self.seed, "random directions", self.dimension, start)
        entries = RoundedGaussian(SIGMA).sample(self.dimension * self._height, source=source)
        return np.asarray(entries, dtype=np.int64).reshape(self._height, self.dimension).T


def cap_mass(*, dimension: int, chord: float) -> float:
    """Share of the sphere within a distance of a point of it, rounded down."""
    with working_precision(128):
        half = arb(chord) / 2
        sine_squared = 4 * half**2 * (1 - half**2)
        share = sine_squared.beta_lower(arb(dimension - 1) / 2, arb(1) / 2, regularized=True) / 2
        return float_outward(ball_endpoints(share)[0], up=False)


def excess_error(*, records: int, epsilon: float, candidates: int, beta: float, mass: float) -> float:
    """Bound the error rate of the candidate chosen above that of the best direction and its cap (McSherry and Talwar 2007)."""
    half = beta / 2
    if candidates * mass < math.log(1 / half):
        return math.inf
    return 2 * (math.log(candidates) + math.log(1 / half)) / (epsilon * records)


@dataclass(frozen=True)
class LatticeCover:
    """All integer points within a radius of the origin, or between two (Bassily, Mohri, Suresh 2022, Algorithm 1, step 4)."""

    dimension: int  # k, 1 to 4
    radius_squared: int  # in squared steps, an integer, at least 0
    least_squared: int = 0  # squares of norms below this are left out; with 0 none is, not even the origin

    @cached_property
    def size(self) -> int:
        """Number of candidates."""
        return sum(block.shape[1] for block in self.blocks())

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """All of them in lexicographic order, one slice at a time."""
        reach = math.isqrt(self.radius_squared)
        axis = np.arange(-reach, reach + 1)
        rest = np.array(np.meshgrid(*[axis] * (self.dimension - 1), indexing="ij"), dtype=np.int64)
        rest = rest.reshape(self.dimension - 1, -1) if self.dimension > 1 else np.zeros((0, 1), dtype=np.int64)
        squares = np.square(rest).sum(axis=0)
        for first in axis.tolist():
            norms = squares + first * first
            inside = rest[:, (norms <= self.radius_squared) & (norms >= self.least_squared)]
            yield np.concatenate([np.full((1, inside.shape[1]), first), inside])

    def candidate(self, place: int) -> NDArray[np.int64]:
        """The one at a place."""
        for block in self.blocks():
            if place < block.shape[1]:
                return block[:, place]
            place -= block.shape[1]
        raise IndexError(place)


def lattice_cover(*, dimension: int, margin: Exact) -> LatticeCover:
    """The lattice cover for records and comparators of norm 1 (Bassily, Mohri, Suresh 2022, Algorithm 1, step 4)."""
    # Step 2 gamma / sqrt(k) with gamma = margin / 10: in the ball of radius 2 + gamma, some point lies within gamma of every point
    # of the ball of radius 2.
    k, relative = integer(dimension, "dimension", lower=1, upper=MOST_DIMENSIONS), positive(margin, "margin")
    gamma = in_range(relative, "margin", lower=0, upper=1) / 10
    squared = math.floor(k * (2 + gamma) ** 2 / (2 * gamma) ** 2)
    # The cubes around the points fill a ball that is larger by half their diagonal.
    reach = math.isqrt(squared) + 1 + Fraction(math.isqrt(k) + 1, 2)
    if ball_volume_above(k) * reach**k > 2 * MOST_POINTS:
        raise InvalidArgument("DPA103", "the lattice would have more than 2**24 points. Take a larger margin or fewer dimensions.")
    return LatticeCover(k, squared)


def ball_volume_above(dimension: int) -> Fraction:
    """At least the volume of the unit ball of 1 to 4 dimensions."""
    return (Fraction(2), Fraction(22, 7), Fraction(88, 21), Fraction(5))[dimension - 1]
