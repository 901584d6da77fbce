"""Probabilities of classifiers whose scores have a known loss, and predictions at a public threshold of theirs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from dpaudit.errors import InvalidArgument
from dpaudit.exact import rational
from learners.estimator import PrivateEstimator
from learners.solvers.slopes import likely_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _suits_link(model: Any) -> bool:
    """True, or an error that says why scores have no probabilities: a learner of the user's own has a loss of its own."""
    if getattr(model, "learner", None) is not None:
        raise AttributeError("probabilities belong to the loss of the default learner; learner=... has another. Use its scores.")
    return True


class LikelyClasses(PrivateEstimator):
    """Classifiers whose scores minimise the cut logistic or softmax loss."""

    decision_threshold: Any = None

    @available_if(_suits_link)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Probabilities of the classes, of shape (n, K), for which the released scores would be best; they cost nothing.

        They are calibrated as far as the model fits the records and noise is small, and rank records as the scores do.
        """
        scores = self._scored(X)
        return np.ones((len(scores), 1)) if self.plan_ is None else likely_classes(scores)

    @available_if(_suits_link)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803 - scikit-learn's name
        """Logarithms of the probabilities of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803 - scikit-learn's name
        """The class of each record: the likeliest, or the second where its probability reaches `decision_threshold`."""
        if self.decision_threshold is None or self.plan_ is None:
            return super().predict(X)
        threshold = read_threshold(self.decision_threshold, len(self.classes_))
        predicted: NDArray[Any] = self.classes_[(self.predict_proba(X)[:, 1] >= float(threshold)).astype(np.int64)]
        return predicted


def read_threshold(given: Any, classes: int) -> Fraction:
    """The public probability at which the second of two classes is predicted."""
    threshold = rational(given, "decision_threshold")
    if not 0 < threshold < 1:
        raise InvalidArgument(
            "DPA103",
            f"decision_threshold must be above 0 and below 1, got {threshold}. For costs a and b of a "
            "missed and a false second class it is b / (a + b).",
        )
    if classes != 2:
        raise InvalidArgument("DPA103", f"decision_threshold is for two classes, got {classes}. Use class_weight.")
    return threshold
