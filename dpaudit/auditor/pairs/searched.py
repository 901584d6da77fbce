"""Neighbouring datasets that do not stand in the data, among which an audit searches: of any size, order and tie, and beyond them.

A draft is two lists of records. Drafts of all families come in turn, so that the first of them are of every kind, and then ways:
datasets of which each is a neighbour of the next, for the search of the step at which an output changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, cycle, islice, pairwise, permutations, product, zip_longest
from typing import Any, Final, TypeAlias

from dpaudit.auditor.data.domains import HIGH, HUGE, LOW, MISSING, NAMED, ZERO, is_missing
from dpaudit.auditor.data.fields import fields_of, null_record, places_by_user, user_field, value_at, with_field
from dpaudit.auditor.data.named import NOTHING, Named
from dpaudit.auditor.data.records import extremes, same
from dpaudit.auditor.pairs.strange import Strange, outside_records, sort_key, strange_records
from dpaudit.auditor.pairs.walks import WALK, user_walk, walks
from dpaudit.claims import Adjacency

MOST_RECORDS: Final = 1000
"""Where records come and go, searched datasets have at most so many; of larger ones only a record is replaced elsewhere."""

_LONGEST_WAY: Final = 128
_SIZES: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 20, 21, 25, 26, 30, 31, 32, 33, 50, 51, 64, 65, 100, 101)
_MOST_TIED: Final = 64
_MOST_SINGLE: Final = 64
"""Of so many records each is removed or replaced once: what a release makes of gaps between them may show at one alone."""

_PERIODS: Final = (2, 1, 3, 4)
_TURNS: Final = 5
"""Of records in turns, one among so many others, so many turns: what goes by place shows where the first of them is removed."""

_REAL: Final = frozenset[str]()


@dataclass(frozen=True)
class Draft:
    """Two lists of records, their family, what is unlike the data about them, and the way that they are a step of."""

    first: list[Any] = field(repr=False)
    second: list[Any] = field(repr=False)
    family: str
    words: str = ""
    labels: frozenset[str] = _REAL
    way: int | None = None


@dataclass(frozen=True)
class Scope:
    """What a search may try: values `beyond` those of the data, those that a source names, and so many random walks."""

    beyond: bool = True
    named: Named = NOTHING
    walks: int = 0


def search_nothing(rows: list[Any], adjacency: Adjacency, scope: Scope) -> Iterator[Draft]:  # noqa: ARG001 - like the other
    """Make no draft."""
    return iter(())


def search_records(rows: list[Any], adjacency: Adjacency, scope: Scope) -> Iterator[Draft]:
    """Make drafts from a list of records."""
    if not rows or adjacency.kind == "label":
        return
    if adjacency.kind == "add_remove":
        rows = rows[:MOST_RECORDS]
    strange, outside = (strange_records(rows, scope.named), [*outside_records(rows)]) if scope.beyond else ([], [])
    added = adjacency.kind == "add_remove"
    families = [*(_added if added else partial(_replaced, adjacency=adjacency))(rows, strange, outside)]
    yield from _in_turn([*families, _sized(rows, scope.named.sizes)] if added else families)
    ways = _ways_of_size(rows, strange) if adjacency.kind == "add_remove" else _ways_of_values(rows, strange, adjacency)
    for number, way in enumerate(ways):
        labels, datasets = way
        for one, other in pairwise(datasets):
            yield Draft(one, other, "a step towards fewer or equal records", labels=labels, way=number)
    if len(rows) > MOST_RECORDS or adjacency.kind not in {"add_remove", "replace_one"}:
        return
    for number, walk in enumerate(walks(rows, _special(rows, strange), scope.walks, replaces=not added, beyond=scope.beyond)):
        for one, other in pairwise(walk):
            yield replace(_draft(one, other, WALK), way=-1 - number)


def search_users(rows: list[Any], adjacency: Adjacency, scope: Scope) -> Iterator[Draft]:
    """Make drafts whose second dataset lacks a user, who has more records than others, tied ones, or one of made-up values."""
    users = places_by_user(rows[:MOST_RECORDS], adjacency.unit)
    if adjacency.kind != "add_remove" or not users:
        return
    field, own = user_field(rows[0], adjacency.unit), min(users.values(), key=lambda places: (len(places), places))
    others = [record for place, record in enumerate(rows[:MOST_RECORDS]) if place not in own]

    def owned(given: Iterable[Strange]) -> list[Strange]:
        return [Strange(with_field(one.record, field, rows[own[0]][field]), one.labels, one.field) for one in given]

    made = [*outside_records(rows), *strange_records(rows, scope.named)] if scope.beyond else []
    strange, ends = owned(made), owned([*_corners(rows), *_chosen(rows, made)[:4]])
    many = [owned(Strange(record, _REAL) for record in rows[:count]) for count in (_MOST_TIED, 4, 16)]
    for base, words in ((others, "a user beside the others"), ([], "a user alone")):
        yield from _in_turn(
            [
                (_draft([*base, *found], base, f"{words}, with many records") for found in many),
                (_draft([*base, one], base, f"{words}, with one record") for one in (*strange, *ends)),
                (_draft([*base, *[one] * _MOST_TIED], base, f"{words}, with tied records") for one in ends),
            ]
        )
    known = [[rows[place] for place in places] for places in users.values()]
    for number in range(scope.walks):
        for one, other in pairwise(user_walk(known, rows, field, number)):
            yield Draft(one, other, WALK, way=-1 - number)


def _in_turn(families: Iterable[Iterator[Draft]]) -> Iterator[Draft]:
    """Take one draft of each family in turn."""
    left = list(families)
    while left:
        still = []
        for family in left:
            if (draft := next(family, None)) is not None:
                yield draft
                still.append(family)
        left = still


def _corners(rows: Sequence[Any]) -> list[Strange]:
    """Records of the data at opposite extremes."""
    rows = list(rows[:MOST_RECORDS])
    places = dict.fromkeys(place for pair in extremes(rows) for place in pair)
    found: list[Strange] = []
    for place in [*places, 0, len(rows) - 1]:
        if not any(same(rows[place], one.record) for one in found):
            found.append(Strange(rows[place], _REAL))
    return found[:4]


def _lacking(rows: Sequence[Any]) -> list[Strange]:
    """A record of the data in which a value is missing, where there is one: there may then be any number of them."""
    lacking = (row for row in rows[:MOST_RECORDS] if any(is_missing(value_at(row, field)) for field in fields_of(row)))
    return [Strange(record, _REAL) for record in islice(lacking, 1)]


def _by_kind(strange: Sequence[Strange]) -> list[list[Strange]]:
    """Records by what is unlike the data about them, so that few pairs suffice for each kind; those of single fields come last."""
    kinds: dict[frozenset[str], list[Strange]] = {}
    for one in strange:
        kinds.setdefault(one.labels, []).append(one)
    return list(kinds.values())


def _numeric(strange: Sequence[Strange], *labels: str) -> list[Strange]:
    """The records that have one of some labels in all fields."""
    return [one for label in labels for one in strange if one.field is None and one.labels == {label}]


def _special(rows: Sequence[Any], strange: Sequence[Strange]) -> list[Strange]:
    """Records that a walk meets beside those of the data and mixtures of them."""
    return [*_corners(rows), *_numeric(strange, ZERO, HIGH, MISSING), *(one for one in strange if NAMED in one.labels)]


def _sized(rows: list[Any], sizes: Iterable[int]) -> Iterator[Draft]:
    """As many records as a number that the source names, and one more or less."""
    for size in sizes:
        found = [*islice(cycle(rows), size + 1)]
        yield _draft(found[:size], found[: size - 1], "as many records as a number in the source")
        yield _draft(found, found[:size], "as many records as a number in the source")


def _chosen(rows: Sequence[Any], strange: Sequence[Strange]) -> list[Strange]:
    """Records for datasets of few or tied ones: zeros, extreme and missing ones, far ones, and those of alternating ends."""
    turned = [one for one in strange if len(one.labels) > 1]
    return [
        *_numeric(strange, ZERO, HIGH),
        *_corners(rows)[:2],
        *(_lacking(rows) or _numeric(strange, MISSING)),
        *_numeric(strange, LOW, HUGE),
        *turned,
    ]


def _draft(first: Sequence[Strange | Any], second: Sequence[Strange | Any], family: str) -> Draft:
    """A draft of records, some of them strange, whose words it takes."""
    strange = [one for one in (*first, *second) if isinstance(one, Strange)]
    labels = frozenset(label for one in strange for label in one.labels)
    words = ", ".join(dict.fromkeys(one.words for one in strange if one.labels))
    before, after = ([one.record if isinstance(one, Strange) else one for one in side] for side in (first, second))
    return Draft(before, after, family, words, labels)


def _arranged(rows: list[Any]) -> list[list[Any]]:
    """The records in increasing and in decreasing order."""
    try:
        ordered = sorted(rows, key=sort_key)
    except (TypeError, ValueError):
        return []
    return [ordered, ordered[::-1]]


def _at_ends_of_a_field(strange: Sequence[Strange]) -> Iterator[tuple[Strange, Strange]]:
    """Records with numbers at opposite ends of one field and equal ones in others, such as the key of what they are about."""
    low = {one.field: one for label in (ZERO, LOW) for one in strange if one.labels == {label}}
    high = {one.field: one for one in strange if one.labels == {HIGH}}
    both = [(low[field], high[field]) for field in high if field is not None and field in low]
    return iter([*both, *(pair[::-1] for pair in both)])


def _added(rows: list[Any], strange: list[Strange], outside: list[Strange]) -> Iterator[Iterator[Draft]]:
    """Families of drafts of which the second lacks one record of the first."""
    chosen, size = _chosen(rows, strange), len(rows)
    few, tied = chosen[:6], [*chosen[:1], *_corners(rows)[:2], *chosen[1:2], *_lacking(rows)]
    most = min(size, _MOST_TIED)
    alone = [*chosen, *(one for one in strange if one not in chosen and one.field is None), *_corners(rows)[2:]]
    for kind in _by_kind(strange):
        yield (_draft([*rows, one], rows, "one record more than the data") for one in kind)
    yield (_draft([*base, one], base, "a record outside") for base in (rows, [], *([one] for one in outside)) for one in outside)
    yield (_draft([one], [], "a record alone") for one in alone)
    yield (_draft([one, other], [one], "two records") for one, other in product(few, chosen))
    yield (_draft([one] * most + [other], [one] * most, "tied records") for one, other in product(tied, few) if one is not other)
    # At so many of one end among those of the other an end that is a quantile of the data, or a majority, moves all at once.
    groups = product((3, 2, most), permutations(_corners(rows)[:2], 2))
    yield (
        _draft([one] * most + [other] * count, [one] * most + [other] * (count - 1), "two groups of tied records")
        for count, (one, other) in groups
    )
    yield (_draft([one, one, other], [one, one], "three records") for one, other in product(few, few) if one is not other)
    yield (
        _draft([one, other, one], [one, one], "a record between equal ones") for one, other in product(few, few) if one is not other
    )
    ends = [*_corners(rows)[:2], *chosen[:1]]
    turned = ([one, *[other] * period] * _TURNS for one, other in permutations(ends, 2) for period in _PERIODS)
    yield (_draft(found, rest, "records in turns") for found in turned for rest in (found[1:], found[:-1]))
    yield (_draft([one, other], [one], "two records that differ in one field") for one, other in _at_ends_of_a_field(strange))
    yield (_draft(rows[:count], rows[: count - 1], "the first records") for count in _SIZES if count < size)
    yield (_draft([*rows, copied], rows, "a record twice") for copied in (rows[0], rows[-1]))
    yield (_draft([*one, one[end]], one, "records in order") for one in _arranged(rows) for end in (0, -1, size // 2))
    yield (_draft([*rows, *rows], [*rows, *rows[1:]], "each record twice") for _ in range(2 * size <= MOST_RECORDS))
    yield (_draft([one, *rows], rows, "one record before the data") for one in few)
    yield (
        _draft(rows, [*rows[:at], *rows[at + 1 :]], "a record of the data removed") for at in range(size) if size <= _MOST_SINGLE
    )


def _replaced(rows: list[Any], strange: list[Strange], outside: list[Strange], adjacency: Adjacency) -> Iterator[Iterator[Draft]]:
    """Families of drafts of one size that differ in one record, which is null in the second where records are nulled."""
    chosen, corners, place, size = _chosen(rows, strange), _corners(rows), len(rows) // 2, len(rows)
    null = Strange(null_record(rows[place]), _REAL) if adjacency.kind == "zero_out" else None
    tied = [*chosen[:1], *corners[:2], *chosen[1:2], *_lacking(rows)]

    def put(base: Sequence[Any], record: Any, at: int) -> list[Any]:
        return [*base[:at], record, *base[at + 1 :]]

    def swaps(base: list[Any], ones: Iterable[Strange], others: Iterable[Strange], at: int, family: str) -> Iterator[Draft]:
        for one in ones:
            for other in others if null is None else [null]:
                if one is not other:
                    yield _draft(put(base, one, at), put(base, other, at), family)

    ends = _numeric(strange, LOW, ZERO, HIGH, HUGE)
    for kind in _by_kind(strange):
        yield swaps(rows, kind, [Strange(rows[place], _REAL)], place, "one record of the data replaced")
    yield swaps(rows, outside, [Strange(rows[place], _REAL), *outside], place, "a record outside replaced")
    yield swaps(rows, ends, ends, place, "a record at one end replaced by one at the other")
    if size > MOST_RECORDS:
        return  # tied records are copies, and a pair of so many is slow to make and to run
    for one in tied:
        yield swaps([one] * size, [one], chosen[:6], size - 1, "tied records")
    halves = [[one] * place + [other] * (size - place) for one, other in product(tied[:3], tied[:3]) if one is not other]
    yield (_draft(half, put(half, half[0], place), "two halves of tied records") for half in halves if null is None and place)
    for ordered in _arranged(rows):
        yield swaps(ordered, [Strange(ordered[place], _REAL)], [*corners, *ends], place, "records in order")
    yield swaps(
        rows, [Strange(rows[0], _REAL)], [Strange(rows[at], _REAL) for at in {1 % size, place, size - 1}], 0, "a record twice"
    )
    yield chain.from_iterable(
        swaps(rows, [Strange(rows[at], _REAL)], [*corners[:2], *ends[:2]], at, "a record of the data replaced")
        for at in range(size * (size <= _MOST_SINGLE))
    )
    # A size that is public may be any: one record more changes odd to even, and hardly what a mean may depend on one record.
    yield swaps([*rows, rows[0]], [Strange(rows[0], _REAL), *ends[:2]], [*corners, *ends], size, "one record more than the data")


# Datasets from one record or another to the next, and what is unlike the data about the records that they come to hold.
_Way: TypeAlias = tuple[frozenset[str], list[list[Any]]]


def _ways_of_size(rows: list[Any], strange: list[Strange]) -> Iterator[_Way]:
    """From the data to no record, in several orders, and to as many records again that are all tied, of few data to more.

    Ways of both kinds come in turn, with the largest values first: where there are few runs, sums are followed far up and down.
    """
    base = rows[:_LONGEST_WAY]
    more = max(len(base), _LONGEST_WAY // 2)
    shorter = [(_REAL, [ordered[:count] for count in range(len(ordered), -1, -1)]) for ordered in (base, *_arranged(base))]
    longer = [
        (one.labels, [[*base, *[one.record] * count] for count in range(more + 1)])
        for one in (*_numeric(strange, HIGH), *_corners(base), *_lacking(rows), *_numeric(strange, ZERO))
    ]
    for ways in zip_longest(shorter, longer):
        yield from (way for way in ways if way is not None)


def _ways_of_values(rows: list[Any], strange: list[Strange], adjacency: Adjacency) -> Iterator[_Way]:
    """From the data to tied records, one record after the other."""
    if len(rows) > _LONGEST_WAY:
        return
    ends = (
        [Strange(null_record(rows[0]), _REAL)]
        if adjacency.kind == "zero_out"
        else [*_corners(rows), *_numeric(strange, ZERO, HIGH)]
    )
    for one in (*ends, *_lacking(rows)):
        way = [[*[one.record] * count, *rows[count:]] for count in range(len(rows) + 1)]
        yield one.labels, [way[0], *(after for before, after in pairwise(way) if not same(before, after))]
