"""Corrections of log-odds by bin: what the labels say beyond an earlier score, pulled back as far as chance explains it."""

from __future__ import annotations

import numpy as np

from dpaudit.auditor.scoring.contrasts import plateaus
from dpaudit.auditor.statistics.binning import Floats


def raw_corrections(ones: Floats, total: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """By bin the log-odds of the labels beyond those of the `expected` ones, and their variance."""
    ones, zeros = ones + 0.5, total - ones + 0.5
    expected = expected + 0.5
    return np.log(ones / zeros) - np.log(expected / (total + 1 - expected)), 1 / ones + 1 / zeros


def shrink_corrections(deviation: Floats, variance: Floats) -> Floats:
    """Deviations pulled towards 0 by their estimated spread.

    Source: empirical Bayes with a normal prior; the spread is estimated by weighted moments.
    """
    precision = 1 / variance
    spread = max(0.0, float((precision * (deviation**2 - variance)).sum() / precision.sum()))
    return np.asarray(deviation * spread / (spread + variance))


def share_corrections(deviation: Floats, variance: Floats) -> Floats:
    """Deviations of several columns (rows) by bin: one shape that all have, multiples of few further shapes, and own remainders.

    The mean over columns is read as plateaus, then the rest through its singular values: those that noise alone would
    have vanish, the others keep what is expected to be signal. What is left of each column is read as plateaus again.

    Source: Gavish and Donoho 2017, shrinkage of singular values for squared error.
    """
    precision = 1 / variance
    mass = precision.sum(axis=0)
    common = plateaus((precision * deviation).sum(axis=0) / mass, 1 / mass)
    noise = np.sqrt(variance)
    left, sizes, right = np.linalg.svd((deviation - common) / noise, full_matrices=False)
    rows, columns = deviation.shape
    excess = np.maximum(sizes**2 - rows - columns, 0.0) ** 2 - 4 * rows * columns
    kept = np.sqrt(np.maximum(excess, 0.0)) / np.maximum(sizes, 1e-300)
    low = common + noise * ((left * kept) @ right)
    return np.asarray(low + plateaus(deviation - low, variance))
