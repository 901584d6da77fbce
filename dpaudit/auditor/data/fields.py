"""Fields of one record, in mappings and in rows: its label, its user's key, other values and null ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.records import Dataset

LABEL: Final = "label"
"""The field that holds the label of a record that is a mapping."""


def label_of(record: Any) -> Any:
    """The label of a record: the field "label" of a mapping, the last entry of a row, else the record itself."""
    if isinstance(record, Mapping):
        return record.get(LABEL, record)
    return record[-1] if _is_row(record) else record


def relabel_record(record: Any, label: Any) -> Any:
    """Return the record with another label."""
    if isinstance(record, Mapping):
        return {**record, LABEL: label} if LABEL in record else label
    if isinstance(record, np.ndarray) and _is_row(record):
        return np.concatenate([record[:-1], np.asarray(label)[None]])
    return type(record)((*record[:-1], label)) if _is_row(record) else label


def null_record(record: Any, kept: Any = None) -> Any:
    """The null record: zeros, empty texts, False and None in the place of values; the field `kept` stays."""
    if isinstance(record, np.ndarray):
        null = np.zeros_like(record)
        if kept is not None:
            null[kept] = record[kept]
        return null
    if isinstance(record, Mapping):
        return {key: value if key == kept else null_record(value) for key, value in record.items()}
    if isinstance(record, (list, tuple)):
        return type(record)([value if place == kept else null_record(value) for place, value in enumerate(record)])
    return type(record)() if isinstance(record, (bool, int, float, complex, str, bytes, np.generic)) else None


def with_field(record: Any, field: Any, value: Any) -> Any:
    """Return the record with another value of a field, which is its key in a mapping and its position in a row."""
    if isinstance(record, np.ndarray):
        changed = record.copy()
        changed[field] = value
        return changed
    if isinstance(record, Mapping):
        return {**record, field: value}
    return type(record)([value if place == field else old for place, old in enumerate(record)])


def fields_of(record: Any) -> list[Any]:
    """The names or positions of a record's fields; None alone where it is one value."""
    if isinstance(record, Mapping):
        return list(record)
    rows = isinstance(record, (list, tuple)) or (isinstance(record, np.ndarray) and record.ndim == 1)
    return list(range(len(record))) if rows else [None]


def value_at(record: Any, field: Any) -> Any:
    """A field of a record, None where it has none."""
    if field is None:
        return record
    return record.get(field) if isinstance(record, Mapping) else record[field] if field in fields_of(record) else None


def user_field(record: Any, unit: str) -> Any:
    """Field with the user's key of a record under a unit "user:KEY": KEY in a mapping, that position in a row."""
    key = unit.removeprefix("user:")
    return key if isinstance(record, Mapping) else int(key)


def places_by_user(data: Dataset, unit: str) -> dict[Any, list[int]] | None:
    """Group the places of records by user under a unit "user:KEY"; None where a record has no key."""
    places: dict[Any, list[int]] = {}
    try:
        for place, record in enumerate(data):
            user = record[user_field(record, unit)]
            places.setdefault(user.item() if isinstance(user, np.generic) else user, []).append(place)
    except (TypeError, LookupError, ValueError):
        return None
    return places


def _is_row(record: Any) -> bool:
    """True if a record is a row of at least one field."""
    return (isinstance(record, (list, tuple)) or (isinstance(record, np.ndarray) and record.ndim > 0)) and len(record) > 0
