"""Attacks on what noise gives away beside its law: low bits, precision, support, time. Each works on any sampler.

Attacks on outputs end in an epsilon that the sampler certainly exceeds, so the same function that breaks a naive sampler says of
a sound one that nothing was shown. docs/catalogue.md explains them; `benchmarks/float_noise.py --attacks` runs them on peers.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Sampler = Callable[[float, int], Floats]
"""Noisy copies of a value: from the value and how many to an array."""

NEIGHBOURS = (0.0, 1.0)
"""Two values that a query of sensitivity 1 may have on neighbouring data."""


def textbook_noise(uniform: Floats, scale: float) -> Floats:
    """Laplace noise by the textbook formula in floating point, from a uniform number in [-1/2, 1/2)."""
    return -scale * np.sign(uniform) * np.log(1.0 - 2.0 * np.abs(uniform))


def naive_laplace(rng: np.random.Generator, scale: float) -> Sampler:
    """The sampler that must fall to these attacks: one 53-bit uniform number, the textbook formula, one addition."""

    def sampler(value: float, count: int) -> Floats:
        # The end -1/2 itself, which would give an infinite number, has probability 2**-53.
        uniform = rng.integers(1, 2**53, count) * 2.0**-53 - 0.5
        return value + textbook_noise(uniform, scale)

    return sampler


def exceeded_epsilon(event_on_first: int, event_on_second: int, runs: int, level: float) -> float:
    """Largest epsilon refuted by how often an event occurred in `runs` runs on either side; wrong with chance `level` at most."""
    from scipy.stats import beta

    least = float(beta.ppf(level / 2, event_on_first, runs - event_on_first + 1)) if event_on_first else 0.0
    most = float(beta.isf(level / 2, event_on_second + 1, runs - event_on_second)) if event_on_second < runs else 1.0
    return math.log(least / most) if least > 0 else -math.inf


def textbook_reaches(outputs: Floats, value: float, scale: float) -> NDArray[np.bool_]:
    """Which outputs the textbook formula can give on `value`: the formula is inverted and the uniform numbers around are tried."""
    noise = outputs - value
    nearest = np.rint(-0.5 * np.expm1(-np.abs(noise) / scale) * 2.0**53)
    reached = np.zeros(len(outputs), dtype=bool)
    for away in range(-6, 7):
        uniform = np.copysign(np.clip(nearest + away, 0, 2**52 - 1) * 2.0**-53, noise)
        reached |= value + textbook_noise(uniform, scale) == outputs
    return reached


def low_bits(sampler: Sampler, scale: float, runs: int, level: float) -> float:
    """Epsilon shown by outputs that the textbook formula never gives on the first value (Mironov 2012)."""
    first, second = NEIGHBOURS
    never = [int((~textbook_reaches(sampler(value, runs), first, scale)).sum()) for value in (second, first)]
    return exceeded_epsilon(*never, runs, level)


def precision(sampler: Sampler, runs: int, level: float) -> float:
    """Epsilon shown by small outputs with more digits than a rounded sum with the second value has (Haney et al. 2022).

    Noise that is rounded before it is added to 1 can only give multiples of 2**-53 near 0, added to 0 it gives all its digits.
    """
    finer = [int(((output := sampler(value, runs)) * 2.0**53 != np.rint(output * 2.0**53)).sum()) for value in NEIGHBOURS]
    return max(exceeded_epsilon(*finer, runs, level), exceeded_epsilon(*finer[::-1], runs, level))


def near(place: float, count: int) -> Floats:
    """The `count` floats from `place` upward."""
    return (np.array([place]).view(np.int64) + np.arange(count)).view(np.float64)


def clocked(release: Callable[[], Any], calls: int) -> tuple[NDArray[np.int64], list[Any]]:
    """Wall time of each call in nanoseconds, and what it gave; without garbage collection in between."""
    times, outputs, clock = np.empty(calls, dtype=np.int64), [None] * calls, time.perf_counter_ns
    for _ in range(200):
        release()
    gc.collect()
    gc.disable()
    try:
        for call in range(calls):
            start = clock()
            output = release()
            times[call] = clock() - start
            outputs[call] = output
    finally:
        gc.enable()
    return times, outputs


def time_correlation(times: NDArray[np.int64], scores: Floats) -> float:
    """Correlation of all times, outliers included, with a score in [0, 1] of the size of the noise."""
    return float(np.corrcoef(times, scores)[0, 1])


def time_by_size(times: NDArray[np.int64], scores: Floats) -> float:
    """How far the median times of ten groups of calls, by the size of their noise, lie apart, relative to the overall median."""
    groups = [np.median(group) for group in np.array_split(times[np.argsort(scores, kind="stable")], 10)]
    return float((max(groups) - min(groups)) / np.median(times))


def selection_times(select: Callable[[Floats], Any], scores: Sequence[Floats], repeats: int) -> float:
    """Largest over smallest median time of a selection among several score vectors, which take turns."""
    times, clock = np.empty((repeats, len(scores)), dtype=np.int64), time.perf_counter_ns
    for repeat in range(-3, repeats):
        for place, vector in enumerate(scores):
            start = clock()
            select(vector)
            times[max(repeat, 0), place] = clock() - start
    medians = np.median(times, axis=0)
    return float(medians.max() / medians.min())
