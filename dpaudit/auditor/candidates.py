"""Candidate events of a pilot: thresholds, single values, sets of outputs and score thresholds, with their counts and a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from dpaudit.auditor.binning import Bins, Floats, Labels, label_counts
from dpaudit.auditor.models import column_model, shrunk_log_ratios
from dpaudit.auditor.predicates import Atoms, Event, ScoreThreshold, Threshold, row_codes
from dpaudit.auditor.scores import FittedScore, fit_score

_QUANTILES: Final = 400
_EXTREMES: Final = 60
_REPEATED: Final = 64
_MOST_OUTPUTS: Final = 4096

_THRESHOLD_DOUBT: Final = (0.003, 0.5)
_VALUE_DOUBT: Final = (1.0, 1.0)
"""How far the truth may lie from the model: a constant and a share of the modelled log-ratio, as standard deviations."""

_VALUE_HANDICAP: Final = 1.0
_FITTED_HANDICAP: Final = 2.0

_Maker: TypeAlias = Callable[[float, int, bool], Event]


@dataclass(frozen=True)
class Family:
    """Candidates of one kind, which overlap: `make(i)` is the i-th event, the arrays have one entry for each.

    `ones` and `zeros` are its hits by label, `model` is its log-ratio as a model of the pilot sees it, `doubt` the standard
    deviation of the truth around the model; `handicap` standard errors are held against kinds that are fitted or spiky.
    """

    make: Callable[[int], Event]
    ones: Floats
    zeros: Floats
    model: Floats
    doubt: Floats
    handicap: float = 0.0


def families_of(features: Floats, labels: Labels) -> list[Family]:
    """All candidates for a pilot of feature rows with their labels."""
    families = [family for column in range(features.shape[1]) for family in _column_families(features, labels, column)]
    score = fit_score(features, labels)
    if score is not None:
        families += _score_families(features, labels, score)
        families += _output_families(features, labels, score)
    return families


def _doubt(model: Floats, scale: tuple[float, float]) -> Floats:
    """Standard deviation of the truth around the model."""
    return scale[0] + scale[1] * np.abs(model)


def _column_families(features: Floats, labels: Labels, column: int) -> list[Family]:
    """Thresholds on both sides of one column, and its repeated values."""
    usable = ~np.isnan(features[:, column])
    values, owners = features[usable, column], labels[usable]
    cuts, curve = column_model(values, owners)
    if not cuts.size:
        return []
    odds = curve[np.searchsorted(cuts, values, side="right")]

    def threshold(limit: float, inside: int, at_most: bool) -> Event:  # noqa: FBT001
        del inside
        return Threshold(column, limit, at_most=at_most)

    families = _sides(values, owners, odds, threshold)
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    repeated = np.flatnonzero(counts >= 2)
    repeated = repeated[np.argsort(-counts[repeated], kind="stable")[:_REPEATED]]
    if repeated.size and distinct.size > 1:
        table = label_counts(inverse, owners, distinct.size)[repeated]
        model = curve[np.searchsorted(cuts, distinct[repeated], side="right")]

        def single(place: int) -> Event:
            return Atoms((column,), ((float(distinct[repeated[place]]),),))

        families.append(Family(single, table[:, 1], table[:, 0], model, _doubt(model, _VALUE_DOUBT), _VALUE_HANDICAP))
    return families


def _sides(values: Floats, labels: Labels, odds: Floats, make: _Maker, handicap: float = 0.0) -> list[Family]:
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
        proper = (stop > start) & (stop - start < size)
        if not proper.any():
            continue
        start, stop, kept = start[proper], stop[proper], limits[proper]
        hits = (ones[stop] - ones[start]).astype(np.float64)
        weight = expected[stop] - expected[start]
        inside = stop - start
        model = np.log((weight + 1e-9) / (inside - weight + 1e-9))
        maker = _maker(make, kept, inside, at_most=at_most)
        families.append(Family(maker, hits, inside - hits, model, _doubt(model, _THRESHOLD_DOUBT), handicap))
    return families


def _maker(make: _Maker, limits: Floats, inside: Bins, *, at_most: bool) -> Callable[[int], Event]:
    """The function that makes the event of one threshold."""
    return lambda place: make(float(limits[place]), int(inside[place]), at_most)


def _calibrated(scores: Floats, labels: Labels) -> Floats:
    """What held-out scores turned out to be worth: the modelled log-odds of the labels at each score."""
    cuts, curve = column_model(scores, labels)
    return curve[np.searchsorted(cuts, scores, side="right")]


def _fitted_handicap(score: FittedScore) -> float:
    """Standard errors held against fitted events: on a single column, thresholds say nearly as much and choose less freely."""
    return _FITTED_HANDICAP if len(score.table.columns) == 1 else 0.0


def _score_families(features: Floats, labels: Labels, score: FittedScore) -> list[Family]:
    """Thresholds on the additive score; hits are counted on held-out scores, limits are those of equal mass on the final one."""
    final = np.sort(score.table.scores(features))

    def threshold(limit: float, inside: int, at_most: bool) -> Event:  # noqa: FBT001
        del limit
        return ScoreThreshold(score.table, float(final[inside - 1] if at_most else final[len(final) - inside]), at_most=at_most)

    return _sides(score.held_out, labels, _calibrated(score.held_out, labels), threshold, _fitted_handicap(score))


def _output_families(features: Floats, labels: Labels, score: FittedScore) -> list[Family]:
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

    def extreme(limit: float, inside: int, at_most: bool) -> Event:  # noqa: FBT001
        del limit
        if at_most:
            chosen = order[: int(np.searchsorted(reached, inside)) + 1]
        else:
            chosen = order[int(np.searchsorted(reached, len(labels) - inside, side="right")) :]
        return Atoms(columns, tuple(tuple(features[row].tolist()) for row in np.sort(first[chosen])))

    return _sides(held_out, labels, _calibrated(held_out, labels), extreme, _fitted_handicap(score))
