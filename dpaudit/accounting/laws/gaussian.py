"""The Gaussian mechanism's loss and Gaussian differential privacy: closed form, compositions add mu squared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.laws.normal_tails import twice_upper_tail
from dpaudit.accounting.model.values import LossValue
from dpaudit.exact import ball, shown

PROFILE_SOURCE = "Balle and Wang 2018, Theorem 8: delta(e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)"


@dataclass(frozen=True)
class Gaussian:
    """N(mu, 1) against N(0, 1), called `name`; it also prices the rounded Gaussian, which is its post-processing."""

    mu: Fraction
    name: str

    @property
    def mu_squared(self) -> Fraction:
        """Squared distance of the two normal laws in standard deviations."""
        return self.mu**2

    def describe(self) -> str:
        """Name and parameters."""
        return self.name

    def reversed(self) -> Gaussian:
        """The law itself: reflection exchanges the two normal laws."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """None, since the loss is normal; 0 where mu is."""
        return None if self.mu else LossValue()

    def infinity_mass(self) -> Fraction:
        """Zero: the two normal laws have the same support."""
        return Fraction(0)

    def log_moment(self, order: Fraction) -> arb:
        """The loss is N(mu^2/2, mu^2), so this is order (1 + order) mu^2 / 2."""
        return ball(order * (1 + order) * self.mu_squared / 2)

    def profile(self, epsilon: arb) -> arb:
        """Closed form at any epsilon."""
        return gaussian_profile(self.mu_squared, epsilon)

    def profile_source(self) -> str:
        """Where the closed form is from."""
        return PROFILE_SOURCE


def gaussian_profile(mu_squared: Fraction, epsilon: arb) -> arb:
    """Ball around delta(epsilon) of N(mu, 1) against N(0, 1)."""
    if mu_squared == 0:
        return (-epsilon.expm1()).nonnegative_part()
    mu, root = ball(mu_squared).sqrt(), arb(2).sqrt()
    near = twice_upper_tail((epsilon / mu - mu / 2) / root)
    far = twice_upper_tail((epsilon / mu + mu / 2) / root)
    return (near - epsilon.exp() * far) / 2


def unit_gaussian(mu: Fraction) -> Gaussian:
    """Return the worst law of mu-Gaussian differential privacy."""
    return Gaussian(mu, f"gdp(mu={shown(mu)})")
