"""Certified utility: explicit bounds on the excess risk of phased descent and of its classifiers, or "vacuous"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpaudit.exact import Exact, in_range, integer
from learners.rows.labels import outputs_of

if TYPE_CHECKING:
    from learners.margins.erm import ErmPlan
    from learners.solvers.phased import Phase, Schedule

_ROUNDED: Final = 1 + 2.0**-40
"""Covers the rounding of the few dozen operations with positive floats that a bound consists of."""


@dataclass(frozen=True)
class UtilityBound:
    """A bound on the risk above the least mean hinge loss of any weights in the ball, by reason."""

    projection: float  # cost of a random projection to fewer columns, in expectation over the projection
    deviation: float  # by how much the risk may exceed the mean loss on the records
    descent: float  # excess risk of the phases, with their noise
    choice: float  # excess of the private choice among passes
    failure: float  # probability with which the bound may not hold

    @property
    def alpha(self) -> float:
        """The sum: the risk is at most the least mean hinge loss plus this."""
        return (self.projection + self.deviation + self.descent + self.choice) * _ROUNDED

    @property
    def vacuous(self) -> bool:
        """True if the bound says nothing: a risk is never above 1."""
        return self.alpha >= 1

    def __str__(self) -> str:
        """The sum, or "vacuous"."""
        return "vacuous" if self.vacuous else f"{self.alpha:.4g}"


def mean_excess(plan: Schedule) -> float:
    """Expected excess hinge risk of one pass over independent records, over that of any fixed weights in the ball.

    With step sizes e_i, deviations s_i, n_i records and L = r / margin, phase i adds a_i^2 / (2 e_i n_i) + e_i L^2 / 2, where a_1
    is the radius and a_i^2 = k s_(i-1)^2 afterwards; the last noise adds L sqrt(k) s_K and the smoothing L^2 / (2 beta).

    Source: Feldman, Koren, Talwar 2020, Theorem 4.4.
    """
    if not plan.phases:
        return math.inf
    reached, total = 1.0, 0.0
    for phase in plan.phases:
        total += reached**2 / (2 * _step_size(phase) * phase.records) + _step_size(phase) * _slope(plan) ** 2 / 2
        reached = math.sqrt(plan.columns) * _deviation(phase)
    return (total + _slope(plan) * reached + _smoothing(plan)) * _ROUNDED


def sure_excess(plan: Schedule, failure: Exact) -> float:
    """Excess hinge risk of one pass over independent records that is exceeded with a small probability only.

    Phase i adds L R_i sqrt(2 log(1/b_i) / n_i) to what it adds in expectation, with b_i = failure / (4 i^2), lengths of noise
    a_i = s_(i-1) (sqrt(k) + sqrt(2 log(1/b_i))) and distances R_1 = 2, R_i = a_i + e_i L n_i.

    Source: Azuma 1967.
    """
    risk = float(in_range(failure, "failure", lower=0, upper=1, lower_open=True, upper_open=True))
    if not plan.phases:
        return math.inf
    slope, noise, total = _slope(plan), 0.0, 0.0
    for index, phase in enumerate(plan.phases, start=1):
        unlikely = 2 * math.log(4 * index**2 / risk)
        length = 1.0 if index == 1 else noise * (math.sqrt(plan.columns) + math.sqrt(unlikely))
        distance = 2.0 if index == 1 else min(2.0, length + _step_size(phase) * slope * phase.records)
        total += length**2 / (2 * _step_size(phase) * phase.records) + _step_size(phase) * slope**2 / 2
        total += slope * distance * math.sqrt(unlikely / phase.records)
        noise = _deviation(phase)
    last = 2 * math.log(4 * (len(plan.phases) + 1) ** 2 / risk)
    return (total + slope * noise * (math.sqrt(plan.columns) + math.sqrt(last)) + _smoothing(plan)) * _ROUNDED


def utility_bound(plan: ErmPlan, *, failure: Exact = "1/20", dimension_in: int | None = None, classes: int = 2) -> UtilityBound:
    """Bound how far the risk of a classifier exceeds the least mean hinge loss on its records.

    The records are taken to be independent draws, used once in a pass; for passes with replacement nothing is claimed. For K
    classes the risk is at most K - 1 times the least mean hinge loss against rivals, plus the bound.

    Source: Bassily, Mohri, Suresh 2022, Theorem 3.2.
    """
    risk = in_range(failure, "failure", lower=0, upper=1, lower_open=True, upper_open=True)
    made, count, passes = plan.schedule, plan.schedule.records, plan.rounds
    if plan.replacement or not made.phases:
        return UtilityBound(0.0, 0.0, math.inf, 0.0, float(risk))
    slope, part = _slope(made), float(risk) / (2 if plan.choice is None else 3)
    rivals, width = classes - 1, made.columns // outputs_of(classes)
    projected = dimension_in is not None and integer(dimension_in, "dimension_in", lower=1) > width
    projection = slope * math.sqrt(2 / width) if projected else 0.0
    deviation = 2 * slope / math.sqrt(count) + 3 * math.sqrt(math.log(6 / part) / (2 * count))
    if plan.choice is None:
        return UtilityBound(projection * rivals, deviation * rivals, sure_excess(made, risk / 2) * rivals, 0.0, float(risk))
    # Each pass is worse than 1/q times its expectation with probability q at most: all of them with q**passes = part.
    descent = mean_excess(made) / part ** (1 / passes)
    change = min(2 * slope, 1 + slope) if plan.chosen_by == "hinge" else 1.0
    choice = 2 * change * math.log(passes / part) / (float(plan.choice.epsilon) * count)
    return UtilityBound(projection * rivals, deviation * rivals, descent * rivals, choice * rivals, float(risk))


def _step_size(phase: Phase) -> float:
    """The step size e: the limit on a step is e times the steepest slope, 1 / margin."""
    return phase.step.limit * phase.step.margin


def _slope(plan: Schedule) -> float:
    """L, the largest norm of a gradient."""
    return float(plan.norm) / plan.phases[0].step.margin


def _smoothing(plan: Schedule) -> float:
    """Return by how much the smoothed loss is below the hinge loss at most."""
    first = plan.phases[0].step
    return first.limit / (2 * first.pull * first.margin)


def _deviation(phase: Phase) -> float:
    """Standard deviation of a released entry, with the rounding to the lattice and the drift, which the sensitivity exceeds."""
    return (float(phase.release.parameter("sigma")) + 1) * phase.lattice
