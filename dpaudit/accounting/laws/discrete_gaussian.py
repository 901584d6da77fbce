"""The discrete Gaussian mechanism's loss on one integer: certified tail sums, no rounding of the law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast

from flint import arb

from dpaudit.accounting.law import Atom, Atoms
from dpaudit.accounting.laws.normal_tails import normal_sum
from dpaudit.accounting.laws.thresholds import THRESHOLD_SOURCE, best_threshold
from dpaudit.accounting.loss import PrivacyLoss, single
from dpaudit.accounting.values import LossValue
from dpaudit.claims import Adjacency
from dpaudit.exact import Exact, ball, integer, one_given, positive, shown

MOST_ATOMS: Final = 1 << 14
"""Beyond this many loss values a law is composed through bounds instead of value by value."""


@dataclass(frozen=True)
class DiscreteGaussian:
    """P(x) proportional to exp(-(x - sensitivity)^2/(2 sigma^2)) on the integers against the same law around 0."""

    sigma_squared: Fraction
    sensitivity: int

    def describe(self) -> str:
        """Name and parameters."""
        return f"discrete_gaussian(sigma_squared={shown(self.sigma_squared)}, sensitivity={self.sensitivity})"

    def reversed(self) -> DiscreteGaussian:
        """The law itself: reflection exchanges the two sides."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """None: the loss grows with the output."""
        return None

    def infinity_mass(self) -> Fraction:
        """Zero: both sides have full support."""
        return Fraction(0)

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
        """Where the closed form is from."""
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


def discrete_gaussian(
    sigma: Exact | None = None,
    *,
    sigma_squared: Exact | None = None,
    sensitivity: int = 1,
    adjacency: Adjacency | str = "add_remove",
) -> PrivacyLoss:
    """Privacy loss of discrete Gaussian noise on an integer.

    Args:
      sigma: parameter of the noise, in lattice steps, exact, positive; or else
      sigma_squared: its square; the noise x has probability proportional to exp(-x^2/(2 sigma_squared)).
      sensitivity: largest distance of the query on neighbours, in lattice steps, an integer of at least 1.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss that is exact for one release, and after composition while the loss values stay few enough.
    Raises:
      InvalidArgument: not exactly one of sigma and sigma_squared (DPA106), or a parameter that is not a number (DPA101, DPA102,
        DPA105), not positive (DPA104) or below 1 (DPA103).
    Source: Canonne, Kamath, Steinke 2020, Theorem 7 and Proposition 5.
    Example:
      >>> print(discrete_gaussian(sigma=10).delta(epsilon="1/10"))
      [0.00876235, 0.00876236]
    """
    one_given(sigma=sigma, sigma_squared=sigma_squared)
    square = positive(cast("Exact", sigma), "sigma") ** 2 if sigma_squared is None else positive(sigma_squared, "sigma_squared")
    return single(DiscreteGaussian(square, integer(sensitivity, "sensitivity", lower=1)), adjacency)
