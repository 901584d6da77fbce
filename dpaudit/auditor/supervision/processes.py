"""Processes of the operating system: their descendants, the memory they hold, and the end of them all."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_SUBREAPER, _PARENT_DEATH = 36, 1
"""Numbers of prctl(2), which Python does not wrap."""

LINUX: Final = sys.platform == "linux"

withheld: Final = set[int]()
"""Descriptors of this process that lead to its results; a supervised process gets the null device in their place."""


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parents end, so that none escapes by a double fork; Linux only."""
    _prctl(_SUBREAPER, 1)


def die_with_parent() -> None:
    """Let this process be killed when its parent ends; Linux only."""
    _prctl(_PARENT_DEATH, signal.SIGKILL)


def descendants(root: int) -> list[int]:
    """Return the children of a process, their children and so on; [] where the operating system does not say."""
    if not LINUX:
        return []
    found, waiting = list[int](), [root]
    while waiting:
        born = _children(waiting.pop())
        found += born
        waiting += born
    return found


def resident(process: int) -> int:
    """Return the bytes of memory that a process holds; 0 where the operating system does not say, or once it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def end_all(root: int, group: int) -> bool:
    """Kill a process group and every descendant of this process, also those that are born meanwhile."""
    for attempt in range(200):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        for process in descendants(root):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not descendants(root):
            return True
        time.sleep(0.001 * min(attempt, 20))
    return False


def _children(process: int) -> list[int]:
    """Return the children of a process."""
    try:
        threads = [thread.name for thread in Path(f"/proc/{process}/task").iterdir()]
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:
        with suppress(OSError):
            found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_bytes().split())
    return found


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process; nothing where there is no prctl."""
    if LINUX:
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
