"""Runs: chunks on a public schedule, seeds from one tree, and tasks that are pure functions of their place in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.events.predicates import hits_of
from dpaudit.auditor.events.ranking import Event
from dpaudit.auditor.reading.features import FeatureMap
from dpaudit.auditor.reading.outputs import Failure, Matrix, Outputs, groups, keep_output
from dpaudit.auditor.reading.unread import NOTHING, Account, account_of
from dpaudit.auditor.runs import pulse
from dpaudit.auditor.runs.workload import Subject, Workload, subject_of
from dpaudit.errors import CODES, DpauditError, TargetFailure, class_name
from dpaudit.results import Counts
from dpaudit.targets import Target

SMALLEST_CHUNK: Final = 32
LARGEST_CHUNK: Final = 2**14

CHECKS: Final = 0
PILOT: Final = 1
BETTING: Final = 2
BOUND: Final = 3
PRICE: Final = 4
SHRINKING: Final = 5
SECOND_LOOK: Final = 6
"""Stages of an audit, as they stand in the seed tree."""

Labels: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True)
class Chunk:
    """Which runs: target, pair, stage and index place them in the seed tree, `size` says how many there are."""

    target: int
    pair: int
    stage: int
    index: int
    size: int

    def generator(self, root: int, part: int) -> np.random.Generator:
        """A generator of its own for part 0 (labels) or 1 (the target) of this chunk."""
        path = (self.target, self.pair, self.stage, self.index, part)
        return np.random.default_rng(np.random.SeedSequence(root, spawn_key=path))


@dataclass(frozen=True)
class Manner:
    """How the runs of a target are made, as its first runs showed.

    `single`: a `sample` function is called for one output at a time, since it failed on some call and a failing call for many
    would not tell which run failed; `copies`: each call gets a copy of the dataset, since the function changes it.
    """

    features: FeatureMap
    single: bool = False
    copies: bool = False


@dataclass(frozen=True)
class Task:
    """One chunk to run; with events only their hits come back."""

    work: Workload
    root: int
    chunk: Chunk
    manner: Manner
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class ChunkRuns:
    """Features and labels of the runs of one chunk, in order, and what of them was read."""

    features: Matrix
    labels: Labels
    account: Account = NOTHING


@dataclass(frozen=True)
class ChunkHits:
    """Hits of each event among the runs of one chunk, and what of them was read."""

    counts: tuple[Counts, ...]
    account: Account = NOTHING


@dataclass(frozen=True)
class Broken:
    """A call for many outputs failed, which hides what single runs would have given; `reason` says how."""

    reason: str


Outcome: TypeAlias = ChunkRuns | ChunkHits | Broken


def chunk_sizes(total: int | None, *, first: int = SMALLEST_CHUNK, largest: int = LARGEST_CHUNK) -> Iterator[int]:
    """Sizes of successive chunks: the first size twice, then doubling up to the largest; cut off at `total` if there is one."""
    done, size = 0, first
    while total is None or done < total:
        step = size if total is None else min(size, total - done)
        yield step
        done += step
        if done > first:
            size = min(2 * size, largest)


def perform(task: Task) -> Outcome:
    """Run one chunk: a pure function of the task, in whatever process."""
    subject = subject_of(task.work)
    chunk = task.chunk
    labels = chunk.generator(task.root, 0).integers(0, 2, size=chunk.size, dtype=np.uint8)
    outputs = draw(subject, chunk.pair, labels, chunk.generator(task.root, 1), task.manner)
    if isinstance(outputs, Broken):
        return outputs
    features, score = task.manner.features, subject.target.score
    grouped = list(groups(outputs))
    account = account_of(features, grouped, len(outputs))
    if not task.events:
        return ChunkRuns(features.matrix_of(grouped, outputs, score), labels, account)
    columns = sorted({column for event in task.events for column in event.columns})
    matrix = features.matrix_of(grouped, outputs, score, tuple(columns))
    return ChunkHits(tuple(_counted(hits, labels) for hits in hits_of(task.events, matrix)), account)


def _counted(hits: NDArray[np.bool_], labels: Labels) -> Counts:
    """Hits by label."""
    ones = int(np.count_nonzero(hits & labels.view(np.bool_)))
    return Counts(ones=ones, zeros=int(np.count_nonzero(hits)) - ones, runs=len(labels))


def draw(subject: Subject, pair: int, labels: Labels, rng: np.random.Generator, manner: Manner) -> Outputs | Broken:
    """One output for each label: from the first dataset of the pair for 0, from the second for 1."""
    target, datasets = subject.target, (subject.pairs[pair].first, subject.pairs[pair].second)
    if target.run is not None:
        run = target.run
        if not manner.copies:
            return _run_each(run, datasets, labels, rng)
        return _run_each(lambda data, generator: run(copy_of(data), generator), datasets, labels, rng)
    if manner.single or len(labels) <= SMALLEST_CHUNK:
        # Short chunks ask for one output a call, so that the attack also sees what single releases look like.
        return [sample_one(target, _given(datasets[label], manner), rng) for label in labels.tolist()]
    parts = []
    for label in (0, 1):
        count = int(np.count_nonzero(labels == label))
        parts.append(sample_many(target, _given(datasets[label], manner), count, rng) if count else [])
        if isinstance(parts[label], Broken):
            return parts[label]
    return _merged(parts[0], parts[1], labels)


def sample_one(target: Target, data: Any, rng: np.random.Generator) -> Any:
    """One output of a target; an exception or a wrong number of outputs becomes a `Failure`."""
    mark = pulse.entered()
    try:
        if target.run is not None:
            return keep_output(target.run(data, rng))
        drawn = _checked(target.function(data, 1, rng), 1)
        return Failure(drawn.reason, drawn.reason) if isinstance(drawn, Broken) else keep_output(drawn[0])
    except KeyboardInterrupt:
        raise
    except MemoryError as error:
        raise _out_of_memory() from error
    except BaseException as error:  # noqa: BLE001 - whatever else the target raises is an output
        return _failure(error)
    finally:
        pulse.returned(mark)


def sample_many(target: Target, data: Any, count: int, rng: np.random.Generator) -> Any:
    """`count` outputs of one call of a `sample` function, or `Broken`."""
    mark = pulse.entered()
    try:
        return _checked(target.function(data, count, rng), count)
    except KeyboardInterrupt:
        raise
    except MemoryError as error:
        raise _out_of_memory() from error
    except BaseException as error:  # noqa: BLE001 - reported as what broke the call
        return Broken(_raised(error))
    finally:
        pulse.returned(mark)


def _run_each(run: Callable[..., Any], datasets: tuple[Any, Any], labels: Labels, rng: np.random.Generator) -> list[Any]:
    """Outputs of single runs, one generator for all: runs of one chunk read disjoint parts of one random stream."""
    outputs, mark, returned = [], pulse.entered(), pulse.returned
    for label in labels.tolist():
        try:
            outputs.append(keep_output(run(datasets[label], rng)))
        except KeyboardInterrupt:
            raise
        except MemoryError as error:
            raise _out_of_memory() from error
        except BaseException as error:  # noqa: BLE001 - whatever else the target raises is an output
            outputs.append(_failure(error))
        returned(mark)
    return outputs


def _out_of_memory() -> TargetFailure:
    """The failure of a target that wants more memory than there is: that depends on the machine, so no claim is judged by it."""
    return TargetFailure("DPA415", "a run of it ended for want of memory; see --memory-limit.")


def _failure(error: BaseException) -> Failure:
    """An error as an output: told apart by the whole name of its class, and shown by what source code names."""
    return Failure(_raised(error, type(error).__name__), _raised(error))


def _raised(error: BaseException, name: str = "") -> str:
    """The type of an error, and the code of one of ours; never its text, which may hold data."""
    code = getattr(error, "code", None) if isinstance(error, DpauditError) else None
    # Codes that are ours are fixed words; whatever else an error carries as its code may be data.
    return f"raised {name or class_name(type(error))}{f' {code}' if isinstance(code, str) and code in CODES else ''}"


def _given(data: Any, manner: Manner) -> Any:
    """The dataset as the function gets it."""
    return copy_of(data) if manner.copies else data


def _checked(drawn: Any, count: int) -> Any:
    """The outputs of a `sample` call, or `Broken` if they are not a sequence of `count` outputs."""
    if isinstance(drawn, (str, bytes, Mapping)) or not hasattr(drawn, "__len__"):
        return Broken(f"returned a {class_name(type(drawn))} instead of a sequence of outputs")
    if len(drawn) != count:
        return Broken("returned another number of outputs than asked for")
    if isinstance(drawn, np.ndarray):
        return drawn
    items = [keep_output(output) for output in drawn]
    # A table has as many rows as were asked for and gives out the names of its columns.
    return items if len(items) == count else Broken(f"returned a {type(drawn).__name__} instead of a sequence of outputs")


def _merged(zeros: Any, ones: Any, labels: Labels) -> Outputs:
    """Outputs of both sides put into the places of their labels, in order."""
    second = labels == 1
    arrays = [part for part in (zeros, ones) if isinstance(part, np.ndarray)]
    if len(arrays) == 2 and arrays[0].dtype == arrays[1].dtype and arrays[0].shape[1:] == arrays[1].shape[1:]:
        merged = np.empty((len(labels), *arrays[0].shape[1:]), dtype=arrays[0].dtype)
        # Places as numbers: several times faster than as a mask.
        merged[np.flatnonzero(second)], merged[np.flatnonzero(~second)] = ones, zeros
        return merged
    sides = iter(zeros), iter(ones)
    return [next(sides[label]) for label in labels.tolist()]
