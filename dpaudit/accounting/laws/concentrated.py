"""What a guarantee allows: bounds on the moments of a loss, with nothing from below, and the laws that a claim promises."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from dpaudit.accounting.laws.gaussian import unit_gaussian
from dpaudit.accounting.laws.response import approximate_response, pure_response
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.law import FiniteLosses, Law, LossValue, OnlyAbove, Symmetric, Unbounded
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, Guarantee, PureDP
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, rational, shown


@dataclass(frozen=True)
class Concentrated(Symmetric, FiniteLosses, OnlyAbove):
    """Every mechanism whose Renyi divergence of each order a > 1 is at most a * rho."""

    rho: Fraction

    def describe(self) -> str:
        return f"zcdp(rho={shown(self.rho)})"

    def greatest_loss(self) -> LossValue | None:
        """None, since the losses may be unbounded; 0 where rho is."""
        return None if self.rho else LossValue()

    def log_moment(self, order: Fraction) -> arb:
        """Order * (1 + order) * rho, by definition."""
        return ball(order * (1 + order) * self.rho)


@dataclass(frozen=True)
class RenyiBounded(Symmetric, FiniteLosses, Unbounded, OnlyAbove):
    """Every mechanism whose Renyi divergence is at most the stated bound at each of the stated orders, in increasing order."""

    orders: tuple[tuple[Fraction, Fraction], ...]

    def describe(self) -> str:
        return "rdp({" + ", ".join(f"{shown(order)}: {shown(bound)}" for order, bound in self.orders) + "})"

    def log_moment(self, order: Fraction) -> arb | None:
        """Interpolated: the log moment is convex in the order and 0 at 0, and the divergence grows with its order."""
        corners = self.corners
        right = bisect_left(corners, (order,))
        if right == len(corners):
            return None
        (left, low), (place, value) = corners[max(right - 1, 0)], corners[right]
        return ball(value if place == order else low + (value - low) * (order - left) / (place - left))

    @cached_property
    def corners(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Corners of the largest convex function below 0 at 0 and the log moments stated, up to the last of them."""
        corners = [(Fraction(0), Fraction(0))]
        for above, bound in self.orders:
            place, value = above - 1, (above - 1) * bound
            while len(corners) > 1 and _is_above(corners[-1], corners[-2], (place, value)):
                corners.pop()
            corners.append((place, value))
        return tuple(corners)


def _is_above(corner: tuple[Fraction, Fraction], left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]) -> bool:
    """True if a corner is not below the chord of its neighbours."""
    return (corner[1] - left[1]) * (right[0] - left[0]) >= (right[1] - left[1]) * (corner[0] - left[0])


def promised_composition(claim: Claim) -> Composition:
    """Return the laws whose loss a claim promises not to exceed; DPA202 for a curve that was not built here."""
    if isinstance(claim.guarantee, Curve):
        composition = getattr(claim.guarantee.loss, "composition", None)
        if not isinstance(composition, Composition):
            kind = type(claim.guarantee.loss).__name__
            raise Unsupported("DPA202", f"a Curve must hold a loss built with dpaudit.accounting, got a {kind}.")
        return composition
    return Composition(((_promised_law(claim.guarantee), 1),), claim.relation)


def _promised_law(guarantee: Guarantee) -> Law:
    """Return the law that a guarantee with parameters allows."""
    match guarantee:
        case PureDP():
            return pure_response(rational(guarantee.epsilon))
        case ApproxDP():
            return approximate_response(rational(guarantee.epsilon), rational(guarantee.delta))
        case ZCDP():
            return Concentrated(rational(guarantee.rho))
        case RDP():
            return RenyiBounded(guarantee.orders)
        case GDP():
            return unit_gaussian(rational(guarantee.mu))
    raise Unsupported("DPA202", f"no law is known for a {type(guarantee).__name__}. Give PureDP, ApproxDP, ZCDP, RDP or GDP.")
