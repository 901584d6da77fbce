"""Moments of likelihood ratios that are mixtures of simpler ones: whole orders exactly, others by convexity."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, arb_poly

from dpaudit.accounting.model.law import Law
from dpaudit.exact import ball, working_precision

MOST_ORDERS: Final = 256  # Largest whole order that is computed; a multiple of it is known from it by no more than convexity
BITS: Final = 256  # Working precision; all terms are positive, so nothing cancels


@lru_cache(maxsize=32)
def sampled_moments(law: Law, rate: Fraction) -> tuple[arb, ...] | None:
    """Logarithms of E_Q[(1 - rate + rate R)^m], m = 0, 1, ..., with R = dP/dQ of the law and finite losses; None if unknown."""
    with working_precision(BITS):
        ratios = _series(law)
        if ratios is None:
            return None
        stay = _exponential(1 - rate)
        return _logarithms(ratios(arb_poly([0, ball(rate)])) * stay, Fraction(1))


@lru_cache(maxsize=32)
def mean_moments(law: Law, steps: int) -> tuple[arb, ...] | None:
    """Logarithms of E_Q[((R_1 + ... + R_steps)/steps)^m], m = 0, 1, ..., likewise."""
    with working_precision(BITS):
        ratios = _series(law)
        return None if ratios is None else _logarithms(power(ratios, steps, MOST_ORDERS + 1), Fraction(1, steps))


def between_whole(logarithms: Sequence[arb], order: Fraction) -> tuple[arb, arb] | None:
    """Below and above the logarithm of the moment of an order from 1 up, which is convex in the order; None beyond the last."""
    whole = int(order)
    if whole + 2 >= len(logarithms):
        return None
    if whole == order:
        return logarithms[whole], logarithms[whole]
    part = ball(order - whole)
    before, low, high, after = logarithms[whole - 1 : whole + 3]
    return (low + part * (low - before)).max(high - (1 - part) * (after - high)), (1 - part) * low + part * high


def power(poly: arb_poly, times: int, length: int) -> arb_poly:
    """A power of a polynomial, cut to a length."""
    result = arb_poly([1])
    for digit in f"{times:b}":
        result = (result * result).truncate(length)
        result = (result * poly).truncate(length) if digit == "1" else result
    return result


def _series(law: Law) -> arb_poly | None:
    """The sum of E_Q[R^m] z^m/m!, None where a moment is not known."""
    terms = [arb(1), ball(1 - law.infinity_mass())]
    factorial = arb(1)
    for order in range(2, MOST_ORDERS + 1):
        moment, factorial = law.log_moment(Fraction(order - 1)), factorial * order
        if moment is None:
            return None
        terms.append(moment.exp() / factorial)
    return arb_poly(terms)


def _exponential(rate: Fraction) -> arb_poly:
    """e^(rate z), cut."""
    terms = [arb(1)]
    for order in range(1, MOST_ORDERS + 1):
        terms.append(terms[-1] * ball(rate / order))
    return arb_poly(terms)


def _logarithms(series: arb_poly, scale: Fraction) -> tuple[arb, ...]:
    """Logarithms of m! times the coefficients times scale^m."""
    found, factor = [], arb(1)
    for order in range(MOST_ORDERS + 1):
        factor *= ball(order * scale) if order else 1
        found.append((series[order] * factor).log())
    return tuple(found)
