"""Distances between a query's values, in exact arithmetic."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument, class_name

_OF_THE_BOUND: Final = Fraction(1, 2**24)
"""Share of a bound by which floats may exceed it: such rounding raises the privacy loss by less than 1e-7 of itself."""

_OF_AN_ENTRY: Final = Fraction(1, 2**40)
"""Share of an entry by which floats may differ and still count as unchanged under `hamming`: rounding in the 13th digit."""


def numbers_in(value: Any) -> list[Fraction]:
    """List every number inside a query's value, exactly, in order; of mappings in the order of their keys' text."""
    if isinstance(value, (bool, np.bool_)):
        return [Fraction(int(value))]
    if isinstance(value, (numbers.Real, Decimal)):
        if isinstance(value, numbers.Rational):
            return [Fraction(int(value.numerator), int(value.denominator))]
        if not math.isfinite(value):
            raise InvalidArgument(
                "DPA102", "a query's value must be finite, got NaN or an infinity. Clip it before it is returned."
            )
        return [Fraction(value) if isinstance(value, Decimal) else Fraction(float(value))]
    if isinstance(value, np.ndarray):
        return numbers_in(value.tolist())
    if isinstance(value, Mapping):
        return [number for key in sorted(value, key=repr) for number in numbers_in(value[key])]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [number for item in value for number in numbers_in(item)]
    raise InvalidArgument(
        "DPA105", f"a query's value must be a number, or a list, array or mapping of numbers, got a {class_name(type(value))}."
    )


def distance_exceeds(first: Any, second: Any, metric: str, bound: Fraction) -> bool:
    """True if two values of a query are further apart than `bound`."""
    before, after = numbers_in(first), numbers_in(second)
    if len(before) != len(after):
        return True
    gaps = [abs(a - b) for a, b in zip(before, after, strict=True)]
    if metric == "hamming":
        slack = _OF_AN_ENTRY if _has_floats(first) or _has_floats(second) else Fraction(0)
        return sum(gap > slack * max(abs(a), abs(b)) for gap, a, b in zip(gaps, before, after, strict=True)) > bound
    limit = bound + tolerance(first, second, bound)
    if metric == "l2":
        return sum((gap * gap for gap in gaps), Fraction(0)) > limit * limit
    if metric == "linf":
        return max(gaps, default=Fraction(0)) > limit
    return sum(gaps, Fraction(0)) > limit


def tolerance(first: Any, second: Any, bound: Fraction) -> Fraction:
    """Excess over a bound that is no violation: 2**-24 of the bound where floats occur, else 0."""
    return bound * _OF_THE_BOUND if _has_floats(first) or _has_floats(second) else Fraction(0)


def estimate_change(first: Any, second: Any) -> float:
    """Estimate how far apart two values are in all: for an order of preference among candidates, never for a finding."""
    try:
        before, after = numbers_in(first), numbers_in(second)
    except InvalidArgument:
        return 0.0
    if len(before) != len(after):
        return math.inf
    return float(sum((abs(a - b) for a, b in zip(before, after, strict=True)), Fraction(0)))


def _has_floats(value: Any) -> bool:
    """True if floats occur inside a query's value."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" or (value.dtype.kind == "O" and _has_floats(value.tolist()))
    if isinstance(value, (numbers.Number, Decimal, bool)):
        return isinstance(value, (float, np.floating))
    if isinstance(value, Mapping):
        return any(_has_floats(item) for item in value.values())
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and any(_has_floats(item) for item in value)
