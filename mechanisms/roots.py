"""Roots of rational numbers and of integers, rounded up: norms that nothing may exceed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

_ROOT_BITS: Final = 64


def root_above(square: Fraction) -> Fraction:
    """A rational number that is at least the root of another, and larger by less than a part in 2**60."""
    shift = _ROOT_BITS + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    whole = square.numerator * 4**shift
    return Fraction(whole_root_above(-(-whole // square.denominator)), 2**shift) if square else Fraction(0)


def whole_root_above(square: int) -> int:
    """The least integer whose square is at least a positive one: for a number of columns, a bound on the L2 norm of ones."""
    return math.isqrt(square - 1) + 1
