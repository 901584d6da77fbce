"""Targets on phased descent: the worst pair of records in a known order, from inside and from outside, and in a secret one."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim
from dpaudit.exact import Exact, positive
from learners.margins.erm import ErmPlan, erm_plan, run
from learners.rows.rows import Rows
from learners.solvers.phased import WEIGHT_BITS, Schedule, phased_sgd, rounded_mean, schedule
from learners.solvers.plans import noise_multiplier
from learners.targets.harness import make_target
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpaudit.targets import Target

_Fitted = TypeVar("_Fitted")

COUNT: Final = 128
BOUND: Final = 2**10

Dataset = tuple[tuple[int, int], ...]
"""One record a pair: its only feature in steps, and its label."""

LEADING: Final[tuple[Dataset, Dataset]] = (((BOUND, 1), *[(0, 0)] * (COUNT - 1)), ((BOUND, 0), *[(0, 0)] * (COUNT - 1)))
"""All features are zero but for the first record's, whose label is the one or the other: nothing hides what it does."""

SECRET: Final[ErmPlan] = erm_plan(records=COUNT, columns=1, bound=BOUND, margin="1/2", epsilon=4, delta="1e-6", by_place=True)
"""A pass whose price is epsilon 4 at delta 1e-6 as long as nobody knows the order."""

_MOST_RUNS: Final = 5000
"""A pass takes a third of a millisecond."""


@dataclass(frozen=True)
class KnownOrder:
    """Passes over `COUNT` records in the order given."""

    schedule: Schedule  # the phases

    @property
    def claim(self) -> Claim:
        """The claim for one record, which is in one phase only."""
        release = self.schedule.releases[0]
        return Claim(GDP(mu=release.sensitivity / release.parameter("sigma")), adjacency=release.adjacency)

    def sample_weights(self, data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
        """Weights after a pass: what an adversary who knows the order sees."""
        rows, order, source = rows_of(data), np.arange(COUNT), source_from(rng)
        return np.concatenate(run_unlogged(lambda: phased_sgd(rows, self.schedule, order, source), count)) / 2.0**WEIGHT_BITS

    def sample_first_mean(self, data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
        """The noisy mean of the first phase, which an adversary inside sees; the mean itself is the same every time."""
        rows, phase = rows_of(data), self.schedule.phases[0]
        mean = rounded_mean(rows, self.schedule, phase, np.arange(phase.records), np.zeros(1))
        return phase.mechanism.releases(mean, count, source_from(rng))[:, 0] * phase.lattice


def sample_secret(data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
    """Weights after a pass in a random order that nobody learns."""
    rows, source = rows_of(data), source_from(rng)
    return np.concatenate(run_unlogged(lambda: run(rows, SECRET, source), count)) / 2.0**WEIGHT_BITS


def run_unlogged(fit: Callable[[], _Fitted], count: int) -> list[_Fitted]:
    """Fits that write to no log: it has no words for releases of which every record takes part in one, and prices them all."""
    return [Context().run(fit) for _ in range(count)]


def rows_of(data: Dataset) -> Rows:
    """Records of one feature as rows."""
    values = np.array(data, dtype=np.int64).reshape(-1, 2)
    return Rows(values[:, :1].astype(np.int32), BOUND, Fraction(1, BOUND), values[:, 1].copy())


def kink(
    records: int, margin: float, bound: int = 2**20
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Neighbours on which descent on the hinge loss with its corner left in moves apart by more than one record's two steps.

    The first record is e_1 with either label. All others have a signed margin exactly at the corner for the starting point, and
    lean towards e_1 by more and more: on one side of the corner each of them drives the iterate further, on the other none does.
    """
    steps = np.zeros((records, records + 2))
    corner = round(margin * bound)
    steps[0, 1] = bound
    for place in range(1, records):
        lean = round(1.1 * margin**2 * place * bound)
        steps[place, [0, 1, place + 1]] = corner, lean, np.floor(np.sqrt(float(bound**2 - corner**2 - lean**2)))
    second = steps.copy()
    second[0] *= -1
    start = np.zeros(records + 2)
    start[0] = 0.5
    return steps / bound, second / bound, start, corner / (2 * bound)


def known_order_targets(epsilon: Exact) -> tuple[Target, Target]:
    """Targets on passes in a known order, seen from inside and from outside."""
    multiplier = noise_multiplier(positive(epsilon, "epsilon"), Fraction(1, 10**5))
    known = KnownOrder(schedule(records=COUNT, columns=1, bound=BOUND, margin="1/2", noise_multiplier=multiplier))
    return make_target(
        "phased_first_mean",
        "the first noisy mean of phased descent in a known order",
        known.sample_first_mean,
        known.claim,
        LEADING,
        learner="MarginClassifier",
    ), make_target(
        "phased_fixed_order",
        "weights after phased descent in a known order, whose first record is the only one that is not zero",
        known.sample_weights,
        known.claim,
        LEADING,
        most_runs=_MOST_RUNS,
    )


TARGETS: Final = (
    *known_order_targets(1),
    make_target(
        "phased_secret_order",
        "weights after phased descent in a secret order",
        sample_secret,
        Claim(ApproxDP(epsilon=4, delta="1e-6"), adjacency="replace_one"),
        LEADING,
        most_runs=_MOST_RUNS,
    ),
)
