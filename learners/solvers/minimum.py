"""The regularised minimiser in integers, from which kernel learners answer and which perturbation releases with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from dpaudit.errors import InvalidArgument
from learners.rows.labels import TARGET_UNIT
from learners.solvers.certified import Objective, objective
from learners.solvers.certified import minimise as minimised
from learners.solvers.losses import Loss
from mechanisms.roots import root_above, whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.rows.rows import Rows

IMAGE_BITS: Final = 20
"""Images of records are integers of norm at most 2**20, which stands for 1."""

_FINENESS: Final = 2**9
"""Rounding the minimiser moves it by less than one over this of what a record may move it by."""

_ROOM: Final = 2**62


@dataclass(frozen=True)
class Minimum:
    """The public part of a minimiser that a fit will find (Chaudhuri, Monteleoni, Sarwate 2011, Lemma 8)."""

    objective: Objective  # what is minimised over images of norm at most 1, and how closely
    weight_bits: int  # weights are rounded to multiples of 2**-weight_bits
    sensitivity: int  # L2 distance of the rounded weights on neighbours, in these units, rounded up

    @property
    def largest(self) -> int:
        """Norm of the rounded weights, in their units, rounded up."""
        root = whole_root_above(self.objective.columns)
        return math.ceil(self.objective.weight_norm * (1 << self.weight_bits)) + root

    @property
    def longest(self) -> Fraction:
        """Norm that the exact minimiser does not exceed, whatever the records are."""
        # The gradient of the mean loss is at most the steepest slope, and ridge / 2 |w|^2 at most the loss at 0.
        plan = self.objective
        at_zero = plan.offset**2 / 2 if self.residual else plan.loss.at_zero
        return min(plan.loss.steepest / plan.ridge, root_above(2 * at_zero / plan.ridge))

    @property
    def residual(self) -> bool:
        """True if labels are targets, of size at most 1, and not classes."""
        return self.objective.loss.family == "residual"


def minimum(*, records: int, columns: int, ridge: Exact, loss: Loss | str = "logistic") -> Minimum:
    """The public part of a minimiser."""
    chosen = Loss(loss) if isinstance(loss, str) else loss
    plan = objective(records=records, columns=columns, norm=1, ridge=ridge, loss=chosen, offset=int(chosen.family == "residual"))
    root = whole_root_above(columns)
    bits = max(0, math.ceil(_FINENESS * root / plan.sensitivity).bit_length())
    found = Minimum(plan, bits, math.ceil(plan.sensitivity * 2**bits) + root)
    if found.largest << IMAGE_BITS >= _ROOM:
        raise InvalidArgument("DPA108", "weights do not fit 64 bits. Give a larger ridge, or fit on fewer records.")
    return found


def minimise(rows: Rows, found: Minimum) -> NDArray[np.int64]:
    """Weights of which nothing is public but how far a record moves them."""
    images, shifts = replace(rows, step=Fraction(1, 2**IMAGE_BITS)), None
    if found.residual:
        images, shifts = replace(images, labels=np.ones_like(rows.labels)), rows.labels / -float(TARGET_UNIT)
    return np.rint(minimised(images, found.objective, shifts) * 2.0**found.weight_bits).astype(np.int64)
