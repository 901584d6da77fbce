"""The privacy profile of one target: delta over epsilon as claimed, as priced and as attacked."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.auditor.statistics.bounds import ClaimPoint, profile_lower_bounds
from dpaudit.claims import ApproxDP, Claim, PureDP
from dpaudit.errors import DpauditError
from dpaudit.results import Bound, ProfilePoint

if TYPE_CHECKING:
    from dpaudit.accounting.privacy_loss import PrivacyLoss as ComposedLoss

POINTS: Final = 25

_NEGLIGIBLE: Final = 1e-4
_LARGEST_EPSILON: Final = 64


def profile_epsilons(claim: Claim, point: ClaimPoint, bound: Bound | None) -> tuple[Fraction, ...]:
    """Return epsilons from 0 to where the claimed delta, and what the attack found, have become small; in nats."""
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
    """Compute the profile at the given epsilons; parts for which there is no number are None."""
    from dpaudit.accounting import loss_of_claim

    claimed, (loss, upper_only) = loss_of_claim(claim), _dominating_if_slow(priced)
    attacked: list[float] | list[None] = [None] * len(epsilons)
    if bound is not None:
        attacked = profile_lower_bounds(bound.counts, epsilons, (1 - bound.confidence) * bound.share)
    allowed = [claimed.delta(epsilon=epsilon).floats()[1] for epsilon in epsilons]
    priced_at = [_ends(loss, epsilon, upper_only=upper_only) for epsilon in epsilons]
    return tuple(map(ProfilePoint, map(float, epsilons), allowed, priced_at, attacked))


def _dominating_if_slow(priced: ComposedLoss | None) -> tuple[ComposedLoss | None, bool]:
    """Return the loss, or the dominating one where rounded Gaussians are composed: its upper ends are equal, and take less time."""
    from dpaudit.accounting.model.law import GaussianShaped

    if priced is None or sum(count for _, count in priced.parts) <= 1:
        return priced, False
    above = priced.dominating()
    shaped = priced != above and any(isinstance(law, GaussianShaped) for law, _ in above.parts)
    return (above, True) if shaped else (priced, False)


def _ends(loss: ComposedLoss | None, epsilon: Fraction, *, upper_only: bool) -> tuple[float, float] | None:
    """Return the certified interval of delta at `epsilon`, from 0 on where only the upper end counts; None where there is none."""
    try:
        ends = None if loss is None else loss.delta(epsilon=epsilon).floats()
    except DpauditError:
        return None
    return ends and (0.0 if upper_only else ends[0], ends[1])
