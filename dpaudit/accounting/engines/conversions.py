"""Conversions of a privacy loss to Renyi divergence, rho and mu; each end in its sound direction."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.accounting.engines.currencies import CONCENTRATED, GAUSSIAN, PURE, moment_above, sampled_moment
from dpaudit.accounting.engines.evaluate import evaluate
from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian, RoundedGaussian
from dpaudit.accounting.laws.gaussian import NormalPair
from dpaudit.accounting.laws.groups import alternatives, require_direction
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.seen import Seen
from dpaudit.accounting.laws.together import Joined, Together
from dpaudit.accounting.model.composition import Composition, DeltaAt
from dpaudit.accounting.model.law import Bracketed, Law
from dpaudit.errors import Unsupported
from dpaudit.exact import Enclosure, Endpoint, Reason, ball, ball_endpoints, working_precision

ORDERS_TRIED: Final = (Fraction(65, 64), Fraction(2), Fraction(8), Fraction(64))  # Orders whose divergences bound rho from below


def renyi_divergence(loss: Composition, order: Fraction) -> Enclosure:
    """Renyi divergence of an order above 1, the worse of the two directions."""
    found = [_divergence(direction, order) for way in alternatives(loss) for direction in (way, way.reversed())]
    reason = Reason(
        "Renyi divergences of the parts add up (Mironov 2017, Proposition 1); from below those of the worst pairs that are known"
    )
    return Enclosure(max(low for low, _ in found), max(high for _, high in found), reason)


def divergence(loss: Composition, order: Fraction) -> Enclosure:
    """The same for the direction of the laws as they stand."""
    require_direction(loss)
    least, most = _divergence(loss, order)
    return Enclosure(least, most, Reason("Renyi divergences of the parts add up (Mironov 2017, Proposition 1)"))


def zcdp_rho(loss: Composition) -> Enclosure:
    """The smallest rho of zero-concentrated differential privacy; DPA202 where none is known."""
    (upper,) = CONCENTRATED.cost(loss, loss.adjacency)
    limit = max(sum((count * _limit(law) for law, count in side.parts), Fraction(0)) for side in (loss, loss.reversed()))
    below = max(limit, *(renyi_divergence(loss, order).lower / order for order in ORDERS_TRIED))
    reason = Reason(
        "rho adds up (Bun and Steinke 2016, Lemma 2.3): mu^2/2 for Gaussian parts, epsilon^2/2 for pure ones (Proposition 1.4), "
        "epsilon^2/8 for bounded range (Cesar and Rogers 2021), and no more for a sample; from below a divergence over its order, "
        "or the limit, which is mu^2/2 for every sample of a Gaussian (docs/sampling_schemes.md, moments)"
    )
    return Enclosure(below, upper, reason)


def gdp_mu(loss: Composition) -> Enclosure:
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


def _divergence(loss: Composition, order: Fraction) -> tuple[Endpoint, Endpoint]:
    """Both ends in one direction; what can be infinite has an infinite divergence."""
    low: Endpoint = Fraction(0)
    high: Endpoint = Fraction(0)
    with working_precision(160):
        for law, count in loss.parts:
            low = _added(low, _least_moment(law, order - 1), count, order)
            high = _added(high, _most_moment(law, order - 1), count, order)
    return low, high


def _added(total: Endpoint, moment: Endpoint, count: int, order: Fraction) -> Endpoint:
    """The total with the divergence of some more releases."""
    if isinstance(total, float) or isinstance(moment, float):
        return math.inf
    return total + count * moment / (order - 1)


def _most_moment(law: Law, order: Fraction) -> Endpoint:
    """A number above log E e^(order loss) of the worst pair."""
    moment = None if law.infinity_mass() else moment_above(law, order)
    return math.inf if moment is None else max(ball_endpoints(moment)[1], Fraction(0))


def _least_moment(law: Law, order: Fraction) -> Endpoint:
    """A number below it: that of the law beneath, and that of the law itself unless it only bounds; at least 0."""
    low: Endpoint = Fraction(0)
    if isinstance(law, Bracketed):
        below = law.bracket()[1]
        if below is not None and below != law:
            low = _least_moment(below, order)
        if not isinstance(law, Sampled):
            return low
    if isinstance(law, Sampled):
        exact = sampled_moment(law, order)
        worst_differ = isinstance(law.law, BoundedRange)  # whole orders have different worst mechanisms
        moment = None if exact is None or worst_differ or _only_bounds(law.law) else exact[0]
    elif law.infinity_mass():
        return math.inf
    else:
        moment = None if _only_bounds(law) else law.log_moment(order)
    own = Fraction(0) if moment is None else ball_endpoints(moment)[0]
    return max(low, own)


def _only_bounds(law: Law) -> bool:
    """True if the moment that a law states may be above its own."""
    match law:
        case Joined():
            return any(_only_bounds(part) for part, _ in law.parts)
        case Together():
            return any(_only_bounds(part) for part, _ in (*law.finite.parts, *law.smooth))
        case _:
            return isinstance(law, (DiscreteGaussian, RoundedGaussian, Bracketed))


def _limit(law: Law) -> Fraction:
    """Return the limit of divergences over their orders, where it is known: at most rho."""
    if isinstance(law, Bracketed) and (below := law.bracket()[1]) != law:
        return Fraction(0) if below is None else _limit(below)
    match law:
        case Sampled() if law.removing:
            return _limit(law.law)
        case Seen() if law.beside is not None:
            return _limit(law.beside)
        case NormalPair():
            return law.mu_squared / 2
    return Fraction(0)


def _parameter_of_pure(loss: Composition) -> Enclosure:
    """The trade-off function of epsilon-DP has a kink at t = 1/(1 + e^epsilon), which mu = 2 Phi^-1(1 - t) meets."""
    (epsilon,) = PURE.cost(loss, loss.adjacency)
    high = ball_endpoints(_twice_normal_quantile(1 / (1 + ball(epsilon).exp())))[1]
    reason = Reason(
        "a convex trade-off curve below the ends and the kink of that of epsilon-DP lies below all of it",
        (Reason("epsilons of pure parts add up"),),
    )
    return Enclosure(_least_parameter(loss), high, reason)


def _least_parameter(loss: Composition) -> Fraction:
    """A mu that is certainly needed: the total variation distance of mu-GDP is 2 Phi(mu/2) - 1."""
    distance = evaluate(loss, DeltaAt(Fraction(0))).lower
    lower = ball_endpoints(_twice_normal_quantile((1 - ball(Fraction(distance))) / 2))[0]
    return max(lower, Fraction(0)) if isinstance(lower, Fraction) else Fraction(0)


def _twice_normal_quantile(tail: arb) -> arb:
    """2 Phi^-1(1 - tail)."""
    return 2 * ball(2).sqrt() * (2 * tail).erfcinv()
