"""Concentrated and Renyi differential privacy: what a bound on the moments of the loss allows, nothing from below."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.model.law import Law
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, shown


@dataclass(frozen=True)
class Concentrated:
    """Every mechanism whose Renyi divergence of each order a > 1 is at most a * rho."""

    rho: Fraction

    def describe(self) -> str:
        """Name and parameter."""
        return f"zcdp(rho={shown(self.rho)})"

    def reversed(self) -> Concentrated:
        """The guarantee itself: it holds in both directions."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """None, since the losses may be unbounded; 0 where rho is."""
        return None if self.rho else LossValue()

    def infinity_mass(self) -> Fraction:
        """Zero: an infinite loss has infinite moments."""
        return Fraction(0)

    def log_moment(self, order: Fraction) -> arb:
        """Order * (1 + order) * rho, by definition."""
        return ball(order * (1 + order) * self.rho)

    def bracket(self) -> tuple[Law, Law | None]:
        """The guarantee from above, nothing from below."""
        return self, None

    def bracket_source(self) -> str:
        """The bound that is missing: the guarantee has none from below."""
        return "a bound on moments holds from above only: a mechanism that satisfies it may lose nothing"


@dataclass(frozen=True)
class RenyiBounded:
    """Every mechanism whose Renyi divergence is at most the stated bound at each of the stated orders, in increasing order."""

    orders: tuple[tuple[Fraction, Fraction], ...]

    def describe(self) -> str:
        """Name and bounds."""
        return "rdp({" + ", ".join(f"{shown(order)}: {shown(bound)}" for order, bound in self.orders) + "})"

    def reversed(self) -> RenyiBounded:
        """The guarantee itself: it holds in both directions."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """None: finitely many moments leave the losses unbounded."""
        return None

    def infinity_mass(self) -> Fraction:
        """Zero: an infinite loss has infinite moments."""
        return Fraction(0)

    def log_moment(self, order: Fraction) -> arb | None:
        """Interpolated: the log moment is convex in the order and 0 at 0, and the divergence grows with its order."""
        points = [(Fraction(0), Fraction(0)), *((above - 1, (above - 1) * bound) for above, bound in self.orders)]
        beyond = [(place, value) for place, value in points if place >= order]
        if not beyond:
            return None
        candidates = [value / place * order for place, value in beyond]
        for left, low in points:
            candidates += [low + (value - low) * (order - left) / (place - left) for place, value in beyond if left < order]
        return ball(min(candidates))

    def bracket(self) -> tuple[Law, Law | None]:
        """The guarantee from above, nothing from below."""
        return self, None

    def bracket_source(self) -> str:
        """The bound that is missing: the guarantee has none from below."""
        return "a bound on moments holds from above only: a mechanism that satisfies it may lose nothing"
