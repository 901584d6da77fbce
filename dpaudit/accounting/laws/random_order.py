"""Random order of records: a Gaussian release whose distance depends on where, or how often, the order puts a record."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from flint import arb, arb_poly, fmpq

from dpaudit.accounting.laws.allocation import allocate_from_below
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.gaussian import gaussian_profile, twice_upper_tail
from dpaudit.accounting.laws.mixed_moments import power
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.seen import Seen
from dpaudit.accounting.model.coordinates import common_unit
from dpaudit.accounting.model.distribution import Distribution, Points
from dpaudit.accounting.model.law import Bracketed, GaussianShaped, Law, LossValue, Symmetric
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, ball_endpoints, fmpq_of, shown, working_precision

# Squares of the factor by which the distance is scaled, increasing, each with its probability.
Chances: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
ONE: Final = Fraction(1)
UNITS: Final = 1024  # Squares are rounded up to multiples of 1 over this, and a law has about as many of them at most
HIGHEST: Final = 1024  # Sums of squared multiplicities beyond this are counted as revealing everything
CHANCE_BITS: Final = 128  # Probabilities are multiples of 2 to minus this; what rounding adds goes to larger squares
GATHERED: Final = 16  # Squares that differ by less than one over this of their size and mean are composed on a lattice as one
# From below, a place in a batch is known up to one over this of its length, and a record is counted at most as many times.
MOST_TIMES: Final = 16
FINENESS: Final = 8  # From below, outputs are distinguished up to one over this of a standard deviation
LOWEST: Final = 8  # Standard deviations below the mean at which they begin

GROUND = (
    "delta is jointly convex, so publishing a random order beside the release costs the mean over orders; from below only the "
    "releases of the largest batches tell anything (docs/sampling_schemes.md, random order)"
)


@dataclass(frozen=True)
class Ordered(Symmetric):  # as is each of its components
    """N(sqrt(square) mu, 1) against N(0, 1) beside the square, drawn from `squares`; everything with probability `beyond`."""

    mu_squared_once: Fraction
    squares: Chances
    beyond: Fraction

    def describe(self) -> str:
        return f"gaussian with mu^2 = {shown(self.mu_squared_once)}, scaled by {len(self.squares)} random factors"

    def greatest_loss(self) -> LossValue | None:
        """Unbounded, unless every distance is 0."""
        return None if self.mu_squared_once * self.squares[-1][0] else LossValue()

    def infinity_mass(self) -> Fraction:
        """The probability of the orders that are left out."""
        return self.beyond

    def log_moment(self, order: Fraction) -> arb:
        unit, chances = self._polynomial
        return chances(ball(order * (1 + order) * self.mu_squared_once * unit / 2).exp()).log()

    @cached_property
    def _polynomial(self) -> tuple[Fraction, arb_poly]:
        """A unit of all squares, and the probabilities of its multiples."""
        unit = common_unit(square for square, _ in self.squares) or Fraction(1)
        chances = [fmpq(0)] * (int(self.squares[-1][0] / unit) + 1)
        for square, chance in self.squares:
            chances[int(square / unit)] = fmpq_of(chance)
        with working_precision(2 * CHANCE_BITS):
            return unit, arb_poly(chances)

    def profile(self, epsilon: arb) -> arb:
        found = (ball(chance) * gaussian_profile(self.mu_squared_once * square, epsilon) for square, chance in self.squares)
        return sum(found, ball(self.beyond))

    def profile_source(self) -> str:
        return GROUND

    def distribution(self) -> Distribution:
        """A mixture of fewer normal losses, each at the largest distance that it replaces."""
        from dpaudit.accounting.laws.distributions import Blend, Listed, Normal
        from dpaudit.accounting.laws.response import Response

        parts = [
            (Normal(self.mu_squared_once * square) if square else Listed(Response(Fraction(0), "")), chance)
            for square, chance in _fewer(self.squares)
        ]
        return Blend(tuple(parts), self.beyond)


@dataclass(frozen=True)
class Hidden:
    """N(times * step, 1) with random times, each with its probability, against N(0, 1), in cells of outputs."""

    step_squared: Fraction
    chances: tuple[Fraction, ...]

    def describe(self) -> str:
        return f"normal laws at random multiples of {shown(self.step_squared)}^(1/2), up to {len(self.chances) - 1}"

    def points(self, tail: int) -> Points:
        """Masses of cells, up to where only 2^-tail is left."""
        step, root = ball(self.step_squared).sqrt(), arb(2).sqrt()
        last = math.isqrt(2 * tail) + 1 + math.ceil(float(step) * (len(self.chances) - 1))
        places = [ball(Fraction(index, FINENESS)) for index in range(-LOWEST * FINENESS, last * FINENESS)]
        above = [[twice_upper_tail((place - times * step) / root) / 2 for place in places] for times in range(len(self.chances))]
        weights = [ball(chance) for chance in self.chances]
        sums = [arb(1), *(sum(map(operator.mul, weights, column), arb(0)) for column in zip(*above, strict=True)), arb(0)]
        nulls = [arb(1), *above[0], arb(0)]
        cells = [(p - p_next, q - q_next) for (p, q), (p_next, q_next) in pairwise(zip(sums, nulls, strict=True))]
        return Points(tuple(((p_mass / q_mass).log(), p_mass, q_mass) for p_mass, q_mass in cells), arb(0), arb(0))


Times: TypeAlias = tuple[Fraction, tuple[Fraction, ...]]
"""A squared unit of the distance, and the probabilities of its multiples 0, 1, ..."""


def random_order_law(
    law: Law,
    squares: Chances,
    beyond: Fraction,
    *,
    scheme: str,
    times: Times | None = None,
    largest: tuple[int, Fraction] = (1, ONE),
) -> Law:
    """A Gaussian release under a random order, between publishing the order and seeing no more than its largest batches.

    From below it is known by how much the mean release of the largest batch moves (`times`), or else how many largest batches there
    are and the probability that a record is in one of them, where all others contribute nothing.
    """
    above, below = law.bracket() if isinstance(law, Bracketed) else (law, law)
    if not isinstance(above, GaussianShaped):
        raise Unsupported("DPA202", f"random order is priced for Gaussian noise, got {law.describe()}.")
    lower: Law | None = None
    if isinstance(below, GaussianShaped) and below.mu_squared:
        if times is None:
            inside = below if largest[0] == 1 else allocate_from_below(below, largest[0])
            lower = inside if largest[1] == 1 else Sampled(inside, largest[1], removing=True)
        elif any(times[1][1:]):
            lower = Seen(Hidden(below.mu_squared * times[0], times[1]))
    return Between(f"{law.describe()}.sampled({scheme})", Ordered(above.mu_squared, squares, beyond), lower, GROUND)


def multiplicity_distribution(
    records: int, batches: Sequence[int], rounds: int, *, replacement: bool, averaged: bool
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Bound from below how far the mean release of the largest batch of all rounds moves, in noise units: squared unit, chances."""
    # The unit is a factor 1, or a part of it where late places count less. Probabilities are rounded down; the rest is at 0.
    size, unit = max(batches), 1
    with working_precision(192):
        if replacement:
            once = _draws(size, records, MOST_TIMES)
        else:
            unit = min(size, MOST_TIMES) if averaged else 1
            least = [-(-size * part // unit) for part in range(unit + 1)] if averaged else [0, 0, size]  # steps left in each part
            counts = [after - before for before, after in pairwise(least)]
            counts[0] += records - size
            once = [ball(Fraction(count, records)) for count in counts]
        whole = power(arb_poly(once), rounds, (len(once) - 1) * rounds + 1)
        found = [Fraction(ball_endpoints(whole[index])[0]) for index in range(whole.length())]
    rounded = [Fraction(math.floor(max(low, Fraction(0)) * 2**CHANCE_BITS), 2**CHANCE_BITS) for low in found[1:]]
    return Fraction(1, unit**2 * rounds), (1 - sum(rounded, Fraction(0)), *rounded)


@lru_cache(maxsize=16)
def position_squares(records: int, batches: tuple[int, ...], rounds: int, *, averaged: bool) -> tuple[Chances, Fraction]:
    """Squares where a permutation puts each record at one place of one batch, or nowhere, again in every round."""
    # At place p of n, an average of the iterates before each step moves by the factor (n - p)/n, any other release by at most 1.
    counts = [0] * (UNITS + 1)
    counts[0] = records - sum(batches)
    for size in batches:
        reached = 0
        for index in range(UNITS + 1) if averaged else (UNITS,):  # steps left q with q^2/n^2 <= index/UNITS
            up_to = min(size, math.isqrt(size * size * index // UNITS) + 1) if averaged else size
            counts[index] += up_to - reached
            reached = up_to
    with working_precision(192):
        whole = power(arb_poly([fmpq(count, records) for count in counts]), rounds, UNITS * rounds + 1)
        return _upward([whole[index] for index in range(UNITS * rounds + 1)], arb(0), Fraction(1, UNITS))


@lru_cache(maxsize=16)
def multiplicity_squares(records: int, batches: tuple[int, ...], rounds: int) -> tuple[Chances, Fraction]:
    """Squared multiplicities, added over batches, where every place of a batch draws any record."""
    length = HIGHEST + 1
    with working_precision(256):
        whole = arb_poly([1])
        for size in batches:
            row = [arb(0)] * length
            for times, mass in enumerate(_draws(size, records, math.isqrt(HIGHEST))):
                row[times * times] = mass
            whole = (whole * arb_poly(row)).truncate(length)
        whole = power(whole, rounds, length)
        found = [whole[index] for index in range(length)]
        return _upward(found, (1 - sum(found, arb(0))).nonnegative_part(), Fraction(1))


def _draws(size: int, records: int, most: int) -> list[arb]:
    """Probabilities of drawing one of the records 0, 1, ..., `most` times in a batch."""
    chance = ball(Fraction(1, records))
    masses = [(1 - chance) ** size]
    for times in range(min(size, most)):
        masses.append(masses[-1] * (size - times) / (times + 1) * chance / (1 - chance))
    return masses


def _upward(masses: Sequence[arb], beyond: arb, unit: Fraction) -> tuple[Chances, Fraction]:
    """Exact probabilities whose every upper tail is at or above the true one, so that distances only grow."""
    remaining = beyond
    steps = 1 << ((len(masses) - 2) // UNITS).bit_length()  # a power of two, so that whole squares stay as they are
    top = before = _chances_above(remaining)
    found: dict[int, int] = {}
    for index in range(len(masses) - 1, -1, -1):
        remaining = remaining + masses[index]
        reached = max(before, _chances_above(remaining)) if index else 1 << CHANCE_BITS
        if reached > before:
            place = -(-index // steps) * steps
            found[place] = found.get(place, 0) + reached - before
        before = reached
    return tuple((place * unit, Fraction(chances, 1 << CHANCE_BITS)) for place, chances in sorted(found.items())), Fraction(
        top, 1 << CHANCE_BITS
    )


def _chances_above(mass: arb) -> int:
    """The next multiple of the unit of probabilities at or above a mass, at most 1, in units."""
    units = (mass.upper() * (1 << CHANCE_BITS)).upper().ceil()
    whole = units.unique_fmpz()
    return 1 << CHANCE_BITS if whole is None else min(int(whole), 1 << CHANCE_BITS)


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
