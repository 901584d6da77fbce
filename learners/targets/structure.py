"""Targets on estimators without labels: the moment of PrivatePCA, clusters of PrivateKMeans, counts and ends of PrivateRanges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import GDP, Adjacency, ApproxDP, Claim
from dpaudit.targets import Sensitivity
from learners.estimator import Public
from learners.rows.columns import describe_columns
from learners.rows.rows import Rows, row_bound
from learners.solvers.plans import mechanism_of
from learners.structure.kmeans import ROUNDS, cluster_plan, sum_clusters
from learners.structure.moments import moment_triangle
from learners.structure.pca import moment_plan
from learners.structure.ranges import narrow_ranges, range_rows, ranges_plan, sum_bins
from learners.targets.harness import make_target
from learners.targets.inside import mu_of
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.releases import Release

Cells = Sequence[tuple[float, ...]]
"""Numbers of two columns, NaN where a cell is missing."""

Records = Sequence[tuple[int, ...]]
"""Features in steps, together no longer than the plan's largest norm."""

RELATION: Final = Adjacency.of("replace_one")
_PUBLIC: Final = Public(4, 2, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), RELATION)
PLAN: Final = moment_plan(_PUBLIC)
CLUSTERS: Final = cluster_plan(_PUBLIC, 2)
RANGES: Final = ranges_plan(_PUBLIC, describe_columns((0, 1000), 2))

_ONE: Final = 1 << PLAN.lattice_bits
_REST: Final = ((0, 0),) * 3
TURN_PAIR: Final = (((_ONE, 0), *_REST), ((-_ONE // 4, math.isqrt(_ONE**2 - (_ONE // 4) ** 2)), *_REST))
"""A record that turns so far that, with the constant, it stands at a right angle: no other pair moves the second moment as far."""

CENTRES: Final = np.array([[_ONE, 0], [-_ONE, 0]], dtype=np.float64)
SIDE_PAIR: Final = (((_ONE, 0), *_REST), ((-_ONE, 0), *_REST))
"""A record that goes over to the other cluster."""

MOVED_PAIR: Final = (((1000.0, 1000.0), *((0.0, 0.0),) * 3), ((0.0, math.nan), *((0.0, 0.0),) * 3))
"""A record in other bins everywhere: no other pair moves the counts as far."""


def rows_of(records: Records, constant: int) -> Rows:
    """Records as rows with a constant."""
    steps = np.array([(*features, constant) for features in records], dtype=np.int32)
    bound = row_bound(PLAN.lattice_bits, constant)
    return Rows(steps, bound, Fraction(1, _ONE), np.zeros(len(records), dtype=np.int64))


def triangle(records: Records) -> NDArray[np.int64]:
    """What `PrivatePCA` releases with noise."""
    return moment_triangle(rows_of(records, PLAN.intercept))


def clusters(records: Records) -> NDArray[np.int64]:
    """What a round of `PrivateKMeans` releases with noise, at centres that are public beforehand."""
    return sum_clusters(rows_of(records, CLUSTERS.intercept), CENTRES).ravel()


def bins(records: Cells) -> NDArray[np.int64]:
    """What `PrivateRanges` releases with noise."""
    return sum_bins(range_rows(np.array(records, dtype=np.float64), np.zeros(len(records), dtype=np.int64), RANGES))


def sample_ends(records: Cells, count: int, rng: Generator) -> NDArray[np.float64]:
    """The released ranges of as many fits, one in each row: all that somebody outside sees."""
    noisy = mechanism_of(RANGES.counts).releases(bins(records), count, source_from(rng))
    return np.array([narrow_ranges(each, RANGES, Fraction(1, 200)).ravel() for each in noisy])


def sample_ratio(
    records: Any, count: int, rng: Generator, *, value: Any, pair: tuple[Any, Any], release: Release, times: int
) -> NDArray[np.float64]:
    """The log-likelihood ratio of as many releases of a value for the two of a pair."""
    noisy = mechanism_of(release).releases(value(records), count * times, source_from(rng)).reshape(count, times, -1)
    direction = (value(pair[1]) - value(pair[0])) / float(release.parameter("sigma")) ** 2
    return np.asarray(np.einsum("ijk,k->i", noisy, direction))


TARGETS: Final = (
    make_target(
        "pca_moment",
        "the second moment of principal directions of two columns; one of four records turns by a right angle",
        partial(sample_ratio, value=triangle, pair=TURN_PAIR, release=PLAN.moment, times=1),
        Claim(GDP(mu=mu_of([PLAN.moment])), adjacency=RELATION),
        TURN_PAIR,
        learner="PrivatePCA",
        sensitivity=Sensitivity(lambda records: triangle(records).tolist(), PLAN.moment.sensitivity, "l2"),
    ),
    make_target(
        "kmeans_rounds",
        "all rounds of sums and counts of two clusters; one of four records goes over to the other cluster",
        partial(sample_ratio, value=clusters, pair=SIDE_PAIR, release=CLUSTERS.sums, times=ROUNDS),
        Claim(GDP(mu=mu_of([CLUSTERS.sums] * ROUNDS)), adjacency=RELATION),
        SIDE_PAIR,
        learner="PrivateKMeans",
        sensitivity=Sensitivity(lambda records: clusters(records).tolist(), CLUSTERS.sums.sensitivity, "l2"),
    ),
    make_target(
        "ranges_counts",
        "counts of all bins of two columns; one of four records moves to other bins",
        partial(sample_ratio, value=bins, pair=MOVED_PAIR, release=RANGES.counts, times=1),
        Claim(GDP(mu=mu_of([RANGES.counts])), adjacency=RELATION),
        MOVED_PAIR,
        learner="PrivateRanges",
        sensitivity=Sensitivity(lambda records: bins(records).tolist(), RANGES.counts.sensitivity, "l2"),
    ),
    make_target(
        "ranges_ends",
        "ranges of two columns as they are released; one of four records moves to other bins",
        sample_ends,
        Claim(ApproxDP(epsilon=1, delta="1e-5"), adjacency=RELATION),
        MOVED_PAIR,
        learner="PrivateRanges",
    ),
)
