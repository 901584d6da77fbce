"""Continuous noise as a random cell of unit length around an integer, and a random place inside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Protocol

from flint import arb, ctx

from dpaudit.exact import ball, float_outward, working_precision
from mechanisms.sampling import estimates, weights
from mechanisms.sampling.envelope import EvenLaw
from mechanisms.sampling.estimates import Estimate


class Cells(EvenLaw, Protocol):
    """A continuous even law: the law of its nearest integer k, and where in [k - 1/2, k + 1/2] it lies."""

    def below(self, k: int, place: Fraction) -> arb:
        """Ball around P(noise < k + place | cell k), for a place from -1/2 to 1/2, at the current working precision."""

    def steepness(self, reach: int) -> Fraction:
        """Bound on |d log(density) / dx| at all distances up to `reach` from 0."""


@dataclass(frozen=True)
class LaplaceCells:
    """The continuous Laplace law of density exp(-|x| / scale) / (2 scale), cell by cell."""

    scale: Fraction

    cut = weights.LAPLACE_CUT

    @property
    def width_squared(self) -> Fraction:
        """Square of the scale, by which the sampler sizes its blocks."""
        return self.scale**2

    def weight(self, k: int) -> arb:
        """Ball around P(cell k) / P(cell 0) = exp(-|k| / scale) (1 + exp(1 / (2 scale))) / 2 for k other than 0."""
        if k == 0:
            return arb(1)
        return weights.laplace_weight(self.scale, k) * (1 + ball(1 / (2 * self.scale)).exp()) / 2

    def decay(self, start: int) -> Fraction:  # noqa: ARG002
        """Rate at which weights fall beyond `start` >= 1; here the same everywhere."""
        return 1 / self.scale

    def estimate(self, shift: int, reach: int) -> Estimate:  # noqa: ARG002
        """exp(-|k| / scale), off by (exp(1 / (2 scale)) - 1) / 2 relative to itself, which is below 1 / (2 scale) up to 1."""
        slack = float_outward(1 / (2 * self.scale), up=True) if 2 * self.scale >= 1 else inf
        return replace(estimates.laplace_estimate(self.scale, shift), slack=slack)

    def below(self, k: int, place: Fraction) -> arb:
        """P(noise < k + place | cell k) from differences of exponentials that share their sign, so that none cancels."""
        if k < 0 or (k == 0 and place > 0):
            return 1 - self.below(-k, -place)
        first, half = ball((place + Fraction(1, 2)) / self.scale), ball(1 / (2 * self.scale))
        if k == 0:
            return (-half).exp() * first.expm1() / (-2 * (-half).expm1())
        return (-first).expm1() / (-2 * half).expm1()

    def steepness(self, reach: int) -> Fraction:  # noqa: ARG002
        """The logarithm of the density has slope 1 / scale everywhere."""
        return 1 / self.scale


@dataclass(frozen=True)
class GaussianCells:
    """The continuous Gaussian law of mean 0 and standard deviation `scale`, cell by cell."""

    scale: Fraction

    cut = weights.GAUSSIAN_CUT

    @property
    def width_squared(self) -> Fraction:
        """The variance, by which the sampler sizes its blocks."""
        return self.scale**2

    def weight(self, k: int) -> arb:
        """Ball around P(cell k) / P(cell 0)."""
        return weights.rounded_weight(self.scale**2, k)

    def decay(self, start: int) -> Fraction:
        """Rate at which weights fall beyond `start`: that of the density at the left end of the cell of `start`."""
        return (start - Fraction(1, 2)) / self.scale**2

    def estimate(self, shift: int, reach: int) -> Estimate:
        """Float formula for the weights."""
        return estimates.rounded_estimate(self.scale**2, shift, reach)

    def below(self, k: int, place: Fraction) -> arb:
        """P(noise < k + place | cell k) from error functions, at the precision that their differences cancel."""
        if k < 0:
            return 1 - self.below(-k, -place)
        size = self.scale.numerator.bit_length() - self.scale.denominator.bit_length()
        # Far out, an error of the argument is multiplied by its size twice; near 0 the functions differ by 1 / scale only.
        with working_precision(ctx.prec + 32 + max(0, size) + 2 * max(0, k.bit_length() - size)):
            root = ball(2 * self.scale**2).sqrt()
            left, here, right = ((ball(k + distance) / root).erfc() for distance in (Fraction(-1, 2), place, Fraction(1, 2)))
            return (left - here) / (left - right)

    def steepness(self, reach: int) -> Fraction:
        """The logarithm of the density has slope x / scale^2 at x."""
        return reach / self.scale**2
