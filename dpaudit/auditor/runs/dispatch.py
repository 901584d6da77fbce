"""Dispatch of chunks to any executor, several in one call where they are short, with outcomes in the order of the chunks."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from itertools import chain
from typing import Final, TypeAlias

from dpaudit.auditor.runs.chunks import Outcome, Task, perform
from dpaudit.errors import DpauditError, TargetFailure, class_name

_MOST_DEATHS: Final = 3
_SECONDS_A_CALL: Final = 0.1
"""Least seconds that a call is to take: an executor spends about a millisecond on each."""

_CELLS_A_CALL: Final = 2**20
"""Most numbers that one call brings back, unless a single chunk has more."""

_Batch: TypeAlias = tuple[Task, ...]
_Answer: TypeAlias = tuple[list[Outcome], float]


def in_order(executor: Executor | None, tasks: Iterable[Task]) -> Generator[Outcome]:
    """Yield outcomes in the order of the tasks, in whatever order workers finish, and whether or not they survive.

    Source: PEP 3148.
    """
    if executor is None:
        yield from map(perform, tasks)
        return
    window = max(8, 2 * (os.cpu_count() or 1))
    pending: deque[tuple[_Batch, Future[_Answer]]] = deque()
    supply, alone, deaths, pace = iter(tasks), 0, 0, float("inf")
    try:
        while True:
            # What was lost with dead workers is repeated chunk by chunk, to find a chunk that ends its worker.
            while len(pending) < (1 if alone else window) and (batch := _batch(supply, float("inf") if alone else pace)):
                pending.append((batch, _submit(executor, batch)))
            if not pending:
                return
            batch, future = pending.popleft()
            try:
                outcomes, seconds = future.result()
            except BrokenExecutor as error:
                deaths += 1
                _renew(executor, batch, deaths, error)
                lost = [*batch, *(task for other, _ in pending for task in other)]
                supply, alone = chain(lost, supply), len(lost)
                pending.clear()
                continue
            except Exception as error:
                raise _executor_error(error.message if isinstance(error, DpauditError) else class_name(type(error))) from error
            alone, deaths, pace = max(alone - len(batch), 0), 0, seconds / sum(task.chunk.size for task in batch)
            yield from outcomes
    finally:
        for _, future in pending:
            future.cancel()


def perform_all(batch: _Batch) -> _Answer:
    """Perform several tasks, one after the other; return their outcomes and the seconds that they took."""
    began = time.perf_counter()
    return [perform(task) for task in batch], time.perf_counter() - began


def _batch(supply: Iterator[Task], pace: float) -> _Batch:
    """Take the next tasks that are worth a call if a run takes `pace` seconds; none where nothing is left."""
    batch, seconds, cells = list[Task](), 0.0, 0
    while not batch or (seconds < _SECONDS_A_CALL and cells < _CELLS_A_CALL):
        if (task := next(supply, None)) is None:
            break
        batch.append(task)
        seconds += pace * task.chunk.size
        cells += task.chunk.size * len(task.manner.features.names) if not task.events else 0
    return tuple(batch)


def _submit(executor: Executor, batch: _Batch) -> Future[_Answer]:
    """Submit a call; where the executor is broken already, return a future that fails when its turn comes."""
    try:
        return executor.submit(perform_all, batch)
    except BrokenExecutor as error:
        broken: Future[_Answer] = Future()
        broken.set_exception(error)
        return broken
    except Exception as error:
        raise _executor_error(class_name(type(error))) from error


def _renew(executor: Executor, batch: _Batch, deaths: int, error: BrokenExecutor) -> None:
    """Renew an executor whose workers died, unless it cannot be renewed, or they died of the first chunk once too often."""
    renew: Callable[[], None] | None = getattr(executor, "renew", None)
    if renew is None:
        raise _executor_error(
            f"its workers died ({class_name(type(error))}) and it cannot be made again. Give a RenewableExecutor"
        ) from error
    if deaths == _MOST_DEATHS:
        size = batch[0].chunk.size
        raise _executor_error(
            f"a chunk of {size} runs ended its worker process {_MOST_DEATHS} times, at last on its own"
        ) from error
    renew()


def _executor_error(reason: str) -> TargetFailure:
    """Make the error of an executor that could not do its work."""
    return TargetFailure(
        "DPA408",
        f"the executor could not run a chunk: {reason}. Workers must be able to import the target and dpaudit and survive it.",
    )
