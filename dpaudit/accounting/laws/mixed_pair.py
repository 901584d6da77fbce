"""Two means of normal laws: the output at which the ratio of their densities has a value, and the masses beyond it."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple

from flint import arb, ctx

from dpaudit.accounting.laws.normal_sums import Centres, Series, Weights, centres_of, log_ratio, series_of, tails
from dpaudit.accounting.model.distribution import Sides
from dpaudit.exact import ball

ALONE: Final[Weights] = ((Fraction(0), Fraction(1)),)


class Sums(NamedTuple):
    """Both sides as sums of exponentials, the same without what does not move with the output, and their normal laws."""

    series: tuple[Series, Series]
    moving: tuple[Series, Series]
    centres: tuple[Centres, Centres]


@dataclass(frozen=True)
class NormalMixtures:
    """Mean of N(c, 1) over `up` against mean of N(-d, 1) over `down`, in units of which `unit_squared` is the square."""

    # The ratio of the densities increases with the output, so every best event is a half-line. Reflection turns (Q, P) into a pair
    # of this kind, with `up` and `down` exchanged.
    up: Weights
    down: Weights
    unit_squared: Fraction
    name: str = field(compare=False)

    @property
    def reach(self) -> tuple[Fraction, Fraction]:
        """The greatest distance on each side, in units."""
        return self.up[-1][0], self.down[-1][0]

    @cached_property
    def turns(self) -> tuple[tuple[Fraction, int], tuple[Fraction, int]]:
        """For each side (d, k): in how its argument turns it is like k terms 1 + c e^(d u x) with c > 0, u the unit."""
        return _turns(self.up), _turns(self.down)

    def sums(self) -> Sums:
        """Both sides as balls of the current precision, kept."""
        if ctx.prec not in self._kept:
            up, down = (series_of(side, self.unit_squared) for side in (self.up, self.down))
            moving = tuple(series_of(side, self.unit_squared) for side in self._split)
            centres = tuple(centres_of(side, self.unit_squared) for side in (self.up, self.down))
            self._kept[ctx.prec] = Sums((up, down), (moving[0], moving[1]), (centres[0], centres[1]))
        return self._kept[ctx.prec]

    @cached_property
    def _kept(self) -> dict[int, Sums]:
        """The balls of every precision that was used."""
        return {}

    @cached_property
    def _hash(self) -> int:
        """Hash of the weights, kept since long fractions are slow to hash."""
        return hash((self.up, self.down, self.unit_squared))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[NormalMixtures], tuple[object, ...]]:
        """Pickle without what is kept for speed."""
        return type(self), (self.up, self.down, self.unit_squared, self.name)

    def range_of_losses(self) -> tuple[arb | None, arb | None]:
        """What all losses exceed and stay below, None where they are unbounded."""
        up, down = self._split
        lowest = None if up is self.up else ball(self.up[0][1]).log()
        highest = None if down is self.down else -ball(self.down[0][1]).log()
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
        up, down = self.sums().moving
        fine = arb(2) ** (-ctx.prec // 2 - 8)
        for _ in range(12):
            height, slope = log_ratio(up, down, place)
            step = ((height - goal) / slope).mid()
            if not step.is_finite():
                break
            place = (place - step).mid()
            if abs(step) < fine * (1 + abs(place)):
                break
        height, slope = log_ratio(up, down, place)
        margin = (2 * (height - goal).abs_upper() / slope).abs_upper() + arb(2) ** (8 - ctx.prec) * (1 + abs(place))
        for _ in range(24):
            low, high = (place - margin).lower(), (place + margin).upper()
            if log_ratio(up, down, low)[0] < goal < log_ratio(up, down, high)[0]:
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
        found = self.sums()
        p_above, p_below = tails(found.centres[0], place)
        q_below, q_above = tails(found.centres[1], -place)
        return Sides(p_below, p_above, q_below, q_above)


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
