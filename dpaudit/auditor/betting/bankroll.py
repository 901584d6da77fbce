"""Bankroll of a claim: stakes on the pairs of datasets, later on the label bettor and events of one pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Final

import numpy as np

from dpaudit.auditor.betting.event_bettor import EventPortfolio, Wager
from dpaudit.auditor.betting.label_bettor import LabelBettor
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.statistics.binning import Floats, Labels
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.log_sums import log_sum
from dpaudit.errors import InvalidArgument

LABEL_SHARE: Final = 0.5
"""Share of the wealth that stays with the label bettor when the rest is divided over events."""


class Bankroll:
    """Wealth bet against one claim: it starts at 1, is staked on pairs of datasets, and refutes the claim at 1/alpha.

    The sum of all accounts is an e-process as long as stakes and events are chosen from earlier runs only. Amounts are kept as
    logarithms, so that they neither overflow nor vanish. `groups` are those of the columns, for the scores of label bettors.
    """

    def __init__(self, point: ClaimPoint, groups: Sequence[int] | None = None) -> None:
        self._point = point
        self._groups = groups
        self._unstaked = 1.0
        self._accounts: dict[int, list[tuple[LabelBettor | EventPortfolio, float]]] = {}
        self._closed = False

    @property
    def log_wealth(self) -> float:
        """Natural logarithm of the wealth in all accounts and of what is not staked."""
        return float(np.logaddexp.reduce([_log(self._unstaked), *(money for pair in self._accounts.values() for _, money in pair)]))

    def open(self, pair: int, stake: float) -> None:
        """Stake on the label bettor of a pair, before the first run of that pair."""
        if self._closed or pair in self._accounts:
            raise InvalidArgument("DPA103", f"pair {pair} is open already, or all wealth is on one pair. Open each pair once.")
        if not 0 < stake <= self._unstaked * (1 + 1e-12):
            raise InvalidArgument("DPA103", f"stake must be above 0 and at most the unstaked {self._unstaked:g}, got {stake}.")
        self._accounts[pair] = [(LabelBettor(self._point, self._groups, alone=stake == 1), math.log(stake))]
        self._unstaked = max(0.0, self._unstaked - stake)

    def observe(self, pair: int, features: Floats, labels: Labels) -> Floats:
        """Bet on the next runs of a pair, in their order; return the logarithm of all wealth after each."""
        accounts = self._of(pair)
        paths = [money + np.cumsum(bettor.observe(features, labels)) for bettor, money in accounts]
        if len(labels) == 0:
            return np.empty(0)
        others = [money for key, group in self._accounts.items() if key != pair for _, money in group]
        self._accounts[pair] = [(bettor, float(path[-1])) for (bettor, _), path in zip(accounts, paths, strict=True)]
        rest = float(np.logaddexp.reduce([_log(self._unstaked), *others]))
        return reduce(log_sum, paths if rest == -math.inf else [*paths, np.full(1, rest)])

    def concentrate(self, pair: int, events: Sequence[RankedEvent]) -> None:
        """Move all wealth to one pair and divide it over its label bettor and events, at the end of a pilot."""
        if self._closed:
            raise InvalidArgument("DPA103", "the wealth is on one pair already; it can be divided over events once.")
        bettor = self._of(pair)[0][0]
        total = self.log_wealth
        share = LABEL_SHARE if events else 1.0
        bets: list[tuple[LabelBettor | EventPortfolio, float]] = [(bettor, total + math.log(share))]
        if events:
            wagers = [Wager(ranked.event, ranked.reverse, ranked) for ranked in events]
            bets.append((EventPortfolio(self._point, wagers), total + math.log(1 - share)))
        self._accounts = {pair: bets}
        self._unstaked = 0.0
        self._closed = True

    def _of(self, pair: int) -> list[tuple[LabelBettor | EventPortfolio, float]]:
        """Accounts of an open pair."""
        if pair not in self._accounts:
            raise InvalidArgument("DPA103", f"pair must be one of the open pairs {sorted(self._accounts)}, got {pair}.")
        return self._accounts[pair]


def _log(amount: float) -> float:
    """Natural logarithm, minus infinity for nothing."""
    return math.log(amount) if amount > 0 else -math.inf
