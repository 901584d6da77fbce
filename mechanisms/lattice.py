"""Contributions on a lattice: each person's value is clamped to public bounds and rounded to an integer number of steps."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, kind_of, positive, rational, shown, word
from mechanisms.entries import exact_array

Rounding: TypeAlias = Literal["nearest", "toward_zero"]

_LARGEST_STEP: Final = 2**62
_LARGEST_FAST_STEP: Final = 2**50
_LARGEST_DECIMAL_EXPONENT: Final = 5000


@dataclass(frozen=True)
class _Bounds:
    """The public description of a rounding: step size, least and greatest step, where unreadable values go, and the rule."""

    lattice: Fraction
    low: int
    high: int
    unreadable: int
    nearest: bool

    def step(self, value: object) -> int:
        """The step of one value, in exact arithmetic; total, so that no private value can raise an error."""
        number = _number(value)
        if number is None:
            return self.unreadable
        if isinstance(number, float):
            return self.high if number > 0 else self.low
        steps = number / self.lattice
        if steps <= self.low:
            return self.low
        if steps >= self.high:
            return self.high
        return round(steps) if self.nearest else int(steps)


def clamp_to_lattice(
    values: Iterable[Any] | NDArray[Any], *, lower: Exact, upper: Exact, lattice: Exact = 1, rounding: Rounding = "nearest"
) -> NDArray[np.int64]:
    """Each person's value as an integer number of lattice steps, clamped to public bounds.

    This is what makes a sensitivity true: every value, whatever it is, ends within [lower, upper], so one person moves the
    sum by at most max(|lower|, |upper|) / lattice steps when added or removed, and by (upper - lower) / lattice when replaced.
    A value that is no number (NaN, None, text) counts as the number of the range that is nearest to zero, and no value raises
    an error: a refusal would reveal that somebody in the data has such a value.

    Args:
      values: one number per person; a sequence, or an array of any shape, which is kept. Never changed.
      lower: least value counted, public, a multiple of `lattice`, in the units of the values.
      upper: greatest value counted, public, a multiple of `lattice`, in the units of the values.
      lattice: size of a step, exact and positive, in the units of the values.
      rounding: "nearest" (ties to the even step) or "toward_zero" (never longer than the value, which keeps norms).
    Returns:
      int64 array of steps; the value that a step stands for is step * lattice.
    Raises:
      InvalidArgument: a public parameter is not a number (DPA101, DPA102), not positive (DPA104), off the lattice (DPA107),
        out of order or an unknown rule (DPA103), the range has 2**62 steps or more (DPA108), or `values` is no collection (DPA105).
    Source: Casacuberta, Shoemate, Vadhan, Wagaman 2022 (why sums are of integers); docs/audit_your_own.md.
    Example:
      >>> clamp_to_lattice([7.25, 400.0, float("nan")], lower=5, upper=30, lattice="1/4").tolist()
      [29, 120, 20]
    """
    bounds = _bounds(lower, upper, lattice, rounding)
    array = _as_array(values)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8 and _is_moderate(bounds):
        return _float_steps(array.astype(np.float64), bounds, whole=False)
    if array.dtype.kind in "biu" and _is_moderate(bounds) and max(abs(bounds.low), abs(bounds.high)) * bounds.lattice < 2**52:
        # Whole numbers just outside the bounds are exact floats then.
        return _float_steps(_clamped_integers(array, bounds), bounds, whole=True)
    steps = [bounds.step(value) for value in array.reshape(-1)]
    return np.array(steps, dtype=np.int64).reshape(array.shape)


def _bounds(lower: Exact, upper: Exact, lattice: Exact, rounding: Rounding) -> _Bounds:
    """The checked public parameters."""
    step, least, greatest = positive(lattice, "lattice"), rational(lower, "lower"), rational(upper, "upper")
    word(rounding, "rounding", ("nearest", "toward_zero"))
    if least > greatest:
        raise InvalidArgument(
            "DPA103", f"lower must not exceed upper, got lower={shown(least)} and upper={shown(greatest)}. Exchange them."
        )
    for name, bound in (("lower", least), ("upper", greatest)):
        if (bound / step).denominator != 1:
            raise InvalidArgument(
                "DPA107",
                f"{name} must be a multiple of lattice, got {name}={shown(bound)} and lattice={shown(step)}. "
                "Rounding would leave the range otherwise; choose bounds that are multiples of it.",
            )
        if abs(bound / step) >= _LARGEST_STEP:
            raise InvalidArgument(
                "DPA108", f"{name} is {shown(bound / step)} steps from zero, allowed are less than 2**62. Choose a larger lattice."
            )
    low, high = int(least / step), int(greatest / step)
    return _Bounds(lattice=step, low=low, high=high, unreadable=min(max(low, 0), high), nearest=rounding == "nearest")


def _as_array(values: Iterable[Any] | NDArray[Any]) -> NDArray[Any]:
    """The values as an array of numbers that a float or an integer type holds exactly, or else of objects."""
    if isinstance(values, (str, bytes)) or not (isinstance(values, Iterable) or hasattr(values, "__array__")):
        raise InvalidArgument(
            "DPA105",
            f"values must be a sequence or an array, one number per person, got {kind_of(values)}. Write a list such as [2, 5, 3].",
        )
    return exact_array(values)


def _is_moderate(bounds: _Bounds) -> bool:
    """True if floats decide all but the doubtful roundings: few enough steps, and a step size far from float limits."""
    few = max(abs(bounds.low), abs(bounds.high)) <= _LARGEST_FAST_STEP
    return few and Fraction(1, 2**900) <= bounds.lattice <= 2**900


def _clamped_integers(array: NDArray[Any], bounds: _Bounds) -> NDArray[np.float64]:
    """Integers as exact floats: those beyond the bounds are moved to the next integers outside them first."""
    outer = int(max(abs(bounds.low), abs(bounds.high)) * bounds.lattice) + 1
    if array.dtype.kind == "u":
        return np.minimum(array.astype(np.uint64), np.uint64(outer)).astype(np.float64)
    return np.clip(array.astype(np.int64), -outer, outer).astype(np.float64)


def _float_steps(values: NDArray[np.float64], bounds: _Bounds, *, whole: bool) -> NDArray[np.int64]:
    """Steps of float values: the quotient in floats, and exact arithmetic wherever its error could change the rounding.

    The quotient has two roundings, hence a relative error below 2**-51; it is exact when the step size is a power of two,
    and when integers meet a step size of 1 over an integer.
    """
    factor = 1 / bounds.lattice
    exact = _is_power_of_two(factor) or (whole and factor.denominator == 1 and factor <= _LARGEST_FAST_STEP)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        quotient = values * float(factor)
        rounded = np.rint(quotient) if bounds.nearest else np.trunc(quotient)
        steps = np.where(np.isnan(values), bounds.unreadable, np.clip(rounded, bounds.low, bounds.high)).astype(np.int64)
        if not exact:
            border = np.abs(quotient - np.floor(quotient) - 0.5) if bounds.nearest else np.abs(quotient - np.rint(quotient))
            doubtful = (border <= np.abs(quotient) * 2.0**-50) & (quotient != 0)
            doubtful &= (quotient >= bounds.low - 1) & (quotient <= bounds.high + 1)
            for position in zip(*np.nonzero(doubtful), strict=True):
                steps[position] = bounds.step(values[position])
    return steps


def _is_power_of_two(value: Fraction) -> bool:
    """True if multiplying a float by `value` is exact."""
    return value.numerator & (value.numerator - 1) == 0 and value.denominator & (value.denominator - 1) == 0


def _number(value: object) -> Fraction | float | None:
    """The exact number in a value, a float infinity where it is too large to write down, None where it is no number."""
    if isinstance(value, (bool, np.bool_)):
        return Fraction(int(value))
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return None
        return float(value) if np.isinf(value) else Fraction(*value.as_integer_ratio())
    return None


def _decimal(value: Decimal) -> Fraction | float | None:
    """The exact number in a decimal; an exponent whose digits would exhaust memory counts as infinity or as zero."""
    if value.is_nan():
        return None
    if not value:
        return Fraction(0)
    if value.is_infinite() or value.adjusted() > _LARGEST_DECIMAL_EXPONENT:
        return float("-inf") if value < 0 else float("inf")
    return Fraction(0) if value.adjusted() < -_LARGEST_DECIMAL_EXPONENT else Fraction(value)
