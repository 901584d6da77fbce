"""The Gaussian mechanism's loss and Gaussian differential privacy: closed form, compositions add mu squared."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.laws.normal_tails import twice_upper_tail
from dpaudit.accounting.loss import PrivacyLoss, single
from dpaudit.accounting.values import LossValue
from dpaudit.claims import Adjacency
from dpaudit.exact import Exact, ball, non_negative, positive, shown

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


def gaussian(sigma: Exact, *, sensitivity: Exact = "1", adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of Gaussian noise, and an upper bound for its rounding to a lattice, in any dimension.

    Args:
      sigma: standard deviation of the noise, in output units, exact, positive.
      sensitivity: largest Euclidean distance of the query on neighbours, in output units, exact, positive.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss whose delta and epsilon are exact up to rounding, also after composition with other Gaussian laws.
    Raises:
      InvalidArgument: a parameter is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Balle and Wang 2018, Theorem 8; Dong, Roth, Su 2022, Corollary 3.3 for composition.
    Example:
      >>> print((1000 * gaussian(sigma=1)).epsilon(delta="1e-12"))
      [721.547, 721.548]
    """
    noise, distance = positive(sigma, "sigma"), positive(sensitivity, "sensitivity")
    name = f"gaussian(sigma={shown(noise)}, sensitivity={shown(distance)})"
    return single(Gaussian(distance / noise, name), adjacency)


def gdp(mu: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss that mu-Gaussian differential privacy allows.

    Args:
      mu: distance of the two unit normal laws, exact, at least 0, dimensionless.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      The loss of N(mu, 1) against N(0, 1), which every mu-GDP mechanism stays below and one attains.
    Raises:
      InvalidArgument: `mu` is not a finite number (DPA101, DPA102) or negative (DPA103).
    Source: Dong, Roth, Su 2022, Definition 2.6 and Corollary 2.13.
    Example:
      >>> print(gdp(1).delta(epsilon=1))
      [0.126936, 0.126937]
    """
    exact = non_negative(mu, "mu")
    return single(Gaussian(exact, f"gdp(mu={shown(exact)})"), adjacency)
