"""Events in words that show no value: forms of output by their shape, those not seen at first too."""

from __future__ import annotations

import pytest

from dpaudit.auditor.events.predicates import Atoms, Event, ScoreThreshold, Threshold
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.events.words import describe_event
from dpaudit.auditor.reading.features import UNSEEN, fit_features
from dpaudit.auditor.scoring.table import ScoreTable

KINDS = fit_features([1.5, "text"])
PLACE = KINDS.names.index("kind")
LATE = float(UNSEEN + 12_345)
TABLE = ScoreTable((PLACE,), ((LATE,),), ((0.0, 1.0),), 0.0)


@pytest.mark.parametrize(
    "event",
    [Threshold(PLACE, LATE, at_most=False), Atoms((PLACE,), ((LATE,),)), ScoreThreshold(TABLE, 0.5, at_most=False)],
    ids=["threshold", "value", "range"],
)
def test_forms_that_were_not_seen_at_first_are_named_as_such(event: Event) -> None:
    found = describe_event(KINDS, RankedEvent(event, reverse=False, predicted=1.0, mass=0.01, theta=0.9), shown=False)
    assert found == "kind is a form not seen at first"


def test_forms_that_were_seen_are_named_by_their_shape() -> None:
    event = RankedEvent(Threshold(PLACE, 0.0, at_most=True), reverse=False, predicted=1.0, mass=0.5, theta=0.9)
    assert "not seen" not in describe_event(KINDS, event, shown=False)
