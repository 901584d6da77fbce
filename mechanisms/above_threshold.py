"""Above threshold: the first of many questions whose answer is above a threshold, at the price of one, exactly on a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.exact import Exact, positive, shown
from mechanisms import comparisons, noise
from mechanisms.comparisons import Comparisons, comparisons_of, read_share
from mechanisms.noise import read_flag, require_multiple, store
from mechanisms.sampling.random import BitSource

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class AboveThreshold:
    """Asks one question after the other until one has an answer above a threshold, noisily; the others cost nothing more.

    A run compares value + noise >= threshold + noise, with one noise of the threshold and a fresh one for each question.

    Args:
      sensitivity: largest change of any single question's answer on neighbours, exact, a multiple of `lattice`.
      epsilon: privacy parameter of a whole run in nats, exact and positive, whatever it answers.
      monotonic: whether on every pair of neighbours the answers of all questions move in one direction, as counts do when a record
        is added; the questions then need half the noise.
      threshold_share: share of epsilon that pays the threshold's noise, exact, between 0 and 1; None for the share with which
        comparisons are most accurate.
      lattice: distance of adjacent values, exact, in output units.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), out of range (DPA103), not a multiple of
        the lattice (DPA107) or `monotonic` is no bool (DPA105).
    Source: Dwork and Roth 2014, Algorithm 1; Lyu, Su, Li 2017 (budgets, monotonic case);
      docs/selection_and_queries.md, sparse vector theorem.
    Example:
      >>> AboveThreshold(sensitivity=1, epsilon=2).release(1000, [3, 5, 9000, 9])
      2
    """

    sensitivity: Fraction
    epsilon: Fraction
    monotonic: bool
    threshold_share: Fraction
    lattice: Fraction
    adjacency: Adjacency

    start = comparisons.start
    to_dict = noise.to_dict

    def __init__(
        self,
        *,
        sensitivity: Exact,
        epsilon: Exact,
        monotonic: bool = False,
        threshold_share: Exact | None = None,
        lattice: Exact = 1,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        step, distance = positive(lattice, "lattice"), positive(sensitivity, "sensitivity")
        require_multiple(distance, step, "sensitivity")
        store(self, sensitivity=distance, epsilon=positive(epsilon, "epsilon"), lattice=step, adjacency=Adjacency.of(adjacency))
        store(self, monotonic=read_flag(monotonic, "monotonic"))
        store(self, threshold_share=read_share(threshold_share, steps=self._moves, rest=Fraction(1)))
        _ = self._comparisons

    @property
    def threshold_scale(self) -> Fraction:
        """Scale of the threshold's noise, in output units."""
        return self.sensitivity / (self.epsilon * self.threshold_share)

    @property
    def query_scale(self) -> Fraction:
        """Scale of the noise in each comparison, in output units."""
        return self._moves * self.sensitivity / (self.epsilon * (1 - self.threshold_share))

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy of a whole run."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss that pure differential privacy of a whole run allows."""
        from dpaudit.accounting import pure_dp

        return pure_dp(self.epsilon, adjacency=self.adjacency)

    def release(self, threshold: Exact, values: Sequence[Exact] | NDArray[Any], source: BitSource | None = None) -> int | None:
        """Position of the first value above the threshold, noisily.

        Args:
          threshold: as for `start`.
          values: exact answers of the questions in their order, on the lattice; a sequence or a 1-dimensional array.
          source: random bits; None takes the operating system's.
        Returns:
          A position from 0, or None where no value was found above.
        Raises:
          InvalidArgument: not numbers (DPA101, DPA102), of the wrong type or shape (DPA105), off the lattice (DPA107), too large
            (DPA108) or empty (DPA109), before randomness is drawn.
        Source: Dwork and Roth 2014, Algorithm 1.
        Example:
          >>> AboveThreshold(sensitivity=1, epsilon=2).release(0, [-9000, -9000]) is None
          True
        """
        row = self._comparisons.value_steps(values)
        run = self._comparisons.begin(threshold, source)
        return next((position for position, steps in enumerate(row.tolist()) if run.compare(steps)), None)

    def releases(
        self, threshold: Exact, values: Sequence[Exact] | NDArray[Any], count: int, source: BitSource | None = None
    ) -> NDArray[np.int64]:
        """Positions found by independent runs on the same values, each run paid for; what an audit needs many of.

        Args:
          threshold: as for `start`, at most 2**60 steps of the lattice.
          values: as for `release`.
          count: how many runs, at least 1.
          source: random bits; None takes the operating system's.
        Returns:
          int64 array of `count` positions; len(values) where no value was found above.
        Example:
          >>> AboveThreshold(sensitivity=1, epsilon=2).releases(0, [-9000, 9000, 5], 3).tolist()
          [1, 1, 1]
        """
        answers, _ = self._comparisons.many(threshold, values, count, source)
        # Runs that found nothing have answered every question, all others all but what comes after the first positive answer.
        positions: NDArray[np.int64] = (answers == 0).sum(axis=1, dtype=np.int64)
        return positions

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        kind = "monotonic answers" if self.monotonic else "answers"
        return (
            f"above threshold; discrete Laplace noise of scale {shown(self.threshold_scale)} for the threshold, "
            f"{shown(self.query_scale)} for questions, on multiples of {shown(self.lattice)}; {kind} of sensitivity "
            f"{shown(self.sensitivity)} under {self.adjacency}; epsilon {shown(self.epsilon)}"
        )

    @property
    def _moves(self) -> int:
        """The distance in sensitivities that the positive answer of a run must move to hide the change of the data."""
        return 1 if self.monotonic else 2

    @cached_property
    def _comparisons(self) -> Comparisons:
        """The noise in steps of the lattice, and its entry in the release log."""
        return comparisons_of(self, "above_threshold", logged={})
