"""What kernel classifiers share: the parameters of a classifier, and a logistic minimiser of two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from learners.estimator import PrivateEstimator
from learners.kernels.fitting import KernelModel

if TYPE_CHECKING:
    import numpy as np

    from dpaudit.claims import Adjacency
    from dpaudit.exact import Exact
    from learners.budget import Reserves
    from learners.kernels.spaces import Kernel


class KernelClassifier(KernelModel, PrivateEstimator):
    """A classifier whose weights come from what is told about the regularised logistic minimiser in the space of a kernel.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      kernel: a `learners.kernels.spaces.Kernel`; None takes `Polynomial(3)`.
      ridge: factor of half the squared norm of the weights, public, exact, positive; the kernel is at most 1.
    """

    def __init__(  # noqa: PLR0913 - scikit-learn reads an estimator's parameters from here
        self,
        *,
        epsilon: Exact,
        delta: Exact,
        feature_norm: Exact,
        adjacency: Adjacency | str = "replace_one",
        classes: Any = None,
        budget: Reserves | None = None,
        random_state: int | np.random.Generator | None = None,
        kernel: Kernel | None = None,
        ridge: Exact = "1/100",
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_norm=feature_norm,
            adjacency=adjacency,
            classes=classes,
            budget=budget,
            random_state=random_state,
        )
        self.kernel = kernel
        self.ridge = ridge

    def __sklearn_tags__(self) -> Any:
        """Two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
