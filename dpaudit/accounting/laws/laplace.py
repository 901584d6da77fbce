"""The Laplace mechanism's loss: closed forms of its profile and moments."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, shown


@dataclass(frozen=True)
class Laplace:
    """Laplace noise of `scale` on values `sensitivity` apart; the loss has atoms at both ends and a density between."""

    scale: Fraction
    sensitivity: Fraction

    @property
    def pure_epsilon(self) -> Fraction:
        """Greatest loss in nats."""
        return self.sensitivity / self.scale

    def describe(self) -> str:
        """Name and parameters."""
        return f"laplace(scale={shown(self.scale)}, sensitivity={shown(self.sensitivity)})"

    def reversed(self) -> Laplace:
        """The law itself: reflection exchanges the two sides."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """The pure epsilon, met by every output beyond both centres."""
        return LossValue(self.pure_epsilon)

    def infinity_mass(self) -> Fraction:
        """Zero: both sides have full support."""
        return Fraction(0)

    def log_moment(self, order: Fraction) -> arb:
        """Mironov 2017, Table II, with a = order + 1: log(a e^((a-1) eps) + (a-1) e^(-a eps)) - log(2a - 1)."""
        rise, fall = ball(order * self.pure_epsilon).exp(), ball(-(order + 1) * self.pure_epsilon).exp()
        return ((ball(order + 1) * rise + ball(order) * fall) / ball(2 * order + 1)).log()

    def profile(self, epsilon: arb) -> arb:
        """1 - exp((epsilon - pure)/2) between the two atoms, the trivial values outside."""
        pure = ball(self.pure_epsilon)
        if epsilon <= -pure:
            return -epsilon.expm1()
        inside = (-((epsilon - pure) / 2).expm1()).nonnegative_part()
        return inside if epsilon >= -pure else inside.union(-epsilon.expm1())

    def profile_source(self) -> str:
        """Where the closed form is from."""
        return "Balle, Barthe, Gaboardi 2018, Theorem 3: delta(e) = 1 - exp((e - sensitivity/scale)/2)"
