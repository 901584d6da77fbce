"""Who makes the runs: this process, worker processes, or an executor of the user's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import click

from dpaudit.errors import InvalidArgument, TargetFailure


@contextmanager
def workers(jobs: int | None, factory: str | None) -> Iterator[Executor | None]:
    """The executor that --jobs or --executor asks for, shut down at the end; None for this process alone."""
    if jobs is not None and factory is not None:
        raise click.UsageError("--jobs and --executor both choose the workers; give one of them.")
    executor = _named(factory) if factory is not None else _processes(jobs or 1)
    try:
        yield executor
    finally:
        if executor is not None and hasattr(executor, "shutdown"):
            executor.shutdown(wait=True, cancel_futures=True)


def _processes(jobs: int) -> Executor | None:
    """A pool of fresh worker processes, which leave Ctrl-C to this one."""
    if jobs == 1:
        return None
    import multiprocessing
    import signal
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
    )


def _named(text: str) -> Executor:
    """The executor that MODULE:FACTORY makes."""
    place, _, attribute = text.partition(":")
    if not place or not attribute:
        raise InvalidArgument("DPA105", f"--executor must be MODULE:FACTORY, got {text!r}.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        factory = getattr(import_module(place), attribute)
    except Exception as error:
        raise InvalidArgument("DPA105", f"--executor {text} cannot be imported ({type(error).__name__}).") from error
    try:
        executor = factory()
    except Exception as error:
        raise TargetFailure("DPA408", f"{text} raised {type(error).__name__} instead of giving an executor.") from error
    if not callable(getattr(executor, "submit", None)):
        raise InvalidArgument("DPA105", f"{text} must give an executor with submit(), gave a {type(executor).__name__}.")
    return executor  # type: ignore[no-any-return]
