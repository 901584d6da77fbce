"""The error bound of `certexp`, proved by interval arithmetic from the constants that ship."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeVar

import numpy as np
from flint import arb

from dpaudit.exact import ball_endpoints, working_precision
from mechanisms.sampling import exactnum
from mechanisms.sampling.exactnum import LARGEST_EXPONENT, ExpConstants, exp_constants
from proofs.rounding import SMALLEST, UNIT, Computed, compound, exponential_change, require

T = TypeVar("T", float, Computed)

CLAIMED: Final = Fraction(1, 2**51)
"""`certexp` says that its relative error is below this."""

_PRECISION: Final = 400
"""Bits of the balls; too few would fail the proof, never weaken it, since balls contain the truth at any precision."""

_SIGNIFICANT_BITS: Final = 53
_SMALLEST_NORMAL: Final = -1022


@dataclass(frozen=True)
class ErrorBound:
    """Bounds on what each step of `certexp` adds to its relative error, and on the sum.

    Args:
      terms: name and size of each step's part, in the order of the computation.
      total: bound on the relative error of the result.
      whole: largest number of table steps in an argument.
    """

    terms: tuple[tuple[str, Fraction], ...]
    total: Fraction
    whole: int


def prove(constants: ExpConstants | None = None, largest: float = LARGEST_EXPONENT, claimed: Fraction = CLAIMED) -> ErrorBound:
    """Prove that `certexp` errs by less than it says on [0, largest] (Tang 1989 for the method)."""
    constants = exp_constants() if constants is None else constants
    size = len(constants.entries)
    require("arguments are at most 708", holds=0 < largest <= LARGEST_EXPONENT)
    require("the table has a power of two of entries", holds=size == 1 << constants.bits)
    with working_precision(_PRECISION):
        step_ball = arb.const_log2() / size
        step = _upper(step_ball)
        inverse_error = _upper(abs(1 / step_ball - arb(constants.inverse)))
        high_rest = _upper(abs(step_ball - arb(constants.high)))
        low_rest = _upper(abs(step_ball - arb(constants.high) - arb(constants.low)))
        third_rest = _upper(abs(arb(1) / 6 - arb(constants.third)))
    top, inverse = Fraction(largest), Fraction(constants.inverse)

    # The number of steps: the constant's error, one rounded product, and the rounding to a whole number by a large sum.
    from_nearest = Fraction(1, 2) + top * inverse_error + top * inverse * UNIT + SMALLEST
    whole = math.floor(top * inverse * (1 + UNIT) + Fraction(1, 2))
    _require_exact_steps(constants, whole)
    _require_normal_results(constants, whole, largest)

    # The remainder: both products start from exact numbers, and the exact remainder is small whatever was rounded before.
    remainder = from_nearest * step
    first = Computed(remainder + whole * high_rest)
    first = Computed(first.size, first.size * UNIT)
    second = Fraction(whole) * Computed(Fraction(constants.low))
    argument = _difference_error(first, second, remainder + whole * low_rest) + whole * low_rest
    rest = remainder + argument
    require("the remainder is so small that its exponential is near 1", holds=rest < Fraction(1, 1000))

    # The polynomial: the argument's error is counted apart, so the operations start from an exact argument.
    value = polynomial(Computed(rest), Computed(Fraction(1, 6), third_rest))
    terms = (
        ("argument", exponential_change(argument)),
        ("polynomial", value.error / (1 - rest)),
        ("series", rest**4 / 24 * (1 + 2 * rest) / (1 - rest)),
        ("table", _table_error(constants)),
        ("product", UNIT),
    )
    total = compound(*(part for _, part in terms))
    require(f"an error of 2^{math.log2(total):.2f} is below 2^{math.log2(claimed):.2f}", holds=total < claimed)
    return ErrorBound(terms, total, whole)


def _difference_error(first: Computed, second: Computed, size: Fraction) -> Fraction:
    """Error of the rounded difference of two floats when the exact difference is known to be at most `size`."""
    carried = first.error + second.error
    return carried + (size + carried) * UNIT


def polynomial(rest: T, third: T) -> T:
    """The operations of `certexp` between remainder and table: on floats, or on what is known of them."""
    one, half = Fraction(1), Fraction(1, 2)
    return one - rest * (one - rest * (half - rest * third))


def certexp_by_steps(x: float, constants: ExpConstants | None = None) -> float:
    """`certexp` of one float by the operations that the proof is about, so that a test can compare it with what ships."""
    constants = exp_constants() if constants is None else constants
    large = exactnum._TO_INTEGER  # noqa: SLF001 - the constant the proof is about
    whole = (x * constants.inverse + large) - large
    rest = (x - whole * constants.high) - whole * constants.low
    entry = constants.entries[int(whole) % len(constants.entries)]
    return polynomial(rest, constants.third) * math.ldexp(entry, -(int(whole) >> constants.bits))


def _require_exact_steps(constants: ExpConstants, whole: int) -> None:
    """The number of steps is a whole number, is read from the sum's low bits, and its product with HIGH is exact."""
    large = Fraction(exactnum._TO_INTEGER)  # noqa: SLF001 - the constant the proof is about
    require("the large constant is a whole number", holds=large.denominator == 1)
    require("sums with the large constant have a spacing of 1", holds=large >= 2**52 and large + whole < 2**53)
    require("the low half of the large constant's pattern is zero", holds=(large - 2**52) % 2**32 == 0)
    require("the number of steps fits the low half", holds=whole < 2**31)
    high = Fraction(constants.high)
    bits = high.numerator.bit_length() + whole.bit_length()
    require(f"steps and HIGH have {_SIGNIFICANT_BITS} bits together at most, they have {bits}", holds=bits <= _SIGNIFICANT_BITS)


def _require_normal_results(constants: ExpConstants, whole: int, largest: float) -> None:
    """The shift of an entry's exponent is exact, and so is the meaning of the last rounding: all results are normal floats."""
    least = min(constants.entries)
    require("entries lie from 1/2 to 1", holds=least >= 0.5 and max(constants.entries) <= 1)
    require("the array and the tuple hold the same entries", holds=constants.table.tolist() == list(constants.entries))
    shift = whole >> constants.bits
    require("shifted entries are normal", holds=math.frexp(least)[1] - 1 - shift >= _SMALLEST_NORMAL)
    with working_precision(_PRECISION):
        normal = (-arb(largest)).exp() * (1 - arb(2) ** -50) > arb(2) ** _SMALLEST_NORMAL
    require("results are normal", holds=bool(normal))


def _table_error(constants: ExpConstants) -> Fraction:
    """Largest relative error of an entry; refuses a table in which one is not the float nearest to its power of two."""
    worst = Fraction(0)
    with working_precision(_PRECISION):
        step = arb.const_log2() / len(constants.entries)
        for index, entry in enumerate(constants.entries):
            truth = (-step * index).exp()
            distance = abs(truth - arb(entry))
            for neighbour in (np.nextafter(entry, 0.0), np.nextafter(entry, 2.0)):
                nearest = bool(distance <= abs(truth - arb(float(neighbour))))
                require(f"entry {index} is the nearest float", holds=nearest)
            worst = max(worst, _upper(distance / truth))
    return worst


def _upper(value: arb) -> Fraction:
    """A rational at or above everything in a ball."""
    end = ball_endpoints(value)[1]
    require("a ball is bounded", holds=isinstance(end, Fraction))
    return Fraction(end)
