"""One run, every number of guesses at once: epsilon from the surest guesses, few or all, and from all of them weighted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.membership.experiments import SLACK

Vector: TypeAlias = NDArray[np.float64]

FEWEST: Final = 8
"""Guesses in the smallest block; fewer cannot refute anything of interest at the usual levels."""

_SHARE_OF_DELTA: Final = 0.1
"""Share of the level that delta may cost: the smallest blocks, where it costs most, are joined until it costs no more."""

_SHARE_WEIGHTED: Final = 0.9
"""Share of the level for the weighted count, which shows more unless very few canaries show everything."""

_DISTANCES: Final = np.geomspace(0.03, 16, 64)
_HALF_POWER: Final = 1.645
_LARGEST_WEIGHT: Final = 48
_LEAST_RANGE: Final = 6
_BEYOND: Final = 1e-12
_GROWTH: Final = math.sqrt(2)
_STEP: Final = Fraction(1, 64)
"""Step of epsilon below 1; twice that up to 4, and four times that beyond."""

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


@lru_cache(maxsize=64)
def _joined(ends: tuple[int, ...], most: float) -> tuple[int, ...]:
    """Choose ends of blocks for each of which delta costs at most so much at epsilon 0; one block where none is so large."""
    least = ends[0]
    while least < ends[-1] and _dearest((least,), 1 / 2) > most:
        least = math.ceil(least * _GROWTH)
    found = [ends[-1]]
    for end in reversed(ends[:-1]):
        if end >= least and found[-1] - end >= least:
            found.append(end)
    return tuple(reversed(found))


def join_blocks(guesses: NestedGuesses, delta: float, level: float) -> NestedGuesses:
    """Join blocks that are so small that delta would cost more than its share of the level, which many canaries make likely."""
    most = _SHARE_OF_DELTA * level / max(guesses.canaries * delta, 1e-300)
    if _dearest(guesses.guessed, 1 / 2) <= most:
        return guesses
    ends = _joined(guesses.guessed, most)
    counted = dict(zip(guesses.guessed, guesses.correct, strict=True))
    return NestedGuesses(guesses.canaries, ends, tuple(counted[end] for end in ends))


def nested_p_value(guesses: NestedGuesses, epsilon: float, delta: float, *, level: float = 0.0) -> float:
    """Compute a p-value of (epsilon, delta)-DP from a weighted count of right guesses, or from the most surprising count.

    Both are events of docs/membership.md, section 2, for guesses that are right with probability e^epsilon / (1 + e^epsilon); delta
    adds what the theorem of section 1 adds for the block where it costs most. Each may err with its share of the level. The second
    is left out where the first alone is at most `level`.
    """
    sure = 1 / (1 + math.exp(-epsilon))
    paid = guesses.canaries * delta * _dearest(guesses.guessed, sure) + SLACK
    weighted = min(1.0, (_weighted_tail(guesses, epsilon) + paid) / _SHARE_WEIGHTED)
    return weighted if weighted <= level else min(weighted, (_surprise(guesses, sure) + paid) / (1 - _SHARE_WEIGHTED))


def _surprise(guesses: NestedGuesses, sure: float) -> float:
    """Probability that any count is as surprising as the most surprising one here, for a walk of independent steps."""
    from scipy.special import bdtrc

    counts = zip(guesses.guessed, guesses.correct, strict=True)
    least = min(float(bdtrc(right - 1, size, sure)) if right else 1.0 for size, right in counts)
    limits = [_first_below(size, sure, least * (1 + 1e-9)) for size in guesses.guessed]
    return _crossing(guesses.guessed, limits, sure)


def _weighted_tail(guesses: NestedGuesses, epsilon: float) -> float:
    """Probability that a weighted count of right guesses is as large, for independent guesses; rounded by far less than `SLACK`."""
    weights, first, tails = _weighting(guesses.guessed, epsilon)
    place = int(weights @ np.diff([0, *guesses.correct])) - first
    return 1.0 if place <= 0 else float(tails[min(place, len(tails) - 1)])


@lru_cache(maxsize=1024)  # audits of equally many canaries ask for the same epsilons
def _weighting(ends: tuple[int, ...], epsilon: float) -> tuple[NDArray[np.int64], int, Vector]:
    """Choose integer weights of the blocks for an epsilon, and compute the upper tail of the weighted count from a first one on.

    Any weights are valid. These are best against Gaussian scores just far enough apart that epsilon is refuted half the time.
    """
    sizes, sure, shown = np.diff([0, *ends]), 1 / (1 + math.exp(-epsilon)), _profiles(ends)
    gains = np.maximum(0.0, np.log(shown / (1 - shown)) - epsilon)
    shift = (sizes * gains * (shown - sure)).sum(axis=1)
    spread = np.sqrt((sizes * gains**2).sum(axis=1) * sure * (1 - sure))
    enough = np.flatnonzero(shift > _HALF_POWER * spread)
    chosen = gains[enough[0] if len(enough) else -1]
    largest = max(_LEAST_RANGE, round(_LARGEST_WEIGHT * min(1.0, math.sqrt(1000 / ends[-1]))))
    weights = np.round(largest * chosen / max(float(chosen.max()), 1e-300)).astype(np.int64)
    # By Hoeffding's bound the count is farther than this from its mean with probability at most `_BEYOND`; the rest wraps round.
    reach = math.sqrt(math.log(2 / _BEYOND) / 2 * float(sizes @ weights**2)) + 1
    cells = 1 << math.ceil(2 * reach).bit_length()
    first = round(sure * float(weights @ sizes)) - cells // 2
    turns = -2j * np.pi * np.arange(cells // 2 + 1) / cells
    law = np.exp(-turns * first)
    for weight in np.unique(weights[weights > 0]):
        law *= (1 - sure + sure * np.exp(turns * weight)) ** int(sizes[weights == weight].sum())
    return weights, first, np.cumsum(np.fft.irfft(law, cells)[::-1])[::-1]


@lru_cache(maxsize=64)
def _profiles(ends: tuple[int, ...]) -> Vector:
    """How often guesses of each block are right, for Gaussian scores at several distances; a row for each distance."""
    from scipy.special import ndtr

    shares, rows = np.array([0, *ends]) / ends[-1], list[Vector]()
    for mu in _DISTANCES:
        places = np.linspace(mu / 2 + 9, 0, 1024)  # of a score, from the middle
        surer, right = ndtr(mu / 2 - places) + ndtr(-mu / 2 - places), ndtr(mu / 2 - places)
        rows.append(np.diff(np.interp(shares, surer, right)) / np.diff(shares))
    return np.clip(np.array(rows), 0.5, 1 - 1e-6)


def nested_epsilon(guesses: NestedGuesses, delta: float, level: float) -> Fraction:
    """Return the end of the run of refuted epsilons that begins at 0, in steps of 1/64 and more.

    Epsilons are tested in their order and the first that survives ends the search: an error must refute the first true one, so that
    nothing is paid for testing many. The boundary depends on epsilon, hence no bisection.
    """
    guesses, last, place = join_blocks(guesses, delta, level), Fraction(0), Fraction(0)
    while place < _LARGEST and nested_p_value(guesses, float(place), delta, level=level) <= level:
        last, place = place, next_tested(place)
    return last


def next_tested(epsilon: Fraction) -> Fraction:
    """Return the epsilon that is tested after one."""
    return epsilon + _STEP * (1 if epsilon < 1 else 2 if epsilon < 4 else 4)


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
    masses = np.exp(_log_binomial(trials, counts, sure))
    kept = np.flatnonzero(masses > _FAR)
    return int(counts[kept[0]]), masses[kept[0] : kept[-1] + 1]


def _log_binomial(trials: int, counts: NDArray[np.int64], sure: float) -> Vector:
    """Logarithms of the binomial law at some counts."""
    from scipy.special import gammaln, xlog1py, xlogy

    ways = gammaln(trials + 1) - gammaln(counts + 1) - gammaln(trials - counts + 1)
    return np.asarray(ways + xlogy(counts, sure) + xlog1py(trials - counts, -sure))


@lru_cache(maxsize=1024)
def _dearest(sizes: tuple[int, ...], sure: float) -> float:
    """Largest multiplier of formula (1) of docs/membership.md over all blocks and counts in them."""
    from scipy.special import bdtr, bdtrc

    worst = 0.0
    for size in np.diff([0, *sizes]):
        # It rises up to the mean and falls after it, so that nothing far from the mean can be the largest.
        mean, reach = size * sure, 8 + 6 * math.sqrt(size * sure * (1 - sure))
        counts = np.arange(max(1, math.floor(mean - reach)), min(int(size), math.ceil(mean + reach)) + 1)
        masses = np.exp(_log_binomial(int(size), counts, sure))
        kept = masses > 1e-250
        at = counts[kept]
        price = bdtrc(at - 1, size, sure) * bdtr(at - 1, size, sure) / (at * masses[kept])
        worst = max(worst, float(price.max()))
    return worst * (1 + 1e-6)
