"""The price: what one run on each dataset wrote to the release log, certified, against what the claim allows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

from dpaudit.claims import Claim
from dpaudit.errors import DpauditError
from dpaudit.releases import Release
from dpaudit.results import Price, Property

if TYPE_CHECKING:
    from dpaudit.accounting.privacy_loss import PrivacyLoss as ComposedLoss

SAME_NOISE: Final = "noise does not depend on the data"

Log: TypeAlias = tuple[Release, ...]
Logs: TypeAlias = tuple[tuple[Log, Log], tuple[Log, Log]]
"""Releases of two runs on the first and of two runs on the second dataset of a pair."""


def price_of(claim: Claim, logs: Logs, points: Sequence[Fraction]) -> Price:
    """What the logged releases cost, set against the claim."""
    from dpaudit.accounting.comparison import compare_with_claim

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
        found = compare_with_claim(loss, claim, points)
    except DpauditError as error:
        return Price("unpriced", releases=lines, why=(error.message,))
    return Price(found.status, found.quantity, found.value, found.limit, lines, tuple(found.value.reason.lines()))


def loss_of(claim: Claim, log: Log) -> ComposedLoss:
    """The composed loss of logged releases, under the adjacency of the claim; raises where there is none."""
    from dpaudit.accounting import price

    loss: ComposedLoss = price(log)
    claim.relation.require(loss.adjacency, "the claim and the logged releases")
    return loss


def check_same_noise(logs: Logs) -> Property:
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
