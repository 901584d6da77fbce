"""Runs of the search among datasets: apart from all others, so that pairs may be chosen by what they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from dpaudit.auditor.attack.contrast import contrast
from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.events.points import first_line
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.runs.chunks import SEARCH, Chunk, ChunkRuns, Labels, Task
from dpaudit.auditor.runs.dispatch import in_order

Rows: TypeAlias = tuple[Matrix, Labels]
Merit: TypeAlias = tuple[float, float]


@dataclass
class Search:
    """Runs of the search so far, by pair, within a number of runs."""

    case: Case
    left: int
    rows: dict[int, list[ChunkRuns]] = field(default_factory=dict)
    made: int = 0

    def look(self, pairs: Sequence[int], size: int) -> None:
        """Run each pair so often again, as far as runs are left."""
        chosen = pairs[: self.left // size]
        self.left -= size * len(chosen)
        self.made += size * len(chosen)
        with closing(in_order(self.case.executor, self._tasks(chosen, size))) as outcomes:
            for pair, outcome in zip(chosen, outcomes, strict=True):
                if isinstance(outcome, ChunkRuns):
                    self.rows.setdefault(pair, []).append(outcome)

    def _tasks(self, pairs: Iterable[int], size: int) -> Iterator[Task]:
        """Yield a task for each pair."""
        case = self.case
        for pair in pairs:
            yield Task(case.work, case.root, Chunk(case.position, pair, SEARCH, len(self.rows.get(pair, ())), size), case.manner)

    def sample(self, pair: int) -> Rows | None:
        """Return what was seen of a pair."""
        seen = self.rows.get(pair)
        return (seen and (np.concatenate([one.features for one in seen]), np.concatenate([one.labels for one in seen]))) or None

    def merit(self, pair: int) -> Merit:
        """Return the contrast of a pair: of all columns first."""
        sample = self.sample(pair)
        if sample is None:
            return 0.0, 0.0
        few, found = contrast(*sample, float(first_line(self.case.lines).delta))
        return found, few

    def best(self, pairs: Iterable[int]) -> list[int]:
        """Return pairs in the order of their merit."""
        merits = {pair: self.merit(pair) for pair in pairs}
        return sorted(merits, key=lambda pair: (*(-part for part in merits[pair]), pair))
