"""Numbers outside the domain that the data suggest: only the user knows whether there are any, and whether a claim is for them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Literal

from dpaudit.auditor.attack.course import Case, join_runs
from dpaudit.auditor.attack.looking import Search
from dpaudit.auditor.data.records import records_of
from dpaudit.auditor.events.points import first_line
from dpaudit.auditor.events.ranking import rank_events
from dpaudit.auditor.pairs.strange import are_in_ball, fields_of_codes, fields_of_shares
from dpaudit.auditor.statistics.bounds import p_value
from dpaudit.exact import outward
from dpaudit.results import Counts, Property

BEYOND: Final = "integers beyond those of the data"

LONGER: Final = "vectors longer than those of the data"

LARGER: Final = "numbers larger than 1"

_CLIP: Final = "clip in the function, or give neighbours= if data can hold no such record"

_SHARE: Final = 3
_EACH: Final = 16
_MOST_PAIRS: Final = 32


def try_outside(search: Search, pairs: Sequence[int]) -> tuple[Property, ...]:
    """Test the claim on pairs with numbers outside the domain that the data suggest, and say what there is beyond which values.

    The pair and the event are chosen on some runs and tested on others, so that a claim that holds there is called violated with
    probability at most alpha.
    """
    tried, level = _test(search, pairs)
    if not tried:
        return _said(search.case, "not run", "and no others were tried; add one to the data if there may be others")
    if level > search.case.alpha:
        few = f"and {tried} pairs with far larger ones had too few runs to judge them, which showed no violation"
        return _said(search.case, "not run", f"{few}; add one to the data if there may be others")
    shown = outward(level, digits=2, up=True)
    return _said(search.case, "violated", f"and with a far larger one the claim fails, with a p-value of {shown}; {_CLIP}")


def _test(search: Search, pairs: Sequence[int]) -> tuple[int, Fraction]:
    """Return how many pairs were run, and a p-value of the claim on the one that looks most different."""
    case, left = search.case, search.left // _SHARE
    looked = list(pairs[: min(_MOST_PAIRS, left // (2 * _EACH))])
    search.look(looked, _EACH)
    looked = [pair for pair in looked if pair in search.rows]
    if not looked:
        return 0, Fraction(1)
    best, rest = search.best(looked)[0], (left - _EACH * len(looked)) // 2
    search.look([best], rest)
    point, seen = first_line(case.lines), join_runs(search.rows[best])
    ranked = rank_events(*seen, point=point, final_runs=rest, alpha=case.half, groups=case.manner.features.groups)
    learned = len(search.rows[best])
    search.look([best], rest)
    fresh = search.rows[best][learned:]
    if not ranked or not fresh:
        return len(looked), Fraction(1)
    runs, event = fresh[0], ranked[0]
    hits = runs.labels[event.event.hits(runs.features)]
    ones, zeros = int(hits.sum()), int(len(hits) - hits.sum())
    counts = Counts(zeros, ones, rest) if event.reverse else Counts(ones, zeros, rest)
    return len(looked), Fraction(p_value(counts, point=point))


def _said(case: Case, status: Literal["violated", "not run"], what: str) -> tuple[Property, ...]:
    """Say for each domain that the data suggest what was found outside it."""
    records = records_of(case.subject.target.data)
    codes, shares = fields_of_codes(records), fields_of_shares(records)
    found = []
    if codes:
        where = _where("integers", codes)
        found.append(
            Property(BEYOND, status, len(codes), f"{where} repeat within a small range, as codes of categories do, {what}")
        )
    if are_in_ball(records):
        found.append(Property(LONGER, status, 1, f"the records are vectors of length at most 1, {what}"))
    elif shares:
        found.append(Property(LARGER, status, len(shares), f"{_where('numbers', shares)} are at most 1, {what}"))
    return tuple(found)


def _where(what: str, fields: Sequence[int]) -> str:
    """Say in which fields numbers are."""
    return f"the {what} of the records" if list(fields) == [0] else f"the {what} in field {', '.join(map(str, fields))}"
