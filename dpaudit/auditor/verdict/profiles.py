"""The privacy profile of one target: delta over epsilon as claimed, as priced and as attacked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.auditor.statistics.bounds import ClaimPoint, profile_lower_bounds
from dpaudit.claims import ApproxDP, Claim, PrivacyProfile, PureDP
from dpaudit.errors import DpauditError
from dpaudit.results import Bound, ProfilePoint

if TYPE_CHECKING:
    from dpaudit.accounting.privacy_loss import PrivacyLoss as ComposedLoss

POINTS: Final = 25

_NEGLIGIBLE: Final = 1e-4
_LARGEST_EPSILON: Final = 64


@dataclass(frozen=True)
class _Priced:
    """What was priced, and whether only the upper ends of its answers count."""

    loss: ComposedLoss
    upper_only: bool


def profile_epsilons(claim: Claim, point: ClaimPoint, bound: Bound | None) -> tuple[Fraction, ...]:
    """Epsilons from 0 to where the claimed delta, and what the attack found, have become small; in nats."""
    from dpaudit.accounting import loss_of_claim

    top = max(Fraction(1, 8), point.epsilon * Fraction(3, 2))
    if bound is not None and bound.epsilon is not None:
        top = max(top, min(bound.epsilon * Fraction(5, 4), 16 * max(point.epsilon, Fraction(1, 8))))
    if not isinstance(claim.guarantee, (PureDP, ApproxDP)):
        loss = loss_of_claim(claim)
        while top < _LARGEST_EPSILON and loss.delta(epsilon=top).upper > _NEGLIGIBLE:
            top *= Fraction(5, 4)
    step = Fraction(math.ceil(top * 1000), 1000) / (POINTS - 1)
    return tuple(step * place for place in range(POINTS))


def profile_of(
    claim: Claim, priced: ComposedLoss | None, bound: Bound | None, epsilons: tuple[Fraction, ...]
) -> tuple[ProfilePoint, ...]:
    """The profile at the given epsilons; parts for which there is no number are None."""
    from dpaudit.accounting import loss_of_claim

    claimed, drawn = loss_of_claim(claim), _quickly(priced)
    attacked: list[float] | list[None] = [None] * len(epsilons)
    if bound is not None:
        attacked = profile_lower_bounds(bound.counts, epsilons, 1 - bound.confidence)
    return tuple(
        ProfilePoint(float(epsilon), _upper(claimed, epsilon), _ends(drawn, epsilon), attack)
        for epsilon, attack in zip(epsilons, attacked, strict=True)
    )


def _upper(loss: PrivacyProfile, epsilon: Fraction) -> float:
    """The largest delta that a claimed loss allows at `epsilon`."""
    return loss.delta(epsilon=epsilon).floats()[1]


def _quickly(priced: ComposedLoss | None) -> _Priced | None:
    """The loss, or where rounded Gaussians are among several releases the one above: its upper ends are the same, and sooner."""
    from dpaudit.accounting.model.law import GaussianShaped

    if priced is None:
        return None
    above = priced.dominating()
    several = sum(count for _, count in priced.parts) > 1
    shaped = several and priced != above and any(isinstance(law, GaussianShaped) for law, _ in above.parts)
    return _Priced(above if shaped else priced, upper_only=shaped)


def _ends(priced: _Priced | None, epsilon: Fraction) -> tuple[float, float] | None:
    """The certified interval of delta at `epsilon`, from 0 on where its lower end would take long; None where there is none."""
    if priced is None:
        return None
    try:
        lower, upper = priced.loss.delta(epsilon=epsilon).floats()
    except DpauditError:
        return None
    return 0.0 if priced.upper_only else lower, upper
