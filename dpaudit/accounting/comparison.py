"""The comparison of a privacy loss with a claim: does this loss satisfy it, exceed it, or is that undecided?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final

from dpaudit.accounting.builders.guarantees import gdp, loss_of_claim
from dpaudit.accounting.model.law import Bracketed, GaussianShaped
from dpaudit.accounting.privacy_loss import PrivacyLoss
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, PureDP
from dpaudit.exact import Enclosure, Endpoint, Reason, ball, ball_endpoints, outward, rational, working_precision

# Bits of a square root or a moment that is shown beside a claim: 48 digits, of which an enclosure prints six.
_BITS: Final = 160
# Epsilons at which a curve is compared where the caller names none. A loss that exceeds the curve only between them is undecided,
# never within: only equal laws prove a curve (`_is_below`), whatever the places say.
_PLACES: Final = (
    Fraction(1, 8),
    Fraction(1, 4),
    Fraction(1, 2),
    Fraction(1),
    Fraction(3, 2),
    Fraction(2),
    Fraction(3),
    Fraction(4),
)


@dataclass(frozen=True)
class Comparison:
    """A quantity of a loss, what a claim allows of it, and whether a value within that limit proves the claim."""

    quantity: str
    value: Enclosure
    limit: Fraction
    proves: bool = True

    @property
    def status(self) -> str:
        """The word "above" or "within" where that is certain, else "undecided"."""
        if self.value.lower > self.limit:
            return "above"
        return "within" if self.proves and self.value.upper <= self.limit else "undecided"


def compare_with_claim(loss: PrivacyLoss, claim: Claim, points: Sequence[Fraction] = ()) -> Comparison:
    """Compare a loss with a claim in the quantity that the claim names, or by delta at the epsilon where it comes closest."""
    guarantee = claim.guarantee
    if isinstance(guarantee, PureDP):
        return Comparison("epsilon", loss.epsilon(delta=0), rational(guarantee.epsilon))
    if isinstance(guarantee, ApproxDP):
        delta = rational(guarantee.delta)
        shown = outward(delta, digits=6, up=True)
        return Comparison(f"epsilon at delta = {shown}", loss.epsilon(delta=delta), rational(guarantee.epsilon))
    if isinstance(guarantee, RDP) and (order := _worst_order(guarantee, loss)) is not None:
        return order
    squared = _mu_squared_above(loss)
    if isinstance(guarantee, GDP) and squared is not None and squared <= rational(guarantee.mu) ** 2:
        return Comparison("mu", _square_root(squared, _mu_below(loss)), rational(guarantee.mu))
    if isinstance(guarantee, ZCDP) and (total := loss.zcdp()).upper <= rational(guarantee.rho):
        return Comparison("rho", total, rational(guarantee.rho))
    return _worst_point(claim, loss, points)


def _mu_squared_above(loss: PrivacyLoss) -> Fraction | None:
    """Squared distance of two unit normal laws that dominate the loss; None where some law is not below a Gaussian one."""
    total = Fraction(0)
    for law, count in loss.parts:
        above = law.bracket()[0] if isinstance(law, Bracketed) else law
        if not isinstance(above, GaussianShaped):
            return None
        total += count * above.mu_squared
    return total


def _mu_below(loss: PrivacyLoss) -> Fraction:
    """A distance that two unit normal laws must have to allow the loss at epsilon 0: a guess, lowered and then certified."""
    apart = loss.delta(epsilon=0).lower
    if not 0 < apart < 1:
        return Fraction(0)
    guess = 2 * NormalDist().inv_cdf((1 + float(apart)) / 2)
    candidate = Fraction(guess * (1 - 1e-9))
    return candidate if candidate > 0 and gdp(candidate).delta(epsilon=0).upper <= apart else Fraction(0)


def _square_root(value: Fraction, least: Fraction) -> Enclosure:
    """The square root, as a point where it is rational and nothing smaller is possible."""
    reason = Reason("Dong, Roth, Su 2022, Corollary 3.3: Gaussian laws compose by adding mu squared")
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Enclosure(least, Fraction(top, bottom), reason)
    with working_precision(_BITS):
        upper = ball_endpoints(ball(value).sqrt())[1]
    return Enclosure(least, upper, reason)


def _worst_order(guarantee: RDP, loss: PrivacyLoss) -> Comparison | None:
    """The Renyi divergence at the claimed order where the releases come closest to the claim; None if some order may exceed it."""
    found = []
    for order, bound in guarantee.orders:
        upper = max(_renyi_upper(side, order) for side in (loss, loss.reversed()))
        if upper > bound:
            return None
        found.append((upper - bound, order, bound, upper))
    _, order, bound, upper = max(found)
    value = Enclosure(Fraction(0), upper, Reason("sum of the laws' log-moments, an upper bound of the Renyi divergence"))
    return Comparison(f"Renyi divergence of order {order}", value, bound)


def _renyi_upper(loss: PrivacyLoss, order: Fraction) -> Endpoint:
    """An upper bound on the Renyi divergence of one direction of the loss; infinite where nothing is known."""
    total: Endpoint = Fraction(0)
    with working_precision(_BITS):
        for law, count in loss.parts:
            moment = None if law.infinity_mass() else law.log_moment(order - 1)
            total = math.inf if moment is None else total + count * ball_endpoints(moment)[1]
    return total / (order - 1)


def _worst_point(claim: Claim, loss: PrivacyLoss, points: Sequence[Fraction]) -> Comparison:
    """Delta at the epsilon where the releases come closest to the claimed curve; a proof only for one and the same law."""
    allowed = loss_of_claim(claim)
    found: list[tuple[bool, Endpoint, Fraction, Enclosure, Fraction]] = []
    for epsilon in points or _PLACES:
        value, limit = loss.delta(epsilon=epsilon), allowed.delta(epsilon=epsilon).upper
        if not isinstance(limit, float):
            found.append((value.lower > limit, _share(value.upper, limit), epsilon, value, limit))
    _, _, epsilon, value, limit = max(found, key=lambda entry: entry[:2])
    return Comparison(f"delta at epsilon = {outward(epsilon, digits=6, up=True)}", value, limit, proves=_is_below(loss, claim))


def _share(value: Endpoint, limit: Fraction) -> Endpoint:
    """Return the share of the limit that is used up."""
    if limit > 0:
        return value / limit
    return math.inf if value > 0 else Fraction(0)


def _is_below(loss: PrivacyLoss, claim: Claim) -> bool:
    """True if the claimed curve is that of the very laws that dominate the releases."""
    promised = claim.guarantee.loss if isinstance(claim.guarantee, Curve) else None
    above = [(law.bracket()[0] if isinstance(law, Bracketed) else law, count) for law, count in loss.parts]
    return isinstance(promised, PrivacyLoss) and promised.parts in {loss.parts, tuple(above)}
