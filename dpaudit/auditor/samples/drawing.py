"""Runs from two samples: a fair coin says whose next row each run takes, so that the bound is the one of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.attack.plans import FEWEST_PILOT_RUNS
from dpaudit.auditor.reading.outputs import Outputs
from dpaudit.auditor.runs.chunks import Labels
from dpaudit.auditor.samples.sample import Sample
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.power import detectable_epsilon

KEPT: Final = Fraction(49, 50)
"""Least probability that the coins ask for no more rows than there are; otherwise they are thrown again.

What is wrong with probability p over all coins is wrong with probability at most p / KEPT over those that are kept.
"""

MOST_ROWS: Final = 2**40
_SLACK: Final = 0.99
"""The chance of throwing again is kept below 1 - KEPT by this factor, which covers the rounding of the incomplete beta function."""

_CHOOSING_SHARE: Final = 4
_MOST_CHOOSING: Final = 2**20
_HALF: Final = 0.5

Pair: TypeAlias = tuple[Sample, Sample]


@dataclass(frozen=True)
class Runs:
    """Runs in random order: which sample each is from, the row of that sample, and how many of the first choose the event."""

    labels: Labels
    rows: NDArray[np.intp]
    choosing: int

    def outputs(self, samples: Pair, some: slice) -> Outputs:
        """Return the outputs of some runs."""
        labels, rows = self.labels[some], self.rows[some]
        first, second = (sample.outputs for sample in samples)
        if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
            merged = np.empty((len(rows), *first.shape[1:]), dtype=first.dtype)
            for label, array in enumerate((first, second)):
                merged[labels == label] = array[rows[labels == label]]
            return merged
        return [samples[label].outputs[row] for label, row in zip(labels.tolist(), rows.tolist(), strict=True)]


def draw_runs(samples: Pair, seed: int) -> Runs:
    """Draw runs without using a row twice, at random so that an order of the rows cannot matter."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    runs = runs_within(min(map(len, samples)))
    while True:
        labels = rng.integers(0, 2, size=runs, dtype=np.uint8)
        asked = runs - int(labels.sum()), int(labels.sum())
        if all(count <= len(sample) for count, sample in zip(asked, samples, strict=True)):
            break
    rows = np.empty(runs, dtype=np.intp)
    for label, (count, sample) in enumerate(zip(asked, samples, strict=True)):
        rows[labels == label] = rng.permutation(len(sample))[:count]
    return Runs(labels, rows, choosing_of(runs))


def runs_within(rows: int) -> int:
    """Return the most runs whose coins ask for at most `rows` rows of either sample, with probability at least `KEPT`."""
    from scipy.special import betainc

    low, high = rows, 2 * rows
    while high - low > 1:
        middle = (low + high) // 2
        # Twice the upper tail of a binomial: only one of two samples can be asked for too much.
        over = 2 * float(betainc(rows + 1, middle - rows, _HALF))
        low, high = (middle, high) if over <= _SLACK * float(1 - KEPT) else (low, middle)
    return low


def choosing_of(runs: int) -> int:
    """Return how many runs choose the event: a quarter, more of few runs, never more than half."""
    return min(runs // 2, max(FEWEST_PILOT_RUNS, runs // _CHOOSING_SHARE), _MOST_CHOOSING)


def suffice(rows: int, lines: tuple[ClaimPoint, ...], alpha: Fraction) -> bool:
    """True if so many rows of each sample refute a release without any noise 9 times in 10: from fewer nothing would follow."""
    runs = runs_within(rows)
    deciding, level = runs - choosing_of(runs), float(alpha * KEPT)
    return any(detectable_epsilon(mass=_HALF, runs=deciding, point=line, alpha=level) is not None for line in lines)


def rows_needed(lines: tuple[ClaimPoint, ...], alpha: Fraction) -> int | None:
    """Return the fewest rows of each sample that `suffice`; None where no number does."""
    high = 2
    while not suffice(high, lines, alpha):
        if high >= MOST_ROWS:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffice(middle, lines, alpha) else (middle, high)
    return high
