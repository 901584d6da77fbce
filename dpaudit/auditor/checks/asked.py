"""The epsilons that another library's mechanisms were asked for, summed over those that read something else on a neighbour.

Such noise has no certified price, but basic composition is what most libraries promise by. The sum over a pair leaves out what
disjoint parts of the data do not share, such as the other bins of a histogram.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from dpaudit.auditor.checks.values import METRICS, can_be_read, least_distance
from dpaudit.auditor.data.disclosure import shows_values
from dpaudit.exact import outward, rational
from dpaudit.releases import Release
from dpaudit.results import Property
from dpaudit.targets import Target

ASKED: Final = "epsilons that mechanisms were asked for add up to the claim"
KIND: Final = "float_noise"
_ROUNDING: Final = Fraction(1, 10**9)
"""Epsilons are split in floats: a third of a budget, three times, may miss it by so much."""

Reading = tuple[Release, list[Any], list[Any]]
"""A release, and the values that it read on each dataset of a pair."""


def asked_for(readings: Iterable[Reading]) -> tuple[Fraction, int]:
    """Sum the epsilons of mechanisms in proportion to how far the values are apart that they read, and count these mechanisms."""
    total, count = Fraction(0), 0
    for release, first, second in readings:
        parameters = dict(release.parameters)
        if release.kind != KIND or "epsilon" not in parameters or not release.sensitivity or not (first and second):
            continue
        metric = METRICS[KIND]
        if can_be_read(first[0], second[0], metric) and (gap := least_distance(first[0], second[0], metric)):
            total += parameters["epsilon"] * gap / release.sensitivity
            count += 1
    return total, count


def check_asked(target: Target, pairs: Iterable[Iterable[Reading]]) -> Property | None:
    """Compare the largest sum over pairs with the claim; None where the claim has no epsilon, or nothing was asked for one."""
    claimed = getattr(target.claim.guarantee, "epsilon", None)
    sums = [asked_for(readings) for readings in pairs]
    if claimed is None or callable(claimed) or not any(count for _, count in sums):
        return None
    total, count = max(sums)
    if total <= rational(claimed) * (1 + _ROUNDING):
        return Property(ASKED, "holds", len(sums))
    much = f"epsilon {outward(total, digits=4, up=False)}" if shows_values(target) else "more epsilon than is claimed"
    detail = (
        f"{count} mechanisms that read other values on a neighbour were asked for {much} in all, so that the claim does not follow "
        "by basic composition"
    )
    return Property(ASKED, "note", len(sums), detail)
