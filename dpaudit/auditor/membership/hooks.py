"""Hooks into training: how a white-box audit takes part in a learner that makes noisy gradient steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.auditor.membership.user_arrays import finite_array
from dpaudit.errors import InvalidArgument

Matrix: TypeAlias = NDArray[np.float64]


@runtime_checkable
class TrainingHooks(Protocol):
    """The part of an audit in a training; a learner calls it at every step, and behaves the same without it."""

    def order(self, step: int, records: int) -> NDArray[np.intp] | None:
        """Order in which the step takes the records, a permutation of 0 to `records` - 1; None leaves it to the learner."""
        ...

    def gradients(self, step: int, parameters: Matrix) -> Matrix:
        """Gradients of the canaries that are in, a row each; the learner samples and clips them like those of its records."""
        ...

    def observe(self, step: int, released: Matrix, parameters: Matrix) -> None:
        """Called after the step with the noisy sum of gradients that it released and the new parameters: the iterates."""
        ...


@runtime_checkable
class HookedLearner(Protocol):
    """A learner that lets an audit into its training."""

    def fit(self, records: Any, rng: Generator, hooks: TrainingHooks | None = None) -> Any:
        """Train on `records`, with all randomness from `rng`; returns what is released in the end."""
        ...


class GradientCanaries:
    """Hooks that put a gradient in for every canary that is in, and score each canary by what the training released.

    The score of a canary is the inner product of its direction with the sum of all released gradients. With orthogonal directions
    canaries do not disturb each other.

    Args:
      directions: gradients of the canaries, shape (canaries, parameters), finite; longer than the clipping norm to test clipping.
      included: whether a canary is in, booleans, shape (canaries,).
    Raises:
      InvalidArgument: wrong shapes, or numbers that are not finite (DPA105).
    Source: Nasr, Hayes, Steinke, Balle, Tramer, Jagielski, Carlini, Terzis 2023, section 4; docs/membership.md, section 6.
    Example:
      >>> hooks = GradientCanaries(np.eye(2), np.array([True, False]))
      >>> hooks.observe(0, np.array([1.0, 0.0]), np.zeros(2))
      >>> hooks.scores.tolist()
      [1.0, 0.0]
    """

    def __init__(self, directions: Any, included: Any) -> None:
        """Check the shapes and start with scores of zero."""
        self._directions, self._included = finite_array(directions, "directions"), finite_array(included, "included") != 0
        if self._directions.ndim != 2 or self._included.shape != self._directions.shape[:1]:
            raise InvalidArgument(
                "DPA105",
                "directions must be a matrix with a row for each canary, and included a boolean for each, got shapes "
                f"{self._directions.shape} and {self._included.shape}.",
            )
        self._scores = np.zeros(len(self._directions))

    @property
    def scores(self) -> Matrix:
        """One score for each canary, of all steps so far; higher where it seems to be in."""
        return self._scores.copy()

    def order(self, step: int, records: int) -> NDArray[np.intp] | None:  # noqa: ARG002 - part of the protocol
        """Return the records in their given order, in every step."""
        return np.arange(records)

    def gradients(self, step: int, parameters: Matrix) -> Matrix:  # noqa: ARG002 - part of the protocol
        """Return the directions of the canaries that are in."""
        chosen: Matrix = self._directions[self._included]
        return chosen

    def observe(self, step: int, released: Matrix, parameters: Matrix) -> None:  # noqa: ARG002 - part of the protocol
        """Add what the step shows about every canary."""
        self._scores = self._scores + self._directions @ released


@dataclass(frozen=True)
class GradientTraining:
    """A hooked learner with gradient canaries, as the function (included, rng) -> scores that `audit_canaries` trains with.

    Args:
      learner: the learner; it is called once for every run.
      records: what it trains on besides the canaries.
      directions: gradients of the canaries, as for `GradientCanaries`.
    Source: docs/membership.md, section 6.
    Example:
      >>> class OneStep:
      ...     def fit(self, records, rng, hooks):
      ...         released = hooks.gradients(0, np.zeros(3)).sum(axis=0) + rng.normal(size=3)
      ...         hooks.observe(0, released, released)
      >>> train = GradientTraining(OneStep(), np.zeros((5, 3)), np.eye(3))
      >>> train(np.array([True, False, True]), np.random.default_rng(0)).shape
      (3,)
    """

    learner: HookedLearner
    records: Any
    directions: Any

    def __call__(self, included: Any, rng: Generator) -> Matrix:
        """Scores of all canaries after a training with those that are included."""
        hooks = GradientCanaries(self.directions, included)
        self.learner.fit(self.records, rng, hooks)
        return hooks.scores
