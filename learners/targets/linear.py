"""Targets on linear classifiers from noisy sums: the worst pairs of records, seen from inside every release and from outside."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from dpaudit.claims import GDP, Adjacency, ApproxDP, Claim
from dpaudit.targets import Sensitivity
from learners.estimator import Public
from learners.rows.rows import Rows
from learners.solvers.gradient import WEIGHT_BITS, solve
from learners.solvers.plans import DIAGONAL, OFF_DIAGONAL, SolverPlan, default_plan
from learners.targets.harness import make_target
from learners.targets.inside import mu_of, transcript
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.releases import Release

Record = tuple[tuple[int, ...], int]
"""Features in steps, together no longer than the plan's largest norm, and a label."""

RELATION: Final = Adjacency.of("replace_one")


def _public(records: int, features: int) -> Public:
    """Two classes at epsilon 4 and delta 1e-5."""
    return Public(records, features, 2, Fraction(1), Fraction(4), Fraction(1, 10**5), RELATION)


def rows_of(records: Sequence[Record], plan: SolverPlan) -> Rows:
    """Records as rows, each with the plan's intercept."""
    steps = np.array([(*features, plan.intercept) for features, _ in records], dtype=np.int32)
    return Rows(steps, plan.bound, Fraction(1, 2**plan.lattice_bits), np.array([label for _, label in records], dtype=np.int64))


PLAN: Final = default_plan(_public(4, 2))
"""Profiles, a second moment and eight gradients; so few records have profiles that change nothing, so all fits begin alike."""

_FIRST: Final = (cast("Release", PLAN.moment), PLAN.gradient)

_ONE: Final = 2**PLAN.lattice_bits
_REST: Final[tuple[Record, ...]] = (((0, 0), 0),) * (PLAN.records - 1)
MOMENT_PAIR: Final = ((((_ONE, 0), 1), *_REST), (((-_ONE // 64, _ONE - 1), 1), *_REST))
"""A record and one at a right angle to it, the intercept included: no other pair moves the second moment as far."""

FIRST_PAIR: Final = ((((_ONE, 0), 1), *_REST), (((1913, 3621), 0), *_REST))
"""A record that changes its label and turns so far that moment and gradient, as they are paid for, together move the farthest."""

WIDE: Final = default_plan(_public(1, 1024))
"""Gradients alone, as for every classifier of so many features. All but the first feature are zero here, and left out."""

_WIDE_ONE: Final = 2**WIDE.lattice_bits
SIDE_PAIR: Final[tuple[tuple[Record, ...], tuple[Record, ...]]] = ((((_WIDE_ONE,), 1),), (((_WIDE_ONE,), 0),))
"""A record of the largest norm with either label: no other pair moves a gradient as far."""


def sample_first(records: tuple[Record, ...], count: int, rng: Generator) -> NDArray[np.float64]:
    """The log-likelihood ratio of the noisy second moment and first gradient of a fit, for the two of `FIRST_PAIR`."""
    source, sums = source_from(rng), _first_sums(records)  # neither sum depends on noise: all fits have the same two
    parts = [PLAN.noise(release).releases(value, count, source) for release, value in zip(_FIRST, sums, strict=True)]
    return np.asarray(np.einsum("ij,j->i", np.concatenate(parts, axis=1), _directions()))


def sample_fits(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """How far a fit's noisy gradients together pull along the record of `SIDE_PAIR`, in units of one gradient's sensitivity."""
    # All fits at once, as one fit of all records: those of a fit have columns of their own, so that no weight that they meet
    # depends on another fit's records or noise.
    from scipy import sparse

    rows = rows_of(records, WIDE)
    height, width = rows.steps.shape
    columns = width * np.arange(count)[:, np.newaxis, np.newaxis] + np.tile(np.arange(width), (height, 1))
    table = (np.tile(cast("NDArray[np.int32]", rows.steps).ravel(), count), columns.ravel(), width * np.arange(count * height + 1))
    steps = sparse.csr_array(table, shape=(count * height, count * width))
    every = Rows(steps, rows.bound, rows.step, np.tile(rows.labels, count))
    pulled = sum(noisy.reshape(count, -1) for _, noisy in transcript(every, WIDE, source_from(rng)))
    along = np.einsum("ij,j->i", pulled, [_WIDE_ONE, WIDE.intercept])
    return np.asarray(along / float(WIDE.gradient.sensitivity * WIDE.bound))


def sample_weights(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """Weights of as many fits, one in each row, in units of the largest norm: all that somebody outside sees."""
    rows, source = rows_of(records, PLAN), source_from(rng)
    return np.array([solve(rows, PLAN, source) for _ in range(count)]) / 2.0**WEIGHT_BITS


@cache
def _first_sums(records: tuple[Record, ...]) -> list[NDArray[np.int64]]:
    """The second moment and the first gradient before their noise; the profiles come before them."""
    return [value for value, _ in transcript(rows_of(records, PLAN), PLAN, noisy=False)[PLAN.profiles :][: len(_FIRST)]]


@cache
def _directions() -> NDArray[np.float64]:
    """How far the second dataset moves each entry of the first sums, over the variance of their noise."""
    sums = zip(*map(_first_sums, FIRST_PAIR), _FIRST, strict=True)
    return np.concatenate([(after - before) / float(release.parameter("sigma")) ** 2 for before, after, release in sums])


def moment_triangle(records: Sequence[Record]) -> list[int]:
    """The upper triangle of the second moment with the factors that it is released with."""
    moment = rows_of(records, PLAN).second_moment()
    upper = zip(*np.triu_indices(len(moment)), strict=True)
    return [int(moment[row, column]) * (DIAGONAL if row == column else OFF_DIAGONAL) for row, column in upper]


TARGETS: Final = (
    make_target(
        "linear_first_releases",
        "second moment and first gradient of a linear classifier, both noisy; one record turns and changes its label",
        sample_first,
        Claim(GDP(mu=mu_of(_FIRST)), adjacency=RELATION),
        FIRST_PAIR,
        learner="PrivateClassifier",
        sensitivity=Sensitivity(query=moment_triangle, bound=_FIRST[0].sensitivity, metric="l2"),
    ),
    make_target(
        "linear_all_gradients",
        "all noisy gradients of fits of a linear classifier; one record changes its label",
        sample_fits,
        Claim(GDP(mu=mu_of(WIDE.charges[0].releases)), adjacency=RELATION),
        SIDE_PAIR,
        learner="PrivateClassifier",
    ),
)

OUTSIDE: Final = make_target(
    "linear_weights",
    "weights of a linear classifier of two features on four records; one turns by a right angle",
    sample_weights,
    Claim(ApproxDP(epsilon=4, delta="1e-5"), adjacency=RELATION),
    MOMENT_PAIR,
    learner="PrivateClassifier",
)
