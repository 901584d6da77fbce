"""Executors made by a factory, so that another one can take the place of one whose workers die, and forked workers."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure, origin_of
from dpaudit.exact import instance_of


class RenewableExecutor(Executor):
    """An executor made by a factory, and made again when its workers died; the audit then repeats the chunks that were lost.

    Args:
      factory: function of no arguments that gives a `concurrent.futures` executor; called once now, and once for each renewal.
    Raises:
      TargetFailure: the factory raises, now or at a renewal (DPA408).
      InvalidArgument: it gives something without submit() (DPA105).
    Source: docs/executors.md, "When a worker dies".
    Example:
      >>> from concurrent.futures import ThreadPoolExecutor
      >>> executor = RenewableExecutor(ThreadPoolExecutor)
      >>> executor.submit(abs, -3).result(), executor.renewals
      (3, 0)
      >>> executor.shutdown()
    """

    def __init__(self, factory: Callable[[], Executor]) -> None:
        self._factory = factory
        self.current = make_executor(factory)
        self.renewals = 0

    @property
    def factory(self) -> Callable[[], Executor]:
        """Function that makes the executor."""
        return self._factory

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call to the current executor."""
        return self.current.submit(fn, *args, **kwargs)

    def renew(self) -> None:
        """Replace an executor that lost its workers by a new one."""
        _close(self.current, wait=False)
        self.current = make_executor(self._factory)
        self.renewals += 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - PEP 3148
        """Shut the current executor down."""
        _close(self.current, wait=wait, cancel_futures=cancel_futures)


class ForkedWorkers(ProcessPoolExecutor):
    """Worker processes forked at the first call: they hold the target of this process already, also what cannot be pickled."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("fork")
        super().__init__(workers, mp_context=context, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))


@dataclass(frozen=True)
class Workers:
    """So many worker processes of this machine, which the targets of a supervised audit share; called, it makes them all."""

    count: int

    def __call__(self) -> ForkedWorkers:
        """Make the workers of one target."""
        return ForkedWorkers(self.count)


def executor_factory(text: str) -> Callable[[], Executor]:
    """Find the function that MODULE:FACTORY names; modules of the current folder are found too.

    Args:
      text: name of a module, a colon, and the name of a function or class in it that gives an executor when called.
    Returns:
      That function; it has not been called.
    Raises:
      InvalidArgument: not of this form, or it cannot be imported (DPA105).
    Source: docs/executors.md, "On the command line".
    Example:
      >>> executor_factory("concurrent.futures:ThreadPoolExecutor").__name__
      'ThreadPoolExecutor'
    """
    place, _, attribute = instance_of(text, str, "the name of an executor").partition(":")
    if not place or not attribute:
        raise InvalidArgument(
            "DPA105", f"an executor is named MODULE:FACTORY, got {text!r}. Write for example concurrent.futures:ThreadPoolExecutor."
        )
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        factory = getattr(import_module(place), attribute)
    except Exception as error:
        raise InvalidArgument(
            "DPA105", f"the executor {text} cannot be imported ({type(error).__name__}). Check module and name."
        ) from error
    if not callable(factory):
        raise InvalidArgument("DPA105", f"{text} must be a function that gives an executor, got a {type(factory).__name__}.")
    return factory  # type: ignore[no-any-return]


def make_executor(factory: Callable[[], Executor]) -> Executor:
    """Call a factory; refuse what is no executor (DPA105), and name the factory where it raises (DPA408)."""
    name = getattr(factory, "__name__", type(factory).__name__)
    try:
        executor = factory()
    except DpauditError:
        raise
    except Exception as error:
        raise TargetFailure("DPA408", f"{name} raised {origin_of(error)} instead of giving an executor.") from error
    if not callable(getattr(executor, "submit", None)):
        raise InvalidArgument("DPA105", f"{name} must give an executor with submit(), gave a {type(executor).__name__}.")
    return executor


def _close(executor: Executor, *, wait: bool, cancel_futures: bool = False) -> None:
    """Shut an executor down; `cancel_futures` is only passed on where it is set, since not every executor takes it."""
    if callable(getattr(executor, "shutdown", None)):
        executor.shutdown(wait=wait, **({"cancel_futures": True} if cancel_futures else {}))
