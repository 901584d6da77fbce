"""Pairs of few and of tied records, made of the records of one dataset: they show errors that larger data hide.

A chain of neighbours joins each dataset to the given one: they have any size where records come and go, else the same size, which
the adjacency makes public and a release may rely on. Nothing is made up but repetition.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.fields import label_of, places_by_user, user_field
from dpaudit.auditor.data.records import Dataset, copy_of, extremes, replace_records, same, without
from dpaudit.auditor.pairs.edits import rewrite_record
from dpaudit.auditor.pairs.relations import Part, describe, records_changed
from dpaudit.claims import Adjacency

MOST_TIED: Final = 1000
"""Where records come and go, tied datasets have at most so many."""

_MOST_COUPLES: Final = 2
_FEW: Final = 3
_NAMED: Final = 3


def record_parts(data: Any, adjacency: Adjacency) -> Iterator[Part]:
    """Neighbouring datasets of few and of tied records."""
    return _few_records(data) if adjacency.kind == "add_remove" else _tied_records(data, adjacency)


def user_parts(data: Any, adjacency: Adjacency) -> Iterator[Part]:
    """Neighbouring datasets of few users and of tied records."""
    return _few_users(data, adjacency) if adjacency.kind == "add_remove" else _tied_records(data, adjacency)


def label_parts(data: Any, adjacency: Adjacency) -> Iterator[Part]:
    """Inputs (features, labels) whose labels are tied."""
    tied = _tied_records(data[1], adjacency)
    return (((data[0], first), (data[0], second), text.replace("record", "label")) for first, second, text in tied)


def _couples(data: Dataset) -> list[tuple[int, int]]:
    """Places of records at opposite extremes, of numbers the lower one first; one place twice where all records are equal."""
    found = list(dict.fromkeys((min(pair), max(pair)) for pair in extremes(data)))[:_MOST_COUPLES]
    # Where every value is as common as any other, none is extreme.
    found = found or [(0, next((place for place in range(len(data)) if not same(data[place], data[0])), 0))]
    numeric = [all(isinstance(data[place], numbers.Real) for place in pair) for pair in found]
    return [pair[::-1] if real and data[pair[0]] > data[pair[1]] else pair for pair, real in zip(found, numeric, strict=True)]


def _few_records(data: Dataset) -> Iterator[Part]:
    """Datasets of none to three records, and of records that are all tied but one or half and half."""
    size, made = min(len(data), MOST_TIED), dict[tuple[int, ...], Dataset]()
    seen = set()
    for number, (low, high) in enumerate(_couples(data)):
        recipes = list(_recipes(low, high, size))
        for places, left_out in recipes if number == 0 else recipes[:4]:
            if (places, places[left_out]) in seen:
                continue
            seen.add((places, places[left_out]))
            # One object for one dataset, so that the runs of pairs that share it are counted together.
            first = made.setdefault(places, _copy_records(data, places))
            yield _part(first, without(first, {left_out}), places)


def _recipes(low: int, high: int, size: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Places to take records from, and the position of the one that the neighbour lacks."""
    tied, half = size - 1, size // 2
    yield (low, high), 1
    yield (high,), 0
    if size > _FEW:
        yield (*(low,) * tied, high), tied
        yield (*(low,) * half, *(high,) * (half + 1)), 2 * half
    yield (low, high), 0
    yield (low, low, high), 2
    yield (low, high, high), 0
    yield (low, high, high), 2
    yield (high, high), 1
    yield (high, high, high), 2
    yield (low,), 0
    if size > _FEW:
        yield (low, *(high,) * tied), 0
        yield (high,) * size, tied


def _copy_records(data: Dataset, places: Sequence[int]) -> Dataset:
    """Copies of the records at some places, in that order; a record may come several times."""
    if isinstance(data, np.ndarray):
        return data[np.asarray(places, dtype=np.intp)]
    taken = [copy_of(data[place]) for place in places]
    return taken if isinstance(data, list) else tuple(taken)


def _few_users(data: Dataset, adjacency: Adjacency) -> Iterator[Part]:
    """All records of none to three users, and of all users with tied records."""
    users = places_by_user(data, adjacency.unit) or {}
    ordered = sorted(map(tuple, users.values()), key=lambda rows: (-len(rows), rows))
    owners = [next(rows for rows in ordered if place in rows) for place in _couples(data)[0]]
    chosen = list(dict.fromkeys([*owners, ordered[0], *ordered[::-1]]))[:_FEW]
    for number in range(1, len(chosen) + 1):
        kept = sorted(place for rows in chosen[:number] for place in rows)
        first = _copy_records(data, kept)
        for rows in chosen[:number][-2:]:
            gone = {position for position, place in enumerate(kept) if place in rows}
            yield _part(first, without(first, gone), kept)
    for first, _, _ in islice(_tied_records(data, adjacency), 2):
        yield _part(first, without(first, set(owners[1])), _couples(data)[0])


def _tied_records(data: Dataset, adjacency: Adjacency) -> Iterator[Part]:
    """Datasets of the same size whose records, or labels, are all tied but those that change, or half and half."""
    key = None if adjacency.unit == "record" else user_field(data[0], adjacency.unit)

    def made(sources: Sequence[int | None]) -> Dataset:
        """The data with each record rewritten as the one at another place, or as the null record."""
        if isinstance(data, np.ndarray) and key is None and adjacency.kind != "label" and None not in sources:
            return data[np.asarray(sources, dtype=np.intp)]
        changes = {place: rewrite_record(data, place, source, key, adjacency.kind) for place, source in enumerate(sources)}
        return replace_records(data, changes)

    judged = [label_of(record) for record in data] if adjacency.kind == "label" else data
    for low, high in _couples(judged):
        changed = _changed_places(data, high, adjacency)
        others = [place for place in range(len(data)) if place not in changed]
        half = set(others[: len(others) // 2])
        rest = None if adjacency.kind == "zero_out" else low
        ties = [(low, high, rest), (high, low, None if rest is None else high), (None, high, None)]
        for common, before, after in ties if rest is None else ties[:2]:
            first, second = ([end if place in changed else common for place in range(len(data))] for end in (before, after))
            yield _part(made(first), made(second), (*first, *second))
        split = [rest if place in half else high for place in range(len(data))]
        pivot = [rest if place in half or place in changed else high for place in range(len(data))]
        yield _part(made(split), made(pivot), (*split, *pivot))


def _changed_places(data: Dataset, place: int, adjacency: Adjacency) -> set[int]:
    """The places that a neighbour changes: that of one record, those of several, or those of one user."""
    if adjacency.unit != "record":
        users = places_by_user(data, adjacency.unit) or {}
        return set(next((rows for rows in users.values() if place in rows), [place]))
    return {place, *islice((other for other in range(len(data)) if other != place), records_changed(adjacency) - 1)}


def _part(first: Any, second: Any, sources: Iterable[int | None]) -> Part:
    """The pair, with a text that says by position which records of the data were copied into it."""
    places = sorted({place for place in sources if place is not None})
    named = [str(place) for place in places[:_NAMED]]
    named += [f"{len(places) - _NAMED} more"] if len(places) > _NAMED else []
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    return first, second, f"{describe(first, second)}, built from copies of record{'s' * (len(places) > 1)} {listed} of the data"


def drop_duplicates(parts: Iterator[Part], known: Sequence[tuple[Any, Any]]) -> Iterator[Part]:
    """Keep the pairs that differ from the known ones and from each other, and whose two datasets differ."""
    short = [pair for pair in known if _is_short(*pair)]
    for first, second, text in parts:
        if same(first, second):
            continue
        if _is_short(first, second):
            if any(same(first, one) and same(second, other) for one, other in short):
                continue
            short.append((first, second))
        yield first, second, text


def _is_short(first: Any, second: Any) -> bool:
    """True if two datasets are short enough to be compared with all others."""
    return all(hasattr(side, "__len__") and len(side) <= MOST_TIED for side in (first, second))
