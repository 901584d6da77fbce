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
from learners.kernels.settling import settled
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
    """A sparse vector of its own up to each update, and noise for the value there; `blocks_told` makes one.

    Args:
      grid: steps of values.
      search: says whether a difference is above the threshold.
      value: gives the difference then.
      updates: with how many the run ends.
      threshold: of the size of a difference, in steps.
    Source: Dwork and Roth 2014, Algorithm 1.
    """

    grid: Grid
    search: AboveThreshold
    value: LaplaceMechanism
    updates: int
    threshold: int

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All blocks, also those that will not be finished."""
        search, value = self.search, self.value
        scales = (("query_scale", search.query_scale), ("threshold_scale", search.threshold_scale))
        parameters = (("lattice", Fraction(1)), ("monotonic", Fraction(0)), *scales)
        found = Release("above_threshold", parameters, search.sensitivity, search.adjacency)
        shown = Release("discrete_laplace", (("lattice", Fraction(1)), ("scale", value.scale)), value.sensitivity, value.adjacency)
        return (Charge((*[found] * self.updates, replace(shown, count=self.updates))),)

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """The open run; the noise of thresholds and values is drawn here, since it does not depend on questions."""
        blocks = [self.search.start(self.threshold, source) for _ in range(self.updates)]
        rounds = BlockRounds(blocks, self.value.releases(0, self.updates, source).tolist())
        return {"teller": GuessingTeller(weights, self.grid, rounds, self.updates, self.threshold // 2)}


class BlockRounds:
    """Blocks of comparisons, each up to its first difference above its own noisy threshold.

    Args:
      blocks: open comparisons, one for each update.
      noise: of the differences that are shown, one for each update.
    Source: Dwork and Roth 2014, Algorithm 1.
    """

    __slots__ = ("_blocks", "_noise")

    def __init__(self, blocks: Sequence[Run], noise: Sequence[int]) -> None:
        self._blocks, self._noise = list(blocks), list(noise)

    def difference(self, steps: int) -> int | None:
        """The noisy difference where its size is above the noisy threshold."""
        if not self._blocks[-1].compare(abs(steps)):
            return None
        self._blocks.pop()
        return steps + self._noise.pop()


def blocks_told(found: Minimum, public: Public, *, updates: int, spread: float) -> BlocksTold:
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
        search, value = _block(scale, Adjacency("replace_one"))
        return BlocksTold(Grid(1, 0), search, value, updates, 0).charges[0].loss

    start = math.ceil(MOVED * 2 * math.sqrt(updates * -math.log(delta)) / float(epsilon))
    return settled(price, start, epsilon=epsilon, delta=delta)
