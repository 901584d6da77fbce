"""Targets on boosting: the releases of a fit at scores of zero, as one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.claims import GDP, Adjacency, Claim
from dpaudit.targets import Sensitivity
from learners.boosting.forms import Form, planned_length, row_lengths, sum_slopes
from learners.boosting.plans import LEVEL_ROUNDS, boosting_plan
from learners.boosting.rounds import count_records, one_hot
from learners.estimator import Public
from learners.rows.columns import describe_columns
from learners.solvers.slopes import logistic_slopes
from learners.targets.harness import make_target
from learners.targets.inside import mu_of
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.releases import Release

Binned = tuple[tuple[int, ...], int]
"""The bins of a record, and its label."""

RELATION: Final = Adjacency.of("replace_one")
PLAN: Final = replace(
    boosting_plan(
        Public(4, 2, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), RELATION),
        describe_columns((-1, 1), 2),
        4,
        2,
        regression=False,
    ),
    rounds=4,
)
"""Two columns of four bins and one of missing cells each; the rounds are alike, so that a few show what all do."""

EVEN: Final = [np.ones(size) for size in PLAN.sizes]
FORMS: Final = [Form.of_range(counts, width - 1) for counts, width in zip(EVEN, PLAN.widths, strict=True)]
"""What slopes are summed over where the bins of a column are found to hold as many records each."""

_REST: Final[tuple[Binned, ...]] = (((1, 1), 0),) * 3
LABEL_PAIR: Final = ((((0, 3), 1), *_REST), (((0, 3), 0), *_REST))
"""A record of two long rows with either label: no other pair moves a sum of slopes as far."""

MOVED_PAIR: Final = ((((0, 3), 1), *_REST), (((3, 4), 0), *_REST))
"""A record that is in other bins everywhere: no other pair moves the counts as far."""

_TIMES: Final[tuple[tuple[Release, int], ...]] = ((PLAN.counts, 1), (PLAN.gradient, PLAN.rounds), (PLAN.level, LEVEL_ROUNDS))


def private_sums(records: Sequence[Binned]) -> list[NDArray[np.int64]]:
    """What a fit releases with noise: counts, sums of slopes in all bins, and their sum, at scores of zero."""
    labels = np.array([label for _, label in records], dtype=np.int64)
    rows = one_hot(np.array([bins for bins, _ in records], dtype=np.int64), PLAN.sizes, labels)
    slopes = logistic_slopes(np.zeros(len(labels), dtype=np.int64), labels, 16)
    lengths = row_lengths(rows, FORMS, planned_length(FORMS, EVEN))
    return [count_records(rows, labels, PLAN), sum_slopes(rows, FORMS, lengths, slopes)[:, 0], slopes.sum(keepdims=True)]


def sample_releases(records: Sequence[Binned], count: int, rng: Generator) -> NDArray[np.float64]:
    """The log-likelihood ratio of all releases of fits for the two of `LABEL_PAIR`, at weights that are public beforehand."""
    source, total = source_from(rng), np.zeros(count)
    ends = zip(*map(private_sums, LABEL_PAIR), strict=True)
    for value, (before, after), (release, times) in zip(private_sums(records), ends, _TIMES, strict=True):
        noisy = PLAN.noise(release).releases(value, count * times, source).reshape(count, times, -1)
        total += np.einsum("ijk,k->i", noisy, (after - before) / float(release.parameter("sigma")) ** 2)
    return total


def _at(place: int) -> Any:
    """The function of one of the sums, as an audit of its sensitivity reads it."""
    return lambda records: private_sums(records)[place].tolist()


_CLAIM: Final = Claim(GDP(mu=mu_of([release for release, times in _TIMES for _ in range(times)])), adjacency=RELATION)

TARGETS: Final = (
    make_target(
        "boosting_releases",
        "counts, four rounds and level of boosting with two columns; one of four records changes its label",
        sample_releases,
        _CLAIM,
        LABEL_PAIR,
        learner="PrivateBoostingClassifier",
        sensitivity=Sensitivity(_at(1), PLAN.gradient.sensitivity, "l2"),
    ),
    make_target(
        "boosting_counts",
        "noisy counts of boosting with two columns; one of four records moves to other bins",
        lambda records, count, rng: (
            PLAN.noise(PLAN.counts).releases(private_sums(records)[0], count, source_from(rng))
            @ (private_sums(MOVED_PAIR[1])[0] - private_sums(MOVED_PAIR[0])[0])
            / float(PLAN.counts.parameter("sigma")) ** 2
        ),
        Claim(GDP(mu=mu_of([PLAN.counts])), adjacency=RELATION),
        MOVED_PAIR,
        learner="PrivateBoostingClassifier",
        sensitivity=Sensitivity(_at(0), PLAN.counts.sensitivity, "l2"),
    ),
)
