"""What a run prints as a part of its output: the text of standard output and standard error, whatever writes it."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from dpaudit.errors import TargetFailure
from dpaudit.targets import Target

if TYPE_CHECKING:
    from numpy.random import Generator

_NUMBERS: Final = (1, 2)
"""File descriptors of standard output and standard error."""

_one_at_a_time: Final = threading.Lock()
"""Held during a run, since a process has one of each stream."""

STREAMS: Final = "what is printed counts as output"


@dataclass(frozen=True)
class Printing:
    """A run whose output is (output, text of standard output, of standard error); an error that it raises carries the texts."""

    run: Callable[[Any, Generator], Any]

    @property
    def func(self) -> Any:
        """The function itself, to which reports point."""
        return getattr(self.run, "func", self.run)

    @property
    def __name__(self) -> str:
        """The function's own name."""
        return str(getattr(self.func, "__name__", type(self.func).__name__))

    def __call__(self, data: Any, rng: Generator) -> Any:
        """Release once."""
        texts: list[str] = []
        try:
            with _captured(texts):
                output = self.run(data, rng)
        except Exception as error:
            error.printed = tuple(texts)  # type: ignore[attr-defined]  # an error is read with all its attributes
            raise
        return (output, *texts)


def with_streams(target: Target) -> Target:
    """Return the target whose outputs hold what its runs print."""
    if target.run is None:
        raise TargetFailure(
            "DPA404",
            f"{target.name} has sample=, whose calls make many outputs at once, so that none has a text of its own. "
            "Give run=(data, rng) for --streams.",
        )
    if target.pmf is not None:
        raise TargetFailure("DPA404", f"{target.name} declares the law of its output alone (pmf=). Take pmf= out for --streams.")
    said = f"{target.description}; {STREAMS}" if target.description else STREAMS
    return replace(target, run=Printing(target.run), description=said)


@contextlib.contextmanager
def _captured(texts: list[str]) -> Iterator[None]:
    """Append what is written to both streams meanwhile, by Python, by libraries in C and by programs that are started."""
    with _one_at_a_time:
        files, own = _files_of(os.getpid())
        before = sys.stdout, sys.stderr
        saved = [os.dup(number) for number in _NUMBERS]
        try:
            _flush(*before)
            for file, number in zip(files, _NUMBERS, strict=True):
                os.dup2(file.fileno(), number)
            sys.stdout, sys.stderr = own
            yield
        finally:
            # Handlers of logs hold the streams of before, whose buffers go to the files, too.
            _flush(*before, *own)
            sys.stdout, sys.stderr = before
            for copy, number in zip(saved, _NUMBERS, strict=True):
                os.dup2(copy, number)
                os.close(copy)
            texts += [_taken_from(file) for file in files]


@lru_cache(maxsize=1)
def _files_of(_process: int) -> tuple[tuple[Any, ...], tuple[io.TextIOWrapper, ...]]:
    """Return a file for each stream and what writes to it, the same for all runs of a process: forked ones would share offsets."""
    files = tuple(tempfile.TemporaryFile(buffering=0) for _ in _NUMBERS)  # noqa: SIM115 - until the process ends
    return files, tuple(io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", write_through=True) for file in files)


def _taken_from(file: Any) -> str:
    """Return the text of a file, which is empty afterwards."""
    size = os.lseek(file.fileno(), 0, os.SEEK_CUR)
    if not size:
        return ""
    text = os.pread(file.fileno(), size, 0).decode("utf-8", "surrogateescape")
    os.ftruncate(file.fileno(), 0)
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    return text


def _flush(*streams: Any) -> None:
    """Write out what streams hold back; a stream that is closed or missing holds nothing."""
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.flush()
