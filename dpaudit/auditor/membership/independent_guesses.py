"""Guesses about canaries that do not disturb one another: the exact probability that so many are right, under any claim or law."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.membership.experiments import SLACK, Experiment, Vector
from dpaudit.auditor.membership.nested_guesses import NestedGuesses

Spectrum: TypeAlias = NDArray[Any]

_EDGES: Final = np.concatenate(
    [10.0 ** np.arange(-12.0, -2.5), np.linspace(0.0025, 0.9975, 256), 1 - 10.0 ** np.arange(-3.0, -12.5, -1)]
)
"""Probabilities at which the law of the least sure guess is cut into cells; each cell takes the confidence of its surest end."""

_COARSE: Final = np.concatenate([[1e-11, 1e-7, 1e-5, 1e-3, 0.01], np.linspace(0.03, 0.97, 32), [0.99, 0.9999]])
"""The same for the borders of several sets, where each pair of cells costs a law."""

_LEAST: Final = 1e-12
_NEGLIGIBLE: Final = 1e-10
"""Probability below which a pair of cells is not followed; what is not followed counts as reaching every sum."""

_FAINT: Final = 1e-17
_BEYOND: Final = 1e-12


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
    """Compute the largest probability of so many right guesses, counted once for each of the nested sets that a guess is in.

    As for a fixed number, best is to guess the surest: a right guess that moves to a place that counts more never lowers the sum.
    """
    from scipy.special import betainc, betaincinv

    sizes, total, count = guesses.guessed, sum(guesses.correct), len(guesses.guessed)
    if total == 0:
        return 1.0
    # The share of cases as sure as the surest guess outside of a set has a beta law, and again one given that of the set around.
    borders = [betaincinv(size + 1, guesses.canaries - size, _COARSE) for size in sizes]
    first, cells = _window(sizes, borders, experiment)
    turns = -2j * np.pi * np.arange(cells // 2 + 1) / cells
    places = np.arange(len(turns))
    around = np.concatenate([[_LEAST], borders[-1]])
    laws = np.diff(_COARSE, prepend=0.0, append=1.0)[:, None] * np.ones(len(turns), dtype=complex)
    for place in range(count - 1, 0, -1):
        weight, others = count - place, sizes[place] - sizes[place - 1] - 1
        below = betainc(sizes[place - 1] + 1, others + 1, np.minimum(1.0, borders[place - 1] / around[:, None]))
        chances = np.diff(below, axis=1, prepend=0.0, append=1.0)
        inner, outer = np.nonzero((chances * laws[:, :1].real).T > _NEGLIGIBLE)
        within = np.concatenate([[_LEAST], borders[place - 1]])
        # Each pair of cells takes the ends at which guesses are surest; one guess of the block lies at its border.
        low, high = within[inner], around[outer]
        rest = experiment.share_between(low, high)
        # Frequencies at which others leave nothing are dropped, since what follows has modulus at most 1.
        top = float(rest.max())
        kept = (1 - 2 * top * (1 - top) * (1 - np.cos(weight * turns.imag))) ** (others / 2) > _FAINT
        places, turns, laws = places[kept], turns[kept], laws[:, kept]
        moved = _power(_turned(rest, weight, turns), others)
        moved *= _turned(experiment.confidence_at(low), weight, turns)
        moved *= laws[outer]
        moved *= chances[outer, inner, None]
        starts = np.flatnonzero(np.diff(inner, prepend=-1))
        laws = np.zeros((len(within), len(turns)), dtype=complex)
        laws[inner[starts]] = np.add.reduceat(moved, starts, axis=0)
        around = within
    law = (laws * _power(_turned(experiment.best_share(around), count, turns), sizes[0])).sum(axis=0)
    spectrum = np.zeros(cells // 2 + 1, dtype=complex)
    spectrum[places] = law * np.exp(-turns * first)
    masses = np.fft.irfft(spectrum, cells)
    missing = max(0.0, 1 - float(law[0].real))
    return min(1.0, float(masses[max(0, total - first) :].sum()) + missing + SLACK) if total > first else 1.0


def _turned(means: Vector, weight: int, turns: Spectrum) -> Spectrum:
    """Characteristic functions of single guesses that are right with these probabilities and then count a weight."""
    return np.asarray(1 + means[:, None] * np.expm1(turns * weight))


def _power(base: Spectrum, exponent: int) -> Spectrum:
    """Raise to a power by squaring, which takes a tenth of the time of complex logarithms."""
    found = np.ones_like(base)
    while exponent:
        if exponent & 1:
            found *= base
        base, exponent = base * base, exponent >> 1
    return found


def _window(sizes: tuple[int, ...], borders: list[Vector], experiment: Experiment) -> tuple[int, int]:
    """Choose the first of the sums that are told apart, and a power of two of them.

    For given borders a sum is farther than the reach from its mean with probability at most `_BEYOND`, by Hoeffding's bound; what
    lies outside wraps round.
    """
    reach = math.sqrt(math.log(2 / _BEYOND) / 2 * float(np.diff([0, *sizes]) @ np.arange(len(sizes), 0, -1) ** 2))
    most, least = (
        sum(size * float(experiment.best_share(border[[end]])[0]) for size, border in zip(sizes, borders, strict=True))
        for end in (0, -1)
    )
    first = max(-1, math.floor(least - reach))
    return first, 1 << (min(sum(sizes), math.ceil(most + reach)) - first).bit_length()
