"""Bounded range: the exponential mechanism's guarantee, tight for one release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.laws.response import pure_response
from dpaudit.accounting.model.law import Law
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, shown


@dataclass(frozen=True)
class BoundedRange:
    """All pairs whose losses lie in some interval of length `epsilon`; the worst have their losses at its two ends.

    With losses t and t - epsilon the total masses fix P(t) = (e^epsilon - e^t)/(e^epsilon - 1), 0 <= t <= epsilon. Each
    profile value and each moment is the maximum over t, which some mechanism of the class attains.
    """

    epsilon: Fraction

    def describe(self) -> str:
        """Name and parameter."""
        return f"bounded_range(epsilon={shown(self.epsilon)})"

    def reversed(self) -> BoundedRange:
        """The class itself: exchanging P and Q maps t to epsilon - t."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """The epsilon, approached as t goes to it."""
        return LossValue(self.epsilon)

    def infinity_mass(self) -> Fraction:
        """Zero: the losses are bounded."""
        return Fraction(0)

    def log_moment(self, order: Fraction) -> arb:
        """Maximum over u = e^t of (u^order (E - E^-order) - u^(order + 1) (1 - E^-order))/(E - 1), E = e^epsilon."""
        rise, fall = ball(self.epsilon).exp(), ball(-order * self.epsilon).exp()
        best = ball(order) * (rise - fall) / (ball(order + 1) * (1 - fall))
        return ball(order) * best.log() + ((rise - fall) / (ball(order + 1) * (rise - 1))).log()

    def profile(self, epsilon: arb) -> arb:
        """(e^(range/2) - e^(epsilon/2))^2/(e^range - 1), from the worst t = (range + epsilon)/2."""
        width = ball(self.epsilon)
        if epsilon <= -width:
            return -epsilon.expm1()
        gap = (epsilon / 2).exp() * (((width - epsilon) / 2).expm1()).nonnegative_part()
        inside = gap * gap / width.expm1()
        return inside if epsilon >= -width else inside.union(-epsilon.expm1())

    def profile_source(self) -> str:
        """Where the closed form is from."""
        return "Dong, Durfee, Rogers 2020, section 3: delta(e) = (exp(r/2) - exp(e/2))^2/(exp(r) - 1), worst mechanism of range r"

    def below(self) -> Law:
        """The symmetric member of the class: randomized response with half the range."""
        return pure_response(self.epsilon / 2)
