"""Sums of normal laws and of the exponentials that are their likelihood ratios, in ball arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias, TypeVar

from flint import acb, acb_poly, arb, arb_poly, ctx

from dpaudit.accounting.laws.gaussian import twice_upper_tail
from dpaudit.accounting.model.coordinates import common_unit
from dpaudit.exact import ball

# Distances of normal laws from 0, at least 0 and increasing, each with its positive weight; weights add up to 1.
Weights: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
SPARSE: Final = 16  # Sums whose polynomial has more than so many coefficients for each of its terms are added term by term
MOST_SKIPPED: Final = 1e5  # Standard deviations up to which floats tell negligible tails from others


class Centres(NamedTuple):
    """Normal laws as balls and as floats: distances, weights, and logarithms of weights; and their mean."""

    balls: tuple[tuple[arb, arb], ...]
    floats: tuple[tuple[float, float], ...]
    mean: float


def centres_of(side: Weights, unit_squared: Fraction) -> Centres:
    """The normal laws of one side, at the current precision."""
    unit = ball(unit_squared).sqrt()
    balls = tuple((unit * ball(distance), ball(weight)) for distance, weight in side)
    floats = tuple((float(distance), float(weight.log())) for distance, weight in balls)
    return Centres(balls, floats, float(sum((distance * weight for distance, weight in balls), arb(0))))


def tails(centres: Centres, place: arb) -> tuple[arb, arb]:
    """Mass above and below an output: the tail on the far side of the mean is computed, the other one is the rest."""
    near, root = float(place), arb(2).sqrt()
    sign = 1 if near > centres.mean else -1
    gaps = [sign * (near - distance) for distance, _ in centres.floats]
    # A tail lies between e^(-t^2/2)/(3 (1 + t)) and e^(-t^2/2). Laws that add less than 2^-bits of what one of them has are left
    # to a radius; floats decide which, with a nat to spare.
    most = [weight - max(gap, 0.0) ** 2 / 2 for gap, (_, weight) in zip(gaps, centres.floats, strict=True)]
    least = max(top - math.log(3 * (1 + max(gap, 0.0))) for gap, top in zip(gaps, most, strict=True)) - 1
    limit = least - ctx.prec * math.log(2) if max(map(abs, gaps)) < MOST_SKIPPED else -math.inf
    total, skipped = arb(0), 0
    for (distance, weight), top in zip(centres.balls, most, strict=True):
        if top < limit:
            skipped += 1
        else:
            total += weight * normal_tails((place - distance) * sign / root)[0]
    if skipped:
        total += arb(0).union((arb(limit + 1).exp() * skipped).upper())
    return (total, 1 - total) if sign > 0 else (1 - total, total)


def normal_tails(place: arb) -> tuple[arb, arb]:
    """Upper and lower tail of the normal law at place * sqrt(2); the smaller one is computed, the larger one is the rest."""
    if place > 0:
        tail = twice_upper_tail(place) / 2
        return tail, 1 - tail
    tail = twice_upper_tail(-place) / 2
    return 1 - tail, tail


Number = TypeVar("Number", arb, acb)


class Series(NamedTuple):
    """Weights times e^(-distance^2/2), and distances beyond the least one as multiples of a unit."""

    least: arb
    unit: arb
    terms: tuple[tuple[int, arb], ...]
    dense: tuple[arb_poly, acb_poly] | None  # the sum as a polynomial in e^(unit x), None where most powers are missing

    def log_at(self, place: Number) -> tuple[Number, Number]:
        """Logarithm of the sum of weight e^(distance place), and its derivative; the argument runs on from the real axis."""
        base = (place * self.unit).exp()
        if self.dense is None:
            powers = [(index, base**index * weight) for index, weight in self.terms]
            whole, slope = sum((term for _, term in powers), place * 0), sum((term * index for index, term in powers), place * 0)
        elif isinstance(place, arb):
            whole, slope = self.dense[0](base), self.dense[0].derivative()(base) * base
        else:
            whole, slope = self.dense[1](base), self.dense[1].derivative()(base) * base
        return whole.log() + place * self.least, slope / whole * self.unit + self.least


def series_of(side: Weights, unit_squared: Fraction) -> Series:
    """One side as a sum of exponentials, at the current precision."""
    least = side[0][0]
    unit = common_unit(distance - least for distance, _ in side) or Fraction(1)
    scale = ball(unit_squared)
    terms = {
        int((distance - least) / unit): ball(weight) * (-scale * ball(distance * distance / 2)).exp() for distance, weight in side
    }
    poly = arb_poly([terms.get(index, 0) for index in range(max(terms) + 1)]) if max(terms) < SPARSE * len(terms) else None
    dense = None if poly is None else (poly, acb_poly(poly))
    return Series(scale.sqrt() * ball(least), scale.sqrt() * ball(unit), tuple(terms.items()), dense)


def log_ratio(up: Series, down: Series, place: arb) -> tuple[arb, arb]:
    """Logarithm of the ratio of two sums at an output, and its derivative."""
    (top, rise), (bottom, fall) = up.log_at(place), down.log_at(-place)
    return top - bottom, rise + fall
