"""Forecasts of labels from one binned column: log-odds smoothed along the bins, and the bets that grow fastest with them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from dpaudit.auditor.betting.accounts import Game
from dpaudit.auditor.statistics.binning import Floats

_DEVIATION: Final = 2.0
"""Standard deviation of the log-odds of a bin before anything was counted."""

_REACH: Final = 10.0
"""Bins over which the correlation of log-odds falls by a factor e."""

_LARGEST_STAKE: Final = 0.9
"""Share of the largest stake at which a factor stays positive: a wrong forecast leaves a tenth of the wealth."""

_CAPS: Final = 2.0 ** -np.arange(7)


def forecast(counts: Floats, game: Game) -> tuple[Floats, float]:
    """Bets on the next runs if log-odds change smoothly along the bins, and the log-likelihood of the past if they do.

    Source: Gaussian process regression, Rasmussen and Williams 2006, section 2.2.
    """
    tally = counts + 0.5
    ratios, variance = np.log(tally[:, 1] / tally[:, 0]), (1 / tally).sum(axis=1)
    likeness = _likeness(len(counts))
    root = np.linalg.cholesky(likeness + np.diag(variance))
    white = np.linalg.solve(root, ratios)
    chance = 1 / (1 + np.exp(-likeness @ np.linalg.solve(root.T, white)))
    evidence = (ratios**2 / variance + np.log(variance) - white**2).sum() / 2 - np.log(np.diag(root)).sum()
    return _bets(chance, tally.sum(axis=1) / tally.sum(), game), float(evidence)


@lru_cache
def _likeness(size: int) -> Floats:
    """Covariance of the log-odds of so many bins before anything was counted."""
    place = np.arange(size)
    likeness = _DEVIATION**2 * np.exp(-np.abs(place[:, None] - place[None, :]) / _REACH)
    likeness.flags.writeable = False
    return np.asarray(likeness)


def _bets(chance: Floats, mass: Floats, game: Game) -> Floats:
    """Factors that grow fastest if label 1 has this chance in each bin: the best stake of each bin, up to the best common cap."""
    limit = game.odds / (1 + game.odds)
    largest = _LARGEST_STAKE / (game.odds + 2 * game.half_delta)
    for_one, for_zero = (np.clip(one / limit - 1, 0, largest) for one in (chance, 1 - chance))
    caps = (largest * _CAPS)[:, None]
    ones, zeros = np.minimum(for_one, caps), np.minimum(for_zero, caps)
    # Stakes are at most their largest one times a function into [0, 1], whose mean the claim bounds by delta / 2.
    rest = 1 - game.half_delta * (ones.max(axis=1) + zeros.max(axis=1))[:, None]
    on_zero, on_one = rest - game.odds * ones + zeros, rest + ones - game.odds * zeros
    promised = (np.log(on_zero) * (1 - chance) + np.log(on_one) * chance) @ mass
    best = int(np.argmax(promised))
    return np.stack([on_zero[best], on_one[best]], axis=1) if promised[best] > 0 else np.ones((len(chance), 2))
