"""What classifiers behind a public map of their records share: images for learning and for scores, and a learner that sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from learners.estimator import PrivateEstimator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from learners.margins.mapped import MappedPlan
    from learners.record import PrivacyRecord
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows
    from mechanisms.sampling.random import BitSource


class MappedClassifier(PrivateEstimator):
    """A classifier whose plan is a `MappedPlan`; a learner adds its parameters and its map."""

    released: ClassVar[tuple[str, ...]] = ("weights_",)

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: MappedPlan) -> Rows:  # type: ignore[override]
        """Images of the records, for learning and for scores alike."""
        return plan.images(super()._rows(features, labels, plan))

    def _learn(self, rows: Rows, plan: MappedPlan, source: BitSource | None) -> Mapping[str, Any]:  # type: ignore[override]
        """The learner's releases on images."""
        return {"weights_": plan.learner.learn(rows, plan.inner, source)}

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """The learner's scores of images."""
        plan: MappedPlan = self.plan_
        return plan.learner.scores(rows, plan.inner, self.weights_)


def noted(record: PrivacyRecord, plan: MappedPlan | None, facts: Mapping[str, str]) -> PrivacyRecord:
    """The record, which says which map and which learner it was."""
    images = {} if plan is None else {"columns": str(plan.public_map.dimension_out), "images": str(plan.learner)}
    return record.stating({**facts, **images})
