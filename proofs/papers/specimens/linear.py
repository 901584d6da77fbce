"""Noisy sums that are broken on purpose: less noise than a second moment or the slopes of many classes need."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import Claim
from dpaudit.targets import Target
from learners.rows.rows import Rows
from learners.solvers.slopes import UNIT, softmax_slopes
from learners.targets.linear import MOMENT_PAIR, PLAN, RELATION, Record, moment_triangle
from mechanisms.gaussian import GaussianMechanism
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

CLASSES: Final = 10
BOUND: Final = 2**12
_NEEDED: Final = int(2 * UNIT * BOUND)

HALVED: Final = GaussianMechanism(
    sensitivity=PLAN.moment.sensitivity / 2 if PLAN.moment else 1,
    sigma=PLAN.moment.sensitivity / 2 if PLAN.moment else 1,
    adjacency=RELATION,
)
WHOLE: Final = GaussianMechanism(sensitivity=2 * HALVED.sensitivity, sigma=2 * HALVED.sigma, adjacency=RELATION)
CUT: Final = GaussianMechanism(sensitivity=_NEEDED, sigma=_NEEDED, adjacency=RELATION)


def sample_halved(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """The first noisy diagonal entry of the second moment with noise for half of what a record moves the triangle by."""
    return HALVED.releases(np.array(moment_triangle(records)[:1]), count, source_from(rng))[:, 0]


def sample_whole(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.int64]:
    """The same entry with all the noise that it needs."""
    return WHOLE.releases(np.array(moment_triangle(records)[:1]), count, source_from(rng))[:, 0]


def first_gradient(records: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """The sum of features times residuals at weights of zero, as long as they are, in units where 1 / sqrt(2) is `UNIT`."""
    total = np.zeros(CLASSES, dtype=np.int64)
    for feature, label in records:
        residual = np.full(CLASSES, -(UNIT * 99) // (70 * CLASSES))
        residual[label] += UNIT * 99 // 70
        total += feature * residual
    return total


def sample_uncut(records: Sequence[tuple[int, int]], count: int, rng: Generator) -> NDArray[np.float64]:
    """How far the noisy gradient pulls towards the first class and away from the others, in units of the noise."""
    noisy = CUT.releases(first_gradient(records), count, source_from(rng))
    return np.asarray((noisy[:, 0] - noisy.mean(axis=1)) / _NEEDED)


def sample_cut(records: Sequence[tuple[int, int]], count: int, rng: Generator) -> NDArray[np.float64]:
    """The same with the slopes of a softmax loss, none of which is longer than the noise is for."""
    rows = Rows(
        np.array([[feature] for feature, _ in records], dtype=np.int32),
        BOUND,
        Fraction(1, BOUND),
        np.array([label for _, label in records], dtype=np.int64),
    )
    slopes = softmax_slopes(np.zeros((len(records), CLASSES), dtype=np.int64), rows.labels, 16)
    noisy = CUT.releases(rows.weighted_sum(slopes)[0], count, source_from(rng))
    return np.asarray((noisy[:, 0] - noisy.mean(axis=1)) / _NEEDED)


SPECIMENS: Final = (
    Target(
        name="broken_second_moment",
        description="broken on purpose: a second moment with noise for half of what one record moves it by",
        sample=sample_halved,
        claim=Claim(HALVED.claim.guarantee, adjacency=RELATION, note="wrong: two outer products change"),
        neighbours=[MOMENT_PAIR],
        public_data=True,
    ),
    Target(
        name="broken_slopes",
        description="broken on purpose: residuals of ten classes that are not cut, with noise for such that are",
        sample=sample_uncut,
        claim=Claim(CUT.claim.guarantee, adjacency=RELATION, note="wrong: a residual may be twice as long"),
        neighbours=[(((BOUND, 0), (0, 0)), ((-BOUND, 0), (0, 0)))],
        public_data=True,
    ),
)

TWINS: Final = {
    "broken_second_moment": Target(
        name="whole_second_moment",
        description="the same entry of a second moment with noise for all that one record moves it by",
        sample=sample_whole,
        claim=Claim(WHOLE.claim.guarantee, adjacency=RELATION),
        neighbours=[MOMENT_PAIR],
        public_data=True,
    ),
    "broken_slopes": Target(
        name="cut_slopes",
        description="residuals of ten classes that are cut",
        sample=sample_cut,
        claim=Claim(CUT.claim.guarantee, adjacency=RELATION),
        neighbours=[(((BOUND, 0), (0, 0)), ((-BOUND, 0), (0, 0)))],
        public_data=True,
    ),
}
