"""PrivatePCA: principal directions of records from one noisy second moment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dpaudit.errors import InvalidArgument
from dpaudit.exact import integer, positive
from learners.record import Charge
from learners.relations import is_uncounted
from learners.rows.rows import as_array, row_bound
from learners.solvers.plans import DIAGONAL, MOST_COLUMNS, MOVES, gaussian_release, moment_sensitivity, noise_multiplier
from learners.solvers.quasi_newton import in_one_thread
from learners.structure.moments import release_moments
from learners.structure.unlabelled import LATTICE_BITS, UnlabelledModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from dpaudit.releases import Release
    from learners.estimator import Public
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource


CONSTANT: Final = 1 << LATTICE_BITS - 1
"""What rows end in, half of the largest norm: more lengthens all rows, less hides the mean."""


@dataclass(frozen=True)
class MomentPlan:
    """The plan of a fit: one second moment."""

    records: int | None  # None where their number is private
    moment: Release
    lattice_bits: int = LATTICE_BITS
    intercept: int = CONSTANT

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entry that the release log will hold."""
        return (Charge((self.moment,)),)


def moment_plan(public: Public, constant: int = CONSTANT, share: Fraction = Fraction(1)) -> MomentPlan:
    """Plan a second moment of rows with a constant, for a share of mu^2."""
    bound, width = row_bound(LATTICE_BITS, constant), public.features + 1
    if width > MOST_COLUMNS or public.records * DIAGONAL * 2 * bound**2 > 2**60:
        raise InvalidArgument(
            "DPA108", f"a second moment of {public.features} columns is for fewer than {MOST_COLUMNS}. Drop some."
        )
    variance = noise_multiplier(public.epsilon, public.delta) ** 2 / share
    sensitivity = moment_sensitivity(bound, MOVES[public.adjacency.kind])
    moment = gaussian_release(public, sensitivity, variance, width * (width + 1) // 2)
    return MomentPlan(None if is_uncounted(public.adjacency) else public.records, moment, intercept=constant)


@dataclass(kw_only=True, eq=False, repr=False)
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, UnlabelledModel):  # type: ignore[misc]
    """Principal directions that are (epsilon, delta)-differentially private: those of one noisy second moment of the records.

    Variances are those of the noisy covariance, cut at 0: small ones are noise.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one", or "add_remove" (then `n_nominal` is needed).
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
      n_components: how many directions are kept, or None for all.
    Source: Dwork, Talwar, Thakurta, Zhang 2014; docs/boosting.md, "Without labels".
    Example:
      >>> X = np.random.default_rng(0).normal(size=(4000, 3)) * [3, 1, 1] / 6
      >>> model = PrivatePCA(epsilon=1, delta="1e-6", feature_norm=1, n_components=1, random_state=1).fit(X)
      >>> abs(model.components_).round(1).tolist(), model.transform(X).shape, model.privacy_.epsilon <= 1
      ([[1.0, 0.0, 0.0]], (4000, 1), True)
    """

    released: ClassVar[tuple[str, ...]] = ("components_", "explained_variance_", "explained_variance_ratio_", "mean_")

    delta: Exact = field()
    n_components: int | None = None

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Coordinates of records along the directions, from their mean; records are read as in `fit`."""
        return self._scored(X)

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Records with these coordinates."""
        check_is_fitted(self)
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_)

    @property
    def _n_features_out(self) -> int:
        """Number of directions, for their names."""
        return len(self.components_)

    def _kept(self, features: int) -> int:
        """How many directions are kept."""
        return features if self.n_components is None else integer(self.n_components, "n_components", lower=1, upper=features)

    def _plan(self, public: Public) -> MomentPlan:
        """One second moment."""
        self._kept(public.features)
        return moment_plan(public)

    def _learn(self, rows: Rows, plan: MomentPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The planned release; directions and variances are computed from it."""
        found = release_moments(rows, plan.moment, plan.intercept, plan.records, source)
        with in_one_thread():
            values, vectors = np.linalg.eigh(found.covariance)
        kept, norm = self._kept(len(values)), float(positive(self.feature_norm, "feature_norm"))
        variances, directions = np.maximum(values[::-1], 0.0) * norm**2, vectors.T[::-1]
        largest = np.abs(directions).argmax(axis=1)
        directions = directions * np.sign(directions[np.arange(len(directions)), largest])[:, np.newaxis]
        return {
            "components_": directions[:kept].copy(),
            "explained_variance_": variances[:kept],
            "explained_variance_ratio_": variances[:kept] / max(math.fsum(variances.tolist()), 1e-300),
            "mean_": found.mean * norm,
        }

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Coordinates of the rows."""
        features = as_array(rows.steps)[:, :-1] * float(rows.step)
        return np.asarray((features - self.mean_) @ self.components_.T)
