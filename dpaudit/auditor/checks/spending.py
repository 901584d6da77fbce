"""What runs spend, added up over their release logs, against what the claim allows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dpaudit.auditor.checks.counterexamples import PropertyResult
from dpaudit.auditor.checks.prices import price_of
from dpaudit.auditor.data.disclosure import shows_values
from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.runs.chunks import sample_one
from dpaudit.exact import outward
from dpaudit.releases import Release, recording
from dpaudit.results import Price, Property
from dpaudit.targets import Target

SPENDING: Final = "logged releases cost what is claimed"

_RUNS: Final = 8
"""Runs with seeds of their own, since releases that are chosen adaptively may cost more in some runs than in others."""


def check_spending(target: Target, pair: Neighbours) -> PropertyResult | None:
    """The certified price of the releases of a few runs, each against the claim.

    A function that chooses its releases adaptively has no price of its own, but none of its runs may cost more than is claimed.
    """
    if target.primitives is None:
        return None
    logs = dict.fromkeys(_log(target, pair.first, seed) for seed in range(_RUNS))
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
    """Why releases have no price; without the parameters that the reason may quote where these may come from private data."""
    return "; ".join(price.why[:1]) if shows_values(target) else "no certified method prices the releases"


def _log(target: Target, data: Any, seed: int) -> tuple[Release, ...]:
    """The releases of one run."""
    with recording() as releases:
        sample_one(target, copy_of(data), np.random.default_rng(seed))
    return tuple(releases)
