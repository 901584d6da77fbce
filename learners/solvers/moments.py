"""The triangle of a second moment as it is released: weights of its entries, and how much one record moves it."""

from __future__ import annotations

from typing import Final

from mechanisms.roots import whole_root_above

DIAGONAL: Final = 5
OFF_DIAGONAL: Final = 7
"""What entries of the upper triangle are multiplied by; 7**2 <= 2 * 5**2, so that distances stay within 5 of the matrix's own."""


def moment_sensitivity(bound: int, moves: int) -> int:
    """Bound how far one record moves the released triangle of a second moment, in L2 norm, rounded up to an integer."""
    return whole_root_above(moves * (DIAGONAL * bound**2) ** 2)
