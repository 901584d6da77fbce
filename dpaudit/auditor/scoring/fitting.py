"""Fit of the score: exact values first, then their patterns, then numbers group by group; each step corrects those before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.features import DERIVED, ITEMS
from dpaudit.auditor.scoring.contrasts import plateaus, raw_corrections, share_corrections, shrink_corrections
from dpaudit.auditor.scoring.encoding import Column, encode_columns, patterns_of
from dpaudit.auditor.scoring.models import column_model, order_column
from dpaudit.auditor.scoring.table import ScoreTable
from dpaudit.auditor.statistics.binning import Bins, Floats, Labels

_FOLDS: Final = 3
_SWEEPS: Final = 3
_NUMBER_SWEEPS: Final = 2
_NEWTON_STEPS: Final = 2
_ENOUGH_TO_SHARE: Final = 3
_ROWS_TO_CHOOSE: Final = 2**19

Rows: TypeAlias = NDArray[np.intp]
Single: TypeAlias = NDArray[np.float32]
"""Log-odds of rows: single precision is several times faster and far finer than what they estimate."""


@dataclass(frozen=True)
class FittedScore:
    """A score, and for each row the score fitted on other rows alone; `exact` if it depends on finitely many exact values only."""

    table: ScoreTable
    held_out: Floats
    exact: bool = False


@dataclass(frozen=True)
class _Pilot:
    """Data that a score is fitted on: columns, labels, the number of each row's pattern and the codes of the patterns."""

    columns: tuple[Column, ...]
    labels: Labels
    patterns: Bins | None
    codes: NDArray[np.uint64]


@dataclass
class _Fit:
    """Tables that grow step by step, and the log-odds that they give to the rows that they are fitted on."""

    tables: list[Floats]
    patterns: Floats
    odds: Single


def fit_score(features: Floats, labels: Labels, groups: Sequence[int] | None = None) -> FittedScore | None:
    """Fit an additive score of the log-odds of label 1; None where no column varies.

    The held-out score of a row comes from tables fitted on other rows; the score itself is the mean of these tables.
    """
    columns = encode_columns(features, groups)
    if not columns:
        return None
    if len(columns) == 1:
        return _fit_one_column(columns[0], features, labels)
    pilot = _pilot(columns, labels)
    order = _order(pilot)
    fold = np.arange(len(labels)) % _FOLDS
    held_out = np.empty(len(labels))
    fits = []
    for turn in range(_FOLDS):
        fit = _fit_rows(pilot, np.flatnonzero(fold != turn), order)
        judged = np.flatnonzero(fold == turn)
        held_out[judged] = _scores(pilot, fit, judged)
        fits.append(fit)
    tables = [np.mean(tables, axis=0) for tables in zip(*(fit.tables for fit in fits), strict=True)]
    return FittedScore(
        _table(pilot, tables, np.mean([fit.patterns for fit in fits], axis=0)),
        held_out,
        exact=not any(column.numeric.any() for column in pilot.columns),
    )


def _fit_one_column(column: Column, features: Floats, labels: Labels) -> FittedScore:
    """Fit the score of a single column: its modelled log-odds."""
    values = features[:, column.source]
    starts = np.concatenate([[-np.inf], column.cuts])
    held_out, tables = np.empty(len(labels)), []
    # Sorted once, since sorting what is in order takes a tenth of the time.
    order = np.argsort(values)
    increasing, theirs, fold = values[order], labels[order], (np.arange(len(labels)) % _FOLDS).astype(np.uint8)[order]
    for turn in range(_FOLDS):
        judged, fitted = slice(turn, None, _FOLDS), fold != turn
        tables.append(column_model(order_column(increasing[fitted], theirs[fitted])).at(starts))
        held_out[judged] = tables[-1][column.bins[judged]]
    table = tuple(np.mean(tables, axis=0).tolist())
    return FittedScore(ScoreTable((column.source,), (tuple(column.cuts.tolist()),), (table,), 0.0), held_out)


def _pilot(columns: Sequence[Column], labels: Labels) -> _Pilot:
    """Choose the columns worth using, and number their patterns."""
    # What is derived from items adds nothing where they have exact values. Elsewhere it comes after them, as numbers, also where it
    # has few values: otherwise it would take credit for what the items explain better.
    items = [column for column in columns if column.group == ITEMS]
    if any(not column.numeric.all() for column in items):
        columns = [column for column in columns if column.group not in DERIVED]
    columns = [replace(one, numeric=np.ones_like(one.numeric)) if one.group in DERIVED else one for one in columns]
    exact = [column for column in columns if not column.numeric.all()]
    codes = patterns_of(exact, len(labels))
    if codes is None:
        return _Pilot(tuple(columns), labels, None, np.empty(0, dtype=np.uint64))
    known, inverse = np.unique(codes, return_inverse=True)
    return _Pilot(tuple(columns), labels, inverse, known)


def _order(pilot: _Pilot) -> list[list[int]]:
    """Groups of columns with numbers, in the order in which they explain labels of rows that they were not fitted on."""
    groups: dict[int, list[int]] = {}
    for place, column in enumerate(pilot.columns):
        if column.numeric.any():
            groups.setdefault(column.group, []).append(place)
    found = list(groups.values())
    if len(found) < 2:
        return found
    rows = np.arange(min(len(pilot.labels), _ROWS_TO_CHOOSE))
    fitted, judged = rows[rows % 2 == 0], rows[rows % 2 == 1]

    def gain(order: list[list[int]]) -> float:
        odds = _scores(pilot, _fit_rows(pilot, fitted, order), judged)
        return -float(np.log1p(np.exp(np.where(pilot.labels[judged] == 1, -odds, odds).astype(np.float32))).sum(dtype=np.float64))

    (best, first), *others = sorted(((gain([group]), group) for group in found), key=lambda entry: -entry[0])
    kept = [first]
    for _, group in others:
        if (reached := gain([*kept, group])) > best + 1:
            kept, best = [*kept, group], reached
    return kept


def _fit_rows(pilot: _Pilot, rows: Rows, order: list[list[int]]) -> _Fit:
    """Fit tables to some rows."""
    labels = pilot.labels[rows]
    bins = [column.bins[rows] for column in pilot.columns]
    tables = [np.zeros(column.size) for column in pilot.columns]
    fit = _Fit(tables, np.zeros(len(pilot.codes)), np.zeros(len(rows), dtype=np.float32))
    ones = np.flatnonzero(labels)
    exact = [place for place, column in enumerate(pilot.columns) if not column.numeric.all()]
    counts = {place: _counts(bins[place], ones, pilot.columns[place].size) for place in range(len(bins))}
    for _ in range(_SWEEPS):
        for place in exact:
            numeric = pilot.columns[place].numeric
            seen = (*counts[place], _expected(fit.odds, bins[place], numeric.size))
            # All bins of numbers count as one.
            merged = (np.where(numeric, part[numeric].sum(), part) for part in seen)
            step = shrink_corrections(*raw_corrections(*merged))
            fit.tables[place] += step
            fit.odds += _look_up(step, bins[place])
    if pilot.patterns is not None:
        patterns = pilot.patterns[rows]
        size = len(pilot.codes)
        step = shrink_corrections(*raw_corrections(*_counts(patterns, ones, size), _expected(fit.odds, patterns, size)))
        fit.patterns += step
        fit.odds += _look_up(step, patterns)
    for _ in range(_NUMBER_SWEEPS):
        for group in order:
            _correct_numbers(pilot, fit, group, bins, counts, labels)
    return fit


def _correct_numbers(
    pilot: _Pilot, fit: _Fit, group: list[int], bins: Sequence[Bins], counts: dict[int, tuple[Floats, Floats]], labels: Labels
) -> None:
    """Correct the numbers of a group of columns in one step, scaled so that it fits best."""
    by_size: dict[int, list[int]] = {}
    for place in group:
        by_size.setdefault(int(pilot.columns[place].numeric.sum()), []).append(place)
    total = np.zeros(len(labels), dtype=np.float32)
    steps = {}
    chance = _chance(fit.odds)
    for places in by_size.values():
        found = []
        for place in places:
            numeric = pilot.columns[place].numeric
            deviation, variance = raw_corrections(*counts[place], _weights(chance, bins[place], numeric.size))
            found.append((deviation[numeric], variance[numeric]))
        deviations, variances = (np.stack(parts) for parts in zip(*found, strict=True))
        share = share_corrections if len(places) >= _ENOUGH_TO_SHARE else plateaus
        for place, step in zip(places, share(deviations, variances), strict=True):
            steps[place] = np.zeros(pilot.columns[place].size)
            steps[place][pilot.columns[place].numeric] = step
            if pilot.columns[place].numeric.all():
                # A constant says nothing about a row; as a part of the step it would spoil its scale.
                steps[place] -= counts[place][1] @ step / counts[place][1].sum()
            total += _look_up(steps[place], bins[place])
    scale = _scale(fit.odds, total, labels)
    for place, step in steps.items():
        fit.tables[place] += scale * step
    fit.odds += np.float32(scale) * total


def _scale(odds: Single, step: Single, labels: Labels) -> float:
    """Find how far to go along a step by logistic regression on it (Newton steps), never backwards."""
    scale = 0.0
    for _ in range(_NEWTON_STEPS):
        chance = _chance(odds + np.float32(scale) * step)
        slope = float(step @ (labels - chance))
        bend = float((step * step) @ (chance * (1 - chance)))
        scale += slope / (bend + 1)
    return min(max(scale, 0.0), 2.0)


def _chance(odds: Single) -> Single:
    """Probabilities of label 1."""
    return np.asarray(1 / (1 + np.exp(-odds)))


def _look_up(table: Floats, bins: Bins) -> Single:
    """Look up the bin of each row in a table."""
    return table.astype(np.float32).take(bins)


def _counts(bins: Bins, ones: Rows, size: int) -> tuple[Floats, Floats]:
    """Count labels 1, and all rows, by bin."""
    return np.bincount(bins[ones], minlength=size).astype(np.float64), np.bincount(bins, minlength=size).astype(np.float64)


def _expected(odds: Single, bins: Bins, size: int) -> Floats:
    """Count the labels 1 that the log-odds so far expect, by bin."""
    return _weights(_chance(odds), bins, size)


def _weights(weights: Single, bins: Bins, size: int) -> Floats:
    """Sums of weights by bin."""
    return np.bincount(bins, weights=weights, minlength=size).astype(np.float64)


def _scores(pilot: _Pilot, fit: _Fit, rows: Rows) -> Floats:
    """Score some rows."""
    scores = np.zeros(len(rows))
    for column, table in zip(pilot.columns, fit.tables, strict=True):
        if table.any():
            scores += table.take(column.bins[rows])
    if pilot.patterns is not None:
        scores += fit.patterns.take(pilot.patterns[rows])
    return scores


def _table(pilot: _Pilot, tables: list[Floats], patterns: Floats) -> ScoreTable:
    """Put the score into the form that a predicate needs, without columns that add nothing."""
    exact = [not column.numeric.all() and pilot.patterns is not None for column in pilot.columns]
    used = [place for place, table in enumerate(tables) if table.any() or exact[place]]
    columns = [pilot.columns[place] for place in used]
    table = ScoreTable(
        tuple(column.source for column in columns),
        tuple(tuple(column.cuts.tolist()) for column in columns),
        tuple(tuple(tables[place].tolist()) for place in used),
        0.0,
    )
    if pilot.patterns is None:
        return table
    return replace(
        table,
        symbols=tuple(tuple(column.symbols.tolist()) if not column.numeric.all() else () for column in columns),
        patterns=tuple(pilot.codes.tolist()),
        pattern_values=tuple(patterns.tolist()),
    )
