"""Relations between two datasets: what keeps them from being neighbours, where that can be decided, and how they differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias

from dpaudit.auditor.data.fields import label_of, places_by_user, relabel_record
from dpaudit.auditor.data.records import changed_places, count_exchanged, is_dataset, is_labelled, same
from dpaudit.auditor.data.tables import is_table, rows_of
from dpaudit.claims import Adjacency
from dpaudit.errors import class_name
from dpaudit.exact import rational

Pair: TypeAlias = tuple[Any, Any]

Edit: TypeAlias = tuple[Callable[[], Any], str]
"""A function that makes a neighbouring dataset, when it is needed, since datasets may be large; and what it changes."""

Part: TypeAlias = tuple[Any, Any, str]
"""Two neighbouring datasets, and of which records of the data they are made."""

Pieces: TypeAlias = tuple[int, Callable[[Collection[int]], Pair], Collection[int]]
"""The number of pieces of a pair, the pair that keeps some of them, and those in which its sides differ."""

_ADJOINED: Final = (list, tuple, set, frozenset)


def records_apart(first: Any, second: Any, adjacency: Adjacency) -> str:
    """Say what is wrong with two sequences of records, empty if nothing is or can be decided; order does not matter."""
    if not (is_dataset(first) and is_dataset(second)):
        return ""
    start, taken, put = changed_places(first, second)
    found = (taken, put) if _fits(taken, put, adjacency) else count_exchanged(first, second)
    if found is None:
        return ""
    if not _fits(*found, adjacency):
        return f"{found[0]} records are only in the first dataset and {found[1]} only in the second"
    relabelled = adjacency.kind != "label" or (taken, put) != (1, 1)
    if relabelled or same(relabel_record(first[start], label_of(second[start])), second[start]):
        return ""
    return f"record {start} differs in more than its label"


def users_apart(first: Any, second: Any, adjacency: Adjacency) -> str:
    """Say what is wrong with two sequences of records in which a unit is all rows of one user, empty if nothing is."""
    if not (is_dataset(first) and is_dataset(second)):
        return ""
    before, after = places_by_user(first, adjacency.unit), places_by_user(second, adjacency.unit)
    if before is None or after is None:
        return ""
    changed = [
        user
        for user in dict.fromkeys([*before, *after])
        if _has_changed([first[place] for place in before.get(user, [])], [second[place] for place in after.get(user, [])])
    ]
    if len(changed) > 1:
        return f"{len(changed)} users differ"
    if not changed:
        return ""
    absent = (changed[0] not in before) + (changed[0] not in after)
    if adjacency.kind == "add_remove" and not absent:
        return "one user has other rows in each dataset"
    return "one user is missing from one dataset" if adjacency.kind != "add_remove" and absent else ""


def labels_apart(first: Any, second: Any, adjacency: Adjacency) -> str:
    """Say what is wrong with two inputs (features, labels), empty if nothing is."""
    if not same(first[0], second[0]):
        return "the features differ"
    if adjacency.unit != "record":
        return ""
    if len(first[1]) != len(second[1]):
        return "there is not one label for each record"
    count = sum(not same(one, other) for one, other in zip(first[1], second[1], strict=True))
    return f"{count} labels differ" if count > 1 else ""


def graph_of(data: Any) -> tuple[AbstractSet[Any], AbstractSet[tuple[Any, Any]]] | None:
    """Nodes and arcs of a mapping from each node to the nodes it is joined to; None for anything else."""
    if not isinstance(data, Mapping) or not all(isinstance(ends, _ADJOINED) for ends in data.values()):
        return None
    try:
        arcs = {(node, end) for node, ends in data.items() for end in ends}
    except TypeError:
        return None
    return (data.keys(), arcs) if all(end in data for _, end in arcs) else None


def records_changed(adjacency: Adjacency) -> int:
    """Number of records that a neighbour may replace."""
    return int(rational(adjacency.radius or 1)) if adjacency.kind == "hamming" else 1


def describe(first: Any, second: Any) -> str:
    """Say how two datasets differ, by position and never by value."""
    before, after = graph_of(first), graph_of(second)
    if before is not None and after is not None:
        sizes = [f"{len(nodes)} nodes with {len(arcs)} links" for nodes, arcs in (before, after)]
        return f"graphs of {sizes[0]} and of {sizes[1]}"
    if is_labelled(first) and is_labelled(second) and len(first[1]) == len(second[1]) and same(first[0], second[0]):
        return describe(first[1], second[1]).replace("record", "label")
    if is_table(first) and is_table(second):
        return describe(rows_of(first), rows_of(second))
    if not (is_dataset(first) and is_dataset(second)):
        kinds = class_name(type(first)), class_name(type(second))
        return f"two inputs of type {kinds[0]}" if kinds[0] == kinds[1] else f"inputs of type {kinds[0]} and {kinds[1]}"
    start, taken, put = changed_places(first, second)
    count = f"{len(first)} -> {len(second)} records" if len(first) != len(second) else f"{len(first)} records"
    if (taken, put) == (0, 0):
        return f"no difference, {count}"
    if action := {(1, 0): "removed", (0, 1): "added", (1, 1): "replaced"}.get((taken, put)):
        return f"record {start} {action}, {count}"
    return f"records {start} to {start + max(taken, put) - 1} differ, {count}"


def _fits(taken: int, put: int, adjacency: Adjacency) -> bool:
    """True if removing and adding so many records stays within the adjacency."""
    if adjacency.kind == "add_remove":
        return taken + put <= 1
    return taken == put <= records_changed(adjacency)


def _has_changed(before: list[Any], after: list[Any]) -> bool:
    """True if the rows of a user differ as multisets."""
    found = count_exchanged(before, after)
    return not same(before, after) if found is None else found != (0, 0)
