"""Running error analysis: bounds on the rounding error of a chain of float64 operations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

UNIT: Final = Fraction(1, 2**53)
"""Rounding to nearest changes a normal result by at most this part of it."""

SMALLEST: Final = Fraction(1, 2**1075)
"""Rounding to nearest changes a subnormal result by at most this."""


class ProofFailed(ArithmeticError):
    """A statement that a proof needs does not hold for the code or the constants it was asked about."""


@dataclass(frozen=True)
class Computed:
    """A float64 by what is known of it: `size` bounds the exact value, `error` the distance of the computed one from it.

    Sums, differences and products stand for single operations of float64, rounded to nearest; an operand that is a Fraction is
    known exactly, or is the bound on the size of one that is.
    """

    size: Fraction
    error: Fraction = Fraction(0)

    def __add__(self, other: Computed | Fraction) -> Computed:
        """The rounded sum; sums never underflow."""
        return _sum(self, _known(other))

    __radd__ = __add__
    __sub__ = __add__
    __rsub__ = __add__

    def __mul__(self, other: Computed | Fraction) -> Computed:
        """The rounded product."""
        factor = _known(other)
        size = self.size * factor.size
        carried = self.size * factor.error + factor.size * self.error + self.error * factor.error
        return Computed(size, carried + (size + carried) * UNIT + SMALLEST)

    __rmul__ = __mul__


def _known(value: Computed | Fraction) -> Computed:
    """A Fraction as a float64 without an error."""
    return value if isinstance(value, Computed) else Computed(abs(value))


def _sum(first: Computed, second: Computed) -> Computed:
    """The rounded sum or difference of two floats whose signs are not known."""
    size, carried = first.size + second.size, first.error + second.error
    return Computed(size, carried + (size + carried) * UNIT)


def compound(*parts: Fraction) -> Fraction:
    """Largest relative change by factors that each lie within their part of 1."""
    product = Fraction(1)
    for part in parts:
        product *= 1 + part
    return product - 1


def exponential_change(distance: Fraction) -> Fraction:
    """Largest relative change of exp(-t) when t changes by at most `distance`, which is below 1."""
    if not 0 <= distance < 1:
        raise ProofFailed(f"an exponent may be off by {float(distance):.3g}, which is too much to bound its exponential")
    return distance * (1 + distance)


def require(statement: str, *, holds: bool) -> None:
    """Raise ProofFailed where a statement is false."""
    if not holds:
        raise ProofFailed(f"not true: {statement}")
