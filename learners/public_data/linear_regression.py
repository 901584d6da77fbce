"""PrivateLinearRegression: least squares with bounded labels, from one noisy second moment and noisy gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.exact import positive
from learners.public_data.subspace_regressor import LeastSquares
from learners.regression import PrivateRegressor
from learners.solvers.gradient import WEIGHT_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan
    from mechanisms.sampling.random import BitSource


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLinearRegression(PrivateRegressor):
    """Linear regression that is (epsilon, delta)-differentially private, for labels within a public bound, with nothing to tune.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      label_bound: largest size of a label, public, exact, positive; others are cut to it, and what is no number counts as 0.
      adjacency: "replace_one", "add_remove" (then `n_nominal` is needed) or "zero_out" (then there is no intercept).
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
    Source: Bassily, Smith, Thakurta 2014; docs/public_data.md, "Regression".
    Example:
      >>> X = np.array([[0.6, 0.8], [-0.8, 0.6]] * 400)
      >>> model = PrivateLinearRegression(epsilon=5, delta="1e-6", feature_norm=1, label_bound=1, random_state=1)
      >>> model.fit(X, [0.5, -0.5] * 400).predict([[0.6, 0.8]]).round(1).tolist()
      [0.5]
    """

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove", "zero_out")
    released: ClassVar[tuple[str, ...]] = ("weights_",)

    delta: Exact = field()
    n_nominal: int | None = None

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features in their own units, of shape (d,), in units of the label."""
        return np.asarray(self._weights()[: self.n_features_in_] / float(positive(self.feature_norm, "feature_norm")))

    @property
    def intercept_(self) -> float:
        """The constant added to every prediction."""
        return float(self._weights()[self.n_features_in_ :].sum() * (self.plan_.intercept / 2**self.plan_.lattice_bits))

    def _weights(self) -> NDArray[np.float64]:
        """The released weights in units of the label, for rows in units of the largest norm."""
        return np.asarray(self.weights_ / 2**WEIGHT_BITS * float(positive(self.label_bound, "label_bound")))

    def _plan(self, public: Public) -> SolverPlan:
        """The default rule of least squares."""
        return LeastSquares().plan(public)

    def _learn(self, rows: Rows, plan: SolverPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned sums."""
        return {"weights_": LeastSquares().learn(rows, plan, source)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins in units of the bound of the labels."""
        return LeastSquares().scores(rows, self.plan_, self.weights_)
