"""Sequences of numbers as arrays that hold each of them exactly: as floats, as integers, or as the objects they are.

How errors name the type of an array is here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_KINDS: Final = {
    "b": "booleans",
    "O": "objects",
    "U": "text",
    "S": "bytes",
    "T": "text",
    "V": "structured records",
    "M": "dates",
    "m": "time differences",
}


def name_contents(values: NDArray[Any]) -> str:
    """The contents of an array in words of an error: never the width of text, the length of the longest string in private data."""
    return _KINDS.get(values.dtype.kind, values.dtype.name)


def exact_array(values: Iterable[Any] | NDArray[Any]) -> NDArray[Any]:
    """The values as float64 where all are floats, int64 where all are ints that fit, else objects; an array stays as it is."""
    if hasattr(values, "__array__"):
        return np.asarray(values)
    entries = list(values)
    if all(type(entry) is float for entry in entries):
        return np.array(entries, dtype=np.float64)
    if all(type(entry) is int and -(2**63) <= entry < 2**63 for entry in entries):
        return np.array(entries, dtype=np.int64)
    array = np.empty(len(entries), dtype=object)
    for position, entry in enumerate(entries):
        array[position] = entry
    return array
