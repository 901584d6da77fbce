"""Outputs as they are when a run is over: what iterators, coroutines and futures give, and what files hold."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dpaudit.auditor.reading.objects import shown_name

MOST_DRAWN: Final = 10_000
"""Items that are drawn of an iterator."""

_MOST_BYTES: Final = 1 << 22
_LONGEST_NAME: Final = 1024
_FEW: Final = 16
"""Parts of a container among which paths are looked for: those of longer ones are named as left out if they are met."""

_PLAIN: Final = {float, int, bool, complex, bytes, bytearray, set, frozenset}


@dataclass(frozen=True)
class Drawn:
    """Items of an iterator, drawn once so that it can be read more than once; `whole` unless it went on."""

    kind: str
    items: tuple[Any, ...]
    whole: bool
    shown: str = "iterator"


@dataclass(frozen=True)
class Written:
    """A path with what the file there held after the run, since the next run may write to the same place."""

    path: str
    content: bytes

    @property
    def parts(self) -> list[tuple[str, Any]]:
        """The path and the content."""
        return [("the path", self.path), ("the content", self.content)]


def keep_output(output: Any) -> Any:
    """Return the output itself, or what it stands for now: the items of an iterator, the result that is waited for, a file."""
    kind = type(output)
    if kind in _PLAIN:
        return output
    if kind is str or isinstance(output, os.PathLike):
        return _content_of(output)
    if kind in (list, tuple, dict):
        parts = output.values() if kind is dict else output
        if len(output) > _FEW or not any(isinstance(part, str | os.PathLike) for part in parts):
            return output
        kept = map(_content_of, parts)
        return dict(zip(output, kept, strict=True)) if kind is dict else kind(kept)
    if isinstance(output, Coroutine):
        return keep_output(asyncio.run(output))
    return keep_output(output.result()) if isinstance(output, Future) else _drawn(output)


def _drawn(output: Any) -> Any:
    """What an iterator gives out, or the file that is open; everything else as it is."""
    if isinstance(output, io.BytesIO | io.StringIO) or not isinstance(output, Iterator):
        return output
    if isinstance(output, io.IOBase):
        return _read_stream(output)
    items = tuple(islice(output, MOST_DRAWN))
    return Drawn(type(output).__name__, items, next(output, output) is output, shown_name(type(output)))


def names_file(place: Any) -> bool:
    """True if a text or a path is the name of a file."""
    shown = os.fspath(place)
    if len(shown) > _LONGEST_NAME or (isinstance(shown, str) and ("\n" in shown or "\0" in shown)):
        return False
    return os.path.isfile(shown)  # noqa: PTH113 - names may be bytes


def _content_of(place: Any) -> Any:
    """What the file of a name held, other things as they are; larger files as their names, which the reading then leaves out."""
    # Most texts are no paths: those without a separator and an ending need not be looked up.
    if isinstance(place, str) and os.sep not in place and "." not in place[-6:]:
        return place
    if not isinstance(place, str | os.PathLike) or not names_file(place):
        return place
    path = Path(place)
    return Written(os.fspath(path), path.read_bytes()) if path.stat().st_size <= _MOST_BYTES else path


def _read_stream(stream: io.IOBase) -> Any:
    """What a file that was left open holds on the disk."""
    name = getattr(stream, "name", None)
    if isinstance(name, str) and not stream.closed and stream.writable():
        stream.flush()
    return _content_of(Path(name)) if isinstance(name, str) else stream
