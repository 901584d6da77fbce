"""Who makes the runs: this process, worker processes, or an executor of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from dpaudit.cli.console import say
from dpaudit.errors import InvalidArgument, TargetFailure

if TYPE_CHECKING:
    from dpaudit.auditor.execution import RenewableExecutor


@contextmanager
def workers(jobs: int | None, factory: str | None) -> Iterator[RenewableExecutor | None]:
    """The executor that --jobs or --executor asks for, shut down at the end; None for this process alone."""
    if jobs is not None and factory is not None:
        raise click.UsageError("--jobs and --executor both choose the workers; give one of them.")
    if factory is None and jobs in (None, 1):
        yield None
        return
    from dpaudit.auditor.execution import RenewableExecutor, executor_factory

    executor = RenewableExecutor(partial(_processes, jobs or 1) if factory is None else executor_factory(factory))
    try:
        yield executor
    finally:
        executor.shutdown()
        if executor.renewals:
            say(f"workers died and were replaced, {executor.renewals} times; the chunks that were lost were run again.")


def maker(jobs: int | None, factory: str | None) -> Callable[[], Executor] | None:
    """The function by which each supervised target makes the workers that --jobs or --executor asks for; None for no workers."""
    if jobs is not None and factory is not None:
        raise click.UsageError("--jobs and --executor both choose the workers; give one of them.")
    if factory is None and jobs in (None, 1):
        return None
    from dpaudit.auditor.runs.renewal import Workers
    from dpaudit.auditor.supervision.apart import can_supervise

    if factory is None:
        return Workers(jobs or 1) if can_supervise() else partial(_processes, jobs or 1)
    make = partial(_named, factory)
    _try(make)
    return make


def _named(factory: str) -> Executor:
    """What the named factory gives; run where the target is, since it is code of the user's."""
    from dpaudit.auditor.runs.renewal import executor_factory, make_executor

    return make_executor(executor_factory(factory))


def _try(make: Callable[[], Executor]) -> None:
    """Make an executor once in a process of its own, to refuse one that cannot be made before any target is run."""
    from dpaudit.auditor.runs.renewal import RenewableExecutor
    from dpaudit.auditor.supervision.apart import run_apart
    from dpaudit.auditor.supervision.limits import Limits

    try:
        run_apart(lambda _: RenewableExecutor(make).shutdown(), Limits())
    except TargetFailure as error:
        if error.code == "DPA105":
            raise InvalidArgument(error.code, error.message) from error
        raise


def _processes(jobs: int) -> Executor:
    """A pool of fresh worker processes, which leave Ctrl-C to this one."""
    import multiprocessing
    import signal
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
    )
