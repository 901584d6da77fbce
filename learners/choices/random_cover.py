"""Candidates in random directions, drawn from a public seed; and how good the best of them must be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.rows.seeds import PublicBits
from mechanisms.laws import RoundedGaussian

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGMA: Final = 2**12
"""Entries are normal numbers of this deviation, rounded: a direction is then off by about 1 in 2**13."""

_BLOCK: Final = 2**14


@dataclass(frozen=True)
class RandomCover:
    """Directions evenly spread over the sphere, independent of each other and of all data.

    Args:
      dimension: k, at least 1.
      size: N, how many, at least 1.
      seed: public; a seed gives the same directions on every machine.
    """

    dimension: int
    size: int
    seed: int

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
    from flint import arb

    from dpaudit.exact import ball_endpoints, float_outward, working_precision

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
