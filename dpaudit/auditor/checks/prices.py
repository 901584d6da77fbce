"""The price of what runs wrote to the release log, certified, against what the claim allows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from dpaudit.auditor.checks.counterexamples import PropertyResult
from dpaudit.auditor.data.disclosure import shows_values
from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.runs.chunks import sample_one
from dpaudit.claims import Claim
from dpaudit.errors import DpauditError
from dpaudit.exact import outward
from dpaudit.releases import Release, recording
from dpaudit.results import Price, Property
from dpaudit.targets import Target

if TYPE_CHECKING:
    from dpaudit.accounting.privacy_loss import PrivacyLoss as ComposedLoss

SAME_NOISE: Final = "noise does not depend on the data"
SPENDING: Final = "logged releases cost what is claimed"

_RUNS: Final = 8
"""Runs with seeds of their own, since releases that are chosen adaptively may cost more in some runs than in others."""

Log: TypeAlias = tuple[Release, ...]
Logs: TypeAlias = tuple[tuple[Log, Log], tuple[Log, Log]]
"""Releases of two runs on the first and of two runs on the second dataset of a pair."""


def price_of(claim: Claim, logs: Logs, points: Sequence[Fraction]) -> Price:
    """Price the logged releases, and compare the price with the claim."""
    from dpaudit.accounting.comparison import compare_with_claim

    (first, again), (second, _) = logs
    if not any(log for side in logs for log in side):
        return Price("unpriced", why=("no mechanism of a priced kind wrote to the release log",))
    lines = tuple(_describe_release(release) for release in second)
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
    """Return the composed loss of logged releases, under the adjacency of the claim; raise where there is none."""
    from dpaudit.accounting import price_releases

    loss: ComposedLoss = price_releases(log)
    claim.relation.require(loss.adjacency, "the claim and the logged releases")
    return loss


def check_same_noise(logs: Logs) -> Property:
    """Check that both datasets led to the same releases with the same parameters: the noise must be public."""
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


def check_spending(target: Target, pair: Neighbours) -> PropertyResult | None:
    """Price the releases of each of a few runs against the claim: they may be chosen adaptively, but no run may cost more."""
    if target.primitives is None:
        return None
    logs = dict.fromkeys(_log_of(target, pair.first, seed) for seed in range(_RUNS))
    prices = [(price_of(target.claim, ((log, log), (log, log)), ()), len(log)) for log in logs if log]
    if not prices:
        return None
    for price, releases in prices:
        if price.status == "above" and price.value is not None:
            least = outward(price.value.lower, digits=4, up=False)
            return PropertyResult(
                Property(SPENDING, "violated", _RUNS, f"{price.quantity} is at least {least}, over {releases} releases")
            )
    for price, _ in prices:
        if price.status != "within":
            reason = _unpriced(price, target) if price.value is None else "the limit lies inside the certified interval"
            return PropertyResult(Property(SPENDING, "not applicable", _RUNS, reason))
    return PropertyResult(Property(SPENDING, "holds", _RUNS))


def _unpriced(price: Price, target: Target) -> str:
    """Say why releases have no price; without the parameters that the reason may quote where these may come from private data."""
    return "; ".join(price.why[:1]) if shows_values(target) else "no certified method prices the releases"


def _log_of(target: Target, data: Any, seed: int) -> tuple[Release, ...]:
    """Return the releases of one run."""
    with recording() as releases:
        sample_one(target, copy_of(data), np.random.default_rng(seed))
    return tuple(releases)


def _describe_release(release: Release) -> str:
    """Write one release in a line: kind, parameters, sensitivity, and how many."""
    parameters = ", ".join(f"{name}={value}" for name, value in release.parameters)
    size = f", dimension={release.dimension}" if release.dimension > 1 else ""
    times = f"{release.count} * " if release.count > 1 else ""
    return f"{times}{release.kind}({parameters}, sensitivity={release.sensitivity}{size}) under {release.adjacency}"
