"""Corrections of log-odds along ordered bins, as sums of contrasts between halves, halves of halves and so on, most of them 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

import numpy as np

from dpaudit.auditor.statistics.binning import Floats
from dpaudit.auditor.statistics.log_sums import log_sum

_SHARES: Final = (0.02, 0.1, 0.3, 0.9)
_SIZES: Final = tuple(0.01 * 2.0**power for power in range(11))
_DECAYS: Final = (0.5, 0.75, 1.0)
"""Grid of hypotheses: the share of contrasts that are not 0, the size of the coarsest of these, and its factor for each halving."""


@dataclass(frozen=True)
class Tree:
    """Bins in halves: precisions of the blocks at each level, from single bins to all of them, shape (rows, blocks)."""

    levels: tuple[Floats, ...]
    before: int
    bins: int

    def contrasts(self, values: Floats) -> Floats:
        """Mean of all bins, then left half less right half of each block, coarse blocks first; 0 where a half is empty."""
        found = []
        means = self._padded(values)
        for fine, coarse in zip(self.levels, self.levels[1:], strict=False):
            halves, shares = _halves(means), _halves(fine) / _positive(coarse)[..., None]
            found.append(np.where(_halves(fine).all(axis=-1), halves[..., 0] - halves[..., 1], 0.0))
            means = (halves * shares).sum(axis=-1)
        return np.concatenate([means, *found[::-1]], axis=-1)

    def variances(self) -> Floats:
        """Variance of each contrast by noise alone; infinite where a half is empty."""
        with np.errstate(divide="ignore"):
            found = [(1 / _halves(fine)).sum(axis=-1) for fine in self.levels[-2::-1]]
            return np.concatenate([1 / self.levels[-1], *found], axis=-1)

    def values(self, contrasts: Floats) -> Floats:
        """Values of the bins that have these contrasts; more rows than the tree has are allowed where it has one."""
        means, start = contrasts[..., :1], 1
        for fine, coarse in zip(self.levels[-2::-1], self.levels[:0:-1], strict=True):
            part = contrasts[..., start : start + coarse.shape[-1]]
            shares = _halves(fine) / _positive(coarse)[..., None]
            means = np.stack([means + part * shares[..., 1], means - part * shares[..., 0]], axis=-1).reshape(*means.shape[:-1], -1)
            start += coarse.shape[-1]
        return means[..., self.before : self.before + self.bins]

    def _padded(self, values: Floats) -> Floats:
        """Values with empty bins at both ends."""
        padded = np.zeros((*values.shape[:-1], self.levels[0].shape[-1]))
        padded[..., self.before : self.before + self.bins] = values
        return padded


def tree_of(precisions: Floats) -> Tree:
    """Build the tree of bins with these precisions, one row for each column; the first halves meet at the middle bin."""
    bins = precisions.shape[-1]
    size = 1 << (bins - 1).bit_length()
    before = (size - bins) // 2
    levels = [np.zeros((*precisions.shape[:-1], size))]
    levels[0][..., before : before + bins] = precisions
    while levels[-1].shape[-1] > 1:
        levels.append(_halves(levels[-1]).sum(axis=-1))
    return Tree(tuple(levels), before, bins)


def posterior_contrasts(tree: Tree, contrasts: Floats) -> tuple[Floats, Floats, float]:
    """Mean and variance of the true contrasts, and the log-likelihood of the seen ones.

    A true contrast is 0, or normal around 0 with a size that depends on its depth; both are learned from all contrasts together, as
    the mean over a grid with likelihoods as weights. So plateaus stay flat and steps sharp.

    Source: Johnstone and Silverman 2005, empirical Bayes thresholding, with a normal in place of their heavy tail.
    """
    variances = tree.variances()
    known = np.isfinite(variances)
    noise, seen = np.where(known, variances, 1.0), np.where(known, contrasts, 0.0)
    nothing = -0.5 * seen**2 / noise - 0.5 * np.log(noise)
    spread = np.expand_dims(_spreads(len(tree.levels)), tuple(range(1, seen.ndim)))
    something = -0.5 * seen**2 / (noise + spread) - 0.5 * np.log(noise + spread)
    kept = spread / (spread + noise)
    square = kept * noise + (kept * seen) ** 2
    evidence, means, squares = [], [], []
    for share in _SHARES:
        likely = np.log(share) + something
        either = log_sum(np.log1p(-share) + nothing, likely)
        chance = np.exp(likely - either)
        evidence.append(np.ascontiguousarray(either[:, known]).sum(axis=-1))
        means.append(chance * kept * seen)
        squares.append(chance * square)
    likelihoods = np.concatenate(evidence)
    total = float(np.logaddexp.reduce(likelihoods))
    weights = np.exp(likelihoods - total)
    mean = np.where(known, np.tensordot(weights, np.concatenate(means), 1), 0.0)
    return mean, np.where(known, np.tensordot(weights, np.concatenate(squares), 1) - mean**2, 0.0), total


def plateaus(deviation: Floats, variance: Floats) -> Floats:
    """Remove from deviations along ordered bins, one row for each column, the contrasts that noise explains."""
    tree = tree_of(1 / variance)
    return tree.values(posterior_contrasts(tree, tree.contrasts(deviation))[0])


def raw_corrections(ones: Floats, total: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Log-odds of the labels by bin beyond those of the `expected` ones, and their variance."""
    ones, zeros = ones + 0.5, total - ones + 0.5
    expected = expected + 0.5
    return np.log(ones / zeros) - np.log(expected / (total + 1 - expected)), 1 / ones + 1 / zeros


def shrink_corrections(deviation: Floats, variance: Floats) -> Floats:
    """Pull deviations towards 0 by their estimated spread.

    Source: empirical Bayes with a normal prior; the spread is estimated by weighted moments.
    """
    precision = 1 / variance
    spread = max(0.0, float((precision * (deviation**2 - variance)).sum() / precision.sum()))
    return np.asarray(deviation * spread / (spread + variance))


def share_corrections(deviation: Floats, variance: Floats) -> Floats:
    """Share deviations by bin among columns (rows): one shape that all have, multiples of few others, and own remainders.

    The mean over columns becomes plateaus, then the rest keeps of its singular values what noise alone would not give, and what is
    left of each column becomes plateaus again.

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


@cache
def _spreads(levels: int) -> Floats:
    """Variances of the contrasts in trees of so many levels, one row for each hypothesis of the grid."""
    depths = np.concatenate([[0.0], *(np.full(1 << depth, float(depth)) for depth in range(levels - 1))])
    spreads = np.stack([size * decay**depths for size, decay in product(_SIZES, _DECAYS)]) ** 2
    spreads.flags.writeable = False
    return np.asarray(spreads)


def _halves(level: Floats) -> Floats:
    """Neighbouring blocks in pairs."""
    return level.reshape(*level.shape[:-1], -1, 2)


def _positive(level: Floats) -> Floats:
    """Precisions to divide by; an empty block's share does not matter."""
    return np.where(level > 0, level, 1.0)
