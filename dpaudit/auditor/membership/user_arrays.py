"""Arrays and functions that callers give: their faults get a code, and their values are not shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure, origin_of


def finite_array(value: Any, name: str) -> NDArray[np.float64]:
    """Return the numbers of an argument, DPA105 for what holds anything else; the message says neither which nor where."""
    try:
        found = np.asarray(value)
        if found.dtype.kind in "biufO":
            with np.errstate(over="ignore"):
                found = found.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.array("")
    if found.dtype != np.float64 or not np.isfinite(found).all():
        raise InvalidArgument("DPA105", f"{name} must be finite numbers, in rows of one length.")
    return found


def result_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the caller; DPA405 where it raises, with the type and place of the error but not its text."""
    if not callable(function):
        raise InvalidArgument("DPA105", f"a function is needed, got a {type(function).__name__}.")
    try:
        return function(*arguments)
    except DpauditError:
        raise
    except Exception as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise TargetFailure("DPA405", f"{name} raised {origin_of(error)}.") from error
