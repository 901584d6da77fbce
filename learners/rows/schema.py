"""Tables and their cells: columns must be numbers by declared type; an unreadable private value silently becomes a public one."""

from __future__ import annotations

import math
import reprlib
import warnings
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from sklearn.exceptions import DataConversionWarning

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_Read = TypeVar("_Read")

OBJECTS: Final = (
    "X is an array of objects, whose type admits anything: an entry that is not a number counts as NaN, and its whole record as "
    "zeros. Give an array of numbers: X.astype(float)."
)
LISTED: Final = (
    "X is a list, which has no type: an entry that is not a number counts as NaN, and its whole record as zeros. "
    "Give an array of numbers: numpy.array(X, dtype=float)."
)
LABEL_OBJECTS: Final = (
    "y is a list or an array of objects, whose type admits anything: a label that is not a number counts as 0. "
    "Give an array of numbers: numpy.array(y, dtype=float)."
)

_NUMBERS: Final = "biuf"
_MOST_NAMED: Final = 5


def require_number_columns(table: Any) -> None:
    """Refuse a table one of whose columns does not hold numbers, by the types that the table declares."""
    names, types = getattr(table, "columns", None), getattr(table, "dtypes", None)
    if names is None or types is None or isinstance(table, type):
        return
    other = [
        f"{reprlib.repr(name)} ({type_name(kind)})" for name, kind in zip(names, types, strict=True) if not is_number_type(kind)
    ]
    if other:
        more = len(other) - _MOST_NAMED
        shown = ", ".join(other[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        raise InvalidArgument(
            "DPA105",
            f"features must be numbers, got columns of other types: {shown}. Drop them, or encode them by a public rule first: "
            "TableEncoder(columns={'age': (17, 90), 'sex': ['f', 'm']}) in make_private_pipeline, or for categories "
            'OneHotEncoder(categories=[["no", "yes"]], handle_unknown="ignore"), which then reads no list from the records.',
        )


def is_array_of_objects(table: Any) -> bool:
    """True if the values are in an array whose type admits anything."""
    return getattr(getattr(table, "dtype", None), "kind", "") == "O"


def warn_of_objects(table: Any, note: str) -> None:
    """Warn, whatever the values are, that entries of an array of objects may not be numbers."""
    if is_array_of_objects(table):
        warnings.warn(note, DataConversionWarning, stacklevel=2)


def feature_notes(features: Any) -> list[str]:
    """Notes of a privacy record on features whose type does not show that they are numbers; no note depends on a value."""
    if isinstance(features, (list, tuple)):
        return [LISTED]
    return [OBJECTS] if is_array_of_objects(features) else []


def read_or(otherwise: _Read, read: Callable[[Any], _Read], value: Any) -> _Read:
    """Read a private value by a function, or return a substitute where that raises: to refuse it would leak."""
    try:
        return read(value)
    except Exception:  # noqa: BLE001 - whatever a private value does, it is mapped in place
        return otherwise


def as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as they are; of anything else, each entry by itself as a float, NaN where it is no number that float64 holds."""
    if values.dtype.kind in _NUMBERS:
        return values
    numbers = (read_or(math.nan, _number, value) for value in values.ravel())
    return np.fromiter(numbers, dtype=np.float64, count=values.size).reshape(values.shape)


def _number(value: Any) -> float:
    """A number as a float; strings are never parsed as numbers."""
    return math.nan if isinstance(value, (str, bytes)) else float(value)


def is_number_type(kind: Any) -> bool:
    """True if a column of this type holds numbers: numpy and pandas give a letter for it, polars a method."""
    letter = getattr(kind, "kind", None)
    if isinstance(letter, str):
        return letter in _NUMBERS
    return bool(kind.is_numeric()) or str(kind) == "Boolean"


def type_name(kind: Any) -> str:
    """The name of a column's type without its parameters: those may be the categories, or the length of the longest text."""
    return str(kind).split("[", 1)[0].split("(", 1)[0].strip("<>=|0123456789") or "object"
