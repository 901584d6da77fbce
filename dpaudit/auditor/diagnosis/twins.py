"""Twin runs: a function on two datasets with the same random numbers, so that what differs comes from the data alone."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.reading.leaves import OWN
from dpaudit.auditor.reading.outputs import Matrix, Outputs, Path, groups
from dpaudit.auditor.runs.chunks import DIAGNOSIS, Broken, Chunk, Manner, sample_many, sample_one
from dpaudit.targets import Target

_NUMBER: Final = re.compile(r"\b(bool|u?int\d*|float\d*)\b")

WIDEST: Final = 512
"""Outputs of more numbers are judged by their form alone: every pair of columns is compared."""


@dataclass
class Bench:
    """Where a target is run again after the verdict, on random streams of its own; `runs` counts its calls."""

    target: Target
    manner: Manner
    root: int
    position: int
    pair: int
    runs: int = 0

    def generator(self, stream: int) -> np.random.Generator:
        """Make the generator of one stream."""
        return Chunk(self.position, self.pair, DIAGNOSIS, stream, 1).generator(self.root, 1)


@dataclass(frozen=True)
class Twins:
    """Outputs of twin runs, in order: their forms, and the numbers of those runs that gave one common form on both datasets.

    `paths` are the places of these numbers, none where there is no common form or where it is too wide.
    """

    kinds: tuple[NDArray[np.str_], NDArray[np.str_]]
    places: tuple[dict[str, tuple[Path, ...]], dict[str, tuple[Path, ...]]]
    paths: tuple[Path, ...]
    first: Matrix
    second: Matrix

    def __len__(self) -> int:
        return len(self.kinds[0])

    @property
    def one_form(self) -> bool:
        """True if all runs on both datasets gave the same form."""
        return len(self.first) == len(self) and bool(self.paths)


def run_twins(bench: Bench, first: Any, second: Any, *, count: int, stream: int = 0) -> Twins:
    """Run each of two datasets `count` times, with the same random numbers."""
    outputs = [_outputs(bench, data, count, stream) for data in (first, second)]
    return _joined(*(_read(drawn) for drawn in outputs))


def _outputs(bench: Bench, data: Any, count: int, stream: int) -> Outputs:
    """Draw outputs on one dataset; run for run where the function gives one at a time."""
    bench.runs += count
    if bench.target.sample is not None and not bench.manner.single:
        with _seeded(stream):
            drawn = sample_many(bench.target, _given(bench, data), count, bench.generator(stream << 32))
        if not isinstance(drawn, Broken):
            return drawn  # type: ignore[no-any-return]
    with _seeded(0):
        return [_one(bench, data, (stream << 32) + run) for run in range(count)]


def _one(bench: Bench, data: Any, stream: int) -> Any:
    """Make one run; the caller puts the shared generators back."""
    _seed(stream)
    return sample_one(bench.target, _given(bench, data), bench.generator(stream))


def run_once(bench: Bench, data: Any) -> None:
    """Make one run, to be traced."""
    bench.runs += 1
    with _seeded(0):
        _one(bench, data, 2 << 32)


def _given(bench: Bench, data: Any) -> Any:
    """Return the dataset as the function gets it."""
    return copy_of(data) if bench.manner.copies else data


@contextmanager
def _seeded(stream: int) -> Iterator[None]:
    """Seed the generators of Python and numpy that a whole program shares, and leave them as they were."""
    shared = sys.modules["numpy"].random
    before = random.getstate(), shared.get_state()
    try:
        _seed(stream)
        yield
    finally:
        random.setstate(before[0])
        shared.set_state(before[1])


def _seed(stream: int) -> None:
    """Seed these generators."""
    random.seed(stream)
    sys.modules["numpy"].random.seed(stream % 2**32)


@dataclass(frozen=True)
class _Read:
    """The forms of outputs, and of each form its runs, its places and its numbers."""

    kinds: NDArray[np.str_]
    parts: dict[str, tuple[NDArray[np.intp], tuple[Path, ...], Matrix]]


def _read(outputs: Outputs) -> _Read:
    """Read outputs by form; codes of texts and what a number holds beyond a float are no numbers to compare."""
    kinds = np.full(len(outputs), "", dtype=object)
    found: dict[tuple[str, tuple[Path, ...]], list[tuple[NDArray[np.intp], Matrix]]] = {}
    for group in groups(outputs):
        rows = np.arange(len(outputs))[group.rows]
        coded = {place for place, _ in group.codes}
        kept = [place for place, path in enumerate(group.paths) if place not in coded and not _is_added(path)]
        # Whether an integer or a float came out is often a matter of the branch, as in max(0, noisy), and no form of its own.
        kind = f"{_NUMBER.sub('number', group.kind)} of {len(kept)}"
        kinds[rows] = kind
        found.setdefault((kind, tuple(group.paths[place] for place in kept)), []).append((rows, group.values[:, kept]))
    return _Read(kinds, {kind: _together(paths, parts) for (kind, paths), parts in found.items()})


def _together(
    paths: tuple[Path, ...], parts: list[tuple[NDArray[np.intp], Matrix]]
) -> tuple[NDArray[np.intp], tuple[Path, ...], Matrix]:
    """Join groups of one form, in the order of the runs."""
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows)
    return rows[order], paths, np.concatenate([values for _, values in parts])[order]


def _is_added(path: Path) -> bool:
    """True for a place that the reading added to a number."""
    return bool(path) and isinstance(path[-1], str) and path[-1].startswith(OWN)


def _joined(first: _Read, second: _Read) -> Twins:
    """Join the outputs on two datasets run by run."""
    empty = np.zeros((0, 0))
    places = tuple({kind: paths for kind, (_, paths, _) in read.parts.items()} for read in (first, second))
    kinds = (first.kinds, second.kinds)
    shared = [kind for kind in first.parts if kind in second.parts and first.parts[kind][1] == second.parts[kind][1]]
    if not shared:
        return Twins(kinds, places, (), empty, empty)  # type: ignore[arg-type]
    name = max(shared, key=lambda kind: len(first.parts[kind][0]))
    (here, paths, x), (there, _, y) = first.parts[name], second.parts[name]
    both, left, right = np.intersect1d(here, there, return_indices=True)
    x, y = x[left], y[right]
    columns = np.arange(len(paths)) if len(paths) <= WIDEST else np.flatnonzero((x != y).any(axis=0))
    if len(columns) > WIDEST or not len(both):
        return Twins(kinds, places, (), empty, empty)  # type: ignore[arg-type]
    return Twins(kinds, places, tuple(paths[place] for place in columns), x[:, columns], y[:, columns])  # type: ignore[arg-type]


def has_failed(kind: str) -> bool:
    """True if a form is that of a run which gave no output."""
    return kind.startswith(("raised ", "returned "))
