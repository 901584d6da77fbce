"""Values at which arithmetic goes wrong: zeros, powers of two, limits of number types, NaN, clip bounds and values beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

POWERS: Final = (7, 8, 15, 16, 24, 31, 32, 53, 62, 63)
"""Exponents of two at which common number types or the exactness of floats end."""

_TEXTS: Final = ("", "a", "b", "A", " ", "0", "nan", "é", "\U0001f600", "a" * 40)
_SIZES: Final = (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257)
_FEW: Final = 100
_SIGNS: Final = (1, -1)

_NO_NUMBERS: Final = (bool, str, "bool")

Kind: TypeAlias = type | str
"""A type (bool, int, float, str) or the name of a numpy number type such as "int8" or "float32"."""


def boundary_values(kind: Kind, bounds: tuple[float, float] | None = None) -> SearchStrategy[Any]:
    """A Hypothesis strategy of single values, ordinary ones and those at which number types, clipping and comparisons break.

    Args:
      kind: bool, int, float, str, or the name of a numpy number type such as "int8" or "float32".
      bounds: clip bounds (lower, upper) of what is audited, in its own units: they and the values beside them are drawn too.
    Returns:
      A strategy of Python values that the kind can hold; numbers shrink towards 0.
    Raises:
      InvalidArgument: an unknown kind (DPA103), or bounds for values other than numbers (DPA106).
    Source: docs/auditing.md, "Which neighbours"; Casacuberta, Shoemate, Vadhan, Wagaman 2022 for what goes wrong there.
    Example:
      >>> from hypothesis import find
      >>> find(boundary_values("int8", bounds=(0, 100)), lambda value: value > 100)
      101
    """
    from hypothesis import strategies as st

    if bounds is not None and _is_no_number(kind):
        raise InvalidArgument("DPA106", "bounds belong to numbers only. Leave them out for texts and truth values.")
    plain = plain_values(kind)
    if _is_no_number(kind):
        return st.sampled_from(_TEXTS) | plain if kind is str else plain
    dtype = _number_type(kind)
    if dtype.kind == "f":
        return st.sampled_from(_floats(dtype.type, bounds)) | plain
    return st.sampled_from(_integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), bounds)) | plain


def _is_no_number(kind: Kind) -> bool:
    """True if a kind is that of truth values or texts."""
    return isinstance(kind, (type, str)) and kind in _NO_NUMBERS


def plain_values(kind: Kind) -> SearchStrategy[Any]:
    """Ordinary values of a kind: small numbers, truth values, short texts."""
    from hypothesis import strategies as st

    if _is_no_number(kind):
        return st.text(max_size=4) if kind is str else st.booleans()
    dtype = _number_type(kind)
    if dtype.kind == "f":
        return st.floats(-_FEW, _FEW).map(lambda value: float(dtype.type(value)))
    return st.integers(max(int(np.iinfo(dtype).min), -_FEW), min(int(np.iinfo(dtype).max), _FEW))


def lengths(most: int) -> tuple[int, ...]:
    """Numbers of records up to `most` at which summation changes its order: powers of two and their neighbours."""
    return tuple(size for size in _SIZES if size <= most)


def _number_type(kind: Kind) -> np.dtype[Any]:
    """Find the numpy type of integers or floats that a kind names."""
    try:
        dtype = np.dtype(kind)
    except (TypeError, ValueError, SyntaxError):  # whatever numpy makes of a text that names no type
        dtype = np.dtype(object)
    if dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise InvalidArgument(
            "DPA103", "rows must be a strategy, bool, int, float, str, or the name of a numpy number type of at most 64 bits."
        )
    return dtype


def _integers(low: int, high: int, bounds: tuple[float, float] | None) -> list[int]:
    """List boundary integers within a type, small ones first."""
    values = {0, 1, -1, low, high, low + 1, high - 1}
    values |= {sign * (2**power + step) for power in POWERS for step in (-1, 0, 1) for sign in _SIGNS}
    values |= {round(bound) + step for bound in bounds or () for step in (-1, 0, 1)}
    return sorted((value for value in values if low <= value <= high), key=lambda value: (abs(value), value < 0))


def _floats(kind: Any, bounds: tuple[float, float] | None) -> list[float]:
    """List boundary floats of a type, simple ones first; NaN and the infinities last."""
    limits = np.finfo(kind)
    powers: Iterable[float] = (sign * math.ldexp(1, power) for power in (-1, *POWERS) for sign in _SIGNS)
    precise = [float(math.ldexp(1, limits.nmant + 1) + step) for step in (-1, 0, 1, 2)]
    values = [0.0, 1.0, -1.0, *powers, *precise, float(limits.max), -float(limits.max), float(limits.tiny)]
    values += [float(limits.smallest_subnormal), -float(limits.smallest_subnormal), 0.1, 1 / 3]
    for bound in bounds or ():
        exact = kind(bound)
        values += [float(exact), *(float(np.nextafter(exact, kind(side * math.inf))) for side in _SIGNS)]
    with np.errstate(over="ignore"):
        held = dict.fromkeys(float(kind(value)) for value in values)
    finite = sorted((value for value in held if math.isfinite(value)), key=lambda value: (abs(value), value < 0))
    return [0.0, *(value for value in finite if value), -0.0, math.inf, -math.inf, math.nan]
