"""Datasets as sequences of records: copying, changing and comparing them, and finding the extreme records."""

from __future__ import annotations

import copy
import math
import numbers
import pickle
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.auditor.data.tables import is_table, rows_of, table_like

Dataset: TypeAlias = list[Any] | tuple[Any, ...] | NDArray[Any]

_MOST_COLUMNS: Final = 256
"""Columns that are searched for extreme records: each is worth a pass over the data, and only a few pairs are made of them."""


_PLAIN: Final = frozenset({int, float, str, bool, bytes, type(None)})
"""Types whose values need no copy."""


def is_dataset(data: object) -> bool:
    """True if `data` is plainly a sequence of records: an array, or a list or tuple of numbers, texts, dates, mappings or rows."""
    if isinstance(data, np.ndarray):
        return data.ndim >= 1
    if not isinstance(data, (list, tuple)):
        return False
    # A tuple of lists or arrays, or a list of arrays of different shapes, may as well be features and labels side by side.
    whole = (str, bytes, numbers.Number, np.generic, date, time, timedelta, Enum, Mapping, tuple)
    allowed = (*whole, list, np.ndarray) if isinstance(data, list) else whole
    shapes = {record.shape for record in data if isinstance(record, np.ndarray)}
    return len(shapes) <= 1 and all(record is None or isinstance(record, allowed) for record in data)


def copy_of(data: Any) -> Any:
    """Return a deep copy of an input, or the input itself where it cannot be copied."""
    # What follows gives what a deep copy gives, in a tenth of its time or less, which data of many records take.
    if type(data) is tuple and _is_fixed(data):
        return data
    if type(data) is list and all(map(_is_fixed, data)):
        return list(data)
    if type(data) is dict and _PLAIN.issuperset(map(type, data.values())):
        return dict(data)
    if type(data) is list and all(type(one) is dict and _PLAIN.issuperset(map(type, one.values())) for one in data):
        # Records that are one object in the data stay one in the copy, as in a deep copy.
        made = {id(one): one.copy() for one in data}
        return [made[id(one)] for one in data]
    try:
        return copy.deepcopy(data)
    except Exception:  # noqa: BLE001 - open files, locks and the like are shared by all runs
        return data


def _is_fixed(data: Any) -> bool:
    """True if nothing in a value can change: plain values, and tuples of such."""
    return type(data) in _PLAIN or (type(data) is tuple and all(map(_is_fixed, data)))


def fingerprint(data: Any) -> bytes | None:
    """Pickle an input, to see whether a call changed it; None for what cannot be pickled."""
    try:
        return pickle.dumps(data)
    except Exception:  # noqa: BLE001 - open files, generators and the like cannot be compared
        return None


def is_labelled(data: object) -> bool:
    """True if `data` is a tuple (features, labels) of two lists or arrays with one entry each for every record."""
    return (
        isinstance(data, tuple)
        and len(data) == 2
        and all(isinstance(part, list) or (isinstance(part, np.ndarray) and part.ndim >= 1) for part in data)
        and len(data[0]) == len(data[1])
    )


def without(data: Dataset, places: Collection[int]) -> Dataset:
    """Return the dataset without the records at some places."""
    if isinstance(data, np.ndarray):
        return np.delete(data, list(places), axis=0)
    left = [record for place, record in enumerate(data) if place not in places]
    return left if isinstance(data, list) else tuple(left)


def take_records(data: Dataset, places: Collection[int]) -> Dataset:
    """Return the records at some places, in that order."""
    if isinstance(data, np.ndarray):
        return data[list(places)]
    records = [data[place] for place in places]
    return records if isinstance(data, list) else tuple(records)


def records_of(data: Any) -> list[Any]:
    """The records of a dataset, or the rows of a table."""
    return rows_of(data) if is_table(data) else list(data)


def dataset_like(data: Any, own: Sequence[Any], records: Sequence[Any]) -> Any:
    """A dataset of the type of `data` of other records; `own` are its own. Records that come again are copied."""
    if is_table(data):
        return table_like(data, own, records)
    if isinstance(data, np.ndarray):
        return np.array(records, dtype=data.dtype).reshape(len(records), *data.shape[1:])
    made = list(records)
    if len(set(map(id, made))) < len(made):
        firsts = {id(record): place for place, record in reversed(list(enumerate(made)))}
        made = [record if firsts[id(record)] == place else copy_of(record) for place, record in enumerate(made)]
    return made if isinstance(data, list) else tuple(made)


def replace_records(data: Dataset, changes: Mapping[int, Any]) -> Dataset:
    """Return the dataset with other records at some places; an array takes a wider type where a record needs it."""
    if isinstance(data, np.ndarray):
        changed = data.astype(np.result_type(data, *map(np.asarray, changes.values()))) if changes else data.copy()
        for place, record in changes.items():
            changed[place] = record
        return changed
    records = [changes.get(place, record) for place, record in enumerate(data)]
    return records if isinstance(data, list) else tuple(records)


def same(first: Any, second: Any) -> bool:
    """True if two records are equal; NaN equals NaN, and arrays are compared entry by entry."""
    if first is second or (
        type(first) is dict is type(second) and _PLAIN.issuperset(map(type, first.values())) and first == second
    ):
        return True  # records of numbers and texts, which equality compares at once
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        first, second = np.asarray(first), np.asarray(second)
        # NaN is looked for in numbers only, since numpy refuses to look for it in objects.
        return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc" and second.dtype.kind in "fc"))
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second):
        return True
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if is_table(first) or is_table(second):
        return type(first) is type(second) and bool(first.equals(second))
    try:
        return bool(first == second)
    except (TypeError, ValueError):  # a missing value of pandas is not equal, and not unequal
        return False


def changed_places(first: Dataset, second: Dataset) -> tuple[int, int, int]:
    """Length of the start that two datasets share, and how many records each has between it and their common end."""
    shorter = min(len(first), len(second))
    start = next((place for place in range(shorter) if not same(first[place], second[place])), shorter)
    rest = shorter - start
    end = next((place for place in range(rest) if not same(first[-1 - place], second[-1 - place])), rest)
    return start, len(first) - start - end, len(second) - start - end


def count_exchanged(first: Dataset, second: Dataset) -> tuple[int, int] | None:
    """Count the records that only the first and only the second dataset holds, in any order; None if they cannot be hashed."""
    try:
        before, after = (Counter(_frozen(record) for record in data) for data in (first, second))
    except TypeError:
        return None
    return (before - after).total(), (after - before).total()


def extremes(data: Dataset) -> list[tuple[int, int]]:
    """Pairs (extreme record, record at the opposite extreme), those first that are extreme in most columns.

    The extremes of numbers and dates are the smallest and the largest of a column, those of others the rarest and the commonest.
    """
    found: Counter[tuple[int, int]] = Counter()
    ends = _array_ends(data) if isinstance(data, np.ndarray) and data.dtype.kind in "biuf" else map(_ends, _columns(data))
    for low, high in ends:
        if low != high:
            found.update([(high, low), (low, high)])
    return sorted(found, key=lambda pair: (-found[pair], pair))


def _array_ends(data: NDArray[Any]) -> list[tuple[int, int]]:
    """Positions of the smallest and the largest number of each column, NaN left out."""
    table = data.reshape(len(data), -1)[:, :_MOST_COLUMNS].astype(np.float64)
    unknown = np.isnan(table)
    lows, highs = np.where(unknown, np.inf, table).argmin(axis=0), np.where(unknown, -np.inf, table).argmax(axis=0)
    return list(zip(lows.tolist(), highs.tolist(), strict=True))


def _ends(column: list[Any]) -> tuple[int, int]:
    """Positions of the two extreme entries of a column."""
    known = [place for place, value in enumerate(column) if value is not None]
    if numeric := all(isinstance(column[place], (numbers.Real, Decimal)) for place in known):
        known = [place for place in known if not math.isnan(column[place])]
    elif len(kinds := {type(column[place]) for place in known}) == 1 and all(issubclass(kind, date) for kind in kinds):
        known = [place for place in known if column[place] == column[place]]  # a missing time is none
        numeric = len({getattr(column[place], "tzinfo", None) is None for place in known}) == 1
    if not known:
        return 0, 0
    sizes: list[Any] = [column[place] for place in known]
    if not numeric:
        frozen = list(map(_frozen, sizes))
        counts = Counter(map(_frozen, column) if len(known) < len(column) else frozen)
        sizes = [counts[value] for value in frozen]
    return known[sizes.index(min(sizes))], known[sizes.index(max(sizes))]


def _columns(data: Dataset) -> list[list[Any]]:
    """The fields of the records as columns, None where a record lacks the field."""
    if isinstance(data, np.ndarray):
        table = data.reshape(len(data), -1)[:, :_MOST_COLUMNS]
        return [list(column) for column in table.T.tolist()]
    if all(isinstance(record, Mapping) for record in data):
        keys = list(dict.fromkeys(key for record in data for key in record))[:_MOST_COLUMNS]
        return [[record.get(key) for record in data] for key in keys]
    if all(isinstance(record, (list, tuple, np.ndarray)) for record in data):
        rows = [record.reshape(-1).tolist() if isinstance(record, np.ndarray) else record for record in data]
        width = min(max(map(len, rows), default=0), _MOST_COLUMNS)
        return [[row[place] if place < len(row) else None for row in rows] for place in range(width)]
    return [list(data)]


def _frozen(record: Any) -> Hashable:
    """A hashable stand-in for a record, equal for equal records; raises TypeError where there is none."""
    if isinstance(record, np.ndarray):
        return _frozen(record.tolist())
    if isinstance(record, (list, tuple)):
        return tuple(_frozen(item) for item in record)
    if isinstance(record, Mapping):
        return tuple(sorted(((repr(key), _frozen(value)) for key, value in record.items()), key=lambda item: item[0]))
    if isinstance(record, float) and math.isnan(record):
        return "NaN"
    hash(record)
    return record  # type: ignore[no-any-return]
