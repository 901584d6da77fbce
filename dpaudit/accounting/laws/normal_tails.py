"""Upper tails of normal laws, continuous and on the integers, with proved remainders."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, ctx

from dpaudit.exact import ball

DIRECT_BELOW: Final = Fraction(48 * 48)
"""Up to this variance the terms are added one by one, above it the Euler-Maclaurin formula is used."""


def twice_upper_tail(place: arb) -> arb:
    """Ball around erfc(place), from its two exact ends where place is large: there the radius of a ball costs Arb too much."""
    if not place > 1000:
        return place.erfc()
    return place.upper().erfc().union(place.lower().erfc())


def normal_sum(start: int, variance: Fraction) -> arb:
    """Ball around the sum of exp(-x^2/(2 variance)) over the integers x >= start, for start >= 1."""
    return _remembered(start, variance, ctx.prec)


@lru_cache(maxsize=256)
def _remembered(start: int, variance: Fraction, bits: int) -> arb:
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
    """Integral, half the first term and derivative corrections; the remainder is bounded through Hermite polynomials.

    The j-th derivative of f(x) = exp(-x^2/2 sigma^2) is (-1/sigma)^j He_j(x/sigma) f(x), and the remainder after m corrections is
    at most |B_2m|/(2m)! times the integral of |f^(2m)| from the start on, where |B_2m|/(2m)! <= 4/(2 pi)^(2m).
    """
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
    """Bound on the integral of |He_degree(s)| exp(-s^2/2) over s >= place; `previous` is He_(degree - 1)(place).

    Beyond the largest zero, which lies below 2 sqrt(degree), the integral is He_(degree - 1)(place) exp(-place^2/2);
    elsewhere the Cauchy-Schwarz inequality gives sqrt(pi degree!) exp(-place^2/4), with factorial = degree!.
    """
    if place > 2 * arb(degree).sqrt():
        return previous * first
    return (arb.pi() * factorial).sqrt() * first.sqrt()


def _symmetric(radius: arb) -> arb:
    """Ball around 0 with at least this radius."""
    bound = radius.abs_upper()
    return (-bound).union(bound)
