"""Exponential mechanism: chooses a candidate with probability proportional to e^(score / temperature), exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.exact import Exact, shown
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.noise import store
from mechanisms.sampling.random import BitSource
from mechanisms.selection import choosing
from mechanisms.selection.proposals import draw_one, finest_precision, propose
from mechanisms.selection.repeated import alias_table, draw_many
from mechanisms.selection.scores import Scores

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

_SHARE: Final = 2000
"""Where there are more candidates than this for every choice asked for, choices one by one are quicker than a table."""


@dataclass(frozen=True, init=False)
class ExponentialMechanism:
    """Chooses one of several candidates, the better ones more often: P(i) is proportional to e^(score_i / temperature).

    For arrays, and lists of ints or of floats, the time that a choice takes depends on how many scores there are and not on what
    they are, but for the one trial in 5000 that is decided by further bits.

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

    release = choosing.release
    releases = choosing.releases
    to_dict = noise.to_dict

    def __init__(
        self, *, sensitivity: Exact, epsilon: Exact, monotonic: bool = False, adjacency: Adjacency | str = "add_remove"
    ) -> None:
        store(self, **choosing.read_parameters(sensitivity=sensitivity, epsilon=epsilon, monotonic=monotonic, adjacency=adjacency))
        choosing.require_temperature(self.temperature)

    @cached_property
    def temperature(self) -> Fraction:
        """By how much a score must rise for the odds of its candidate to rise by a factor e, in the units of the scores."""
        return choosing.moves(monotonic=self.monotonic) * self.sensitivity / self.epsilon

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one choice: bounded range epsilon, which is less than pure epsilon under composition."""
        from dpaudit.accounting import bounded_range

        return bounded_range(epsilon=self.epsilon, adjacency=self.adjacency)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return f"exponential mechanism at temperature {shown(self.temperature)}; {choosing.describe_scores(self)}"

    def _choose(self, scores: Scores, bits: BitSource) -> int:
        """The index of one candidate."""
        return draw_one(propose(scores, self.temperature, finest_precision(scores.size)), bits)

    def _choose_often(self, scores: Scores, count: int, bits: BitSource) -> NDArray[np.int64]:
        """Indices chosen independently: one by one, or from a table."""
        if count * _SHARE < scores.size:
            proposal = propose(scores, self.temperature, finest_precision(scores.size))
            return np.array([draw_one(proposal, bits) for _ in range(count)], dtype=np.int64)
        return draw_many(alias_table(scores, self.temperature), count, bits)

    @cached_property
    def _record(self) -> Release:
        """The entry of the release log for one choice."""
        parameters = (("monotonic", Fraction(int(self.monotonic))), ("temperature", self.temperature))
        return Release("exponential_mechanism", parameters, self.sensitivity, self.adjacency)
