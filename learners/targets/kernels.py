"""Targets on kernel learners: the silence of an interactive run, and what a record moves the minimiser by, as far as it can."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import GDP, Adjacency, ApproxDP, Claim
from learners.estimator import Public
from learners.kernels.charged_updates import UpdatesTold
from learners.kernels.gaussian_process import NoisyCoordinates
from learners.kernels.guessing import Grid
from learners.kernels.noise import whole_budget_release
from learners.kernels.semi_interactive import noisy_values
from learners.kernels.span import SpanTeller, span_release_plan
from learners.rows.labels import TARGET_UNIT
from learners.rows.rows import Rows
from learners.solvers.minimum import IMAGE_BITS, minimise, minimum
from learners.solvers.plans import mechanism_of
from learners.targets.harness import make_target
from mechanisms.laws import DiscreteLaplace
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.releases import Release
    from learners.solvers.minimum import Minimum

RELATION: Final = Adjacency.of("replace_one")
ONE: Final = 1 << IMAGE_BITS
UPDATES: Final = 5
MOVED: Final = 100
SCALE: Final = 200
THRESHOLD: Final = 8000
DELTA: Final = Fraction(1, 1000)

PRICED: Final = Fraction(249, 20)
"""What `update_charged` says of such a run at `DELTA`; a test computes it again."""

NEAR_EDGE: Final = (THRESHOLD - 76 * MOVED // 100, THRESHOLD + 24 * MOVED // 100)
"""How far the minimiser's value lies from the guess, on each of two neighbouring datasets, in every round of the worst analyst."""

RECORDS: Final = 50_000
RIDGE: Final = Fraction(1, 2500)
Record = tuple[int, int]
"""An image."""

Labelled = tuple[int, int, int]
"""An image, and a label in parts of its bound."""

AWAY: Final[tuple[tuple[Record, ...], tuple[Record, ...]]] = (((930_000, -480_000),), ((-930_000, -480_000),))
"""The record that is replaced: all others pull the other way, so that both are on the wrong side, with steep slopes."""

MULTIPLIER_ONE: Final = Public(RECORDS, 2, 2, Fraction(1), Fraction(439, 100), DELTA, RELATION)
"""At this epsilon a Gaussian release has about as much noise as sensitivity."""


def run_of(scale: int = SCALE, updates: int = UPDATES) -> Release:
    """The log's entry of a run at the worst analyst's parameters."""
    from dpaudit.releases import Release

    stated = {"lattice": 1, "scale": scale, "threshold": THRESHOLD, "updates": updates}
    return Release("update_charged", tuple((name, Fraction(value)) for name, value in stated.items()), Fraction(MOVED), RELATION)


TOLD: Final = UpdatesTold(Grid(MOVED, 2 * IMAGE_BITS), run_of())


def silent_rounds(distance: int, count: int, rng: Generator) -> NDArray[np.int64]:
    """Silent rounds of as many runs, up to their last updates, with the value always so far from the guess."""
    # docs/kernels.md shows that a real analyst can keep it there; a run of `TOLD` decides each round as is done here.
    law, source = DiscreteLaplace(TOLD.release.parameter("scale")), source_from(rng)
    silent, left = np.zeros(count, dtype=np.int64), np.full(count, UPDATES)
    while (open_ := np.flatnonzero(left)).size:
        updates = np.abs(law.sample(open_.size, source=source) + distance) > THRESHOLD
        left[open_[updates]] -= 1
        silent[open_[~updates]] += 1
    return silent


FOUND: Final = minimum(records=RECORDS, columns=2, ridge=RIDGE)
COORDINATES: Final = NoisyCoordinates(whole_budget_release(MULTIPLIER_ONE, FOUND.sensitivity, 2))
SPAN: Final = span_release_plan(FOUND, MULTIPLIER_ONE, values=2, tolerance=Fraction(1, 1000))


def images_of(points: Sequence[Sequence[int]]) -> Rows:
    """Public points of two columns."""
    return Rows(np.array(points, dtype=np.int32), ONE, Fraction(1, ONE), np.zeros(len(points), dtype=np.int64))


VALUES: Final = noisy_values(images_of(((ONE, 0), (ONE // 2, ONE // 2), (0, ONE))), MULTIPLIER_ONE, FOUND)


@cache
def weights_of(records: tuple[Record, ...]) -> NDArray[np.int64]:
    """The minimiser of these records and as many others, which all point the same way, as make up their number."""
    steps = np.tile(np.array([[0, ONE]], dtype=np.int32), (RECORDS, 1))
    steps[: len(records)] = records
    return minimise(Rows(steps, ONE, Fraction(1, ONE), np.ones(RECORDS, dtype=np.int64)), FOUND)


SQUARES: Final = minimum(records=RECORDS, columns=2, ridge=RIDGE, loss="residual")
RIDGED: Final = NoisyCoordinates(whole_budget_release(MULTIPLIER_ONE, SQUARES.sensitivity, 2))
ALONE: Final[tuple[Labelled, Labelled]] = ((ONE, 0, TARGET_UNIT), (ONE, 0, -TARGET_UNIT))
"""A record that no other says anything about, whose label goes from the one bound to the other; those of all others are zero."""


def least_squares(record: Labelled, others: Labelled, found: Minimum) -> NDArray[np.int64]:
    """The minimiser of squares of one labelled record and of as many equal others as make up their number."""
    rows = np.tile(np.array([others]), (RECORDS, 1))
    rows[0] = record
    return minimise(Rows(rows[:, :2].astype(np.int32), ONE, Fraction(1, ONE), rows[:, 2]), found)


@cache
def ridged(record: Labelled) -> NDArray[np.int64]:
    """That of a record among others which lie across it."""
    return least_squares(record, (0, ONE, 0), SQUARES)


def sample_ridge(record: Labelled, count: int, rng: Generator) -> NDArray[np.float64]:
    """The noisy coordinate of a least-squares minimiser that the label moves, in units of the sensitivity."""
    noisy = mechanism_of(RIDGED.release).releases(ridged(record), count, source_from(rng))
    return np.asarray(noisy[:, 0] / SQUARES.sensitivity)


def sample_coordinates(records: tuple[Record, ...], count: int, rng: Generator) -> NDArray[np.float64]:
    """The noisy coordinate that the replaced record moves, in units of the sensitivity."""
    noisy = mechanism_of(COORDINATES.release).releases(weights_of(records), count, source_from(rng))
    return np.asarray(noisy[:, 0] / FOUND.sensitivity)


def sample_values(records: tuple[Record, ...], count: int, rng: Generator) -> NDArray[np.float64]:
    """Noisy values at public points along the difference of the two datasets, in units of the sensitivity."""
    before, after = (VALUES.values(weights_of(each)) for each in AWAY)
    noisy = mechanism_of(VALUES.release).releases(VALUES.values(weights_of(records)), count, source_from(rng))
    moved = (before - after).astype(np.float64)
    return np.asarray((noisy - (before + after) / 2) @ moved / (np.sqrt(moved @ moved) * float(VALUES.release.sensitivity)))


def sample_span(records: tuple[Record, ...], count: int, rng: Generator) -> NDArray[np.float64]:
    """Difference of the answers at two points that are almost the same, one after the other, in units of the sensitivity."""
    noise = mechanism_of(SPAN.release).releases(np.zeros(2, dtype=np.int64), count, source_from(rng))
    weights, found = weights_of(records), np.empty(count)
    for row, drawn in enumerate(noise):
        teller = SpanTeller(weights, drawn, FOUND.weight_bits, float(SPAN.tolerance))
        first, second = (teller.answer(np.array(point)).value for point in ((0, ONE), (1, ONE)))
        found[row] = float(second - first)
    return found


def _gaussian(release: Release) -> Claim:
    """The claim of one Gaussian release."""
    return Claim(GDP(mu=release.sensitivity / release.parameter("sigma")), adjacency=RELATION)


TARGETS: Final = (
    make_target(
        "kernel_silence",
        "silent rounds of an interactive kernel predictor whose every question lies at the edge of the threshold",
        silent_rounds,
        Claim(ApproxDP(epsilon=PRICED, delta=DELTA), adjacency=RELATION),
        NEAR_EDGE,
    ),
    make_target(
        "kernel_coordinates",
        "noisy coordinates of a kernel minimiser that one record moves as far as it can",
        sample_coordinates,
        _gaussian(COORDINATES.release),
        AWAY,
        learner="GaussianProcessRelease",
    ),
    make_target(
        "kernel_values",
        "noisy values of a kernel minimiser at three public points, together",
        sample_values,
        _gaussian(VALUES.release),
        AWAY,
        learner="SemiInteractiveKernelClassifier",
    ),
    make_target(
        "kernel_ridge",
        "noisy coordinates of a least-squares minimiser that one label moves as far as it can",
        sample_ridge,
        _gaussian(RIDGED.release),
        ALONE,
        learner="KernelRidgeRegressor",
    ),
    make_target(
        "kernel_span",
        "noisy values of a kernel minimiser at two points that are almost the same, one after the other",
        sample_span,
        _gaussian(SPAN.release),
        AWAY,
        learner="GaussianProcessRelease",
    ),
)
