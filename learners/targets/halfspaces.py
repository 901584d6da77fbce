"""Targets on halfspaces: the worst pairs of records for sums of descent, for the net, and for a choice after a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from dpaudit.claims import GDP, Adjacency, ApproxDP, Claim
from dpaudit.targets import Sensitivity
from learners.choices.counts import Listed, errors, signs, totals
from learners.choices.levels import counts_mechanism
from learners.estimator import Public
from learners.halfspaces.descent import Descent, active_sum, descend, descent
from learners.halfspaces.pure_halfspace import net_errors, shell_net
from learners.rows.images import dense
from learners.rows.rows import Rows
from learners.solvers.phased import WEIGHT_BITS
from learners.solvers.plans import noise_multiplier
from learners.targets.choices import COUNTS, ONE, Record, rows_of
from learners.targets.harness import Choice, law_of, make_target
from learners.targets.inside import WatchedPlan, mu_of
from mechanisms.exponential import ExponentialMechanism
from mechanisms.gaussian import GaussianMechanism
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from learners.solvers.plans import SolverPlan

RELATION: Final = Adjacency.of("replace_one")
NET: Final = shell_net(dimension=2, margin="3/10")
EPSILON: Final = 2
DELTA: Final = Fraction(1, 50)
PROMISED: Final = Claim(ApproxDP(epsilon=EPSILON, delta=DELTA), adjacency=RELATION)

_COLUMNS: Final = 64
_MOST_RUNS: Final = 1000
_HIGH: Final = (ONE << WEIGHT_BITS) * 2 // 3
_PUBLIC: Final = Public(1, _COLUMNS, 2, Fraction(1), Fraction(EPSILON), DELTA, RELATION)

PLAN: Final = descent(_PUBLIC, columns=_COLUMNS, bound=ONE, high=_HIGH, low=_HIGH // 10, runs=1, choice_share=Fraction(1, 10))
"""A run of 20 sums on one record: its weights have so many columns that they seldom give it a margin."""

_EAST, _WEST = ((ONE, 0), 1), ((ONE, 0), 0)
SIDES: Final[tuple[tuple[Record, ...], tuple[Record, ...]]] = ((_EAST,), (_WEST,))
"""A record of norm one with either label: no other pair moves a sum as far."""

SIX: Final = Listed(np.array([[1, -1, -1, -1, -1, -1], [0, 0, 0, 0, 0, 0]]))
"""What six runs may have found: one of them is right about a record, or five are."""


@dataclass(frozen=True)
class RunAndChoice:
    """A run and a choice after it, as two mechanisms."""

    sums: GaussianMechanism  # noise of a sum of unit records
    choice: ExponentialMechanism  # among six candidates, by errors

    @classmethod
    def at(cls, run: int | Fraction, choice: int | Fraction) -> RunAndChoice:
        """Noise of the least size for some epsilon at `DELTA`, and a choice at another epsilon."""
        multiplier = noise_multiplier(Fraction(run), DELTA)
        sums = GaussianMechanism(sensitivity=2 * ONE, noise_multiplier=multiplier, lattice=ONE, adjacency=RELATION)
        return cls(sums, counts_mechanism(epsilon=Fraction(choice), adjacency=RELATION))

    def sample(self, records: tuple[Record, ...], count: int, rng: Generator) -> NDArray[np.float64]:
        """The log-likelihood ratio of what both release: the first of `SIDES` against the second."""
        source = source_from(rng)
        first, second = (_first_sum(side)[0] for side in SIDES)
        noisy = self.sums.releases(_first_sum(records), count, source)[:, 0]
        summed = (noisy - (first + second) / 2) * (first - second) / float(self.sums.sigma) ** 2
        chosen = self.choice.releases(-_six_errors(records), count, source)
        laws = [law_of(_six_errors(side), self.choice.temperature) for side in SIDES]
        ratios = np.array([math.log(laws[0][place] / laws[1][place]) for place in range(SIX.size)])
        return np.asarray(summed + ratios[chosen])


SHARED: Final = RunAndChoice.at(Fraction(EPSILON, 2), Fraction(EPSILON, 2))
"""A run and a choice that pay half of epsilon each."""


def transcript(rows: Rows, plan: Descent, rng: Generator) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Every sum of all runs before and after its noise, in order."""
    watched = WatchedPlan(cast("SolverPlan", plan), [], noisy=True)
    descend(rows, cast("Descent", watched), source_from(rng))
    return watched.seen


def wide_rows(records: Sequence[Record]) -> Rows:
    """Records as rows of as many columns as the plan has."""
    narrow = rows_of(records)
    steps = np.zeros((len(narrow.labels), _COLUMNS), dtype=np.int32)
    steps[:, :2] = dense(narrow, np.int32)
    return Rows(steps, narrow.bound, narrow.step, narrow.labels)


def net_counts(records: Sequence[Record]) -> NDArray[np.int64]:
    """Count the records that each point of the net has short of the threshold."""
    return net_errors(rows_of(records), NET)


@cache
def _first_sum(records: tuple[Record, ...]) -> NDArray[np.int64]:
    """The first sum of a run, at weights of zero."""
    rows = rows_of(records)
    return active_sum(rows, signs(rows.labels), np.zeros(2, dtype=np.int64), _HIGH)


def _six_errors(records: tuple[Record, ...]) -> NDArray[np.int64]:
    """Errors of the six."""
    return totals(rows_of(records), SIX, errors())


def sample_sum(records: tuple[Record, ...], count: int, rng: Generator) -> NDArray[np.float64]:
    """The first noisy sum of a run along its record, in units of the record's norm."""
    return PLAN.noise(PLAN.release).releases(_first_sum(records), count, source_from(rng))[:, 0] / ONE


def sample_runs(records: Sequence[Record], count: int, rng: Generator) -> NDArray[np.float64]:
    """How far all noisy sums of a run together pull along its record, in units of the record's norm."""
    rows = wide_rows(records)
    return np.array([sum(float(noisy[0]) for _, noisy in transcript(rows, PLAN, rng)) for _ in range(count)]) / ONE


_HALF_EAST: Final = (_EAST,) * 5 + (_WEST,) * 5

TARGETS: Final = (
    Choice(net_counts, COUNTS).target(
        "halfspace_net",
        "a point of the net of the circle by records short of a margin; one of ten records changes its label",
        ((_EAST,) * 10, (*(_EAST,) * 9, _WEST)),
        (_HALF_EAST, (*_HALF_EAST[:9], _EAST)),
        learner="PureHalfspaceClassifier",
    ),
    make_target(
        "halfspace_first_sum",
        "the first noisy sum of descent on unit records; one record changes its label",
        sample_sum,
        Claim(GDP(mu=mu_of([PLAN.release])), adjacency=RELATION),
        SIDES,
        learner="HalfspaceClassifier",
        sensitivity=Sensitivity(query=_first_sum, bound=2 * ONE, metric="l2"),
    ),
    make_target(
        "halfspace_run_and_choice",
        "a noisy sum and a choice among six candidates that pay half of epsilon each: their log-likelihood ratio",
        SHARED.sample,
        PROMISED,
        SIDES,
        learner="HalfspaceClassifier",
    ),
    make_target(
        "halfspace_all_sums",
        "all noisy sums of whole runs of descent on a record; it changes its label",
        sample_runs,
        Claim(GDP(mu=mu_of(PLAN.charges[0].releases)), adjacency=RELATION),
        SIDES,
        learner="HalfspaceClassifier",
        most_runs=_MOST_RUNS,
    ),
)
