"""Several Laplace releases: their profile in closed form, as finitely many exponentials times power series."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Final

from flint import arb, ctx, fmpz, fmpz_poly

from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.exact import ball

MOST_WORK: Final = 1 << 15
"""Most coefficients and terms of series that an answer may take; more releases are left to the numerical engines."""

SOURCE: Final = (
    "the moment function of Laplace releases is a sum of exponentials over powers, inverted term by term (docs/prices.md)"
)


def is_short(parts: Sequence[tuple[Laplace, int]], uses: int) -> bool:
    """True if the releases are few enough for `uses` values of `summed_profile`."""
    work = sum(count * (1 + law.pure_epsilon) for law, count in parts)
    return uses * math.prod(count + 1 for _, count in parts) * work <= MOST_WORK


def summed_profile(parts: Sequence[tuple[Laplace, int]], epsilon: arb) -> arb:
    """Delta of k releases in all, for epsilon of any sign.

    With e_i the greatest losses, each release multiplies the moment function by (x (1 + v) + b (1 - v)) e^(-z e_i)/2, where
    x = e^(2 z e_i), b = e^(-e_i) and v = 1/(2 z + 1). So m_i powers of x_i come with a polynomial in v of degree k, and the
    power j of v with e^(z y) becomes 2 e^(-y/2) times the sum of (y/2)^n/n! over n = j + 1, j + 3, ..., or 0 for y <= 0.
    """
    releases, total = sum(count for _, count in parts), arb(0)
    for chosen in product(*(range(count + 1) for _, count in parts)):
        place, weight = -epsilon, arb(1)
        for (law, count), ups in zip(parts, chosen, strict=True):
            pure = ball(law.pure_epsilon)
            place += (2 * ups - count) * pure
            weight *= (-(count - ups) * pure).exp() * fmpz.bin_uiui(count, ups) / fmpz(2) ** count
        if not place <= 0:
            total += weight * _inverted(sum(chosen), releases, place.nonnegative_part() / 2)
    return total.nonnegative_part()


def _inverted(ups: int, releases: int, half: arb) -> arb:
    """Return what (1 + v)^ups (1 - v)^(releases - ups) becomes at y = 2 half, without the weight."""
    coefficients = (fmpz_poly([1, 1]) ** ups * fmpz_poly([1, -1]) ** (releases - ups)).coeffs()
    term = half ** (releases + 1) / arb.fac_ui(releases + 1)
    later = [_every_other(term, half, releases + 1), _every_other(term * half / (releases + 2), half, releases + 2)]
    value = later[0] * arb(coefficients[releases])
    for power in range(releases - 1, -1, -1):  # the sum from n = power + 1 on is one term and that from n + 2 on
        later = [half ** (power + 1) / arb.fac_ui(power + 1) + later[1], later[0]]
        value += later[0] * arb(coefficients[power])
    return 2 * (-half).exp() * value


def _every_other(term: arb, half: arb, first: int) -> arb:
    """Sum of half^n/n! over n = first, first + 2, ...; `term` is its first term."""
    total, index = arb(0), first
    while True:
        total += term
        growth = half * half / ((index + 1) * (index + 2))
        term, index = term * growth, index + 2
        if growth < 0.5 and not term > total.abs_upper() * arb(2) ** -ctx.prec:
            return total + arb(0).union(2 * term.abs_upper())
