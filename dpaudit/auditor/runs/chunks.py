"""Chunks of runs on a public schedule, seeds from one tree, and tasks that are pure functions of their place in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.events.predicates import hits_of
from dpaudit.auditor.events.ranking import Event
from dpaudit.auditor.reading.features import FeatureMap
from dpaudit.auditor.reading.objects import error_parts
from dpaudit.auditor.reading.outputs import Failure, Matrix, Outputs, groups, keep_output
from dpaudit.auditor.reading.unread import NOTHING, Account, account_of, join_accounts
from dpaudit.auditor.runs import pulse
from dpaudit.auditor.runs.workload import Subject, Workload, subject_of
from dpaudit.auditor.scoring.screening import Gauge, Measures
from dpaudit.errors import CODES, DpauditError, TargetFailure, class_name
from dpaudit.results import Counts
from dpaudit.targets import Target

SMALLEST_CHUNK: Final = 32
LARGEST_CHUNK: Final = 2**14

MOST_NUMBERS: Final = 2**22
FEWEST_AT_ONCE: Final = 8
"""Outputs of a chunk are drawn and read so many at a time that they have about `MOST_NUMBERS` numbers together."""

CHECKS: Final = 0
PILOT: Final = 1
BETTING: Final = 2
BOUND: Final = 3
PRICE: Final = 4
SHRINKING: Final = 5
SECOND_LOOK: Final = 6
SCREENING: Final = 7
DIAGNOSIS: Final = 8
SEARCH: Final = 9
TIMING: Final = 10
"""Stages of an audit, by their numbers in the seed tree."""

Labels: TypeAlias = NDArray[np.uint8]

_ONE_RUN: Final[Labels] = np.zeros(1, dtype=np.uint8)


@dataclass(frozen=True)
class Chunk:
    """Some runs: `target`, `pair`, `stage` and `index` place them in the seed tree, `size` is how many there are."""

    target: int
    pair: int
    stage: int
    index: int
    size: int

    def generator(self, root: int, part: int) -> np.random.Generator:
        """Make the generator for part 0 (labels) or 1 (the target) of this chunk, which nothing else uses."""
        path = (self.target, self.pair, self.stage, self.index, part)
        return np.random.default_rng(np.random.SeedSequence(root, spawn_key=path))


@dataclass(frozen=True)
class Manner:
    """Manner in which the runs of a target are made, as its first runs showed.

    `single`: a `sample` function that failed once is called for one output at a time, since a failing call for many hides which run
    failed; `copies`: each call gets a copy of the dataset, since the function changes it.
    """

    features: FeatureMap
    single: bool = False
    copies: bool = False


@dataclass(frozen=True)
class Task:
    """A chunk to run; with events only their hits come back, with a gauge only what it measures, with `raw` all numbers."""

    work: Workload
    root: int
    chunk: Chunk
    manner: Manner
    events: tuple[Event, ...] = ()
    gauge: Gauge | None = None
    raw: bool = False


@dataclass(frozen=True)
class ChunkRuns:
    """Features and labels of the runs of a chunk, in order, and what was read of them."""

    features: Matrix
    labels: Labels
    account: Account = NOTHING


@dataclass(frozen=True)
class ChunkHits:
    """Hits of each event among the runs of a chunk, and what was read of them."""

    counts: tuple[Counts, ...]
    account: Account = NOTHING


@dataclass(frozen=True)
class ChunkMeasures:
    """What a gauge measured of the runs of a chunk."""

    measures: Measures


@dataclass(frozen=True)
class Broken:
    """A failed call for many outputs, which hides what single runs would have given; `reason` says how it failed."""

    reason: str


Outcome: TypeAlias = ChunkRuns | ChunkHits | ChunkMeasures | Broken


def chunk_sizes(total: int | None, *, first: int = SMALLEST_CHUNK, largest: int = LARGEST_CHUNK) -> Iterator[int]:
    """Sizes of successive chunks: the first size twice, then doubling up to the largest, as many runs as `total` if given."""
    done, size = 0, first
    while total is None or done < total:
        step = size if total is None else min(size, total - done)
        yield step
        done += step
        if done > first:
            size = min(2 * size, largest)


def perform(task: Task) -> Outcome:
    """Run a chunk: a pure function of the task, in whatever process."""
    subject, chunk = subject_of(task.work), task.chunk
    labels = chunk.generator(task.root, 0).integers(0, 2, size=chunk.size, dtype=np.uint8)
    rng, parts = chunk.generator(task.root, 1), list[Outcome]()
    # Outputs of millions of numbers are read a few at a time.
    step = max(FEWEST_AT_ONCE, MOST_NUMBERS // max(1, len(task.manner.features.paths)))
    for start in range(0, chunk.size, step):
        part = labels[start : start + step]
        outputs = draw(subject, chunk.pair, part, rng, task.manner)
        if isinstance(outputs, Broken):
            return outputs
        parts.append(_read(task, outputs, part, subject.target.score))
        if len(parts) == 2 and task.gauge is not None:
            parts = [_join(parts)]  # counts of every number are large
    return parts[0] if len(parts) == 1 else _join(parts)


def _read(task: Task, outputs: Outputs, labels: Labels, score: Callable[[Any], float] | None) -> Outcome:
    """Read outputs as a task asks."""
    features, grouped = task.manner.features, list(groups(outputs))
    if task.raw or task.gauge is not None:
        values = np.empty((len(outputs), len(features.paths)))
        for group in grouped:
            values[group.rows] = features.aligned(group)
        return ChunkRuns(values, labels) if task.gauge is None else ChunkMeasures(task.gauge.measure(values, labels))
    account = account_of(features, grouped, len(outputs))
    if not task.events:
        return ChunkRuns(features.matrix_of(grouped, outputs, score), labels, account)
    columns = sorted({column for event in task.events for column in event.columns})
    matrix = features.matrix_of(grouped, outputs, score, tuple(columns))
    found = ((np.count_nonzero(hits & labels.view(np.bool_)), np.count_nonzero(hits)) for hits in hits_of(task.events, matrix))
    return ChunkHits(tuple(Counts(ones=int(ones), zeros=int(hits - ones), runs=len(labels)) for ones, hits in found), account)


def _join(parts: Sequence[Outcome]) -> Outcome:
    """Join what was read of the parts of a chunk."""
    measured = [part.measures for part in parts if isinstance(part, ChunkMeasures)]
    if measured:
        return ChunkMeasures(reduce(add, measured))
    runs = [part for part in parts if isinstance(part, ChunkRuns)]
    if runs:
        features = np.asfortranarray(np.concatenate([part.features for part in runs]))
        return ChunkRuns(features, np.concatenate([part.labels for part in runs]), join_accounts(part.account for part in runs))
    hits = [part for part in parts if isinstance(part, ChunkHits)]
    counts = tuple(
        Counts(ones=sum(one.ones for one in ones), zeros=sum(one.zeros for one in ones), runs=sum(one.runs for one in ones))
        for ones in zip(*(part.counts for part in hits), strict=True)
    )
    return ChunkHits(counts, join_accounts(part.account for part in hits))


def draw(subject: Subject, pair: int, labels: Labels, rng: np.random.Generator, manner: Manner) -> Outputs | Broken:
    """Draw one output for each label: from the first dataset of the pair for 0, from the second for 1."""
    target, datasets = subject.target, (subject.pairs[pair].first, subject.pairs[pair].second)
    if target.run is not None:
        run = target.run
        if not manner.copies:
            return _run_each(run, datasets, labels, rng)
        return _run_each(lambda data, generator: run(copy_of(data), generator), datasets, labels, rng)
    if manner.single or len(labels) <= SMALLEST_CHUNK:
        # Short chunks ask for one output a call, so that the attack is also made on single releases.
        return [sample_one(target, _dataset_for(datasets[label], manner), rng) for label in labels.tolist()]
    parts = []
    for label in (0, 1):
        count = int(np.count_nonzero(labels == label))
        parts.append(sample_many(target, _dataset_for(datasets[label], manner), count, rng) if count else [])
        if isinstance(parts[label], Broken):
            return parts[label]
    return _merge_sides(parts[0], parts[1], labels)


def sample_one(target: Target, data: Any, rng: np.random.Generator) -> Any:
    """Draw one output of a target; an exception or a wrong number of outputs becomes a `Failure`."""

    def call(data: Any, rng: np.random.Generator) -> Any:
        drawn = _check_outputs(target.function(data, 1, rng), 1)
        return Failure(drawn.reason, drawn.reason) if isinstance(drawn, Broken) else drawn[0]

    return _run_each(target.run or call, (data,), _ONE_RUN, rng)[0]


def sample_many(target: Target, data: Any, count: int, rng: np.random.Generator) -> Any:
    """Draw `count` outputs by one call of a `sample` function, or return `Broken`."""
    [drawn] = _run_each(lambda data, rng: _check_outputs(target.function(data, count, rng), count), (data,), _ONE_RUN, rng)
    return Broken(drawn.shown) if isinstance(drawn, Failure) else drawn


def _run_each(run: Callable[..., Any], datasets: tuple[Any, ...], labels: Labels, rng: np.random.Generator) -> list[Any]:
    """Outputs of single runs, one generator for all: runs of one chunk read disjoint parts of one random stream."""
    outputs, mark, end_call = [], pulse.mark_call(), pulse.end_call
    for label in labels.tolist():
        try:
            outputs.append(keep_output(run(datasets[label], rng)))
        except KeyboardInterrupt:
            raise
        except MemoryError as error:
            # No claim is judged by it, since it depends on the machine.
            raise TargetFailure("DPA415", "a run of it ended for want of memory; see --memory-limit.") from error
        except BaseException as error:  # noqa: BLE001 - whatever else the target raises is an output
            # Told apart by the whole name of its class, shown by what source code names.
            outputs.append(Failure(_name_error(error, type(error).__name__), _name_error(error), tuple(error_parts(error))))
        finally:
            end_call(mark)
    return outputs


def _name_error(error: BaseException, name: str = "") -> str:
    """Name the type of an error, and the code of one of ours; never its text, which may hold data."""
    code = getattr(error, "code", None) if isinstance(error, DpauditError) else None
    # Codes that are ours are fixed words; whatever else an error carries as its code may be data.
    return f"raised {name or class_name(type(error))}{f' {code}' if isinstance(code, str) and code in CODES else ''}"


def _dataset_for(data: Any, manner: Manner) -> Any:
    """Return the dataset as the function gets it."""
    return copy_of(data) if manner.copies else data


def _check_outputs(drawn: Any, count: int) -> Any:
    """Return the outputs of a `sample` call, or `Broken` if they are no sequence of `count` outputs."""
    if isinstance(drawn, (str, bytes, Mapping)) or not hasattr(drawn, "__len__"):
        return Broken(f"returned a {class_name(type(drawn))} instead of a sequence of outputs")
    if len(drawn) != count:
        return Broken("returned another number of outputs than asked for")
    if isinstance(drawn, np.ndarray):
        return drawn
    items = [keep_output(output) for output in drawn]
    # A table has as many rows as were asked for and gives out the names of its columns.
    return items if len(items) == count else Broken(f"returned a {type(drawn).__name__} instead of a sequence of outputs")


def _merge_sides(zeros: Any, ones: Any, labels: Labels) -> Outputs:
    """Put the outputs of both sides into the places of their labels, in order."""
    second = labels == 1
    arrays = [part for part in (zeros, ones) if isinstance(part, np.ndarray)]
    if len(arrays) == 2 and arrays[0].dtype == arrays[1].dtype and arrays[0].shape[1:] == arrays[1].shape[1:]:
        merged = np.empty((len(labels), *arrays[0].shape[1:]), dtype=arrays[0].dtype)
        # By indices, several times faster than by masks.
        merged[np.flatnonzero(second)], merged[np.flatnonzero(~second)] = ones, zeros
        return merged
    sides = iter(zeros), iter(ones)
    return [next(sides[label]) for label in labels.tolist()]
