"""Numbers of every type, dates and times as leaves: what a float cannot hold of them gets leaves of its own."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpaudit.auditor.reading.leaves import LARGEST, Leaves, Path

EXACT: Final = 2**53
"""Integers up to this size are floats exactly."""

_LAST_BITS: Final = 50
_WORD: Final = 64
_FEW: Final = 8
"""Numbers before a large integer whose bits are still read one by one: of an array of them they would be thousands."""

_BITS_READ: Final = 100
"""Bits of an integer that are read: the first 53 in its float and the last 50; longer ones have a code of all digits too."""

_COMMON: Final = {np.float64(np.nan).tobytes(), np.float64(-np.float64(np.nan)).tobytes()}
"""NaN as constants and processors make it."""

_NAMES: Final = {"float64": "float", "int64": "int", "bool": "bool"}
_FAMILIES: Final = "fiub"


def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """Name the numbers of a numpy type, as Python does where it has them; None where they do not fit into floats."""
    if dtype.kind not in _FAMILIES or dtype.itemsize > 8:
        return None
    return _NAMES.get(dtype.name, dtype.name)


def number_name(kind: type) -> str | None:
    """Name a numeric type, numpy's and Python's alike; None for every other type."""
    if kind is float or kind is int or kind is bool:
        return kind.__name__
    if issubclass(kind, np.generic):
        return dtype_name(np.dtype(kind))
    return "float" if issubclass(kind, float) else "int" if issubclass(kind, int) else None


def visit_number(number: Any, name: str, path: Path, leaves: Leaves) -> str:
    """Append one number; NaN and infinities are forms of their own with value 0."""
    try:
        value = float(number)
    except OverflowError:
        value = LARGEST if number > 0 else -LARGEST
    if not math.isfinite(value):
        if not isinstance(number, np.longdouble) or not np.isfinite(number):
            leaves.add(path, 0.0)
            visit_gap(value, path, leaves)
            visit_payload(number, path, leaves)
            return f"{name} {value}"
        value = math.copysign(LARGEST, value)
    leaves.add(path, min(max(value, -LARGEST), LARGEST))
    if value == 0 and math.copysign(1, value) < 0:
        leaves.negative_zeros = True
    if isinstance(number, (int, np.integer)):
        if abs(value) >= EXACT:
            _visit_bits(int(number), path, leaves)
    elif abs(value) > LARGEST:
        leaves.add((*path, "the logarithm"), math.log2(abs(value)), "logarithm")
    elif not isinstance(number, (float, np.float32, np.float16, np.bool_)):
        _visit_rest(number, value, path, leaves)
    return name


def visit_gap(value: float | None, path: Path, leaves: Leaves) -> None:
    """Append which value that is no number stands in a place inside an output; where it is the whole output its form says so."""
    if path:
        leaves.apart.append(len(leaves.values))
        leaves.add((*path, "the gap"), 1.0 if value is None else 2.0 if math.isnan(value) else 3.0 + (value < 0), "gap")


def visit_payload(number: Any, path: Path, leaves: Leaves) -> None:
    """Append the bits of a NaN other than the common one."""
    if isinstance(number, (float, np.floating)) and number != number:  # noqa: PLR0124 - only a NaN is no equal of itself
        bits = np.asarray(number, dtype=np.float64).tobytes()
        if bits not in _COMMON:
            leaves.add_code((*path, "the payload"), bits.hex(), "payloads", "payload")


def _visit_bits(number: int, path: Path, leaves: Leaves) -> None:
    """Append what a float does not hold of a large integer."""
    leaves.add((*path, "the last bits"), float(abs(number) % 2**_LAST_BITS), "bits")
    if len(leaves.values) <= _FEW and number.bit_length() <= _WORD:
        # An integer so large may be a set of bits, one of which is a number of its own.
        leaves.apart += range(len(leaves.values), len(leaves.values) + _WORD)
        for place in range(_WORD):
            leaves.add((*path, "the bits", place), float(number >> place & 1), "word" if place == 0 else "")
    if number.bit_length() > _BITS_READ:
        leaves.add((*path, "the logarithm"), float(number.bit_length()))
        leaves.apart.append(len(leaves.values))
        leaves.add_code((*path, "the digits"), hex(number), f"integers of more than {_BITS_READ} bits", "digits")


def _visit_rest(number: Any, value: float, path: Path, leaves: Leaves) -> None:
    """Append what a float does not hold of a fraction, a decimal or a longer float."""
    if isinstance(number, (Decimal, Fraction)):
        exact = Fraction(number)
        rest = exact - Fraction(value)
        if rest:
            try:
                leaves.add((*path, "the rest"), min(max(float(rest), -LARGEST), LARGEST), "rest")
            except OverflowError:
                leaves.leave_out("numbers beyond the range of floats")
        if isinstance(number, Decimal):
            leaves.add((*path, "the exponent"), float(number.as_tuple().exponent), "exponent")
            if rest and Fraction(float(rest)) != rest and len(number.as_tuple().digits) > 32:
                leaves.add_code((*path, "the digits"), str(number), "decimals of more than 32 digits", "digits")
    elif isinstance(number, np.floating):
        if number != value:
            leaves.add((*path, "the rest"), min(max(float(number - type(number)(value)), -LARGEST), LARGEST), "rest")
    else:
        leaves.leave_out("numbers of an unknown type")


def visit_time(moment: date | time | timedelta, path: Path, leaves: Leaves) -> str:
    """Append a date, a time, both, or a duration, as days and microseconds."""
    name = type(moment).__name__
    if moment != moment:  # noqa: PLR0124 - a missing time is no equal of itself
        leaves.add(path, 0.0)
        visit_gap(None, path, leaves)
        return name
    if isinstance(moment, timedelta):
        leaves.add(path, float(moment.days))
        leaves.add((*path, "the microseconds"), float(moment.seconds * 1_000_000 + moment.microseconds))
    elif isinstance(moment, date):
        leaves.add(path, float(moment.toordinal()))
    if isinstance(moment, (datetime, time)):
        clock = ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1_000_000 + moment.microsecond
        leaves.add((*path, "the microseconds"), float(clock))
        leaves.add((*path, "the second"), moment.second + moment.microsecond / 1e6)
        if isinstance(moment, date):
            leaves.add((*path, "the moment"), 86400.0 * moment.toordinal() + clock / 1e6)
        name += " again" if moment.fold else ""
        offset = moment.utcoffset()
        if offset is not None:
            leaves.add((*path, "the offset"), offset / timedelta(microseconds=1))
            leaves.add_code((*path, "the zone"), str(moment.tzinfo), "time zones")
            name += " with zone"
    # What pandas adds to Python's own types.
    nanoseconds = getattr(moment, "nanosecond", getattr(moment, "nanoseconds", None))
    if isinstance(nanoseconds, int):
        leaves.add((*path, "the nanoseconds"), float(nanoseconds % 1000))
    return name


def visit_numpy_time(moment: np.datetime64 | np.timedelta64, path: Path, leaves: Leaves) -> str:
    """Append numpy's date or duration as its number of units."""
    name = str(moment.dtype)
    if np.isnat(moment):
        leaves.add(path, 0.0)
        visit_gap(None, path, leaves)
        return f"{name} NaT"
    visit_number(int(moment.astype(np.int64)), name, path, leaves)
    return name
