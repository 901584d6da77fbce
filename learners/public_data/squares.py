"""Squared loss with clipped residuals, on integers: slopes of a regressor, and its plan."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from learners.rows.labels import TARGET_UNIT
from learners.solvers.gradient import WEIGHT_BITS, solve
from learners.solvers.plans import SolverPlan, default_plan
from learners.solvers.slopes import UNIT, SlopeRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.estimator import Public
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_TARGET_BITS: Final = TARGET_UNIT.bit_length() - 1
_MARGIN_NOISE: Final = Fraction(1, 20)
_LARGEST_PACE: Final = 8


def residuals(margins: NDArray[np.int64], labels: NDArray[np.int64], margin_bits: int) -> NDArray[np.int64]:
    """Downhill slopes of the squared loss, cut at the bound of the labels."""
    return np.clip(labels - (margins >> (margin_bits - _TARGET_BITS)), -UNIT, UNIT)


SQUARES: Final = SlopeRule(residuals, 1.0, careful=True)


@dataclass(frozen=True)
class LeastSquares:
    """Noisy descent of the squared loss: a `learners.margins.mapped.Learner` for regressors (Bassily, Smith, Thakurta 2014)."""

    def plan(self, public: Public) -> SolverPlan:
        """The default rule of classifiers; without a second moment, steps end where noise moves margins by 1/20."""
        plan = default_plan(public)
        if plan.moment is not None:
            return plan
        mu = math.sqrt(plan.steps) * float(plan.gradient.sensitivity / plan.gradient.parameter("sigma"))
        moves = 1 + (public.adjacency.kind == "replace_one")
        return replace(
            plan, travel=min(_MARGIN_NOISE * public.records * Fraction(mu) / moves, Fraction(_LARGEST_PACE * plan.steps))
        )

    def learn(self, rows: Rows, plan: SolverPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The planned sums, and weights from them."""
        return solve(rows, plan, source, SQUARES)

    def scores(self, rows: Rows, plan: SolverPlan, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Margins in units of the bound of the labels."""
        return rows.margins(weights) / float(1 << (WEIGHT_BITS + plan.lattice_bits))
