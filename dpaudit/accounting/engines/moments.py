"""The moment bound on delta: Renyi divergences of all laws added up, at the best order."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from dpaudit.accounting.model.composition import Composition, infinite_loss
from dpaudit.accounting.model.law import Cornered
from dpaudit.accounting.model.search import Guess, golden_section, log_of
from dpaudit.exact import Reason, ball, ball_endpoints, outward, working_precision

PLACES: Final = 1024  # Orders that are tried have multiples of 1 over this as log2(order - 1)
LOG2_ORDERS: Final = (-80.0 * PLACES, 200.0 * PLACES)  # Range of places in which the best order is sought
CLOSE: Final = 1e-7  # Distance from a corner of log moments, in places
MOST_REFINED: Final = 8  # Laws up to which one order more, between the places, is worth its time: it gains some 1e-6 of delta
LARGEST: Final = Fraction(10**15)  # Epsilons beyond this are as good as this one where floats choose an order
STEPS: Final = 36  # Golden section steps, which shrink the range to 1e-5 of it


@dataclass(frozen=True)
class MomentBound:
    """A valid delta and the Renyi order that gave it (0 when the bound is the trivial 1)."""

    upper: Fraction
    order: Fraction

    def reason(self) -> Reason:
        """The theorem with its order."""
        if not self.order:
            return Reason("delta is a probability, at most 1")
        shown = outward(self.order, digits=6, up=True)
        return Reason(
            f"Canonne, Kamath, Steinke 2020, Proposition 12 at order {shown}: delta <= exp((a-1)(D_a - e)) (1-1/a)^(a-1)/a",
            (Reason("Renyi divergences D_a of the parts add up (Mironov 2017, Proposition 1)"),),
        )


def moment_bound(composition: Composition, epsilon: Fraction) -> MomentBound:
    """An upper bound on delta in this direction: the mass of infinite losses plus the moment bound for the finite ones."""
    place = float(min(epsilon, LARGEST))

    def exponent(found: tuple[float, float]) -> float:
        """Logarithm of the bound at an order, in floats."""
        return found[1] - found[0] * place

    # Floats only choose the order: any order gives a valid bound.
    best: float = _best_place(composition, exponent)
    if len(composition.parts) <= MOST_REFINED:
        best += _lowest_beside([exponent(_floats(composition, best + step)) for step in (-1, 0, 1)])
        best = min(best, *_corners_beside(composition, best), key=lambda one: exponent(_floats(composition, one)))
    with working_precision(192):
        line = _line(composition, best)
        least = None if line is None else line[1] - line[0] * ball(epsilon)
        finite = ball_endpoints(least.exp())[1] if least is not None and least.is_finite() else math.inf
    bound = finite + infinite_loss(composition).upper
    if bound >= 1:
        return MomentBound(Fraction(1), Fraction(0))
    return MomentBound(Fraction(bound), 1 + _order_at(best))


def near_epsilon(composition: Composition, delta: Fraction) -> Guess | None:
    """About the epsilon at which the moment bound is delta, in floats, None where there is none: a search begins there."""
    finite = delta - infinite_loss(composition).upper
    if not isinstance(finite, Fraction) or finite <= 0:
        return None
    sought = log_of(finite)

    def epsilon(found: tuple[float, float]) -> float:
        """Where the bound of one order is as large."""
        return (found[1] - sought) / found[0]

    best = _floats(composition, _best_place(composition, epsilon))
    return (Fraction(epsilon(best)), -best[0]) if 0 < epsilon(best) < math.inf else None


def _best_place(composition: Composition, value: Callable[[tuple[float, float]], float]) -> int:
    """The place of the grid at which a function of the order and of the logarithm of the bound at epsilon 0 is least."""

    def steering(place: float) -> float:
        number = value(_floats(composition, round(place)))
        return math.inf if math.isnan(number) else number

    return round(golden_section(steering, *LOG2_ORDERS, STEPS)[2])


def _floats(composition: Composition, place: float) -> tuple[float, float]:
    """The order less 1 at a place, and the logarithm of the bound at epsilon 0, infinite where there is none; remembered."""
    known = _known_lines(composition)
    if place not in known:
        with working_precision(64):
            line = _line(composition, place)
            finite = line is not None and line[1].is_finite()
            known[place] = (float(line[0]), float(line[1]) if finite else math.inf) if line is not None else (1.0, math.inf)
    return known[place]


def _order_at(place: float) -> Fraction:
    """The order less 1 at a place of the grid, or between two of them."""
    return Fraction(2.0 ** (place / PLACES))


def _lowest_beside(values: Sequence[float]) -> float:
    """Where the parabola through the values at -1, 0 and 1 is lowest; 0 where it is not between them."""
    bend = values[0] - 2 * values[1] + values[2]
    shift = (values[0] - values[2]) / (2 * bend) if bend > 0 else 0.0
    return shift if abs(shift) <= 1 else 0.0


def _corners_beside(composition: Composition, place: float) -> Sequence[float]:
    """The nearest corners of log moments on both sides of a place, or the place itself."""
    corners = _corners(composition)
    index = bisect_left(corners, place)
    return corners[max(index - 1, 0) : index + 1] or (place,)


@lru_cache(maxsize=64)
def _corners(composition: Composition) -> tuple[float, ...]:
    """Places of all corners, a hair below, since beyond the last one nothing is known."""
    orders = {order for law, _ in composition.parts if isinstance(law, Cornered) for order, _ in law.corners if order}
    places = (PLACES * log_of(order) / math.log(2) - CLOSE for order in orders)
    return tuple(sorted(place for place in places if LOG2_ORDERS[0] < place < LOG2_ORDERS[1]))


@lru_cache(maxsize=64)
def _known_lines(composition: Composition) -> dict[float, tuple[float, float]]:  # noqa: ARG001 - the key
    """What was computed for a composition, by place."""
    return {}


def _line(composition: Composition, place: float) -> tuple[arb, arb] | None:
    """The order less 1, and the logarithm of the bound at epsilon 0; None where a moment is not known."""
    order = _order_at(place)
    value = ball(order) * ball(order).log() - ball(1 + order) * ball(1 + order).log()
    for law, count in composition.parts:
        moment = law.log_moment(order)
        if moment is None:
            return None
        value += moment * count
    return ball(order), value
