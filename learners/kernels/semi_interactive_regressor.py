"""SemiInteractiveKernelRegressor: noisy values of a least-squares minimiser at public points, and weights that fit them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from learners.kernels.regressor import KernelRegressor
from learners.kernels.semi_interactive import Noise, NoisyValues, values_told

if TYPE_CHECKING:
    import numpy as np

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.budget import Reserves
    from learners.estimator import Public
    from learners.kernels.fitting import Space
    from learners.kernels.spaces import Kernel
    from learners.solvers.minimum import Minimum


class SemiInteractiveKernelRegressor(KernelRegressor):
    """A regressor that follows the least-squares minimiser at public points, where its noisy values are released.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      label_bound: largest size of a label, public, exact, positive; others are cut to it, and what is no number counts as 0.
      adjacency: "replace_one".
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      kernel: a `learners.kernels.spaces.Kernel`; None takes `Polynomial(3)`.
      ridge: factor of half the squared norm of the weights, public, exact, positive; the kernel is at most 1.
      residual_bits: residuals count in full up to 2**residual_bits times the bound of the labels, public, and noise grows with it.
      points: public array or sparse matrix of shape (T, d), what is to be predicted, for instance; None takes evenly spread ones.
      point_count: how many evenly spread points there are, where none are given.
      point_seed: public seed of theirs.
      noise: "spectral", "independent" or "literal", as for `SemiInteractiveKernelClassifier`.
    Source: Jain, Thakurta 2013, Algorithm 2; docs/kernels.md, "Regression".
    Example:
      >>> import numpy as np
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 500)
      >>> model = SemiInteractiveKernelRegressor(epsilon=8, delta="1e-6", feature_norm=1, label_bound=1, points=X[:4])
      >>> model.fit(X, [1, -1, 1, -1] * 500).values_.shape
      (4,)
    """

    released: ClassVar[tuple[str, ...]] = ("values_", "weights_")

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
        kernel: Kernel | None = None,
        ridge: Exact = "1/100",
        residual_bits: int = 0,
        points: Any = None,
        point_count: int = 1000,
        point_seed: int = 0,
        noise: Noise = "spectral",
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=feature_norm,
            label_bound=label_bound,
            adjacency=adjacency,
            budget=budget,
            random_state=random_state,
            kernel=kernel,
            ridge=ridge,
            residual_bits=residual_bits,
        )
        self.points = points
        self.point_count = point_count
        self.point_seed = point_seed
        self.noise = noise

    def _telling(self, public: Public, space: Space, found: Minimum) -> NoisyValues:
        """Values at the points."""
        return values_told(self, public, space, found)
