"""Targets on phased descent: the worst pair of records in a known order, from inside and from outside, and in a secret one."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim
from dpaudit.targets import Target
from learners.margins.erm import ErmPlan, erm_plan, run
from learners.rows.rows import Rows
from learners.solvers.hinge import HingeStep
from learners.solvers.phased import WEIGHT_BITS, mean_of_iterates, phased_sgd, rounded_mean
from mechanisms.sampling.random import source_from

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

COUNT: Final = 128
BOUND: Final = 2**10

PLAN: Final[ErmPlan] = erm_plan(records=COUNT, columns=1, bound=BOUND, margin="1/2", epsilon=4, delta="1e-6", by_place=True)
"""A pass whose price is epsilon 4 at delta 1e-6 as long as nobody knows the order."""

_RELEASE: Final = PLAN.schedule.releases[0]
_FIXED: Final = Claim(GDP(mu=_RELEASE.sensitivity / _RELEASE.parameter("sigma")), adjacency="replace_one")

Dataset = tuple[tuple[int, int], ...]
"""One record a pair: its only feature in steps, and its label."""

LEADING: Final[tuple[Dataset, Dataset]] = (
    ((BOUND, 1), *[(0, 0)] * (COUNT - 1)),
    ((BOUND, 0), *[(0, 0)] * (COUNT - 1)),
)
"""All features are zero but for the first record's, whose label is the one or the other: nothing hides what it does."""


def sample_weights(data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
    """Weights after a pass in the order in which the records stand: what an adversary who knows the order sees."""
    rows, order, source = _rows(data), np.arange(COUNT), source_from(rng)
    found = [phased_sgd(rows, PLAN.schedule, order, source) for _ in range(count)]
    return np.concatenate(found) / 2.0**WEIGHT_BITS


def sample_first_mean(data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
    """The noisy mean of the first phase of such a pass, which an adversary inside sees; the mean itself is the same every time."""
    rows, phase = _rows(data), PLAN.schedule.phases[0]
    mean = rounded_mean(rows, PLAN.schedule, phase, np.arange(phase.records), np.zeros(1))
    return phase.mechanism.releases(mean, count, source_from(rng))[:, 0] * phase.lattice


def sample_secret(data: Dataset, count: int, rng: Generator) -> NDArray[np.float64]:
    """Weights after a pass in a random order that nobody learns."""
    rows, source = _rows(data), source_from(rng)
    return np.concatenate([run(rows, PLAN, source) for _ in range(count)]) / 2.0**WEIGHT_BITS


def kink(
    records: int, margin: float, bound: int = 2**20
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Neighbours on which descent on the hinge loss with its corner left in moves apart by more than one record's two steps.

    The first record is e_1 with either label. All others have a signed margin exactly at the corner for the starting point, and
    lean towards e_1 by more and more: on one side of the corner each of them drives the iterate further, on the other none does.

    Args:
      records: how many, n, at least 2.
      margin: of the loss, for weights in a ball of radius 2 that start at e_0, at most 1/10.
      bound: norm of the rows in steps.
    Returns:
      Two arrays (n, n + 2) of records with the signs of their labels, the start, and the margin: exact floats, in units in which
      records and the ball of weights have norm 1.
    Raises:
      ValueError: for shapes that numpy refuses.
    Source: docs/margin_learners.md, "Why the corner must be smooth".
    Example:
      >>> first, second, start, corner = kink(3, 0.05)
      >>> bool(np.all(first[1:] == second[1:])), (first[1:] @ start == corner).tolist()
      (True, [True, True])
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


def moved_apart(first: NDArray[np.float64], second: NDArray[np.float64], start: NDArray[np.float64], step: HingeStep) -> float:
    """Distance of the means of the iterates of two neighbours, relative to what their first record may move it by.

    Args:
      first: records of the one with the signs of their labels.
      second: those of the other, which differ in the first record.
      start: where both start.
      step: the step of one record.
    Returns:
      At most 1 for steps that are contractions, up to rounding.
    Raises:
      ValueError: for shapes that do not fit.
    Source: docs/margin_learners.md, Theorem 1.
    Example:
      >>> moved_apart(*kink(5, 0.05)[:3], HingeStep(0.025, 2.0, 1e-4)) <= 1
      True
    """
    distance = mean_of_iterates(first, start, step) - mean_of_iterates(second, start, step)
    count = len(first)
    return float(np.linalg.norm(distance)) / (2 * step.limit * (count - 1) / count)


def _rows(data: Dataset) -> Rows:
    """A dataset as rows of one column."""
    values = np.array(data, dtype=np.int64).reshape(-1, 2)
    return Rows(values[:, :1].astype(np.int32), BOUND, Fraction(1, BOUND), values[:, 1].copy())


TARGETS: Final = (
    Target(
        name="phased_fixed_order",
        description="weights after phased descent in a known order, whose first record is the only one that is not zero",
        sample=sample_weights,
        claim=_FIXED,
        neighbours=[LEADING],
        public_data=True,
    ),
    Target(
        name="phased_first_mean",
        description="the first noisy mean of phased descent in a known order",
        sample=sample_first_mean,
        claim=_FIXED,
        neighbours=[LEADING],
        public_data=True,
    ),
    Target(
        name="phased_secret_order",
        description="weights after phased descent in a secret order",
        sample=sample_secret,
        claim=Claim(ApproxDP(epsilon=4, delta="1e-6"), adjacency="replace_one"),
        neighbours=[LEADING],
        public_data=True,
    ),
)
