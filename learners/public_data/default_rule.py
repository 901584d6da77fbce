"""The default rule with public records: on how many of their directions a linear classifier projects private ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from learners.margins.mapped import MappedPlan, NoisyDescent, mapped_plan
from learners.public_data.subspace import MOST_DIRECTIONS, public_subspace
from learners.solvers.gradient import linear_rule, solve
from learners.solvers.plans import SolverPlan, default_plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from learners.estimator import Public
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource

_RECORDS_EACH: Final = 25
"""Records for each direction, at mu = 1."""

_WHITENING: Final = Fraction(1, 2)
_FLOOR: Final = 2.0
"""Public records chose directions of which each matters less than noise may suggest."""


@dataclass(frozen=True)
class SpanDescent(NoisyDescent):
    """The default rule of `PrivateClassifier` for images, as a `Learner`: two classes trust a noisy second moment less there."""

    weights: tuple[int, ...] | None = None  # of the classes, in steps of 1/4096 of the largest

    def learn(self, rows: Rows, plan: SolverPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The planned sums, and weights from them."""
        rule = linear_rule(plan.outputs, self.weights)
        return solve(rows, plan, source, replace(rule, floor=_FLOOR) if plan.outputs == 1 else rule)


def directions_for(public: Public) -> int:
    """Return the number of directions that the records suffice for: n mu / 25, rounded, at least 1."""
    (charge,) = default_plan(public).charges
    squares = sum(float(release.sensitivity / release.parameter("sigma")) ** 2 for release in charge.releases)
    return max(1, round(public.records * math.sqrt(squares) / _RECORDS_EACH))


def public_plan(public_X: Any, public: Public, weights: tuple[int, ...] | None = None) -> MappedPlan | SolverPlan:  # noqa: N803 - as the estimators name it
    """The default plan of a classifier with public records: that of `PrivateClassifier` on their leading directions."""
    wanted = directions_for(public)
    found = public_subspace(
        public_X,
        columns=public.features,
        feature_norm=public.feature_norm,
        dimension=min(wanted, public.features, MOST_DIRECTIONS),
        centred=public.adjacency.kind != "zero_out",  # whose null record, all zeros, stays there under linear maps only
        whitening=_WHITENING,
    )
    return default_plan(public) if wanted >= public.features else mapped_plan(found, SpanDescent(weights), public)
