"""Full-batch descent: each step reads the records once, by a sum of theirs with exact Gaussian noise, and moves by that alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from learners.solvers.newton import newton_steps, normal_model
from learners.solvers.pooling import Pool, pooled_steps
from learners.solvers.profile import Standard, sum_profile
from learners.solvers.quasi_newton import preconditioner, release_axes
from learners.solvers.slopes import LOGISTIC, SOFTMAX, UNIT, SlopeRule, balance, weigh_records, weighted_rule
from learners.solvers.whitening import whiten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows
    from learners.solvers.newton import Move
    from learners.solvers.plans import SolverPlan
    from learners.solvers.whitening import Whitened
    from mechanisms.sampling.random import BitSource

WEIGHT_BITS: Final = 16
"""Records meet weights that are multiples of 2**-16."""

_FIRST_KEPT: Final = 2
"""Steps from the best score of all records alike are averaged from this one on."""

_LONGEST: Final = 2.0**20
_DEVIATIONS: Final = 4
"""Inner products of noisy gradients are noise within so many deviations of those of noise alone."""


def solve(rows: Rows, plan: SolverPlan, source: BitSource | None = None, loss: SlopeRule | None = None) -> NDArray[np.int64]:
    """Learn linear weights from the planned releases alone (Bassily, Smith, Thakurta 2014, noisy gradients)."""
    if rows.bound > plan.bound:
        raise InvalidArgument(
            "DPA103",
            f"rows may have {rows.bound} steps, the plan allows {plan.bound}. Use the plan's lattice and intercept.",
        )
    used = loss or linear_rule(plan.outputs)
    if plan.profile is not None:
        return _descend_standard(rows, plan, source, used)
    if plan.moment is not None:
        return on_lattice(_descend(rows, plan, source, used, preconditioner(rows, plan, source, used)))
    return on_lattice(_descend(rows, plan, source, used, _paced(plan, careful=used.careful)))


def _descend_standard(rows: Rows, plan: SolverPlan, source: BitSource | None, loss: SlopeRule) -> NDArray[np.int64]:
    """Quasi-Newton steps on rows made standard by the released profiles, from the best score of all records alike."""
    if plan.profile is None:
        raise ValueError("the plan has no profile")
    weighted = plan.profile.dimension % 3 == 2
    standard, made = Standard.unread(rows.steps.shape[1] - 1), rows
    for _ in range(plan.profiles):
        sums = sum_profile(made, plan.lattice_bits, weighted=weighted)
        standard = standard.refine(plan.noise(plan.profile).release(sums, source), plan)
        made = standard.apply(rows, plan)
    rule = weighted_rule(loss, balance(standard.share)) if loss.balanced else loss
    rule = replace(rule, strength=standard.weight)
    start = np.zeros(rows.steps.shape[1])
    if rule.start is not None:
        start[-1] = rule.start(standard.share) / (plan.intercept / 2.0**plan.lattice_bits)
    axes = release_axes(made, plan, source, rule)
    if rule.likely is not None and standard.known:
        pooled = _descend_whitened(whiten(standard, rows, axes, plan), plan, source, rule, start, standard)
        return on_lattice(standard.undo(pooled, plan))
    model = normal_model(axes, plan, rule)
    weights = _descend(made, plan, source, rule, newton_steps(model, rule), start, _FIRST_KEPT)
    return on_lattice(standard.undo(weights, plan))


def _descend_whitened(
    white: Whitened,
    plan: SolverPlan,
    source: BitSource | None,
    rule: SlopeRule,
    start: NDArray[np.float64],
    standard: Standard,
) -> NDArray[np.float64]:
    """Weights of standard rows by all gradients together, of rows that vary alike in every direction."""
    if rule.likely is None:
        raise ValueError("the loss has no probabilities")
    model = normal_model(white.axes, plan, rule)
    deviation = white.axes.noise / math.sqrt(plan.steps)
    pool = Pool(model, white.axes.inward(start), standard.released_share(plan, rule.likely), deviation)
    weights = _descend(white.short, plan, source, rule, pooled_steps(pool), start, plan.steps - 1, white.far)
    return np.asarray(np.einsum("ij,j->i", white.back, weights))


def linear_rule(outputs: int, weights: tuple[int, ...] | None = None, *, balanced: bool = False) -> SlopeRule:
    """The loss of the default rule, with public weights of the classes if there are any, or weights by their released share."""
    rule = SOFTMAX if outputs > 1 else replace(LOGISTIC, balanced=balanced)
    return rule if weights is None else weighted_rule(rule, weights)


def _paced(plan: SolverPlan, *, careful: bool) -> Move:
    """Steps of one length; if careful, half as long from where a noisy gradient turns against the last one by more than noise."""
    pace, before = float(plan.travel) / (plan.steps * plan.records), np.zeros(plan.gradient.dimension * careful, dtype=np.float32)
    variance = (float(plan.gradient.parameter("sigma")) / float(UNIT << plan.lattice_bits)) ** 2
    usual = _DEVIATIONS * variance * math.sqrt(plan.gradient.dimension)

    def move(slope: NDArray[np.float64], _weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step, in place."""
        nonlocal pace, before
        if careful:
            if np.einsum("i,i->", slope.ravel(), before) < -usual:  # sums of its own loops, which no number of threads changes
                pace /= 2
            before = slope.ravel().astype(np.float32)
        return np.multiply(slope, pace, out=slope)

    return move


def on_lattice(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as multiples of 2**-WEIGHT_BITS, scaled down before where their norm might exceed 2**20."""
    longest = max(float(weights.max()), -float(weights.min())) * math.sqrt(weights.size)
    steps = weights * 2.0**WEIGHT_BITS
    if longest > _LONGEST:  # else no column's norm comes near it
        steps *= _LONGEST / longest
    return np.rint(steps, out=steps).astype(np.int64)


def _descend(
    rows: Rows,
    plan: SolverPlan,
    source: BitSource | None,
    loss: SlopeRule,
    move: Move,
    start: NDArray[np.float64] | None = None,
    kept: int | None = None,
    far: Rows | None = None,
) -> NDArray[np.float64]:
    """The planned steps from a start, or zero, each a function of a released sum; averaged from one on, or the later half.

    Margins are those of the same records in `far`, if given, whose rows may be longer: slopes have their bound all the same.
    """
    shape = (rows.steps.shape[1], plan.outputs) if plan.outputs > 1 else rows.steps.shape[1:]
    weights, later = np.zeros(shape) if start is None else start, np.zeros(shape)
    first, noise = (plan.steps + 1) // 2 if kept is None else kept, plan.noise(plan.gradient)
    for step in range(plan.steps):
        slopes = loss.slopes((far or rows).margins(on_lattice(weights)), rows.labels, plan.lattice_bits + WEIGHT_BITS)
        slopes = weigh_records(slopes, rows.weights)
        slope = noise.release(rows.weighted_sum(slopes), source) / float(UNIT << plan.lattice_bits)
        if plan.outputs > 1:
            slope -= slope.mean(axis=1, keepdims=True)  # a record's slopes sum to zero, but for roundings: this is noise
        weights = weights + move(slope, weights)
        if step >= first:
            later += weights
    return later / (plan.steps - first)
