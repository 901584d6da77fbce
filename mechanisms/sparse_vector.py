"""Sparse vector: which of many questions have answers above a threshold, paid for by the few that do, exactly on a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, positive, shown
from mechanisms import comparisons, noise
from mechanisms.comparisons import Comparisons, comparisons_of, read_number_share, read_share
from mechanisms.noise import read_flag, require_multiple, store
from mechanisms.sampling.random import BitSource
from mechanisms.steps import format_of

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss


@dataclass(frozen=True, init=False)
class SparseVector:
    """Says of one question after the other whether its answer is above a threshold, until it has said so `cutoff` times.

    A run compares value + noise >= threshold + noise, with one noise of the threshold for the whole run and a fresh one for each
    question. Questions below the threshold cost nothing more, however many there are.

    Args:
      sensitivity: largest change of any single question's answer on neighbours, exact, a multiple of `lattice`.
      epsilon: privacy parameter of a whole run in nats, exact and positive, whatever it answers.
      cutoff: how many positive answers end a run, 1 to 2**32.
      monotonic: whether on every pair of neighbours the answers of all questions move in one direction, as counts do when a record
        is added; the questions then need half the noise.
      threshold_share: share of epsilon that pays the threshold's noise, exact, above 0; None for the share with which comparisons
        are most accurate.
      number_share: share of epsilon that pays noisy copies of the values above the threshold, exact, in [0, 1); 0 for none.
      lattice: distance of adjacent values, exact, in output units.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102, DPA105), not positive (DPA104), out of range (DPA103) or not a
        multiple of the lattice (DPA107).
    Source: Dwork and Roth 2014, Algorithms 2 and 3; Lyu, Su, Li 2017, Algorithm 7;
      docs/selection_and_queries.md, sparse vector theorem.
    Example:
      >>> run = SparseVector(sensitivity=1, epsilon=2, cutoff=2).start(threshold=1000)
      >>> [run.ask(value) for value in (3, 5000, 7, 9000)], run.left
      ([False, True, False, True], 0)
    """

    sensitivity: Fraction
    epsilon: Fraction
    cutoff: int
    monotonic: bool
    threshold_share: Fraction
    number_share: Fraction
    lattice: Fraction
    adjacency: Adjacency

    start = comparisons.start
    to_dict = noise.to_dict

    def __init__(
        self,
        *,
        sensitivity: Exact,
        epsilon: Exact,
        cutoff: int = 1,
        monotonic: bool = False,
        threshold_share: Exact | None = None,
        number_share: Exact = 0,
        lattice: Exact = 1,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        step, distance = positive(lattice, "lattice"), positive(sensitivity, "sensitivity")
        require_multiple(distance, step, "sensitivity")
        store(self, sensitivity=distance, epsilon=positive(epsilon, "epsilon"), lattice=step, adjacency=Adjacency.of(adjacency))
        store(self, cutoff=integer(cutoff, "cutoff", lower=1, upper=2**32), monotonic=read_flag(monotonic, "monotonic"))
        numbers = read_number_share(number_share)
        share = read_share(threshold_share, steps=self._moves, rest=1 - numbers)
        store(self, threshold_share=share, number_share=numbers)
        _ = self._comparisons

    @property
    def threshold_scale(self) -> Fraction:
        """Scale of the threshold's noise, in output units."""
        return self.sensitivity / (self.epsilon * self.threshold_share)

    @property
    def query_scale(self) -> Fraction:
        """Scale of the noise in each comparison, in output units."""
        return self._moves * self.sensitivity / (self.epsilon * (1 - self.threshold_share - self.number_share))

    @property
    def number_scale(self) -> Fraction | None:
        """Scale of the noise in each number, in output units; None where no numbers are paid for."""
        return self.cutoff * self.sensitivity / (self.epsilon * self.number_share) if self.number_share else None

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy of a whole run."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss that pure differential privacy of a whole run allows."""
        from dpaudit.accounting import pure_dp

        return pure_dp(self.epsilon, adjacency=self.adjacency)

    def releases(
        self, threshold: Exact, values: Sequence[Exact] | NDArray[Any], count: int, source: BitSource | None = None
    ) -> NDArray[np.int8]:
        """Answers of independent runs on the same values, each run paid for; what an audit needs many of.

        Args:
          threshold: as for `start`, at most 2**60 steps of the lattice.
          values: exact answers of the questions in their order, at most 2**60 steps each; a sequence or a 1-dimensional array.
          count: how many runs, at least 1.
          source: random bits; None takes the operating system's.
        Returns:
          int8 array of shape (count, len(values)): 1 above, 0 below, -1 no longer asked.
        Raises:
          InvalidArgument: not numbers (DPA101, DPA102), of the wrong type or shape (DPA105), off the lattice (DPA107), too large
            (DPA108) or empty (DPA109), or `count` is no integer from 1 to 2**32 (DPA103, DPA105); before randomness is drawn.
        Example:
          >>> SparseVector(sensitivity=1, epsilon=2).releases(0, [-9000, 9000, 5], 2).tolist()
          [[0, 1, -1], [0, 1, -1]]
        """
        return self._comparisons.many(threshold, values, count, source)[0]

    def number_releases(
        self, threshold: Exact, values: Sequence[Exact] | NDArray[Any], count: int, source: BitSource | None = None
    ) -> tuple[NDArray[np.int8], NDArray[Any]]:
        """Answers and numbers of independent runs, as `ask_number` gives them; takes what `releases` takes.

        Returns:
          Two arrays of shape (count, len(values)): the answers as `releases` gives them, and a noisy number where the answer is 1,
          else 0 (int64 for a whole lattice, float64 for a dyadic one, else Fractions).
        Raises:
          InvalidArgument: as for `releases`, or there is no budget for numbers (DPA106).
        Example:
          >>> answers, numbers = SparseVector(sensitivity=1, epsilon=2, number_share="1/2").number_releases(0, [-9000, 9000], 1)
          >>> answers.tolist(), bool(abs(numbers[0, 1] - 9000) < 500)
          ([[0, 1]], True)
        """
        scale = self.number_scale
        if scale is None:
            raise InvalidArgument("DPA106", "numbers need a budget. Build the mechanism with number_share=, or use releases().")
        form = format_of(self.lattice)
        form.require_room(scale / self.lattice)
        answers, numbers = self._comparisons.many(threshold, values, count, source)
        return answers, form.write(numbers, self.lattice)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        kind = "monotonic answers" if self.monotonic else "answers"
        numbers = "" if self.number_scale is None else f", {shown(self.number_scale)} for numbers"
        return (
            f"sparse vector up to {self.cutoff} positive answers; discrete Laplace noise: scale {shown(self.threshold_scale)} for "
            f"the threshold, {shown(self.query_scale)} for questions{numbers}, on multiples of {shown(self.lattice)}; {kind} of "
            f"sensitivity {shown(self.sensitivity)} under {self.adjacency}; epsilon {shown(self.epsilon)}"
        )

    @property
    def _moves(self) -> int:
        """The distance in sensitivities that the positive answers of a run must move together to hide the change of the data."""
        return self.cutoff * (1 if self.monotonic else 2)

    @cached_property
    def _comparisons(self) -> Comparisons:
        """The noise in steps of the lattice, and its entry in the release log."""
        number = self.number_scale
        logged = {"cutoff": Fraction(self.cutoff), "number_scale": number or Fraction(0)}
        return comparisons_of(self, "sparse_vector", cutoff=self.cutoff, numbers=number, logged=logged)
