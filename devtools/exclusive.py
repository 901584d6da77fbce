"""A lock between processes that the operating system releases when its holder ends, however it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> bool:
        """Take the lock on `file` unless another process holds it."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> bool:
        """Take the lock on `file` unless another process holds it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def exclusive(path: Path, waiting: Callable[[], None], *, pause: float = 0.2) -> Iterator[None]:
    """Hold the lock on the file `path` inside the block; calls `waiting` once if another process has it.

    The lock goes with the open file: closing it, or the end of the process, releases it.
    """
    with path.open("ab") as file:
        if not _try_lock(file):
            waiting()
            while not _try_lock(file):
                time.sleep(pause)
        yield
