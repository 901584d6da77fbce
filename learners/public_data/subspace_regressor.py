"""PublicSubspaceRegressor: private least squares of bounded labels, in the span of public records if there are any."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from learners.margins.mapped import NoisyDescent, mapped_plan
from learners.public_data.plans import map_rows, solver_of, subspace_facts
from learners.public_data.subspace import public_subspace
from learners.regression import PrivateRegressor
from learners.rows.labels import TARGET_UNIT
from learners.solvers.gradient import solve
from learners.solvers.plans import SolverPlan, default_plan
from learners.solvers.slopes import UNIT, SlopeRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.public_data.plans import AnyPlan
    from learners.rows.ingest import Features
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
class LeastSquares(NoisyDescent):
    """Noisy descent of the squared loss: a `learners.margins.mapped.Learner` for regressors (Bassily, Smith, Thakurta 2014)."""

    def plan(self, public: Public) -> SolverPlan:
        """The default rule of classifiers; without a second moment, steps end where noise moves margins by 1/20."""
        plan = default_plan(public, standard=False)
        if plan.moment is not None:
            return plan
        mu = math.sqrt(plan.steps) * float(plan.gradient.sensitivity / plan.gradient.parameter("sigma"))
        moves = 1 + (public.adjacency.kind == "replace_one")
        travel = _MARGIN_NOISE * public.records * Fraction(mu) / moves
        return replace(plan, travel=min(travel, Fraction(_LARGEST_PACE * plan.steps)))

    def learn(self, rows: Rows, plan: SolverPlan, source: BitSource | None) -> NDArray[np.int64]:
        """The planned sums, and weights from them."""
        return solve(rows, plan, source, SQUARES)


@dataclass(kw_only=True, eq=False, repr=False)
class PublicSubspaceRegressor(PrivateRegressor):
    """A linear regressor that is (epsilon, delta)-differentially private, for labels within a public bound.

    Residuals are cut at the bound. Private records are projected on the span of the public ones, if there are any.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      label_bound: largest size of a label, public, exact, positive; others are cut to it, and what is no number counts as 0.
      adjacency: "replace_one", "add_remove" (then `n_nominal` is needed) or "zero_out" (then there is no intercept).
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      public_X: public records, an array or sparse matrix of shape (m, d), or a function of d that gives them; None for none.
      dimension: most directions, public; None takes the whole span.
      reach: the norm that images are clipped to, over the median norm of the public images.
    Source: Ullah, Menart, Bassily, Guzman, Arora 2024, Algorithm 1; docs/public_data.md, "Regression".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 400)
      >>> model = PublicSubspaceRegressor(epsilon=5, delta="1e-6", feature_norm=1, label_bound=1, random_state=1)
      >>> model.fit(X, [0.5, -0.5] * 400).predict([[0.6, 0.8]]).round(1).tolist()
      [0.5]
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove", "zero_out")
    released: ClassVar[tuple[str, ...]] = ("weights_",)

    delta: Exact = field()
    n_nominal: int | None = None
    public_X: Any = None  # noqa: N815 - features, as in scikit-learn
    dimension: int | None = None
    reach: Exact = 2

    def _plan(self, public: Public) -> AnyPlan:
        """Least squares, behind the map if there are public records."""
        if self.public_X is None:
            return LeastSquares().plan(public)
        found = public_subspace(
            self.public_X,
            columns=public.features,
            feature_norm=public.feature_norm,
            dimension=self.dimension,
            centred=public.adjacency.kind != "zero_out",
            reach=self.reach,
        )
        return mapped_plan(found, LeastSquares(), public)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: AnyPlan) -> Rows:  # type: ignore[override]
        """Records, or their images under the map of the public records."""
        return map_rows(super()._rows(features, labels, plan), plan)

    def _learn(self, rows: Rows, plan: AnyPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned sums."""
        return {"weights_": LeastSquares().learn(rows, solver_of(plan), source)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins in units of the bound of the labels."""
        return LeastSquares().scores(rows, solver_of(self.plan_), self.weights_)

    def _plan_facts(self, _public: Public, plan: AnyPlan | None) -> dict[str, Any]:
        """The directions that records are projected on."""
        return subspace_facts(plan)
