"""Losses of boosting: slopes of one record each, and what noisy counts of labels say of where scores begin and how they curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.solvers.label_scale import LabelScale, cut_residuals
from learners.solvers.slopes import LOGISTIC, SOFTMAX, Bend, Slopes, expected_bend

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_BEND: Final = 0.02


@dataclass(frozen=True, eq=False)
class ScoreLoss:
    """A loss as boosting sees it."""

    slopes: Slopes  # downhill, none longer than `UNIT`
    start: NDArray[np.float64]  # scores before the first round, one for each output
    bends: NDArray[np.float64]  # second derivatives to expect, one for each output; they decide steps, never noise
    bend: Bend | None  # those to expect at a score; None for the same everywhere
    scale: float  # by how much scores are expected to vary


def class_loss(counts: NDArray[np.float64], deviation: float) -> ScoreLoss:
    """The cut logistic or softmax loss, from noisy counts of the classes with this deviation of noise."""
    total = max(float(counts.sum()), 1.0)
    least = min(1 / len(counts), max(1.0, 2 * deviation) / total)  # no rarer than noise can show
    shares = np.maximum(counts / total, least)
    shares /= shares.sum()
    if len(shares) == 2:
        start = np.array([_best_score(float(shares[1]))])
        return ScoreLoss(LOGISTIC.slopes, start, np.maximum(expected_bend(start), _LEAST_BEND / 2), expected_bend, 1.0)
    scores = np.log(shares)
    return ScoreLoss(SOFTMAX.slopes, scores - scores.mean(), np.maximum(shares * (1 - shares), _LEAST_BEND), None, 1.0)


def square_loss(counts: NDArray[np.float64], deviation: float) -> ScoreLoss:
    """The squared loss, its residuals cut where noisy counts of the bins of labels suggest; scores are parts of the label bound."""
    scale = LabelScale.of(counts, deviation)
    return ScoreLoss(cut_residuals(scale.cut), np.array([scale.mean]), np.array([scale.curvature]), None, scale.spread)


def _best_score(share: float) -> float:
    """The score for which the cut logistic loss is least if the second class has this share."""
    larger = max(share, 1 - share)
    return math.copysign(math.log((3 * larger - 1) / (1 - larger)) if larger < 1 else math.inf, share - 0.5)
