"""Regularised empirical risk minimisers, certified: a public number of steps, a public distance, whatever the records.

The objective is F(w) = mean of loss(margin of a record) + ridge / 2 |w|^2. Its minimiser moves by little when a record is replaced;
the weights that floats find stay within `radius` of it for every dataset, roundings included, and noise is made for both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from flint import arb

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball, ball_endpoints, float_outward, in_range, integer, positive, working_precision
from learners.solvers.losses import Loss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows

_UNIT: Final = Fraction(1, 2**53)
_PRECISION: Final = 128
_BLOCK: Final = 2**14
"""Sums over records are made in blocks of so many, so that roundings stay few."""

_UPDATES: Final = 32
"""Roundings of the three updates of a step together, in units of their size; docs/choices_and_perturbation.md counts 27."""

_SMALLEST: Final = Fraction(1, 2**400)
"""More than all products below the smallest floats amount to."""

_MOST_ROUNDS: Final = 2**17
_LARGEST_OFFSET: Final = 2**60
_ROOM: Final = Fraction(101, 100)
"""More than errors of the second order."""


@dataclass(frozen=True)
class Objective:
    """The plan of a minimisation from public numbers; `objective` makes one (Nesterov 2004, section 2.2)."""

    records: int  # n, their number
    columns: int  # d, of a row
    norm: Fraction  # R, largest L2 norm of a row, in units of the features
    ridge: Fraction  # weight of |w|^2 / 2
    loss: Loss  # of a margin
    rounds: int  # steps that are made
    smoothness: float  # a float, no less than the largest second derivative of the objective
    pace: float  # a float, no more than the root of ridge / smoothness
    radius: Fraction  # the weights that are found are no further from the minimiser, for every dataset
    gradient: Fraction = field(repr=False)  # the gradient there is no longer than this
    error: Fraction = field(repr=False)  # no gradient that floats compute is further off than this
    offset: Fraction  # no margin is shifted further than this

    @property
    def minimiser_sensitivity(self) -> Fraction:
        """L2 distance that the exact minimiser moves at most when one record is replaced: 2 S R / (n ridge)."""
        return 2 * self.loss.steepest * self.norm / (self.records * self.ridge)

    @property
    def sensitivity(self) -> Fraction:
        """L2 distance that the weights which are found move at most when one record is replaced."""
        return self.minimiser_sensitivity + 2 * self.radius

    @property
    def weight_norm(self) -> Fraction:
        """No weights that are found are longer: S R / ridge and the radius."""
        return self.loss.steepest * self.norm / self.ridge + self.radius


def objective(
    *,
    records: int,
    columns: int,
    norm: Exact,
    ridge: Exact,
    loss: Loss | str = "logistic",
    tolerance: Exact = "1/100",
    offset: Exact = 0,
) -> Objective:
    """Plan how many steps bring weights within a public distance of the minimiser (Nesterov 2004, Theorem 2.2.3)."""
    count, width = integer(records, "records", lower=1), integer(columns, "columns", lower=1)
    largest, weight, part = positive(norm, "norm"), positive(ridge, "ridge"), positive(tolerance, "tolerance")
    shift = in_range(offset, "offset", lower=0, upper=_LARGEST_OFFSET)
    chosen = Loss(loss) if isinstance(loss, str) else loss
    if not isinstance(chosen, Loss):
        raise InvalidArgument("DPA105", f"loss must be a Loss or the name of a family, got a {type(loss).__name__}.")
    steep = chosen.steepest * largest
    smoothness = float_outward(chosen.curvature * largest**2 + weight, up=True)
    with working_precision(_PRECISION):
        pace = float_outward(ball_endpoints((ball(weight) / arb(smoothness)).sqrt())[0], up=False)
        if not 0 < pace < math.inf or smoothness == math.inf:
            raise InvalidArgument("DPA108", "norm and ridge leave the range of floats. Scale the features.")
        # Of F(0) - F(w*): from the slope at 0, and, where no margin is shifted, from the loss there.
        above, farthest = steep**2 / (2 * weight), ball(steep / weight)
        if not shift:
            above = min(above, chosen.at_zero) if chosen.at_zero else above
            farthest = min(farthest, (ball(2 * above) / ball(weight)).sqrt(), key=lambda each: float(each.upper()))
        start = ball(2 * above).sqrt()
        apart = 2 * arb(2).sqrt() * start / (arb(pace) * arb(smoothness).sqrt())
        error = _gradient_error(count, width, chosen, largest, weight, shift, farthest + apart)
        each_round = ball(_ROOM) * (
            (2 / arb(smoothness)).sqrt() * error
            + (arb(smoothness) / 2).sqrt() * ball(_UPDATES * _UNIT) * (farthest + 2 * apart + error / arb(smoothness))
            + ball(_SMALLEST)
        )
        lost = 2 * each_round / arb(pace)
        wanted = ball(part * steep / (count * weight)) * (ball(weight) / 2).sqrt()
        rounds = max(1, math.ceil(2 * float((start / wanted).log()) / -math.log1p(-min(pace, 0.999)))) if pace < 1 else 1
        if not bool(lost < start) or rounds > _MOST_ROUNDS:
            raise InvalidArgument(
                "DPA108", "the ridge is too small for these records: weights would not be certain. Give a larger ridge."
            )
        left = (1 - arb(pace)) ** rounds
        ended = left.sqrt() * start + lost
        radius, gradient = (2 / ball(weight)).sqrt() * ended, (2 * arb(smoothness)).sqrt() * ended
        within, slope, off = map(_above, (radius, gradient, error))
        return Objective(count, width, largest, weight, chosen, rounds, smoothness, pace, within, slope, off, shift)


def _gradient_error(count: int, width: int, loss: Loss, norm: Fraction, ridge: Fraction, offset: Fraction, longest: arb) -> arb:
    """Bound how far a gradient computed in floats is off, at weights no longer than `longest`, in whatever order they sum."""
    first, last = loss.ends
    span = Fraction(last) - Fraction(first)
    size = ball(norm) * longest
    margin = ball(_rounded(width + 8)) * size + ball(_UNIT) * (ball(4 * span + 8 * offset) + 4 * size)
    pull = ball(loss.curvature) * margin + ball(4 * _UNIT * loss.steepest)
    terms = min(count, _BLOCK) + -(-count // _BLOCK) + 8
    steep = ball(norm * loss.steepest)
    return ball(norm) * pull + ball(_rounded(terms)) * steep + ball(8 * _UNIT) * (ball(ridge) * longest + steep)


def _rounded(operations: int) -> Fraction:
    """Largest relative error of so many roundings one after the other."""
    return operations * _UNIT / (1 - operations * _UNIT)


def _above(value: arb) -> Fraction:
    """A rational number that a ball does not exceed."""
    return Fraction(float_outward(ball_endpoints(value)[1], up=True))


def minimise(rows: Rows, plan: Objective, offsets: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Weights within `plan.radius` of the minimiser, whatever the records are (Nesterov 2004, section 2.2)."""
    if rows.steps.shape != (plan.records, plan.columns):
        shapes = f"{rows.steps.shape}, the plan is for {(plan.records, plan.columns)}"
        raise InvalidArgument("DPA105", f"the rows have shape {shapes}. Make a plan for these.")
    if rows.bound * rows.step > plan.norm:
        raise InvalidArgument("DPA103", "rows may be longer than the plan allows. Make a plan for their largest norm.")
    slope_at = _Slopes(rows, plan, offsets)
    pace, stride = plan.pace, 1 / (plan.pace * plan.smoothness)
    found = far = np.zeros(plan.columns)
    for _ in range(plan.rounds):
        ahead = (found + pace * far) / (1 + pace)
        slope = slope_at(ahead)
        found = ahead - slope / plan.smoothness
        far = (1 - pace) * far + pace * ahead - stride * slope
    left = float(np.sqrt(np.square(slope_at(found)).sum()))
    if not left <= float(plan.gradient + plan.error) * (1 + 2.0**-20):
        raise AssertionError("weights are further from the minimiser than it was proved that they can be")
    return found


class _Slopes:
    """The gradient of the objective in floats."""

    def __init__(self, rows: Rows, plan: Objective, offsets: NDArray[np.float64] | None) -> None:
        """Records in blocks, each with its side."""
        self._plan, self._step = plan, float(rows.step)
        places = [slice(start, start + _BLOCK) for start in range(0, plan.records, _BLOCK)]
        sides = (2 * rows.labels - 1).astype(np.float64)
        shifts = np.zeros(plan.records) if offsets is None else offsets
        floats: Any = rows.floats
        self._blocks = [(floats if len(places) == 1 else floats[part], sides[part], shifts[part]) for part in places]
        self._ridge, self._share = float(plan.ridge), self._step / plan.records

    def __call__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """At some weights."""
        pulled = np.zeros(len(weights))
        for block, sides, shifts in self._blocks:
            margins = sides * ((block @ weights) * self._step) + shifts
            pulled += block.T @ (sides * self._plan.loss.pulls(margins))
        return np.asarray(self._ridge * weights - self._share * pulled)
