"""The Laplace mechanism's loss: closed forms of its profile and moments, and of the profile of several releases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final

from flint import arb, ctx, fmpz, fmpz_poly

from dpaudit.accounting.model.law import FiniteLosses, LossValue, Symmetric
from dpaudit.exact import ball, shown


@dataclass(frozen=True)
class Laplace(Symmetric, FiniteLosses):  # reflection exchanges the two sides
    """Laplace noise of `scale` on values `sensitivity` apart; the loss has atoms at both ends and a density between."""

    scale: Fraction
    sensitivity: Fraction

    @property
    def pure_epsilon(self) -> Fraction:
        """Greatest loss in nats."""
        return self.sensitivity / self.scale

    def describe(self) -> str:
        return f"laplace(scale={shown(self.scale)}, sensitivity={shown(self.sensitivity)})"

    def greatest_loss(self) -> LossValue | None:
        """The pure epsilon, met by every output beyond both centres."""
        return LossValue(self.pure_epsilon)

    def log_moment(self, order: Fraction) -> arb:
        """Mironov 2017, Table II, with a = order + 1: log(a e^((a-1) eps) + (a-1) e^(-a eps)) - log(2a - 1)."""
        rise, fall = ball(order * self.pure_epsilon).exp(), ball(-(order + 1) * self.pure_epsilon).exp()
        return ((ball(order + 1) * rise + ball(order) * fall) / ball(2 * order + 1)).log()

    def profile(self, epsilon: arb) -> arb:
        """1 - exp((epsilon - pure)/2) between the two atoms, the trivial values outside."""
        pure = ball(self.pure_epsilon)
        if epsilon <= -pure:
            return -epsilon.expm1()
        inside = (-((epsilon - pure) / 2).expm1()).nonnegative_part()
        return inside if epsilon >= -pure else inside.union(-epsilon.expm1())

    def profile_source(self) -> str:
        return "Balle, Barthe, Gaboardi 2018, Theorem 3: delta(e) = 1 - exp((e - sensitivity/scale)/2)"


# Most coefficients and terms of series that an answer may take; more releases are left to the numerical engines.
MOST_WORK: Final = 1 << 15

SOURCE: Final = (
    "the moment function of Laplace releases is a sum of exponentials over powers, inverted term by term (docs/prices.md)"
)


def is_short(parts: Sequence[tuple[Laplace, int]], uses: int) -> bool:
    """True if the releases are few enough for `uses` values of `summed_profile`."""
    work = sum(count * (1 + law.pure_epsilon) for law, count in parts)
    return uses * math.prod(count + 1 for _, count in parts) * work <= MOST_WORK


def summed_profile(parts: Sequence[tuple[Laplace, int]], epsilon: arb) -> arb:
    """Delta of k releases in all, for epsilon of any sign."""
    # With e_i the greatest losses, each release multiplies the moment function by (x (1 + v) + b (1 - v)) e^(-z e_i)/2, where
    # x = e^(2 z e_i), b = e^(-e_i) and v = 1/(2 z + 1). So m_i powers of x_i come with a polynomial in v of degree k, and the power
    # j of v with e^(z y) becomes 2 e^(-y/2) times the sum of (y/2)^n/n! over n = j + 1, j + 3, ..., or 0 for y <= 0.
    releases, total = sum(count for _, count in parts), arb(0)
    for chosen in product(*(range(count + 1) for _, count in parts)):
        place, weight = -epsilon, arb(1)
        for (law, count), ups in zip(parts, chosen, strict=True):
            pure = ball(law.pure_epsilon)
            place += (2 * ups - count) * pure
            weight *= (-(count - ups) * pure).exp() * fmpz.bin_uiui(count, ups) / fmpz(2) ** count
        if not place <= 0:
            total += weight * _invert_series(sum(chosen), releases, place.nonnegative_part() / 2)
    return total.nonnegative_part()


def _invert_series(ups: int, releases: int, half: arb) -> arb:
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
