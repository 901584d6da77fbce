"""Neighbours of a sequence of records: edits at the first, last and extreme records, most promising ones first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

from dpaudit.auditor.data.fields import LABEL, label_of, null_record, places_by_user, relabel_record, user_field, with_field
from dpaudit.auditor.data.records import Dataset, copy_of, extremes, is_dataset, replace_records, same, without
from dpaudit.auditor.pairs.relations import Edit, records_changed
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, class_name

_MOST_COMPARED: Final = 256
"""Earlier labels that a label is compared with, since labels that cannot be hashed are compared one by one."""


def record_edits(data: Any, adjacency: Adjacency) -> Iterator[Edit]:
    """Add, remove, replace, relabel or null single records, or replace several at once."""
    _check_records(data, adjacency)
    if adjacency.kind == "label":
        return _relabel_one(data)
    count = f"{len(data)} records"
    if adjacency.kind == "add_remove":
        places = dict.fromkeys([0, len(data) - 1, *(place for place, _ in extremes(data))])
        sizes = f"{len(data)} -> {len(data) - 1} records"
        return ((partial(without, data, {place}), f"record {place} removed, {sizes}") for place in places)
    if adjacency.kind == "zero_out":
        places = dict.fromkeys([*(place for place, _ in extremes(data)), 0, len(data) - 1])
        nulls = ((place, null_record(data[place])) for place in places)
        return (
            (partial(replace_records, data, {place: null}), f"record {place} set to null, {count}")
            for place, null in nulls
            if not same(data[place], null)
        )
    if adjacency.kind == "hamming":
        return _replace_several(data, records_changed(adjacency))
    return (
        (partial(_swap_records, data, {place: source}), f"record {place} replaced by record {source}, {count}")
        for place, source in _swaps(data)
    )


def label_edits(data: tuple[Any, Any], adjacency: Adjacency) -> Iterator[Edit]:  # noqa: ARG001 - called like the others
    """Relabel records where features and labels come apart, as (features, labels)."""
    return (
        (partial(lambda make: (data[0], make()), make), text.replace("record", "label")) for make, text in _relabel_one(data[1])
    )


def user_edits(data: Any, adjacency: Adjacency) -> Iterator[Edit]:
    """Edit all records of one user: of those with the most and the fewest records first."""
    _check_records(data, adjacency)
    places = places_by_user(data, adjacency.unit)
    if places is None:
        field = adjacency.unit.removeprefix("user:")
        raise InvalidArgument(
            "DPA105", f"under {adjacency} every record needs a field {field!r} (in rows: at that position) with its user's key."
        )
    users = sorted(places, key=lambda user: (-len(places[user]), places[user]))
    key = user_field(data[0], adjacency.unit)
    for user in dict.fromkeys([*users[:1], *users[-1:], *users]):
        rows = places[user]
        other = places[users[-1] if user != users[-1] else users[0]]
        text = f"{len(rows)} records of one user from {rows[0]} to {rows[-1]}"
        if adjacency.kind == "add_remove":
            yield partial(without, data, set(rows)), f"{text} removed, {len(data)} -> {len(data) - len(rows)} records"
            continue
        sources = [None if adjacency.kind == "zero_out" else other[number % len(other)] for number in range(len(rows))]
        changes = {
            place: rewrite_record(data, place, source, key, adjacency.kind) for place, source in zip(rows, sources, strict=True)
        }
        if any(not same(data[place], record) for place, record in changes.items()):
            yield partial(replace_records, data, changes), f"{text} changed, {len(data)} records"


def rewrite_record(data: Dataset, place: int, source: int | None, key: Any, kind: str) -> Any:
    """The record at one place as the one at another, but for its user's key or under `label` its features; null without one."""
    if source is None:
        return null_record(data[place], key)
    if kind == "label":
        return relabel_record(data[place], label_of(data[source]))
    return copy_of(data[source]) if key is None else with_field(data[source], key, data[place][key])


def _check_records(data: Any, adjacency: Adjacency) -> None:
    """Refuse data that are no sequence of records, or whose first record has no label where labels change."""
    if not is_dataset(data):
        raise InvalidArgument(
            "DPA105",
            f"data= must be a list, tuple, array or table of records, not {class_name(type(data))}. "
            "If the function takes something else, give pairs of inputs instead: neighbours=[(first, second)].",
        )
    if len(data) == 0:
        raise InvalidArgument("DPA109", "data= holds no record, so it has no neighbour to make. Give at least one record.")
    if adjacency.kind == "label" and isinstance(data[0], dict) and LABEL not in data[0]:
        raise InvalidArgument(
            "DPA105", f'the first record has no field "{LABEL}", where mappings have their label. Rename the field.'
        )


def _swaps(data: Dataset) -> Iterator[tuple[int, int]]:
    """Pairs (place, source) of records that differ: extreme ones first, then the first and the last; else the first that do."""
    known = [swap for swap in dict.fromkeys([*extremes(data), (0, len(data) - 1)]) if not same(data[swap[0]], data[swap[1]])]
    others = ((place, 0) for place in range(len(data)) if not known and not same(data[place], data[0]))
    return iter(known or islice(others, 1))


def _swap_records(data: Dataset, sources: dict[int, int]) -> Dataset:
    """Return the dataset with copies of other records of it at some places."""
    return replace_records(data, {place: data[source] for place, source in sources.items()})


def _replace_several(data: Dataset, most: int) -> Iterator[Edit]:
    """Replace up to `most` records by one that differs from them."""
    for source in dict.fromkeys(source for _, source in _swaps(data)):
        places = [place for place in range(len(data)) if not same(data[place], data[source])]
        for chosen in dict.fromkeys([tuple(places[:most]), tuple(places[-most:])]):
            text = f"{len(chosen)} records from {chosen[0]} to {chosen[-1]} replaced by record {source}, {len(data)} records"
            yield partial(_swap_records, data, dict.fromkeys(chosen, source)), text


def _relabel_one(data: Dataset) -> Iterator[Edit]:
    """Give a record the label of another: extreme records first."""
    labels = [label_of(record) for record in data]
    values = [label for place, label in enumerate(labels) if not any(same(label, old) for old in labels[:place][:_MOST_COMPARED])]
    places = dict.fromkeys([0, *(place for place, _ in extremes(data)), len(data) - 1])
    for place in places:
        for label in values:
            if not same(label, labels[place]):
                made = relabel_record(data[place], label)
                yield partial(replace_records, data, {place: made}), f"record {place} relabelled, {len(data)} records"
