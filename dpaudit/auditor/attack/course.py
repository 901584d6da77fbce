"""The bookkeeping of an attack on one target: its case, runs made, wealth after each, chunks in order, time left."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.auditor.attack.plans import Plan
from dpaudit.auditor.events.ranking import Event
from dpaudit.auditor.reading.features import Form, finer_map, widen_map, with_lens
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.reading.precision import Fine
from dpaudit.auditor.reading.unread import Tally
from dpaudit.auditor.reading.wide import Lens
from dpaudit.auditor.runs.chunks import (
    LARGEST_CHUNK,
    PILOT,
    SMALLEST_CHUNK,
    Broken,
    Chunk,
    ChunkHits,
    ChunkMeasures,
    ChunkRuns,
    Labels,
    Manner,
    Task,
    chunk_sizes,
)
from dpaudit.auditor.runs.dispatch import in_order
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.errors import TargetFailure
from dpaudit.results import Counts, Sequential, WealthPoint

_PATH_POINTS: Final = 200
_CHUNKS_A_STAGE: Final = 32
_FIRST_LATE_CHUNK: Final = 1024
"""Chunks after the pilot begin at this size and double: bets stop between chunks only, so that large first ones waste runs."""
_PLANNED_TIME: Final = 0.9
"""Share of the time left that is planned: the rest is for choosing events, which makes no runs, and for a pace that falls."""


@dataclass(frozen=True)
class Case:
    """One target, ready to be attacked.

    `alpha` is this claim's share of the error probability, half for the bets and half for the bound; `lines` are the points that
    may be tested; `plan` is None where `seconds` decides at the end of the pilot; `checked` runs were made before; `listener` hears
    stage, runs done, runs planned and the logarithm of the wealth; `places` are the pairs to attack, () for all but searched
    ones, `promising` the searched ones on which outputs change most with equal random numbers; where it `stops_early`, not all runs
    are made for the bound of a claim that bets have refuted; `search` runs look for datasets that do not stand in the data, as a
    clock allows where there is no plan yet.
    """

    subject: Subject
    work: Workload
    manner: Manner
    root: int
    position: int
    alpha: Fraction
    lines: tuple[ClaimPoint, ...]
    plan: Plan | None
    seconds: float = math.inf
    executor: Executor | None = None
    checked: int = 0
    listener: Callable[[str, int, int | None, float], None] | None = None
    places: tuple[int, ...] = ()
    promising: tuple[int, ...] = ()
    stops_early: bool = True
    search: int = 0

    @property
    def attacked(self) -> tuple[int, ...]:
        """The places of the candidate pairs that are attacked."""
        return self.places or tuple(place for place, pair in enumerate(self.subject.pairs) if not pair.family)

    @property
    def half(self) -> float:
        """The error probability of the bets, and of the bound."""
        return float(self.alpha / 2)

    @property
    def log_threshold(self) -> float:
        """Natural logarithm of the wealth that refutes the claim."""
        return math.log(2 / self.alpha)


@dataclass
class Course:
    """Runs made so far, the wealth after each, and the run at which the threshold was reached.

    `learned` is the logarithm of what the bettor gained on runs that it only learned from; `tallies` count by stage and pair what
    was read of the outputs; `late` are forms of outputs that the pilot met and the feature map has no columns for.
    """

    case: Case
    runs: int = 0
    stopped_at: int | None = None
    log_wealth: float = 0.0
    log_peak: float = 0.0
    paths: list[Matrix] = field(default_factory=list)
    learned: float = 0.0
    tallies: dict[tuple[int, int], Tally] = field(default_factory=dict)
    late: dict[Form, None] = field(default_factory=dict)

    def bet(self, wealth: Matrix) -> None:
        """Note the wealth after each of the next runs, up to the one that reaches the threshold."""
        wealth = wealth - self.learned
        reached = np.flatnonzero(wealth >= self.case.log_threshold)
        if reached.size:
            wealth = wealth[: int(reached[0]) + 1]
            self.stopped_at = sum(map(len, self.paths)) + len(wealth)
        if len(wealth):
            self.paths.append(wealth)
            self.log_wealth = float(wealth[-1])
            self.log_peak = max(self.log_peak, float(wealth.max()))

    def report(self, stage: str, plan: Plan | None) -> None:
        """Report progress to the listener, if there is one."""
        if self.case.listener is not None:
            planned = None if plan is None else plan.total + self.case.checked
            self.case.listener(stage, self.runs + self.case.checked, planned, self.log_wealth)

    def sequential(self) -> Sequential:
        """Return the e-process as a result."""
        wealth = np.concatenate([np.zeros(1), *self.paths]) / math.log(10)
        last = len(wealth) - 1
        runs = np.unique(np.round(np.geomspace(1, last + 1, _PATH_POINTS)).astype(np.int64)) - 1
        return Sequential(
            log10_wealth=self.log_wealth / math.log(10),
            log10_peak=self.log_peak / math.log(10),
            log10_threshold=self.case.log_threshold / math.log(10),
            runs=last,
            stopped_at=self.stopped_at,
            p_value=min(1.0, math.exp(-self.log_peak)),
            path=tuple(WealthPoint(run, float(wealth[run])) for run in runs.tolist()),
        )

    def rows(self, chunks: Iterable[Chunk]) -> Generator[tuple[Chunk, ChunkRuns]]:
        """Yield features and labels of chunks, in their order."""
        with closing(self._outcomes(chunks, ())) as outcomes:
            yield from ((chunk, outcome) for chunk, outcome in outcomes if isinstance(outcome, ChunkRuns))

    def hits(self, chunks: Iterable[Chunk], events: tuple[Event, ...]) -> Generator[tuple[Counts, ...]]:
        """Yield the hits of each event in chunks, in their order."""
        with closing(self._outcomes(chunks, events)) as outcomes:
            yield from (outcome.counts for _, outcome in outcomes if isinstance(outcome, ChunkHits))

    def _outcomes(self, chunks: Iterable[Chunk], events: tuple[Event, ...]) -> Generator[tuple[Chunk, ChunkRuns | ChunkHits]]:
        """Yield chunks with their outcomes; runs are counted as they are consumed, not as workers finish them."""
        with closing(self._made(chunks, events)) as made:
            for chunk, outcome in made:
                self.runs += chunk.size
                self.tallies.setdefault((chunk.stage, chunk.pair), Tally()).add(outcome.account)
                if chunk.stage == PILOT:
                    self.late.update(dict.fromkeys(outcome.account.late))
                yield chunk, outcome

    def read_again(
        self, chunks: Mapping[int, Sequence[Chunk]], fine: Sequence[Fine] = (), lens: Lens | None = None
    ) -> dict[int, list[ChunkRuns]]:
        """Make pilot runs of some pairs again from their seeds, through a wider map: the same runs, not counted or bet on again."""
        # The lens first, since it knows the places that the map has now.
        features = finer_map(widen_map(with_lens(self.case.manner.features, lens), self.late), fine)
        self.case = replace(self.case, manner=replace(self.case.manner, features=features))
        self.late.clear()
        again: dict[int, list[ChunkRuns]] = {pair: [] for pair in chunks}
        for pair in chunks:
            tally = self.tallies[PILOT, pair] = Tally()
            with closing(self._made(chunks[pair], ())) as made:
                for _, outcome in made:
                    if isinstance(outcome, ChunkRuns):
                        tally.add(outcome.account)
                        again[pair].append(outcome)
        return again

    def _made(self, chunks: Iterable[Chunk], events: tuple[Event, ...]) -> Generator[tuple[Chunk, ChunkRuns | ChunkHits]]:
        """Yield chunks with their outcomes, in their order."""
        case, issued = self.case, deque[Chunk]()

        def tasks() -> Iterator[Task]:
            for chunk in chunks:
                issued.append(chunk)
                yield Task(case.work, case.root, chunk, case.manner, events)

        with closing(in_order(case.executor, tasks())) as outcomes:
            for outcome in outcomes:
                chunk = issued.popleft()
                if isinstance(outcome, Broken):
                    raise TargetFailure(
                        "DPA405",
                        f"sample(data, n, rng) {outcome.reason} in a call for several outputs, which hides the outcome of each. "
                        "Give run=(data, rng) instead.",
                    )
                if not isinstance(outcome, ChunkMeasures):  # only tasks with a gauge are answered by measures
                    yield chunk, outcome


def late_chunks(case: Case, pair: int, stage: int, runs: int) -> Iterator[Chunk]:
    """Yield the chunks of a stage whose size is known: enough of them for many workers, none too large."""
    largest = min(LARGEST_CHUNK, max(SMALLEST_CHUNK, runs // _CHUNKS_A_STAGE))
    sizes = chunk_sizes(runs, first=min(largest, _FIRST_LATE_CHUNK), largest=largest)
    return (Chunk(case.position, pair, stage, index, size) for index, size in enumerate(sizes))


def join_runs(parts: Sequence[ChunkRuns], most: int | None = None) -> tuple[Matrix, Labels]:
    """Join features and labels of successive chunks: of all runs, or of the first `most`."""
    ends = np.cumsum([len(part.labels) for part in parts])
    needed = parts if most is None else parts[: int(np.searchsorted(ends, most)) + 1]
    features, labels = (np.concatenate(columns) for columns in zip(*((part.features, part.labels) for part in needed), strict=True))
    return features[:most], labels[:most]


class Clock:
    """Turns a time budget into a number of runs, from the pace of the latest runs."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.monotonic()
        self._marks = deque([(0.0, 0)], maxlen=2)
        self._repeated = 0.0
        self._lapped = self._began
        self._laps: dict[int, tuple[int, float]] = {}

    def lap(self, pair: int, runs: int) -> None:
        """Note that so many more runs of a pair are done: those of few records are faster than those of the data."""
        now, (done, took) = time.monotonic(), self._laps.get(pair, (0, 0.0))
        self._laps[pair] = done + runs, took + now - self._lapped
        self._lapped = now

    def mark(self, runs: int) -> None:
        """Note that so many runs are done now."""
        self._marks.append((time.monotonic() - self._began, runs))

    def mark_repeat(self) -> None:
        """Note that runs were repeated since the latest mark: that takes time and makes no new ones."""
        self._repeated = time.monotonic() - self._began - self._marks[-1][0]

    @property
    def share(self) -> float:
        """Share of the time that had passed at the latest mark."""
        return self._marks[-1][0] / self._seconds

    def affordable(self, pair: int | None) -> int:
        """Runs that fit into the time left: of a pair, or at the pace of all where runs of several are made at once."""
        (before, earlier), (now, runs) = self._marks[0], self._marks[-1]
        made, took = (runs - earlier, now - before) if pair is None else self._laps[pair]
        pace = made / max(took, 1e-6)
        return int(_PLANNED_TIME * pace * max(0.0, self._seconds - now - self._repeated))
