"""Who makes the runs: this process, worker processes, or an executor of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from dpaudit.cli.console import say

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


def _processes(jobs: int) -> Executor:
    """A pool of fresh worker processes, which leave Ctrl-C to this one."""
    import multiprocessing
    import signal
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
    )
