"""Bytes as what they hold: compressed and pickled contents within bounds, arrays of common types, and single bytes."""

from __future__ import annotations

import base64
import binascii
import bz2
import io
import lzma
import math
import re
import zipfile
import zlib
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.reading.leaves import Label
from dpaudit.auditor.reading.pickles import pickled

MOST_NUMBERS: Final = 4096
"""Numbers that bytes are read as."""

_MOST_UNPACKED: Final = 1 << 20
"""Bytes that are unpacked of one compressed content, so that a small one cannot fill the memory."""

_MOST_MEMBERS: Final = 64
_SHORT: Final = 24
_INTEGER: Final = 4
_BITS: Final = 8
_GZIP_HEAD: Final = 10

_TEXT64: Final = re.compile(
    r"(?:[A-Za-z0-9+/]{4}){2,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?:[A-Za-z0-9_-]{4}){2,}(?:[A-Za-z0-9_-]{2,3})?=*"
)
_TEXT16: Final = re.compile(r"(?:[0-9a-f]{2}){8,}|(?:[0-9A-F]{2}){8,}")
_ADDRESS: Final = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*;base64,")
"""What stands before bytes that are given as an address, as pictures in a page are."""

_FEWEST_LETTERS: Final = 8
_UNSURE: Final = 20

Parts = list[tuple[str, Any]]


def decoded(text: str) -> tuple[str, bytes] | None:
    """The bytes that a whole text in base 64 or 16 stands for, with the name of the code; None for other texts."""
    if (head := _ADDRESS.match(text)) is not None:
        inside = decoded(text[head.end() :])
        return inside and (f"{head.group()}{inside[0]}", inside[1])
    body = text.rstrip("\n")
    if len(body) < _FEWEST_LETTERS:
        return None
    if _TEXT16.fullmatch(body) and any(letter.isdigit() for letter in body) and not body.isdigit():
        return f"hexadecimal{len(text) - len(body)}{'' if body.islower() else ' in capitals'}", bytes.fromhex(body)
    lines = body.split("\n") if "\n" in body else [body]
    joined = "".join(lines)
    if not _TEXT64.fullmatch(joined) or not _is_mixed(joined):
        return None
    try:
        found = base64.b64decode(joined + "=" * (-len(joined) % 4), altchars=b"-_" if {"-", "_"} & set(joined) else None)
    except (binascii.Error, ValueError):
        return None
    return f"base64 {joined.count('=')} {len(text) - len(joined)}", found


def _is_mixed(text: str) -> bool:
    """True if a text is hardly made of words: padded, or long with capitals, small letters and digits."""
    kinds = (any(map(str.isupper, text)), any(map(str.islower, text)), any(map(str.isdigit, text)))
    return text.endswith("=") or (len(text) >= _UNSURE and all(kinds))


def unpacked(data: bytes) -> tuple[str, Parts] | None:
    """The form and the contents of compressed, pickled or packed bytes, known by how they begin; None for all others."""
    for begins, name, read in _FORMATS:
        if data.startswith(begins):
            try:
                found = read(data)
            except (ValueError, EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError, KeyError):
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


_FORMATS: Final = (
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

_VIEWS: Final = (
    ("<f8", 0.0),
    (">f8", 0.0),
    ("<i8", 2.0**40),
    (">i8", 2.0**40),
    ("<f4", 0.0),
    (">f4", 0.0),
    ("<i4", 2.0**26),
    (">i4", 2.0**26),
    ("<i2", 2.0**12),
    (">i2", 2.0**12),
    ("u1", 2.0**8),
)
"""Types that bytes may be an array of, with the size up to which integers are believed."""

_SMALL, _LARGE = 1e-15, 1e15
_LONG: Final = 8
_NEAR: Final = 2.0**12
_SIGN: Final = 2**31
_ORDERS: Final[tuple[Literal["big", "little"], ...]] = ("big", "little")
_EACH: Final = 6.0
"""What one number more costs, in the same unit as its size: two small numbers are likelier than one large one."""


def array_in(data: bytes) -> NDArray[Any]:
    """The numbers that bytes are most likely to hold: few, and each of a usual size."""
    least, best = np.inf, np.frombuffer(data, dtype=np.uint8)
    for name, limit in _VIEWS:
        kind = np.dtype(name)
        # Short floats look like long ones too, which come with their halves.
        if len(data) % kind.itemsize or (best.dtype.kind == "f" and name.endswith("f4")):
            continue
        values = np.frombuffer(data, dtype=kind)
        cost = _cost(values, limit)
        if cost < least:
            least, best = cost, values
    return best


def _cost(values: NDArray[Any], limit: float) -> float:
    """How unlikely it is that bytes hold these numbers; infinite where one of them is of no usual size."""
    with np.errstate(all="ignore"):
        sizes = np.abs(values.astype(np.float64))
        usual = sizes <= limit if limit else (sizes == 0) | ((sizes >= _SMALL) & (sizes <= _LARGE))
        if not usual.all():
            return math.inf
        scale = np.abs(np.log2(np.where(sizes > 0, sizes, 1.0)))
    # Zeros are common among integers; where a short float is zero it is more likely the end of a long one.
    zeros = 0 if limit else _EACH * np.count_nonzero(sizes == 0)
    return _EACH * values.size + zeros + float(scale.sum())


def halves_in(array: NDArray[Any]) -> NDArray[Any] | None:
    """The short floats that bytes may hold where long ones look likely: all of them, if every second one is of a usual size."""
    if array.dtype.kind != "f" or array.dtype.itemsize != _LONG:
        return None
    little = array.dtype.newbyteorder("<") == array.dtype
    halves = np.frombuffer(array.tobytes(), dtype="<f4" if little else ">f4")
    if _cost(halves, 0.0) == math.inf:
        return None
    low = np.abs(halves[0 if little else 1 :: 2].astype(np.float64))
    return halves if low.any() and bool(((low == 0) | ((low > 1 / _NEAR) & (low < _NEAR))).all()) else None


def windows(data: bytes) -> list[float]:
    """The integers that start at each byte of a few, in both orders: fields of any type grow with one of them."""
    if not _INTEGER < len(data) <= _SHORT:
        return []
    spans = [data[place : place + _INTEGER] for place in range(len(data) - _INTEGER + 1)]
    words = [int.from_bytes(span, order) for order in _ORDERS for span in spans]
    # With the sign apart, as floats have it: they grow with their bits.
    return [float(word if word < _SIGN else _SIGN - word) for word in words]


def bits(data: bytes) -> list[float]:
    """The bits of a few bytes."""
    return [float(byte >> place & 1) for byte in data for place in range(8)] if len(data) <= _BITS else []
