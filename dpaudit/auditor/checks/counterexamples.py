"""The search for a pair of neighbours that breaks a law, and for the smallest one once it is found; the same in every process."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from dpaudit.auditor.data.disclosure import shows_values
from dpaudit.auditor.data.records import fingerprint
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.pairs.drawing import shrink_value
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.auditor.pairs.relations import describe
from dpaudit.auditor.pairs.shrinking import smaller_pair, without_needless
from dpaudit.errors import InvalidArgument
from dpaudit.results import Property
from dpaudit.targets import Target

Broken: TypeAlias = Callable[[Any, Any], str | None]
"""What two datasets show against a law, empty if nothing; None where they leave nothing to compare."""

_MOST_SMALLER: Final = 1000
_ITEMS_SHOWN: Final = 16
_LETTERS_SHOWN: Final = 200


@dataclass(frozen=True)
class PropertyResult:
    """A property, and where it is violated the smallest pair of neighbours found that shows it.

    Args:
      property: its name, status, number of cases, and what shows a violation, by position unless the datasets are public.
      pair: the two datasets themselves, for the test that looks at them; never part of a report.
    Source: docs/property_tests.md.
    Example:
      >>> PropertyResult(Property("declared sensitivity", "holds", 16)).pair is None
      True
    """

    property: Property
    pair: tuple[Any, Any] | None = None


def find_counterexample(
    target: Target, pairs: Sequence[Neighbours], name: str, broken: Broken, examples: int = 0
) -> PropertyResult:
    """Try a law on candidate pairs, then on drawn ones, and shrink what breaks it.

    Source: MacIver and Donaldson 2020 (test-case reduction).
    """
    shown = [broken(pair.first, pair.second) for pair in pairs]
    breaking = [place for place, text in enumerate(shown) if text]
    if breaking:
        place = min(breaking, key=lambda place: len(fingerprint((pairs[place].first, pairs[place].second)) or b""))
        start = (pairs[place].first, pairs[place].second)
        smaller = smaller_pair(target, start, _limit_questions(lambda pair: bool(broken(*pair)))) or start
        return _violation(target, name, len(pairs), broken, smaller, f"pair {place} ({pairs[place].difference})")
    tried, idle, drawn = _try_drawn_pairs(target, broken, examples)
    if drawn is not None:
        return _violation(target, name, len(pairs) + tried, broken, drawn, f"a drawn pair ({describe(*drawn)})")
    compared = len(pairs) + tried - idle - shown.count(None)
    if compared == 0:
        return PropertyResult(Property(name, "not run", 0, f"none of {len(pairs) + tried} pairs leaves anything to compare"))
    return PropertyResult(Property(name, "holds", compared))


def _try_drawn_pairs(target: Target, broken: Broken, examples: int) -> tuple[int, int, tuple[Any, Any] | None]:
    """Draw pairs: return how many it took to break the law, how many had nothing to compare, and the smallest that breaks it."""
    if not examples or target.neighbours is None or isinstance(target.neighbours, Sequence):
        return 0, 0, None
    tried, idle, first = 0, 0, None

    def breaks(pair: Any) -> bool:
        try:
            check_neighbours(pair, target.claim.relation)
        except InvalidArgument:
            return False
        nonlocal idle
        text = broken(*pair)
        idle += text is None
        return bool(text)

    def start(pair: Any) -> bool:
        nonlocal tried, first
        tried, first = tried + 1, pair if breaks(pair) else None
        return first is not None

    best = shrink_value(target.neighbours, start, _limit_questions(breaks), tries=examples)
    return tried, idle, first if best is None else best


def _limit_questions(wanted: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return the same question, answered with no once it was asked too often."""
    left = iter(range(_MOST_SMALLER))
    return lambda pair: next(left, None) is not None and wanted(pair)


def _violation(target: Target, name: str, cases: int, broken: Broken, pair: tuple[Any, Any], where: str) -> PropertyResult:
    """Return the finding; values only where the datasets are public."""
    if target.neighbours is not None and not isinstance(target.neighbours, Sequence):
        # Shrinking what a strategy drew may end while both datasets still hold records that they can do without.
        pair = without_needless(pair, target.claim.relation, _limit_questions(lambda other: bool(broken(*other)))) or pair
    found = describe(*pair)
    if shows_values(target):
        short = reprlib.Repr()
        short.maxlist = short.maxtuple = short.maxarray = short.maxdict = _ITEMS_SHOWN
        short.maxstring = short.maxother = _LETTERS_SHOWN
        found = f"{short.repr(pair[0])} and {short.repr(pair[1])}"
    return PropertyResult(Property(name, "violated", cases, f"{where}: {broken(*pair)}; smallest found: {found}"), pair)
