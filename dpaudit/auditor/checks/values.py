"""The distance of the values that a release read on two datasets, in the metric of its sensitivity."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.distance import distance_exceeds, numbers_in
from dpaudit.errors import DpauditError

ADDITIVE: Final = {
    "discrete_laplace": "l1",
    "staircase": "l1",
    "truncated_discrete_laplace": "l1",
    "finite_noise": "l1",
    "real_laplace": "l1",
    "discrete_gaussian": "l2",
    "rounded_gaussian": "l2",
    "truncated_discrete_gaussian": "l2",
    "real_gaussian": "l2",
    "euclidean_laplace": "l2",
}
"""Kinds of release that add noise to what they read, each with the metric in which its sensitivity is meant."""

METRICS: Final = {
    **ADDITIVE,
    "randomized_response": "hamming",
    "exponential_mechanism": "linf",
    "permute_and_flip": "linf",
    "top_k": "linf",
    "noisy_max": "linf",
    "above_threshold": "linf",
    "sparse_vector": "linf",
    "stability_histogram": "l1",
    "partition_selection": "l1",
    "objective_perturbation": "l2",
    "best_of_runs": "linf",
    "update_charged": "linf",
    "float_noise": "l1",
}
"""The metric of each kind of release whose values can be compared."""

_PLACES: Final = 64


def can_be_read(first: Any, second: Any, metric: str) -> bool:
    """True if two values that a release read are numbers whose distance can be computed."""
    try:
        for side in _comparable(first, second, metric):
            numbers_in(side)
    except DpauditError:
        return False
    return True


def read_further(first: Any, second: Any, metric: str, bound: Fraction) -> bool:
    """True if two values that a release read are further apart than `bound`; what cannot be compared is not."""
    try:
        return distance_exceeds(*_comparable(first, second, metric), metric, bound)
    except DpauditError:
        return False


def least_distance(first: Any, second: Any, metric: str) -> Fraction:
    """Return the distance of two values that a release read, at most 2**-64 below the true one; 0 for what cannot be compared."""
    try:
        before, after = (numbers_in(side) for side in _comparable(first, second, metric))
    except DpauditError:
        return Fraction(0)
    if len(before) != len(after):
        return Fraction(0)
    gaps = [abs(one - other) for one, other in zip(before, after, strict=True)]
    if metric == "l2":
        squares = sum((gap * gap for gap in gaps), Fraction(0))
        return Fraction(math.isqrt(int(squares * 4**_PLACES)), 2**_PLACES)
    if metric == "hamming":
        return Fraction(sum(gap > 0 for gap in gaps))
    return max(gaps, default=Fraction(0)) if metric == "linf" else sum(gaps, Fraction(0))


def _comparable(first: Any, second: Any, metric: str) -> tuple[Any, Any]:
    """Return two values as numbers in one order: counts by key, 0 for a key that one lacks, and scores of possible candidates."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        keys = dict.fromkeys([*first, *second])
        return [first.get(key, 0) for key in keys], [second.get(key, 0) for key in keys]
    return _possible(first, second) if metric == "linf" else (first, second)


def _possible(first: Any, second: Any) -> tuple[Any, Any]:
    """Return scores without the candidates that neither dataset allows; where only one does, values of different lengths."""
    scores: list[list[Any]] = [np.asarray(side, dtype=object).ravel().tolist() for side in (first, second)]
    never = [[isinstance(score, numbers.Real) and score == -math.inf for score in side] for side in scores]
    if never[0] != never[1]:
        return [0], []
    kept = [[score for score, out in zip(side, outs, strict=True) if not out] for side, outs in zip(scores, never, strict=True)]
    return kept[0], kept[1]
