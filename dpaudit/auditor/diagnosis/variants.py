"""Variants of a refuting pair, on which a suspected cause would show or be gone."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.records import changed_places, copy_of, is_dataset, replace_records, same, take_records, without

_OTHERS: Final = 4
_CHANGED: Final = 8
"""A pair that differs in more records is no pair of single records."""


def without_changed(first: Any, second: Any) -> Any | None:
    """The records that two datasets of one size share, in their places; None where they are not of that kind."""
    places = changed(first, second)
    return None if not places or len(first) != len(second) else without(first, set(places))


def changed(first: Any, second: Any) -> list[int]:
    """Places in the longer dataset at which two sequences of records differ, [] where that cannot be said."""
    if not (is_dataset(first) and is_dataset(second)):
        return []
    if len(first) == len(second):
        places = [place for place in range(len(first)) if not same(first[place], second[place])]
        return places if len(places) <= _CHANGED else []
    start, taken, put = changed_places(first, second)
    return list(range(start, start + max(taken, put))) if min(taken, put) == 0 and max(taken, put) <= _CHANGED else []


def by_size(first: Any, second: Any) -> tuple[Any, Any, list[int]] | None:
    """The shorter and the longer of two datasets, and the places of what only the longer one has; None for datasets of one size."""
    places = changed(first, second)
    if not places or len(first) == len(second):
        return None
    return (first, second, places) if len(first) < len(second) else (second, first, places)


def at_other_end(longer: Any, places: list[int]) -> Iterator[Any]:
    """A dataset with some of its records put behind the others, then before them."""
    rest = [place for place in range(len(longer)) if place not in places]
    for order in ([*rest, *places], [*places, *rest]):
        if order != list(range(len(longer))):
            yield take_records(longer, order)


def scaled(data: Any, factor: float, places: list[int] | None = None) -> Any | None:
    """The dataset with all numbers of some or all records multiplied; None where records are not all numbers."""
    if not is_dataset(data) or len(data) == 0:
        return None
    chosen = range(len(data)) if places is None else places
    if isinstance(data, np.ndarray):
        if data.dtype.kind not in "iuf":
            return None
        made = data.astype(np.float64)
        made[list(chosen)] *= factor
        return made
    grown = {place: _times(data[place], factor) for place in chosen}
    return None if any(record is None for record in grown.values()) else replace_records(copy_of(data), grown)


def _times(record: Any, factor: float) -> Any | None:
    """A record of numbers multiplied by a factor; None for other records."""
    if isinstance(record, np.ndarray) and record.dtype.kind in "iuf":
        return record * factor
    if isinstance(record, (list, tuple)):
        parts = [_times(part, factor) for part in record]
        return None if any(part is None for part in parts) or not parts else type(record)(parts)
    plain = isinstance(record, (numbers.Real, np.number)) and not isinstance(record, (bool, np.bool_))
    return type(record)(record * factor) if plain and float(record * factor).is_integer() >= isinstance(record, int) else None


def is_outlier(data: Any, places: list[int]) -> bool:
    """True if some records hold a number at least twice as large, in size, as any of the others has in that field, and beyond 1."""
    try:
        table = np.abs(np.asarray(data, dtype=np.float64)).reshape(len(data), -1)
    except (TypeError, ValueError):
        return False
    others = np.delete(table, places, axis=0)
    largest = table[places].max(axis=0)
    return bool(((largest > 1) & (largest >= 2 * others.max(axis=0, initial=0)) & others.any(axis=0)).any())


def without_each(data: Any, places: list[int]) -> Iterator[Any]:
    """The dataset without one of the largest of the records that both sides share."""
    sizes = np.abs(np.asarray(data, dtype=np.float64)).reshape(len(data), -1).max(axis=1)
    others = [place for place in np.argsort(-sizes).tolist() if place not in places]
    for place in others[:_OTHERS]:
        yield without(data, {place})
