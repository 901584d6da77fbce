"""Guesses about canaries that do not disturb one another: the exact probability that so many are right, under any claim or law."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpaudit.auditor.membership.experiments import SLACK, Experiment

_EDGES: Final = np.concatenate(
    [10.0 ** np.arange(-12.0, -2.5), np.linspace(0.0025, 0.9975, 256), 1 - 10.0 ** np.arange(-3.0, -12.5, -1)]
)
"""Probabilities at which the law of the least sure guess is cut into cells; each cell takes the confidence of its surest end."""


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
