"""The slack of the kernel's float comparison, proved: whatever floats decide, exact arithmetic would decide as well."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from mechanisms.sampling.estimates import FLOAT_SLACK
from mechanisms.sampling.exactnum import LARGEST_EXPONENT
from proofs.certexp import prove
from proofs.rounding import SMALLEST, UNIT, Computed, compound, exponential_change, require

LARGEST_DISTANCE: Final = Fraction(1, 8)
"""Formulas farther from their weights than this decide nothing: their slack is infinite."""

_LARGEST_SQUARE: Final = Fraction(2**32)
_TERMS: Final = 4


@dataclass(frozen=True)
class Decision:
    """Errors of the two sides of a float comparison, and the slack that they need.

    Args:
      weight: relative error of the computed formula.
      point: relative error of the computed height of a point.
      needed: least relative slack with which both answers are certain.
      slack: the slack that the kernel takes.
    """

    weight: Fraction
    point: Fraction
    needed: Fraction
    slack: Fraction


def prove_comparison(largest: float = LARGEST_EXPONENT, slack: float = FLOAT_SLACK) -> Decision:
    """Prove that a point which floats put under or over a weight by more than the slack lies there."""
    weight, point = weight_error(largest), compound(UNIT, UNIT, UNIT, UNIT)
    lower = 1 - (1 - point) / ((1 + UNIT) * (1 + weight))
    upper = (1 + point) / ((1 - UNIT) * (1 - weight)) - 1
    # The slack is a sum and a product of floats, and the formula's own distance is in it: three roundings of both.
    rounded = 3 * UNIT * (1 + LARGEST_DISTANCE)
    needed = max(lower, upper * (1 + LARGEST_DISTANCE)) + rounded
    taken = Fraction(slack)
    require(f"a slack of 2^{math.log2(taken):.2f} covers errors of 2^{math.log2(needed):.2f}", holds=needed <= taken)
    return Decision(weight, point, needed, taken)


def weight_error(largest: float = LARGEST_EXPONENT) -> Fraction:
    """Relative error of a float formula: exponent, exponential, correction polynomial and their product."""
    square = compound(UNIT, UNIT, UNIT)
    exponent = Fraction(largest) * compound(square, UNIT, UNIT) + 2 * SMALLEST
    return compound(exponential_change(exponent), prove().total, _correction_error(square), UNIT)


def _correction_error(square: Fraction) -> Fraction:
    """Error of the correction polynomial, which is at least 1 everywhere, so that this is relative.

    The i-th coefficient, at the farthest point the estimate allows, is worth at most 24 / 23 / (2 i + 1)!.
    """
    argument = Computed(_LARGEST_SQUARE, _LARGEST_SQUARE * square + SMALLEST)
    terms = [Fraction(24, 23 * math.factorial(2 * i + 1)) / _LARGEST_SQUARE**i for i in range(1, _TERMS)]
    coefficients = [Computed(Fraction(1)), *(Computed(term, term * UNIT + SMALLEST) for term in terms)]
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * argument + coefficient
    return value.error
