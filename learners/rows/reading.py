"""Reading of private values in place: an unreadable one silently becomes a public substitute, since refusing would leak."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_Read = TypeVar("_Read")


def read_or(otherwise: _Read, read: Callable[[Any], _Read], value: Any) -> _Read:
    """Read a private value by a function, or return a substitute where that raises."""
    try:
        return read(value)
    except Exception:  # noqa: BLE001 - whatever a private value does, it is mapped in place
        return otherwise


def as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as they are; of anything else, each entry by itself as a float, NaN where it is no number that float64 holds."""
    if values.dtype.kind in "biuf":
        return values
    numbers = (read_or(math.nan, _number, value) for value in values.ravel())
    return np.fromiter(numbers, dtype=np.float64, count=values.size).reshape(values.shape)


def _number(value: Any) -> float:
    """A number as a float; strings are never parsed as numbers."""
    return math.nan if isinstance(value, (str, bytes)) else float(value)
