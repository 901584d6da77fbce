"""The rounded Gaussian on the integers: the exact loss of one coordinate, from below its continuous law's price."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.law import Law
from dpaudit.accounting.laws.normal_tails import twice_upper_tail
from dpaudit.accounting.laws.response import three_outputs
from dpaudit.accounting.laws.thresholds import best_threshold
from dpaudit.accounting.values import LossValue
from dpaudit.exact import ball, shown, working_precision


@dataclass(frozen=True)
class RoundedGaussian:
    """N(sensitivity, sigma^2) against N(0, sigma^2), each rounded to the nearest integer; `sensitivity` is an integer."""

    sigma: Fraction
    sensitivity: int

    def describe(self) -> str:
        """Name and parameters."""
        return f"rounded_gaussian(sigma={shown(self.sigma)}, sensitivity={self.sensitivity})"

    def reversed(self) -> RoundedGaussian:
        """The law itself: reflection exchanges the two sides."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """None: the loss grows with the output."""
        return None

    def infinity_mass(self) -> Fraction:
        """Zero: both sides have full support."""
        return Fraction(0)

    def log_moment(self, order: Fraction) -> arb:
        """At most that of the continuous law, since rounding is post-processing."""
        return ball(order * (1 + order) * (self.sensitivity / self.sigma) ** 2 / 2)

    def profile(self, epsilon: arb) -> arb:
        """The continuous law's gain at a half-integer threshold; it has one maximum, so a neighbour of that is best."""
        root = (2 * ball(self.sigma**2)).sqrt()
        boundary = epsilon * ball(self.sigma**2 / self.sensitivity) + ball(Fraction(self.sensitivity, 2))

        def gain(start: int) -> arb:
            """Gain of the event that the output is at least `start`."""
            edge = ball(start - Fraction(1, 2))
            return (twice_upper_tail((edge - self.sensitivity) / root) - epsilon.exp() * twice_upper_tail(edge / root)) / 2

        nearest = boundary + ball(Fraction(1, 2))  # the half-integers around it are start - 1/2 for two starts
        return best_threshold(nearest, gain).max(best_threshold(nearest - 1, gain)).nonnegative_part()

    def profile_source(self) -> str:
        """Where the closed form is from."""
        return "likelihood ratio increasing in the output: the best event is a half-integer threshold next to the continuous law's"

    def above(self) -> Law | None:
        """None: the loss is unbounded."""
        return None

    def below(self) -> Law | None:
        """Whether the output lies beyond the middle of the two centres, short of it, or on it."""
        with working_precision(128):
            root = (8 * ball(self.sigma**2)).sqrt()
            half = self.sensitivity % 2 == 0  # the middle is then an output, and tells nothing
            likely, unlikely = (-(self.sensitivity - half) / root).erfc() / 2, ((self.sensitivity + half) / root).erfc() / 2
            return three_outputs(likely, unlikely, self.describe())
