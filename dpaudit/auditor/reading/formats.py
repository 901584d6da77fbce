"""Bytes in formats that their beginning names: compressed, pickled, tables, databases and messages, unpacked within bounds.

A format that takes another library is read where the program has loaded that library, as what wrote the bytes has.
"""

from __future__ import annotations

import bz2
import io
import lzma
import sqlite3
import sys
import zipfile
import zlib
from contextlib import closing
from importlib import import_module
from typing import Any, Final

import numpy as np

from dpaudit.auditor.reading.leaves import Label
from dpaudit.auditor.reading.pickles import pickled

_MOST_UNPACKED: Final = 1 << 20
"""Bytes that are unpacked of one compressed content, so that a small one cannot fill the memory."""

_MOST_MEMBERS: Final = 64
_MOST_ROWS: Final = 4096
_GZIP_HEAD: Final = 10

Parts = list[tuple[str, Any]]


def unpacked(data: bytes) -> tuple[str, Parts] | None:
    """The form and the contents of compressed, pickled or packed bytes, known by how they begin; None for all others."""
    for begins, name, read in _FORMATS:
        if data.startswith(begins):
            try:
                found = read(data)
            except Exception:  # noqa: BLE001, S112 - whatever a library raises of bytes that only begin like its own
                continue
            if found is not None:
                return name, found
    return None


def _compressed(head: bytes, content: bytes, size: int, *, whole: bool) -> Parts:
    """Parts of compressed bytes: how many there are, how they begin, and what they hold."""
    return [
        ("the size", size),
        ("the head", Label(head.hex())),
        ("the end", Label("whole" if whole else "cut")),
        ("the content", content),
    ]


def _zlib(data: bytes) -> Parts | None:
    """Bytes compressed by zlib, whose first two are a multiple of 31."""
    if int.from_bytes(data[:2], "big") % 31:
        return None
    reader = zlib.decompressobj()
    content = reader.decompress(data, _MOST_UNPACKED)
    return [*_compressed(data[:2], content, len(data), whole=reader.eof), ("the rest", reader.unused_data)]


def _gzip(data: bytes) -> Parts:
    """Bytes compressed by gzip, with the time and the names in their head."""
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    content = reader.decompress(data, _MOST_UNPACKED)
    time = int.from_bytes(data[4:8], "little")
    head = data[:4] + data[8:_GZIP_HEAD]
    return [*_compressed(head, content, len(data), whole=reader.eof), ("the time", time), ("the rest", reader.unused_data)]


def _bzip(data: bytes) -> Parts:
    """Bytes compressed by bzip2."""
    reader = bz2.BZ2Decompressor()
    content = reader.decompress(data, _MOST_UNPACKED)
    return [*_compressed(data[:4], content, len(data), whole=reader.eof), ("the rest", reader.unused_data)]


def _lzma(data: bytes) -> Parts:
    """Bytes compressed by xz."""
    reader = lzma.LZMADecompressor(memlimit=_MOST_UNPACKED << 6)
    content = reader.decompress(data, _MOST_UNPACKED)
    return [*_compressed(data[:8], content, len(data), whole=reader.eof), ("the rest", reader.unused_data)]


def _zip(data: bytes) -> Parts | None:
    """The members of an archive, with their names, times and contents."""
    parts: Parts = [("the size", len(data))]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > _MOST_MEMBERS:
            return None
        for place, member in enumerate(members):
            with archive.open(member) as stream:
                content = stream.read(_MOST_UNPACKED)
            note = (member.filename, list(member.date_time), member.compress_type, member.comment, member.extra)
            parts += [(f"the note {place}", list(note)), (f"the content {place}", content)]
        return [*parts, ("the comment", archive.comment)]


def _npy(data: bytes) -> Parts | None:
    """An array in numpy's own format, unless it holds objects."""
    stream = io.BytesIO(data)
    array = np.lib.format.read_array(stream, allow_pickle=False)
    return [("the array", array), ("the rest", stream.read())]


def _pickle(data: bytes) -> Parts | None:
    """The values of a pickle and its opcodes."""
    found = pickled(data)
    if found is None or not found.whole:
        return None
    return [("the protocol", data[1]), ("the opcodes", Label(found.opcodes)), ("the values", found.values)]


def _png(data: bytes) -> Parts | None:
    """The chunks of an image: what they are, and the compressed numbers together."""
    parts, image, place = list[tuple[str, Any]](), b"", 8
    while place + 8 <= len(data):
        size, kind = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
        content, place = data[place + 8 : place + 8 + size], place + 12 + size
        if kind == b"IDAT":
            image += content
        else:
            parts.append((f"the chunk {len(parts)}", [kind.decode("latin-1"), content]))
    reader = zlib.decompressobj()
    return [("the size", len(data)), *parts, ("the content", reader.decompress(image, _MOST_UNPACKED)), ("the rest", data[place:])]


def _database(data: bytes) -> Parts:
    """The tables of a database of SQLite."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(data)
        schema = base.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        tables = ['"' + name.replace('"', '""') + '"' for kind, name, _ in schema if kind == "table"]
        rows = [base.execute(f"SELECT * FROM {table}").fetchmany(_MOST_ROWS) for table in tables]  # noqa: S608 - names are quoted
    return [("the size", len(data)), ("the schema", schema), ("the rows", rows)]


def _columns(data: bytes) -> Parts | None:
    """The table of a file of Parquet or Arrow."""
    kind = "parquet" if data.startswith(b"PAR1") else "ipc"
    if "pyarrow" in sys.modules:
        module = import_module("pyarrow.feather" if kind == "ipc" else "pyarrow.parquet")
        return [("the size", len(data)), ("the table", module.read_table(io.BytesIO(data)))]
    polars = sys.modules.get("polars")
    return None if polars is None else [("the size", len(data)), ("the table", getattr(polars, f"read_{kind}")(data))]


def _message(data: bytes) -> Parts | None:
    """The mapping or the list of a message pack."""
    library = sys.modules.get("msgpack")
    return None if library is None else [("the size", len(data)), ("the message", library.unpackb(data, strict_map_key=False))]


_FORMATS: Final = (
    (b"SQLite format 3\0", "database", _database),
    (b"PAR1", "parquet", _columns),
    (b"ARROW1", "arrow", _columns),
    *((bytes([head]), "message pack", _message) for head in (*range(0x80, 0xA0), 0xDC, 0xDD, 0xDE, 0xDF)),
    (b"\x1f\x8b", "gzip", _gzip),
    (b"BZh", "bzip2", _bzip),
    (b"\xfd7zXZ\0", "xz", _lzma),
    (b"PK\x03\x04", "zip", _zip),
    (b"\x93NUMPY", "npy", _npy),
    (b"\x89PNG\r\n\x1a\n", "png", _png),
    (b"\x80", "pickle", _pickle),
    (b"\x78", "zlib", _zlib),
)
"""Formats by their first bytes."""
