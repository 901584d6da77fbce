"""Candidate events of a pilot with their counts: thresholds, single values, sets of outputs and score thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from dpaudit.auditor.events.predicates import Atoms, Event, ScoreThreshold, Threshold, row_codes
from dpaudit.auditor.scoring.encoding import MOST_PATTERNS
from dpaudit.auditor.scoring.fitting import FittedScore, fit_score
from dpaudit.auditor.scoring.models import Curve, Ordered, column_model, order_column
from dpaudit.auditor.statistics.binning import MOST_VALUES, Bins, Floats, Labels, label_counts

_QUANTILES: Final = 400
_EXTREMES: Final = 20
_TAIL_PLACES: Final = 60
_REPEATED: Final = 64
_MOST_OUTPUTS: Final = 2**17
_FEWEST_REPEATS: Final = 0.01
_MOST_SINGLE: Final = 0.25
"""Share of the rows whose output may be seen only once where an event lists outputs."""

_ROWS_TO_REPEAT: Final = 2**16
"""Rows among which none repeats where there are too many different outputs: of `_MOST_OUTPUTS` ones hundreds would repeat."""

_THRESHOLD_DOUBT: Final = (0.0005, 0.01)
_JUMP_DOUBT: Final = 0.1
_SET_DOUBT: Final = (0.003, 0.2)
_VALUE_DOUBT: Final = (1.0, 1.0)
"""Standard deviations of the truth around the model: a constant and a share of the modelled log-ratio; for thresholds
also a share of the distance of log-odds around the limit from it, since bins hide where exactly they change."""

_RARE_DOUBT: Final = (2.0, 0.0)
"""The same of a value within a rare form, of which no model of the usual outputs says anything."""

_FEW_VALUES: Final = 8
_FEWEST_RARE: Final = 16
_LARGEST_RARE: Final = 0.1
_MOST_RARE: Final = 8
_MOST_COLUMNS: Final = 64

_VALUE_HANDICAP: Final = 1.0
_FITTED_HANDICAP: Final = 3.0
_EXACT_HANDICAP: Final = 1.0
_SCORE_MERIT: Final = 0.97
"""A score of several columns has more ways to be lucky than a threshold on one, and has to promise a little more."""

_Maker: TypeAlias = Callable[[float, int, bool], Event]


@dataclass(frozen=True)
class Family:
    """Candidates of one kind, which overlap: `make(i)` is the i-th event, the arrays have one entry for each.

    `ones` and `zeros` are hits by label, `model` is the modelled log-ratio, `spread` the standard deviation of the model, `doubt`
    that of the truth around any such model; `handicap` standard errors of the counts are subtracted for kinds that are fitted or
    spiky, `merit` multiplies the predicted bound, and `share` is the part of the pilot that was counted.
    """

    make: Callable[[int], Event]
    ones: Floats
    zeros: Floats
    model: Floats
    doubt: Floats
    spread: Floats | float = 0.0
    handicap: float = 0.0
    merit: float = 1.0
    share: float = 1.0


def score_families(features: Floats, labels: Labels, groups: Sequence[int] | None = None) -> list[Family]:
    """Find candidates by a score of whole outputs; none where no column varies."""
    score = fit_score(features, labels, groups)
    return [] if score is None else [*_score_thresholds(features, labels, score), *_repeated_outputs(features, labels, score)]


def column_families(features: Floats, labels: Labels, column: int) -> list[Family]:
    """Find thresholds on both sides of one column, and its repeated values."""
    if (features[:, column] == features[:1, column]).all():
        return []
    values = order_column(features[:, column], labels)
    curve = column_model(values)
    if not curve.cuts.size:
        return []

    families = _thresholds(values, curve, lambda limit, _inside, at_most: Threshold(column, limit, at_most=at_most))
    starts = np.flatnonzero(np.concatenate([[True], values.values[1:] != values.values[:-1]]))
    counts = np.diff(np.append(starts, len(values.values)))
    repeated = np.flatnonzero(counts >= 2)
    repeated = repeated[np.argsort(-counts[repeated], kind="stable")[:_REPEATED]]
    if repeated.size and starts.size > 1:
        first = starts[repeated]
        ones = (values.ones[first + counts[repeated]] - values.ones[first]).astype(np.float64)
        model = curve.at(values.values[first])

        def single(place: int) -> Event:
            return Atoms((column,), ((float(values.values[first[place]]),),))

        families.append(Family(single, ones, counts[repeated] - ones, model, _doubt(model, _VALUE_DOUBT), handicap=_VALUE_HANDICAP))
    return families


def rare_families(features: Floats, labels: Labels) -> list[Family]:
    """Find values of columns within rare values of others: what a rare form of output holds is rare beside what is usual there."""
    few = {column: np.unique(features[:, column], return_counts=True) for column in range(min(features.shape[1], _MOST_COLUMNS))}
    few = {column: found for column, found in few.items() if 1 < found[0].size <= _FEW_VALUES}
    rare = [
        (column, float(value), int(count))
        for column, (values, counts) in few.items()
        for value, count in zip(values, counts, strict=True)
        if _FEWEST_RARE <= count <= _LARGEST_RARE * len(labels)
    ]
    seen = dict[bytes, None]()
    atoms, hits = list[Atoms](), list[tuple[int, int]]()
    for column, value, _ in sorted(rare, key=lambda one: (-one[2], one[0]))[:_MOST_RARE]:
        inside = features[:, column] == value
        # Columns that single out the same rows are one and the same.
        if (key := np.packbits(inside).tobytes()) in seen:
            continue
        seen[key] = None
        rows, own = features[inside], labels[inside]
        for other in np.flatnonzero((rows != rows[:1]).any(axis=0))[:_MOST_COLUMNS].tolist():
            values, codes = np.unique(rows[:, other], return_inverse=True)
            if values.size > _FEW_VALUES:
                continue
            zeros, ones = label_counts(codes, own, values.size).T
            atoms += [Atoms((column, other), ((value, float(found)),)) for found in values]
            hits += [(int(one), int(zero)) for one, zero in zip(ones, zeros, strict=True)]
    if not atoms:
        return []
    ones, zeros = np.array(hits, dtype=np.float64).T
    model = np.zeros(len(atoms))
    return [Family(atoms.__getitem__, ones, zeros, model, _doubt(model, _RARE_DOUBT), handicap=_VALUE_HANDICAP)]


def _doubt(model: Floats, scale: tuple[float, float]) -> Floats:
    """Standard deviation of the truth around any model."""
    return scale[0] + scale[1] * np.abs(model)


def _thresholds(column: Ordered, curve: Curve, make: _Maker, handicap: float = 0.0, merit: float = 1.0) -> list[Family]:
    """Find thresholds from both sides on values with modelled log-odds; `make` gets limit, number of hits and side."""
    values, size = column.values, len(column.values)
    tail = np.geomspace(1, max(1, size // _QUANTILES), _TAIL_PLACES).astype(np.int64) - 1
    extremes = np.unique(np.concatenate([np.arange(min(_EXTREMES, size)), tail]))
    places = np.concatenate([extremes, size - 1 - extremes, (np.arange(1, _QUANTILES) * size) // _QUANTILES])
    limits = np.unique(values[places])
    families = []
    for at_most in (True, False):
        ends = np.searchsorted(values, limits, side="right" if at_most else "left")
        proper = (ends > 0) & (ends < size)
        if not proper.any():
            continue
        ends, kept = ends[proper], limits[proper]
        model, spread = curve.tails(column, ends, below=at_most)
        below = column.ones[ends]
        inside = ends if at_most else size - ends
        ones = (below if at_most else column.ones[-1] - below).astype(np.float64)
        doubt = _doubt(model, _THRESHOLD_DOUBT) + _JUMP_DOUBT * curve.jump(kept, model)
        event = partial(_make_at, make, kept, inside, at_most)
        families.append(Family(event, ones, inside - ones, model, doubt, spread, handicap, merit))
    return families


def _make_at(make: _Maker, limits: Floats, inside: Bins, at_most: bool, place: int) -> Event:  # noqa: FBT001 - for partial
    """Make the event of one threshold."""
    return make(float(limits[place]), int(inside[place]), at_most)


def _score_thresholds(features: Floats, labels: Labels, score: FittedScore) -> list[Family]:
    """Find thresholds on the score, or sets of seen outputs where it depends on exact values only."""
    # Hits are counted on held-out scores, since the final one was fitted on these rows; limits are of equal mass on the final one.
    scores = score.table.scores(features)
    final = np.sort(scores)
    outputs = _outputs(features, scores, score) if score.exact else None

    def threshold(_limit: float, inside: int, at_most: bool) -> Event:  # noqa: FBT001 - called by position
        reached = float(final[inside - 1] if at_most else final[len(final) - inside])
        if outputs is None:
            return ScoreThreshold(score.table, reached, at_most=at_most)
        rows, known = outputs
        return Atoms(score.table.columns, tuple(map(tuple, rows[known <= reached if at_most else known >= reached].tolist())))

    column = order_column(score.held_out, labels)
    curve = column_model(column, scored=True)
    # On a single column, thresholds are nearly as good as a fitted score and choose less freely.
    single = len(score.table.columns) == 1
    handicap = _FITTED_HANDICAP if single else _EXACT_HANDICAP if score.exact else 0.0
    return _thresholds(column, curve, threshold, handicap, 1.0 if single else _SCORE_MERIT)


def _outputs(features: Floats, scores: Floats, score: FittedScore) -> tuple[Floats, Floats] | None:
    """List the outputs that differ in the columns of the score, with their scores; None where they hardly repeat."""
    columns = list(score.table.columns)
    used = features[:, columns]
    _, first, counts = np.unique(row_codes(used), return_index=True, return_counts=True)
    # Where most outputs were seen once, most later ones are new, and no list of seen ones holds them.
    known = first.size <= MOST_PATTERNS and np.count_nonzero(counts == 1) <= _MOST_SINGLE * len(used)
    return (used[first], scores[first]) if known else None


def _repeated_outputs(features: Floats, labels: Labels, score: FittedScore) -> list[Family]:
    """Find sets of outputs where many repeat but are too many to be taken one by one."""
    # Sets learned on every second run are judged on the others, so that chance does not flatter them; the event is of all runs.
    columns = list(score.table.columns)
    if score.exact or not columns:
        return []
    seen = features[:, columns]
    if np.unique(row_codes(seen[:_ROWS_TO_REPEAT])).size == min(len(seen), _ROWS_TO_REPEAT):
        return []
    codes = row_codes(seen)
    known, counts = np.unique(codes, return_counts=True)
    repeats = 1 - np.count_nonzero(counts == 1) / len(labels)
    if not MOST_VALUES < known.size <= _MOST_OUTPUTS or repeats < _FEWEST_REPEATS:
        return []
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    even = np.arange(len(labels)) % 2 == 0
    learned, full = (_log_ratios(inverse[rows], labels[rows], known.size) for rows in (even, np.ones_like(even)))
    judged = label_counts(inverse[~even], labels[~even], known.size)
    levels = np.unique(np.abs(learned[learned != 0]))

    def families(sign: int) -> Iterator[Family]:
        # Half of the runs may promise more than all of them do; a set that all runs leave empty is no event.
        reached = levels[levels <= (sign * full).max()]
        if not reached.size:
            return
        inside = np.stack([judged[sign * learned >= level].sum(axis=0) for level in reached])

        def make(place: int) -> Event:
            return Atoms(score.table.columns, tuple(map(tuple, seen[first[sign * full >= reached[place]]].tolist())))

        model = np.log((inside[:, 1] + 0.5) / (inside[:, 0] + 0.5))
        yield Family(make, inside[:, 1], inside[:, 0], model, _doubt(model, _SET_DOUBT), handicap=_VALUE_HANDICAP, share=0.5)

    return [*families(1), *families(-1)]


def _log_ratios(inverse: Bins, labels: Labels, size: int) -> Floats:
    """Log-ratio of each value to one decimal, 0 where it was not seen."""
    zeros, ones = label_counts(inverse, labels, size).T
    return np.asarray(np.round(np.log((ones + 0.5) / (zeros + 0.5)), 1))
