"""The moment bound on delta: Renyi divergences of all laws added up, at the best order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, ctx

from dpaudit.accounting.model.composition import Composition, infinite_loss
from dpaudit.accounting.model.search import golden_section
from dpaudit.exact import Reason, ball, ball_endpoints, outward, working_precision

LOG2_ORDERS: Final = (-80.0, 200.0)  # Range of log2(order - 1) in which the best order is sought
PLACES: Final = 1024  # Orders that are tried have multiples of 1 over this as log2(order - 1)
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
        """Logarithm of the bound at the order of the next place of a fine grid, so that further questions meet the same ones."""
        key = int(ctx.prec), round(place * PLACES)
        if key not in known:
            known[key] = _line(composition, _order_at(key[1]))
        line = known[key]
        return None if line is None else line[1] - line[0] * ball(epsilon)

    # The first precision only chooses the order: any order gives a valid bound, and the second computes it.
    with working_precision(64):
        best = golden_section(lambda place: _steering(exponent(place)), *LOG2_ORDERS, STEPS)[2]
    with working_precision(192):
        least = exponent(best)
        finite = ball_endpoints(least.exp())[1] if least is not None and least.is_finite() else math.inf
    bound = finite + infinite_loss(composition).upper
    if bound >= 1:
        return MomentBound(Fraction(1), Fraction(0))
    return MomentBound(Fraction(bound), 1 + _order_at(round(best * PLACES)))


def _order_at(place: int) -> Fraction:
    """The order less 1 at a place of the grid."""
    return Fraction(2.0 ** (place / PLACES))


@lru_cache(maxsize=64)
def _known_lines(composition: Composition) -> dict[tuple[int, int], tuple[arb, arb] | None]:  # noqa: ARG001 - the key
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
