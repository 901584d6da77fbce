"""One run, every number of guesses at once: epsilon from the surest guesses, from few to all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.membership.experiments import SLACK

Vector: TypeAlias = NDArray[np.float64]

FEWEST: Final = 8
"""Guesses in the smallest block; fewer cannot refute anything of interest at the usual levels."""

_GROWTH: Final = math.sqrt(2)
_STEP: Final = Fraction(1, 64)
_LARGEST: Final = 24
_FAR: Final = 1e-18
"""Probability below which an outcome of a block is counted as a crossing instead of being followed."""


@dataclass(frozen=True)
class NestedGuesses:
    """Right guesses among the surest 8, 11, 16, ... and all canaries: `correct[i]` of the first `guessed[i]`."""

    canaries: int
    guessed: tuple[int, ...]
    correct: tuple[int, ...]


def count_nested(right: NDArray[np.bool_], canaries: int) -> NestedGuesses:
    """Count the right ones of guesses that are sorted from the surest on."""
    sizes = list[int]()
    size = float(FEWEST)
    while size < len(right) / _GROWTH:
        sizes.append(round(size))
        size *= _GROWTH
    sizes.append(len(right))
    sums = np.concatenate([[0], np.cumsum(right)])
    return NestedGuesses(canaries, tuple(sizes), tuple(int(sums[one]) for one in sizes))


def nested_p_value(guesses: NestedGuesses, epsilon: float, delta: float) -> float:
    """Compute the largest probability that any of the counts is as surprising as the most surprising one here (docs, section 2).

    The counts are those of a walk whose steps are right with probability at most e^epsilon / (1 + e^epsilon); delta adds what the
    theorem of section 1 adds for the block where it costs most.
    """
    from scipy.special import bdtrc

    sure = 1 / (1 + math.exp(-epsilon))
    counts = zip(guesses.guessed, guesses.correct, strict=True)
    tails = [float(bdtrc(right - 1, size, sure)) if right else 1.0 for size, right in counts]
    least = min(tails)
    limits = [_first_below(size, sure, least * (1 + 1e-9)) for size in guesses.guessed]
    crossing = _crossing(guesses.guessed, limits, sure)
    return min(1.0, crossing + guesses.canaries * delta * _dearest(guesses.guessed, sure) + SLACK)


def nested_epsilon(guesses: NestedGuesses, delta: float, level: float) -> Fraction:
    """Return the end of the run of refuted epsilons that begins at 0, in steps of 1/64.

    Epsilons are tested in their order and the first that survives ends the search: an error must refute the first true one, so that
    nothing is paid for testing many. The boundary depends on epsilon, hence no bisection.
    """
    last, place = Fraction(0), Fraction(0)
    while place < _LARGEST and nested_p_value(guesses, float(place), delta) <= level:
        last, place = place, place + _STEP
    return last


def _first_below(size: int, sure: float, level: float) -> int:
    """Return the least count of right guesses whose tail is at most `level`; `size` + 1 where there is none."""
    from scipy.special import bdtrc

    counts = np.arange(size + 1)
    tails = np.concatenate([[1.0], bdtrc(counts[1:] - 1, size, sure)])
    return int(np.searchsorted(-tails, -level))


def _crossing(sizes: Sequence[int], limits: Sequence[int], sure: float) -> float:
    """Probability that a walk with independent steps reaches one of the limits; what is not followed counts as reaching it."""
    start, alive, before = 0, np.ones(1), 0
    for size, limit in zip(sizes, limits, strict=True):
        low, block = _binomial(size - before, sure)
        alive = np.convolve(alive, block)
        start, before = start + low, size
        alive = alive[: max(0, limit - start)]
        if not len(alive):
            return 1.0
        kept = np.flatnonzero(alive > _FAR)
        if not len(kept):
            return 1.0
        start, alive = start + int(kept[0]), alive[kept[0] : kept[-1] + 1]
    return max(0.0, 1.0 - float(alive.sum()))


def _binomial(trials: int, sure: float) -> tuple[int, Vector]:
    """Probabilities of counts where they are not negligible, and the first of these counts."""
    counts = np.arange(trials + 1)
    masses = np.exp(_log_binomial(trials, sure))
    kept = np.flatnonzero(masses > _FAR)
    return int(counts[kept[0]]), masses[kept[0] : kept[-1] + 1]


def _log_binomial(trials: int, sure: float) -> Vector:
    """Logarithms of the binomial law."""
    from scipy.special import gammaln, xlog1py, xlogy

    counts = np.arange(trials + 1)
    ways = gammaln(trials + 1) - gammaln(counts + 1) - gammaln(trials - counts + 1)
    return np.asarray(ways + xlogy(counts, sure) + xlog1py(trials - counts, -sure))


def _dearest(sizes: Sequence[int], sure: float) -> float:
    """Largest multiplier of formula (1) of docs/membership.md over all blocks and counts in them."""
    from scipy.special import bdtr, bdtrc

    worst = 0.0
    for size in np.diff([0, *sizes]):
        counts = np.arange(1, size + 1)
        masses = np.exp(_log_binomial(int(size), sure)[1:])
        # It rises up to the mean and falls after it, so what underflows at either end cannot be the largest.
        kept = masses > 1e-250
        at = counts[kept]
        price = bdtrc(at - 1, size, sure) * bdtr(at - 1, size, sure) / (at * masses[kept])
        worst = max(worst, float(price.max()))
    return worst * (1 + 1e-6)
