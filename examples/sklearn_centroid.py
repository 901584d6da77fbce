"""A private estimator of one's own with the interface of scikit-learn: one that forgets to clip, and its correct twin.

Try `dpaudit audit examples/sklearn_centroid.py:target` (refuted) and `dpaudit audit examples/sklearn_centroid.py:corrected`.
"""

import numpy as np
from sklearn.base import BaseEstimator

from dpaudit import Claim, PureDP
from dpaudit.interop import from_sklearn


class Centroid(BaseEstimator):
    """The mean of rows within [0, 1] in every column, with Laplace noise for the L1 sensitivity under replacement, d / n."""

    def __init__(self, epsilon: float = 1.0, *, clip: bool = True, random_state: int | None = None) -> None:
        """Keep the parameters, as estimators do."""
        self.epsilon, self.clip, self.random_state = epsilon, clip, random_state

    def fit(self, rows: np.ndarray) -> "Centroid":
        """Add the noise of one release; numpy's is good enough to be audited, and mechanisms.LaplaceMechanism to be released."""
        inside = np.clip(rows, 0, 1) if self.clip else rows
        scale = rows.shape[1] / len(rows) / self.epsilon
        noise = np.random.RandomState(self.random_state).laplace(scale=scale, size=rows.shape[1])
        self.mean_ = inside.mean(axis=0) + noise
        return self


# Made-up rows, one of which is outside of the bounds that everybody else keeps to.
ROWS = np.array([[0.1, 0.9], [0.5, 0.2], [0.0, 0.0], [9.0, 1.0]])
given = {"claim": Claim(PureDP(epsilon=1), adjacency="replace_one"), "data": ROWS, "released": ["mean_"], "labels": False}

target = from_sklearn(Centroid(clip=False), **given, name="centroid_unclipped")
corrected = from_sklearn(Centroid(), **given, name="centroid", description="where is the middle?")
