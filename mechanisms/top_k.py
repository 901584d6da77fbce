"""Top k: chooses the k best of many candidates, in order, by one race or by one choice after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, shown, word
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.noise import open_release, read_count, store
from mechanisms.sampling.random import BitSource
from mechanisms.selection import choosing
from mechanisms.selection.clocks import GUMBEL
from mechanisms.selection.coins import first_head
from mechanisms.selection.proposals import draw_one, finest_precision, propose
from mechanisms.selection.race import SHIPPED, race, races
from mechanisms.selection.scores import Scores, read_scores

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

Method: TypeAlias = Literal["one_shot", "peeling", "permute_and_flip"]
"""The way in which choices are made: the first two give the same law."""

_METHODS: Final = ("one_shot", "peeling", "permute_and_flip")


@dataclass(frozen=True, init=False)
class TopK:
    """Chooses k of several candidates without repetition, the first choice first; nothing but their indices is released.

    Every choice is made among the candidates that are left, at epsilon / k. "one_shot" and "peeling" are k exponential mechanisms:
    the first as one race of scores with Gumbel noise, in about the time of one choice, the second one after the other. Their price
    under composition is k times bounded range, below k times pure. "permute_and_flip" makes each choice by permute-and-flip with
    fresh coins: better expected scores at the same pure epsilon, and the pure price.

    Args:
      k: how many candidates are chosen, at least 1.
      sensitivity: largest change of any single score on neighbours, exact, in the units of the scores.
      epsilon: privacy parameter of all k choices together in nats, exact and positive.
      method: "one_shot", "peeling" or "permute_and_flip".
      monotonic: whether on every pair of neighbours all scores move in one direction, as counts do when a record is added;
        the same epsilon then allows half the temperature.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), of another type (DPA105), or `k`,
        `method` or the temperature lies outside what is allowed (DPA103).
    Source: Durfee and Rogers 2019 (one race is k exponential mechanisms); docs/selection_and_queries.md (proofs).
    Example:
      >>> TopK(k=2, sensitivity=1, epsilon=4).release([0, 900, -100, 800])
      [1, 3]
    """

    k: int
    sensitivity: Fraction
    epsilon: Fraction
    method: Method
    monotonic: bool
    adjacency: Adjacency

    to_dict = noise.to_dict

    def __init__(
        self,
        *,
        k: int,
        sensitivity: Exact,
        epsilon: Exact,
        method: Method = "one_shot",
        monotonic: bool = False,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        word(method, "method", _METHODS)
        places = integer(k, "k", lower=1)
        store(
            self,
            k=places,
            method=method,
            **choosing.read_parameters(sensitivity=sensitivity, epsilon=epsilon, monotonic=monotonic, adjacency=adjacency),
        )
        choosing.require_temperature(self.temperature)

    @cached_property
    def temperature(self) -> Fraction:
        """By how much a score must rise for its odds in one choice to rise by a factor e, in the units of the scores."""
        return choosing.moves(monotonic=self.monotonic) * self.sensitivity * self.k / self.epsilon

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy of all choices together."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of all k choices together."""
        from dpaudit.accounting import price_releases

        return price_releases([self._record])

    def release(self, scores: Sequence[Any] | NDArray[Any], source: BitSource | None = None) -> list[int]:
        """The indices of k candidates, in the order in which they were chosen.

        Args:
          scores: one number per candidate (ints, floats, Fractions), or a 1-dimensional array; a float stands for its exact
            binary value, and minus infinity for a candidate that is never chosen. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          k different indices from 0 to len(scores) - 1.
        Raises:
          InvalidArgument: wrong type or shape (DPA105), no candidate (DPA109), NaN or plus infinity (DPA102), fewer than k
            candidates that may be chosen or more than 2**30 (DPA103), before randomness is drawn.
        Source: Durfee and Rogers 2019; docs/selection_and_queries.md (races).
        Example:
          >>> TopK(k=1, sensitivity=1, epsilon=1).release([float("-inf"), 0.5])
          [1]
        """
        read = self._read(scores)
        bits, hold = open_release(self._record, source, count=self.k)
        chosen = self._choose(read, bits)
        return chosen if hold is None else hold(scores, chosen)

    def releases(self, scores: Sequence[Any] | NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[np.int64]:
        """Independent releases on the same scores, each paid for; `count` is from 1 to 2**32, the rest as for `release`.

        Returns:
          int64 array of shape (count, k), each row in the order of the choices.
        Example:
          >>> TopK(k=2, sensitivity=1, epsilon=4).releases([0, 1000, 2000], 2).tolist()
          [[2, 1], [2, 1]]
        """
        read, copies = self._read(scores), read_count(count)
        bits, hold = open_release(self._record, source, count=copies * self.k)
        if self.method == "one_shot" and read.size <= SHIPPED.chunk:
            chosen = races(read, self.temperature, GUMBEL, self.k, copies, bits)
        else:
            chosen = np.array([self._choose(read, bits) for _ in range(copies)], dtype=np.int64)
        return chosen if hold is None else hold(scores, chosen)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        method = self.method.replace("_", " ")
        return f"top {self.k} ({method}) at temperature {shown(self.temperature)}; {choosing.describe_scores(self)}"

    def _read(self, scores: Sequence[Any] | NDArray[Any]) -> Scores:
        """The scores, refused where they do not hold k candidates that may be chosen."""
        read = read_scores(scores)
        if read.choices() < self.k:
            raise InvalidArgument(
                "DPA103", f"k must be at most the number of candidates with a score above -inf, got k={self.k}. Choose fewer."
            )
        return read

    def _choose(self, scores: Scores, bits: BitSource) -> list[int]:
        """All k choices."""
        heat = self.temperature
        if self.method == "one_shot":
            return race(scores, heat, GUMBEL, self.k, bits)
        if self.method == "peeling":
            return choose_in_turn(scores, self.k, lambda left: draw_one(propose(left, heat, finest_precision(left.size)), bits))
        return choose_in_turn(scores, self.k, lambda left: first_head(left, heat, bits))

    @cached_property
    def _record(self) -> Release:
        """The entry of the release log for the k choices of one release."""
        flips = Fraction(int(self.method == "permute_and_flip"))
        parameters = (("flips", flips), ("monotonic", Fraction(int(self.monotonic))), ("temperature", self.temperature))
        return Release("top_k", parameters, self.sensitivity, self.adjacency, count=self.k)


def choose_in_turn(scores: Scores, places: int, choose: Callable[[Scores], int]) -> list[int]:
    """Candidates chosen one after the other, each among those that are left."""
    left, remaining = np.arange(scores.size), scores
    chosen = []
    for place in range(places):
        index = choose(remaining)
        chosen.append(int(left[index]))
        if place < places - 1:
            remaining = remaining.only(np.delete(np.arange(left.size), index))
            left = np.delete(left, index)
    return chosen
