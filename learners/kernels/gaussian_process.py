"""All coordinates of a kernel minimiser, released once with Gaussian noise; then any number of predictions is free."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.exact import Exact, in_range, integer
from learners.kernels.fitting import KernelClassifier, KernelRegressor
from learners.kernels.noise import whole_budget_release
from learners.record import Charge
from learners.solvers.plans import mechanism_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dpaudit.releases import Release
    from learners.estimator import Public
    from learners.kernels.fitting import Space
    from learners.kernels.open_run import OpenRun
    from learners.solvers.minimum import Minimum
    from mechanisms.sampling.random import BitSource


class GaussianProcessRelease(KernelClassifier):
    """The function of a kernel minimiser plus a Gaussian process with that kernel, at all points at once.

    The noisy coordinates of the minimiser are released once; the value at any point, however it is chosen, follows from them.

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
    Source: Hall, Rinaldo, Wasserman 2013, section 4; docs/kernels.md, "The Gaussian process".
    Example:
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 500)
      >>> model = GaussianProcessRelease(epsilon=4, delta="1e-6", feature_norm=1, classes=[0, 1]).fit(X, [1, 0, 1, 0] * 500)
      >>> model.predict(X[:4]).tolist()
      [1, 0, 1, 0]
    """

    def open(self, X: Any, y: Any, *, values: int = 1000, tolerance: Exact = "1/1000") -> OpenRun:  # noqa: N803 - scikit-learn's name
        """Open the same release point by point, for kernels with more features than there will be questions.

        Args:
          X: as for `fit`.
          y: as for `fit`.
          values: how many may be read from the data, public; any number of points may be asked about.
          tolerance: points that are so close to the span of those that were read, relative to their norm, are answered from those;
            public, exact, above 0 and below 1.
        Returns:
          An open run, all of which is paid for here.
        Raises:
          InvalidArgument: as for `fit`, or a parameter that is not allowed (DPA101 to DPA105).
          Unsupported: another neighbouring relation (DPA604).
          BudgetExceeded: the budget does not cover the run (DPA204).
        Source: Hall, Rinaldo, Wasserman 2013, section 4; docs/kernels.md, "One value after the other".
        Example:
          >>> model = GaussianProcessRelease(epsilon=4, delta="1e-6", feature_norm=1, classes=[0, 1])
          >>> run = model.open([[0.6, 0.6], [-0.6, -0.6]] * 500, [1, 0] * 500, values=5)
          >>> run.ask([0.6, 0.6]).read, run.ask([0.6, 0.6]).read, run.left
          (True, False, 4)
        """
        from learners.kernels.open_run import open_run
        from learners.kernels.span import span_release_plan

        count = integer(values, "values", lower=1)
        part = in_range(tolerance, "tolerance", lower=0, upper=1, lower_open=True, upper_open=True)
        plan = partial(span_release_plan, values=count, tolerance=part)
        return open_run(X, y, name=type(self).__name__, plan=plan, parameters=self.get_params(deep=False))

    def _telling(self, public: Public, space: Space, found: Minimum) -> NoisyCoordinates:  # noqa: ARG002 - the space is in the rows
        """All coordinates."""
        return NoisyCoordinates(whole_budget_release(public, found.sensitivity, found.objective.columns))


class KernelRidgeRegressor(KernelRegressor):
    """The function of a regularised least-squares minimiser plus a Gaussian process with its kernel, at all points at once.

    It is for numbers what `GaussianProcessRelease` is for classes: one release, then any number of free predictions.

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
      >>> X = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]] * 500)
      >>> model = KernelRidgeRegressor(epsilon=4, delta="1e-6", feature_norm=1, label_bound=1, random_state=1)
      >>> model.fit(X, [1, -1, 1, -1] * 500).predict(X[:2]).round(1).tolist()
      [0.8, -0.8]
    """

    def _telling(self, public: Public, space: Space, found: Minimum) -> NoisyCoordinates:  # noqa: ARG002 - the space is in the rows
        """All coordinates."""
        return NoisyCoordinates(whole_budget_release(public, found.sensitivity, found.objective.columns))


@dataclass(frozen=True)
class NoisyCoordinates:
    """All coordinates with rounded Gaussian noise."""

    release: Release  # as it will be logged

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The one release."""
        return (Charge((self.release,)),)

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """Noisy weights."""
        return {"weights_": mechanism_of(self.release).release(weights, source)}
