"""The search among datasets that do not stand in the data: many pairs on few runs each, fewer on more, the best join the attack.

Runs of the search are apart from all others and decide nothing, so that a pair may be chosen by what they show.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from dpaudit.auditor.attack.contrast import contrast
from dpaudit.auditor.attack.coupled import largest_steps
from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.attack.looking import Rows, Search
from dpaudit.auditor.attack.outside import try_outside
from dpaudit.auditor.attack.plans import FINALISTS, finalists_of
from dpaudit.auditor.attack.plausible import is_sharp, vet
from dpaudit.auditor.data.domains import HIGH, HUGE, LABELS, LOW, MISSING, NEAR, ZERO
from dpaudit.auditor.pairs.candidates import is_searchable
from dpaudit.auditor.pairs.walks import WALK
from dpaudit.auditor.reading.features import Form, widen_map
from dpaudit.results import Property

SEARCHED: Final = "datasets unlike the data are searched"

UNTRIED: Final = "every kind of value unlike the data is tried"

_FIRST: Final = (24, 256)
_SECOND_SHARE: Final = 4
_LAST_SHARE: Final = 12
_SCAN_SHARE: Final = 8
_COUPLED_SHARE: Final = 4
_PROBES: Final = (16, 64)
_STRONG: Final = 1.0
_STEPS: Final = 9
"""Probes of one way: both ends, and a place between them for each half."""

NO_NUMBER: Final = "missing values do not show"

_MISSING: Final = Property(
    NO_NUMBER,
    "not run",
    0,
    "a None or NaN in the data, which have none, comes through to the output: where data may hold one the claim is false",
)
"""What is said instead of a refutation, since only the user knows whether data may hold missing values."""

ERRORS: Final = "errors at records unlike the data"

GAPS: Final = "errors at missing values"
"""Errors of code that is given None for a value of a type: hints of the type exclude it."""

_NOT_OF_NONE: Final = ("TypeError", "AttributeError")

CRASHES: Final = "no number unlike the data breaks the function"

_BROKEN: Final = ("ZeroDivisionError", "OverflowError", "FloatingPointError", "IndexError")
"""Errors that nobody raises to refuse a number."""

_IN_WORDS: Final = {
    ZERO: "a zero",
    LOW: "a value far below the others",
    HIGH: "a value far above the others",
    HUGE: "a value a thousand times the largest",
    NEAR: "a value close to zero",
}
_SHOWN: Final = 3


class _Change(NamedTuple):
    """How much outputs change along a way: the contrast of columns of few values, the distance, the contrast of all columns.

    The distance decides where outputs differ on both halves, as sums of ever more records do.
    """

    few: float
    apart: float
    all: float


def search_pairs(case: Case) -> tuple[Case, tuple[Property, ...]]:
    """Return the case with the searched pairs that look most different among those that it attacks, and what was searched."""
    runs, pairs, began = case.search, case.subject.pairs, time.monotonic()
    plain = [place for place, pair in enumerate(pairs) if pair.family and pair.way is None]
    ways = _ways_of(case)
    if not runs or not (plain or ways):
        return case, _why_not(case)
    vetting = vet(case, plain, most=runs // _SECOND_SHARE)
    search = Search(_widened(case, vetting.forms((*vetting.plausible, *vetting.outside))), runs - vetting.runs)
    outside = try_outside(search, vetting.outside)
    ways, strolls = ([way for way in ways if (pairs[way[0]].family == WALK) == strolled] for strolled in (False, True))
    coupled = largest_steps(case, [*strolls, *ways], search.left // _COUPLED_SHARE, finalists_of(runs))
    search.left -= coupled.runs
    scan = vet(case, [place for way in ways for place in way if not pairs[place].labels], most=search.left // _SCAN_SHARE)
    search.left -= scan.runs
    sharp = [place for place in scan.plausible if is_sharp(*scan.outputs[place])][:FINALISTS]
    search.look(sharp, _FIRST[0])
    search.look([place for place in coupled.largest if place not in sharp], _FIRST[0])
    size = min(max(_FIRST[0], search.left // 3 // max(1, len(vetting.plausible))), _FIRST[1])
    search.look(_kinds_first(case, vetting.plausible), size)
    untried = _untried(case, plain, {*vetting.outputs} - ({*vetting.plausible} - search.rows.keys()))
    # What the steps of ways show has to be looked at again, so a part of the runs is kept for that.
    followed, spare = 0, search.left - runs // _LAST_SHARE
    probe = min(max(_PROBES[0], spare // (_STEPS * max(1, len(ways)))), _PROBES[1])
    for way in ways:
        if search.left > runs // _LAST_SHARE:
            _follow(search, way, probe)
            followed += 1
    steps = [place for way in (*ways, *strolls) for place in way if place in search.rows]
    steps = [place for place in search.best(steps)[: 2 * FINALISTS] if search.merit(place)[0] > 0]
    stepped = vet(case, [*dict.fromkeys([*coupled.outstanding, *steps])], most=search.left // 2)
    search.left -= stepped.runs
    known = search.best(dict.fromkeys([*vetting.plausible, *sharp, *stepped.plausible]))
    again = known[: max(2 * FINALISTS, len(known) // _SECOND_SHARE)]
    if again:
        search.look(again, max(1, search.left // len(again)))
    count = FINALISTS if case.seconds == math.inf else finalists_of(runs)
    promising = tuple(place for place in coupled.outstanding if place in stepped.plausible)
    chosen = sorted(list(dict.fromkeys([*promising, *search.best(again)]))[:count])
    spent = vetting.runs + coupled.runs + scan.runs + stepped.runs + search.made
    unfit = len(vetting.outputs) - len(vetting.plausible) - len(vetting.outside)
    found = _account(case, search, len(plain) - len(vetting.outputs), unfit, len(ways) - followed)
    missing = (_MISSING,) if vetting.shows_missing or stepped.shows_missing else ()
    refused = _refusals(case, {**stepped.refused, **vetting.refused})
    wider = _widened(case, vetting.forms(chosen) | scan.forms(chosen) | stepped.forms(chosen))
    seconds = max(case.seconds - (time.monotonic() - began), case.seconds / 2)
    wider = replace(wider, places=(*case.attacked, *chosen), promising=promising, checked=case.checked + spent, seconds=seconds)
    return wider, (*missing, *refused, *untried, *outside, found)


def _kinds_first(case: Case, places: Sequence[int]) -> list[int]:
    """Return pairs in the order that has one of each kind of value first, whatever the order of these kinds."""
    kinds, first = set[str](), list[int]()
    for place in places:
        if case.subject.pairs[place].labels - kinds:
            kinds |= case.subject.pairs[place].labels
            first.append(place)
    return list(dict.fromkeys([*first, *places]))


def _untried(case: Case, places: Sequence[int], tried: AbstractSet[int]) -> tuple[Property, ...]:
    """Say which kinds of values the runs do not suffice for."""
    known, seen = ({label for place in some for label in case.subject.pairs[place].labels} for some in (places, tried))
    words = [_IN_WORDS.get(label, label) for label in LABELS if label in known - seen]
    detail = f"the runs do not suffice for {', '.join(words)}: what the function gives out there was not tested; ask for more runs"
    return (Property(UNTRIED, "not run", len(seen), detail),) if words else ()


def _widened(case: Case, forms: Iterable[Form]) -> Case:
    """Return the case with columns for further forms of output."""
    return replace(case, manner=replace(case.manner, features=widen_map(case.manner.features, forms)))


def _why_not(case: Case) -> tuple[Property, ...]:
    """Say why there was no search where data were given."""
    if case.subject.target.data is None:
        return ()
    why = "the time does not suffice" if case.plan is None else "the runs do not suffice"
    if not is_searchable(case.subject.target) or case.search:
        why = "none are made for this kind of data and adjacency"
    return (Property(SEARCHED, "not run", 0, why),)


def _account(case: Case, search: Search, left: int, unfit: int, unfollowed: int) -> Property:
    """Say how many pairs of which kinds were run, for how many more there were too few runs, and how many were not attacked."""
    families = Counter(case.subject.pairs[place].family for place in sorted(search.rows))
    looked = ", ".join(f"{count} of {family}" for family, count in sorted(families.items()))
    more = f"; the runs do not suffice for {left} more" if left else ""
    if unfollowed:
        more += f"; the runs do not suffice for the steps of {unfollowed} ways from the data to fewer, more or equal records"
    if unfit:
        more += f"; {unfit} more are not attacked, since the function raises or loses numbers there, or may not be meant for them"
    return Property(SEARCHED, "holds", len(search.rows), f"a few runs each on pairs: {looked}{more}")


def _refusals(case: Case, refused: Mapping[frozenset[str], str]) -> tuple[Property, ...]:
    """Say at which records the function raises and on their neighbours does not: only the user knows whether data may hold them."""
    crashed = {labels: shown for labels, shown in refused.items() if labels <= _IN_WORDS.keys() and shown.endswith(_BROKEN)}
    gaps = {labels: shown for labels, shown in refused.items() if labels == {MISSING} and shown.endswith(_NOT_OF_NONE)}
    left = {labels: shown for labels, shown in refused.items() if labels not in crashed and labels not in gaps}
    return tuple(_refusal(case, name, found) for name, found in ((CRASHES, crashed), (GAPS, gaps), (ERRORS, left)) if found)


def _refusal(case: Case, name: str, refused: Mapping[frozenset[str], str]) -> Property:
    """Say what a function does at some records."""
    by_error: dict[str, list[str]] = {}
    for labels, shown in refused.items():
        by_error.setdefault(shown, []).append(" with ".join(_IN_WORDS.get(label, label) for label in LABELS if label in labels))
    done = "; ".join(
        f"{shown} at {' or '.join(words[:_SHOWN])}{f' and {len(words) - _SHOWN} more' if len(words) > _SHOWN else ''}"
        for shown, words in by_error.items()
    )
    change = "without that record" if case.subject.target.claim.relation.kind == "add_remove" else "with another record"
    detail = (
        f"the function {done}, and gives an output {change}; if data may hold such a record, the error reveals it and the claim is "
        "false: add one to the data to have it judged"
    )
    # An error that nobody raises on purpose is a defect wherever such a number may come; others may refuse what data never hold.
    return Property(name, "violated" if name == CRASHES else "not run", len(refused), detail)


def _ways_of(case: Case) -> list[list[int]]:
    """Return the places of the steps of each way."""
    found: dict[int, list[int]] = {}
    for place, pair in enumerate(case.subject.pairs):
        if pair.way is not None:
            found.setdefault(pair.way, []).append(place)
    return list(found.values())


def _follow(search: Search, way: Sequence[int], probe: int) -> None:
    """Halve a way between datasets with different outputs, towards the neighbours at which the output changes most."""
    low, high = 0, len(way) - 1
    search.look([way[low], way[high]] if high else [way[0]], probe)
    while high - low > 1:
        middle = (low + high) // 2
        search.look([way[middle]], probe)
        before, here, after = (search.sample(way[place]) for place in (low, middle, high))
        if before is None or here is None or after is None:
            return
        first, second = _between(before, here, label=0), _between(here, after, label=1)
        if max(first.all, second.all) < _STRONG:
            return
        low, high = (low, middle) if first >= second else (middle, high)


def _between(one: Rows, other: Rows, *, label: int) -> _Change:
    """Return how much the outputs on the datasets of one label of two steps differ."""
    sides = [features[labels == label] for features, labels in (one, other)]
    labels = np.repeat(np.array([0, 1], dtype=np.uint8), [len(side) for side in sides])
    few, found = contrast(np.concatenate(sides), labels)
    middles = [np.median(side, axis=0) if len(side) else np.zeros(side.shape[1]) for side in sides]
    with np.errstate(all="ignore"):
        apart = np.nan_to_num(np.abs(middles[0] - middles[1])).max(initial=0.0)
    return _Change(few, float(apart) if found >= _STRONG else 0.0, found)
