"""Privacy losses that guarantees allow: pure and approximate DP, zCDP, Renyi DP, Gaussian DP."""

from __future__ import annotations

from collections.abc import Mapping

from dpaudit.accounting.laws.concentrated import Concentrated, RenyiBounded, promised_composition
from dpaudit.accounting.laws.gaussian import unit_gaussian
from dpaudit.accounting.laws.response import approximate_response, pure_response
from dpaudit.accounting.privacy_loss import PrivacyLoss, one_release
from dpaudit.claims import RDP, Adjacency, Claim
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, non_negative


def pure_dp(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss that pure epsilon-DP allows.

    Args:
      epsilon: privacy parameter in nats, exact, at least 0.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      The loss of binary randomized response, which every epsilon-DP mechanism stays below; exact after composition.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or negative (DPA103).
    Source: Kairouz, Oh, Viswanath 2015, Theorem 3.2.
    Example:
      >>> print((10 * pure_dp("1/10")).epsilon(delta="1e-3"))
      [0.753573, 0.753574]
    """
    return one_release(pure_response(non_negative(epsilon, "epsilon")), adjacency)


def approx_dp(epsilon: Exact, *, delta: Exact, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss that (epsilon, delta)-DP allows.

    Args:
      epsilon: privacy parameter in nats, exact, at least 0.
      delta: failure probability, exact, in [0, 1), dimensionless.
      adjacency: the neighbouring relation of the guarantee.
    Returns:
      The loss of randomized response that reveals everything with probability delta; exact after composition.
    Raises:
      InvalidArgument: a parameter is not a finite number (DPA101, DPA102) or out of range (DPA103).
    Source: Kairouz, Oh, Viswanath 2015, Theorem 3.2.
    Example:
      >>> print(approx_dp(1, delta="1e-6").epsilon(delta="1e-6"))
      1
    """
    exact, failure = non_negative(epsilon, "epsilon"), in_range(delta, "delta", lower=0, upper=1, upper_open=True)
    return one_release(approximate_response(exact, failure), adjacency)


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
    return one_release(Concentrated(non_negative(rho, "rho")), adjacency)


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
    return one_release(RenyiBounded(RDP(orders).orders), adjacency)


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
    return one_release(unit_gaussian(non_negative(mu, "mu")), adjacency)


def loss_of_claim(claim: Claim) -> PrivacyLoss:
    """Return the privacy loss that a claim promises not to exceed.

    Args:
      claim: a guarantee with its adjacency.
    Returns:
      A loss whose `delta(epsilon=...).upper` is the largest delta that the claim allows at that epsilon.
    Raises:
      InvalidArgument: not a Claim (DPA105).
      Unsupported: the claim is a Curve of something that was not built with `dpaudit.accounting` (DPA202).
    Source: docs/prices.md, "Classes of mechanisms".
    Example:
      >>> from dpaudit.claims import ApproxDP
      >>> print(loss_of_claim(Claim(ApproxDP(epsilon=1, delta="1e-6"))).delta(epsilon=1))
      0.000001
    """
    if not isinstance(claim, Claim):
        raise InvalidArgument(
            "DPA105", f"loss_of_claim takes a Claim, got a {type(claim).__name__}. For instance Claim(PureDP(epsilon=1))."
        )
    return PrivacyLoss(promised_composition(claim))
