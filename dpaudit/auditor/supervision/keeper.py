"""The keeper: a process between the auditor and a target's, which runs no code of the target and ends whatever it leaves."""

from __future__ import annotations

import json
import os
import select
import signal
from contextlib import suppress
from typing import Final, NoReturn

from dpaudit.auditor.supervision.child import Work, live
from dpaudit.auditor.supervision.limits import MOST_PROCESSES, Limits, size_in_words
from dpaudit.auditor.supervision.processes import adopt_orphans, descendants, end_all, resident

_PAUSE: Final = 0.1
"""Seconds between two looks at memory and processes; a single process is bounded by its own limit in between."""


def keep(work: Work, limits: Limits, messages: int, output: int, control: int, account: int) -> NoReturn:
    """Fork the process that does the work, watch it, end it and all that it started, and give an account of its end."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # the parent's choice could make children end without a trace
        adopt_orphans()
        process = os.fork()
        if process == 0:
            os.close(control)
            os.close(account)
            live(work, messages, output, limits.memory)
        os.close(messages)
        os.close(output)
        _write_line(account, {"process": process})
        end = _watch(process, limits, control)
        if not end_all(os.getpid(), process):
            end = "it left processes behind that cannot be ended"
        _write_line(account, {"end": end})
    finally:
        os._exit(0)


def _write_line(account: int, value: object) -> None:
    """Write one line of the account."""
    os.write(account, json.dumps(value).encode("ascii") + b"\n")


def _watch(process: int, limits: Limits, control: int) -> str:
    """Watch the process; say how it ended, "" where it was asked to end."""
    own, workers = resident(os.getpid()), os.cpu_count() or 1
    watched = [control]
    with suppress(OSError, AttributeError):
        watched.append(os.pidfd_open(process))
    while True:
        ready, _, _ = select.select(watched, (), (), _PAUSE)
        if (end := _end_of(process)) is not None:
            return end
        if control in ready:
            return ""
        family = descendants(os.getpid())
        # Pages that were there before the fork are not the target's: each process is charged for what it holds beyond them.
        if sum(max(0, resident(one) - own) for one in family) > limits.memory:
            return f"DPA415 it needed more memory than the limit of {size_in_words(limits.memory)}; see --memory-limit."
        if len(family) > MOST_PROCESSES + workers:
            return f"DPA415 it started more than {MOST_PROCESSES} processes."


def _end_of(process: int) -> str | None:
    """Say how the process has ended, None while it lives; let adopted orphans go that have ended."""
    with suppress(ChildProcessError):
        while True:
            found, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            if found == 0:
                break
            if found == process:
                return _describe_end(status)
    return None


def _describe_end(status: int) -> str:
    """Describe the end of a process."""
    if os.WIFSTOPPED(status):
        return f"DPA413 it stopped its process with {_signal(os.WSTOPSIG(status))}."
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        guess = " (out of memory, or by itself)" if number == signal.SIGKILL else ""
        return f"DPA413 its process was ended by {_signal(number)}{guess}."
    return f"DPA413 it ended its process with exit status {os.WEXITSTATUS(status)}."


def _signal(number: int) -> str:
    """Return a signal by number and name."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
