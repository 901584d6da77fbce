"""Work done apart: in a process of its own under a keeper, with its messages checked as data and its end always explained."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from mmap import mmap
from typing import Final

from dpaudit.auditor.runs import pulse
from dpaudit.auditor.supervision.child import Json, Work, describe_error
from dpaudit.auditor.supervision.keeper import keep
from dpaudit.auditor.supervision.limits import Limits
from dpaudit.auditor.supervision.turns import Steps, finish
from dpaudit.errors import CODES, TargetFailure

SHOWN: Final = 2**16
"""Bytes of a target's output that are passed on to stderr; the rest is counted and dropped."""

_LONGEST: Final = 2**28
"""Bytes of messages that are kept; results are a thousandth of it."""

_PIECE: Final = 2**18
_TOO_LONG: Final = "DPA414"
NO_RESULT: Final = "it wrote to the pipe of its results something that is none."
_LONG_STEP: Final = 1.0
_PATIENCE: Final = 10.0
"""Seconds that a keeper gets to end everything, before it is ended itself."""

_ends: Final = set[int]()
"""Descriptors by which this process hears and controls keepers; what it forks for one of them must not hold those of others."""


def can_supervise() -> bool:
    """True if targets can be given processes of their own here: the system forks, and no MPI was started, which forks break."""
    return hasattr(os, "fork") and "mpi4py.MPI" not in sys.modules


def run_apart(work: Work, limits: Limits, heard: Callable[[Json], None] | None = None) -> Json:
    """Do work in a process of its own, and return its result and nothing of what it did to that process."""
    return finish(steps_apart(work, limits, heard))


def steps_apart(work: Work, limits: Limits, heard: Callable[[Json], None] | None = None) -> Steps[Json]:
    """Do the same in steps, so that one thread can follow several processes."""
    hear = heard or (lambda _: None)
    if not can_supervise():
        return _here(work, hear)
    with _start_keeper(work, limits) as kept:
        watch = _Watch(limits, kept.cell)
        while not kept.has_ended():
            kept.take_all((yield kept.unread))
            for message in kept.messages_heard():
                watch.reset()
                hear(message)
            if reason := kept.flood() or watch.over():
                kept.stop(reason)
        kept.drain()
        for message in kept.messages_heard():
            hear(message)
        kept.report_output()
        return kept.result()


def _here(work: Work, hear: Callable[[Json], None]) -> Json:
    """Do the work in this process, with its errors as they would come from another one."""
    try:
        return work(hear)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        code, message = describe_error(error)
        raise TargetFailure(code, message) from error


@dataclass
class _Watch:
    """How long the work has taken, and how long it has given no sign of life."""

    limits: Limits
    cell: mmap
    total: float = 0.0
    silent: float = 0.0
    last: float = field(default_factory=time.monotonic)

    def reset(self) -> None:
        """Note a sign of life."""
        self.silent = 0.0

    def over(self) -> str:
        """Name the limit of time that is reached; "" where none is."""
        now = time.monotonic()
        # A long step means that this process was stopped, or the machine asleep: the target could not be heard meanwhile.
        step, self.last = min(now - self.last, _LONG_STEP), now
        self.total += step
        self.silent = 0.0 if self.cell[0] else self.silent + step
        self.cell[0] = 0
        seconds, silence = self.limits.seconds, self.limits.silence
        if seconds is not None:
            late = f"{_TOO_LONG} it took longer than the limit of {seconds:g} seconds; see --time-limit."
            return late if self.total > seconds else ""
        if self.silent > silence:
            return f"{_TOO_LONG} no call of its function came back within {silence:g} seconds; see --time-limit."
        return ""


@dataclass
class _Keeper:
    """A keeper at work, seen from the auditor: descriptors to read, and what was read."""

    keeper: int
    messages: int
    output: int
    account: int
    control: int
    cell: mmap
    reason: str = ""
    flooded: bool = False
    done: bool = False
    value: Json = None
    printed: int = 0
    read: int = 0
    gone: bool = False
    lines: bytearray = field(default_factory=bytearray)
    accounts: bytearray = field(default_factory=bytearray)
    unread: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.unread |= {self.messages, self.output, self.account}
        _ends.update((*self.unread, self.control))

    def take_all(self, ready: Collection[int]) -> None:
        """Read what the pipes hold; one at its end is not waited for any more."""
        for descriptor in ready:
            data = os.read(descriptor, _PIECE)
            if not data:
                self.unread.discard(descriptor)
            self.take(descriptor, data)

    def take(self, descriptor: int, data: bytes) -> None:
        """Keep what was read, as far as it is wanted."""
        if descriptor == self.account:
            self.accounts += data
            self.gone = self.gone or not data
        elif descriptor == self.messages:
            self.read += len(data)
            self.flooded = self.read > _LONGEST
            if not self.flooded:
                self.lines += data
        else:
            _pass_on(data[: max(0, SHOWN - self.printed)])
            self.printed += len(data)

    def messages_heard(self) -> Iterator[Json]:
        """Yield messages that are complete; the result is kept, and what is no message ends the work."""
        while (end := self.lines.find(b"\n")) >= 0:
            line = bytes(self.lines[:end])
            del self.lines[: end + 1]
            try:
                ((kind, value),) = json.loads(line).items()
            except (ValueError, AttributeError, RecursionError):
                self.stop(f"DPA413 {NO_RESULT}")
                return
            if self.done or self.reason:
                return
            if kind == "heard":
                yield value
            elif kind == "done":
                self.done, self.value = True, value
            else:
                self.reason = _failure(value)

    def has_ended(self) -> bool:
        """True if the keeper has given its account, or has ended without."""
        if self.gone or self.accounts.count(b"\n") >= 2:
            return True
        with suppress(ChildProcessError):
            self.gone = os.waitpid(self.keeper, os.WNOHANG)[0] != 0
        return self.gone and not self.accounts.count(b"\n") >= 2

    def flood(self) -> str:
        """Say that too many messages end the work; "" where there are not."""
        return "DPA413 it sent more than any result holds." if self.flooded else ""

    def stop(self, reason: str) -> None:
        """Have everything ended, for this reason."""
        self.reason = self.reason or reason
        with suppress(OSError):
            os.write(self.control, b"x")

    def drain(self) -> None:
        """Read what is left in the pipes."""
        for descriptor in (self.messages, self.output, self.account):
            os.set_blocking(descriptor, False)
            with suppress(OSError):
                while data := os.read(descriptor, _PIECE):
                    self.take(descriptor, data)

    def report_output(self) -> None:
        """Say that output was dropped."""
        if self.printed > SHOWN:
            _pass_on(f"\n[{self.printed - SHOWN:,} more bytes of output dropped]\n".encode("ascii"))

    def result(self) -> Json:
        """Return the result, or raise the failure where there is none."""
        if self.done:
            return self.value
        code, _, message = (self.reason or self._end()).partition(" ")
        raise TargetFailure(code, message)

    def _end(self) -> str:
        """Say how the process ended, from the keeper's account."""
        for line in self.accounts.splitlines():
            with suppress(ValueError, AttributeError):
                if "end" in (account := json.loads(line)):
                    return str(account["end"]) or "DPA413 it ended its process before there was a result."
        return "DPA413 it ended the process that supervised it."

    def close(self) -> None:
        """End the keeper and with it everything it keeps, and let go of all descriptors."""
        self.stop("")
        _ends.difference_update((self.messages, self.output, self.account, self.control))
        os.close(self.control)
        deadline = time.monotonic() + _PATIENCE
        with suppress(ChildProcessError):
            while os.waitpid(self.keeper, os.WNOHANG)[0] == 0:
                if time.monotonic() > deadline:
                    os.kill(self.keeper, signal.SIGKILL)
                time.sleep(0.002)
        for line in self.accounts.splitlines()[:1]:
            # A keeper that was killed could not end the target's process, whose number is the first line of its account.
            if self.accounts.count(b"\n") == 1:
                with suppress(ValueError, KeyError, ProcessLookupError, PermissionError):
                    os.killpg(json.loads(line)["process"], signal.SIGKILL)
        for descriptor in (self.messages, self.output, self.account):
            os.close(descriptor)


@contextmanager
def _start_keeper(work: Work, limits: Limits) -> Iterator[_Keeper]:
    """Fork a keeper; it and all that it keeps has ended after the block, however that ends."""
    cell = pulse.share()
    (messages, says), (output, prints), (account, tells), (hears, control) = (os.pipe() for _ in range(4))
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # what waits in a buffer would be written by both processes
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            # Of other threads only their locks matter, and the child takes none of them: its streams are its own.
            warnings.simplefilter("ignore", DeprecationWarning)
            keeper = os.fork()
        if keeper == 0:
            for descriptor in (messages, output, account, control, *_ends):
                os.close(descriptor)
            _ends.clear()
            keep(work, limits, says, prints, hears, tells)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    for descriptor in (says, prints, tells, hears):
        os.close(descriptor)
    kept = _Keeper(keeper, messages, output, account, control, cell)
    try:
        yield kept
    finally:
        kept.close()


def _failure(value: Json) -> str:
    """Return code and text of an error that the process sent, as far as they are what they should be."""
    if isinstance(value, list) and len(value) == 2 and value[0] in CODES and isinstance(value[1], str):
        return f"{value[0]} {value[1][:2000]}"
    return f"DPA413 {NO_RESULT}"


def _pass_on(data: bytes) -> None:
    """Print what a target prints, if this program has a stderr."""
    if data:
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(data.decode("utf-8", "backslashreplace"))
            sys.stderr.flush()
