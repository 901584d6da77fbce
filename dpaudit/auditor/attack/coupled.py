"""Runs with equal random numbers on datasets of which each is a neighbour of the next: what is added as noise cancels out.

One run a dataset shows then what a step changes, where statistics would need many. It orders pairs and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.reading.leaves import Path
from dpaudit.auditor.reading.outputs import Failure, parse_output
from dpaudit.auditor.reading.reader import Reading
from dpaudit.auditor.runs.chunks import SEARCH, Chunk, sample_one

_COUPLED: Final = 2**21
"""Index of the chunks of these runs, beyond all others of the search."""

_FOR_SCALE: Final = 12
_FORM: Final = 4.0
"""What another form of output counts, in widths of the noise of a number."""

_MOST: Final = 50.0
_EACH: Final = 3
_EASED: Final = 1e-9


def largest_steps(case: Case, ways: Sequence[Sequence[int]], most: int, keep: int) -> tuple[list[int], int]:
    """Return the steps at which outputs change most, the largest first, at most a few of one way, and the runs that showed it."""
    pairs, runs, scored, scales = case.subject.pairs, 0, list[tuple[float, int]](), dict[Path, float]()
    for way in ways:
        # Steps that follow each other share a dataset.
        datasets = {id(side): side for place in way for side in (pairs[place].first, pairs[place].second)}
        if runs + len(datasets) + (0 if scales else _FOR_SCALE) > most:
            continue
        if not scales:
            scales = _scales(_read(case, pairs[way[0]].first, number + 1) for number in range(_FOR_SCALE))
            runs += _FOR_SCALE
        outputs = {key: _read(case, data, 0) for key, data in datasets.items()}
        runs += len(outputs)
        sides = ((outputs[id(pairs[place].first)], outputs[id(pairs[place].second)], place) for place in way)
        found = sorted(((_change(one, other, scales), place) for one, other, place in sides), reverse=True)
        scored += [(size, place) for size, place in found[:_EACH] if size > 0]
    return [place for _, place in sorted(scored, key=lambda one: (-one[0], one[1]))[:keep]], runs


def _read(case: Case, data: Any, number: int) -> Reading | None:
    """Read an output of a dataset; those of one number have the same random numbers; None where the function raises."""
    rng = Chunk(case.position, 0, SEARCH, _COUPLED + number, 1).generator(case.root, 1)
    output = sample_one(case.subject.target, copy_of(data) if case.manner.copies else data, rng)
    return None if isinstance(output, Failure) else parse_output(output)


def _scales(readings: Iterable[Reading | None]) -> dict[Path, float]:
    """The width of the noise of each number of an output."""
    seen: dict[Path, list[float]] = {(): []}
    for reading in readings:
        for path, value in () if reading is None else zip(reading.paths, reading.leaves.values, strict=True):
            seen.setdefault(path, []).append(value)
    return {path: float(np.subtract(*np.percentile(values, [75, 25]))) if values else 0.0 for path, values in seen.items()}


def _change(before: Reading | None, after: Reading | None, scales: dict[Path, float]) -> float:
    """How much two outputs differ, in widths of the noise."""
    if before is None or after is None:
        return _FORM * (before is not after)
    if before.kind != after.kind or before.paths != after.paths:
        return _FORM
    total = 0.0
    for place, path in enumerate(before.paths):
        one, other = before.leaves.values[place], after.leaves.values[place]
        if one == other:
            continue
        if place in before.leaves.codes:
            total += 1.0  # texts differ or not, by no amount
            continue
        moved = abs(one - other) / (scales.get(path, 0.0) + _EASED * (1 + abs(one)))
        total += min(moved, _MOST) if moved == moved else _FORM  # noqa: PLR0124 - of NaN
    return total
