"""Bytes that no format names: texts in base 64, 32 or 16, arrays of common types, and single bytes."""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

MOST_NUMBERS: Final = 4096
"""Numbers that bytes are read as."""

_SHORT: Final = 24
_INTEGER: Final = 4
_BITS: Final = 8

_TEXT64: Final = re.compile(
    r"(?:[A-Za-z0-9+/]{4}){2,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?|(?:[A-Za-z0-9_-]{4}){2,}(?:[A-Za-z0-9_-]{2,3})?=*"
)
_TEXT16: Final = re.compile(r"(?:[0-9a-f]{2}){8,}|(?:[0-9A-F]{2}){8,}")
_TEXT32: Final = re.compile(r"(?:[A-Z2-7]{8})+(?:[A-Z2-7]{2}={6}|[A-Z2-7]{4}={4}|[A-Z2-7]{5}={3}|[A-Z2-7]{7}=)?|[A-Z2-7]{7}=")
_ADDRESS: Final = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*;base64,")
"""What stands before bytes that are given as an address, as pictures in a page are."""

_FEWEST_LETTERS: Final = 8
_UNSURE: Final = 20


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
    if (found32 := _base32(body)) is not None:
        return found32
    lines = body.split("\n") if "\n" in body else [body]
    joined = "".join(lines)
    if not _TEXT64.fullmatch(joined) or not _is_mixed(joined):
        return None
    try:
        found = base64.b64decode(joined + "=" * (-len(joined) % 4), altchars=b"-_" if {"-", "_"} & set(joined) else None)
    except (binascii.Error, ValueError):
        return None
    return f"base64 {joined.count('=')} {len(text) - len(joined)}", found


def _base32(text: str) -> tuple[str, bytes] | None:
    """The bytes of a text in base 32, which has no digits beyond 2 to 7 and no small letters."""
    if not _TEXT32.fullmatch(text) or not any(letter.isdigit() for letter in text):
        return None
    try:
        return f"base32 {text.count('=')}", base64.b32decode(text)
    except binascii.Error:
        return None


def _is_mixed(text: str) -> bool:
    """True if a text is hardly made of words: padded, or long with capitals, small letters and digits."""
    kinds = (any(map(str.isupper, text)), any(map(str.islower, text)), any(map(str.isdigit, text)))
    return text.endswith("=") or (len(text) >= _UNSURE and all(kinds))


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
