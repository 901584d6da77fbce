"""What a privacy loss is in other terms: Renyi divergence, rho, mu; each end in its sound direction."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.accounting.currencies import CONCENTRATED, GAUSSIAN, PURE
from dpaudit.accounting.law import Bracketed, Law
from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian
from dpaudit.accounting.laws.rounded_gaussian import RoundedGaussian
from dpaudit.accounting.loss import PrivacyLoss
from dpaudit.errors import Unsupported
from dpaudit.exact import Enclosure, Endpoint, Reason, ball, ball_endpoints, working_precision

ORDERS_TRIED: Final = (Fraction(65, 64), Fraction(2), Fraction(8), Fraction(64))
"""Orders whose divergences bound rho from below."""


def renyi_divergence(loss: PrivacyLoss, order: Fraction) -> Enclosure:
    """Renyi divergence of an order above 1, the worse of the two directions."""
    one, other = (_divergence(direction, order) for direction in (loss, loss.reversed()))
    reason = Reason(
        "Renyi divergences of the parts add up (Mironov 2017, Proposition 1); from below those of the worst pairs that are known"
    )
    return Enclosure(max(one[0], other[0]), max(one[1], other[1]), reason)


def concentration(loss: PrivacyLoss) -> Enclosure:
    """The smallest rho of zero-concentrated differential privacy; DPA202 where none is known."""
    (upper,) = CONCENTRATED.cost(loss, loss.adjacency)
    below = max(renyi_divergence(loss, order).lower / order for order in ORDERS_TRIED)
    reason = Reason(
        "rho adds up (Bun and Steinke 2016, Lemma 2.3): mu^2/2 for Gaussian parts, epsilon^2/2 for pure ones (Proposition 1.4), "
        "epsilon^2/8 for bounded range (Cesar and Rogers 2021); from below a divergence over its order"
    )
    return Enclosure(min(below, upper), upper, reason)


def gaussian_parameter(loss: PrivacyLoss) -> Enclosure:
    """The smallest mu of Gaussian differential privacy; DPA202 for what is neither Gaussian nor pure."""
    with working_precision(160):
        try:
            (square,) = GAUSSIAN.cost(loss, loss.adjacency)
        except Unsupported:
            return _parameter_of_pure(loss)
        low, high = ball_endpoints(ball(square).sqrt())
        if any(isinstance(law, Bracketed) for law, _ in loss.parts):
            low = _least_parameter(loss)
    return Enclosure(low, high, Reason("mu squared adds up (Dong, Roth, Su 2022, Corollary 3.3)"))


def _divergence(loss: PrivacyLoss, order: Fraction) -> tuple[Endpoint, Endpoint]:
    """Both ends in one direction; what can be infinite has an infinite divergence."""
    low: Endpoint = Fraction(0)
    high: Endpoint = Fraction(0)
    with working_precision(160):
        ends = [(_moment(law, order - 1, up=False), _moment(law, order - 1, up=True), count) for law, count in loss.parts]
    for least, most, count in ends:
        low = _added(low, least, count, order)
        high = _added(high, most, count, order)
    return low, high


def _added(total: Endpoint, moment: Endpoint, count: int, order: Fraction) -> Endpoint:
    """The total with the divergence of some more releases."""
    if isinstance(total, float) or isinstance(moment, float):
        return math.inf
    return total + count * moment / (order - 1)


def _moment(law: Law, order: Fraction, *, up: bool) -> Endpoint:
    """A number above or below log E e^(order loss) of the worst pair.

    Above, the moment that the law states; below, that of the law beneath it, and 0, which is below every one, where a law
    gives a bound only.
    """
    if not up and isinstance(law, Bracketed):
        below = law.bracket()[1]
        return Fraction(0) if below is None or below == law else _moment(below, order, up=False)
    if law.infinity_mass():
        return math.inf
    if not up and isinstance(law, (DiscreteGaussian, RoundedGaussian)):
        return Fraction(0)
    moment = law.log_moment(order)
    end: Endpoint = math.inf if moment is None else ball_endpoints(moment)[1 if up else 0]
    if isinstance(end, Fraction):
        return max(end, Fraction(0))
    return math.inf if up else Fraction(0)


def _parameter_of_pure(loss: PrivacyLoss) -> Enclosure:
    """The trade-off function of epsilon-DP has a kink at t = 1/(1 + e^epsilon), which mu = 2 Phi^-1(1 - t) meets."""
    (epsilon,) = PURE.cost(loss, loss.adjacency)
    high = ball_endpoints(_twice_normal_quantile(1 / (1 + ball(epsilon).exp())))[1]
    reason = Reason(
        "a convex trade-off curve below the ends and the kink of that of epsilon-DP lies below all of it",
        (Reason("epsilons of pure parts add up"),),
    )
    return Enclosure(min(_least_parameter(loss), high), high, reason)


def _least_parameter(loss: PrivacyLoss) -> Fraction:
    """A mu that is certainly needed: the total variation distance of mu-GDP is 2 Phi(mu/2) - 1."""
    distance = loss.delta(epsilon=0).lower
    lower = ball_endpoints(_twice_normal_quantile((1 - ball(Fraction(distance))) / 2))[0]
    return max(lower, Fraction(0)) if isinstance(lower, Fraction) else Fraction(0)


def _twice_normal_quantile(tail: arb) -> arb:
    """2 Phi^-1(1 - tail)."""
    return 2 * ball(2).sqrt() * (2 * tail).erfcinv()
