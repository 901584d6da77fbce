"""The label bettor: predicts the label of each run from its output, having seen only earlier runs, and bets on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dpaudit.auditor.betting.accounts import Game, Mask, Menu, combine_bets, game_of, learned_menu, menu_of, telltale_menu
from dpaudit.auditor.betting.forecasts import forecast
from dpaudit.auditor.reading.features import ITEMS
from dpaudit.auditor.scoring.fitting import fit_score
from dpaudit.auditor.scoring.table import ScoreTable
from dpaudit.auditor.statistics.binning import Bins, Floats, Labels, assign_bins, cut_points, label_counts
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.errors import InvalidArgument

_RELEASES: Final = ((16, 0.35), (64, 0.2), (256, 0.15), (1024, 0.15), (4096, 0.15))
"""Run counts at which shares of the wealth start to play; those that wait are spared the losses of the first guesses."""

_FORECAST: Final = 0.4
"""Share of the wealth that bets on forecasts where outputs have several items."""

_MEMORY: Final = 65_536
"""Bins and scores are fitted again to all runs so far until there are this many; then the runs are forgotten."""

_RARELY_FROM: Final = 1024
_RARELY: Final = 3
"""From so many runs on, one of several bettors rebins only when its runs have grown by this factor: most end soon."""

_FIRST_LOOK: Final = _RELEASES[0][0]
_FIRST_SCORE: Final = 64
_FIRST_FORECAST: Final = 128
_FIRST_PRUNING: Final = 256
_MOST_COLUMNS: Final = 6
_FEW_COLUMNS_FROM: Final = 4096
_HOPELESS: Final = 25.0
"""Columns with less than e**-25 of the wealth are dropped, from 4,096 runs on all but the best six: each costs time."""

ROUNDING: Final = 1e-15
"""Taken off every factor, so that rounding cannot make a bet favourable."""


@dataclass
class _Column:
    """A column, or a score, as the bettor uses it: its bins, label counts and bets; `exact` marks bins cut around one value."""

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
        """Find the bin of each run."""
        values = features[:, self.source] if isinstance(self.source, int) else self.source.scores(features)
        return assign_bins(values, self.cuts)


class LabelBettor:
    """Bets on labels against a claim, on any feature columns, from the first runs on.

    What is bet on run i depends on runs before i only, so under the claim the product of the factors is an e-process: its mean is
    at most 1 at any time, and it reaches 1/alpha with probability at most alpha. Wealth is spread over columns, an additive score
    of them, sets of bins of each, both labels and a ladder of stakes; shares follow the gains so far. Where outputs have several
    items, part of it bets on forecasts instead. `groups` are those of the columns; where not `alone`, other bettors share the time.
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
        """Bet on the next runs, in their order; return the logarithm of the factor of each."""
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
        """Bet on runs that share one settlement."""
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
        """Sum up all wealth: what follows gains, what follows forecasts, and what still waits."""
        if self._waiting == 0 and self._log_forecasting == -math.inf:
            return logs
        wealth = self._log_playing + np.concatenate([[0.0], np.cumsum(logs)])
        self._log_playing = float(wealth[-1])
        if self._log_forecasting > -math.inf:
            second = self._log_forecasting + np.concatenate([[0.0], np.cumsum(np.log(forecasts))])
            self._log_forecasting = float(second[-1])
            wealth = np.logaddexp(wealth, second)
        return np.diff(np.logaddexp(wealth, math.log(self._waiting)) if self._waiting else wealth)

    def _settle(self) -> None:
        """Learn from all runs so far and fix the bets until the next settlement."""
        self._release()
        if self._remembers and self._runs >= self._cut_at:
            self._cut()
        gains = []
        for column in self._columns:
            learned, telltale = learned_menu(column.counts, self._game), telltale_menu(column.counts, column.exact, self._game)
            factors, gained = combine_bets(column.counts, (column.menu, learned, telltale), self._game)
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
        """Let the wealth play whose run count is reached."""
        following = 1 - self._forecast
        for release, share in _RELEASES:
            if self._runs == release:
                self._log_playing = float(np.logaddexp(self._log_playing, math.log(following * share)))
        waiting = following * math.fsum(share for release, share in _RELEASES if release > self._runs)
        self._waiting = waiting + (self._forecast if self._log_forecasting == -math.inf else 0.0)

    def _look_ahead(self) -> None:
        """Forecast from all columns, each weighted by how well it explains the labels so far."""
        if self._log_forecasting == -math.inf:
            self._log_forecasting = math.log(self._forecast)
            self._waiting = max(0.0, self._waiting - self._forecast)
        found = [forecast(column.counts, self._game) for column in self._columns]
        evidence = np.array([told + column.log_prior for column, (_, told) in zip(self._columns, found, strict=True)])
        weights = np.exp(evidence - np.logaddexp.reduce(evidence))
        for column, (factors, _), weight in zip(self._columns, found, weights.tolist(), strict=True):
            column.forecast, column.weight = factors - ROUNDING, weight

    def _cut(self) -> None:
        """Rebin the remembered runs and count them again."""
        features = np.concatenate([part for part, _ in self._memory])
        labels = np.concatenate([part for _, part in self._memory])
        self._memory = [(features, labels)]
        sources = [column.source for column in self._columns if isinstance(column.source, int)]
        if self._runs < _FIRST_PRUNING or not self._columns:
            sources = list(range(features.shape[1]))
        # A score of one column adds nothing to bets on its bins, and takes longer than all of them.
        several = np.count_nonzero(features.min(axis=0) < features.max(axis=0)) > 1
        fitted = fit_score(features, labels, self._groups) if several and self._runs >= _FIRST_SCORE else None
        judged = list[tuple[int | ScoreTable, Floats, Floats]]((one, features[:, one], features[:, one]) for one in sources)
        if fitted is not None:
            # A score is judged on what it gave to runs that it was not fitted on.
            judged.append((fitted.table, fitted.table.scores(features), fitted.held_out))
        self._columns = []
        for source, values, held_out in judged:
            cuts = cut_points(values)
            if isinstance(source, ScoreTable):
                cuts = _between(values, cuts)
            if cuts.size:
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
        """Divide wealth equally over groups of columns and the score, and within a group over its columns."""
        known, sources = self._groups, [column.source for column in self._columns]
        groups = [-1 if isinstance(source, ScoreTable) else known[source] if known else 0 for source in sources]
        for column, group in zip(self._columns, groups, strict=True):
            column.log_prior = -math.log(len(set(groups)) * groups.count(group))

    def _prune(self) -> None:
        """Drop columns whose share has become negligible; their wealth goes to the others."""
        most = _MOST_COLUMNS if self._runs >= _FEW_COLUMNS_FROM else None
        ranked = sorted(self._columns, key=lambda column: -column.log_share)[:most]
        kept = [column for column in ranked if column.log_share > -_HOPELESS]
        total = float(np.logaddexp.reduce([column.log_share for column in kept]))
        self._columns = [column for column in self._columns if any(column is other for other in kept)]
        for column in self._columns:
            column.log_share -= total


def _between(values: Floats, cuts: Floats) -> Floats:
    """Move cuts halfway down to the next smaller value: the held-out score of an output differs a little from its final one."""
    distinct = np.unique(values)
    place = np.searchsorted(distinct, cuts)
    place = place[place < distinct.size]
    return np.unique((distinct[place - 1] + distinct[place]) / 2)


def check_runs(features: Floats, labels: Labels, width: int | None) -> int:
    """Refuse runs of the wrong types or shapes; return their number of columns."""
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
    """Run count of the next settlement: a public schedule that grows by about a tenth and meets every release."""
    following = max(_FIRST_LOOK, runs + runs // (8 if runs < 4 * _FIRST_PRUNING else 12))
    return min([following, *(release for release, _ in _RELEASES if release > runs)])
