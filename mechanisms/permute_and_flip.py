"""Permute-and-flip: chooses a candidate at pure epsilon, never with a worse expected score than the exponential mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Exact, shown
from dpaudit.releases import Release
from mechanisms import noise
from mechanisms.noise import store
from mechanisms.sampling.random import BitSource
from mechanisms.selection import choosing
from mechanisms.selection.clocks import EXPONENTIAL
from mechanisms.selection.coins import first_head, head_probabilities
from mechanisms.selection.race import SHIPPED, races
from mechanisms.selection.scores import Scores, read_scores

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss

_MOST_PROBABILITIES: Final = 100


@dataclass(frozen=True, init=False)
class PermuteAndFlip:
    """Chooses one of several candidates: walks through them in random order, stops at each with probability e^-(gap / temperature).

    The gap is the best score minus the candidate's. The law is that of the greatest score plus exponential noise. At the same
    epsilon the expected score is at least that of `ExponentialMechanism`. Only the pure guarantee is the same: under composition
    the exponential mechanism costs less, and the bound epsilon^2 / 8 on its zCDP does not hold here. The work hardly depends on the
    scores: up to 1000 candidates flip their coins, all of them; more run a race.

    Args:
      sensitivity: largest change of any single score on neighbours, exact, in the units of the scores.
      epsilon: privacy parameter in nats, exact and positive.
      monotonic: whether on every pair of neighbours all scores move in one direction, as counts do when a record is added;
        the same epsilon then allows half the temperature.
      adjacency: the neighbouring relation that the sensitivity is about.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), not positive (DPA104), `monotonic` is no bool (DPA105), or
        the temperature lies outside 2**-900 to 2**900 (DPA103).
    Source: McKenna and Sheldon 2020; Ding et al. 2021 (exponential noise); docs/selection_and_queries.md for the monotonic case.
    Example:
      >>> mechanism = PermuteAndFlip(sensitivity=1, epsilon=1)
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
        """Scale of the exponential noise that the mechanism is equivalent to, in the units of the scores."""
        return choosing.moves(monotonic=self.monotonic) * self.sensitivity / self.epsilon

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: pure differential privacy."""
        return Claim(PureDP(epsilon=self.epsilon), adjacency=self.adjacency)

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of one choice: at most pure epsilon, at least what two exchanged scores lose."""
        from dpaudit.accounting import price_releases

        return price_releases([self._record])

    def probabilities(self, scores: Sequence[Any] | NDArray[Any]) -> list[Enclosure]:
        """The probability of each candidate; it depends on the scores, so publishing it is not private.

        Args:
          scores: as for `release`, at most 100.
        Returns:
          One Enclosure per candidate, dimensionless.
        Raises:
          InvalidArgument: as for `release`, or more than 100 candidates (DPA103).
        Source: McKenna and Sheldon 2020, Proposition 2, as an expectation over the number of heads (docs/selection_and_queries.md).
        Example:
          >>> print(*PermuteAndFlip(sensitivity=1, epsilon=2).probabilities([0, 1]))
          [0.183939, 0.18394] [0.81606, 0.816061]
        """
        read = read_scores(scores)
        if read.size > _MOST_PROBABILITIES:
            raise InvalidArgument(
                "DPA103", f"probabilities are for at most {_MOST_PROBABILITIES} scores, got {read.size}. Use releases instead."
            )
        return head_probabilities(read, self.temperature)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return f"permute-and-flip at temperature {shown(self.temperature)}; {choosing.describe_scores(self)}"

    def _choose(self, scores: Scores, bits: BitSource) -> int:
        """The index of one candidate."""
        return first_head(scores, self.temperature, bits)

    def _choose_often(self, scores: Scores, count: int, bits: BitSource) -> NDArray[np.int64]:
        """Indices chosen independently: by races, unless candidates are too many to read at once."""
        if scores.size > SHIPPED.chunk:
            return np.array([first_head(scores, self.temperature, bits) for _ in range(count)], dtype=np.int64)
        return races(scores, self.temperature, EXPONENTIAL, 1, count, bits)[:, 0]

    @cached_property
    def _record(self) -> Release:
        """The entry of the release log for one choice."""
        parameters = (("monotonic", Fraction(int(self.monotonic))), ("temperature", self.temperature))
        return Release("permute_and_flip", parameters, self.sensitivity, self.adjacency)
