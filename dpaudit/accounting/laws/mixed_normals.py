"""Mixtures of normal laws on both sides: what a hidden random subset of contributions, or a group under sampling, loses."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, TypeAlias, TypeVar

from flint import acb, arb, ctx

from dpaudit.accounting.laws.gaussian import Gaussian, twice_upper_tail
from dpaudit.accounting.model.coordinates import common_unit
from dpaudit.accounting.model.distribution import Distribution, Sides
from dpaudit.accounting.model.law import FiniteLosses, Law, LossValue
from dpaudit.exact import ball

# Distances of normal laws from 0, at least 0 and increasing, each with its positive weight; weights add up to 1.
Weights: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
ALONE: Final[Weights] = ((Fraction(0), Fraction(1)),)

SOURCE: Final = "vectors of bounded norm are worst on one line, where half-lines are the best events (docs/prices.md, mixtures of Gaussians)"



MOST_SKIPPED: Final = 1e5  # Standard deviations up to which floats tell negligible tails from others


@dataclass(frozen=True)
class MixedNormals(FiniteLosses):
    """Mean of N(c, 1) over `up` against mean of N(-d, 1) over `down`, in units of which `unit_squared` is the square."""

    # The ratio of the densities increases with the output, so every best event is a half-line. Reflection turns (Q, P) into a pair
    # of this kind, with `up` and `down` exchanged.
    up: Weights
    down: Weights
    unit_squared: Fraction
    name: str

    def describe(self) -> str:
        return self.name

    def reversed(self) -> MixedNormals:
        return MixedNormals(self.down, self.up, self.unit_squared, self.name)

    def greatest_loss(self) -> LossValue | None:
        """Unbounded, unless P is one normal law and Q may be the same."""
        return LossValue.of_ratio(1 / self.down[0][1]) if self.up == ALONE and not self.down[0][0] else None

    def log_moment(self, order: Fraction) -> arb:
        """The quadrature; where it would be too long, between 0 and the moment of the components, by convexity."""
        from dpaudit.accounting.laws.mixed_quadrature import quadrature

        rule = quadrature(self, 1, greatest=order, place=Fraction(0))
        if rule is not None:
            return rule.at(order).log()
        unit = ball(self.unit_squared * order * (1 + order) / 2)
        pairs = ((c + d, p * q) for c, p in self.up for d, q in self.down)
        return arb(0).union(sum((ball(weight) * (unit * ball(gap * gap)).exp() for gap, weight in pairs), arb(0)).log())

    def profile(self, epsilon: arb) -> arb:
        """P less e^epsilon Q beyond the output whose loss is epsilon."""
        lowest, highest = self.range_of_losses()
        whole = -epsilon.expm1()
        if highest is not None and epsilon >= highest:
            return arb(0)
        if lowest is not None and epsilon <= lowest:
            return whole
        if (highest is None or epsilon < highest) and (lowest is None or epsilon > lowest):
            sides = self.sides_at(self.threshold(epsilon, self.rough_threshold(float(epsilon))))
            return (sides.p_above - epsilon.exp() * sides.q_above).nonnegative_part()
        if lowest is not None and not epsilon > lowest:  # the ball reaches to where every output loses more
            return whole.union(self.profile(epsilon.upper())) if epsilon.upper() > lowest else whole.union(arb(1) - lowest.exp())
        return arb(0).union(self.profile(epsilon.lower())) if epsilon.lower() < highest else arb(0).union(arb(1))

    def profile_source(self) -> str:
        return SOURCE

    def distribution(self) -> Distribution:
        from dpaudit.accounting.laws.mixed_distribution import MixedLosses

        return MixedLosses(self)

    @property
    def reach(self) -> tuple[Fraction, Fraction]:
        """The greatest distance on each side, in units."""
        return self.up[-1][0], self.down[-1][0]

    @cached_property
    def turns(self) -> tuple[tuple[Fraction, int], tuple[Fraction, int]]:
        """For each side (d, k): a product of k terms 1 + c e^(d u x), c > 0, or like one in how its argument turns; d in units u."""
        return _turns(self.up), _turns(self.down)

    def range_of_losses(self) -> tuple[arb | None, arb | None]:
        """What all losses exceed and stay below, None where they are unbounded."""
        lowest = ball(self.up[0][1]).log() if self.down == ALONE and not self.up[0][0] else None
        highest = -ball(self.down[0][1]).log() if self.up == ALONE and not self.down[0][0] else None
        return lowest, highest

    @cached_property
    def _split(self) -> tuple[Weights, Weights]:
        """Both sides without the normal laws that they share at 0 when one side has no other: what moves with the output."""
        if self.down == ALONE and not self.up[0][0]:
            return self.up[1:], self.down
        if self.up == ALONE and not self.down[0][0]:
            return self.up, self.down[1:]
        return self.up, self.down

    def _level(self, loss: arb) -> arb:
        """The logarithm of the ratio of what moves with the output, at a loss within the range."""
        up, down = self._split
        if up is not self.up:
            return (loss.exp() - ball(self.up[0][1])).log()
        return -((-loss).exp() - ball(self.down[0][1])).log() if down is not self.down else loss

    def threshold(self, loss: arb, start: float) -> arb:
        """A ball around the output with a loss within the range: Newton's method, and two outputs of which it lies between."""
        place, goal = arb(start), self._level(loss)
        up, down = (series_of(side, self.unit_squared, ctx.prec) for side in self._split)
        fine = arb(2) ** (-ctx.prec // 2 - 8)
        for _ in range(12):
            height, slope = _log_ratio(up, down, place)
            step = ((height - goal) / slope).mid()
            if not step.is_finite():
                break
            place = (place - step).mid()
            if abs(step) < fine * (1 + abs(place)):
                break
        height, slope = _log_ratio(up, down, place)
        margin = (2 * (height - goal).abs_upper() / slope).abs_upper() + arb(2) ** (8 - ctx.prec) * (1 + abs(place))
        for _ in range(24):
            low, high = (place - margin).lower(), (place + margin).upper()
            if _log_ratio(up, down, low)[0] < goal < _log_ratio(up, down, high)[0]:
                return low.union(high)
            margin = 4 * margin
        return arb(0, "inf")

    def rough_threshold(self, loss: float) -> float:
        """The output with a loss, about: bisection in floats."""
        up, down = self._split
        unit = math.sqrt(self.unit_squared)
        goal = float(self._level(arb(loss)))
        terms = [[(unit * float(c), math.log(w) - self.unit_squared * c * c / 2) for c, w in side] for side in (up, down)]

        def excess(place: float) -> float:
            top = _log_sum(weight + c * place for c, weight in terms[0])
            return top - _log_sum(weight - d * place for d, weight in terms[1]) - goal

        width = 1.0
        while (excess(-width) > 0 or excess(width) < 0) and width < 2.0**200:
            width *= 2
        low, high = -width, width
        for _ in range(64):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        return (low + high) / 2 if math.isfinite(goal) else 0.0

    def sides_at(self, place: arb) -> Sides:
        """Masses below and above an output, under P and under Q."""
        p_above, p_below = _tails(_centres(self.up, self.unit_squared, ctx.prec), place)
        q_below, q_above = _tails(_centres(self.down, self.unit_squared, ctx.prec), -place)
        return Sides(p_below, p_above, q_below, q_above)


class Centres(NamedTuple):
    """Normal laws as balls and as floats: distances, weights, and logarithms of weights; and their mean."""

    balls: tuple[tuple[arb, arb], ...]
    floats: tuple[tuple[float, float], ...]
    mean: float


@lru_cache(maxsize=64)
def _centres(side: Weights, unit_squared: Fraction, bits: int) -> Centres:  # noqa: ARG001 - balls of their own for each precision
    """The normal laws of one side, at the current precision."""
    unit = ball(unit_squared).sqrt()
    balls = tuple((unit * ball(distance), ball(weight)) for distance, weight in side)
    floats = tuple((float(distance), float(weight.log())) for distance, weight in balls)
    return Centres(balls, floats, float(sum((distance * weight for distance, weight in balls), arb(0))))


def _tails(centres: Centres, place: arb) -> tuple[arb, arb]:
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


def mixed_normals(
    up: Iterable[tuple[Fraction, Fraction]], down: Iterable[tuple[Fraction, Fraction]], unit_squared: Fraction, name: str
) -> Law:
    """The law of distances with weights on both sides, equal distances put together; one normal law is Gaussian."""
    sides = []
    for side in (up, down):
        found: dict[Fraction, Fraction] = {}
        for distance, weight in side:
            found[distance] = found.get(distance, Fraction(0)) + weight
        sides.append(tuple(sorted((distance, weight) for distance, weight in found.items() if weight)))
    if sides[0] == sides[1] == ALONE:
        return Gaussian(Fraction(0), name)
    return MixedNormals(sides[0], sides[1], unit_squared, name)


def normal_tails(place: arb) -> tuple[arb, arb]:
    """Upper and lower tail of the normal law at place * sqrt(2); the smaller one is computed, the larger one is the rest."""
    if place > 0:
        tail = twice_upper_tail(place) / 2
        return tail, 1 - tail
    tail = twice_upper_tail(-place) / 2
    return 1 - tail, tail


def binomial_weights(size: int, rate: Fraction) -> Weights:
    """How many of `size` records a sample at `rate` has, as distances."""
    weights = [math.comb(size, drawn) * rate**drawn * (1 - rate) ** (size - drawn) for drawn in range(size + 1)]
    return tuple((Fraction(drawn), weight) for drawn, weight in enumerate(weights) if weight)


def _turns(side: Weights) -> tuple[Fraction, int]:
    """The step of binomial weights and how often it is taken, else how far apart the normal laws are, once."""
    # The zeros of sum w_i e^(-c i^2) y^i are negative if those of sum w_i y^i are: docs/sampling_schemes.md, groups in a sample.
    size, step = len(side) - 1, side[-1][0] - side[0][0]
    if size < 2:
        return step, 1
    odds = side[1][1] / (size * side[0][1])
    expected = ((step * drawn / size + side[0][0], side[0][1] * math.comb(size, drawn) * odds**drawn) for drawn in range(size + 1))
    return (step / size, size) if all(map(operator.eq, side, expected)) else (step, 1)


def _log_sum(terms: Iterable[float]) -> float:
    """Logarithm of a sum of exponentials, in floats."""
    found = list(terms)
    most = max(found)
    return most + math.log(sum(math.exp(term - most) for term in found))


Number = TypeVar("Number", arb, acb)


class Series(NamedTuple):
    """Weights times e^(-distance^2/2), and distances beyond the least one as multiples of a unit."""

    least: arb
    unit: arb
    terms: tuple[tuple[int, arb], ...]

    def log_at(self, place: Number) -> tuple[Number, Number]:
        """Logarithm of the sum of weight e^(distance place), and its derivative; the argument runs on from the real axis."""
        base, before = (place * self.unit).exp(), 0
        power, whole, slope = base**0, place * 0, place * 0
        for index, weight in self.terms:
            power = power * base if index - before == 1 else power * base ** (index - before)
            before = index
            term = power * weight
            whole, slope = whole + term, slope + term * index
        return whole.log() + place * self.least, slope / whole * self.unit + self.least


@lru_cache(maxsize=64)
def series_of(side: Weights, unit_squared: Fraction, bits: int) -> Series:  # noqa: ARG001 - a series of its own for each precision
    """One side as a sum of exponentials, at the current precision."""
    least = side[0][0]
    unit = common_unit(distance - least for distance, _ in side) or Fraction(1)
    scale = ball(unit_squared)
    terms = [
        (int((distance - least) / unit), ball(weight) * (-scale * ball(distance * distance / 2)).exp()) for distance, weight in side
    ]
    return Series(scale.sqrt() * ball(least), scale.sqrt() * ball(unit), tuple(terms))


def _log_ratio(up: Series, down: Series, place: arb) -> tuple[arb, arb]:
    """Logarithm of the ratio of two sums at an output, and its derivative."""
    (top, rise), (bottom, fall) = up.log_at(place), down.log_at(-place)
    return top - bottom, rise + fall
