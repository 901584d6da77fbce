"""Regularised minimisers that are broken on purpose: a free intercept, a loose solver, bounds and searches for nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.targets import Target
from learners.solvers.losses import Loss
from mechanisms.euclidean import EuclideanMechanism
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    Sample = Callable[[Sequence[tuple[float, int]], int, Generator], NDArray[np.float64]]

RELATION: Final = Adjacency.of("replace_one")
UNIT: Final = 2**20
"""Weights are whole numbers of 2**-20."""

RECORDS: Final = 101
_CORNER: Final = Loss("huber", -3)

Record = tuple[float, int]
"""A feature and a label."""


def _noisy(weight: float, moves: Fraction, count: int, rng: Generator) -> NDArray[np.float64]:
    """Copies of a weight with the noise that pays for moves of this size at epsilon 1."""
    noise = EuclideanMechanism(sensitivity=math.ceil(moves * UNIT), epsilon=1, adjacency=RELATION)
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
    return _noisy(free_intercept(records), Fraction(2, len(records)), count, rng)


def sample_kept_intercept(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The regularised constant with the same noise."""
    return _noisy(regularised_intercept(records), Fraction(2, len(records)) + Fraction(1, UNIT), count, rng)


TOLERANCE: Final = Fraction(1, 10)


def stopped_early(records: Sequence[Record]) -> float:
    """Newton steps on the hinge loss with a ridge of 1, from 0, until the slope is within a usual tolerance: none, or one."""
    slope = -sum(feature * (2 * label - 1) for feature, label in records) / len(records)
    return 0.0 if abs(slope) <= float(TOLERANCE) else -slope


def sample_tolerance(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """What the solver gives, with noise for the exact minimiser."""
    return _noisy(stopped_early(records), Fraction(2, len(records)), count, rng)


def sample_tolerated(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The same with noise for the tolerance too, on both sides."""
    return _noisy(stopped_early(records), Fraction(2, len(records)) + 2 * TOLERANCE, count, rng)


def sample_one_sided(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """A minimiser that the random term has made the same, missed on the side of the last record, with noise for one miss."""
    return _noisy(float(2 * records[-1][1] - 1), Fraction(1), count, rng)


def sample_both_sided(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The same with noise for a miss on either side."""
    return _noisy(float(2 * records[-1][1] - 1), Fraction(2), count, rng)


def sample_measured_norm(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The minimiser at a ridge of 1, with noise for the longest record that there is."""
    longest = Fraction(max(abs(feature) for feature, _ in records))
    pulled = sum(feature * (2 * label - 1) for feature, label in records) / len(records)
    return _noisy(pulled, 2 * longest / len(records), count, rng)


def sample_given_norm(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The same with noise for the longest record that may be."""
    pulled = sum(feature * (2 * label - 1) for feature, label in records) / len(records)
    return _noisy(pulled, Fraction(2, len(records)) + Fraction(1, UNIT), count, rng)


FITS: Final = 20


def sample_uncharged_search(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The best of twenty private fits by the loss on the records themselves: each is charged for, the choice is not."""
    exact = sum(feature * (2 * label - 1) for feature, label in records) / len(records)
    fits = _noisy(exact, Fraction(2, len(records)), count * FITS, rng).reshape(count, FITS)
    return np.asarray(fits[np.arange(count), np.abs(fits - exact).argmin(axis=1)])


def sample_single_fit(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """The first of them."""
    exact = sum(feature * (2 * label - 1) for feature, label in records) / len(records)
    return _noisy(exact, Fraction(2, len(records)) + Fraction(1, UNIT), count, rng)


_MANY: Final = (RECORDS + 1) // 2
_VOTES: Final = (
    ((0.0, 1),) * _MANY + ((0.0, 0),) * (RECORDS - _MANY),
    ((0.0, 1),) * (_MANY - 1) + ((0.0, 0),) * (RECORDS - _MANY + 1),
)
_QUIET: Final = ((0.0, 1),) * (RECORDS - 11)
_STOPPED: Final = ((*_QUIET, *((1.0, 1),) * 10, (0.0, 1)), (*_QUIET, *((1.0, 1),) * 11))
_LAST: Final = (((1.0, 1), (1.0, 0)), ((1.0, 1), (1.0, 1)))
_NORMS: Final = ((*((0.01, 1),) * 9, (0.01, 0)), (*((0.01, 1),) * 9, (1.0, 0)))
_TURNED: Final = (((1.0, 1), *((0.0, 1),) * 9), ((1.0, 0), *((0.0, 1),) * 9))


def _target(name: str, description: str, sample: Sample, pair: tuple[Any, Any], note: str = "") -> Target:
    """A target of pure epsilon on one number."""
    claim = Claim(PureDP(epsilon=1), adjacency=RELATION, note=note)
    return Target(name=name, description=description, sample=sample, claim=claim, neighbours=[pair], public_data=True)


_BROKEN: Final = "broken on purpose: "
SPECIMENS: Final = (
    _target(
        "broken_intercept",
        f"{_BROKEN}an intercept outside the kernel, with noise for a regularised one",
        sample_intercept,
        _VOTES,
        "wrong: a constant without a ridge jumps from one side to the other",
    ),
    _target(
        "broken_tolerance",
        f"{_BROKEN}a solver that stops within a usual tolerance, with noise for the exact minimiser",
        sample_tolerance,
        _STOPPED,
        "wrong: one record decides whether a step is made at all",
    ),
    _target(
        "broken_one_sided_noise",
        f"{_BROKEN}objective perturbation whose output noise pays for the solver's error once",
        sample_one_sided,
        _LAST,
        "wrong: two runs may miss the minimiser on opposite sides",
    ),
    _target(
        "broken_measured_norm",
        f"{_BROKEN}output perturbation for the largest norm that the records have",
        sample_measured_norm,
        _NORMS,
        "wrong: the amount of noise follows one record",
    ),
    _target(
        "broken_search",
        f"{_BROKEN}a search among twenty private fits that charges for one",
        sample_uncharged_search,
        _TURNED,
        "wrong: the choice reads the records as well, twenty times",
    ),
)

TWINS: Final = {
    "broken_intercept": _target("kept_intercept", "a regularised intercept", sample_kept_intercept, _VOTES),
    "broken_tolerance": _target("tolerated_solver", "noise for a solver's tolerance", sample_tolerated, _STOPPED),
    "broken_one_sided_noise": _target("both_sided_noise", "output noise for two errors", sample_both_sided, _LAST),
    "broken_measured_norm": _target("given_norm", "noise for a public norm", sample_given_norm, _NORMS),
    "broken_search": _target("single_fit", "one fit, and no search", sample_single_fit, _TURNED),
}
"""For each the correct twin, which differs in that step."""
