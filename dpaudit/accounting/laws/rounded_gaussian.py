"""The rounded Gaussian on the integers: the exact loss of one coordinate, from below its continuous law's price."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from flint import arb, ctx

from dpaudit.accounting.laws.normal_tails import twice_upper_tail
from dpaudit.accounting.laws.thresholds import best_threshold
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, shown, working_precision

if TYPE_CHECKING:
    from dpaudit.accounting.laws.distributions import Distribution, Points

MOST_LISTED: Final = 1 << 12
"""Variance up to which outputs are listed."""

MOST_POINTS: Final = 1 << 13
"""Most outputs of a list."""


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

    @property
    def variance(self) -> Fraction:
        """That of the normal law."""
        return self.sigma**2

    def tail(self, start: int) -> arb:
        """Probability that the rounded noise is at least `start`."""
        return twice_upper_tail(ball(start - Fraction(1, 2)) / (2 * ball(self.sigma**2)).sqrt()) / 2

    def _masses(self, first: int, last: int) -> list[arb]:
        """Probabilities of values of the noise that are not negative, as accurate as the working precision allows."""
        with working_precision(ctx.prec + 8 + math.ceil(self.sigma).bit_length()):
            tails = [self.tail(value) for value in range(first, last + 2)]
            return [here - beyond for here, beyond in pairwise(tails)]

    def loss_at(self, output: int) -> arb:
        """Logarithm of the ratio of the two probabilities."""
        near, far = abs(output - self.sensitivity), abs(output)
        return (self._masses(near, near)[0] / self._masses(far, far)[0]).log()

    def points(self, tail: int) -> Points:
        """The outputs with their masses, lighter tails than 2^-128 below and 2^-tail above moved up or left out; few at a time."""
        from dpaudit.accounting.laws.distributions import Points
        from dpaudit.accounting.laws.stepped import outputs_within

        below, above = (outputs_within(self.variance, bits) for bits in (128, tail))
        if below + above > MOST_POINTS:
            return Points((), arb(0).union(arb(1)), arb(0).union(arb(1)))
        masses = self._masses(0, max(below, above) + self.sensitivity)
        low, high = (arb(0).union(self.tail(end + 1).upper()) for end in (below, above))
        found = []
        for offset in range(-below, above + 1):
            ratio = masses[abs(offset)] / masses[abs(offset + self.sensitivity)]
            mass = masses[abs(offset)] + (low if offset == -below else 0)
            found.append((ratio.log(), mass, mass / ratio))
        return Points(tuple(found), high, (1 - sum((point[2] for point in found), arb(0))).nonnegative_part())

    def distribution(self) -> Distribution:
        """A list of outputs where these are few, else a step function."""
        from dpaudit.accounting.laws.mixtures import Scattered
        from dpaudit.accounting.laws.stepped import Stepped

        return Scattered(self) if self.variance <= MOST_LISTED else Stepped(self)
