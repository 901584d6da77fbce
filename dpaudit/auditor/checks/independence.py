"""A test that successive outputs of a target are independent, as every statistical statement about it assumes."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dpaudit.auditor.events.predicates import Hits
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.runs.chunks import Labels
from dpaudit.results import Property

INDEPENDENT: Final = "runs are independent"
LEVEL: Final = 1e-9
"""Probability of a false alarm, over all columns and both datasets."""


def check_independence(features: Matrix, labels: Labels) -> Property:
    """Test successive outputs on the same dataset, in disjoint pairs, for dependence.

    Source: Serfling 1974 (tail bound for drawing without replacement).
    """
    # Under independence the order of outputs on one dataset is exchangeable: among pairs, outputs above the median are spread over
    # second places as by drawing without replacement, whatever the law of the output is.
    tests = 2 * features.shape[1]
    pairs, varied, able = 0, False, False
    for label in (0, 1):
        rows = features[labels == label]
        rows = rows[: len(rows) // 2 * 2]
        pairs += len(rows) // 2
        for column in range(features.shape[1]):
            if len(rows) == 0:
                continue
            above = rows[:, column] > np.median(rows[:, column])
            gap, allowed, largest = dependence(above[0::2], above[1::2], LEVEL / tests)
            if gap > allowed:
                detail = f"successive outputs on one dataset depend on each other (column {column}); such runs cannot be tested"
                return Property(INDEPENDENT, "violated", pairs, detail)
            varied = varied or bool((rows[:, column] != rows[0, column]).any())
            able = able or largest > allowed
    if pairs == 0 or (varied and not able):
        return Property(INDEPENDENT, "not run", pairs, "too few outputs for dependence to show")
    return Property(INDEPENDENT, "holds", pairs)


def dependence(first: Hits, second: Hits, level: float) -> tuple[float, float, float]:
    """Return by how much marks of the first and the second of pairs coincide, how much is chance, and how much there could be."""
    leading, share = int(first.sum()), float(second.mean())
    if leading == 0:
        return 0.0, math.inf, 0.0
    gap = abs(float(second[first].mean()) - share)
    return gap, math.sqrt(math.log(2 / level) / (2 * leading)), max(share, 1 - share)
