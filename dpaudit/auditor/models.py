"""Models of the log-odds of label 1 by bin: independent bins, a smooth curve, a curve of plateaus, and the average of these two."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.binning import Floats, Labels, cut_points, fine_cuts, label_counts

_STEPS: Final = tuple(0.01 * 2**power for power in range(10))
_LEVEL_VARIANCE: Final = 1.0
_SPLIT: Final = 0.1


def shrunk_log_ratios(counts: Floats, prior: Floats | None = None) -> Floats:
    """Log of (label 1 : label 0) in each bin, pulled towards `prior` (0 unless given) as far as chance explains the spread.

    Source: empirical Bayes with normal log-ratios; the spread is estimated by weighted moments.
    """
    zeros, ones = counts[:, 0] + 0.5, counts[:, 1] + 0.5
    centre = np.zeros(len(counts)) if prior is None else prior
    deviation = np.log(ones / zeros) - centre
    variance = 1 / ones + 1 / zeros
    precision = 1 / variance
    spread = max(0.0, float((precision * (deviation**2 - variance)).sum() / precision.sum()))
    return np.asarray(centre + deviation * spread / (spread + variance))


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


def column_model(values: Floats, labels: Labels) -> tuple[Floats, Floats]:
    """Cut points of a column and the log-odds of label 1 in each bin: smooth and plateau curves, weighted by prediction.

    Each curve is fitted on every second run and predicts the labels of the others; weights are its likelihoods there.
    """
    cuts = cut_points(values)
    if not cuts.size:
        return cuts, np.zeros(1)
    fine = fine_cuts(values, cuts)
    coarse_bins, fine_bins = (np.searchsorted(edges, values, side="right") for edges in (cuts, fine))
    even = np.arange(len(values)) % 2 == 0

    def curves(rows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        smooth = smooth_log_odds(label_counts(coarse_bins[rows], labels[rows], cuts.size + 1))
        return smooth, plateau_log_odds(label_counts(fine_bins[rows], labels[rows], fine.size + 1))

    scores = np.zeros(2)
    for fitted, rest in ((even, ~even), (~even, even)):
        for place, (curve, bins) in enumerate(zip(curves(fitted), (coarse_bins, fine_bins), strict=True)):
            odds = curve[bins[rest]]
            scores[place] -= float(np.logaddexp(0, np.where(labels[rest] == 1, -odds, odds)).sum())
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    smooth, plateaus = curves(np.ones(len(values), dtype=bool))
    # Every coarse cut is a fine cut, so each fine bin lies in one coarse bin.
    within = np.concatenate([[0], np.searchsorted(cuts, fine, side="right")])
    theta = weights[0] / (1 + np.exp(-smooth[within])) + weights[1] / (1 + np.exp(-plateaus))
    return fine, np.asarray(np.log(theta / (1 - theta)))
