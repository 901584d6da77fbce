"""Limits of searches in processor time, of this process and of the solver's, so that a busy machine gives the same answers.

The limit holds for everything that runs inside `limited`, however deep: each search spends from it in its innermost loop, and a
solver that is thinking is interrupted. A question inside another one gets the smaller of the two limits.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

_DEADLINE: Final[ContextVar[float]] = ContextVar("deadline", default=math.inf)
_PERIOD: Final = 0.02
"""Seconds between two looks of the watchdog."""


class OutOfFuel(Exception):
    """The processor time of a search is spent."""


@dataclass
class _Checked:
    """When to read the clock again."""

    again: float = 0.0


_CHECKED: Final = _Checked()
_BETWEEN: Final = 0.01
"""Seconds on the wall between two looks at the processor's clock."""


@dataclass
class _Elsewhere:
    """Processor time that other processes spent for this one."""

    seconds: float = 0.0


_ELSEWHERE: Final = _Elsewhere()


def clock() -> float:
    """Processor time so far, in seconds, with that of the solver's own process."""
    return time.process_time() + _ELSEWHERE.seconds


def charge_elsewhere(seconds: float) -> None:
    """Charge processor time of another process."""
    _ELSEWHERE.seconds += max(0.0, seconds)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit what runs inside to so many seconds of processor time, and to what is left of limits around it."""
    mark = _DEADLINE.set(min(_DEADLINE.get(), clock() + max(0.0, seconds)))
    _CHECKED.again = 0.0
    try:
        yield
    finally:
        _DEADLINE.reset(mark)
        _CHECKED.again = 0.0


def spend() -> None:
    """Raise OutOfFuel if the limit is reached; the processor's clock, which is slow to read, is read now and then."""
    now = time.monotonic()
    if now < _CHECKED.again:
        return
    if seconds_left() <= 0:
        raise OutOfFuel
    _CHECKED.again = now + _BETWEEN


def seconds_left() -> float:
    """Seconds of processor time that are left; infinite where there is no limit."""
    return _DEADLINE.get() - clock()


@contextmanager
def interruptible(context: Any) -> Iterator[None]:
    """Let a z3 context be interrupted when the limit is reached, and go on only if something is left afterwards."""
    spend()
    deadline = _DEADLINE.get()
    if deadline == math.inf:
        yield
        return
    dog = _watchdog()
    with dog.changed:
        place = dog.number = dog.number + 1
        dog.watched[place] = (deadline, context)
        dog.changed.notify()
    try:
        yield
    finally:
        with dog.changed:
            del dog.watched[place]
    spend()


@dataclass
class _Watchdog:
    """A thread that looks at the clock while z3 thinks: nothing else runs then that could."""

    process: int
    watched: dict[int, tuple[float, Any]] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)
    number: int = 0

    def run(self) -> None:
        """Interrupt contexts whose time is up, again and again, since z3 may be between two places where it listens."""
        while True:
            with self.changed:
                while not self.watched:
                    self.changed.wait()
                now = clock()
                for deadline, context in self.watched.values():
                    if now > deadline:
                        context.interrupt()
            time.sleep(_PERIOD)


_DOGS: Final[list[_Watchdog]] = []
_ONE: Final = threading.Lock()


def _watchdog() -> _Watchdog:
    """The watchdog of this process; a forked process has no thread of its parent's."""
    with _ONE:
        if not _DOGS or _DOGS[-1].process != os.getpid():
            _DOGS.append(_Watchdog(os.getpid()))
            threading.Thread(target=_DOGS[-1].run, name="fuel of the verifier", daemon=True).start()
        return _DOGS[-1]
