"""Signs of life: a byte, shared with the supervisor of this process, that is set when a call of a target's function returns."""

from __future__ import annotations

import mmap
import os

_state: dict[str, int] = {"forks": 0}
_cell: bytearray | mmap.mmap = bytearray(1)


def _count_fork() -> None:
    """Count forks, in each process that one makes."""
    _state["forks"] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def mark_call() -> int:
    """Return a mark before a function of the user is called, for `end_call` after each call."""
    return _state["forks"]


def end_call(mark: int) -> None:
    """Give a sign of life; end this process if the called function made it by a fork."""
    # A function that forks and returns in both processes would go on with the audit twice, and twice again at the next run.
    if _state["forks"] != mark:
        os._exit(1)
    _cell[0] = 1


def share() -> mmap.mmap:
    """Make a new byte that this process shares with all that it forks from now on: 1 after a sign of life, until it is cleared."""
    global _cell  # noqa: PLW0603 - there is one byte in a process, as there is one process
    _cell = mmap.mmap(-1, 1)
    return _cell
