"""Events in words: with their values where these may be shown, else by rank, number and shape."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpaudit.auditor.events.predicates import Atoms, Event, ScoreThreshold, Threshold
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.reading.features import UNSEEN, FeatureMap
from dpaudit.auditor.reading.leaves import LARGEST

_KIND: Final = "kind"
_NEW: Final = "a form not seen at first"
_NAMED: Final = 8


def describe_event(features: FeatureMap, ranked: RankedEvent, *, shown: bool) -> str:
    """Describe an event for a report."""
    event = _value_alone(features, ranked.event)
    if not shown:
        return _outline(features, event, f"{100 * ranked.mass:.2g} % of the outputs")
    text = event.describe(features.names)
    return f"{text} (kinds: {features.legend()}; others are codes of forms not seen at first)" if _KIND in text else text


def _value_alone(features: FeatureMap, event: Event) -> Event:
    """Drop the form from an event where all its outputs have the first form, whose value says the rest."""
    if isinstance(event, Atoms) and {"value", _KIND} <= {features.names[column] for column in event.columns}:
        kind, value = (event.columns.index(features.names.index(name)) for name in (_KIND, "value"))
        if all(row[kind] == 0 for row in event.values):
            return Atoms((event.columns[value],), tuple((row[value],) for row in event.values))
    return event


def _outline(features: FeatureMap, event: Event, share: str) -> str:
    """Describe the event without a value of any output."""
    names = [features.names[column] for column in event.columns]
    subject = names[0] if len(names) == 1 else f"({', '.join(names[:_NAMED])}{', and more' if len(names) > _NAMED else ''})"
    if names == [_KIND]:
        return f"kind is {_forms(features, event)}"
    if isinstance(event, Threshold):
        return f"{subject} among the {'smallest' if event.at_most else 'largest'} {share}"
    if isinstance(event, Atoms):
        count = len(event.values)
        which = "one particular value" if count == 1 else f"one of {count} particular values"
        return f"{subject} equal to {which}, {share}"
    if len(names) == 1:
        ranges = event.describe(features.names).count(" or ") + 1
        return f"{subject} in {'one range' if ranges == 1 else f'one of {ranges} ranges'}, {share}"
    return f"score of {subject} among the {'smallest' if event.at_most else 'largest'} {share}"


def _forms(features: FeatureMap, event: Event) -> str:
    """Name the forms of output inside an event of forms alone: by their shapes, numbered where these are equal."""
    codes = [float(code) for code in range(len(features.kinds))]
    # Codes of forms not seen at first differ from form to form: one at either end, and those at which the event begins or ends.
    ends = [event.limit] if isinstance(event, Threshold) else event.table.cuts[0] if isinstance(event, ScoreThreshold) else ()
    late = [UNSEEN, LARGEST, *(end for end in ends if end >= UNSEEN)]
    rows = np.zeros((len(codes) + len(late), len(features.names)))
    rows[:, event.columns[0]] = [*codes, *late]
    inside = event.hits(rows).tolist()
    unseen = any(row[0] >= UNSEEN for row in event.values) if isinstance(event, Atoms) else any(inside[len(codes) :])
    found = [
        shape if features.shapes.count(shape) == 1 else f"{shape} (form {code} of those seen at first)"
        for code, shape in enumerate(features.shapes)
        if inside[code]
    ]
    return " or ".join([*found, _NEW] if unseen else found) or "none"
