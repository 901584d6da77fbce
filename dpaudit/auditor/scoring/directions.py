"""A weighted sum of an output's numbers in which datasets differ more than in any of them: where noise is shared or cancels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from dpaudit.auditor.reading.features import FeatureMap, own_places
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.reading.wide import Lens, standardised
from dpaudit.auditor.statistics.binning import Floats, Labels

_FEWEST_ROWS: Final = 256
_RIDGE: Final = 1e-9
_STRONGER: Final = 1.5
_CLEARLY: Final = 25.0
"""What the squared statistic of a weighted sum has to exceed that of every single number by, on runs that did not choose it."""


def find_direction(features: FeatureMap, samples: Iterable[tuple[Matrix, Labels]]) -> Lens | None:
    """Return the lens of the best direction of some pair; None where no direction shows clearly more than single numbers.

    Source: Fisher 1936, the linear discriminant.
    """
    places = own_places(features)
    if features.lens is not None or len(places) < 2:
        return None
    positions, columns = (np.array(part) for part in zip(*places.items(), strict=True))
    best, lens = 0.0, None
    for rows, labels in samples:
        if len(labels) < _FEWEST_ROWS:
            continue
        values = rows[:, columns]
        low, centre, high = np.quantile(values, [1 / 8, 1 / 2, 7 / 8], axis=0)
        used = high > low
        if np.count_nonzero(used) < 2:
            continue
        scale = np.where(used, (high - low) / 2.3, 1.0)
        numbers = standardised(values, centre, scale)[:, used]
        half = len(labels) // 2
        weights = _weights(numbers[:half], labels[:half])
        held, held_labels = numbers[half:], labels[half:]
        alone = max(_statistic(held, held_labels), _statistic(np.diff(held, axis=1), held_labels))
        merit = _statistic((held @ weights)[:, None], held_labels)
        if merit > _STRONGER * alone + _CLEARLY and merit > best:
            best, whole = merit, np.zeros((3, len(features.paths)))
            whole[2] = 1.0
            whole[0, positions[used]], whole[1, positions], whole[2, positions] = weights, centre, scale
            lens = Lens(whole[1], whole[2], linear=whole[0])
    return lens


def _weights(numbers: Floats, labels: Labels) -> Floats:
    """Return the weights of the linear discriminant, the largest of size one."""
    sides = [numbers[labels == label] for label in (0, 1)]
    if min(map(len, sides)) < 2:
        return np.zeros(numbers.shape[1])
    pooled = sum(np.cov(side, rowvar=False) for side in sides) / 2 + _RIDGE * np.eye(numbers.shape[1])
    found = np.linalg.solve(pooled, sides[1].mean(axis=0) - sides[0].mean(axis=0))
    return np.asarray(found / max(np.abs(found).max(), 1e-300))


def _statistic(numbers: Floats, labels: Labels) -> float:
    """Return the largest squared difference of means of a column, in standard errors."""
    sides = [numbers[labels == label] for label in (0, 1)]
    if min(map(len, sides)) < 2 or not numbers.shape[1]:
        return 0.0
    error = sum(side.var(axis=0) / len(side) for side in sides)
    return float(((sides[1].mean(axis=0) - sides[0].mean(axis=0)) ** 2 / np.maximum(error, 1e-18)).max())
