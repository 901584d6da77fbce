"""Neighbours made from one dataset: for each adjacency the edits at first, last and extreme records, most telling ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from dpaudit.auditor.data.distance import change
from dpaudit.auditor.data.records import (
    LABEL,
    Dataset,
    copy_of,
    extremes,
    fingerprint,
    is_dataset,
    is_labelled,
    key_of,
    label_of,
    null_record,
    of_user,
    places_by_user,
    relabel_record,
    replace_records,
    same,
    without,
)
from dpaudit.auditor.pairs.graphs import graph_edits
from dpaudit.auditor.pairs.relations import Edit
from dpaudit.auditor.pairs.vectors import vector_edits
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported, class_name
from dpaudit.exact import rational
from dpaudit.targets import Sensitivity

MOST_MADE: Final = 8
"""At most this many pairs are made from one dataset of records."""

MOST_MOVED: Final = 16
"""At most this many pairs are made from one vector, which may move in many directions."""

_MOST_RANKED: Final = 256
_MOST_NUMBERS: Final = 10_000_000


def edits_of(data: Any, adjacency: Adjacency, sensitivity: Sensitivity | None = None) -> list[Edit]:
    """Neighbours of one dataset."""
    if adjacency.kind == "norm_ball":
        edits: Iterator[Edit] = vector_edits(data, adjacency)
    elif adjacency.kind in {"edge", "node"}:
        edits = graph_edits(data, adjacency.kind)
    elif adjacency.kind == "label" and is_labelled(data):
        edits = ((partial(_with_labels, data, make), text.replace("record", "label")) for make, text in _labels(data[1]))
    else:
        edits = _record_edits(_required(data), adjacency)
    most = MOST_MOVED if adjacency.kind == "norm_ball" else MOST_MADE
    found = list(islice(edits, most if sensitivity is None else _MOST_RANKED))
    if not found:
        raise Unsupported(
            "DPA409", f"the data have nothing that another value under {adjacency} could change: all are equal. Give neighbours=."
        )
    return (found if sensitivity is None else _most_telling(data, sensitivity.query, found))[:most]


def _required(data: Any) -> Dataset:
    """The data as a sequence of records, refused if they are none."""
    if not is_dataset(data):
        raise InvalidArgument(
            "DPA105",
            f"data= must be a list, tuple or array of records, got a {class_name(type(data))}. For other inputs give neighbours=.",
        )
    if len(data) == 0:
        raise InvalidArgument("DPA109", "data= holds no record, so it has no neighbour to make. Give at least one record.")
    return data  # type: ignore[no-any-return]


def _record_edits(data: Dataset, adjacency: Adjacency) -> Iterator[Edit]:
    """Edits of records, or of all records of one user."""
    if adjacency.kind == "label":
        field = data[0].get(LABEL, data[0]) if isinstance(data[0], dict) else data[0]
        if field is data[0] and isinstance(field, dict):
            raise InvalidArgument("DPA105", f'records that are mappings need their label under "{LABEL}", this field is missing.')
    if adjacency.unit != "record":
        return _user_edits(data, adjacency)
    if adjacency.kind == "label":
        return _labels(data)
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
        return _several(data, int(rational(adjacency.radius or 1)))
    return (
        (partial(_swapped, data, {place: source}), f"record {place} replaced by record {source}, {count}")
        for place, source in _swaps(data)
    )


def _swaps(data: Dataset) -> Iterator[tuple[int, int]]:
    """Pairs (place, source) of records that differ: extreme ones first, then the first and the last; else the first that do."""
    known = [swap for swap in dict.fromkeys([*extremes(data), (0, len(data) - 1)]) if not same(data[swap[0]], data[swap[1]])]
    others = ((place, 0) for place in range(len(data)) if not known and not same(data[place], data[0]))
    return iter(known or islice(others, 1))


def _swapped(data: Dataset, sources: dict[int, int]) -> Dataset:
    """The dataset with copies of other records of it at some places."""
    return replace_records(data, {place: data[source] for place, source in sources.items()})


def _several(data: Dataset, most: int) -> Iterator[Edit]:
    """Replacing up to `most` records by one that differs from them."""
    for source in dict.fromkeys(source for _, source in _swaps(data)):
        places = [place for place in range(len(data)) if not same(data[place], data[source])]
        for chosen in dict.fromkeys([tuple(places[:most]), tuple(places[-most:])]):
            text = f"{len(chosen)} records from {chosen[0]} to {chosen[-1]} replaced by record {source}, {len(data)} records"
            yield partial(_swapped, data, dict.fromkeys(chosen, source)), text


def _labels(data: Dataset) -> Iterator[Edit]:
    """Giving a record the label of another: at extreme records first."""
    labels = [label_of(record) for record in data]
    values = [
        labels[place] for place in range(len(labels)) if not any(same(labels[place], old) for old in labels[:place][:_MOST_RANKED])
    ]
    places = dict.fromkeys([0, *(place for place, _ in extremes(data)), len(data) - 1])
    for place in places:
        for label in values:
            if not same(label, labels[place]):
                made = relabel_record(data[place], label)
                yield partial(replace_records, data, {place: made}), f"record {place} relabelled, {len(data)} records"


def _with_labels(data: tuple[Any, Any], make: Callable[[], Any]) -> tuple[Any, Any]:
    """Features with other labels."""
    return (data[0], make())


def _user_edits(data: Dataset, adjacency: Adjacency) -> Iterator[Edit]:
    """Edits of all records of one user: those with the most and the fewest records first."""
    field = adjacency.unit.removeprefix("user:")
    places = places_by_user(data, field)
    if places is None:
        raise InvalidArgument(
            "DPA105", f"under {adjacency} every record needs a field {field!r} (in rows: at that position) with its user's key."
        )
    users = sorted(places, key=lambda user: (-len(places[user]), places[user]))
    ordered = dict.fromkeys([*users[:1], *users[-1:], *users])
    key = key_of(data[0], field)
    for user in ordered:
        rows = places[user]
        other = places[users[-1] if user != users[-1] else users[0]]
        text = f"{len(rows)} records of one user from {rows[0]} to {rows[-1]}"
        if adjacency.kind == "add_remove":
            yield partial(without, data, set(rows)), f"{text} removed, {len(data)} -> {len(data) - len(rows)} records"
            continue
        changes = {
            place: _of_other(data[place], data[other[number % len(other)]], key, adjacency.kind)
            for number, place in enumerate(rows)
        }
        if any(not same(data[place], record) for place, record in changes.items()):
            yield partial(replace_records, data, changes), f"{text} changed, {len(data)} records"


def _of_other(record: Any, other: Any, key: Any, kind: str) -> Any:
    """What becomes of a user's record: null, with the label of another user's, or all of it but the user's key."""
    if kind == "zero_out":
        return null_record(record, key)
    if kind == "label":
        return relabel_record(record, label_of(other))
    return of_user(other, key, record)


def _most_telling(data: Any, query: Callable[[Any], Any], edits: list[Edit]) -> list[Edit]:
    """The edits in the order of what they move the declared query by."""
    size = data.size if isinstance(data, np.ndarray) else len(data) if hasattr(data, "__len__") else 1
    ranked = edits[: max(MOST_MOVED, _MOST_NUMBERS // max(size, 1))]
    try:
        copy = copy_of(data)
        before = fingerprint(copy)
        start = query(copy)
        if fingerprint(copy) != before:
            return edits  # a query that changes its input would change the pairs
        moved = [change(start, query(edit())) for edit, _ in ranked]
    except Exception:  # noqa: BLE001 - a query that fails is reported by its own check, not here
        return edits
    return [ranked[place] for place in sorted(range(len(ranked)), key=lambda place: (-moved[place], place))]
