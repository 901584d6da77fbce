"""InteractiveKernelPredictor: any number of questions; only answers that a public guess misses are read from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, word
from learners.kernels.charged_blocks import BlocksTold, block_release_plan
from learners.kernels.charged_updates import UpdatesTold, update_release_plan
from learners.kernels.open_run import OpenRun, open_run

if TYPE_CHECKING:
    import numpy as np

    from dpaudit.claims import Adjacency
    from learners.budget import Reserves
    from learners.estimator import Public
    from learners.kernels.spaces import Kernel
    from learners.solvers.minimum import Minimum

Accounting = Literal["updates", "blocks"]

_ACCOUNTINGS: Final = ("updates", "blocks")
_SHARE: Final = 0.35
"""Of epsilon / sqrt(updates log(1/delta)) that an update costs, about; only the number of updates is chosen by it."""


@dataclass(frozen=True, kw_only=True)
class InteractiveKernelPredictor:
    """Values of the minimiser's function at any number of points, asked one after the other.

    A public guess starts at zero. For each question the minimiser's value is read with noise and compared with the guess: if they
    are within a public threshold of each other, the guess is the answer (silence); else the noisy value is, and the guess is moved
    towards it at that point (an update). The run ends after a public number of updates.

    Args:
      epsilon: privacy parameter of a whole run in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      kernel: a `learners.kernels.spaces.Kernel`; None takes `Polynomial(3)`.
      ridge: factor of half the squared norm of the weights, public, exact, positive; the kernel is at most 1.
      questions: how many are expected, public; the threshold depends on it, and more may be asked.
      failure: probability with which an answer to them may be further off than docs/kernels.md says, exact, in (0, 1).
      updates: after how many a run ends, public; None takes about as many as the geometry allows.
      accounting: "updates" for one noisy comparison a question and the supermartingale price of all updates; "blocks" for a sparse
        vector with noisy threshold up to each update, and fresh noise for its value, composed as in the textbooks.
    Raises:
      InvalidArgument: when a run is opened.
    Source: Jain, Thakurta 2013, Algorithm 1; docs/kernels.md, "Charged by updates".
    Example:
      >>> predictor = InteractiveKernelPredictor(epsilon=2, delta="1e-6", feature_norm=1, classes=[0, 1], updates=3)
      >>> run = predictor.open([[0.6, 0.8], [-0.6, -0.8]] * 500, [1, 0] * 500)
      >>> run.left, run.privacy_.epsilon <= 2
      (3, True)
    """

    epsilon: Exact
    delta: Exact
    feature_norm: Exact
    adjacency: Adjacency | str = "replace_one"
    classes: Any = None
    budget: Reserves | None = None
    random_state: int | np.random.Generator | None = None
    kernel: Kernel | None = None
    ridge: Exact = "1/100"
    questions: int = 1000
    failure: Exact = "1/20"
    updates: int | None = None
    accounting: Accounting = "updates"

    def open(self, X: Any, y: Any) -> OpenRun:  # noqa: N803 - scikit-learn's name
        """Find the private minimiser and open a run about it, which is paid for here, whatever is asked.

        Args:
          X: array-like or sparse matrix of shape (n, d), the private records.
          y: array-like of shape (n,), their labels.
        Returns:
          The run.
        Raises:
          InvalidArgument: a parameter, type or shape that is not allowed (DPA101 to DPA109).
          Unsupported: another neighbouring relation (DPA604), or no useful amount of noise meets epsilon and delta (DPA202).
          BudgetExceeded: the budget does not cover the run (DPA204).
        Source: Jain, Thakurta 2013, Algorithm 1; docs/kernels.md, "Open runs".
        Example:
          >>> predictor = InteractiveKernelPredictor(epsilon=2, delta="1e-6", feature_norm=1, classes=[0, 1], accounting="blocks")
          >>> run = predictor.open([[0.6, 0.8], [-0.6, -0.8]] * 500, [1, 0] * 500)
          >>> run.predict([[0.6, 0.8]] * 3).shape
          (3,)
        """
        names = ("epsilon", "delta", "feature_norm", "adjacency", "classes", "budget", "random_state", "kernel", "ridge")
        parameters = {name: getattr(self, name) for name in names}
        return open_run(X, y, name=type(self).__name__, plan=self._release_plan, parameters=parameters)

    def _release_plan(self, found: Minimum, public: Public) -> UpdatesTold | BlocksTold:
        """Return the release plan of a run."""
        word(self.accounting, "accounting", _ACCOUNTINGS)
        if public.delta == 0:
            raise InvalidArgument("DPA103", "delta must be positive, got 0: silence costs delta. Give a small one, such as 1e-6.")
        asked = integer(self.questions, "questions", lower=1)
        failure = in_range(self.failure, "failure", lower=0, upper=1, lower_open=True, upper_open=True)
        spread = math.log(2 * asked / failure)
        updates = _usual_updates(public, found, spread) if self.updates is None else integer(self.updates, "updates", lower=1)
        make = update_release_plan if self.accounting == "updates" else block_release_plan
        return make(found, public, updates=updates, spread=spread)


def _usual_updates(public: Public, found: Minimum, spread: float) -> int:
    """The least number that no run of accurate answers exceeds: docs/kernels.md, "How many updates"."""
    moved = found.sensitivity / (1 << found.weight_bits)
    cost = _SHARE * float(public.epsilon) / math.sqrt(-math.log(public.delta))
    return max(1, math.ceil(float(found.longest) * cost / (math.sqrt(8) * moved * spread)))
