"""Random walks among datasets: each is a neighbour of the next, so that one run a dataset shows what every step changes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.domains import MIXED, holds_codes, is_missing
from dpaudit.auditor.data.fields import fields_of, value_at, with_field
from dpaudit.auditor.data.records import same
from dpaudit.auditor.pairs.strange import Strange, put_values

WALK: Final = "a step of a random walk"
"""The family of the steps: a walk is not followed towards one end, since it leads nowhere."""

_STEPS: Final = 40
_FEW: Final = 3
_MOST_RECORDS: Final = 100
_ROOM: Final = 8
"""A walk may grow to twice its start and so many records more."""

_COPIED: Final = 0.25
_MIXED: Final = 0.5
_DIGITS: Final = 2
_FIRST_SEED: Final = 7
_FEWEST: Final = 4
_MOST: Final = 48
_PAIRS_A_WALK: Final = 10

Records = list[Any]


def count_walks(pairs: int) -> int:
    """How many walks a search over so many pairs is worth."""
    return min(max(_FEWEST, pairs // _PAIRS_A_WALK), _MOST)


def walks(rows: Sequence[Any], special: Sequence[Strange], count: int, *, replaces: bool, beyond: bool) -> Iterator[list[Records]]:
    """Walk from the data, from a few records and from none; records may be `Strange`. The walks are the same in every process.

    Where no value is to be made up beyond the data, their own records come and go alone.
    """
    start = list(rows[:_MOST_RECORDS])
    starts = [start] if replaces else [start, [], start[:_FEW], start]
    for number, first in enumerate(islice(cycle(starts), count)):
        chance = random.Random(_FIRST_SEED + number)  # noqa: S311 - it orders a search, and draws no noise
        made = [*special, *(mix_records(rows, chance) for _ in range(len(special) + _FEW))] if beyond and number % _FEWEST else []
        yield _walk(first, partial(_replacement if replaces else _arrival, rows=rows, pool=made, chance=chance))


def mix_records(rows: Sequence[Any], chance: random.Random) -> Strange:
    """A record of values that several records hold, or of numbers between them."""
    base = chance.choice(rows)
    values = {}
    for field in fields_of(base):
        one, other = (value_at(chance.choice(rows), field) for _ in range(2))
        values[field] = _between(one, other, rows, field, chance) if chance.random() < _MIXED else one
    return Strange(put_values(base, values), frozenset({MIXED}))


def _between(one: Any, other: Any, rows: Sequence[Any], field: Any, chance: random.Random) -> Any:
    """A number between two of a field; of integers that are codes, and of all else, the first one."""
    if any(is_missing(value) or isinstance(value, (bool, np.bool_)) for value in (one, other)):
        return one
    if all(isinstance(value, (float, np.floating)) for value in (one, other)):
        return type(one)(round(one + (other - one) * chance.random(), _DIGITS))
    whole = all(isinstance(value, (int, np.integer)) for value in (one, other))
    if whole and not holds_codes([value_at(row, field) for row in rows[:_MOST_RECORDS]]):
        return type(one)(chance.randint(*sorted((int(one), int(other)))))
    return one


def user_walk(users: Sequence[Records], rows: Sequence[Any], field: Any, number: int) -> list[Records]:
    """Walk by users who come and go, each with other numbers of records; one is always there."""
    chance = random.Random(_FIRST_SEED + number)  # noqa: S311 - it orders a search, and draws no noise
    keys = [value_at(records[0], field) for records in users]
    present = dict(enumerate(users))
    walk = [[record for records in present.values() for record in records]]
    for _ in range(_STEPS):
        absent = [place for place in range(len(users)) if place not in present]
        if absent and (len(present) == 1 or chance.random() < _MIXED):
            place, size = chance.choice(absent), chance.choice((1, 1, 2, 3, 8))
            present[place] = [with_field(chance.choice(rows), field, keys[place]) for _ in range(size)]
        elif len(present) > 1:
            del present[chance.choice(list(present))]
        walk.append([record for records in present.values() for record in records])
    return walk


def _walk(start: Records, step: Callable[[Records], Records]) -> list[Records]:
    """A start and the datasets that steps lead to."""
    found = [list(start)]
    for _ in range(_STEPS):
        # A record that was replaced by an equal one is no step.
        if (after := step(found[-1])) is not found[-1]:
            found.append(after)
    return found


def _record(base: Records, rows: Sequence[Any], pool: Sequence[Strange], chance: random.Random) -> Any:
    """A record of the dataset itself, of the data, or of those that were made up."""
    if base and chance.random() < _COPIED:
        return chance.choice(base)
    return chance.choice(pool) if pool and chance.random() < _MIXED else chance.choice(rows)


def _arrival(base: Records, rows: Sequence[Any], pool: Sequence[Strange], chance: random.Random) -> Records:
    """The dataset with a record more or less, at any place."""
    full = len(base) >= 2 * min(len(rows), _MOST_RECORDS) + _ROOM
    if base and (full or chance.random() < _MIXED):
        place = chance.randrange(len(base))
        return [*base[:place], *base[place + 1 :]]
    place = chance.randint(0, len(base))
    return [*base[:place], _record(base, rows, pool, chance), *base[place:]]


def _replacement(base: Records, rows: Sequence[Any], pool: Sequence[Strange], chance: random.Random) -> Records:
    """The dataset with another record at a place."""
    place = chance.randrange(len(base))
    found = _record(base, rows, pool, chance)
    if same(*(one.record if isinstance(one, Strange) else one for one in (found, base[place]))):
        return base
    return [*base[:place], found, *base[place + 1 :]]
