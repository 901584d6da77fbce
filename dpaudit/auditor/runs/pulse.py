"""Signs of life: a byte, shared with whoever supervises this process, that is set when a call of a target's function returns."""

from __future__ import annotations

import mmap
import os

_state: dict[str, int] = {"forks": 0}
_cell: bytearray | mmap.mmap = bytearray(1)


def _count_fork() -> None:
    """Note, in a process that was just forked, that it is another one than before."""
    _state["forks"] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def entered() -> int:
    """A mark to take before a function of the user's is called, and to give to `returned` after each call."""
    return _state["forks"]


def returned(mark: int) -> None:
    """Give a sign of life; end this process if the called function made it by a fork.

    A function that forks and returns in both processes would go on with the audit twice, and twice again at the next run.
    """
    if _state["forks"] != mark:
        os._exit(1)
    _cell[0] = 1


def share() -> mmap.mmap:
    """A new byte that this process and all that it forks from now on share: 1 after a sign of life, until somebody clears it."""
    global _cell  # noqa: PLW0603 - there is one byte in a process, as there is one process
    _cell = mmap.mmap(-1, 1)
    return _cell
