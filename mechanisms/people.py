"""Records of people: numbered by category and by person, each person counted once a category and in few categories."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument

Key: TypeAlias = int | str
"""A category or a key."""

Entries: TypeAlias = "Iterable[Any] | NDArray[Any]"
"""One entry per record."""

_UNITS: Final = {"add_remove": 1, "replace_one": 2}
_WIDEST_TABLE: Final = 2**20
_NOWHERE: Final = -1


def units(adjacency: Adjacency) -> int:
    """The number of people whose records differ between neighbours, counting a person whose records are others as two."""
    if adjacency.kind not in _UNITS:
        raise InvalidArgument(
            "DPA103", f"adjacency must be {' or '.join(_UNITS)} where people are counted, got {adjacency}. Its records are people."
        )
    return _UNITS[adjacency.kind]


def read_entries(entries: object, name: str) -> NDArray[Any] | list[Any]:
    """A column of records: a 1-dimensional array, or a list of whatever the records hold."""
    if hasattr(entries, "__array__"):
        array = np.asarray(entries)
        if array.ndim != 1:
            raise InvalidArgument("DPA105", f"{name} must have one dimension, got {array.ndim}. Give one entry per record.")
        return array
    if isinstance(entries, (str, bytes)) or not isinstance(entries, Iterable):
        given = type(entries).__name__
        raise InvalidArgument("DPA105", f"{name} must be a sequence or an array, got a {given}. Give one entry per record.")
    return list(entries)


def read_people(people: object, records: int, contributions: int) -> NDArray[np.int64] | None:
    """The number of each record's person, `_NOWHERE` for a record without one; None where every record is another person's."""
    if people is None:
        if contributions > 1:
            raise InvalidArgument(
                "DPA106", f"contributions={contributions} needs people=, the person of each record. Without it each has one record."
            )
        return None
    entries = read_entries(people, "people")
    if len(entries) != records:
        raise InvalidArgument("DPA105", "people must have one entry per record, got a column of another length. Give both.")
    if isinstance(entries, np.ndarray):
        if entries.dtype.kind in "iub":
            return np.unique(entries, return_inverse=True)[1].astype(np.int64)
        entries = entries.tolist()
    index: dict[Any, int] = {}
    try:
        index = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
        numbered = np.fromiter(map(index.__getitem__, entries), np.int64, len(entries))
        absent = [number for person, number in index.items() if _is_absent(person)]
    except Exception:  # noqa: BLE001 - an error would reveal that somebody's record holds what cannot be compared
        index = {}
        return np.array([_person(entry, index) for entry in entries], dtype=np.int64)
    numbered[np.isin(numbered, absent)] = _NOWHERE
    return numbered


def places_of(entries: NDArray[Any] | list[Any], table: dict[Key, int]) -> NDArray[np.int64]:
    """The place of each entry in a public table, `_NOWHERE` for others; equality is that of Python's dictionaries."""
    if isinstance(entries, np.ndarray):
        whole = [key for key in table if isinstance(key, int)] or [0]
        low, high = min(whole), max(whole)
        narrow = high - low < _WIDEST_TABLE and low > -(2**63) and high < 2**63 - 1
        if narrow and entries.dtype.kind in "iub" and entries.dtype != np.uint64:
            return _integer_places(entries.astype(np.int64, copy=False), table, low, high)
        entries = entries.tolist()
    try:
        return np.fromiter((table.get(entry, _NOWHERE) for entry in entries), np.int64, len(entries))
    except Exception:  # noqa: BLE001 - as above
        return np.array([_place(entry, table) for entry in entries], dtype=np.int64)


def keys_of(entries: NDArray[Any] | list[Any]) -> tuple[NDArray[np.int64], list[Key]]:
    """A number for each entry that is a key, `_NOWHERE` for others, and the different keys, which the numbers count from 0."""
    if isinstance(entries, np.ndarray):
        if entries.dtype.kind in "iub":
            integers, places = np.unique(entries, return_inverse=True)
            return places.astype(np.int64), [int(key) for key in integers.tolist()]
        entries = entries.tolist()
    # Entries become plain int and str first: which of several equal entries came first must not matter.
    keys = entries if set(map(type, entries)) <= {int, str} else [_key(entry) for entry in entries]
    different = [key for key in dict.fromkeys(keys) if key is not None]
    index = {None: _NOWHERE, **{key: place for place, key in enumerate(different)}}
    return np.fromiter(map(index.__getitem__, keys), np.int64, len(keys)), different


def limit_contributions(places: NDArray[np.int64], people: NDArray[np.int64] | None, contributions: int) -> NDArray[np.int64]:
    """The places that count: of each person the first different ones in the order of the records, at most `contributions`.

    What a person adds depends on that person's records only.
    """
    if people is None:
        return places[places >= 0] if places.min(initial=0) < 0 else places
    known = np.flatnonzero((places >= 0) & (people >= 0))
    if not known.size:
        return places[known]
    places, people = places[known], people[known]
    # Two numbers in one: people and places are fewer than the records or the categories, so that both fit.
    pairs = people * (places.max() + 1) + places
    order = np.argsort(pairs)
    first = np.minimum.reduceat(order, np.flatnonzero(np.diff(pairs[order], prepend=-1)))
    packed = np.sort(people[first] * known.size + first)
    starts = np.flatnonzero(np.diff(packed // known.size, prepend=-1))
    rank = np.arange(packed.size) - np.repeat(starts, np.diff(starts, append=packed.size))
    return places[packed[rank < contributions] % known.size]


def _is_absent(person: object) -> bool:
    """True if a record has no person: None, or what does not even equal itself, such as NaN."""
    return person is None or bool(person != person)  # noqa: PLR0124 - the test for NaN of every type


def _person(entry: object, index: dict[Any, int]) -> int:
    """The number of one record's person."""
    try:
        return _NOWHERE if _is_absent(entry) else index.setdefault(entry, len(index))
    except Exception:  # noqa: BLE001 - as above
        return _NOWHERE


def _place(entry: Any, table: dict[Key, int]) -> int:
    """The place of one entry."""
    try:
        return table.get(entry, _NOWHERE)
    except Exception:  # noqa: BLE001 - as above
        return _NOWHERE


def _key(entry: object) -> Key | None:
    """The plain int or str of an entry that is one, else None."""
    if isinstance(entry, str):
        return str(entry)
    if isinstance(entry, (numbers.Integral, np.bool_)):
        return int(entry)
    return None


def _integer_places(entries: NDArray[np.int64], table: dict[Key, int], low: int, high: int) -> NDArray[np.int64]:
    """Places of integers by an array over the range of the integer keys, with one more entry at each end for what lies beyond."""
    row = np.full(high - low + 3, _NOWHERE, dtype=np.int64)
    for key, place in table.items():
        if isinstance(key, int):
            row[key - low + 1] = place
    beside = np.clip(entries, low - 1, high + 1)
    beside -= low - 1
    return row.take(beside)
