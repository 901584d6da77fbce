"""Betting against a claim: on labels, on one event, and one bankroll over several pairs of datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from dpaudit.auditor.accounts import Menu, game_of, settle
from dpaudit.auditor.binning import Floats, Labels
from dpaudit.auditor.bounds import ClaimPoint
from dpaudit.auditor.events import Event, RankedEvent
from dpaudit.auditor.label_bettor import LabelBettor, check_runs, next_settlement
from dpaudit.errors import InvalidArgument

__all__ = ["Bankroll", "EventBettor", "LabelBettor"]

LABEL_SHARE: Final = 0.5
"""Share of the money that stays with the label bettor when it is divided over events."""

_TRUST: Final = 0.5
_MOST_TRUSTED: Final = 2000.0


class EventBettor:
    """Bets against a claim on the labels of the hits of one event.

    The stake of each run depends on earlier runs only: money is spread over a ladder of stakes and follows their gains, settled
    anew on a public schedule of run counts. Under the claim the product of the factors is an e-process.

    Args:
      event: a set of outputs, fixed before the first run.
      reverse: False to test P(S) <= e^epsilon Q(S) + delta, True for the other direction.
      point: the claim under test.
      expected: what a pilot on other runs said of the event, if it is to set the first stakes.
    Source: docs/auditing_statistics.md, section 4.
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.auditor.events import Threshold
      >>> labels = np.arange(400, dtype=np.uint8) % 2
      >>> bettor = EventBettor(Threshold(0, 1.0, at_most=False), False, ClaimPoint(epsilon=Fraction(1), delta=Fraction(0)))
      >>> bool(bettor.observe(labels[:, None].astype(np.float64), labels).sum() > math.log(20))
      True
    """

    def __init__(self, event: Event, reverse: bool, point: ClaimPoint, *, expected: RankedEvent | None = None) -> None:  # noqa: FBT001
        self._event = event
        self._reverse = reverse
        self._game = game_of(point)
        self._menu = Menu(np.array([[0.0, 1.0]]), np.zeros((1, 2)), np.zeros(1))
        self._counts = _imagined(expected)
        self._log_factors = np.zeros((2, 2))
        self._runs = 0
        self._settle_at = 0
        self._width: int | None = None

    def observe(self, features: Floats, labels: Labels) -> Floats:
        """Play the next runs, in their order.

        Args:
          features: float64 of shape (runs, columns), the same columns in every call.
          labels: uint8 of shape (runs,), 0 or 1.
        Returns:
          The natural logarithm of the factor by which each run multiplied the money.
        Raises:
          InvalidArgument: shapes that do not fit together or to the earlier runs (DPA105).
        Source: docs/auditing_statistics.md, section 4.
        """
        self._width = check_runs(features, labels, self._width)
        hits = self._event.hits(features).astype(np.uint8)
        places = 2 * hits + (1 - labels if self._reverse else labels)
        increments = np.empty(len(labels))
        start = 0
        while start < len(labels):
            if self._runs == self._settle_at:
                self._log_factors = np.log(settle(self._counts, (self._menu,), self._game)[0])
                self._settle_at = next_settlement(self._runs)
            stop = min(len(labels), start + self._settle_at - self._runs)
            segment = places[start:stop]
            increments[start:stop] = self._log_factors.ravel()[segment]
            self._counts += np.bincount(segment, minlength=4).reshape(2, 2)
            self._runs += stop - start
            start = stop
        return increments


def _imagined(expected: RankedEvent | None) -> Floats:
    """Counts that stand for what the pilot said, at a discount: it chose this event among many."""
    if expected is None:
        return np.zeros((2, 2))
    hits = min(_TRUST * expected.hits, _MOST_TRUSTED)
    misses = hits * (1 - expected.mass) / expected.mass
    return np.array([[misses / 2, misses / 2], [hits * (1 - expected.theta), hits * expected.theta]])


class Bankroll:
    """The money of one claim: it starts at 1, is staked on pairs of datasets, and refutes the claim at 1/alpha.

    The sum of all accounts is an e-process as long as stakes and events are chosen from earlier runs only. Amounts are kept as
    logarithms, so that they neither overflow nor vanish.

    Args:
      point: the claim under test.
    Source: docs/auditing_statistics.md, section 5.
    Example:
      >>> from fractions import Fraction
      >>> labels = np.arange(400, dtype=np.uint8) % 2
      >>> bankroll = Bankroll(ClaimPoint(epsilon=Fraction(1), delta=Fraction(0)))
      >>> bankroll.open(0, 0.5)
      >>> bool(bankroll.observe(0, labels[:, None].astype(np.float64), labels)[-1] > math.log(20))
      True
    """

    def __init__(self, point: ClaimPoint) -> None:
        self._point = point
        self._unstaked = 1.0
        self._accounts: dict[int, list[tuple[LabelBettor | EventBettor, float]]] = {}
        self._closed = False

    @property
    def log_wealth(self) -> float:
        """Natural logarithm of the sum of all accounts and of what is not staked."""
        return float(np.logaddexp.reduce([_log(self._unstaked), *(money for pair in self._accounts.values() for _, money in pair)]))

    def open(self, pair: int, stake: float) -> None:
        """Stake money on the label bettor of a pair, before the first run of that pair.

        Args:
          pair: number of the pair.
          stake: positive amount, at most what is not staked yet; the bankroll starts with 1.
        Raises:
          InvalidArgument: a pair that is open already, or after `concentrate` (DPA103); a stake out of range (DPA103).
        Source: docs/auditing_statistics.md, section 5.
        """
        if self._closed or pair in self._accounts:
            raise InvalidArgument("DPA103", f"pair {pair} cannot be opened: it is open already, or all money is on one pair.")
        if not 0 < stake <= self._unstaked * (1 + 1e-12):
            raise InvalidArgument(
                "DPA103", f"stake must be above 0 and at most {self._unstaked:g}, the money not staked yet, got {stake}."
            )
        self._accounts[pair] = [(LabelBettor(self._point), math.log(stake))]
        self._unstaked = max(0.0, self._unstaked - stake)

    def observe(self, pair: int, features: Floats, labels: Labels) -> Floats:
        """Play the next runs of a pair, in their order.

        Args:
          pair: number of an open pair.
          features: float64 of shape (runs, columns).
          labels: uint8 of shape (runs,), 0 or 1.
        Returns:
          The natural logarithm of all the money after each run.
        Raises:
          InvalidArgument: a pair that is not open (DPA103), or shapes that do not fit (DPA105).
        Source: docs/auditing_statistics.md, section 5.
        """
        accounts = self._of(pair)
        paths = [money + np.cumsum(bettor.observe(features, labels)) for bettor, money in accounts]
        if len(labels) == 0:
            return np.empty(0)
        others = [money for key, group in self._accounts.items() if key != pair for _, money in group]
        self._accounts[pair] = [(bettor, float(path[-1])) for (bettor, _), path in zip(accounts, paths, strict=True)]
        rest = float(np.logaddexp.reduce([_log(self._unstaked), *others]))
        return _log_sum(paths, rest)

    def concentrate(self, pair: int, events: Sequence[RankedEvent]) -> None:
        """Move all money to one pair and divide it over its label bettor and events, at the end of a pilot.

        Args:
          pair: number of an open pair.
          events: events chosen on earlier runs; with none, everything goes to the label bettor.
        Raises:
          InvalidArgument: a pair that is not open, or a second call (DPA103).
        Source: docs/auditing_statistics.md, section 5.
        """
        if self._closed:
            raise InvalidArgument("DPA103", "the money is concentrated already; it can be divided over events once.")
        bettor = self._of(pair)[0][0]
        total = self.log_wealth
        share = LABEL_SHARE if events else 1.0
        bets: list[tuple[LabelBettor | EventBettor, float]] = [(bettor, total + math.log(share))]
        for ranked in events:
            money = total + math.log((1 - share) / len(events))
            bets.append((EventBettor(ranked.event, ranked.reverse, self._point, expected=ranked), money))
        self._accounts = {pair: bets}
        self._unstaked = 0.0
        self._closed = True

    def _of(self, pair: int) -> list[tuple[LabelBettor | EventBettor, float]]:
        """The accounts of an open pair."""
        if pair not in self._accounts:
            raise InvalidArgument("DPA103", f"pair must be one of the open pairs {sorted(self._accounts)}, got {pair}.")
        return self._accounts[pair]


def _log(amount: float) -> float:
    """Natural logarithm, minus infinity for nothing."""
    return math.log(amount) if amount > 0 else -math.inf


def _log_sum(paths: list[Floats], rest: float) -> Floats:
    """Logarithm of the sum of several amounts along the runs, and one that does not move."""
    if len(paths) == 1:
        return np.asarray(np.logaddexp(paths[0], rest)) if rest > -math.inf else paths[0]
    stacked = np.stack(paths)
    top = np.maximum(stacked.max(axis=0), rest)
    total = np.exp(stacked - top).sum(axis=0) + np.exp(rest - top)
    return np.asarray(top + np.log(total))
