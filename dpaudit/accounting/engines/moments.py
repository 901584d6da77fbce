"""The moment bound on delta: Renyi divergences of all laws added up, at the best order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, ctx

from dpaudit.accounting.model.composition import Composition, infinite_loss
from dpaudit.accounting.model.search import golden_section
from dpaudit.exact import Reason, ball, ball_endpoints, outward, working_precision

PLACES: Final = 1024  # Orders that are tried have multiples of 1 over this as log2(order - 1)
LOG2_ORDERS: Final = (-80.0 * PLACES, 200.0 * PLACES)  # Range of places in which the best order is sought
MOST_REFINED: Final = 8  # Laws up to which one order more, between the places, is worth its time: it gains some 1e-6 of delta
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
    known = _known_lines(composition)

    def exponent(place: float) -> arb | None:
        """Logarithm of the bound at the order of a place, which further questions meet again."""
        key = int(ctx.prec), place
        if key not in known:
            known[key] = _line(composition, _order_at(place))
        line = known[key]
        return None if line is None else line[1] - line[0] * ball(epsilon)

    # The first precision only chooses the order: any order gives a valid bound, and the second computes it.
    with working_precision(64):
        best: float = round(golden_section(lambda place: _steering(exponent(round(place))), *LOG2_ORDERS, STEPS)[2])
        if len(composition.parts) <= MOST_REFINED:
            best += _lowest_beside([_steering(exponent(best + step)) for step in (-1, 0, 1)])
    with working_precision(192):
        least = exponent(best)
        finite = ball_endpoints(least.exp())[1] if least is not None and least.is_finite() else math.inf
    bound = finite + infinite_loss(composition).upper
    if bound >= 1:
        return MomentBound(Fraction(1), Fraction(0))
    return MomentBound(Fraction(bound), 1 + _order_at(best))


def _order_at(place: float) -> Fraction:
    """The order less 1 at a place of the grid, or between two of them."""
    return Fraction(2.0 ** (place / PLACES))


def _lowest_beside(values: Sequence[float]) -> float:
    """Where the parabola through the values at -1, 0 and 1 is lowest; 0 where it is not between them."""
    bend = values[0] - 2 * values[1] + values[2]
    shift = (values[0] - values[2]) / (2 * bend) if bend > 0 else 0.0
    return shift if abs(shift) <= 1 else 0.0


@lru_cache(maxsize=64)
def _known_lines(composition: Composition) -> dict[tuple[int, float], tuple[arb, arb] | None]:  # noqa: ARG001 - the key
    """What was computed for a composition, by precision and place."""
    return {}


def _line(composition: Composition, order: Fraction) -> tuple[arb, arb] | None:
    """The order, and the logarithm of the bound at epsilon 0; None where a moment is not known."""
    value = ball(order) * ball(order).log() - ball(1 + order) * ball(1 + order).log()
    for law, count in composition.parts:
        moment = law.log_moment(order)
        if moment is None:
            return None
        value += moment * count
    return ball(order), value


def _steering(value: arb | None) -> float:
    """A float that steers the search; infinity where there is no bound."""
    number = math.inf if value is None or not value.is_finite() else float(value)
    return math.inf if math.isnan(number) else number
