"""Bets on chosen events: a portfolio of a few events, whose wealth follows their gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.betting.accounts import Menu, combine_bets, game_of
from dpaudit.auditor.betting.label_bettor import ROUNDING, check_runs, next_settlement
from dpaudit.auditor.events.predicates import hits_of
from dpaudit.auditor.events.ranking import Event, RankedEvent
from dpaudit.auditor.statistics.binning import Floats, Labels
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.errors import InvalidArgument

MOST_EVENTS: Final = 12
"""A run hits any of 2**12 subsets of so many events, and bets are made on each."""

_TRUST: Final = 0.5
_MOST_TRUSTED: Final = 2000.0
"""Share of the pilot's hits that counts as seen, and the most of them, so that later runs can outweigh them."""

_SIDE: Final = Menu(np.array([[0.0, 1.0]]), np.zeros((1, 2)), np.zeros((1, 1)))


@dataclass(frozen=True)
class Wager:
    """An event to bet on, against P(S) <= e^epsilon Q(S) + delta or in `reverse`, and what a pilot on other runs expects."""

    event: Event
    reverse: bool
    expected: RankedEvent | None = None


class EventPortfolio:
    """Bets against a claim on the labels of the hits of one to `MOST_EVENTS` events, which may overlap.

    Each event has a share of the wealth and a ladder of stakes, which follow past gains and are fixed again at public run counts.
    What is bet on a run depends on earlier runs only, so under the claim the product of the factors is an e-process.
    """

    def __init__(self, point: ClaimPoint, wagers: Sequence[Wager]) -> None:
        if not 1 <= len(wagers) <= MOST_EVENTS:
            raise InvalidArgument("DPA103", f"a portfolio takes 1 to {MOST_EVENTS} events, got {len(wagers)}. Keep the best ones.")
        self._game = game_of(point)
        self._wagers = tuple(wagers)
        self._counts = np.stack([_counts_expected(wager.expected) for wager in wagers])
        self._at_start = combine_bets(self._counts, (_SIDE,), self._game)[1]
        # Entry (event, pattern) says whether runs of that pattern of hits are inside the event.
        self._inside = (np.arange(1 << len(wagers))[None, :] >> np.arange(len(wagers))[:, None]) & 1
        self._log_factors = np.zeros((1 << len(wagers), 2))
        self._runs = 0
        self._settle_at = 0
        self._width: int | None = None

    def observe(self, features: Floats, labels: Labels) -> Floats:
        """Bet on the next runs, in their order; return the logarithm of the factor of each."""
        self._width = check_runs(features, labels, self._width)
        places = (2 * self._patterns(features) + labels).astype(np.intp)
        increments = np.empty(len(labels))
        start = 0
        while start < len(labels):
            if self._runs == self._settle_at:
                self._settle()
            stop = min(len(labels), start + self._settle_at - self._runs)
            segment = places[start:stop]
            increments[start:stop] = self._log_factors.ravel()[segment]
            self._count(np.bincount(segment, minlength=self._log_factors.size).reshape(-1, 2).astype(np.float64))
            self._runs += stop - start
            start = stop
        return increments

    def _patterns(self, features: Floats) -> NDArray[np.uint16]:
        """Mark for each run the events that it hits, one bit each."""
        patterns = np.zeros(len(features), dtype=np.uint16)
        for place, hits in enumerate(hits_of([wager.event for wager in self._wagers], features)):
            patterns |= hits.astype(np.uint16) << place
        return patterns

    def _count(self, seen: Floats) -> None:
        """Add counts by pattern and label to the counts of each event; reversed events get the labels exchanged."""
        inside = self._inside @ seen
        counts = np.stack([seen.sum(axis=0) - inside, inside], axis=1)
        for place, wager in enumerate(self._wagers):
            self._counts[place] += counts[place, :, ::-1] if wager.reverse else counts[place]

    def _settle(self) -> None:
        """Fix shares and stakes until the next settlement."""
        settled, gains = combine_bets(self._counts, (_SIDE,), self._game)
        gains = gains - self._at_start
        shares = np.exp(gains - np.logaddexp.reduce(gains))
        mixed = np.zeros_like(self._log_factors)
        for share, factors, inside, wager in zip(shares, settled, self._inside, self._wagers, strict=True):
            mixed += share * (factors[:, ::-1] if wager.reverse else factors)[inside]
        self._log_factors = np.log(mixed - ROUNDING)
        self._settle_at = next_settlement(self._runs)


def _counts_expected(expected: RankedEvent | None) -> Floats:
    """Counts in the place of what the pilot found, at a discount, since it chose this event among many."""
    if expected is None:
        return np.zeros((2, 2))
    hits = min(_TRUST * expected.hits, _MOST_TRUSTED)
    misses = hits * (1 - expected.mass) / expected.mass
    return np.array([[misses / 2, misses / 2], [hits * (1 - expected.theta), hits * expected.theta]])
