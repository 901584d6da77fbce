"""The label bettor: predicts the label of each run from its output, having seen only earlier runs, and bets on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dpaudit.auditor.betting.accounts import Game, Mask, Menu, game_of, learned_menu, menu_of, settle, telltale_menu
from dpaudit.auditor.betting.forecasts import forecast
from dpaudit.auditor.reading.features import ITEMS
from dpaudit.auditor.scoring.fitting import fit_score
from dpaudit.auditor.scoring.table import ScoreTable
from dpaudit.auditor.statistics.binning import Bins, Floats, Labels, assign_bins, cut_points, label_counts
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.errors import InvalidArgument

_RELEASES: Final = ((16, 0.35), (64, 0.2), (256, 0.15), (1024, 0.15), (4096, 0.15))
"""Run counts at which parts of the money start to play; until then the bettor only watches.

What is left for later is spared the losses of the first guesses, which are large where there are many columns.
"""

_FORECAST: Final = 0.4
"""Share of the money that bets on forecasts where outputs have several items."""

_MEMORY: Final = 65_536
"""Bins and scores are cut anew from all runs so far until there are this many; then the runs are forgotten."""

_RARELY_FROM: Final = 1024
_RARELY: Final = 3
"""From so many runs on, one of several bettors cuts anew only when its runs have grown by this factor: most are dropped soon."""

_FIRST_LOOK: Final = _RELEASES[0][0]
_FIRST_SCORE: Final = 64
_FIRST_FORECAST: Final = 128
_FIRST_PRUNING: Final = 256
_MOST_COLUMNS: Final = 6
_FEW_COLUMNS_FROM: Final = 4096
_HOPELESS: Final = 25.0
ROUNDING: Final = 1e-15
"""Taken off every factor, so that rounding cannot make a bet favourable."""


@dataclass
class _Column:
    """One column as the bettor sees it: where its values come from, its bins, its label counts and what they say.

    `exact` marks the bins that held one value only when they were cut.
    """

    source: int | ScoreTable
    cuts: Floats
    menu: Menu
    counts: Floats
    exact: Mask
    log_prior: float = 0.0
    factors: Floats = field(default_factory=lambda: np.ones((1, 2)))
    log_share: float = 0.0
    forecast: Floats = field(default_factory=lambda: np.ones((1, 2)))
    weight: float = 0.0

    def bins(self, features: Floats) -> Bins:
        """Bin of each run."""
        values = features[:, self.source] if isinstance(self.source, int) else self.source.scores(features)
        return assign_bins(values, self.cuts)


class LabelBettor:
    """Bets on labels against a claim, on any feature columns, from the first runs on.

    What is bet on run i depends on runs before i only, so under the claim the product of the factors is an e-process:
    its mean is at most 1 at any time, and it reaches 1/alpha with probability at most alpha. Money is spread over the
    columns, over an additive score of all of them, over tail, middle and single-value sets of each, over both labels and a
    ladder of stakes; shares follow the gains so far and are settled anew at run counts that grow by about a tenth. Values that
    repeat and were seen with one label only are backed together, with the large stakes. Where outputs have several items, part
    of the money bets on forecasts instead: log-odds smoothed along the bins, columns weighted by how well they explain labels.

    Args:
      point: the claim under test.
      groups: group of each column, for the score; one group unless given.
      alone: False where several bettors share the time: bins and scores are cut anew less often.
    """

    def __init__(self, point: ClaimPoint, groups: Sequence[int] | None = None, *, alone: bool = True) -> None:
        self._game: Game = game_of(point)
        self._alone = alone
        self._groups = groups
        self._runs = 0
        self._settle_at = 0
        self._cut_at = _FIRST_LOOK
        self._columns: list[_Column] = []
        self._memory: list[tuple[Floats, Labels]] = []
        self._remembers = True
        self._width: int | None = None
        self._forecast = _FORECAST if groups is not None and list(groups).count(ITEMS) > 1 else 0.0
        self._log_playing = -math.inf
        self._log_forecasting = -math.inf
        self._waiting = 1.0

    def observe(self, features: Floats, labels: Labels) -> Floats:
        """Play the next runs, in their order."""
        self._width = check_runs(features, labels, self._width)
        increments = np.zeros(len(labels))
        start = 0
        while start < len(labels):
            if self._runs == self._settle_at:
                self._settle()
            stop = min(len(labels), start + self._settle_at - self._runs)
            increments[start:stop] = self._play(features[start:stop], labels[start:stop])
            start = stop
        return increments

    def _play(self, features: Floats, labels: Labels) -> Floats:
        """Increments of runs that share one settlement."""
        if self._remembers:
            self._memory.append((features.copy(), labels.copy()))
        self._runs += len(labels)
        mixed = None
        forecasts = np.zeros(len(labels))
        for column in self._columns:
            bins = column.bins(features)
            column.counts += label_counts(bins, labels, len(column.counts))
            places = 2 * bins.astype(np.intp) + labels
            if self._log_forecasting > -math.inf:
                forecasts += (column.weight * column.forecast).ravel()[places]
            if len(self._columns) == 1:
                logs = np.log(column.factors).ravel()[places]
                break
            part = (math.exp(column.log_share) * column.factors).ravel()[places]
            mixed = part if mixed is None else mixed + part
        else:
            if mixed is None:
                return np.zeros(len(labels))
            logs = np.log(mixed)
        return self._together(np.asarray(logs), forecasts)

    def _together(self, logs: Floats, forecasts: Floats) -> Floats:
        """Increments of all the money: what follows gains, what follows forecasts, and what still waits."""
        if self._waiting == 0 and self._log_forecasting == -math.inf:
            return logs
        money = self._log_playing + np.concatenate([[0.0], np.cumsum(logs)])
        self._log_playing = float(money[-1])
        if self._log_forecasting > -math.inf:
            second = self._log_forecasting + np.concatenate([[0.0], np.cumsum(np.log(forecasts))])
            self._log_forecasting = float(second[-1])
            money = np.logaddexp(money, second)
        return np.diff(np.logaddexp(money, math.log(self._waiting)) if self._waiting else money)

    def _settle(self) -> None:
        """Learn from all runs so far; fix the bets until the next settlement."""
        self._release()
        if self._remembers and self._runs >= self._cut_at:
            self._cut()
        gains = []
        for column in self._columns:
            menus = (
                column.menu,
                learned_menu(column.counts, self._game),
                telltale_menu(column.counts, column.exact, self._game),
            )
            factors, gained = settle(column.counts, menus, self._game)
            column.factors = factors - ROUNDING
            gains.append(float(gained) + column.log_prior)
        if gains:
            total = float(np.logaddexp.reduce(gains))
            for column, gain in zip(self._columns, gains, strict=True):
                column.log_share = gain - total
            if self._runs >= _FIRST_PRUNING:
                self._prune()
            if self._forecast and self._runs >= _FIRST_FORECAST:
                self._look_ahead()
        self._settle_at = next_settlement(self._runs)

    def _release(self) -> None:
        """Let the money play whose time has come."""
        following = 1 - self._forecast
        for release, share in _RELEASES:
            if self._runs == release:
                self._log_playing = float(np.logaddexp(self._log_playing, math.log(following * share)))
        waiting = following * math.fsum(share for release, share in _RELEASES if release > self._runs)
        self._waiting = waiting + (self._forecast if self._log_forecasting == -math.inf else 0.0)

    def _look_ahead(self) -> None:
        """Forecasts of all columns, each weighted by how well it explains the labels so far."""
        if self._log_forecasting == -math.inf:
            self._log_forecasting = math.log(self._forecast)
            self._waiting = max(0.0, self._waiting - self._forecast)
        found = [forecast(column.counts, self._game) for column in self._columns]
        evidence = np.array([told + column.log_prior for column, (_, told) in zip(self._columns, found, strict=True)])
        weights = np.exp(evidence - np.logaddexp.reduce(evidence))
        for column, (factors, _), weight in zip(self._columns, found, weights.tolist(), strict=True):
            column.forecast, column.weight = factors - ROUNDING, weight

    def _cut(self) -> None:
        """Cut bins anew from the remembered runs and count them again."""
        features = np.concatenate([part for part, _ in self._memory])
        labels = np.concatenate([part for _, part in self._memory])
        self._memory = [(features, labels)]
        sources = [column.source for column in self._columns if isinstance(column.source, int)]
        if self._runs < _FIRST_PRUNING or not self._columns:
            sources = list(range(features.shape[1]))
        # A score of one column says nothing that bets on its bins do not, and takes longer than all of them.
        several = np.count_nonzero(features.min(axis=0) < features.max(axis=0)) > 1
        fitted = fit_score(features, labels, self._groups) if several and self._runs >= _FIRST_SCORE else None
        judged: list[tuple[int | ScoreTable, Floats, Floats]] = [
            (source, features[:, source], features[:, source]) for source in sources
        ]
        if fitted is not None:
            judged.append((fitted.table, fitted.table.scores(features), fitted.held_out))
        self._columns = []
        for source, values, held_out in judged:
            cuts = cut_points(values)
            if isinstance(source, ScoreTable):
                cuts = _between(values, cuts)
            if cuts.size:
                # A score is judged on what it said of runs that it was not fitted on.
                counts = label_counts(assign_bins(held_out, cuts), labels, cuts.size + 1)
                exact = np.bincount(assign_bins(np.unique(values), cuts), minlength=cuts.size + 1) == 1
                self._columns.append(_Column(source, cuts, menu_of(counts.sum(axis=1), self._game), counts, exact))
        self._divide()
        if self._runs < _FIRST_SCORE:
            self._cut_at = self._runs + max(2, self._runs // 4)
        elif self._runs < _MEMORY:
            often = self._alone or self._runs < _RARELY_FROM
            self._cut_at = min(self._runs + self._runs // 2 if often else _RARELY * self._runs, _MEMORY)
        else:
            self._remembers, self._memory = False, []

    def _divide(self) -> None:
        """Money before any run: alike for each group of columns and for the score, and within a group for each column."""
        groups = [
            -1 if isinstance(column.source, ScoreTable) else self._groups[column.source] if self._groups else 0
            for column in self._columns
        ]
        for column, group in zip(self._columns, groups, strict=True):
            column.log_prior = -math.log(len(set(groups)) * groups.count(group))

    def _prune(self) -> None:
        """Leave columns whose share has become negligible; what they hold goes to the others."""
        ranked = sorted(self._columns, key=lambda column: -column.log_share)[
            : _MOST_COLUMNS if self._runs >= _FEW_COLUMNS_FROM else None
        ]
        kept = [column for column in ranked if column.log_share > -_HOPELESS]
        total = float(np.logaddexp.reduce([column.log_share for column in kept]))
        self._columns = [column for column in self._columns if any(column is other for other in kept)]
        for column in self._columns:
            column.log_share -= total


def _between(values: Floats, cuts: Floats) -> Floats:
    """Cuts moved halfway down to the next smaller value: an output's score by other tables is a little beside its value."""
    distinct = np.unique(values)
    place = np.searchsorted(distinct, cuts)
    place = place[place < distinct.size]
    return np.unique((distinct[place - 1] + distinct[place]) / 2)


def check_runs(features: Floats, labels: Labels, width: int | None) -> int:
    """The number of columns, after a check that runs have the right types and shapes."""
    if features.ndim != 2 or features.dtype != np.float64 or (width is not None and features.shape[1] != width):
        raise InvalidArgument(
            "DPA105", f"features must be float64 of shape (runs, {width or 'columns'}), got {features.dtype} {features.shape}."
        )
    if labels.dtype != np.uint8 or labels.shape != features.shape[:1] or (labels.size and labels.max() > 1):
        raise InvalidArgument(
            "DPA105", f"labels must be uint8 zeros and ones of shape ({len(features)},), got {labels.dtype} {labels.shape}."
        )
    return int(features.shape[1])


def next_settlement(runs: int) -> int:
    """The run count of the next settlement: a public schedule that grows by about a tenth and meets every release."""
    following = max(_FIRST_LOOK, runs + runs // (8 if runs < 4 * _FIRST_PRUNING else 12))
    return min([following, *(release for release, _ in _RELEASES if release > runs)])
