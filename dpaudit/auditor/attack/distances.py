"""Whether the datasets differ as with Gaussian noise that breaks the claim, if at outputs which are too rare for the runs.

It keeps claims from being called consistent; no refutation rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.auditor.events.predicates import Event, ScoreThreshold, Threshold
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.statistics.normal import claimed_distance, distance_of
from dpaudit.claims import Claim
from dpaudit.exact import outward
from dpaudit.results import Counts, Property

RARER: Final = "no output that is rarer than those tested breaks the claim"

_SHARES: Final = (0.5, 0.04)
_PROPER: Final = ((0.3, 0.7), (0.01, 0.12))
"""Shares of the runs that lie in an event around the middle and in one at an end, and what they may come to."""

_DOUBT: Final = 2.5
_CONSTANT: Final = 0.7
"""Share of the distance in the middle that is there at an end too: all of it with Gaussian noise, half with Laplace noise."""


@dataclass
class Probes:
    """Events that say whether the outputs differ as with Gaussian noise, and their counts on fresh runs."""

    events: tuple[Event, ...] = ()
    counts: list[Counts] = field(default_factory=list)


def probes_of(ranked: RankedEvent, rows: Matrix) -> Probes:
    """Return an event in the middle and one at an end of the outputs along what a chosen event looks at, not for single values."""
    event = ranked.event
    if isinstance(event, Threshold):
        values = rows[:, event.column]
    elif isinstance(event, ScoreThreshold) and len(event.columns) > 1:
        values = event.table.scores(rows)
    else:
        return Probes()
    limits = [float(np.quantile(values, share if event.at_most else 1 - share)) for share in _SHARES]
    if isinstance(event, Threshold):
        return Probes(tuple(Threshold(event.column, limit, at_most=event.at_most) for limit in limits))
    return Probes(tuple(ScoreThreshold(event.table, limit, at_most=event.at_most) for limit in limits))


def rarer_outputs(claim: Claim, point: ClaimPoint, probes: Probes) -> tuple[Property, ...]:
    """Say that a claim fails at rarer outputs if the noise is Gaussian, as it looks by fresh counts of the two events."""
    counts = probes.counts
    allowed = claimed_distance(claim.guarantee, point)
    if allowed is None or len(counts) != len(_SHARES):
        return ()
    masses = [(one.ones + one.zeros) / max(1, one.runs) for one in counts]
    if not all(low <= mass <= high for mass, (low, high) in zip(masses, _PROPER, strict=True)):
        return ()
    (middle, error), (end, _) = map(distance_of, counts)
    shown = middle - _DOUBT * error
    if shown <= allowed or end < _CONSTANT * middle:
        return ()
    least, most = outward(Fraction(shown), digits=3, up=False), outward(Fraction(allowed), digits=3, up=True)
    detail = (
        f"the datasets differ as with Gaussian noise of mu about {least} or more, which meets this claim up to {most} only: "
        "with such noise it fails at outputs too rare for these runs"
    )
    return (Property(RARER, "not run", counts[0].runs, detail),)
