"""Limits of samplers: the largest draw that int64 holds, sizes of tables within their proofs, tables that nobody changes."""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument, Unsupported

LARGEST: Final = 2**62
"""Draws of this size and beyond are given as Python integers only: int64 then holds the sum of a draw and a value up to 2**60."""


def too_large() -> Unsupported:
    """The refusal of a draw that int64 might not hold."""
    return Unsupported("DPA108", "a draw is 2**62 or larger. Ask for wide=True to get Python integers.")


def require_sizes(sizes: object, **ranges: tuple[float, float]) -> None:
    """Refuse sizes that lie outside the ranges for which tables hold them and bounds are proved."""
    for name, (lower, upper) in ranges.items():
        if not lower <= getattr(sizes, name) <= upper:
            raise InvalidArgument("DPA103", f"{name} must be from {lower} to {upper}, got {getattr(sizes, name)}.")


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """The array, made read-only: tables are shared by all mechanisms and threads that use the same law."""
    array.setflags(write=False)
    return array
