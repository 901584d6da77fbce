"""The supervised process: a session of its own, bounded memory, output to a pipe, and messages to its supervisor."""

from __future__ import annotations

import builtins
import faulthandler
import io
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn, TextIO, TypeAlias

from dpaudit.auditor.supervision.processes import LINUX, die_with_parent, withheld
from dpaudit.errors import DpauditError, origin_of
from dpaudit.plain.streams import own_process

Json: TypeAlias = Any
Send: TypeAlias = Callable[[Json], None]
Work: TypeAlias = Callable[[Send], Json]

_OURS: Final = ("dpaudit", "numpy", "scipy", "flint")
"""Packages whose modules decide verdicts: no verdict is accepted after one of them was replaced."""

_FREE: Final = {"_", "__build_class__", "__import__", "breakpoint", "copyright", "credits", "exit", "help", "input"} | {
    "license", "open", "print", "quit",
}  # fmt: skip
"""Builtins that decide no verdict, and that harmless libraries replace."""


def live(work: Work, messages: int, output: int, memory: int) -> NoReturn:
    """Do the work in this process, which was just forked, send its result or failure, and end."""
    owner, before = os.getpid(), _list_replaceable()

    def send(kind: str, value: Json) -> None:
        if os.getpid() != owner:
            os._exit(1)  # a process that the target forked may not send results
        line = json.dumps({kind: value}).encode("ascii") + b"\n"
        while line:
            line = line[os.write(messages, line) :]

    try:
        _isolate(output, memory)
        _show_warnings_once()
        own_process()
        done = work(lambda message: send("heard", message))
        if changed := _find_replaced(before):
            send("failed", ["DPA413", f"it replaced {changed}, which the auditor itself relies on."])
        else:
            send("done", done)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it ends here
        with suppress(BaseException):
            send("failed", describe_error(error))
    finally:
        os._exit(0)


def _isolate(output: int, memory: int) -> None:
    """Leave the terminal's session, drop the parent's signal handlers, print to the pipe, and bound memory."""
    os.setsid()
    die_with_parent()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(name, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, number)
    for number in withheld:
        os.dup2(nothing, number)  # what a target writes to whatever is open must not reach the results
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout, sys.stderr = _open_unbuffered(1), _open_unbuffered(2)
    if faulthandler.is_enabled():
        faulthandler.enable(2)  # the place of a crash goes to the output of the target, no longer to the parent's stream
    for stream in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{stream}__", getattr(sys, stream))
    _bound_memory(memory)


def _show_warnings_once() -> None:
    """Print a warning of one line once: libraries that change filters in every call make Python forget that it printed it."""
    show, shown = warnings.showwarning, set[tuple[type[Warning], str, int]]()

    def once(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if (category, filename, lineno) not in shown:
            shown.add((category, filename, lineno))
            show(message, category, filename, lineno, file, line)

    warnings.showwarning = once


def _open_unbuffered(number: int) -> io.TextIOWrapper:
    """Open a stream that holds nothing back."""
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True, line_buffering=True)


def _bound_memory(memory: int) -> None:
    """Let allocations beyond the limit fail, and let the kernel end this process first if the machine has no memory left."""
    if not LINUX:
        return
    import resource

    # Private writable memory is bounded, not addresses: libraries reserve far more of those than they use.
    with suppress(OSError, ValueError, StopIteration):
        status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        held = 1024 * int(next(line for line in status if line.startswith("VmData")).split()[1])
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = held + memory
        resource.setrlimit(resource.RLIMIT_DATA, (allowed if hard < 0 else min(hard, allowed), hard))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def describe_error(error: BaseException) -> list[str]:
    """Return code and text for an error; never its own text, unless it is an error of dpaudit."""
    if isinstance(error, DpauditError):
        return [error.code, error.message]
    if isinstance(error, MemoryError):
        return ["DPA415", "it ended for want of memory; see --memory-limit."]
    return ["DPA413", f"it ended with {origin_of(error)}."]


def _list_replaceable() -> dict[str, object]:
    """Return what verdicts rely on and a target can replace: builtins, and modules."""
    relied: dict[str, object] = {f"the builtin {name}": value for name, value in vars(builtins).items() if name not in _FREE}
    relied |= {f"the module {name}": module for name, module in sys.modules.items() if name.partition(".")[0] in _OURS}
    return relied


def _find_replaced(before: dict[str, object]) -> str:
    """Name the first thing that was replaced or removed; "" where there is none."""
    now = _list_replaceable()
    return next((name for name, value in before.items() if now.get(name) is not value), "")
