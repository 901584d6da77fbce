"""Concentrated and Renyi differential privacy: what a bound on the moments of the loss allows, nothing from below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.law import Law
from dpaudit.accounting.loss import PrivacyLoss, single
from dpaudit.accounting.values import LossValue
from dpaudit.claims import RDP, Adjacency
from dpaudit.exact import Exact, ball, non_negative, shown


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
        """What the guarantee does not say."""
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
        """What the guarantee does not say."""
        return "a bound on moments holds from above only: a mechanism that satisfies it may lose nothing"


def zcdp(rho: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss that rho-zero-concentrated differential privacy allows.

    Args:
      rho: privacy parameter in nats, exact, at least 0.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      A loss known from above only: the lower ends of its answers are 0.
    Raises:
      InvalidArgument: `rho` is not a finite number (DPA101, DPA102) or negative (DPA103).
    Source: Bun and Steinke 2016, Definition 1.1; Canonne, Kamath, Steinke 2020, Proposition 12 for the conversion.
    Example:
      >>> print(zcdp("1/2").epsilon(delta="1e-6"))
      [0, 5.22154]
    """
    return single(Concentrated(non_negative(rho, "rho")), adjacency)


def rdp(orders: Mapping[Exact, Exact], *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss that Renyi differential privacy at the listed orders allows.

    Args:
      orders: mapping from order a > 1 to the bound on the Renyi divergence of that order, in nats, exact, at least 0.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      A loss known from above only: the lower ends of its answers are 0.
    Raises:
      InvalidArgument: an order is not above 1 or a bound is negative (DPA103), not a mapping (DPA105), or empty (DPA109).
    Source: Mironov 2017, Definition 4; Canonne, Kamath, Steinke 2020, Proposition 12 for the conversion.
    Example:
      >>> print(rdp({2: "1/2", 16: 4}).epsilon(delta="1e-6"))
      [0, 4.67166]
    """
    return single(RenyiBounded(RDP(orders).orders), adjacency)
