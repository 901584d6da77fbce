"""Models of the log-odds of label 1 along one column: a smooth curve, a curve of plateaus, and the average of these two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.binning import Floats, Labels, cut_points, fine_cuts

Places: TypeAlias = NDArray[np.int64]

_STEPS: Final = tuple(0.01 * 2**power for power in range(10))
_LEVEL_VARIANCE: Final = 1.0
_SPLIT: Final = 0.1


@dataclass(frozen=True)
class Ordered:
    """One column in increasing order, without NaN, and how many rows before each place have label 1, are even or both."""

    values: Floats
    ones: Places
    even: Places
    even_ones: Places

    def counts(self, cuts: Floats) -> tuple[Floats, Floats]:
        """Label counts of the bins between cuts, of even rows and of odd ones: columns label 0 and label 1."""
        ends = np.concatenate([[0], np.searchsorted(self.values, cuts, side="left"), [len(self.values)]])
        ones, even, even_ones = (np.diff(part[ends]) for part in (self.ones, self.even, self.even_ones))
        odd, odd_ones = np.diff(ends) - even, ones - even_ones
        return (
            np.stack([even - even_ones, even_ones], axis=1).astype(np.float64),
            np.stack([odd - odd_ones, odd_ones], axis=1).astype(np.float64),
        )


def ordered(values: Floats, labels: Labels) -> Ordered:
    """A column in increasing order."""
    order = np.argsort(values, kind="stable")
    order = order[: len(values) - int(np.isnan(values).sum())]  # NaN is last
    even, ones = order % 2 == 0, labels[order] == 1
    return Ordered(values[order], _sums(ones), _sums(even), _sums(even & ones))


def _sums(marks: NDArray[np.bool_]) -> Places:
    """How many of the first places are marked, from none to all."""
    sums = np.zeros(len(marks) + 1, dtype=np.int64)
    np.cumsum(marks, out=sums[1:])
    return sums


def smooth_log_odds(counts: Floats) -> Floats:
    """Log-odds of ordered bins whose neighbours differ by random steps, the step size fitted by marginal likelihood.

    Source: Gaussian random-walk prior on normal log-ratios (Kalman smoother, solved densely: the bins are few).
    """
    zeros, ones = counts[:, 0] + 0.5, counts[:, 1] + 0.5
    ratio, variance = np.log(ones / zeros), 1 / ones + 1 / zeros
    size = len(ratio)
    walk = np.minimum.outer(np.arange(size), np.arange(size)).astype(np.float64)
    best, fitted = -np.inf, ratio
    for step in _STEPS:
        prior = step**2 * walk + max(_LEVEL_VARIANCE, step**2 * size)
        factor = np.linalg.cholesky(prior + np.diag(variance))
        white = np.linalg.solve(factor, ratio)
        evidence = -0.5 * float(white @ white) - float(np.log(np.diag(factor)).sum())
        if evidence > best:
            best, fitted = evidence, prior @ np.linalg.solve(factor.T, white)
    return np.asarray(fitted)


def plateau_log_odds(counts: Floats) -> Floats:
    """Log-odds of ordered bins that form plateaus: the average over all dyadic partitions, each split having a fixed probability.

    Source: Willems, Shtarkov, Tjalkens 1995 (context-tree weighting), with Krichevsky-Trofimov estimates on intervals of bins.
    """
    from scipy.special import betaln

    size = len(counts)
    leaves = np.zeros((1 << max(0, size - 1).bit_length(), 2))
    leaves[:size] = counts
    levels = [leaves]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, 2, 2).sum(axis=1))
    evidence = betaln(leaves[:, 1] + 0.5, leaves[:, 0] + 0.5) - betaln(0.5, 0.5)
    whole = [np.ones(len(leaves))]
    for level in levels[1:]:
        united = betaln(level[:, 1] + 0.5, level[:, 0] + 0.5) - betaln(0.5, 0.5) + np.log(1 - _SPLIT)
        both = np.logaddexp(united, evidence.reshape(-1, 2).sum(axis=1) + np.log(_SPLIT))
        whole.append(np.exp(united - both))
        evidence = both
    reached, theta = np.ones(1), np.zeros(1)
    for level, stop in zip(reversed(levels), reversed(whole), strict=True):
        reached, theta = (np.repeat(part, len(level) // len(part)) for part in (reached, theta))
        theta = theta + reached * stop * (level[:, 1] + 0.5) / (level.sum(axis=1) + 1)
        reached = reached * (1 - stop)
    return np.asarray(np.log(theta[:size] / (1 - theta[:size])))


def column_model(column: Ordered) -> tuple[Floats, Floats]:
    """Cut points of a column and the log-odds of label 1 in each bin: smooth and plateau curves, weighted by prediction.

    Each curve is fitted on every second run and predicts the labels of the others; weights are its likelihoods there.
    """
    cuts = cut_points(column.values)
    if not cuts.size:
        return cuts, np.zeros(1)
    fine = fine_cuts(column.values, cuts)
    # Every coarse cut is a fine cut, so each fine bin lies in one coarse bin.
    within = np.concatenate([[0], np.searchsorted(cuts, fine, side="right")])
    halves, fine_halves = column.counts(cuts), column.counts(fine)

    def curves(coarse_counts: Floats, fine_counts: Floats) -> tuple[Floats, Floats]:
        return smooth_log_odds(coarse_counts)[within], plateau_log_odds(fine_counts)

    scores = np.zeros(2)
    for fitted, rest in ((0, 1), (1, 0)):
        for place, odds in enumerate(curves(halves[fitted], fine_halves[fitted])):
            zeros, ones = fine_halves[rest].T
            scores[place] -= float(ones @ np.logaddexp(0, -odds) + zeros @ np.logaddexp(0, odds))
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    smooth, plateaus = curves(halves[0] + halves[1], fine_halves[0] + fine_halves[1])
    theta = weights[0] / (1 + np.exp(-smooth)) + weights[1] / (1 + np.exp(-plateaus))
    return fine, np.asarray(np.log(theta / (1 - theta)))
