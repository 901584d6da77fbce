"""Guesses about canaries that do not disturb one another: the exact probability that so many are right, under any claim or law."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpaudit.auditor.membership.experiments import SLACK, Experiment, Vector
from dpaudit.auditor.membership.nested_guesses import NestedGuesses

_EDGES: Final = np.concatenate(
    [10.0 ** np.arange(-12.0, -2.5), np.linspace(0.0025, 0.9975, 256), 1 - 10.0 ** np.arange(-3.0, -12.5, -1)]
)
"""Probabilities at which the law of the least sure guess is cut into cells; each cell takes the confidence of its surest end."""

_COARSE: Final = np.concatenate([[1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 0.004, 0.015], np.linspace(0.04, 0.96, 21), [0.985, 0.996]])
"""The same for two laws at once, where each pair of cells costs a sum."""

_REACH: Final = 9.0
"""Standard deviations, and as many guesses, beyond which the count of the surest is taken for one that suffices."""


def independent_p_value(correct: int, guessed: int, canaries: int, experiment: Experiment) -> float:
    """Compute the largest probability of so many right guesses, whatever is made of the experiment and whatever is guessed.

    Independent coins are shown through the experiment; best is to guess the surest `guessed` (docs/membership.md, section 3).
    Given the share of cases that are as sure as the surest one left out, which has a beta law, right guesses are binomial.
    """
    from scipy.special import betainc, betaincinv

    if correct == 0:
        return 1.0
    if guessed == canaries:
        mean = float(experiment.best_share(np.array([1.0]))[0])
        return min(1.0, float(betainc(correct, guessed - correct + 1, mean)) + SLACK)
    edges = betaincinv(guessed + 1, canaries - guessed, _EDGES)
    below = np.concatenate([[0.0], betainc(guessed + 1, canaries - guessed, edges), [1.0]])
    sure = experiment.best_share(np.concatenate([[1e-12], edges]))
    tails = np.where(sure < 1, betainc(correct, guessed - correct + 1, np.minimum(sure, 1.0)), 1.0)
    return min(1.0, float(np.sum(np.diff(below) * tails)) + SLACK)


def weighted_p_value(guesses: NestedGuesses, experiment: Experiment) -> float:
    """Compute the largest probability of so many right guesses, where those in the first of two nested sets count twice.

    As for a fixed number, best is to guess the surest: a right guess that moves to a place that counts more never lowers the sum.
    """
    from scipy.special import betainc, betaincinv

    (few, more), total = guesses.guessed, sum(guesses.correct)
    if total == 0:
        return 1.0
    # The share of cases as sure as the surest guess left out and, given it, the share as sure as the surest guess that counts once.
    outer, inner = (few + 1, more - few), (more + 1, guesses.canaries - more)
    shares = np.concatenate([[1e-12], betaincinv(*inner, _COARSE)])
    parts = np.concatenate([[1e-12], betaincinv(*outer, _COARSE)])
    chances = np.diff(np.concatenate([[0.0], betainc(*inner, shares[1:]), [1.0]]))
    within = np.diff(np.concatenate([[0.0], betainc(*outer, parts[1:]), [1.0]]))
    whole, part = (grid.ravel() for grid in np.meshgrid(shares, parts, indexing="ij"))
    # A pair of cells takes the ends at which guesses are surest; one guess lies at the border.
    border = whole * part
    first, all_sure = experiment.best_share(border), experiment.best_share(whole)
    rest = np.clip((all_sure - part * first) / np.maximum(1 - part, 1e-12) + 1e-12, 0.0, 1.0)
    tails = _sum_tails(total, (few, more - few - 1), first, experiment.confidence_at(border), rest)
    return min(1.0, float(np.outer(chances, within).ravel() @ tails) + SLACK)


def _sum_tails(total: int, sizes: tuple[int, int], first: Vector, border: Vector, rest: Vector) -> Vector:
    """Upper tails of twice a binomial count, one guess, and another binomial count, each with odds of its own."""
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    few, others = sizes

    def tail(least: Vector) -> Vector:
        """The count of others reaches a number."""
        found = bdtrc(np.clip(least - 1, 0, max(0, others - 1)), others, rest[:, None])
        inside = np.where(rest[:, None] >= 1, 1.0, found)
        return np.asarray(np.where(least <= 0, 1.0, np.where(least > others, 0.0, inside)), dtype=np.float64)

    spread = np.sqrt(few * first * (1 - first))
    low = max(0, int(np.floor((few * first - _REACH * spread - _REACH).min())))
    high = min(few, int(np.ceil((few * first + _REACH * spread + _REACH).max())))
    counts = np.arange(low, high + 1)
    logs = gammaln(few + 1) - gammaln(counts + 1) - gammaln(few - counts + 1)
    masses = np.exp(logs + xlogy(counts, first[:, None]) + xlog1py(few - counts, -np.minimum(first, 1.0)[:, None]))
    needed: Vector = np.tile(total - 2.0 * counts, (len(first), 1))
    reached: Vector = tail(needed) + border[:, None] * (tail(needed - 1) - tail(needed))
    missing = np.maximum(0.0, 1 - masses.sum(axis=1))
    return np.asarray(np.minimum(1.0, (masses * reached).sum(axis=1) + missing))
