"""Regularised minimisers that are broken on purpose: a free intercept, a loose solver, noise for one side."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import Claim, PureDP
from learners.solvers.losses import Loss
from mechanisms.euclidean import EuclideanMechanism
from mechanisms.sampling.random import source_from
from proofs.papers.specimens.pairs import Pair, pair_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

CLAIM: Final = Claim(PureDP(epsilon=1), adjacency="replace_one")
UNIT: Final = 2**20
"""Weights are multiples of 2**-20."""

RECORDS: Final = 101
_CORNER: Final = Loss("huber", -3)

Record = tuple[float, int]
"""A feature and a label."""


def add_noise(weight: float, moves: Fraction, count: int, rng: Generator) -> NDArray[np.float64]:
    """Copies of a weight with the noise that pays for moves of this size at epsilon 1."""
    noise = EuclideanMechanism(sensitivity=math.ceil(moves * UNIT), epsilon=1, adjacency=CLAIM.relation)
    drawn = noise.releases(np.array([round(weight * UNIT)]), count, source_from(rng))
    return np.asarray(drawn[:, 0] / UNIT)


def free_intercept(records: Sequence[Record]) -> float:
    """The constant that minimises the mean hinge loss of records without features, which no ridge holds back."""
    sides = np.array([2 * label - 1 for _, label in records], dtype=np.float64)
    low, high = -4.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(sides @ _CORNER.pulls(sides * middle)) > 0 else (low, middle)
    return low


def regularised_intercept(records: Sequence[Record]) -> float:
    """The constant that minimises the same loss with a ridge of 1."""
    sides = np.array([2 * label - 1 for _, label in records], dtype=np.float64)
    low, high = -1.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        downhill = float(sides @ _CORNER.pulls(sides * middle)) / len(records) - middle
        low, high = (middle, high) if downhill > 0 else (low, middle)
    return low


def sample_intercept(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The free constant with noise for a ridge of 1."""
    return add_noise(free_intercept(records), Fraction(2, len(records)), count, rng)


def sample_kept_intercept(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The regularised constant with the same noise."""
    return add_noise(regularised_intercept(records), Fraction(2, len(records)) + Fraction(1, UNIT), count, rng)


TOLERANCE: Final = Fraction(1, 10)


def stopped_early(records: Sequence[Record]) -> float:
    """Newton steps on the hinge loss with a ridge of 1, from 0, until the slope is within a usual tolerance: none, or one."""
    slope = -sum(feature * (2 * label - 1) for feature, label in records) / len(records)
    return 0.0 if abs(slope) <= float(TOLERANCE) else -slope


def sample_tolerance(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """What the solver gives, with noise for the exact minimiser."""
    return add_noise(stopped_early(records), Fraction(2, len(records)), count, rng)


def sample_tolerated(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The same with noise for the tolerance too, on both sides."""
    return add_noise(stopped_early(records), Fraction(2, len(records)) + 2 * TOLERANCE, count, rng)


def sample_one_sided(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """A minimiser that the random term has made the same, missed on the side of the last record, with noise for one miss."""
    return add_noise(float(2 * records[-1][1] - 1), Fraction(1), count, rng)


def sample_both_sided(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The same with noise for a miss on either side."""
    return add_noise(float(2 * records[-1][1] - 1), Fraction(2), count, rng)


_MANY: Final = (RECORDS + 1) // 2
_VOTES: Final = (
    ((0.0, 1),) * _MANY + ((0.0, 0),) * (RECORDS - _MANY),
    ((0.0, 1),) * (_MANY - 1) + ((0.0, 0),) * (RECORDS - _MANY + 1),
)
_QUIET: Final = ((0.0, 1),) * (RECORDS - 11)
_STOPPED: Final = ((*_QUIET, *((1.0, 1),) * 10, (0.0, 1)), (*_QUIET, *((1.0, 1),) * 11))
_LAST: Final = (((1.0, 1), (1.0, 0)), ((1.0, 1), (1.0, 1)))
PAIRS: Final[tuple[Pair, ...]] = (
    pair_up(
        ("broken_intercept", "an intercept outside the kernel, with noise for a regularised one", sample_intercept),
        ("kept_intercept", "a regularised intercept", sample_kept_intercept),
        CLAIM,
        _VOTES,
        wrong="a constant without a ridge jumps from one side to the other",
    ),
    pair_up(
        ("broken_tolerance", "a solver that stops within a usual tolerance, with noise for the exact minimiser", sample_tolerance),
        ("tolerated_solver", "noise for a solver's tolerance", sample_tolerated),
        CLAIM,
        _STOPPED,
        wrong="one record decides whether a step is made at all",
    ),
    pair_up(
        (
            "broken_one_sided_noise",
            "objective perturbation whose output noise pays for the solver's error once",
            sample_one_sided,
        ),
        ("both_sided_noise", "output noise for two errors", sample_both_sided),
        CLAIM,
        _LAST,
        wrong="two runs may miss the minimiser on opposite sides",
    ),
)
