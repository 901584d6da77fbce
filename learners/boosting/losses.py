"""Losses of boosting: slopes of one record each, and what noisy counts of labels say of where scores begin and how they curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from learners.rows.labels import WEIGHT_UNIT
from learners.solvers.label_scale import LabelScale, cut_residuals
from learners.solvers.slopes import LOGISTIC, SOFTMAX, Bend, Slopes, best_score, expected_bend, weighted_rule

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

    def weakened(self, strength: float) -> Self:
        """The loss of records of this mean weight, which multiplies curvatures; at least 1/4096."""
        times, bend = min(max(strength, 2.0**-12), 1.0), self.bend
        return replace(self, bends=times * self.bends, bend=None if bend is None else lambda scores: times * bend(scores))


def class_loss(
    counts: NDArray[np.float64], deviation: float, weights: tuple[int, ...] | None = None, *, balanced: bool = False
) -> ScoreLoss:
    """The cut logistic or softmax loss, from noisy counts of the classes with this deviation of noise, and weights of classes."""
    total = max(float(counts.sum()), 1.0)
    least = min(1 / len(counts), max(1.0, 2 * deviation) / total)  # no rarer than noise can show
    shares = np.maximum(counts / total, least)
    shares /= shares.sum()
    if balanced:
        weights = tuple(max(1, round(weight * WEIGHT_UNIT)) for weight in (shares.min() / shares).tolist())
    if len(shares) == 2:
        rule = LOGISTIC if weights is None else weighted_rule(LOGISTIC, weights)
        bend, start = rule.bend or expected_bend, np.array([(rule.start or best_score)(float(shares[1]))])
        return ScoreLoss(rule.slopes, start, np.maximum(bend(start), _LEAST_BEND / 2), bend, 1.0)
    rule, weighed = SOFTMAX, shares
    if weights is not None:
        rule, weighed = weighted_rule(SOFTMAX, weights), shares * (np.array(weights) / WEIGHT_UNIT)
    total, likely = float(weighed.sum()), weighed / weighed.sum()
    scores, bends = np.log(likely), total * np.maximum(likely * (1 - likely), _LEAST_BEND)
    return ScoreLoss(rule.slopes, scores - scores.mean(), bends, None, 1.0)


def square_loss(counts: NDArray[np.float64], deviation: float) -> ScoreLoss:
    """The squared loss, its residuals cut where noisy counts of the bins of labels suggest; scores are parts of the label bound."""
    scale = LabelScale.of(counts, deviation)
    return ScoreLoss(cut_residuals(scale.cut), np.array([scale.mean]), np.array([scale.curvature]), None, scale.spread)
