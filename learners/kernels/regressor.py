"""What kernel regressors share: the parameters of a regressor, and a minimiser of squared residuals that are cut at a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpaudit.exact import integer
from learners.kernels.fitting import KernelModel
from learners.regression import PrivateRegressor
from learners.solvers.losses import Loss

if TYPE_CHECKING:
    import numpy as np

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.budget import Reserves
    from learners.kernels.spaces import Kernel


class KernelRegressor(KernelModel, PrivateRegressor):
    """A regressor whose weights come from what is told about the regularised minimiser of squares in the space of a kernel.

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
      residual_bits: half of the square of a residual is minimised, up to 2**residual_bits times the bound of the labels, and a
        straight line beyond; noise grows with it. From 1 + 1 / sqrt(ridge) on the minimiser is that of least squares.
    """

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
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=feature_norm,
            label_bound=label_bound,
            adjacency=adjacency,
            budget=budget,
            random_state=random_state,
        )
        self.kernel = kernel
        self.ridge = ridge
        self.residual_bits = residual_bits

    def _loss(self) -> Loss:
        """Squares of residuals that are cut."""
        return Loss("residual", integer(self.residual_bits, "residual_bits", lower=-30, upper=30))
