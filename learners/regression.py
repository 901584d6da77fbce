"""What regressors share: labels within a public bound, which become whole parts of it, and predictions that are cut there too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from dpaudit.exact import positive
from learners.estimator import PrivateModel
from learners.rows.labels import require_number_labels, targets
from learners.rows.schema import LABEL_OBJECTS, is_array_of_objects

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpaudit.exact import Exact


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateRegressor(RegressorMixin, PrivateModel):  # type: ignore[misc]
    """A regressor whose fit is private; a learner adds its parameters, its plan, its solver and its scores, in units of the bound.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      label_bound: largest size of a label, public, exact, positive; others are cut to it, and what is no number counts as 0.
      delta: failure probability, exact, in [0, 1).
      adjacency: the neighbouring relation; learners name those that their proofs cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      n_nominal: under add_remove, a public number that stands for the number of records.
    """

    label_bound: Exact

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """The expected label of each record, within the bound."""
        return np.asarray(np.clip(self._scored(X), -1.0, 1.0) * float(positive(self.label_bound, "label_bound")))

    def __sklearn_tags__(self) -> Any:
        """Noise may make scores poor."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def _label_notes(self, _labels: NDArray[Any]) -> list[str]:
        """That labels may not be numbers, where their type does not show it."""
        return [LABEL_OBJECTS] if is_array_of_objects(_labels) else []

    def _kinds(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The ends of the range of the labels, which have to be numbers by their type."""
        require_number_labels(labels)
        bound = float(positive(self.label_bound, "label_bound"))
        return np.array([-bound, bound])

    def _positions(self, labels: NDArray[Any], kinds: NDArray[Any]) -> NDArray[np.int64]:  # noqa: ARG002 - the bound is exact
        """The labels on their lattice."""
        return targets(labels, positive(self.label_bound, "label_bound"))

    def _about_labels(self, kinds: NDArray[Any]) -> tuple[dict[str, Any], list[str]]:  # noqa: ARG002 - the bound is exact
        """The bound."""
        return {"label_bound": str(positive(self.label_bound, "label_bound"))}, []
