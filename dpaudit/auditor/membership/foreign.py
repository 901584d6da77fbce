"""What comes from elsewhere: arrays and functions of the caller, whose faults get a code and whose values are not shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure, origin_of


def finite_array(value: Any, name: str) -> NDArray[np.float64]:
    """The numbers of an argument, DPA105 for what holds anything else; the message says neither which nor where.

    Args:
      value: numbers or booleans in whatever nesting numpy reads.
      name: how the parameter is called in an error message.
    Returns:
      A float64 array.
    Raises:
      InvalidArgument: entries that are no finite numbers, or rows of different length (DPA105).
    Source: design rule 6.
    Example:
      >>> finite_array([[1, 2]], "rows").shape
      (1, 2)
    """
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
    """What a function of the caller gives; DPA405 where it raises, with the type and place of the error but not its text.

    Args:
      function: of the caller.
      *arguments: what it is called with.
    Returns:
      Whatever it returns.
    Raises:
      InvalidArgument: it is no function (DPA105).
      TargetFailure: it raises (DPA405); an error of dpaudit is handed on.
    Source: design rule 6.
    Example:
      >>> result_of(len, [1, 2])
      2
    """
    if not callable(function):
        raise InvalidArgument("DPA105", f"a function is needed, got a {type(function).__name__}.")
    try:
        return function(*arguments)
    except DpauditError:
        raise
    except Exception as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise TargetFailure("DPA405", f"{name} raised {origin_of(error)}.") from error
