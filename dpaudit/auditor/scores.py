"""One additive score: a table look-up for each feature column, fitted so that high scores speak for label 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dpaudit.auditor.binning import Floats, Labels, coarse_cuts, label_counts
from dpaudit.auditor.models import column_model, shrunk_log_ratios

_MOST_COLUMNS: Final = 32
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
    """A score fitted on all rows, and for each of these rows the score it got from the rows of the other half."""

    table: ScoreTable
    held_out: Floats


def fit_score(features: Floats, labels: Labels) -> FittedScore | None:
    """An additive score of the log-odds of label 1, or None where no column varies.

    The tables of the two halves of the rows score each other, and the weights of the columns are fitted to these scores, so
    that neither judges itself; the final tables come from all rows.

    Args:
      features: one row for each run, float64.
      labels: 0 or 1 for each run.
    Returns:
      The score with its held-out values, or None.
    Source: docs/auditing_statistics.md, section 6.
    """
    cuts = _cuts(features)
    if not cuts:
        return None
    even = np.arange(len(features)) % 2 == 0
    bins = {column: np.searchsorted(edges, features[:, column], side="right") for column, edges in cuts.items()}
    parts = np.empty((len(features), len(cuts)))
    for fitted, rest in ((even, ~even), (~even, even)):
        tables = _tables(features, labels, cuts, bins, fitted)
        for place, (column, table) in enumerate(zip(cuts, tables, strict=True)):
            parts[rest, place] = table[bins[column][rest]]
    weights, offset = _logistic(parts, labels)
    tables = _tables(features, labels, cuts, bins, np.ones(len(features), dtype=bool))
    table = ScoreTable(
        columns=tuple(cuts),
        cuts=tuple(tuple(edges.tolist()) for edges in cuts.values()),
        values=tuple(tuple((weight * part).tolist()) for weight, part in zip(weights, tables, strict=True)),
        offset=offset,
    )
    return FittedScore(table, parts @ weights + offset)


def _cuts(features: Floats) -> dict[int, Floats]:
    """Cut points of the columns that vary."""
    if features.shape[1] == 1:
        from dpaudit.auditor.binning import fine_cuts

        found = {0: fine_cuts(features[:, 0])}
    else:
        found = {column: coarse_cuts(features[:, column]) for column in range(features.shape[1])}
    return {column: edges for column, edges in found.items() if edges.size}


def _tables(
    features: Floats, labels: Labels, cuts: dict[int, Floats], bins: dict[int, np.ndarray], rows: np.ndarray
) -> list[Floats]:
    """Log-odds of the bins of each column, from the given rows."""
    if features.shape[1] == 1:
        edges, table = column_model(features[rows, 0], labels[rows])
        middles = np.concatenate([[-np.inf], cuts[0]])
        return [table[np.searchsorted(edges, middles, side="right")]]
    counts = [label_counts(bins[column][rows], labels[rows], edges.size + 1) for column, edges in cuts.items()]
    return _shared(counts)


def _shared(counts: list[Floats]) -> list[Floats]:
    """Tables of several columns, those of equal size pulled towards multiples of the one shape that they share best."""
    tables = [shrunk_log_ratios(count) for count in counts]
    sizes = [len(count) for count in counts]
    for size in set(sizes):
        places = [place for place, other in enumerate(sizes) if other == size]
        if len(places) < 3 or size < 3:
            continue
        raw = np.stack([np.log((counts[place][:, 1] + 0.5) / (counts[place][:, 0] + 0.5)) for place in places])
        _, _, shapes = np.linalg.svd(raw, full_matrices=False)
        shape = shapes[0]
        for row, place in zip(raw, places, strict=True):
            tables[place] = shrunk_log_ratios(counts[place], float(row @ shape) * shape)
    return tables


def _logistic(parts: Floats, labels: Labels) -> tuple[Floats, float]:
    """Weights and offset of a ridge logistic regression of the labels on the parts (Newton steps)."""
    design = np.concatenate([parts, np.ones((len(parts), 1))], axis=1)
    penalty = np.append(np.full(parts.shape[1], _RIDGE), 1e-3)
    weights = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        gradient = design.T @ (labels - chance) - penalty * weights
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        weights = weights + np.linalg.solve(curvature, gradient)
    return weights[:-1], float(weights[-1])
