"""The mean of several log-normal likelihood ratios, on places in geometric progression: between a spread and a fusion of ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from flint import arb

from dpaudit.accounting.laws.distributions import Normal
from dpaudit.accounting.model.distribution import Point, Points, Sides
from dpaudit.accounting.model.law import GaussianShaped, Law
from dpaudit.exact import ball, ball_endpoints, working_precision

if TYPE_CHECKING:
    from dpaudit.accounting.model.transform import Reals


STEPS_PER_DEVIATION: Final = 128  # Places for a standard deviation of the logarithm of a ratio, at most
WIDEST: Final = Fraction(1, 64)  # Largest logarithm of the ratio of two places
MOST_PLACES: Final = 1 << 13  # Most places of one ratio; places are further apart where the range is too long for that
REACH: Final = 13  # Standard deviations of the logarithm of a ratio that are followed
LOWEST: Final = -40  # Logarithm of the least ratio that is told from 0
BITS: Final = 192  # Working precision for what is computed once
UNIT: Final = 2.0**-53
TINY: Final = 2.0**-960  # More than what an underflow and what follows from it can lose
LEAST: Final = 2.0**-800  # Fused masses below this are left out
# Steps between places are multiples of about 2^-20, and a standard deviation takes 128 of them.
FEW_STEPS: Final = 16  # Steps beyond which the mean of ratios near 1 is resolved better by an even grid
LEAST_SQUARE, MOST_SQUARE = Fraction(1, 10**8), Fraction(2**40)


@dataclass(frozen=True)
class Sum:
    """Reals under Q at places e^((first + i) step), with means of the ratio times mass; the mass of ratio 0; relative error."""

    masses: Reals
    means: Reals  # of the spread they are not used: its places are their ratios
    zero: float
    error: float


def geometric_points(law: Law, steps: int, *, above: bool) -> Points | None:
    """Losses of the mean of `steps` ratios, of a law above it or below it; None where `has_geometric_points` is false."""
    return _points(law.mu_squared, steps, above) if isinstance(law, GaussianShaped) and has_geometric_points(law, steps) else None


def has_geometric_points(law: Law, steps: int) -> bool:
    """True for Gaussian laws whose ratios are neither too close to 1 for places that are told apart nor beyond floats."""
    if not isinstance(law, GaussianShaped) or not LEAST_SQUARE <= law.mu_squared < MOST_SQUARE:
        return False
    # The mean of many ratios that are close to 1 is closer still: an even grid is finer there.
    return law.mu_squared > 1 or steps <= FEW_STEPS


@lru_cache(maxsize=16)
def _points(mu_squared: Fraction, steps: int, above: bool) -> Points:  # noqa: FBT001 - a key of the cache
    """The points; every mass is a ball with the error of all sums that lead to it."""
    import numpy as np

    mu = math.sqrt(mu_squared)
    low, high = max(float(LOWEST), -mu * mu / 2 - REACH * mu), mu * mu / 2 + REACH * mu
    step = Fraction(min(max(mu / STEPS_PER_DEVIATION, (high - low) / MOST_PLACES), max(float(WIDEST), (high - low) / MOST_PLACES)))
    step = step.limit_denominator(1 << 20)
    first, count = math.floor(low / step), math.ceil((high - low) / step) + 1
    with working_precision(BITS):
        once, p_above, q_above = _once(mu_squared, step, first, count, above=above)
        whole, add = once, _add_spread if above else _add_fused
        for digit in f"{steps:b}"[1:]:
            whole = add(whole, whole, step)
            whole = add(whole, _padded(once, len(whole.masses)), step) if digit == "1" else whole
        radius = arb(0, whole.error)
        finite: list[Point] = []
        for index in np.flatnonzero(np.minimum(whole.masses, whole.means) > LEAST) if not above else range(len(whole.masses)):
            mass = arb(float(whole.masses[index])) * (1 + radius) + arb(0, TINY)
            if above:
                ratio = (ball(step) * (first + int(index))).exp() / steps
                finite.append((ratio.log(), mass.nonnegative_part() * ratio, mass.nonnegative_part()))
            else:
                mean = (arb(float(whole.means[index])) * (1 + radius) + arb(0, TINY)) / steps
                finite.append(((mean / mass).log(), mean, mass))
        lost = (p_above + (steps - 1) * q_above).upper() if above else arb(0)
        unseen = arb(whole.zero) * (1 + radius) + arb(0).union((steps * q_above).upper()) if above else arb(0)
        p_rest, q_rest = (1 - sum((point[side] for point in finite), arb(0)) for side in (1, 2))
        if above:
            return Points(tuple(finite), arb(0).union(lost), unseen)
        # What the sums of the fused law lose in rounding counts as an output of its own whose loss is not known.
        return Points(tuple(finite), arb(0).union(p_rest.abs_upper()), arb(0).union(q_rest.abs_upper()))


def _once(mu_squared: Fraction, step: Fraction, first: int, count: int, *, above: bool) -> tuple[Sum, arb, arb]:
    """One ratio: spread over the ends of the cells between places, or fused in each; P and Q mass beyond the last place."""
    import numpy as np

    losses = [ball(step) * (first + index) for index in range(count)]
    sides = _sides(mu_squared, step, first, count)
    masses, means = np.zeros(count), np.zeros(count)
    cells = [left.up_to(right) for left, right in pairwise(sides)]
    below, beyond = (sides[0].p_below, sides[0].q_below), (sides[-1].p_above, sides[-1].q_above)
    if not above:
        for index, (p_mass, q_mass) in enumerate([*cells, beyond]):
            masses[index], means[index] = float(q_mass), float(p_mass)
        masses[0], means[0] = masses[0] + float(below[1]), means[0] + float(below[0])
        return Sum(masses, means, 0.0, 8 * UNIT), arb(0), arb(0)
    places = [loss.exp() for loss in losses]
    for index, (p_mass, q_mass) in enumerate(cells):
        width = places[index + 1] - places[index]
        masses[index] += float(((places[index + 1] * q_mass - p_mass) / width).nonnegative_part())
        masses[index + 1] += float(((p_mass - places[index] * q_mass) / width).nonnegative_part())
    masses[0] += float(below[0] / places[0])
    return Sum(masses, means, float((below[1] - below[0] / places[0]).nonnegative_part()), 8 * UNIT), *beyond


@lru_cache(maxsize=2)
def _sides(mu_squared: Fraction, step: Fraction, first: int, count: int) -> list[Sides]:
    """Masses of a normal loss on either side of each place; the laws above and below both need them."""
    with working_precision(BITS):
        return Normal(mu_squared).sides([ball(step) * (first + index) for index in range(count)])


def _padded(law: Sum, size: int) -> Sum:
    """The same with room for as many places."""
    import numpy as np

    room = (0, size - len(law.masses))
    return Sum(np.pad(law.masses, room), np.pad(law.means, room), law.zero, law.error)


def _add_spread(one: Sum, other: Sum, step: Fraction) -> Sum:
    """The sum of two independent ratios, each sum of two places spread over the places next to it with its mean kept."""
    import numpy as np

    size, shifts, shares = len(one.masses), *_sums_of_places(step, len(one.masses))
    masses = np.zeros(size + int(math.log(2) / step) + 3)
    for apart in range(size):
        products = _products(one.masses, other.masses, apart)
        place, share = shifts[apart], shares[apart]
        masses[place : place + len(products)] += products * share[0]
        masses[place + 1 : place + 1 + len(products)] += products * share[1]
    masses[:size] += one.zero * other.masses + other.zero * one.masses
    error = one.error + other.error + (4 * size + 16) * UNIT
    return Sum(masses, np.zeros(len(masses)), one.zero * other.zero, error)


def _add_fused(one: Sum, other: Sum, step: Fraction) -> Sum:
    """The sum of two independent ratios, all sums of places that are as far apart fused near where they are."""
    import numpy as np

    size, shifts, shares = len(one.masses), *_sums_of_places(step, len(one.masses))
    masses, means = (np.zeros(size + int(math.log(2) / step) + 3) for _ in range(2))
    for apart in range(size):
        place = shifts[apart] + (shares[apart][1] > 0.5)
        products = _products(one.masses, other.masses, apart)
        masses[place : place + len(products)] += products
        products = _products(one.means, other.masses, apart) + _products(one.masses, other.means, apart)
        means[place : place + len(products)] += products
    return Sum(masses, means, 0.0, one.error + other.error + (4 * size + 16) * UNIT)


def _products(one: Reals, other: Reals, apart: int) -> Reals:
    """Reals of pairs of places that are so far apart, by the lower one."""
    size = len(one)
    found: Reals = one[apart:] * other[: size - apart]
    return found + one[: size - apart] * other[apart:] if apart else found


@lru_cache(maxsize=8)
def _sums_of_places(step: Fraction, count: int) -> tuple[list[int], list[tuple[float, float]]]:
    """For two places i apart: which place above the lower one is next below their sum, and what it and the following one get."""
    places, shares = [], []
    with working_precision(BITS):
        width = ball(step)
        for apart in range(count):
            whole = 1 + (width * apart).exp()
            place = math.floor(ball_endpoints(whole.log() / width)[0])
            low, high = (width * place).exp(), (width * (place + 1)).exp()
            up = ((whole - low) / (high - low)).nonnegative_part()
            places.append(place)
            shares.append((float((1 - up).nonnegative_part()), float(up)))
    return places, shares
