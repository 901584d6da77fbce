"""What one run spends, added up over its release log, against what the claim allows."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpaudit.auditor.checks.search import Finding
from dpaudit.auditor.pairs import Neighbours
from dpaudit.auditor.prices import price_of
from dpaudit.auditor.records import copied
from dpaudit.auditor.runs import sample_one
from dpaudit.exact import outward
from dpaudit.releases import recording
from dpaudit.results import Property
from dpaudit.targets import Target

SPENDING: Final = "logged releases cost what is claimed"


def check_spending(target: Target, pair: Neighbours) -> Finding | None:
    """The certified price of one run's releases against the claim; None where nothing is logged or the target asks for no check.

    Args:
      target: a function whose mechanisms write to the release log.
      pair: the function is run on its first dataset.
    Returns:
      "violated" if the releases cost more than the claim allows on worst-case neighbours, "holds" if certainly not, else "not
      applicable" with the reason.
    Source: docs/auditing.md, "The price".
    """
    if target.primitives is None:
        return None
    with recording() as releases:
        sample_one(target, copied(pair.first), np.random.default_rng(0))
    if not releases:
        return None
    log = tuple(releases)
    price = price_of(target.claim, ((log, log), (log, log)), ())
    if price.value is None or price.status == "undecided":
        return Finding(
            Property(SPENDING, "not applicable", 1, "; ".join(price.why[:1]) or "the limit lies inside the certified interval")
        )
    spent = f"{price.quantity} is at least {outward(price.value.lower, digits=4, up=False)}, over {len(log)} releases"
    return Finding(
        Property(SPENDING, "violated" if price.status == "above" else "holds", 1, spent if price.status == "above" else "")
    )
