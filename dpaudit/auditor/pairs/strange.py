"""Records unlike those of a dataset, and still such as it might hold: one of its own with some of its values replaced."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from dpaudit.auditor.data.domains import (
    HIGH,
    HUGE,
    LABELS,
    LOW,
    MINUS,
    NAMED,
    OTHER,
    OUTSIDE,
    ZERO,
    holds_codes,
    holds_shares,
    is_missing,
    values_beyond,
    values_outside,
)
from dpaudit.auditor.data.fields import fields_of, value_at, with_field
from dpaudit.auditor.data.named import NOTHING, Named

_MOST_FIELDS: Final = 8
_MOST_LOOKED: Final = 1000
_MOST_NAMED: Final = 12
_NUMBERS: Final = (ZERO, HIGH, LOW, HUGE, MINUS)


@dataclass(frozen=True, eq=False)
class Strange:
    """A record, by what it is unlike the data: one label, or those of alternating fields; `field` is None where all have it."""

    record: Any
    labels: frozenset[str]
    field: int | None = None

    @property
    def words(self) -> str:
        """What is unlike the data, in words that hold no value and no name."""
        found = " and ".join(label for label in LABELS if label in self.labels)
        return found if self.field is None else f"{found} in field {self.field}"


def strange_records(rows: Sequence[Any], named: Named = NOTHING) -> list[Strange]:
    """Records unlike the data: in all fields at once, in alternating ones, as the source names them, then in one field."""
    base, values = rows[len(rows) // 2], _values_by_field(rows)
    found = [*_in_all_fields(base, values), *_in_turns(base, values), *_named(rows, named)]
    for field, known in list(values.items())[:_MOST_FIELDS] if len(values) > 1 else []:
        place = list(values).index(field)
        found += [Strange(put_values(base, {field: value}), frozenset({label}), place) for label, value in known.items()]
    return found


def outside_records(rows: Sequence[Any]) -> Iterator[Strange]:
    """Records whose numbers are far outside the domains that the data suggest, in every field that has such a domain."""
    outside = {field: values_outside(column) for field, column in _columns(rows).items()}
    for label in (HIGH, LOW, MINUS, ZERO):
        changed = {field: known[label] for field, known in outside.items() if label in known}
        if changed:
            yield Strange(put_values(rows[len(rows) // 2], changed), frozenset({label, OUTSIDE}))


def fields_of_codes(rows: Sequence[Any]) -> list[int]:
    """Return the fields whose integers are taken for codes of categories, by position."""
    return [place for place, column in enumerate(_columns(rows).values()) if holds_codes(column)]


def fields_of_categories(rows: Sequence[Any]) -> list[int]:
    """Return the fields of texts that are taken for names of a few categories, by position."""
    return [place for place, column in enumerate(_columns(rows).values()) if OTHER in values_beyond(column)]


def fields_of_shares(rows: Sequence[Any]) -> list[int]:
    """Return the fields of floats of size at most 1, beyond which no number is tried, by position."""
    return [place for place, column in enumerate(_columns(rows).values()) if holds_shares(column)]


def are_in_ball(rows: Sequence[Any]) -> bool:
    """True if the numbers of each record are a vector in the unit ball, as those that someone normalised."""
    columns = _columns(rows).values()
    floats = [column for column in columns if all(isinstance(value, float) for value in column)]
    return len(floats) > 1 and all(math.hypot(*values) <= 1 + 1e-6 for values in zip(*floats, strict=True))


def _columns(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    """The values of each field of the first records."""
    looked = rows[:_MOST_LOOKED]
    return {
        field: [value_at(record, field) for record in looked]
        for field in dict.fromkeys(f for one in looked for f in fields_of(one))
    }


def put_values(record: Any, values: Mapping[Any, Any]) -> Any:
    """Return the record with other values in some fields; a field None is the record itself."""
    for field, value in values.items():
        record = value if field is None else with_field(record, field, value)
    return record


def _values_by_field(rows: Sequence[Any]) -> dict[Any, dict[str, Any]]:
    """Values beyond the data of each field that has some."""
    found = {field: values_beyond(column) for field, column in _columns(rows).items()}
    if are_in_ball(rows):
        found = {field: {label: made for label, made in known.items() if label not in _NUMBERS} for field, known in found.items()}
    return {field: known for field, known in found.items() if known}


def _in_all_fields(base: Any, values: Mapping[Any, Mapping[str, Any]]) -> Iterator[Strange]:
    """Records that are unlike the data in the same way in every field that can be."""
    for label in LABELS:
        changed = {field: known[label] for field, known in values.items() if label in known}
        if changed:
            yield Strange(put_values(base, changed), frozenset({label}))


def _in_turns(base: Any, values: Mapping[Any, Mapping[str, Any]]) -> Iterator[Strange]:
    """Records with numbers at opposite ends of neighbouring fields."""
    ends = {field: (known.get(LOW, known[ZERO]), known[HIGH]) for field, known in values.items() if {ZERO, HIGH} <= known.keys()}
    if len(ends) > 1:
        for first in (0, 1):
            turned = {field: pair[(number + first) % 2] for number, (field, pair) in enumerate(ends.items())}
            yield Strange(put_values(base, turned), frozenset({LOW, HIGH}))


def _named(rows: Sequence[Any], named: Named) -> list[Strange]:
    """Records with a value that the source names, in one field; in numbers that are codes or shares there are none."""
    base, found = rows[len(rows) // 2], list[Strange]()
    for place, (field, column) in enumerate(list(_columns(rows).items())[:_MOST_FIELDS]):
        held = [value for value in column if not is_missing(value)]
        if not held:
            continue
        values: Sequence[Any] = ()
        if all(isinstance(value, str) for value in held):
            values = [text for text in named.texts if text not in held]
        elif all(type(value) in {int, float} for value in held) and not (holds_codes(column) or holds_shares(column)):
            # Of integers, those below a number between two others.
            known = dict.fromkeys(int(one) if all(isinstance(value, int) for value in held) else float(one) for one in named.around)
            values = [one for one in known if one not in held][:_MOST_NAMED]
        found += [
            Strange(put_values(base, {field: value}), frozenset({NAMED}), place if field is not None else None) for value in values
        ]
    return found


def sort_key(record: Any) -> tuple[Any, ...]:
    """Order records by their fields; missing values come first."""
    values = [value_at(record, field) for field in fields_of(record)]
    known = [isinstance(value, (numbers.Real, Decimal, date, str)) and not is_missing(value) for value in values]
    return tuple((is_known, value if is_known else 0) for is_known, value in zip(known, values, strict=True))
