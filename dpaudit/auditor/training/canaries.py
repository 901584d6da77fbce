"""Gradient canaries that draw their own coins: put into the sum of clipped gradients of any loop, and scored by the noisy one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.membership.scores import DPSGD, ScoreAudit, audit_scores
from dpaudit.auditor.training.observed import Array, vector_of
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer, positive, rational

Result = TypeVar("Result")

_CANARIES: Final = 1000


class DiracCanaries:
    """Canaries whose clipped gradient is one coordinate of length `clip`: no other gradient of that length is easier to see.

    Each canary is in the data by a fair coin, and then in each batch by a coin of the sampling rate.

    Args:
      parameters: how many numbers a gradient has.
      clip: the clip of the loop, which is the length of a canary's gradient.
      rate: sampling rate of the loop.
      canaries: how many, at most `parameters`; 1,000 or half of the parameters where not given.
      fresh: whether each canary has a fair coin of its own in every step, for `audit_steps`, instead of one for the run.
      seed: seed of the coins and coordinates; fresh where not given.
    Raises:
      InvalidArgument: a number out of range (DPA101 to DPA105).
    Source: Nasr, Hayes, Steinke, Balle, Tramer, Jagielski, Carlini, Terzis 2023, section 4.
    Example:
      >>> canaries, rng = DiracCanaries(500, clip=1, rate=1, canaries=400, seed=1), np.random.default_rng(2)
      >>> noisy_sum = canaries.wrap(lambda clipped_sum: clipped_sum + 0.5 * rng.normal(size=500))
      >>> for _ in range(4):
      ...     released = noisy_sum(np.zeros(500))
      >>> claimed = DPSGD(rate=1, steps=4, noise_multiplier=1)
      >>> canaries.audit(delta="1e-5", law=claimed).within(claimed).noise_multiplier < 1
      True
    """

    def __init__(
        self,
        parameters: int,
        *,
        clip: Exact,
        rate: Exact,
        canaries: int | None = None,
        fresh: bool = False,
        seed: int | None = None,
    ) -> None:
        """Draw coordinates and coins."""
        integer(parameters, "parameters", lower=1)
        count = canaries if canaries is not None else max(1, min(_CANARIES, parameters // 2))
        integer(count, "canaries", lower=1, upper=parameters)
        self.clip = float(rational(positive(clip, "clip")))
        self.rate = float(rational(in_range(rate, "rate", lower=0, upper=1, lower_open=True)))
        self.parameters = parameters
        self._rng = np.random.default_rng(seed)
        self.places: NDArray[np.int64] = np.sort(self._rng.choice(parameters, size=count, replace=False)).astype(np.int64)
        self._coins, self._fresh = [self._rng.random(count) < 1 / 2], fresh
        self._scores = list[Array]()

    @property
    def scores(self) -> Array:
        """What each step showed of each canary, shape (steps, canaries), in clips."""
        return np.array(self._scores).reshape(len(self._scores), len(self.places))

    @property
    def included(self) -> NDArray[np.bool_]:
        """How the coins fell: of shape (canaries,), or (steps, canaries) where they are fresh."""
        return np.array(self._coins[: len(self._scores)]).reshape(self.scores.shape) if self._fresh else self._coins[0]

    def draw(self) -> NDArray[np.int64]:
        """Draw the coordinates of the canaries that are in the batch of a step."""
        if self._fresh and len(self._coins) == len(self._scores):
            self._coins.append(self._rng.random(len(self.places)) < 1 / 2)
        drawn: NDArray[np.int64] = self.places[self._coins[-1] & (self._rng.random(len(self.places)) < self.rate)]
        return drawn

    def observe(self, noisy_sum: Any, *, clean_sum: Any = None) -> None:
        """Keep what a noisy sum shows of the canaries, less the sum for the records if it is given: arrays, or one for each layer.

        Whoever guesses about a canary may know every record and what was released, and so the gradients of the records.
        """
        seen = vector_of(noisy_sum, "noisy_sum")
        others = np.zeros(len(seen)) if clean_sum is None else vector_of(clean_sum, "clean_sum")
        if not len(seen) == len(others) == self.parameters:
            raise InvalidArgument("DPA105", f"noisy_sum has {len(seen)} numbers, the canaries were drawn for {self.parameters}.")
        self._scores.append((seen - others)[self.places] / self.clip)

    def wrap(self, noisy_sum: Callable[..., Result]) -> Callable[..., Result]:
        """Wrap the function that adds noise to a sum of clipped gradients, so that every call is one step with canaries.

        Args:
          noisy_sum: takes the sum first, an array or a tree of arrays, and returns the noisy sum, or a tuple that begins with it,
            as the `update` of a privatizer of jax_privacy does.
        Returns:
          A function with the same arguments and result.
        """

        def with_canaries(clipped_sum: Any, *arguments: Any, **named: Any) -> Result:
            others = vector_of(
                [np.array(leaf) for leaf in _leaves(clipped_sum)], "clipped_sum"
            )  # a copy, as noise may be added in place
            result = noisy_sum(self._added(clipped_sum), *arguments, **named)
            # A tuple is a result with a state only where the sum itself is none.
            seen = result[0] if isinstance(result, tuple) and not isinstance(clipped_sum, tuple) else result
            if isinstance(result, tuple) and isinstance(clipped_sum, tuple) and len(result) != len(clipped_sum):
                seen = result[0]
            self.observe(_leaves(seen), clean_sum=others)
            return result

        return with_canaries

    def _added(self, clipped_sum: Any) -> Any:
        """Return a sum with the gradients of the canaries of one batch, in the form that it had."""
        leaves = _leaves(clipped_sum)
        sizes = [int(np.prod(np.shape(leaf))) for leaf in leaves]
        if sum(sizes) != self.parameters:
            raise InvalidArgument("DPA105", f"the sum has {sum(sizes)} numbers, the canaries were drawn for {self.parameters}.")
        total = np.zeros(self.parameters)
        total[self.draw()] = self.clip
        parts = np.split(total, np.cumsum(sizes)[:-1])
        pairs = zip(leaves, parts, strict=True)
        return _rebuilt(clipped_sum, [leaf + part.reshape(np.shape(leaf)).astype(leaf.dtype) for leaf, part in pairs])

    def audit(self, *, delta: Exact, alpha: Exact = "0.05", law: DPSGD | None = None) -> ScoreAudit:
        """Bound privacy by the scores so far, as `audit_scores` does; for fresh coins see `audit_steps`.

        Args:
          delta: where epsilon is bounded.
          alpha: error probability.
          law: what is said of the training; with its noise multiplier, steps are weighted by their likelihood.
        Returns:
          The bounds.
        """
        return audit_scores(self.scores, self.included, delta=delta, alpha=alpha, law=law)


def _leaves(tree: Any) -> list[Any]:
    """Arrays of a tree in a fixed order; JAX knows its own trees."""
    if "jax" in sys.modules:
        return list(sys.modules["jax"].tree_util.tree_leaves(tree))
    if isinstance(tree, dict):
        return [leaf for name in sorted(tree) for leaf in _leaves(tree[name])]
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in _leaves(part)]
    return [tree]


def _rebuilt(tree: Any, leaves: list[Any]) -> Any:
    """Put arrays into a tree in the order of `_leaves`."""
    if "jax" in sys.modules:
        trees = sys.modules["jax"].tree_util
        return trees.tree_unflatten(trees.tree_structure(tree), leaves)
    rest = iter(leaves)

    def place(part: Any) -> Any:
        if isinstance(part, dict):
            found = {name: place(part[name]) for name in sorted(part)}
            return {name: found[name] for name in part}
        return type(part)(place(one) for one in part) if isinstance(part, (list, tuple)) else next(rest)

    return place(tree)
