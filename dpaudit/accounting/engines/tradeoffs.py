"""The trade-off function of a privacy loss: the convex dual of its privacy profile, enclosed from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.accounting.engines.evaluate import evaluate, evaluate_one
from dpaudit.accounting.laws.groups import alternatives, require_direction
from dpaudit.accounting.model.composition import Composition, DeltaAt, infinite_loss
from dpaudit.accounting.model.law import Bracketed
from dpaudit.accounting.model.search import golden_section
from dpaudit.exact import Enclosure, Reason, ball, ball_endpoints, working_precision

# Distances, in log a, from the best place to the first points on either side of it.
OFFSETS: Final = tuple(Fraction(2) ** power for power in (-24, -16, -10, -5, 0))
RELATIVE_WIDTH: Final = 2.0**-36  # Points are added until the enclosure is this narrow, or there are `MOST_POINTS`

MOST_POINTS: Final = 64

_GOLDEN_STEPS: Final = 44
_SMALLEST: Final = -1000.0


def tradeoff_at(loss: Composition, alpha: Fraction) -> Enclosure:
    """The least type II error of any test of two neighbours at type I error alpha, whichever of them is the null hypothesis."""
    ways = alternatives(loss)
    if len(ways) > 1:
        found = [tradeoff_at(way, alpha) for way in ways]
        worst = Reason("the worst split of a group", tuple(one.reason for one in found))
        return Enclosure(min(one.lower for one in found), min(one.upper for one in found), worst)
    if loss.reversed() == loss:
        return tradeoff_of_profile(loss, alpha)
    one, other = tradeoff_of_direction(loss, alpha), tradeoff_of_direction(loss.reversed(), alpha)
    reason = Reason("the smaller error of the two null hypotheses", (one.reason, other.reason))
    return Enclosure(min(one.lower, other.lower), min(one.upper, other.upper), reason)


def tradeoff_of_direction(loss: Composition, alpha: Fraction) -> Enclosure:
    """The same where the second dataset of the pair, as the laws stand, is the null hypothesis."""
    require_direction(loss)
    if alpha == 1:
        return Enclosure.point(0, Reason("the test that always rejects"))
    if alpha == 0:
        return _without_error(loss, (loss,))
    return _dual_at(_Dual(loss, loss.reversed(), alpha, evaluate_one))


def tradeoff_of_profile(loss: Composition, alpha: Fraction) -> Enclosure:
    """The convex function that belongs to the worse of the two profiles: all that a curve of epsilons and deltas says."""
    if alpha == 1:
        return Enclosure.point(0, Reason("the test that always rejects"))
    if alpha == 0:
        return _without_error(loss, (loss, loss.reversed()))
    return _dual_at(_Dual(loss, loss, alpha, evaluate))


def _without_error(loss: Composition, directions: tuple[Composition, ...]) -> Enclosure:
    """The error of tests that never reject the null hypothesis falsely."""
    infinite = [infinite_loss(direction) for direction in directions]
    known = not any(isinstance(law, Bracketed) for law, _ in loss.parts)
    reason = Reason("only outputs that the other dataset cannot give are rejected without a type I error")
    upper = 1 - max(mass.lower for mass in infinite) if known else Fraction(1)
    return Enclosure(1 - max(mass.upper for mass in infinite), upper, reason)


def _dual_at(dual: _Dual) -> Enclosure:
    """The supremum, between certified ends."""
    alpha = dual.alpha
    with working_precision(160):
        peak = dual.peak()
        lower, upper = dual.bounds(peak)
    reason = Reason(
        "the trade-off function is the convex dual of the privacy profile (Dong, Roth, Su 2022, Proposition 2.12)",
        (dual.delta(peak).reason,),
    )
    return Enclosure(lower, min(upper, 1 - alpha), reason)


def success_at(loss: Composition, prior: Fraction) -> Enclosure:
    """The probability that the best guess is right; of two neighbours one has a known probability, either of them."""
    # Guessing the first dataset on A is right with probability prior P(A) + (1 - prior) (1 - Q(A)), whose maximum is 1 - prior plus
    # prior times delta at the odds (1 - prior)/prior, in the direction of the dataset with that probability; with the roles
    # exchanged it is the same maximum, so odds of at least 1 are asked about.
    less = min(prior, 1 - prior)
    with working_precision(160):
        low, high = (Fraction(end) for end in ball_endpoints((ball(1 - less) / ball(less)).log()))
    after, before = evaluate(loss, DeltaAt(max(high, Fraction(0)))), evaluate(loss, DeltaAt(max(low, Fraction(0))))
    reason = Reason("the best guess follows the likelihood ratio at the prior odds", (before.reason,))
    return Enclosure(1 - less + less * Fraction(after.lower), 1 - less + less * Fraction(before.upper), reason)


@dataclass(frozen=True)
class _Point:
    """A place s = log a, the number a, and balls at or below and at or above g(a)."""

    place: Fraction
    a: arb
    low: arb
    high: arb


@dataclass(frozen=True)
class _Dual:
    """The concave function g(a) whose supremum over a > 0 is f(alpha)."""

    # With a = e^s it is 1 - delta(s) - a alpha for s >= 0, and a (1 - delta(-s) - alpha) for s < 0; g(0) = 0, and beyond
    # a = 1/alpha it is negative.
    # `rising` is asked where s >= 0, and `falling`, the other direction or the same profile, where s < 0: the profile at 1/a of a
    # pair is 1 - 1/a + 1/a times that of the exchanged pair at a.
    rising: Composition
    falling: Composition
    alpha: Fraction
    ask: Callable[[Composition, DeltaAt], Enclosure]

    def delta(self, place: Fraction) -> Enclosure:
        return self.ask(self.rising if place >= 0 else self.falling, DeltaAt(abs(place)))

    def at(self, place: Fraction) -> _Point:
        a, alpha = ball(place).exp(), ball(self.alpha)
        delta = self.delta(place)
        low, high = (1 - ball(Fraction(end)) for end in (delta.upper, delta.lower))
        if place >= 0:
            return _Point(place, a, low - a * alpha, high - a * alpha)
        return _Point(place, a, a * (low - alpha), a * (high - alpha))

    def peak(self) -> Fraction:
        """Near where g is greatest; found by golden section, where a poor place costs width and never soundness."""
        low, high, _ = golden_section(lambda place: -self._steering(place), _SMALLEST, self._last(), _GOLDEN_STEPS)
        return Fraction(round((low + high) / 2 * 2**40), 2**40)

    def bounds(self, peak: Fraction) -> tuple[Fraction, Fraction]:
        """Numbers below and above the supremum of g: its best value, and where the chords beside the best place meet."""
        last = Fraction(self._last())
        places = {peak} | {place for offset in OFFSETS for place in (peak - offset, peak + offset) if place < last}
        points = [_Point(Fraction(0), arb(0), arb(0), arb(0)), *(self.at(place) for place in sorted(places)), self.at(last)]
        while True:
            tops = [_top(points, index) for index in range(len(points) - 1)]
            worst = max(range(len(tops)), key=lambda index: float(tops[index].upper()))
            best = max(float(point.low.lower()) for point in points)
            if len(points) >= MOST_POINTS or float(tops[worst].upper()) - best <= RELATIVE_WIDTH:
                break
            left, right = points[worst], points[worst + 1]
            middle = _short((left.place + right.place) / 2 if worst else right.place - 1)
            if middle in {left.place, right.place}:
                break
            points.insert(worst + 1, self.at(middle))
        lower = max(_end(point.low, 0) for point in points)
        return max(lower, Fraction(0)), max(_end(top, 1) for top in tops)

    def _last(self) -> float:
        """A place at or beyond log(1/alpha), where g is not positive any more."""
        with working_precision(64):
            return float((-ball(self.alpha).log()).upper()) + 2.0**-20

    def _steering(self, place: float) -> float:
        """Logarithm of g as a float, -infinity where g is not positive."""
        value = self.at(Fraction(place)).low
        return float(value.log()) if value > 0 else -math.inf


def _top(points: list[_Point], index: int) -> arb:
    """A ball at or above a concave function between two neighbouring points, from the chords on either side."""
    left, right = points[index], points[index + 1]
    width = right.a - left.a
    before, after = points[index - 1] if index else None, points[index + 2] if index + 2 < len(points) else None
    rise = None if before is None else (left.high - before.low) / (left.a - before.a)
    fall = None if after is None else (right.high - after.low) / (after.a - right.a)
    if rise is not None and rise <= 0:
        return left.high
    if fall is not None and fall <= 0:
        return right.high
    if rise is None or fall is None:
        return right.high + fall * width if fall is not None else arb(1)
    rise, fall = rise.nonnegative_part(), fall.nonnegative_part()
    return (fall * left.high + rise * right.high + rise * fall * width) / (rise + fall)


def _short(place: Fraction) -> Fraction:
    """The place with few digits."""
    return Fraction(round(place * 2**48), 2**48)


def _end(value: arb, side: int) -> Fraction:
    """The lower (0) or upper (1) end of a finite ball."""
    end = ball_endpoints(value)[side]
    return end if isinstance(end, Fraction) else Fraction(side)
