"""Estimators without labels: the order of events of `PrivateModel`, and scores that are numbers of each record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from learners.estimator import PrivateModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

LATTICE_BITS: Final = 12
"""Rows have at most 2**12 steps without their constant."""


@dataclass(kw_only=True, eq=False, repr=False)
class UnlabelledModel(PrivateModel):
    """A private fit of records alone."""

    adjacencies: ClassVar[tuple[str, ...]] = ("replace_one", "add_remove")

    n_nominal: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - scikit-learn's names
        """Learn from records, at the price that `privacy_` states; `y` is not read."""
        shape = getattr(X, "shape", None) or ((len(X),) if isinstance(X, list | tuple) else np.asarray(X).shape)
        return self._fit(X, np.zeros(shape[:1], dtype=np.int64))

    def _kinds(self, labels: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002 - there are none
        """Two, so that there is something to learn."""
        return np.array([0, 1])

    def _positions(self, labels: NDArray[Any], kinds: NDArray[Any]) -> NDArray[np.int64]:  # noqa: ARG002 - there are none
        """Zeros."""
        return np.asarray(labels, dtype=np.int64)

    def _about_labels(self, kinds: NDArray[Any]) -> tuple[dict[str, Any], list[str]]:  # noqa: ARG002 - there are none
        """Nothing."""
        return {}, []

    def __sklearn_tags__(self) -> Any:
        """No labels are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
