"""Random order of records: a Gaussian release whose distance depends on where, or how often, the order puts a record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

from flint import arb, arb_poly, fmpq

from dpaudit.accounting.law import Bracketed, GaussianShaped, Law
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.gaussian import gaussian_profile
from dpaudit.accounting.values import LossValue
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, shown, working_precision

if TYPE_CHECKING:
    from dpaudit.accounting.numeric.distributions import Distribution

Chances: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""Squares of the factor by which the distance is scaled, increasing, each with its probability."""

UNITS: Final = 1024
"""Squares are rounded up to multiples of 1 over this, and a law has about as many of them at most."""

HIGHEST: Final = 1024
"""Sums of squared multiplicities beyond this are counted as revealing everything."""

CHANCE_BITS: Final = 128
"""Probabilities are multiples of 2 to minus this; what rounding adds goes to larger squares."""

GATHERED: Final = 16
"""Squares that differ by less than one over this of their size and mean are composed on a lattice as one."""

GROUND = (
    "delta is jointly convex, so publishing a random order beside the release costs the mean over orders "
    "(docs/sampling_schemes.md, random order)"
)


@dataclass(frozen=True)
class Ordered:
    """N(sqrt(square) mu, 1) against N(0, 1) beside the square, drawn from `squares`; everything with probability `beyond`."""

    mu_squared_once: Fraction
    squares: Chances
    beyond: Fraction

    def describe(self) -> str:
        """The law at full distance and how many factors it has."""
        return f"gaussian with mu^2 = {shown(self.mu_squared_once)}, scaled by {len(self.squares)} random factors"

    def reversed(self) -> Ordered:
        """The law itself, as for each of its components."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """Unbounded, unless every distance is 0."""
        return None if self.mu_squared_once * self.squares[-1][0] else LossValue()

    def infinity_mass(self) -> Fraction:
        """The probability of the orders that are left out."""
        return self.beyond

    def log_moment(self, order: Fraction) -> arb:
        """Logarithm of the mean of the moments."""
        slope = ball(order * (1 + order) * self.mu_squared_once / 2)
        return sum((ball(chance) * (slope * ball(square)).exp() for square, chance in self.squares), arb(0)).log()

    def profile(self, epsilon: arb) -> arb:
        """Mean of the profiles."""
        found = (ball(chance) * gaussian_profile(self.mu_squared_once * square, epsilon) for square, chance in self.squares)
        return sum(found, ball(self.beyond))

    def profile_source(self) -> str:
        """Why the mean counts."""
        return GROUND

    def distribution(self) -> Distribution:
        """A mixture of fewer normal losses, each at the largest distance that it stands for."""
        from dpaudit.accounting.laws.response import Response
        from dpaudit.accounting.numeric.distributions import Listed, Normal
        from dpaudit.accounting.numeric.mixtures import Blend

        parts = [
            (Normal(self.mu_squared_once * square) if square else Listed(Response(Fraction(0), "")), chance)
            for square, chance in _fewer(self.squares)
        ]
        return Blend(tuple(parts), self.beyond)


def in_random_order(law: Law, squares: Chances, beyond: Fraction, scheme: str) -> Law:
    """A Gaussian release under a random order, from above; nothing is claimed from below, since the order stays secret."""
    above = law.bracket()[0] if isinstance(law, Bracketed) else law
    if not isinstance(above, GaussianShaped):
        raise Unsupported("DPA202", f"random order is priced for Gaussian noise, got {law.describe()}.")
    return Between(f"{law.describe()}.sampled({scheme})", Ordered(above.mu_squared, squares, beyond), None, GROUND)


def position_squares(records: int, batches: Sequence[int], rounds: int, *, averaged: bool) -> tuple[Chances, Fraction]:
    """Squares where a permutation puts each record at one place of one batch, or nowhere, afresh in every round.

    At place p of n, an average of the iterates before each step moves by the factor (n - p)/n, any other release by at most 1.
    """
    counts = [0] * (UNITS + 1)
    counts[0] = records - sum(batches)
    for size in batches:
        reached = 0
        for index in range(UNITS + 1) if averaged else (UNITS,):  # steps left q with q^2/n^2 <= index/UNITS
            up_to = min(size, math.isqrt(size * size * index // UNITS) + 1) if averaged else size
            counts[index] += up_to - reached
            reached = up_to
    with working_precision(192):
        whole = _power(arb_poly([fmpq(count, records) for count in counts]), rounds, UNITS * rounds + 1)
        return _upward([whole[index] for index in range(UNITS * rounds + 1)], arb(0), Fraction(1, UNITS))


def multiplicity_squares(records: int, batches: Sequence[int], rounds: int) -> tuple[Chances, Fraction]:
    """Squared multiplicities, added over batches, where every place of a batch draws a record afresh."""
    length = HIGHEST + 1
    with working_precision(256):
        whole, chance = arb_poly([1]), ball(Fraction(1, records))
        for size in batches:
            row, mass = [arb(0)] * length, (1 - chance) ** size if records > 1 else arb(size == 0)
            for times in range(min(size, math.isqrt(HIGHEST)) + 1):
                row[times * times] = mass if records > 1 else arb(times == size)
                mass = mass * (size - times) / (times + 1) * chance / (1 - chance) if records > 1 else mass
            whole = _power_step(whole, arb_poly(row), length)
        whole = _power(whole, rounds, length)
        found = [whole[index] for index in range(length)]
        return _upward(found, (1 - sum(found, arb(0))).nonnegative_part(), Fraction(1))


def _power(poly: arb_poly, times: int, length: int) -> arb_poly:
    """A power of a polynomial, cut to a length."""
    result = arb_poly([1])
    for digit in f"{times:b}":
        result = _power_step(result, result, length)
        result = _power_step(result, poly, length) if digit == "1" else result
    return result


def _power_step(one: arb_poly, other: arb_poly, length: int) -> arb_poly:
    """A product, cut to a length."""
    return (one * other).truncate(length)


def _upward(masses: Sequence[arb], beyond: arb, unit: Fraction) -> tuple[Chances, Fraction]:
    """Exact probabilities whose every upper tail is at or above the true one, so that distances only grow."""
    tail = remaining = beyond
    steps = 1 << ((len(masses) - 2) // UNITS).bit_length()  # a power of two, so that whole squares stay as they are
    top = before = _chance_above(tail)
    found: dict[Fraction, Fraction] = {}
    for index in range(len(masses) - 1, -1, -1):
        remaining = remaining + masses[index]
        reached = max(before, _chance_above(remaining)) if index else Fraction(1)
        if reached > before:
            square = -(-index // steps) * steps * unit
            found[square] = found.get(square, Fraction(0)) + reached - before
        before = reached
    return tuple(sorted(found.items())), top


def _chance_above(mass: arb) -> Fraction:
    """The next multiple of the unit of probabilities at or above a mass, at most 1."""
    upper = ball_endpoints(mass)[1]
    return (
        Fraction(1) if isinstance(upper, float) else min(Fraction(1), Fraction(math.ceil(upper * 2**CHANCE_BITS), 2**CHANCE_BITS))
    )


def _fewer(squares: Chances) -> Chances:
    """Squares within a small part of themselves and of their mean become the largest of them."""
    room = sum((square * chance for square, chance in squares), Fraction(0))
    found: dict[Fraction, Fraction] = {}
    largest = squares[-1][0]
    for square, chance in reversed(squares):
        if square == 0 or largest - square > (room + square) / GATHERED:
            largest = square
        found[largest] = found.get(largest, Fraction(0)) + chance
    return tuple(sorted(found.items()))
