"""Gaussian noise and Gaussian differential privacy in closed form, and upper tails of normal laws with proved remainders."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, ctx

from dpaudit.accounting.model.law import FiniteLosses, LossValue, Symmetric
from dpaudit.exact import ball, shown

PROFILE_SOURCE = "Balle and Wang 2018, Theorem 8: delta(e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)"


class NormalPair(Symmetric, FiniteLosses, ABC):  # reflection exchanges the two normal laws
    """N(mu, 1) against N(0, 1)."""

    name: str

    @property
    @abstractmethod
    def mu_squared(self) -> Fraction:
        """Squared distance of the two normal laws in standard deviations."""

    def describe(self) -> str:
        return self.name

    def greatest_loss(self) -> LossValue | None:
        """None, since the loss is normal; 0 where mu is."""
        return None if self.mu_squared else LossValue()

    def log_moment(self, order: Fraction) -> arb:
        """The loss is N(mu^2/2, mu^2), so this is order (1 + order) mu^2 / 2."""
        return ball(order * (1 + order) * self.mu_squared / 2)

    def profile(self, epsilon: arb) -> arb:
        return gaussian_profile(self.mu_squared, epsilon)

    def profile_source(self) -> str:
        return PROFILE_SOURCE


@dataclass(frozen=True)
class Gaussian(NormalPair):
    """N(mu, 1) against N(0, 1), called `name`; it also prices the rounded Gaussian, which is its post-processing."""

    mu: Fraction
    name: str

    @property
    def mu_squared(self) -> Fraction:
        """Squared distance of the two normal laws in standard deviations."""
        return self.mu**2


@dataclass(frozen=True)
class SquaredGaussian(NormalPair):
    """The same for a distance that is the root of a rational number, such as the length of a column of a matrix."""

    square: Fraction
    name: str

    @property
    def mu_squared(self) -> Fraction:
        """The square itself."""
        return self.square


def gaussian_profile(mu_squared: Fraction, epsilon: arb) -> arb:
    """Ball around delta(epsilon) of N(mu, 1) against N(0, 1)."""
    if mu_squared == 0:
        return (-epsilon.expm1()).nonnegative_part()
    mu, root = ball(mu_squared).sqrt(), arb(2).sqrt()
    near = twice_upper_tail((epsilon / mu - mu / 2) / root)
    far = twice_upper_tail((epsilon / mu + mu / 2) / root)
    return (near - epsilon.exp() * far) / 2


def unit_gaussian(mu: Fraction) -> Gaussian:
    """Return the worst law of mu-Gaussian differential privacy."""
    return Gaussian(mu, f"gdp(mu={shown(mu)})")


# Up to this variance the terms are added one by one, above it the Euler-Maclaurin formula is used.
DIRECT_BELOW: Final = Fraction(48 * 48)


def twice_upper_tail(place: arb) -> arb:
    """Ball around erfc(place), from its two exact ends where place is large: there the radius of a ball costs Arb too much."""
    if not place > 1000:
        return place.erfc()
    return place.upper().erfc().union(place.lower().erfc())


def normal_sum(start: int, variance: Fraction) -> arb:
    """Ball around the sum of exp(-x^2/(2 variance)) over the integers x >= start, for start >= 1."""
    return _cached_sum(start, variance, ctx.prec)


@lru_cache(maxsize=256)
def _cached_sum(start: int, variance: Fraction, bits: int) -> arb:
    """The sum at a stated precision, kept since the same few sums return in every question about a law."""
    return _term_by_term(start, variance, bits) if variance < DIRECT_BELOW else _euler_maclaurin(start, variance, bits)


def _term_by_term(start: int, variance: Fraction, bits: int) -> arb:
    """Add terms until they are below 2^-bits of the first; what is left is below a geometric series."""
    term = ball(-Fraction(start * start) / (2 * variance)).exp()
    ratio, step = ball(-Fraction(2 * start + 1) / (2 * variance)).exp(), ball(-1 / variance).exp()
    total = arb(0)
    for _ in range(math.isqrt(int(2 * bits * variance)) + 2):  # after m terms they are e^(-m^2/(2 variance)) times the first
        total += term
        term, ratio = term * ratio, ratio * step
    return total + arb(0).union((term / (1 - ratio)).upper())


def _euler_maclaurin(start: int, variance: Fraction, bits: int) -> arb:
    """Integral, half the first term and derivative corrections; the remainder is bounded through Hermite polynomials."""
    # The j-th derivative of f(x) = exp(-x^2/2 sigma^2) is (-1/sigma)^j He_j(x/sigma) f(x), and the remainder after m corrections is
    # at most |B_2m|/(2m)! times the integral of |f^(2m)| from the start on, where |B_2m|/(2m)! <= 4/(2 pi)^(2m).
    sigma = ball(variance).sqrt()
    place = start / sigma
    first = (-place * place / 2).exp()
    total = sigma * (arb.pi() / 2).sqrt() * twice_upper_tail(place / arb(2).sqrt()) + first / 2
    negligible = first * arb(2) ** -bits
    before, current = arb(1), place  # He_0 and He_1
    factorial, power = arb(2), sigma  # (2j)! and sigma^(2j - 1)
    remainder = total
    for order in range(1, 4 + bits // 4):
        total += arb.bernoulli(2 * order) / factorial * current / power * first
        latest = _beyond(2 * order, place, current, first, factorial) * 4 * sigma / (2 * arb.pi() * sigma) ** (2 * order)
        if latest >= remainder:  # the asymptotic series has given what it can
            return total + _symmetric(latest)
        remainder = latest
        if remainder < negligible:
            break
        for degree in (2 * order - 1, 2 * order):
            before, current = current, place * current - degree * before
        factorial *= (2 * order + 1) * (2 * order + 2)
        power *= ball(variance)
    return total + _symmetric(remainder)


def _beyond(degree: int, place: arb, previous: arb, first: arb, factorial: arb) -> arb:
    """Bound on the integral of |He_degree(s)| exp(-s^2/2) over s >= place; `previous` is He_(degree - 1)(place)."""
    # Beyond the largest zero, which lies below 2 sqrt(degree), the integral is He_(degree - 1)(place) exp(-place^2/2); elsewhere
    # the Cauchy-Schwarz inequality gives sqrt(pi degree!) exp(-place^2/4), with factorial = degree!.
    if place > 2 * arb(degree).sqrt():
        return previous * first
    return (arb.pi() * factorial).sqrt() * first.sqrt()


def _symmetric(radius: arb) -> arb:
    """Ball around 0 with at least this radius."""
    bound = radius.abs_upper()
    return (-bound).union(bound)
