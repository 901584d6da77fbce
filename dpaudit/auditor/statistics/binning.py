"""Bins of one feature column, cut from values alone: labels never decide where a bin ends."""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.uint8]
Bins: TypeAlias = NDArray[np.integer]

MOST_VALUES: Final = 48
"""A column with at most this many different values gets one bin for each of them."""

_LEVELS: Final = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
_TAIL_LEVELS: Final = (0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.004, 0.007)
_RUNS_IN_A_TAIL: Final = 4
_MOST_ATOMS: Final = 8
_FINE_BINS: Final = 128
_TAIL_RATIO: Final = 1.6
_MOST_COMPARED: Final = 48
_FEWEST_COMPARED: Final = 16
"""Up to so many cuts, with so many values for each, comparing is faster than searching."""

_BLOCK: Final = 2**14
"""Values that are compared at a time: as many as a cache holds."""


def cut_points(values: Floats) -> Floats:
    """Increasing cut points for one column: between all values if they are few, else at quantiles and around repeated values.

    Bin i holds the values from cut i - 1 up to, but not including, cut i; NaN and infinity are in the last bin, minus infinity in
    the first, and none of them is used for cutting.
    """
    finite = np.sort(values[np.isfinite(values)])
    if finite.size == 0:
        return np.empty(0)
    first = np.flatnonzero(np.concatenate([[True], finite[1:] != finite[:-1]]))  # np.unique would sort once more
    distinct, counts = finite[first], np.diff(first, append=finite.size)
    if distinct.size <= min(MOST_VALUES, finite.size // 4):
        return distinct[1:]
    lower = np.array((*(level for level in _TAIL_LEVELS if level * finite.size >= _RUNS_IN_A_TAIL), *_LEVELS))
    levels = np.concatenate([lower, [0.5], 1 - lower])
    quantiles = _at_levels(finite, levels)
    repeated = np.flatnonzero(counts >= max(2, 2 * float(np.median(counts))))
    atoms = distinct[repeated[np.argsort(-counts[repeated], kind="stable")[:_MOST_ATOMS]]]
    cuts = np.unique(np.concatenate([quantiles, atoms, np.nextafter(atoms, np.inf)]))
    return np.asarray(cuts[cuts > distinct[0]])


def fine_cuts(values: Floats, cuts: Floats) -> Floats:
    """Cut points of equal shares and of ever smaller ones towards both ends; `cuts` where the column has few different values.

    Shares are symmetric, so that the middle bins meet at the median; a value that fills a share has its own bin.
    """
    if cuts.size == 0:
        return cuts
    finite = np.sort(values[np.isfinite(values)])
    steps = max(0, int(math.log(finite.size / (_FINE_BINS * _RUNS_IN_A_TAIL), _TAIL_RATIO))) if finite.size else 0
    tail = _TAIL_RATIO ** -np.arange(steps, 0.0, -1.0) / _FINE_BINS
    levels = np.concatenate([tail, np.arange(1, _FINE_BINS) / _FINE_BINS, 1 - tail[::-1]])
    shares = _at_levels(finite, levels)
    fine = np.unique(shares)
    if fine.size <= MOST_VALUES:
        return cuts
    fine = np.unique(np.concatenate([fine, np.nextafter(shares[1:][shares[1:] == shares[:-1]], np.inf)]))
    return np.asarray(fine[fine > finite.min()])


def _at_levels(increasing: Floats, levels: Floats) -> Floats:
    """Quantiles among sorted values, the higher one of two; np.quantile would sort them again."""
    return increasing[np.ceil(levels * (len(increasing) - 1)).astype(np.intp)]


def assign_bins(values: Floats, cuts: Floats) -> Bins:
    """Find the bin of each value: how many cuts are at most as large; NaN is in the last bin."""
    if cuts.size > _MOST_COMPARED or len(values) < _FEWEST_COMPARED * cuts.size:
        return np.searchsorted(cuts, values, side="right")
    # For many values a few comparisons in cache are several times faster than a search.
    bins = np.full(len(values), cuts.size, dtype=np.uint8)
    for start in range(0, len(values), _BLOCK):
        part, found = values[start : start + _BLOCK], bins[start : start + _BLOCK]
        for cut in cuts:
            found -= part < cut
    return bins


def label_counts(bins: Bins, labels: Labels, size: int) -> Floats:
    """Count the values in each bin under label 0 (first column) and label 1 (second)."""
    return np.bincount(2 * bins.astype(np.intp) + labels, minlength=2 * size).reshape(size, 2).astype(np.float64)
