"""PublicSubspaceRegressor: private least squares of bounded labels, in the span of public records where there are any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from learners.margins.mapped import mapped_plan
from learners.public_data.behind import noted, seen, solver_of
from learners.public_data.squares import LeastSquares
from learners.public_data.subspace import public_subspace
from learners.regression import PrivateRegressor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.budget import Reserves
    from learners.estimator import Public
    from learners.public_data.behind import AnyPlan
    from learners.record import PrivacyRecord
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource


class PublicSubspaceRegressor(PrivateRegressor):
    """A linear regressor that is (epsilon, delta)-differentially private, for labels within a public bound.

    Residuals are cut at the bound. Public records, if there are any, say in which directions the private ones are seen.

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

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters from here
        self,
        *,
        epsilon: Exact,
        delta: Exact,
        feature_norm: Exact,
        label_bound: Exact,
        adjacency: Adjacency | str = "replace_one",
        budget: Reserves | None = None,
        random_state: int | np.random.Generator | None = None,
        n_nominal: int | None = None,
        public_X: Any = None,  # noqa: N803 - features, as in scikit-learn
        dimension: int | None = None,
        reach: Exact = 2,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=feature_norm,
            label_bound=label_bound,
            adjacency=adjacency,
            budget=budget,
            random_state=random_state,
            n_nominal=n_nominal,
        )
        self.public_X = public_X
        self.dimension = dimension
        self.reach = reach

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
        """Records, or their images."""
        return seen(super()._rows(features, labels, plan), plan)

    def _learn(self, rows: Rows, plan: AnyPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned sums."""
        return {"weights_": LeastSquares().learn(rows, solver_of(plan), source)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins in units of the bound of the labels."""
        return LeastSquares().scores(rows, solver_of(self.plan_), self.weights_)

    def _planned(self, public: Public, classes: NDArray[Any], plan: AnyPlan | None) -> PrivacyRecord:  # type: ignore[override]
        """The record says in which directions records are seen."""
        return noted(super()._planned(public, classes, plan), plan)
