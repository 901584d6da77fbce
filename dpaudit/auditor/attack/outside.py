"""Numbers and categories outside the domain that the data suggest: only the user knows whether a claim is for them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Final, Literal

from dpaudit.auditor.attack.course import Case, join_runs
from dpaudit.auditor.attack.looking import Search
from dpaudit.auditor.data.domains import OTHER, OUTSIDE
from dpaudit.auditor.data.records import records_of
from dpaudit.auditor.events.points import first_line
from dpaudit.auditor.events.ranking import rank_events
from dpaudit.auditor.pairs.strange import are_in_ball, fields_of_categories, fields_of_codes, fields_of_shares
from dpaudit.auditor.statistics.bounds import p_value
from dpaudit.exact import outward
from dpaudit.results import Counts, Property

BEYOND: Final = "integers beyond those of the data"

LONGER: Final = "vectors longer than those of the data"

LARGER: Final = "numbers larger than 1"

UNKNOWN: Final = "categories beyond those of the data"

_CLIP: Final = "clip in the function, or give neighbours= if data can hold no such record"

_SHARE: Final = 3
_EACH: Final = 16
_MOST_PAIRS: Final = 32


def try_outside(search: Search, pairs: Sequence[int]) -> tuple[Property, ...]:
    """Test the claim on pairs with numbers or categories outside the domain that the data suggest, and say beyond which it fails.

    The pair and the event are chosen on some runs and tested on others, so that a claim that holds there is called violated with
    probability at most alpha.
    """
    tried, best, level = _test(search, pairs)
    if not tried:
        return _said(search.case, "and no others were tried; add one to the data if there may be others")
    few = f"and {tried} pairs with ones outside it had too few runs to judge them, which showed no violation"
    unjudged = f"{few}; add one to the data if there may be others"
    if level > search.case.alpha:
        return _said(search.case, unjudged)
    shown = outward(level, digits=2, up=True)
    violated = f"and with one outside it the claim fails, with a p-value of {shown}; {_CLIP}"
    return _said(search.case, unjudged, violated, search.case.subject.pairs[best].labels)


def _test(search: Search, pairs: Sequence[int]) -> tuple[int, int, Fraction]:
    """Return how many pairs were run, the one that looks most different, and a p-value of the claim on it."""
    numbers = any(OUTSIDE in search.case.subject.pairs[place].labels for place in pairs)
    case, left = search.case, search.left // (_SHARE if numbers else 2 * _SHARE)
    looked = list(pairs[: min(_MOST_PAIRS, left // (2 * _EACH))])
    search.look(looked, _EACH)
    looked = [pair for pair in looked if pair in search.rows]
    if not looked:
        return 0, 0, Fraction(1)
    best, rest = search.best(looked)[0], (left - _EACH * len(looked)) // 2
    search.look([best], rest)
    point, seen = first_line(case.lines), join_runs(search.rows[best])
    ranked = rank_events(*seen, point=point, final_runs=rest, alpha=case.half, groups=case.manner.features.groups)
    learned = len(search.rows[best])
    search.look([best], rest)
    fresh = search.rows[best][learned:]
    if not ranked or not fresh:
        return len(looked), best, Fraction(1)
    runs, event = fresh[0], ranked[0]
    hits = runs.labels[event.event.hits(runs.features)]
    ones, zeros = int(hits.sum()), int(len(hits) - hits.sum())
    counts = Counts(zeros, ones, rest) if event.reverse else Counts(ones, zeros, rest)
    return len(looked), best, Fraction(p_value(counts, point=point))


def _said(case: Case, unjudged: str, violated: str = "", labels: AbstractSet[str] = frozenset()) -> tuple[Property, ...]:
    """Say for each domain that the data suggest what was found outside it; of categories only where the claim fails."""
    records = records_of(case.subject.target.data)
    codes, shares = fields_of_codes(records), fields_of_shares(records)
    found = []

    def add(name: str, count: int, where: str, label: str) -> None:
        status: Literal["violated", "not run"] = "violated" if label in labels else "not run"
        found.append(Property(name, status, count, f"{where}, {violated if label in labels else unjudged}"))

    if OTHER in labels:
        categories = fields_of_categories(records)
        add(UNKNOWN, len(categories), f"{_where('texts', categories)} repeat, as names of a few categories do", OTHER)
    if codes:
        add(BEYOND, len(codes), f"{_where('integers', codes)} repeat within a small range, as codes of categories do", OUTSIDE)
    if are_in_ball(records):
        add(LONGER, 1, "the records are vectors of length at most 1", OUTSIDE)
    elif shares:
        add(LARGER, len(shares), f"{_where('numbers', shares)} are at most 1", OUTSIDE)
    return tuple(found)


def _where(what: str, fields: Sequence[int]) -> str:
    """Say in which fields numbers are."""
    return f"the {what} of the records" if list(fields) == [0] else f"the {what} in field {', '.join(map(str, fields))}"
