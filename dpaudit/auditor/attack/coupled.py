"""Runs with equal random numbers on datasets of which each is a neighbour of the next: what is added as noise cancels out.

One run a dataset shows then what a step changes, where statistics would need many. It orders pairs and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
"""Runs of one dataset with different random numbers that show how wide the noise of each number is."""

_FORM: Final = 4.0
"""What another form of output counts, in widths of the noise of a number."""

_MOST: Final = 50.0
"""What one number counts at most: numbers without noise would hide how much the others move."""

_EACH: Final = 3
"""Steps of one way that count, so that no way takes the places of all others."""

_SEATS: Final = 3
"""The most outstanding steps that join the attack."""

_OUTSTANDING: Final = 1.4
"""Times the largest change on a pair that is attacked anyway: such a step joins the attack whatever few runs of it show."""

_EASED: Final = 1e-9
"""Widths are at least this part of the number: where there is no noise, differences would be divided by 0."""


@dataclass(frozen=True)
class Steps:
    """The steps at which outputs change most, the largest first; those that change far more than any known pair; and the runs."""

    largest: list[int]
    outstanding: list[int]
    runs: int


def largest_steps(case: Case, ways: Sequence[Sequence[int]], most: int, keep: int) -> Steps:
    """Run the datasets of ways once each, and those of the pairs that are attacked anyway; of one way a few steps count at most."""
    pairs, known = case.subject.pairs, [*case.attacked]
    runs = _FOR_SCALE + len(_sides(case, known))
    if runs > most:
        return Steps([], [], 0)
    scales = _scales(_read(case, pairs[known[0]].first, number + 1) for number in range(_FOR_SCALE))
    usual = max(size for size, _ in _changes(case, known, scales))
    scored = list[tuple[float, int]]()
    for way in ways:
        size = len(_sides(case, way))
        if runs + size <= most:
            runs += size
            scored += [one for one in sorted(_changes(case, way, scales), reverse=True)[:_EACH] if one[0] > 0]
    order = sorted(scored, key=lambda one: (-one[0], one[1]))[:keep]
    outstanding = [place for size, place in order if size >= _OUTSTANDING * usual][:_SEATS]
    return Steps([place for _, place in order], outstanding, runs)


def _sides(case: Case, places: Sequence[int]) -> dict[int, Any]:
    """The datasets of some pairs, once each: pairs of a way that follow each other share one."""
    found = (case.subject.pairs[place].side(label) for place in places for label in (0, 1))
    return {id(side): side for side in found}


def _changes(case: Case, places: Sequence[int], scales: dict[Path, float]) -> list[tuple[float, int]]:
    """How much the outputs on the two datasets of some pairs differ."""
    outputs = {key: _read(case, data, 0) for key, data in _sides(case, places).items()}
    sides = ((case.subject.pairs[place], place) for place in places)
    return [(_change(outputs[id(pair.first)], outputs[id(pair.second)], scales), place) for pair, place in sides]


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
