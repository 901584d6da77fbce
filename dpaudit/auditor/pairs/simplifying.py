"""Smaller and simpler pairs: without records that they can spare, numbers nearer to 0, other values shorter ones of the data."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np

from dpaudit.auditor.data.distance import numbers_in
from dpaudit.auditor.data.fields import fields_of, user_field, value_at, with_field
from dpaudit.auditor.data.records import Dataset, is_dataset, is_labelled, replace_records, same, take_records
from dpaudit.auditor.pairs.relations import Pair, Pieces
from dpaudit.auditor.pairs.vectors import entries_of, is_finite, move_vector
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument

Wanted: TypeAlias = Callable[[Pair], bool]

_Simple: TypeAlias = tuple[Fraction, list[Any]]
"""Simple values of a field: the number nearest to 0 in its range, and its truth values and texts, the plainest first."""

_MOST_SHORTER: Final = 3
_MOST_CELLS: Final = 512
"""The values of a larger pair stay as they are, since one by one would take too long; a vector may still go to 0 at once."""

_PLAIN: Final = (bool, np.bool_, str, bytes)


@dataclass(frozen=True)
class _Cell:
    """One value: a field of a record (None: the record itself), at its place in each side that shares it."""

    places: tuple[tuple[int, int], ...]
    field: Any

    def of(self, pair: Pair) -> Any:
        """The value in a pair."""
        side, place = self.places[0]
        return value_at(pair[side][place], self.field)

    def put(self, pair: Pair, value: Any) -> Pair:
        """Return the pair with another value there."""
        sides = list(pair)
        for side, place in self.places:
            changed = value if self.field is None else with_field(sides[side][place], self.field, value)
            sides[side] = replace_records(sides[side], {place: changed})
        return sides[0], sides[1]


def record_pieces(first: Any, second: Any) -> Pieces:
    """The records of either dataset, where both have one only once; nothing of other inputs can be left out."""
    if is_labelled(first) and is_labelled(second) and len(first[1]) == len(second[1]):
        return label_pieces(first, second)
    if not (is_dataset(first) and is_dataset(second)):
        return 0, lambda _: (first, second), ()
    slots = align_records(first, second)

    def keeping(kept: Collection[int]) -> Pair:
        chosen = [slots[place] for place in kept]
        return (
            take_records(first, [one for one, _ in chosen if one is not None]),
            take_records(second, [other for _, other in chosen if other is not None]),
        )

    changed = [
        place for place, (one, other) in enumerate(slots) if one is None or other is None or not same(first[one], second[other])
    ]
    return len(slots), keeping, changed


def label_pieces(first: Any, second: Any) -> Pieces:
    """The records of inputs (features, labels)."""
    changed = [place for place in range(len(first[1])) if not same(first[1][place], second[1][place])]

    def keeping(kept: Collection[int]) -> Pair:
        before, after = (tuple(take_records(part, kept) for part in side) for side in (first, second))
        return before, after

    return len(first[1]), keeping, changed


def align_records(first: Dataset, second: Dataset) -> list[tuple[int | None, int | None]]:
    """Places that belong together: one to one, or None where a record of the longer dataset is not in the other."""
    if len(first) == len(second):
        return [(place, place) for place in range(len(first))]
    if len(first) < len(second):
        return [(one, other) for other, one in align_records(second, first)]
    slots: list[tuple[int | None, int | None]] = []
    place = 0
    for number in range(len(first)):
        found = place < len(second) and same(first[number], second[place])
        slots.append((number, place if found else None))
        place += found
    return slots


def keep_pair(pair: Pair, adjacency: Adjacency, data: Any, wanted: Wanted) -> Pair:  # noqa: ARG001 - called like the others
    """Leave a pair whose values are not simplified as it is."""
    return pair


def simplify_records(pair: Pair, adjacency: Adjacency, data: Any, wanted: Wanted) -> Pair:
    """Make the values of a pair of datasets as simple as is still wanted; what both sides share stays shared.

    Numbers move towards 0 within the range that their field has in the data, and other values become shorter ones of their field,
    so that nothing is made up which the function was never meant for.

    Source: MacIver and Donaldson 2020 (test-case reduction).
    """
    if not all(map(is_dataset, (*pair, data))):
        return pair
    cells = list(islice(_cells(pair, adjacency), _MOST_CELLS + 1))
    if len(cells) > _MOST_CELLS:
        return pair
    known = {field: _simple_values([value_at(record, field) for record in data]) for field in {cell.field for cell in cells}}
    plain = pair
    for cell in cells:
        if len(cell.places) == 2:
            plain = cell.put(plain, next(_plainer_values(cell.of(plain), known[cell.field]), cell.of(plain)))
    # All at once first: it often works, and costs one question.
    if not same(plain, pair) and wanted(plain):
        pair = plain
    for cell in cells:
        pair = _simplify_cell(pair, cell, known[cell.field], wanted)
    return pair


def simplify_vectors(pair: Pair, adjacency: Adjacency, data: Any, wanted: Wanted) -> Pair:  # noqa: ARG001 - called like the others
    """Move two vectors towards 0 together as far as is still wanted: all entries at once, else one after the other."""
    try:
        first, second = (numbers_in(entries_of(side)) for side in pair)
    except InvalidArgument:
        return pair
    start, steps = pair[0], [after - before for before, after in zip(first, second, strict=True)]

    def based(values: Sequence[Fraction]) -> Pair:
        base = move_vector(start, [value - old for value, old in zip(values, first, strict=True)])
        return base, move_vector(base, steps)

    if any(first) and wanted(origin := based([Fraction(0)] * len(first))):
        return origin
    for place, value in enumerate(first if len(first) <= _MOST_CELLS else ()):

        def put(one: Pair, number: Fraction, place: int = place) -> Pair:
            values = numbers_in(entries_of(one[0]))
            return based([*values[:place], number, *values[place + 1 :]])

        zeroed = put(pair, Fraction(0))
        pair = zeroed if value and wanted(zeroed) else _lower_number(pair, value, Fraction(0), put, wanted)
    return pair


def _simplify_cell(pair: Pair, cell: _Cell, known: _Simple, wanted: Wanted) -> Pair:
    """Put the simplest value that is found into a cell of the pair."""
    for value in _plainer_values(cell.of(pair), known):
        if wanted(found := cell.put(pair, value)):
            return found
    value = cell.of(pair)
    if not (_is_number(value) and is_finite(value)):
        return pair
    return _lower_number(pair, _exact(value), known[0], lambda one, number: cell.put(one, _in_type_of(number, value)), wanted)


def _lower_number(pair: Pair, value: Fraction, refused: Fraction, put: Callable[[Pair, Fraction], Pair], wanted: Wanted) -> Pair:
    """Bring a number as close to a refused one as is found: round it to an integer, then go halfway again and again."""
    whole = Fraction(math.trunc(value))
    if abs(value) <= abs(refused) or abs(whole) <= abs(refused):
        return pair
    if whole != value:
        if not wanted(found := put(pair, whole)):
            return pair
        pair, value = found, whole
    while abs(value - refused) > 1:
        middle = Fraction(math.trunc((value + refused) / 2))
        if middle in (value, refused):
            return pair
        if wanted(found := put(pair, middle)):
            pair, value = found, middle
        else:
            refused = middle
    return pair


def _cells(pair: Pair, adjacency: Adjacency) -> Iterator[_Cell]:
    """Every value of a pair, once where both sides share it."""
    for slot in align_records(*pair):
        records = [(side, place, pair[side][place]) for side, place in enumerate(slot) if place is not None]
        fields = [fields_of(record) for _, _, record in records]
        owner = None if adjacency.unit == "record" else user_field(records[0][2], adjacency.unit)
        for field in dict.fromkeys(name for names in fields for name in names):
            if field is not None and field == owner:
                continue
            held = [(side, place) for (side, place, _), names in zip(records, fields, strict=True) if field in names]
            shared = len(held) == 2 and same(*(value_at(pair[side][place], field) for side, place in held))
            yield from [_Cell(tuple(held), field)] if shared else [_Cell((place,), field) for place in held]


def _simple_values(column: Sequence[Any]) -> _Simple:
    """Find the simple values of a field."""
    held = [value for value in column if _is_number(value) and is_finite(value)]
    goal = min(max(Fraction(0), _exact(min(held))), _exact(max(held))) if held else Fraction(0)
    others = {(type(value).__name__, value): value for value in column if isinstance(value, _PLAIN)}
    return goal, sorted(others.values(), key=_plainness)


def _plainer_values(value: Any, known: _Simple) -> Iterator[Any]:
    """The values that are tried in the place of one, the simplest first: the least number of its field, or shorter texts."""
    goal, others = known
    if isinstance(value, _PLAIN):
        shorter = (other for other in others if type(other) is type(value) and _plainness(other) < _plainness(value))
        yield from islice(shorter, _MOST_SHORTER)
    elif _is_number(value) and not (is_finite(value) and abs(_exact(value)) <= abs(goal)):
        yield _in_type_of(goal, value)


def _in_type_of(number: Fraction, value: Any) -> Any:
    """A number in the type of a value."""
    kind: Any = type(value)
    return kind(int(number) if isinstance(value, numbers.Integral) else float(number))


def _is_number(value: Any) -> bool:
    """True if a value is a real number and no truth value."""
    return isinstance(value, numbers.Real) and not isinstance(value, _PLAIN)


def _exact(value: Any) -> Fraction:
    """A finite number exactly."""
    return numbers_in(value)[0]


def _plainness(value: Any) -> tuple[int, str]:
    """Order truth values and texts from simple to complex: False before True, short before long."""
    return (int(value), "") if isinstance(value, (bool, np.bool_)) else (len(value), repr(value))
