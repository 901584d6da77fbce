"""Float formulas for weights, each with a proved bound on its distance from the truth."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial, inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpaudit.exact import ball, float_outward, working_precision
from mechanisms.sampling.exactnum import certexp, certexp_one, nearest

FLOAT_SLACK: Final = 2.0**-40
"""Bound, proved with a factor of 2 to spare, on all rounding errors of a comparison, relative to the larger of weight and cell."""

_CORRECTIONS: Final = 4


@dataclass(frozen=True)
class Estimate:
    """The formula exp(-rate y**power) times a polynomial in y**2, where y is |k| in blocks and `power` is 1 or 2.

    `correction` holds the polynomial's coefficients from the constant on (empty for 1). `slack` bounds the formula's relative
    distance from the weight when it is computed without rounding errors.
    """

    rate: float
    power: int
    correction: tuple[float, ...] = ()
    slack: float = 0.0

    def of(self, blocks: NDArray[np.float64]) -> NDArray[np.float64]:
        """The formula at many distances from 0."""
        square = blocks * blocks
        value = certexp(self.rate * (square if self.power == 2 else blocks))
        if self.correction:
            factor = np.full_like(square, self.correction[-1])
            for coefficient in self.correction[-2::-1]:
                factor = factor * square + coefficient
            value *= factor
        return value

    def of_one(self, blocks: float) -> float:
        """The formula at one distance from 0, by the same operations in the same order."""
        square = blocks * blocks
        value = certexp_one(self.rate * (square if self.power == 2 else blocks))
        if self.correction:
            factor = self.correction[-1]
            for coefficient in self.correction[-2::-1]:
                factor = factor * square + coefficient
            value *= factor
        return value


def no_estimate(self: object, shift: int, reach: int) -> Estimate:  # noqa: ARG001
    """For laws without a float formula, as a method: every comparison goes to balls."""
    return Estimate(rate=0.0, power=1, slack=inf)


def laplace_estimate(scale: Fraction, shift: int) -> Estimate:
    """exp(-|k| / scale) for blocks of 2**shift integers."""
    return Estimate(rate=_nearest(2**shift / scale), power=1)


def gaussian_estimate(variance: Fraction, shift: int) -> Estimate:
    """exp(-k^2 / (2 variance)) for blocks of 2**shift integers."""
    return Estimate(rate=_nearest(4**shift / (2 * variance)), power=2)


def rounded_estimate(variance: Fraction, shift: int, reach: int) -> Estimate:
    """Weights of the rounded Gaussian up to `reach` blocks from 0, for blocks of 2**shift integers.

    The weight is exp(-k^2 / (2 v)) times M(k / v) / M(0), where M(a) is the integral of cosh(a t) exp(-t^2 / (2 v)) over
    [-1/2, 1/2]. Writing 1 - t^2 / (2 v) for the exponential changes M by a factor from 1 to 1 + 1 / (64 v^2) when v >= 1/4, and
    leaves a power series in a^2, cut after a^6; docs/sampling.md has the proof.
    """
    rate = _nearest(4**shift / (2 * variance))
    half = Fraction(reach, 2) * 2**shift / variance
    if variance < 1 or half > 1:
        # Outside the proof: every comparison goes to balls.
        return Estimate(rate=rate, power=2, slack=inf)
    per_block = (2**shift / variance) ** 2
    terms = [per_block**i * _cosh_coefficient(variance, i) for i in range(_CORRECTIONS)]
    distance = 1 / (64 * variance**2) + 2 * half ** (2 * _CORRECTIONS) / factorial(2 * _CORRECTIONS + 1)
    correction = tuple(float(term / terms[0]) for term in terms)
    return Estimate(rate=rate, power=2, correction=correction, slack=float_outward(distance * Fraction(9, 8), up=True))


def _cosh_coefficient(variance: Fraction, i: int) -> Fraction:
    """Coefficient of a^(2i) in the integral of cosh(a t) (1 - t^2 / (2 variance)) over [-1/2, 1/2]."""
    quarter = Fraction(1, 4)
    return (quarter**i / (2 * i + 1) - quarter ** (i + 1) / (2 * variance * (2 * i + 3))) / factorial(2 * i)


def _nearest(value: Fraction) -> float:
    """The float64 nearest to a positive rational."""
    with working_precision(128):
        return nearest(ball(value))
