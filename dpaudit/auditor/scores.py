"""One additive score: a table look-up for each feature column, fitted so that high scores speak for label 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.binning import Bins, Floats, Labels, coarse_cuts, cut_points, fine_cuts, label_counts
from dpaudit.auditor.models import column_model, shrunk_log_ratios

_FOLDS: Final = 5
_FEW_VALUES: Final = 4
_ENOUGH_TO_SHARE: Final = 3
_NEWTON_STEPS: Final = 6
_RIDGE: Final = 1.0


@dataclass(frozen=True)
class ScoreTable:
    """A score of feature rows: for each listed column the cut points of its bins and the score of each bin.

    Args:
      columns: positions of the columns used.
      cuts: increasing cut points, one tuple for each column.
      values: scores of the bins, one more than there are cuts, one tuple for each column.
      offset: constant added to every score.
    Source: docs/auditing_statistics.md, section 6.
    Example:
      >>> table = ScoreTable(columns=(0,), cuts=((0.0,),), values=((-1.0, 1.0),), offset=0.0)
      >>> table.scores(np.array([[-3.0], [2.0]])).tolist()
      [-1.0, 1.0]
    """

    columns: tuple[int, ...]
    cuts: tuple[tuple[float, ...], ...]
    values: tuple[tuple[float, ...], ...]
    offset: float

    def scores(self, features: Floats) -> Floats:
        """The score of each row of `features`: an estimate of its log-odds for label 1."""
        total = np.full(len(features), self.offset)
        for column, cuts, values in zip(self.columns, self.cuts, self.values, strict=True):
            total += np.array(values)[np.searchsorted(np.array(cuts), features[:, column], side="right")]
        return total


@dataclass(frozen=True)
class FittedScore:
    """A score fitted on all rows, and for each of these rows the score that it gets from rows of other folds alone."""

    table: ScoreTable
    held_out: Floats


def fit_score(features: Floats, labels: Labels) -> FittedScore | None:
    """An additive score of the log-odds of label 1, or None where no column varies.

    Columns of few values enter a ridge logistic regression value by value; the others enter through tables of binned log-odds,
    which are fitted on other rows than the weights they get. A row's held-out score comes from tables and weights of other rows.

    Args:
      features: one row for each run, float64.
      labels: 0 or 1 for each run.
    Returns:
      The score with its held-out values, or None.
    Source: docs/auditing_statistics.md, section 6.
    """
    cuts = {column: edges for column in range(features.shape[1]) if (edges := coarse_cuts(features[:, column])).size}
    if not cuts:
        return None
    if len(cuts) == 1:
        cuts = {column: fine_cuts(features[:, column], cut_points(features[:, column])) for column in cuts}
    bins = {column: np.searchsorted(edges, features[:, column], side="right") for column, edges in cuts.items()}
    tabled = [column for column, edges in cuts.items() if edges.size >= _FEW_VALUES or len(cuts) == 1]
    fold = np.arange(len(features)) % _FOLDS
    held_out = np.empty(len(features))
    found = []
    for turn in range(_FOLDS):
        judged, weighed = fold == turn, fold == (turn + 1) % _FOLDS
        tables = _tables(features, labels, cuts, bins, tabled, ~(judged | weighed))
        fitted = weighed if tabled else ~judged
        weights = _logistic(_design(cuts, bins, tables, fitted), labels[fitted])
        held_out[judged] = _design(cuts, bins, tables, judged) @ weights
        found.append(weights)
    tables = _tables(features, labels, cuts, bins, tabled, np.ones(len(features), dtype=bool))
    return FittedScore(_collapsed(cuts, tables, np.mean(found, axis=0)), held_out)


def _tables(
    features: Floats, labels: Labels, cuts: dict[int, Floats], bins: dict[int, Bins], tabled: list[int], rows: NDArray[np.bool_]
) -> dict[int, Floats]:
    """Log-odds of the bins of each tabled column, from the given rows."""
    if len(cuts) == 1:
        (column,) = cuts
        edges, curve = column_model(features[rows, column], labels[rows])
        starts = np.concatenate([[-np.inf], cuts[column]])
        return {column: curve[np.searchsorted(edges, starts, side="right")]}
    counts = [label_counts(bins[column][rows], labels[rows], cuts[column].size + 1) for column in tabled]
    return dict(zip(tabled, _shared(counts), strict=True))


def _shared(counts: list[Floats]) -> list[Floats]:
    """Tables of several columns, those of equal size pulled towards multiples of the one shape that they share best."""
    tables = [shrunk_log_ratios(count) for count in counts]
    sizes = [len(count) for count in counts]
    for size in set(sizes):
        places = [place for place, other in enumerate(sizes) if other == size]
        if len(places) >= _ENOUGH_TO_SHARE:
            raw = np.stack([np.log((counts[place][:, 1] + 0.5) / (counts[place][:, 0] + 0.5)) for place in places])
            shape = np.linalg.svd(raw, full_matrices=False)[2][0]
            for row, place in zip(raw, places, strict=True):
                tables[place] = shrunk_log_ratios(counts[place], float(row @ shape) * shape)
    return tables


def _design(cuts: dict[int, Floats], bins: dict[int, Bins], tables: dict[int, Floats], rows: NDArray[np.bool_]) -> Floats:
    """Regressors of the rows: the table value of each tabled column, an indicator for each further value of the others, and 1."""
    blocks = []
    for column, edges in cuts.items():
        place = bins[column][rows]
        if column in tables:
            blocks.append(tables[column][place][:, None])
        else:
            blocks.append((place[:, None] == np.arange(1, edges.size + 1)).astype(np.float64))
    return np.concatenate([*blocks, np.ones((int(rows.sum()), 1))], axis=1)


def _collapsed(cuts: dict[int, Floats], tables: dict[int, Floats], weights: Floats) -> ScoreTable:
    """Tables and weights multiplied out into one table for each column."""
    values, start = [], 0
    for column, edges in cuts.items():
        width = 1 if column in tables else edges.size
        part = weights[start : start + width]
        values.append(tuple((part[0] * tables[column]).tolist()) if column in tables else (0.0, *part.tolist()))
        start += width
    return ScoreTable(tuple(cuts), tuple(tuple(edges.tolist()) for edges in cuts.values()), tuple(values), float(weights[-1]))


def _logistic(design: Floats, labels: Labels) -> Floats:
    """Weights of a ridge logistic regression of the labels, the last regressor (constant) being free (Newton steps)."""
    penalty = np.append(np.full(design.shape[1] - 1, _RIDGE), 1e-3)
    weights = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        gradient = design.T @ (labels - chance) - penalty * weights
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        weights = weights + np.linalg.solve(curvature, gradient)
    return weights
