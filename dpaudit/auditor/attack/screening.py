"""The screening of wide outputs, on runs that nothing else uses: it chooses the numbers and scores that the attack then tests."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Final

from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.reading.features import screened_map
from dpaudit.auditor.runs.chunks import (
    LARGEST_CHUNK,
    MOST_NUMBERS,
    SCREENING,
    Broken,
    Chunk,
    ChunkMeasures,
    ChunkRuns,
    Task,
    perform,
)
from dpaudit.auditor.runs.dispatch import in_order
from dpaudit.auditor.scoring.screening import MOST_PAIRED, Gauge, Measures, choose, find, gauge_of
from dpaudit.results import Screening

_MOST_RUNS: Final = 2**13
_RUNS_OF_A_CLOCK: Final = 2**10
"""Where a clock sets the plan: a replay could not know what the clock allowed."""

_FEWEST_EACH: Final = 2**7
_ROWS_TO_CUT: Final = 2**8
_SHARE: Final = 2
"""Part of the pilot that the screening takes at most: its runs choose columns, those of the pilot choose events."""


def screen_outputs(case: Case) -> tuple[Case, Screening | None]:
    """Screen wide outputs on the attacked pairs; return the case with a map of what was chosen, and what was done.

    Stages that follow draw runs of their own, so that nothing which was chosen here is tested on the runs that chose it.
    """
    features = case.manner.features
    if not features.norms or features.lens is not None:
        return case, None
    began = time.monotonic()
    wanted = _RUNS_OF_A_CLOCK if case.plan is None or case.seconds < float("inf") else min(_MOST_RUNS, case.plan.pilot // _SHARE)
    pairs = case.attacked[: max(1, wanted // _FEWEST_EACH)]
    each, gauge, found = wanted // len(pairs), None, []
    for pair in pairs:
        gauge, measures = _measure(case, pair, each, gauge)
        if measures is None or gauge is None:
            return case, None  # a call for many outputs failed, which the attack will meet and name
        found.append(find(measures, gauge))
    assert gauge is not None, "there is a pair"  # noqa: S101
    chosen, lens = choose(found, gauge)
    features = screened_map(features, chosen, lens)
    seconds = max(case.seconds - (time.monotonic() - began), case.seconds / 2)
    done = Screening(len(features.paths), each * len(pairs), len(chosen), min(len(features.paths), MOST_PAIRED), len(pairs))
    return replace(case, manner=replace(case.manner, features=features), seconds=seconds), done


def _measure(case: Case, pair: int, runs: int, gauge: Gauge | None) -> tuple[Gauge | None, Measures | None]:
    """Measure the outputs of a pair; its first runs make the gauge where there is none."""
    first = min(runs, _ROWS_TO_CUT, max(16, 4 * MOST_NUMBERS // len(case.manner.features.paths)))
    chunk = Chunk(case.position, pair, SCREENING, 0, first)
    outcome = perform(Task(case.work, case.root, chunk, case.manner, raw=True)) if gauge is None else None
    if isinstance(outcome, Broken):
        return None, None
    measured: Measures | None = None
    if isinstance(outcome, ChunkRuns):
        gauge = gauge_of(outcome.features, outcome.labels)
        measured = gauge.measure(outcome.features, outcome.labels)

    def tasks() -> Iterator[Task]:
        left, index = runs - (first if outcome is not None else 0), 1
        while left > 0:
            size = min(left, LARGEST_CHUNK // 16)
            yield Task(case.work, case.root, Chunk(case.position, pair, SCREENING, index, size), case.manner, gauge=gauge)
            left, index = left - size, index + 1

    with closing(in_order(case.executor, tasks())) as outcomes:
        for part in outcomes:
            if not isinstance(part, ChunkMeasures):
                return None, None
            # Added up at once: the counts of a million numbers take hundreds of megabytes.
            measured = part.measures if measured is None else measured + part.measures
    return gauge, measured
