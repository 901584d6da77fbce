"""Plausible values of a field that the data do not hold: zero, far beyond its ends, empty and long texts, missing ones."""

from __future__ import annotations

import math
import numbers
import re
from calendar import isleap
from collections.abc import Sequence
from contextlib import suppress
from datetime import MAXYEAR, date, datetime, timedelta
from decimal import Decimal
from itertools import islice, repeat
from typing import Any, Final

import numpy as np

ZERO: Final = "zero"
LOW: Final = "far below"
HIGH: Final = "far above"
HUGE: Final = "a thousand times the largest"
NEAR: Final = "close to zero"
LEAP: Final = "the 29th of February"
LAST: Final = "the last day of a month"
FINAL: Final = "the last day of a year of 53 weeks"
LATER: Final = "the last day of a later year of 53 weeks"
REPEATED: Final = "a time that clocks repeat"
REPEATED_LATER: Final = "a later time that clocks repeat"
OFFSET: Final = "a time with an offset"
NAMED: Final = "a value that the source names"
MIXED: Final = "values of several records"
LIMIT: Final = "a number of more digits than are kept"
BETWEEN: Final = "a zero between numbers of both signs"
EMPTY: Final = "an empty text"
BLANK: Final = "an empty text among few categories"
LONG: Final = "a long text"
ALIKE: Final = "one word or element again and again"
MARKED: Final = "a text with commas, quotes and ends of lines"
UNSEEN: Final = "a new text"
DIGIT: Final = "a digit that is no number"
OTHER: Final = "a new category"
HOLLOW: Final = "an empty list"
LONGER: Final = "a list longer than the others"
MINUS: Final = "minus one"
MISSING: Final = "a missing value"
NAN: Final = "NaN"
OUTSIDE: Final = "outside what the data suggest"
"""What is unlike the data about a value, in the words of a report."""

LABELS: Final = (
    *(
        BETWEEN,
        ZERO,
        HIGH,
        LOW,
        NEAR,
        LEAP,
        LAST,
        FINAL,
        MISSING,
        EMPTY,
        BLANK,
        HOLLOW,
        HUGE,
        LONG,
        LONGER,
        ALIKE,
        UNSEEN,
        DIGIT,
        OTHER,
    ),
    *(MARKED, NAMED, MINUS, NAN, REPEATED, REPEATED_LATER, LATER, OFFSET, LIMIT, MIXED, OUTSIDE),
)

WITHIN: Final = frozenset({LEAP, LAST, FINAL, REPEATED, BETWEEN})
"""Values between those of the data: whoever holds such data may hold them."""

_FAR: Final = 10
_VERY_FAR: Final = 1000
_NEAR: Final = 1e-6
_LONG_TEXT: Final = 500
_YEARS: Final = {LOW: 1704, HIGH: 2256}
"""Leap years, which have every day, far from those of data and within what tables hold."""

_DATE: Final = re.compile(r"(?:(?P<first>\d{4})-\d\d(?:-\d\d)?(?:[T ].*)?)|(?:\d\d?([./])\d\d?\2(?P<last>\d{4}))")
_MARKS: Final = ",;\t\"'|\n " * 8
"""What separates fields and records where texts are joined, so that one text counts as several: many, for a change that shows."""

_BETWEEN_WORDS: Final = re.compile(r"[ ,;|/+\t]+")
"""What stands between the words of a text, or between the values of a field that holds several."""

_LETTERS: Final = "\U00010400\ufb03"
"""A letter of four bytes, since a cut by letters is none by bytes, and one that becomes three in upper case."""

_SUPERSCRIPT: Final = "\u00b2"
"""Python calls it a digit, and does not read it as a number."""

_WEEKS: Final = 53
_LONG_ENOUGH: Final = 8
"""Years among which one has 53 weeks."""

_DIGITS_KEPT: Final = 30
"""More than Python's decimal numbers keep in a sum or round to cents."""

_YES_OR_NO: Final = 2
_CLOSED_RANGE: Final = 12
"""Integers that repeat within so small a range are codes of categories: a release may rely on there being no others."""


def values_beyond(column: Sequence[Any]) -> dict[str, Any]:
    """Values that a field may plausibly hold, of the type that it has in the data, each by what is unlike the data about it.

    A field of two values, of few integers, or of shares between -1 and 1 has its domain from what it means: it gets none beyond.
    """
    held = [value for value in column if not is_missing(value)]
    if not held:
        return {}
    if all(isinstance(value, date) for value in held):
        days = _days_between(*(end(date(one.year, one.month, one.day) for one in held) for end in (min, max)))
        dates = {label: held[0].replace(year=year) for label, year in _YEARS.items()}
        within = {label: held[0].replace(year=day.year, month=day.month, day=day.day) for label, day in days.items()}
        return {**dates, **within, **_repeated_times(held), MISSING: None}
    if all(isinstance(value, str) for value in held):
        return {**(_date_texts(held) if all(map(_DATE.fullmatch, held)) else _texts(held)), MISSING: None}
    if any(isinstance(value, (bool, np.bool_)) for value in held):
        return {}
    if all(isinstance(value, numbers.Real) for value in held) or all(isinstance(value, Decimal) for value in held):
        return _numbers(held)
    return {**_lists(held), MISSING: None}


def is_missing(value: Any) -> bool:
    """True for None, NaN and what pandas puts in their place."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, (numbers.Real, Decimal)) and math.isnan(value)


def _date_texts(held: Sequence[str]) -> dict[str, Any]:
    """Dates long ago and far ahead, written as those of the data, and an empty text."""
    found = _DATE.fullmatch(held[0])
    assert found is not None, "a date"  # noqa: S101
    start, end = found.span("last" if found["first"] is None else "first")
    dates = {label: f"{held[0][:start]}{year}{held[0][end:]}" for label, year in _YEARS.items()}
    if found["first"] is not None and len(held[0]) >= len("2000-02-29"):
        with suppress(ValueError):  # texts of the form of a date that are none
            days = _days_between(*(date.fromisoformat(end(held)[:10]) for end in (min, max)))
            dates |= {label: f"{day}{held[0][10:]}" for label, day in days.items()}
            times = _repeated_times([datetime.fromisoformat(text).replace(tzinfo=None) for text in held])
            dates |= {label: f"{time.date()}{held[0][10]}{time:%H:%M}{held[0][16:]}" for label, time in times.items()}
            if len(held[0]) > len("2000-02-29") and datetime.fromisoformat(held[0]).tzinfo is None:
                dates[OFFSET] = f"{held[0]}+02:00"
    return {**dates, EMPTY: ""}


def _repeated_times(held: Sequence[Any]) -> dict[str, Any]:
    """A time that European clocks show twice, between those of the data or after, where these have times of the day and no zone."""
    if not all(isinstance(value, datetime) and value.tzinfo is None for value in held) or all(map(_is_midnight, held)):
        return {}
    first, last = min(held), max(held)
    ends = (date(year, 10, 31) for year in range(first.year, min(last.year + 1, MAXYEAR) + 1))
    sundays = (day - timedelta(days=day.isoweekday() % 7) for day in ends)
    times = [held[0].replace(year=day.year, month=day.month, day=day.day, hour=2, minute=30) for day in sundays]
    found = {REPEATED if time < last else REPEATED_LATER: time for time in reversed(times) if first < time}
    return {label: time for label, time in found.items() if label == REPEATED or REPEATED not in found}


def _is_midnight(moment: datetime) -> bool:
    """True if a moment is the start of a day, as of dates that a library holds as times."""
    return (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def _days_between(first: date, last: date) -> dict[str, date]:
    """Days between the dates of the data: a 29th of February, the last of a month longer than the next, and of a year of 53 weeks.

    The last one comes after the data where there is none between.
    """
    years = range(first.year, last.year + 1)
    leap = (date(year, 2, 29) for year in years if isleap(year))
    ends = (date(year, month, 31) for year in years for month in (1, 3, 5, 8, 10))
    finals = sorted(
        (day for year in years if (day := date(year, 12, 31)).isocalendar().week == _WEEKS), key=lambda day: not isleap(day.year)
    )
    found = {
        label: found
        for label, days in ((LEAP, leap), (LAST, ends), (FINAL, finals))
        if (found := next((day for day in days if first < day < last), None)) is not None
    }
    if FINAL not in found:
        years = range(last.year, min(last.year + _LONG_ENOUGH, MAXYEAR + 1))
        later = (day for year in years if (day := date(year, 12, 31)) > last and day.isocalendar().week == _WEEKS)
        found |= dict(islice(zip(repeat(LATER), later, strict=False), 1))
    return found


def _texts(held: Sequence[str]) -> dict[str, Any]:
    """Texts: of few categories an empty one, and one more that shows whether a function is meant for these alone."""
    longest = max(held, key=len)
    if 2 * len(set(held)) <= len(held):
        return {BLANK: "", OTHER: f"{longest[:8][::-1]}z{_MARKS}"}
    long = (longest or "a") * (1 + max(_LONG_TEXT, _FAR * len(longest)) // max(1, len(longest)))
    digits = {DIGIT: _SUPERSCRIPT} if all(text.isdigit() for text in held) else {}
    new = {UNSEEN: f"{_LETTERS * _FAR}{longest[:8][::-1]}z", MARKED: f"{longest[:8]}{_MARKS}"}
    return {EMPTY: "", LONG: long, **_alike_words(held), **new, **digits}


def _alike_words(held: Sequence[str]) -> dict[str, Any]:
    """A text with as many words as the one of most, all of them its first, where texts have several words."""
    words = max(([word for word in _BETWEEN_WORDS.split(text) if word] for text in held), key=len)
    between = next(found for text in held if (found := _BETWEEN_WORDS.search(text))).group() if len(words) > 1 else ""
    return {ALIKE: between.join(words[:1] * len(words))} if between else {}


def _lists(held: Sequence[Any]) -> dict[str, Any]:
    """An empty list, the longest ten times over and its first element as often, where lengths that differ say that any may come."""
    kind = type(held[0])
    if kind not in {list, tuple} or any(type(value) is not kind for value in held) or len({*map(len, held)}) == 1:
        return {}
    longest = max(held, key=len)
    return {HOLLOW: kind(), LONGER: longest * _FAR, ALIKE: longest[:1] * len(longest)}


def _numbers(held: Sequence[Any]) -> dict[str, Any]:
    """Numbers of the type of the first one: zero, and some far beyond the ends of the data."""
    kind: Any = type(held[0])
    low, high = (end.item() if isinstance(end, np.generic) else end for end in (min(held), max(held)))
    few, whole = len(set(held)), all(isinstance(value, numbers.Integral) for value in held)
    if not (math.isfinite(low) and math.isfinite(high)):
        return {}
    # Python's own integers have no limits, and a table finds out by itself what its columns hold.
    missing: dict[str, Any] = {MISSING: None}
    if isinstance(held[0], np.generic):
        missing = dict.fromkeys([MISSING] if isinstance(held[0], np.floating) else [], math.nan)
    elif isinstance(held[0], float):
        missing |= {NAN: math.nan}
    elif isinstance(held[0], Decimal):
        missing |= {NAN: Decimal("NaN"), LIMIT: Decimal(10) ** _DIGITS_KEPT}
    if whole and (few <= _YES_OR_NO or _are_codes(few, low, high, len(held))):
        return missing
    size = max(abs(low), abs(high))
    found = {ZERO: 0, HIGH: _FAR * size, LOW: -_FAR * size, HUGE: _VERY_FAR * size}
    if size <= 1:
        found = {ZERO: 0, HIGH: 1, **({LOW: -1} if low < 0 else {})}
    if low < 0 < high:
        found[BETWEEN] = 0
    if isinstance(held[0], (float, np.floating)) and size > 0:
        found[NEAR] = _NEAR * size
    if size > 1 and low >= 0:
        found[MINUS] = -1  # stands for an unknown value in many tables
    return {**{label: made for label, value in found.items() if (made := _held_as(kind, value)) is not None}, **missing}


def values_outside(column: Sequence[Any]) -> dict[str, Any]:
    """Numbers far outside a field of codes or of shares, whose meaning may exclude them."""
    if not (holds_codes(column) or holds_shares(column)):
        return {}
    held = [value for value in column if not is_missing(value)]
    low, high = (end.item() if isinstance(end, np.generic) else end for end in (min(held), max(held)))
    size = _FAR * max(1, abs(low), abs(high))
    more = {} if low <= 0 or holds_shares(column) else {ZERO: 0, MINUS: -1}
    made = {label: _held_as(type(held[0]), value) for label, value in {HIGH: size, LOW: -size, **more}.items()}
    return {label: value for label, value in made.items() if value is not None}


def _are_codes(few: int, low: Any, high: Any, count: int) -> bool:
    """True if so few different integers between two ends are taken for codes of categories."""
    return bool(high - low <= _CLOSED_RANGE and 3 * few <= 2 * count)


def holds_codes(column: Sequence[Any]) -> bool:
    """True if a field holds more than two different integers that are taken for codes, beyond which no value is tried."""
    held = [value for value in column if not is_missing(value)]
    if not held or not all(isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)) for value in held):
        return False
    few = len(set(held))
    return few > _YES_OR_NO and _are_codes(few, min(held), max(held), len(held))


def holds_shares(column: Sequence[Any]) -> bool:
    """True if a field holds floats of size at most 1, whose meaning may bound them."""
    held = [value for value in column if not is_missing(value)]
    return bool(held) and all(isinstance(value, (float, np.floating)) and abs(float(value)) <= 1 for value in held)


def _held_as(kind: Any, value: Any) -> Any:
    """The number in a type, None where the type does not hold it."""
    try:
        with np.errstate(all="ignore"):
            made = kind(value)
    except (OverflowError, ValueError, TypeError):
        return None
    return made if math.isfinite(made) and math.isclose(made, value, rel_tol=1e-3) else None
