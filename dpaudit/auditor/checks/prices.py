"""The price: what one run on each dataset wrote to the release log, certified, against what the claim allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, TypeAlias

from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, PrivacyLoss, PureDP
from dpaudit.errors import DpauditError
from dpaudit.exact import Enclosure, Endpoint, Reason, ball, ball_endpoints, outward, rational, working_precision
from dpaudit.releases import Release
from dpaudit.results import Price, Property

if TYPE_CHECKING:
    from dpaudit.accounting.privacy_loss import PrivacyLoss as ComposedLoss

_BITS: Final = 160
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

SAME_NOISE: Final = "noise does not depend on the data"

Log: TypeAlias = tuple[Release, ...]
Logs: TypeAlias = tuple[tuple[Log, Log], tuple[Log, Log]]
"""Releases of two runs on the first and of two runs on the second dataset of a pair."""


def price_of(claim: Claim, logs: Logs, points: Sequence[Fraction]) -> Price:
    """What the logged releases cost, set against the claim."""
    (first, again), (second, _) = logs
    if not any(log for side in logs for log in side):
        return Price("unpriced", why=("no mechanism of a priced kind wrote to the release log",))
    lines = tuple(_line(release) for release in second)
    if first != again or first != second:
        cause = "two runs on one dataset" if first != again else "the two datasets"
        return Price(
            "unpriced", releases=lines, why=(f"{cause} led to different releases, and only a fixed list of them is priced",)
        )
    try:
        loss = loss_of(claim, second)
        quantity, value, limit, within = _against(claim, loss, points)
    except DpauditError as error:
        return Price("unpriced", releases=lines, why=(error.message,))
    status = "above" if value.lower > limit else "within" if within and value.upper <= limit else "undecided"
    return Price(status, quantity, value, limit, lines, tuple(value.reason.lines()))


def loss_of(claim: Claim, log: Log) -> ComposedLoss:
    """The composed loss of logged releases, under the adjacency of the claim; raises where there is none."""
    from dpaudit.accounting import price

    loss: ComposedLoss = price(log)
    claim.relation.require(loss.adjacency, "the claim and the logged releases")
    return loss


def same_noise(logs: Logs) -> Property:
    """Whether both datasets led to the same releases with the same parameters: the noise must be public."""
    (first, again), (second, repeated) = logs
    if not any(log for side in logs for log in side):
        return Property(SAME_NOISE, "not applicable", 0, "nothing was written to the release log")
    if first != again or second != repeated:
        return Property(SAME_NOISE, "not applicable", 4, "the releases vary from run to run")
    if first == second:
        return Property(SAME_NOISE, "holds", 4)
    detail = (
        f"{len(first)} releases on one dataset, {len(second)} on the other" if len(first) != len(second) else "parameters differ"
    )
    return Property(SAME_NOISE, "violated", 4, detail)


def _line(release: Release) -> str:
    """One release in a line: kind, parameters, sensitivity, and how many."""
    parameters = ", ".join(f"{name}={value}" for name, value in release.parameters)
    size = f", dimension={release.dimension}" if release.dimension > 1 else ""
    times = f"{release.count} * " if release.count > 1 else ""
    return f"{times}{release.kind}({parameters}, sensitivity={release.sensitivity}{size}) under {release.adjacency}"


def _against(claim: Claim, loss: ComposedLoss, points: Sequence[Fraction]) -> tuple[str, Enclosure, Fraction, bool]:
    """Quantity compared, its enclosure, what the claim allows, and whether staying below it proves the claim."""
    guarantee = claim.guarantee
    if isinstance(guarantee, PureDP):
        return "epsilon", loss.epsilon(delta=0), rational(guarantee.epsilon), True
    if isinstance(guarantee, ApproxDP):
        delta = rational(guarantee.delta)
        shown = outward(delta, digits=6, up=True)
        return f"epsilon at delta = {shown}", loss.epsilon(delta=delta), rational(guarantee.epsilon), True
    if isinstance(guarantee, RDP) and (order := _worst_order(guarantee, loss)) is not None:
        return order
    squared = _mu_squared_above(loss)
    if isinstance(guarantee, GDP) and squared is not None and squared <= rational(guarantee.mu) ** 2:
        return "mu", _square_root(squared, _mu_below(loss)), rational(guarantee.mu), True
    if isinstance(guarantee, ZCDP) and (total := loss.zcdp()).upper <= rational(guarantee.rho):
        return "rho", total, rational(guarantee.rho), True
    return _worst_point(claim, loss, points)


def _mu_squared_above(loss: ComposedLoss) -> Fraction | None:
    """Squared distance of two unit normal laws that dominate the loss; None where some law is not below a Gaussian one."""
    from dpaudit.accounting.model.law import Bracketed, GaussianShaped

    total = Fraction(0)
    for law, count in loss.parts:
        above = law.bracket()[0] if isinstance(law, Bracketed) else law
        if not isinstance(above, GaussianShaped):
            return None
        total += count * above.mu_squared
    return total


def _mu_below(loss: ComposedLoss) -> Fraction:
    """A distance that two unit normal laws must have to allow the loss at epsilon 0: a guess, lowered and then certified."""
    from dpaudit.accounting import gdp

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
        return Enclosure(min(least, Fraction(top, bottom)), Fraction(top, bottom), reason)
    with working_precision(_BITS):
        upper = ball_endpoints(ball(value).sqrt())[1]
    return Enclosure(min(least, upper), upper, reason)


def _worst_order(guarantee: RDP, loss: ComposedLoss) -> tuple[str, Enclosure, Fraction, bool] | None:
    """The Renyi divergence at the claimed order where the releases come closest to the claim; None if some order may exceed it."""
    found = []
    for order, bound in guarantee.orders:
        upper = max(_renyi_upper(side, order) for side in (loss, loss.reversed()))
        if upper > bound:
            return None
        found.append((upper - bound, order, bound, upper))
    _, order, bound, upper = max(found)
    value = Enclosure(Fraction(0), upper, Reason("sum of the laws' log-moments, an upper bound of the Renyi divergence"))
    return f"Renyi divergence of order {order}", value, bound, True


def _renyi_upper(loss: ComposedLoss, order: Fraction) -> Endpoint:
    """An upper bound on the Renyi divergence of one direction of the loss; infinite where nothing is known."""
    total: Endpoint = Fraction(0)
    with working_precision(_BITS):
        for law, count in loss.parts:
            moment = None if law.infinity_mass() else law.log_moment(order - 1)
            total = math.inf if moment is None else total + count * ball_endpoints(moment)[1]
    return total / (order - 1)


def _worst_point(claim: Claim, loss: ComposedLoss, points: Sequence[Fraction]) -> tuple[str, Enclosure, Fraction, bool]:
    """Delta at the epsilon where the releases come closest to the claimed curve; a proof only for one and the same law."""
    from dpaudit.accounting import claimed_loss

    allowed: PrivacyLoss = claimed_loss(claim)
    found: list[tuple[bool, Endpoint, Fraction, Enclosure, Fraction]] = []
    for epsilon in points or _PLACES:
        value, limit = loss.delta(epsilon=epsilon), allowed.delta(epsilon=epsilon).upper
        if not isinstance(limit, float):
            found.append((value.lower > limit, _share(value.upper, limit), epsilon, value, limit))
    _, _, epsilon, value, limit = max(found, key=lambda entry: entry[:2])
    return f"delta at epsilon = {outward(epsilon, digits=6, up=True)}", value, limit, _is_below(loss, claim)


def _share(value: Endpoint, limit: Fraction) -> Endpoint:
    """How much of the limit is used up."""
    if limit > 0:
        return value / limit
    return math.inf if value > 0 else Fraction(0)


def _is_below(loss: ComposedLoss, claim: Claim) -> bool:
    """Whether the claimed curve is that of the very laws that dominate the releases."""
    from dpaudit.accounting.model.law import Bracketed
    from dpaudit.accounting.privacy_loss import PrivacyLoss as Composed

    promised = claim.guarantee.loss if isinstance(claim.guarantee, Curve) else None
    above = [(law.bracket()[0] if isinstance(law, Bracketed) else law, count) for law, count in loss.parts]
    return isinstance(promised, Composed) and promised.parts in {loss.parts, tuple(above)}
