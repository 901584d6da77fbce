"""Certified utility of halfspace learners: the margin that a projection keeps, the columns it needs, a bound on the error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.errors import InvalidArgument
from learners.halfspaces.literal import SCORE_BITS
from learners.solvers.phased import WEIGHT_BITS
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from learners.halfspaces.descent import Descent
    from learners.halfspaces.literal import LiteralDescent

_ROUNDED: Final = 1 + 2.0**-40
"""Covers the rounding of the few dozen operations with positive floats that a bound consists of."""

_PARTS: Final = 4
"""A bound may fail by the projection, by the descent, by the choice and by the sample: each gets a quarter of the probability."""


@dataclass(frozen=True)
class HalfspaceBound:
    """A bound on the error of a learned halfspace, where all records have the margin."""

    learned: float  # share of the records that the weights have short of the threshold, at most
    deviation: float  # what the records say less about others than about themselves, in the root of an error rate
    failure: float  # probability with which the bound may not hold, of projection, noise and sample together
    void: str | None = None  # why nothing is promised at all, or None

    @property
    def alpha(self) -> float:
        """The bound on the error rate; infinite where nothing is promised."""
        if self.void is not None:
            return math.inf
        return (self.learned + self.deviation * math.sqrt(self.learned) + self.deviation**2) * _ROUNDED

    @property
    def vacuous(self) -> bool:
        """True if it says nothing: an error rate is never above 1."""
        return self.alpha >= 1

    def __str__(self) -> str:
        """The bound, or that it says nothing, and why."""
        if self.void is not None:
            return f"void: {self.void}"
        return "vacuous" if self.vacuous else f"{self.alpha:.4g}"


def kept_margin(margin: Fraction, *, columns_in: int, columns: int, jl_fraction: Fraction, lattice_bits: int) -> Fraction:
    """The margin that unit records keep on the lattice and behind a map (Nguyen, Ullman, Zakynthinou 2020, Lemma 3)."""
    lost = Fraction(2 * whole_root_above(columns_in), 2**lattice_bits)
    kept = margin - lost
    if columns < columns_in:
        distortion = jl_fraction * margin
        kept = (kept - distortion) / (1 + distortion) - Fraction(2 * whole_root_above(columns), 2**lattice_bits)
    if kept <= 0:
        raise InvalidArgument(
            "DPA103", "margin is lost on the lattice of so many features. Take a larger margin or fewer features."
        )
    return kept


def needed_columns(*, records: int, distortion: Fraction, failure: Fraction) -> int:
    """Columns of random signs that keep the squared norms of 3 n + 1 vectors, up to a part (Achlioptas 2003, Theorem 1.1)."""
    return math.ceil(2 * math.log(2 * (3 * records + 1) / failure) / _exponent(float(distortion)) * _ROUNDED)


def projection_failure(*, records: int, columns: int, distortion: Fraction) -> float:
    """Bound the probability that random signs distort one of these norms (Achlioptas 2003, Theorem 1.1)."""
    return min(1.0, 2 * (3 * records + 1) * math.exp(-columns * _exponent(float(distortion)) / 2) * _ROUNDED)


def descent_bound(plan: Descent, *, failure: float, unmapped: float) -> HalfspaceBound:
    """The bound for noisy descent (Nguyen, Ullman, Zakynthinou 2020, Theorem 2)."""
    part = failure / _PARTS
    # A run has more than e times its mean with probability 1 / e at most: all of them have, with probability e^-runs.
    learned = min(sure_hinge(plan, part), mean_hinge(plan) / part ** (1 / plan.runs))
    if plan.choice is not None:
        learned += 2 * math.log(plan.runs / part) / (float(plan.choice.epsilon) * plan.records)
    return _bound(learned, plan.records, plan.release.dimension, failure, unmapped)


def literal_bound(plan: LiteralDescent, *, failure: float, unmapped: float) -> HalfspaceBound:
    """The bound for the published descent, which returns the last weights of a run (Shamir, Zhang 2013, Theorem 2)."""
    part, slope = failure / _PARTS, plan.bound * 2.0**WEIGHT_BITS / (plan.high - plan.low)
    # In units of the sum of the losses over n: a step has length n L at most, its noise n L times the deviation in m columns.
    squares = 1 + plan.release.dimension * (plan.deviation + 1 / plan.bound) ** 2
    hinge = (2 + math.log(plan.steps)) * 4 * slope * math.sqrt(squares / plan.steps)
    widest = float(plan.choice.sensitivity) / 2**SCORE_BITS
    chosen = 2 * widest * math.log(plan.runs / part) / (float(plan.choice.epsilon) * plan.records)
    learned = hinge / part ** (1 / plan.runs) + chosen
    return _bound(learned, plan.records, plan.release.dimension, failure, unmapped)


def choice_bound(*, candidates: int, records: int, columns: int, epsilon: float, failure: float, unmapped: float) -> HalfspaceBound:
    """The bound for a choice among the points of a net (Nguyen, Ullman, Zakynthinou 2020, Theorem 4)."""
    learned = 2 * math.log(candidates * _PARTS / failure) / (epsilon * records)
    return _bound(learned, records, columns, failure, unmapped)


def mean_hinge(plan: Descent) -> float:
    """Expected mean hinge loss of a run on records that have the threshold as their margin, at most (Zinkevich 2003)."""
    squares = plan.records**2 + plan.release.dimension * (plan.deviation + 1 / plan.bound) ** 2
    return _hinge(plan, squares, 0.0)


def sure_hinge(plan: Descent, failure: float) -> float:
    """Bound the mean hinge loss of a run on records that have the threshold as their margin, but for a failure (Azuma 1967)."""
    width, tail = math.sqrt(plan.release.dimension), math.sqrt(2 * math.log(2 / failure))
    length = plan.records + plan.deviation * (width + tail / math.sqrt(plan.steps)) + width / plan.bound
    return _hinge(plan, length**2, 2 * plan.deviation * math.sqrt(plan.steps) * tail + plan.steps * width / plan.bound)


def _hinge(plan: Descent, squares: float, drift: float) -> float:
    """The regret of steps whose sums have such a mean square, with what noise along the way adds, as a mean hinge loss."""
    rounding = math.sqrt(plan.release.dimension) / 2.0 ** (WEIGHT_BITS - 2)
    regret = 1 / (2 * plan.pace) + plan.pace * plan.steps * squares / 2 + drift + 3 * plan.steps * rounding / plan.pace
    slope = plan.bound * 2.0**WEIGHT_BITS / (plan.high - plan.low)
    return slope * (regret / (plan.records * plan.steps) + rounding) * _ROUNDED


def _bound(learned: float, records: int, columns: int, failure: float, unmapped: float) -> HalfspaceBound:
    """The bound, with what the sample does not say: 4 times the growth function, for differences in units of roots of rates."""
    if unmapped > failure / _PARTS:
        return HalfspaceBound(learned, math.inf, 1.0, "the map has too few columns to keep all margins for sure")
    growth = columns * math.log(2 * math.e * records / columns) if columns < 2 * records else 2 * records * math.log(2)
    deviation = math.sqrt(4 * (math.log(4 * _PARTS / failure) + growth) / records)
    return HalfspaceBound(learned, deviation, failure)


def _exponent(distortion: float) -> float:
    """Of the tail of a squared norm under random signs: t^2 / 2 - t^3 / 3."""
    return distortion**2 / 2 - distortion**3 / 3
