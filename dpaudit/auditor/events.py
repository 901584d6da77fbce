"""Choosing events on the pilot: candidates of every kind, ranked by the lower bound that the final runs will give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.binning import Floats, Labels, label_counts
from dpaudit.auditor.bounds import MASS_SHARE, ClaimPoint
from dpaudit.auditor.predicates import Atoms as Atoms
from dpaudit.auditor.predicates import Event as Event
from dpaudit.auditor.predicates import ScoreThreshold as ScoreThreshold
from dpaudit.auditor.predicates import Threshold as Threshold
from dpaudit.auditor.predicates import row_codes
from dpaudit.auditor.models import column_model, shrunk_log_ratios
from dpaudit.auditor.scores import FittedScore, fit_score
from dpaudit.errors import InvalidArgument

_QUANTILES: Final = 400
_EXTREMES: Final = 60
_REPEATED: Final = 64
_MOST_OUTPUTS: Final = 4096
_NODES: Final = np.array([-3.0, -2.0, -1.0, 1.0])
_PRIOR_SLOPE: Final = 0.05
_PRIOR_FLOOR: Final = 0.003
SCORESHIFT=-2.
ATOMSHIFT=-1.
_SAME_KIND: Final = 2


@dataclass(frozen=True)
class RankedEvent:
    """An event worth testing, with what the pilot says of it.

    `reverse` is True where the event speaks for label 0 (the bound is then on Q over P); `predicted` is the lower bound in nats
    that the final runs are expected to give; `mass` is the probability of the event over both labels; `theta` the estimated
    probability of its label given the event, pulled towards what the whole pilot suggests; `hits` the pilot hits behind it.
    """

    event: Event
    reverse: bool
    predicted: float
    mass: float
    theta: float
    hits: int = 0


@dataclass(frozen=True)
class _Family:
    """Candidates of one kind, which overlap: `make(i)` is the i-th event, the arrays hold its hits and its modelled log-ratio."""

    make: Callable[[int], Event]
    ones: Floats
    zeros: Floats
    model: Floats
    spread: float = 0.05
    shift: float = 0.0


def rank_events(
    features: Floats, labels: Labels, *, point: ClaimPoint, final_runs: int, alpha: float, keep: int = 8
) -> tuple[RankedEvent, ...]:
    """The most promising events, best first.

    Candidates are thresholds on every column (quantiles, extreme values, repeated values; both sides), single values and sets of
    outputs where there are few, and thresholds on an additive score; each for label 1 and for label 0.
    An event is judged by the bound expected from `final_runs` fresh runs at a log-ratio between what its own counts say and what
    a smooth model of the whole pilot says, less part of the remaining uncertainty: the best of many noisy counts is not believed.

    Args:
      features: pilot rows, float64 of shape (runs, columns).
      labels: uint8 of shape (runs,), 0 or 1.
      point: the claim under test; its delta enters the predicted bound.
      final_runs: fresh runs that the chosen event will be counted on.
      alpha: error probability of the final bound, in (0, 1).
      keep: how many events to return at most.
    Returns:
      At most `keep` events by falling `predicted`; empty where no column varies.
    Raises:
      InvalidArgument: shapes that do not fit together (DPA105).
    Source: docs/auditing_statistics.md, section 6.
    Example:
      >>> from fractions import Fraction
      >>> labels = np.arange(4000, dtype=np.uint8) % 2
      >>> features = (labels * (np.arange(4000) % 3 > 0)).astype(np.float64)[:, None]
      >>> claim = ClaimPoint(epsilon=Fraction(1), delta=Fraction(0))
      >>> rank_events(features, labels, point=claim, final_runs=10_000, alpha=0.05)[0].event.describe(("value",))
      'value >= 1'
    """
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise InvalidArgument("DPA105", f"features (runs, columns) and labels (runs,) must fit, got {features.shape} and {labels.shape}.")
    families = [family for column in range(features.shape[1]) for family in _column_families(features, labels, column)]
    score = fit_score(features, labels)
    if score is not None:
        families += _score_families(features, labels, score)
        families += _output_families(features, labels, score)
    found = []
    for family in families:
        for reverse in (False, True):
            predicted, theta, mass = _predict(family, len(labels), reverse=reverse, point=point, final_runs=final_runs, alpha=alpha)
            for place in _spread(predicted, mass):
                hits = int(family.ones[place] + family.zeros[place])
                found.append((float(predicted[place]), family, place, reverse, float(mass[place]), float(theta[place]), hits))
    found.sort(key=lambda entry: -entry[0])
    return tuple(
        RankedEvent(family.make(place), reverse, predicted, mass, theta, hits)
        for predicted, family, place, reverse, mass, theta, hits in found[:keep]
    )


def _spread(predicted: Floats, mass: Floats) -> list[int]:
    """The best of a family, and the best among those of clearly different mass."""
    best = int(np.argmax(predicted))
    chosen = [best]
    other = np.where(np.abs(np.log(mass / mass[best])) > 0.25, predicted, -math.inf)
    second = int(np.argmax(other))
    if other[second] > -math.inf:
        chosen.append(second)
    return chosen[:_SAME_KIND]


def _predict(
    family: _Family, runs: int, *, reverse: bool, point: ClaimPoint, final_runs: int, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Predicted final bound, shrunk theta and mass of each candidate, for label 1 or (`reverse`) for label 0."""
    hits, misses = (family.zeros, family.ones) if reverse else (family.ones, family.zeros)
    model = -family.model if reverse else family.model
    seen = np.log((hits + 0.5) / (misses + 0.5))
    precision = 1 / (1 / (hits + 0.5) + 1 / (misses + 0.5))
    prior = 1 / (family.spread * np.abs(model) + (_PRIOR_FLOOR if family.spread<1 else 1.)) ** 2
    spread = 1 / np.sqrt(precision + prior)
    ratio = (precision * seen + prior * model) / (precision + prior)
    mass = (hits + misses + 0.5) / (runs + 1)
    value = np.mean([_bound(ratio + node * spread, mass, point, final_runs, alpha) for node in _NODES+family.shift], axis=0)
    return value, 1 / (1 + np.exp(-ratio)), mass


def _bound(ratio: Floats, mass: Floats, point: ClaimPoint, final_runs: int, alpha: float) -> Floats:
    """Final lower bound at expected counts if the log-ratio of the event is `ratio`; nothing is worth less than 0."""
    from scipy.special import betaincinv

    theta = 1 / (1 + np.exp(-ratio))
    total = mass * final_runs
    share = 0.0 if point.delta == 0 else float(MASS_SHARE)
    low = betaincinv(theta * total + 1e-9, (1 - theta) * total + 1, (1 - share) * alpha)
    spared = 0.0 if point.delta == 0 else float(point.delta) / (2 * betaincinv(total, final_runs - total + 1, share * alpha))
    return np.asarray(np.log(np.maximum(low - spared, 1 - low) / (1 - low)))


def _column_families(features: Floats, labels: Labels, column: int) -> list[_Family]:
    """Thresholds on both sides of one column, and its repeated values."""
    usable = ~np.isnan(features[:, column])
    values, owners = features[usable, column], labels[usable]
    cuts, curve = column_model(values, owners)
    if not cuts.size:
        return []
    odds = curve[np.searchsorted(cuts, values, side="right")]

    def threshold(limit: float, inside: int, *, at_most: bool) -> Event:
        del inside
        return Threshold(column, limit, at_most=at_most)

    families = _sides(values, owners, odds, len(labels), threshold)
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts >= 2)
    repeated = repeated[np.argsort(-counts[repeated], kind="stable")[:_REPEATED]]
    if repeated.size and distinct.size > 1:
        table = label_counts(inverse, owners, distinct.size)[repeated]
        model = curve[np.searchsorted(cuts, distinct[repeated], side="right")]

        def single(place: int) -> Event:
            return Atoms((column,), ((float(distinct[repeated[place]]),),))

        families.append(_Family(single, table[:, 1], table[:, 0], model, 1.0, shift=ATOMSHIFT))
    return families


def _sides(values: Floats, labels: Labels, odds: Floats, runs: int, make: Callable[..., Event], shift: float = 0.0) -> list[_Family]:
    """Thresholds from both sides on values whose rows have modelled log-odds; `make` gets limit, number of hits and side."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    size = len(ordered)
    ones = np.concatenate([[0], np.cumsum(labels[order], dtype=np.int64)])
    expected = np.concatenate([[0.0], np.cumsum(1 / (1 + np.exp(-odds[order])))])
    extremes = np.arange(min(_EXTREMES, size))
    places = np.concatenate([extremes, size - 1 - extremes, (np.arange(1, _QUANTILES) * size) // _QUANTILES])
    limits = np.unique(ordered[places])
    families = []
    for at_most in (True, False):
        ends = np.searchsorted(ordered, limits, side="right" if at_most else "left")
        start, stop = (np.zeros_like(ends), ends) if at_most else (ends, np.full_like(ends, size))
        proper = (stop > start) & (stop - start < runs)
        if not proper.any():
            continue
        start, stop, kept = start[proper], stop[proper], limits[proper]
        hits = (ones[stop] - ones[start]).astype(np.float64)
        weight = expected[stop] - expected[start]
        model = np.log((weight + 1e-9) / (stop - start - weight + 1e-9))
        families.append(_Family(_maker(make, kept, stop - start, at_most=at_most), hits, stop - start - hits, model, shift=shift))
    return families


def _maker(make: Callable[..., Event], limits: Floats, inside: NDArray[np.intp], *, at_most: bool) -> Callable[[int], Event]:
    """The function that makes the event of one threshold."""
    return lambda place: make(float(limits[place]), int(inside[place]), at_most=at_most)


def _calibrated(scores: Floats, labels: Labels) -> Floats:
    """What held-out scores turned out to be worth: the modelled log-odds of the labels at each score."""
    cuts, curve = column_model(scores, labels)
    return curve[np.searchsorted(cuts, scores, side="right")]


def _score_families(features: Floats, labels: Labels, score: FittedScore) -> list[_Family]:
    """Thresholds on the additive score; hits are counted on held-out scores, limits are those of equal mass on the final one."""
    final = np.sort(score.table.scores(features))

    def threshold(limit: float, inside: int, *, at_most: bool) -> Event:
        del limit
        return ScoreThreshold(score.table, float(final[inside - 1] if at_most else final[len(final) - inside]), at_most=at_most)

    return _sides(score.held_out, labels, _calibrated(score.held_out, labels), len(labels), threshold, SCORESHIFT)


def _output_families(features: Floats, labels: Labels, score: FittedScore) -> list[_Family]:
    """Sets of whole outputs where there are few: those with the most extreme log-odds, pulled towards the additive score."""
    codes, first, inverse = np.unique(row_codes(features), return_index=True, return_inverse=True)
    if not 2 < codes.size <= _MOST_OUTPUTS:
        return []
    even = np.arange(len(labels)) % 2 == 0
    held_out = np.empty(len(labels))
    for fitted, rest in ((even, ~even), (~even, even)):
        base = np.zeros(codes.size)
        base[inverse[rest]] = score.held_out[rest]
        held_out[rest] = shrunk_log_ratios(label_counts(inverse[fitted], labels[fitted], codes.size), base)[inverse[rest]]
    odds = shrunk_log_ratios(label_counts(inverse, labels, codes.size), score.table.scores(features[first]))
    order = np.argsort(odds, kind="stable")
    reached = np.cumsum(np.bincount(inverse, minlength=codes.size)[order])
    columns = tuple(range(features.shape[1]))

    def extreme(limit: float, inside: int, *, at_most: bool) -> Event:
        del limit
        if at_most:
            chosen = order[: int(np.searchsorted(reached, inside)) + 1]
        else:
            chosen = order[int(np.searchsorted(reached, len(labels) - inside, side="right")) :]
        return Atoms(columns, tuple(tuple(features[row].tolist()) for row in np.sort(first[chosen])))

    return _sides(held_out, labels, _calibrated(held_out, labels), len(labels), extreme, SCORESHIFT)
