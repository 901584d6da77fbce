"""Polynomials with exact coefficients, and comparisons with 0 in one shape each; integers are rounded as far as they allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Final, TypeAlias

Monomial: TypeAlias = tuple[int, ...]
"""Indices of variables in order, each as often as its power; the constant is the empty one."""
Polynomial: TypeAlias = Mapping[Monomial, Fraction]
"""Coefficients by monomial, none of them 0."""
Row: TypeAlias = tuple[str, Polynomial]
"""A polynomial with `"<="`, `"<"` or `"="`, as compared with 0."""

UNIT: Final[Polynomial] = {(): Fraction(1)}


def plus(first: Polynomial, second: Polynomial, factor: Fraction | int = 1) -> Polynomial:
    """The sum of the first and a multiple of the second."""
    total = dict(first)
    for monomial, coefficient in second.items():
        total[monomial] = total.get(monomial, Fraction(0)) + factor * coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def times(first: Polynomial, second: Polynomial) -> Polynomial:
    """The product."""
    total: dict[Monomial, Fraction] = {}
    for one, left in first.items():
        for other, right in second.items():
            monomial = tuple(sorted(one + other))
            total[monomial] = total.get(monomial, Fraction(0)) + left * right
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def polynomial_key(polynomial: Polynomial) -> tuple[tuple[Monomial, Fraction], ...]:
    """A key that equal polynomials share, and only they."""
    return tuple(sorted(polynomial.items()))


def tighten(relation: str, polynomial: Polynomial, integer: Sequence[bool]) -> Row | bool:
    """The strongest comparison that means the same, scaled to one shape by a positive number; its truth where it is decided.

    Only where all variables are integers may the constant be rounded, and only once all other coefficients are whole and
    have no common divisor; `p < 0` becomes `p + 1 <= 0` then.
    """
    rest = [coefficient for monomial, coefficient in polynomial.items() if monomial]
    constant = polynomial.get((), Fraction(0))
    if not rest:
        return {"<=": constant <= 0, "<": constant < 0, "=": constant == 0}[relation]
    if not all(integer[index] for monomial in polynomial for index in monomial):
        return relation, times(polynomial, {(): 1 / abs(polynomial[max(polynomial)])})
    scale = lcm(*(coefficient.denominator for coefficient in rest))
    scaled = times(polynomial, {(): Fraction(scale, gcd(*(int(coefficient * scale) for coefficient in rest)))})
    constant = scaled.get((), Fraction(0))
    if relation == "=":
        return ("=", scaled) if constant.denominator == 1 else False
    rounded = ceil(constant) if relation == "<=" else floor(constant) + 1
    return "<=", plus(scaled, UNIT, rounded - constant)
