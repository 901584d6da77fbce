"""Losses of boosting: slopes of one record each, and what noisy counts of labels say of where scores begin and how they curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.rows.labels import TARGET_UNIT
from learners.solvers.slopes import LOGISTIC, SOFTMAX, UNIT, Bend, Slopes, expected_bend

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABEL_BINS: Final = 32
"""Bins of a regressor's labels."""

_REACH: Final = 1.25
"""Residuals are cut at so many deviations of the labels."""

_LEAST_BEND: Final = 0.02


@dataclass(frozen=True, eq=False)
class ScoreLoss:
    """A loss as boosting sees it."""

    slopes: Slopes  # downhill, none longer than `UNIT`
    start: NDArray[np.float64]  # scores before the first round, one for each output
    bends: NDArray[np.float64]  # second derivatives to expect, one for each output; they decide steps, never noise
    bend: Bend | None  # those to expect at a score; None for the same everywhere
    scale: float  # by how much scores are expected to vary


def bin_targets(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of each label of a regressor."""
    return (labels + TARGET_UNIT) * LABEL_BINS // (2 * TARGET_UNIT + 1)


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
    kept = np.where(counts > 2 * deviation, counts, 0.0)
    if not kept.any():
        kept = np.ones(LABEL_BINS)
    places = (np.arange(LABEL_BINS) + 0.5) * (2 / LABEL_BINS) - 1
    mean = float(np.einsum("i,i->", kept, places) / kept.sum())
    spread = math.sqrt(float(np.einsum("i,i->", kept, np.square(places - mean)) / kept.sum()) + (1 / LABEL_BINS) ** 2 / 3)
    cut = min(max(round(_REACH * spread * TARGET_UNIT), 1), TARGET_UNIT)

    def slopes(margins: NDArray[np.int64], labels: NDArray[np.int64], margin_bits: int) -> NDArray[np.int64]:
        """Residuals as parts of where they are cut, rounded toward zero."""
        residuals = labels - (margins >> (margin_bits - TARGET_UNIT.bit_length() + 1))
        return np.asarray(np.sign(residuals) * (np.minimum(np.abs(residuals), cut) * UNIT // cut))

    return ScoreLoss(slopes, np.array([mean]), np.array([TARGET_UNIT / cut]), None, spread)


def _best_score(share: float) -> float:
    """The score for which the cut logistic loss is least if the second class has this share."""
    larger = max(share, 1 - share)
    return math.copysign(math.log((3 * larger - 1) / (1 - larger)) if larger < 1 else math.inf, share - 0.5)
