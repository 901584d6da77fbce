"""How different two small samples of outputs look: the largest log-ratio of an event, discounted for its few counts."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.runs.chunks import Labels
from dpaudit.auditor.statistics.binning import Floats

_FEW_VALUES: Final = 8
_HALF: Final = 0.5
_MOST_COLUMNS: Final = 64


def contrast(features: Matrix, labels: Labels, delta: float = 0.0) -> tuple[float, float]:
    """Return the contrast of the columns with few values, such as the form of an output, and of all columns; in nats.

    Events are single values, and the values on one side of a cut and around the middle. It orders pairs and decides nothing.
    """
    own = labels == 1
    if own.all() or not own.any():
        return 0.0, 0.0
    varied = np.flatnonzero((features != features[0]).any(axis=0))
    few = found = 0.0
    for column in (*varied[:_MOST_COLUMNS], *varied[_MOST_COLUMNS:][-_MOST_COLUMNS:]):
        values, codes = np.unique(features[:, column], return_inverse=True)
        counts = np.stack([np.bincount(codes[side], minlength=values.size) for side in (~own, own)]).astype(np.float64)
        ratio = _largest_ratio(counts, delta)
        found = max(found, ratio)
        if values.size <= _FEW_VALUES:
            few = max(few, ratio)
        else:
            around = np.argsort(np.abs(values - np.median(features[:, column])), kind="stable")
            found = max(found, _largest_ratio(counts[:, around], delta))
    return few, found


def _largest_ratio(counts: Floats, delta: float) -> float:
    """Return the largest log-ratio of a value, or of all values up to one or from one on, one standard error lower."""
    sums = counts.cumsum(axis=1)
    total = sums[:, -1:]
    hits = np.concatenate([counts, sums, total - sums], axis=1)
    low = np.log((hits + _HALF) / (total + 1))
    less = np.log((np.maximum(hits - delta * total, 0) + _HALF) / (total + 1))
    noise = np.sqrt((1 / (hits + _HALF)).sum(axis=0))
    return float((np.maximum(less[0] - low[1], less[1] - low[0]) - noise).max())
