"""Runs that are charged block by block: a sparse vector up to each update, fresh noise for its value, composed as in textbooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpaudit.claims import Adjacency
from dpaudit.releases import Release
from learners.kernels.guessing import MOVED, Grid, GuessingTeller, grid_of
from learners.kernels.noise import find_noise_scale, laplace_release
from learners.record import Charge
from mechanisms.above_threshold import AboveThreshold
from mechanisms.laplace import LaplaceMechanism

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from dpaudit.accounting import PrivacyLoss
    from learners.estimator import Public
    from learners.solvers.minimum import Minimum
    from mechanisms.comparisons import Run
    from mechanisms.sampling.random import BitSource


@dataclass(frozen=True)
class BlocksTold:
    """A sparse vector of its own up to each update, and noise for the value there (Dwork and Roth 2014, Algorithm 1)."""

    grid: Grid
    search: AboveThreshold  # says whether a difference is above the threshold
    value: LaplaceMechanism  # gives the difference then
    updates: int  # the run ends with so many
    threshold: int  # of the size of a difference, in steps

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All blocks, also those that will not be finished."""
        search = self.search
        scales = (("query_scale", search.query_scale), ("threshold_scale", search.threshold_scale))
        parameters = (("lattice", Fraction(1)), ("monotonic", Fraction(0)), *scales)
        found = Release("above_threshold", parameters, search.sensitivity, search.adjacency)
        return (Charge((*[found] * self.updates, replace(laplace_release(self.value), count=self.updates))),)

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """Open the run; the noise of thresholds and values is drawn here, since it does not depend on questions."""
        blocks = [self.search.start(self.threshold, source) for _ in range(self.updates)]
        rounds = BlockRounds(blocks, self.value.releases(0, self.updates, source).tolist())
        return {"teller": GuessingTeller(weights, self.grid, rounds, self.updates, self.threshold // 2)}


class BlockRounds:
    """Open comparisons and noise of values, one of each for an update (Dwork and Roth 2014, Algorithm 1)."""

    __slots__ = ("_blocks", "_noise")

    def __init__(self, blocks: Sequence[Run], noise: Sequence[int]) -> None:
        self._blocks, self._noise = list(blocks), list(noise)

    def difference(self, steps: int) -> int | None:
        """The noisy difference where its size is above the noisy threshold."""
        if not self._blocks[-1].compare(abs(steps)):
            return None
        self._blocks.pop()
        return steps + self._noise.pop()


def block_release_plan(found: Minimum, public: Public, *, updates: int, spread: float) -> BlocksTold:
    """Equal blocks, half of each for its comparisons, of the largest epsilon with which all of them meet epsilon and delta.

    Source: Dwork and Roth 2014, Theorem 3.23.
    """
    scale = _least_scale(updates, public.epsilon, public.delta)
    search, value = _block(scale, public.adjacency)
    threshold = math.ceil(2 * (search.threshold_scale + search.query_scale) * Fraction(spread))
    return BlocksTold(grid_of(found), search, value, updates, threshold)


def _block(scale: int, adjacency: Adjacency) -> tuple[AboveThreshold, LaplaceMechanism]:
    """A value with noise of a scale, and comparisons that cost as much as it does."""
    search = AboveThreshold(sensitivity=MOVED, epsilon=Fraction(MOVED, scale), adjacency=adjacency)
    return search, LaplaceMechanism(sensitivity=MOVED, scale=scale, adjacency=adjacency)


@lru_cache(maxsize=64)
def _least_scale(updates: int, epsilon: Fraction, delta: Fraction) -> int:
    """The least scale at which so many blocks meet a budget."""

    def price(scale: int) -> PrivacyLoss:
        """That of all blocks."""
        return BlocksTold(Grid(1, 0), *_block(scale, Adjacency("replace_one")), updates, 0).charges[0].loss

    start = math.ceil(MOVED * 2 * math.sqrt(updates * -math.log(delta)) / float(epsilon))
    return find_noise_scale(price, start, epsilon=epsilon, delta=delta)
