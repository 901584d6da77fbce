"""Gaussian noise on the integers, discrete or rounded from the line: the exact loss of one coordinate by certified tail sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import arb, ctx

from dpaudit.accounting.laws.gaussian import normal_sum, twice_upper_tail
from dpaudit.accounting.model.distribution import Distribution, Points, Scattered
from dpaudit.accounting.model.law import Atom, Atoms, FiniteLosses, LossValue, Symmetric, Unbounded
from dpaudit.accounting.model.search import THRESHOLD_SOURCE, best_threshold
from dpaudit.exact import ball, shown, working_precision

MOST_ATOMS: Final = 1 << 14  # Beyond this many loss values a law is composed through bounds instead of value by value


@dataclass(frozen=True)
class DiscreteGaussian(Symmetric, FiniteLosses, Unbounded):  # reflection exchanges the two sides
    """P(x) proportional to exp(-(x - sensitivity)^2/(2 sigma^2)) on the integers against the same law around 0."""

    sigma_squared: Fraction
    sensitivity: int

    def describe(self) -> str:
        return f"discrete_gaussian(sigma_squared={shown(self.sigma_squared)}, sensitivity={self.sensitivity})"

    def log_moment(self, order: Fraction) -> arb:
        """The bound of Canonne, Kamath, Steinke 2020, Proposition 5: zCDP with rho = sensitivity^2/(2 sigma^2)."""
        return ball(order * (1 + order) * self.sensitivity**2 / (2 * self.sigma_squared))

    def profile(self, epsilon: arb) -> arb:
        """P(x >= t) - e^epsilon Q(x >= t) at the threshold t where the loss passes epsilon."""
        boundary = epsilon * ball(self.sigma_squared / self.sensitivity) + ball(Fraction(self.sensitivity, 2))
        gain = best_threshold(boundary, lambda start: self._tail(start - self.sensitivity) - epsilon.exp() * self._tail(start))
        return gain.nonnegative_part()

    def _tail(self, start: int) -> arb:
        """Probability that the noise is at least `start`."""
        everything = 1 + 2 * normal_sum(1, self.sigma_squared)
        if start > 0:
            return normal_sum(start, self.sigma_squared) / everything
        return 1 - normal_sum(1 - start, self.sigma_squared) / everything

    def profile_source(self) -> str:
        return THRESHOLD_SOURCE

    def atoms(self, tail: int) -> Atoms | None:
        """The loss values with their masses; what is cut weighs less than 2^-tail above and 2^-128 below."""
        # exp(-x^2/(2 sigma^2)) is e^-bits at such an x, and the sum beyond it is below 2^-bits
        below, above = (math.isqrt(int(2 * bits * self.sigma_squared)) + 2 for bits in (128, tail))
        if below + above >= MOST_ATOMS:
            return None
        everything = 1 + 2 * normal_sum(1, self.sigma_squared)
        low, high = (arb(0).union((normal_sum(end + 1, self.sigma_squared) / everything).upper()) for end in (below, above))
        masses, ratio = [1 / everything], ball(-1 / (2 * self.sigma_squared)).exp()
        step = ratio * ratio
        for _ in range(max(below, above)):
            masses.append(masses[-1] * ratio)
            ratio *= step
        found = []
        for offset in range(-below, above + 1):
            loss = LossValue(Fraction(self.sensitivity * (2 * offset + self.sensitivity)) / (2 * self.sigma_squared))
            mass = masses[abs(offset)] + (low if offset == -below else 0)
            found.append(Atom(loss, mass, mass * (-loss.ball()).exp()))
        return Atoms(tuple(found), high)


MOST_LISTED: Final = 1 << 12  # Variance up to which outputs are listed
MOST_POINTS: Final = 1 << 13  # Most outputs of a list


@dataclass(frozen=True)
class RoundedGaussian(Symmetric, FiniteLosses, Unbounded):  # reflection exchanges the two sides
    """N(sensitivity, sigma^2) against N(0, sigma^2), each rounded to the nearest integer; `sensitivity` is an integer."""

    sigma: Fraction
    sensitivity: int

    def describe(self) -> str:
        return f"rounded_gaussian(sigma={shown(self.sigma)}, sensitivity={self.sensitivity})"

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
        from dpaudit.accounting.laws.stepped import Stepped

        return Scattered(self) if self.variance <= MOST_LISTED else Stepped(self)
