"""A second look before a long bound: promising events are counted on runs of their own, and the best of them gets the bound."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

import numpy as np

from dpaudit.auditor.attack.course import Course, late_chunks
from dpaudit.auditor.attack.plans import Plan
from dpaudit.auditor.events.ranking import RankedEvent, Shortlist, expected_bound
from dpaudit.auditor.runs.chunks import SECOND_LOOK
from dpaudit.auditor.statistics.bounds import ClaimPoint

WIDE: Final = Shortlist(keep=32, each=12, apart=0.15)

_LONG: Final = 2**24
"""From here on: the rows that events are first chosen on are kept in memory, and stop growing where the bound does not."""
_SHARE: Final = 16
_HANDICAP: Final = 3.0
"""Standard errors of its counts that an event is discounted by: the best of many is flattered, most of all where it is rare."""


def runs_to_look(runs: int) -> int:
    """Return how many runs of a bound are better spent on choosing its event: a sixteenth, at a thirtieth of its standard error."""
    return runs // _SHARE if runs >= _LONG else 0


def best_event(
    course: Course, pair: int, found: Sequence[RankedEvent], *, point: ClaimPoint, looked: int, plan: Plan
) -> RankedEvent:
    """Return the event whose bound is expected to be the largest, by its hits on fresh runs."""
    events, case = tuple(ranked.event for ranked in found), course.case
    hits = np.zeros((len(events), 2))
    with closing(course.hits(late_chunks(case, pair, SECOND_LOOK, looked), events)) as chunks:
        for chunk in chunks:
            hits += [[counts.ones, counts.zeros] for counts in chunk]
            course.report("bound", plan)
    own, other = np.where(np.array([[ranked.reverse] for ranked in found]), hits[:, ::-1], hits).T + 0.5
    mass = (own + other - 0.5) / (looked + 1)
    held = np.log(own / other) - _HANDICAP * np.sqrt(1 / own + 1 / other)
    predicted = expected_bound(held, mass, point=point, final_runs=plan.bound - looked, alpha=case.half)
    best = int(np.argmax(predicted))
    return replace(
        found[best],
        predicted=float(predicted[best]),
        mass=float(mass[best]),
        theta=float(own[best] / (own[best] + other[best])),
        hits=int(hits[best].sum()),
    )
