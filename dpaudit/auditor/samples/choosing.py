"""The runs of two samples that choose: they make the feature map, screen wide outputs, and become the rows that events are from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from dpaudit.auditor.reading.features import FeatureMap, Form, fit_features, screened_map, widen_map
from dpaudit.auditor.reading.outputs import Group, Matrix, Outputs, groups
from dpaudit.auditor.reading.unread import Tally, account_of
from dpaudit.auditor.runs.chunks import FEWEST_AT_ONCE, MOST_NUMBERS, Labels
from dpaudit.auditor.samples.drawing import Pair, Runs
from dpaudit.auditor.scoring.screening import MOST_PAIRED, Gauge, Measures, choose, find, gauge_of
from dpaudit.results import Screening

_AT_ONCE: Final = 2**15
_FIRST_READ: Final = 64
"""Outputs from which the feature map is made; forms that other choosing runs show are added to it."""

_MOST_CELLS: Final = 2**25
"""Numbers that are kept in memory to choose an event from; wider outputs have fewer runs for it."""

_MOST_SCREENED: Final = 2**13
_SCREENED_SHARE: Final = 2
"""Part of the choosing runs that screen wide outputs at most: these choose columns, the rest choose events."""

_ROWS_TO_CUT: Final = 2**8


@dataclass(frozen=True)
class Read:
    """Runs with their outputs, in groups of one form."""

    outputs: Outputs
    grouped: list[Group]
    labels: Labels


@dataclass(frozen=True)
class Chosen:
    """The feature map, the rows and labels that events are chosen from, what was read of them, and what was screened."""

    features: FeatureMap
    matrix: Matrix
    labels: Labels
    tally: Tally
    screening: Screening | None


def read_choosing(samples: Pair, runs: Runs, *, shown: bool) -> Chosen:
    """Fit the feature map to the runs that choose, and read these by it."""
    features = fit_features(list(runs.outputs(samples, slice(min(_FIRST_READ, runs.choosing)))), show_keys=shown)
    screening, start = None, 0
    if features.norms:
        start = min(_MOST_SCREENED, runs.choosing // _SCREENED_SHARE)
        features, screening = _screen(samples, runs, features, start)
    end = min(runs.choosing, start + max(_FIRST_READ, _MOST_CELLS // len(features.names)))
    matrix, tally, late = _read(samples, runs, features, start, end)
    if late:
        features = widen_map(features, late)
        matrix, tally, _ = _read(samples, runs, features, start, end)
    return Chosen(features, matrix, runs.labels[start:end], tally, screening)


def read_parts(samples: Pair, runs: Runs, features: FeatureMap, start: int, end: int) -> Iterator[Read]:
    """Read runs in parts that fit into memory."""
    step = max(FEWEST_AT_ONCE, min(_AT_ONCE, MOST_NUMBERS // max(1, len(features.paths))))
    for place in range(start, end, step):
        some = slice(place, min(place + step, end))
        outputs = runs.outputs(samples, some)
        yield Read(outputs, list(groups(outputs)), runs.labels[some])


def _read(samples: Pair, runs: Runs, features: FeatureMap, start: int, end: int) -> tuple[Matrix, Tally, dict[Form, None]]:
    """Read runs by a map; return the forms that it has no columns for too."""
    tally, late, matrices = Tally(), dict[Form, None](), []
    for part in read_parts(samples, runs, features, start, end):
        account = account_of(features, part.grouped, len(part.labels))
        tally.add(account)
        late.update(dict.fromkeys(account.late))
        matrices.append(features.matrix_of(part.grouped, part.outputs))
    return np.asfortranarray(np.concatenate(matrices)), tally, late


def _screen(samples: Pair, runs: Runs, features: FeatureMap, end: int) -> tuple[FeatureMap, Screening]:
    """Give numbers of wide outputs that look different, and learned scores of all, columns of their own."""
    gauge: Gauge | None = None
    measures: Measures | None = None
    for part in read_parts(samples, runs, features, 0, end):
        values = np.empty((len(part.labels), len(features.paths)))
        for group in part.grouped:
            values[group.rows] = features.aligned(group)
        gauge = gauge or gauge_of(values[:_ROWS_TO_CUT], part.labels[:_ROWS_TO_CUT])
        measured = gauge.measure(values, part.labels)
        measures = measured if measures is None else measures + measured
    assert gauge is not None and measures is not None, "there are runs"  # noqa: S101, PT018
    chosen, lens = choose([find(measures, gauge)], gauge)
    wide = len(features.paths)
    return screened_map(features, chosen, lens), Screening(wide, end, len(chosen), min(wide, MOST_PAIRED), 1)
