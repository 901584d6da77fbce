"""Slopes of losses as integers: a function of one record's margin and label, from a table, never larger than a public bound.

Margins arrive as integers and slopes leave as integers, so that the slope of a record depends on that record and on
released weights alone, on every machine. What the tables hold decides how well a learner learns; that no slope exceeds `UNIT` is
what its sensitivity rests on, and holds whatever they hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from learners.rows.labels import WEIGHT_UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNIT: Final = 2**12
"""The largest slope, in steps."""

Slopes = Callable[["NDArray[np.int64]", "NDArray[np.int64]", int], "NDArray[np.int64]"]
"""From margins, labels and the fineness of margins to downhill slopes, none longer than `UNIT`, record by record."""

Bend = Callable[..., "NDArray[np.float64]"]
"""From margins to a mean over the labels for which those margins would be best: of second derivatives, or of second labels."""


@dataclass(frozen=True)
class SlopeRule:
    """A loss as solvers see it."""

    slopes: Slopes  # its downhill slopes
    curvature: float  # its largest second derivative, in units where the largest slope is 1; it decides steps, never noise
    floor: float = 0.5  # eigenvalues of a noisy second moment count for no less than this part of its noise's spectral norm
    strength: float = 1.0  # the mean weight of the records, which multiplies every curvature
    careful: bool = False  # whether plain gradient steps are halved once noisy gradients turn round: then they are too long
    balanced: bool = False  # whether two classes get weights that make them count alike, by the released share of the second
    start: Callable[[float], float] | None = None  # the best score of all records alike, by the share of the second class
    bend: Bend | None = None  # its second derivative to expect at a margin, which Newton steps use; None for its largest
    likely: Bend | None = None  # the probability of the second class for which a margin is best


_CELLS_PER_MARGIN: Final = 8
"""A margin of 1 covers 2**8 cells of a table."""

_CELLS: Final = 2**12
_SHARE: Final = 2**16
_CLIP: Final = math.isqrt(_SHARE**2 // 2)
"""The norm above which a residual is scaled down: 1 / sqrt(2) of `_SHARE`; for two classes that is where both are as likely."""


_DECAY: Final = [math.exp(-cell / 2**_CELLS_PER_MARGIN) for cell in range(_CELLS)]
_EXPONENTIAL: Final = np.array([round(2**20 * decay) for decay in _DECAY], dtype=np.int64)
_LOGISTIC: Final = np.array([min(UNIT, round(UNIT * 2 * decay / (1 + decay))) for decay in _DECAY], dtype=np.int64)


def logistic_slopes(margins: NDArray[np.int64], labels: NDArray[np.int64], margin_bits: int) -> NDArray[np.int64]:
    """Downhill slopes of the logistic loss, doubled and cut at 1: `UNIT` for a record on the wrong side, less beyond the border."""
    # The loss is the logistic one right of the border and its tangent left of it: convex, and at weights of zero every record pulls
    # with all the strength that it is charged for. Without the cut a record would be charged for twice that.
    signs = 2 * labels - 1
    cells = np.clip((signs * margins) >> (margin_bits - _CELLS_PER_MARGIN), 0, _CELLS - 1)
    return np.asarray(signs * _LOGISTIC[cells])


def softmax_slopes(margins: NDArray[np.int64], labels: NDArray[np.int64], margin_bits: int) -> NDArray[np.int64]:
    """Downhill slopes of the softmax loss of each record, its residual e_y - p scaled down to norm 1 / sqrt(2) if it is longer."""
    behind = (margins.max(axis=1, keepdims=True) - margins) >> (margin_bits - _CELLS_PER_MARGIN)
    likely = _EXPONENTIAL[np.minimum(behind, _CELLS - 1)]
    residuals = -(likely * _SHARE // likely.sum(axis=1, keepdims=True))
    residuals[np.arange(len(labels)), labels] += _SHARE
    norms = _root_above(np.einsum("ij,ij->i", residuals, residuals))
    sizes = np.abs(residuals) * UNIT // np.maximum(norms, _CLIP)[:, np.newaxis]
    return np.asarray(np.sign(residuals) * sizes)


def _root_above(squares: NDArray[np.int64]) -> NDArray[np.int64]:
    """Square roots of integers below 2**50, rounded up: the root of a float is correctly rounded, one step is put right."""
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    return roots + (roots * roots < squares)


def expected_share(margins: NDArray[np.float64], weights: tuple[int, ...] = (WEIGHT_UNIT, WEIGHT_UNIT)) -> NDArray[np.float64]:
    """Probability of the second class where margins are best for the cut logistic loss, whose classes have weights."""
    # At the margin f > 0 the second class has (1 + e^f) / (3 + e^f) of the weight: there the pull 1 of the others balances the pull
    # 2 / (1 + e^f) of its own.
    decay = np.exp(-np.abs(margins))
    other = 2 * decay / (1 + 3 * decay)
    first, second = (weight / WEIGHT_UNIT for weight in weights)
    here = np.where(margins > 0, 1 - other, other) / second
    return np.asarray(here / (here + np.where(margins > 0, other, 1 - other) / first))


def expected_bend(
    margins: NDArray[np.float64],
    weights: tuple[int, ...] = (WEIGHT_UNIT, WEIGHT_UNIT),
    second: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Mean second derivative of the cut logistic loss at margins, for classes with weights.

    Labels are those that margins are best for, unless the probability of the second class is given.
    """
    # Only labels that the margin is right about bend the loss.
    decay, second = np.exp(-np.abs(margins)), expected_share(margins, weights) if second is None else second
    first_weight, second_weight = (weight / WEIGHT_UNIT for weight in weights)
    right = np.where(margins > 0, second * second_weight, (1 - second) * first_weight)
    return np.asarray(right * 2 * decay / (1 + decay) ** 2)


def best_score(share: float, weights: tuple[int, ...] = (WEIGHT_UNIT, WEIGHT_UNIT)) -> float:
    """The score of all records alike for which the cut logistic loss is least if the second class has this share."""
    share = share * weights[1] / (share * weights[1] + (1 - share) * weights[0])
    larger = max(share, 1 - share)
    return math.copysign(math.log((3 * larger - 1) / (1 - larger)) if larger < 1 else math.inf, share - 0.5)


def weigh_records(slopes: NDArray[np.int64], weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Slopes times the weights of their records, from 0 to `WEIGHT_UNIT`, rounded toward zero: none gets longer."""
    if weights is None:
        return slopes
    sizes = np.abs(slopes) * (weights if slopes.ndim == 1 else weights[:, np.newaxis]) // WEIGHT_UNIT
    return np.asarray(np.sign(slopes) * sizes)


def weigh_classes(slopes: NDArray[np.int64], labels: NDArray[np.int64], weights: tuple[int, ...]) -> NDArray[np.int64]:
    """Slopes times the weights of their classes, of at most `WEIGHT_UNIT`, rounded toward zero: none gets longer."""
    return weigh_records(slopes, np.array(weights, dtype=np.int64)[labels])


def weighted_rule(rule: SlopeRule, weights: tuple[int, ...]) -> SlopeRule:
    """The same loss with every record's part times the public weight of its class."""
    if set(weights) == {WEIGHT_UNIT}:
        return rule

    def slopes(margins: NDArray[np.int64], labels: NDArray[np.int64], margin_bits: int) -> NDArray[np.int64]:
        """Slopes of the loss, weighted."""
        return weigh_classes(rule.slopes(margins, labels, margin_bits), labels, weights)

    start = partial(best_score, weights=weights) if rule.start else None
    bend = partial(expected_bend, weights=weights) if rule.bend else None
    return replace(rule, slopes=slopes, start=start, bend=bend, likely=partial(expected_share, weights=weights) if bend else None)


def balance(share: float) -> tuple[int, int]:
    """The weights that make two classes count alike if the second has this share."""
    return max(1, round(min(1.0, share / (1 - share)) * WEIGHT_UNIT)), max(1, round(min(1.0, (1 - share) / share) * WEIGHT_UNIT))


def likely_classes(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of the classes for which these scores are best: shape (n, 2) for scores of shape (n,), else (n, K)."""
    # At the best scores the slopes of a population sum to zero. With p the softmax of the scores and c_y <= 1 what the residual
    # e_y - p is cut by, sum_y P(y) c_y (e_y - p) = 0 says that P(y) is in proportion to p_y / c_y.
    table = np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores
    parts = np.exp(table - table.max(axis=1, keepdims=True))
    parts /= parts.sum(axis=1, keepdims=True)
    lengths = np.sqrt(np.maximum(1 - 2 * parts + np.square(parts).sum(axis=1, keepdims=True), 0))
    parts *= np.maximum(1, math.sqrt(2) * lengths)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


LOGISTIC: Final = SlopeRule(logistic_slopes, 0.5, start=best_score, bend=expected_bend, likely=expected_share)
SOFTMAX: Final = SlopeRule(softmax_slopes, 0.5)
