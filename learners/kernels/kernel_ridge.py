"""KernelRidgeRegressor: least squares in the space of a kernel, all of whose coordinates are released once with Gaussian noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learners.kernels.gaussian_process import NoisyCoordinates
from learners.kernels.regressor import KernelRegressor
from learners.kernels.settling import whole_budget_release

if TYPE_CHECKING:
    from learners.estimator import Public
    from learners.kernels.fitting import Space
    from learners.solvers.minimum import Minimum


class KernelRidgeRegressor(KernelRegressor):
    """The function of a regularised least-squares minimiser plus a Gaussian process with its kernel, at all points at once.

    What `GaussianProcessRelease` is for classes: the noisy coordinates are released once, and any number of predictions is free.

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
    Source: Hall, Rinaldo, Wasserman 2013, section 4; docs/kernels.md, "Regression".
    Example:
      >>> import numpy as np
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 500)
      >>> model = KernelRidgeRegressor(epsilon=4, delta="1e-6", feature_norm=1, label_bound=1, random_state=1)
      >>> model.fit(X, [1, -1, 1, -1] * 500).predict(X[:2]).round(1).tolist()
      [0.8, -0.8]
    """

    def _telling(self, public: Public, space: Space, found: Minimum) -> NoisyCoordinates:  # noqa: ARG002 - the space is in the rows
        """All coordinates."""
        return NoisyCoordinates(whole_budget_release(public, found.sensitivity, found.objective.columns))
