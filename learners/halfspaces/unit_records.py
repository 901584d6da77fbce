"""The base of halfspace learners: records of norm one, a public map to few columns, one direction."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.exact import in_range
from learners.estimator import PrivateEstimator, Public
from learners.rows.unit import unit_images

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from dpaudit.exact import Exact
    from learners.rows.ingest import Features
    from learners.rows.rows import Rows


class UnitRecordClassifier(PrivateEstimator):
    """A classifier of two classes that learns one direction from records of norm one, in the columns of its plan's map."""

    released: ClassVar[tuple[str, ...]] = ("embedded_weights_",)
    multi_class: ClassVar[bool] = False
    feature_norm = 1

    @abstractmethod
    def _facts(self, plan: Any, public: Public) -> dict[str, Any]:
        """Public facts that the record states beside the margin and the map."""

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The direction in the features' own space, of norm 1: shape (1, d)."""
        weights, image = self.embedded_weights_.astype(np.float64), self.plan_.image
        back = weights if image is None else image.transpose(weights)
        return np.asarray(back / max(float(np.sqrt(np.square(back).sum())), 1e-300))[np.newaxis]

    def _plan_facts(self, public: Public, plan: Any) -> dict[str, Any]:
        """The space that is learned in, and the promised accuracy."""
        if plan is None:
            return {}
        projection = "none" if plan.image is None else f"SignMap seed {plan.image.seed}"
        margin = str(in_range(self.margin, "margin", lower=0, upper=1))
        return {"margin": margin, "projection": projection, **self._facts(plan, public)}

    def _rows(self, features: Features, labels: NDArray[np.int64], plan: Any) -> Rows:
        """Unit records in the columns that are learned in."""
        return unit_images(features, labels, plan.image, lattice_bits=plan.lattice_bits)

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        """Cosines of the angles to the direction, exact but for a common unit."""
        length = float(np.sqrt(np.square(self.embedded_weights_.astype(np.float64)).sum()))
        return np.asarray(rows.margins(self.embedded_weights_) / (rows.bound * max(length, 1.0)))


def open_fraction(value: Exact, name: str) -> Fraction:
    """A number between 0 and 1, neither of them."""
    return in_range(value, name, lower=0, upper=1, lower_open=True, upper_open=True)
