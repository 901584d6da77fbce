"""PrivateLinearRegression: least squares of bounded labels whose residuals are cut at a scale that the same budget pays for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from dpaudit.exact import positive
from learners.public_data.subspace_regressor import LeastSquares
from learners.record import Charge
from learners.regression import PrivateRegressor
from learners.rows.labels import TARGET_UNIT
from learners.solvers.gradient import WEIGHT_BITS, solve
from learners.solvers.label_scale import LABEL_BINS, LabelScale, bin_targets, cut_residuals
from learners.solvers.plans import MOVES, gaussian_release, mechanism_of, noise_multiplier
from learners.solvers.slopes import SlopeRule
from mechanisms.roots import whole_root_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from dpaudit.releases import Release
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from learners.solvers.plans import SolverPlan
    from mechanisms.sampling.random import BitSource


_LABEL_SHARE: Final = Fraction(1, 16)
_STEPS: Final = 16
"""A record counts for 16 steps in the bin of its label, so that a sensitivity rounded up is close."""


@dataclass(frozen=True)
class RegressionPlan:
    """The plan of a fit: counts of the labels in 32 bins, then those of the solver."""

    labels: Release
    solver: SolverPlan

    @property
    def lattice_bits(self) -> int:
        """That of the solver."""
        return self.solver.lattice_bits

    @property
    def intercept(self) -> int:
        """That of the solver."""
        return self.solver.intercept

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold, in order."""
        return (Charge((self.labels, *self.solver.charges[0].releases)),)


def regression_plan(public: Public) -> RegressionPlan:
    """Plan a fit: the counts take 1/16 of mu^2, and the default rule of least squares the rest."""
    multiplier = noise_multiplier(public.epsilon, public.delta)
    sensitivity = whole_root_above(MOVES[public.adjacency.kind] * _STEPS**2)
    counts = gaussian_release(public, sensitivity, multiplier**2 / _LABEL_SHARE, LABEL_BINS)
    plan = LeastSquares().plan(public)
    moment = None if plan.moment is None else _with_less(plan.moment)
    return RegressionPlan(counts, replace(plan, gradient=_with_less(plan.gradient), moment=moment))


def _with_less(release: Release) -> Release:
    """The release at 15/16 of its cost in mu^2."""
    sigma = math.isqrt(math.floor(release.parameter("sigma") ** 2 / (1 - _LABEL_SHARE))) + 1
    return replace(release, parameters=(("lattice", Fraction(1)), ("sigma", Fraction(sigma))))


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateLinearRegression(PrivateRegressor):
    """Linear regression that is (epsilon, delta)-differentially private, for labels within a public bound, with nothing to tune.

    A noisy histogram of the labels, part of the budget, says where residuals are cut, so that a generous bound costs little.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      label_bound: largest size of a label, public, exact, positive; others are cut to it, and what is no number counts as 0.
      adjacency: "replace_one", or "add_remove" (then `n_nominal` is needed).
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

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove")
    released: ClassVar[tuple[str, ...]] = ("weights_", "centre_")

    delta: Exact = field()
    n_nominal: int | None = None

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features in their own units, of shape (d,), in units of the label."""
        return np.asarray(self._weights()[: self.n_features_in_] / float(positive(self.feature_norm, "feature_norm")))

    @property
    def intercept_(self) -> float:
        """The constant added to every prediction."""
        constant = float(self._weights()[self.n_features_in_ :].sum() * (self.plan_.intercept / 2**self.plan_.lattice_bits))
        return constant + float(self.centre_) / TARGET_UNIT * float(positive(self.label_bound, "label_bound"))

    def _weights(self) -> NDArray[np.float64]:
        """The released weights in units of the label, for rows in units of the largest norm."""
        return np.asarray(self.weights_ / 2**WEIGHT_BITS * float(positive(self.label_bound, "label_bound")))

    def _plan(self, public: Public) -> RegressionPlan:
        """The default rule of least squares, after counts of the labels."""
        return regression_plan(public)

    def _learn(self, rows: Rows, plan: RegressionPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned counts and sums."""
        noisy = mechanism_of(plan.labels).release(count_labels(rows.labels), source) / _STEPS
        scale = LabelScale.of(noisy, float(plan.labels.parameter("sigma")) / _STEPS)
        centre = np.array(round(scale.mean * TARGET_UNIT), dtype=np.int64)
        loss = SlopeRule(cut_residuals(scale.cut), scale.curvature, careful=True)
        return {"weights_": solve(replace(rows, labels=rows.labels - centre), plan.solver, source, loss), "centre_": centre}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Margins in units of the bound of the labels."""
        return LeastSquares().scores(rows, self.plan_.solver, self.weights_) + float(self.centre_) / TARGET_UNIT


def count_labels(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Records in each bin of the labels, in steps: what is released with noise first."""
    return np.asarray(np.bincount(bin_targets(labels), minlength=LABEL_BINS) * _STEPS, dtype=np.int64)
