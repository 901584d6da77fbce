"""Exponential mechanism: chooses a candidate with probability proportional to e^(score / temperature), exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.exact import Exact, shown
from dpaudit.releases import Release, note
from mechanisms.noise import as_text, bit_source, read_count, store
from mechanisms.sampling.random import BitSource
from mechanisms.selection.parameters import checked, kind_of_scores, moves, require_temperature
from mechanisms.selection.proposals import draw_one, finest_precision, propose
from mechanisms.selection.repeated import alias_table, draw_many
from mechanisms.selection.scores import read_scores

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

_SHARE: Final = 2000
"""Where there are more candidates than this for every choice asked for, choices one by one are quicker than a table."""


@dataclass(frozen=True, init=False)
class ExponentialMechanism:
    """Chooses one of several candidates, the better ones more often: P(i) is proportional to e^(score_i / temperature).

    Args:
      sensitivity: largest change of any single score on neighbours, exact, in the units of the scores.
      epsilon: privacy parameter in nats, exact and positive.
      monotonic: whether on every pair of neighbours all scores move in one direction, as counts do when a record is added;
        the same epsilon then allows half the temperature.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), `monotonic` is no bool (DPA105), or
        the temperature lies outside 2**-900 to 2**900 (DPA103).
    Source: McSherry and Talwar 2007; Dong, Durfee, Rogers 2020 (bounded range, and the monotonic case).
    Example:
      >>> mechanism = ExponentialMechanism(sensitivity=1, epsilon=1)
      >>> mechanism.temperature, mechanism.release([0, 40, 1000])
      (Fraction(2, 1), 2)
    """

    sensitivity: Fraction
    epsilon: Fraction
    monotonic: bool
    adjacency: Adjacency

    def __init__(
        self, *, sensitivity: Exact, epsilon: Exact, monotonic: bool = False, adjacency: Adjacency | str = "add_remove"
    ) -> None:
        store(self, **checked(sensitivity=sensitivity, epsilon=epsilon, monotonic=monotonic, adjacency=adjacency))
        require_temperature(self.temperature)

    @property
    def temperature(self) -> Fraction:
        """By how much a score must rise for the odds of its candidate to rise by a factor e, in the units of the scores."""
        return moves(monotonic=self.monotonic) * self.sensitivity / self.epsilon

    @property
    def claim(self) -> Claim:
        """What an audit may test: pure differential privacy."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one choice: bounded range epsilon, which is less than pure epsilon under composition."""
        from dpaudit.accounting import bounded_range

        return bounded_range(epsilon=self.epsilon, adjacency=self.adjacency)

    def release(self, scores: Sequence[Any] | NDArray[Any], source: BitSource | None = None) -> int:
        """The index of one candidate.

        For arrays, and lists of ints or of floats, the time taken depends on how many scores there are and not on what they
        are, but for the one trial in 5000 that is decided by further bits.

        Args:
          scores: one number per candidate (ints, floats, Fractions), or a 1-dimensional array; a float stands for its exact
            binary value, and minus infinity for a candidate that is never chosen. Never changed.
          source: random bits; None takes the operating system's.
        Returns:
          An index from 0 to len(scores) - 1.
        Raises:
          InvalidArgument: wrong type or shape (DPA105), no candidate (DPA109), NaN or plus infinity (DPA102), or more than
            2**30 candidates (DPA103), before randomness is drawn.
        Source: McSherry and Talwar 2007; docs/selection_and_queries.md (staircase proposals).
        Example:
          >>> ExponentialMechanism(sensitivity=1, epsilon=1).release([float("-inf"), 0.5])
          1
        """
        read = read_scores(scores)
        bits = bit_source(source)
        hold = note(self._record if bits.secure else replace(self._record, secure=False))
        chosen = draw_one(propose(read, self._heat, finest_precision(read.size)), bits)
        return chosen if hold is None else hold(scores, chosen)

    def releases(self, scores: Sequence[Any] | NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[np.int64]:
        """Independent choices on the same scores, each paid for; what an audit needs many of.

        Args:
          scores: as for `release`.
          count: how many, at least 1.
          source: random bits; None takes the operating system's.
        Returns:
          int64 array of `count` indices.
        Raises:
          InvalidArgument: as for `release`, or `count` is no integer from 1 to 2**32 (DPA103, DPA105).
        Source: design rule 4 (the log counts every one of them).
        Example:
          >>> ExponentialMechanism(sensitivity=1, epsilon=1).releases([0, 1000], 3).tolist()
          [1, 1, 1]
        """
        read, copies = read_scores(scores), read_count(count)
        bits = bit_source(source)
        hold = note(replace(self._record, count=copies, secure=bits.secure))
        if copies * _SHARE < read.size:
            proposal = propose(read, self._heat, finest_precision(read.size))
            chosen = np.array([draw_one(proposal, bits) for _ in range(copies)], dtype=np.int64)
        else:
            chosen = draw_many(alias_table(read, self._heat), copies, bits)
        return chosen if hold is None else hold(scores, chosen)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"exponential mechanism at temperature {shown(self.temperature)}; {kind_of_scores(monotonic=self.monotonic)} "
            f"of sensitivity {shown(self.sensitivity)} under {self.adjacency}; epsilon {shown(self.epsilon)}"
        )

    def to_dict(self) -> dict[str, str]:
        """The mechanism as plain text values, exact, from which it can be built again."""
        return as_text(self, "sensitivity", "epsilon", "monotonic", "adjacency")

    @cached_property
    def _heat(self) -> Fraction:
        """The temperature, computed once."""
        return self.temperature

    @cached_property
    def _record(self) -> Release:
        """What the release log keeps of one choice."""
        parameters = (("monotonic", Fraction(int(self.monotonic))), ("temperature", self.temperature))
        return Release("exponential_mechanism", parameters, self.sensitivity, self.adjacency)
