"""Whether two datasets are neighbours under an adjacency, wherever that can be told, and how they differ by position."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any, Final, TypeAlias

from dpaudit.auditor.data.distance import distance_exceeds
from dpaudit.auditor.data.records import (
    Dataset,
    changed_places,
    count_exchanged,
    is_dataset,
    is_labelled,
    label_of,
    places_by_user,
    relabel_record,
    same,
)
from dpaudit.claims import KINDS, Adjacency
from dpaudit.errors import DpauditError, InvalidArgument, class_name
from dpaudit.exact import rational

Edit: TypeAlias = tuple[Callable[[], Any], str]
"""How to make a neighbouring dataset, and what it changes; made only when it is needed, since datasets may be large."""

_REMEDY: Final = "Give neighbours, or claim the adjacency that they have"
_BALL: Final = '; for vectors of query answers claim Adjacency("norm_ball", norm=..., radius=...).'
_ADJOINED: Final = (list, tuple, set, frozenset)


def check(pair: tuple[Any, Any], adjacency: Adjacency, name: str = "the pair") -> None:
    """Refuse a pair of datasets that differ by more than the adjacency allows."""
    first, second = pair
    if adjacency.kind == "norm_ball":
        problem = _outside_ball(first, second, adjacency)
    elif adjacency.kind in {"edge", "node"}:
        problem = _graphs_apart(first, second, adjacency)
    elif adjacency.kind == "label" and is_labelled(first) and is_labelled(second):
        problem = _labels_apart(first, second, adjacency)
    elif not (is_dataset(first) and is_dataset(second)):
        return
    elif adjacency.unit != "record":
        problem = _users_apart(first, second, adjacency)
    else:
        problem = _records_apart(first, second, adjacency)
    if problem:
        raise InvalidArgument("DPA407", f"{name}: {problem}, but {adjacency} allows {KINDS[adjacency.kind]}. {_REMEDY}{_BALL}")


def describe(first: Any, second: Any) -> str:
    """How two datasets differ, by position and never by value."""
    before, after = graph_of(first), graph_of(second)
    if before is not None and after is not None:
        sizes = [f"{len(nodes)} nodes with {len(arcs)} links" for nodes, arcs in (before, after)]
        return f"graphs of {sizes[0]} and of {sizes[1]}"
    if is_labelled(first) and is_labelled(second) and len(first[1]) == len(second[1]) and same(first[0], second[0]):
        return describe(first[1], second[1]).replace("record", "label")
    if not (is_dataset(first) and is_dataset(second)):
        kinds = class_name(type(first)), class_name(type(second))
        return f"two inputs of type {kinds[0]}" if kinds[0] == kinds[1] else f"inputs of type {kinds[0]} and {kinds[1]}"
    start, taken, put = changed_places(first, second)
    count = f"{len(first)} -> {len(second)} records" if len(first) != len(second) else f"{len(first)} records"
    if (taken, put) == (0, 0):
        return f"no difference, {count}"
    if (taken, put) in {(1, 0), (0, 1), (1, 1)}:
        action = {(1, 0): "removed", (0, 1): "added", (1, 1): "replaced"}[taken, put]
        return f"record {start} {action}, {count}"
    return f"records {start} to {start + max(taken, put) - 1} differ, {count}"


def graph_of(data: Any) -> tuple[AbstractSet[Any], AbstractSet[tuple[Any, Any]]] | None:
    """Nodes and arcs of a mapping from each node to the nodes it is joined to; None for anything else."""
    if not isinstance(data, Mapping) or not all(isinstance(ends, _ADJOINED) for ends in data.values()):
        return None
    try:
        arcs = {(node, end) for node, ends in data.items() for end in ends}
    except TypeError:
        return None
    return (data.keys(), arcs) if all(end in data for _, end in arcs) else None


def _records_apart(first: Dataset, second: Dataset, adjacency: Adjacency) -> str:
    """What is wrong with two sequences of records, empty if nothing is; order does not matter."""
    _, taken, put = changed_places(first, second)
    found = (taken, put) if _fits(taken, put, adjacency) else count_exchanged(first, second)
    if found is None:
        return ""
    if not _fits(*found, adjacency):
        return (
            f"{found[0]} of {len(first)} records are missing from the second dataset and {found[1]} of {len(second)} from the first"
        )
    if adjacency.kind == "label" and (taken, put) == (1, 1):
        place = changed_places(first, second)[0]
        if not same(relabel_record(first[place], label_of(second[place])), second[place]):
            return f"record {place} differs in more than its label"
    return ""


def _fits(taken: int, put: int, adjacency: Adjacency) -> bool:
    """Whether taking out and putting in so many records stays within the adjacency."""
    if adjacency.kind == "add_remove":
        return taken + put <= 1
    most = int(rational(adjacency.radius)) if adjacency.radius is not None else 1
    return taken == put <= most


def _users_apart(first: Dataset, second: Dataset, adjacency: Adjacency) -> str:
    """What is wrong with two sequences of records in which a unit is all rows of one user."""
    field = adjacency.unit.removeprefix("user:")
    before, after = places_by_user(first, field), places_by_user(second, field)
    if before is None or after is None:
        return ""
    changed = [
        user
        for user in dict.fromkeys([*before, *after])
        if _moved([first[place] for place in before.get(user, [])], [second[place] for place in after.get(user, [])])
    ]
    if len(changed) > 1:
        return f"{len(changed)} users differ"
    if not changed:
        return ""
    absent = (changed[0] not in before) + (changed[0] not in after)
    if adjacency.kind == "add_remove" and not absent:
        return "one user has other rows in each dataset"
    return "one user is missing from one dataset" if adjacency.kind != "add_remove" and absent else ""


def _moved(before: list[Any], after: list[Any]) -> bool:
    """Whether the rows of a user differ as multisets."""
    found = count_exchanged(before, after)
    return not same(before, after) if found is None else found != (0, 0)


def _labels_apart(first: Any, second: Any, adjacency: Adjacency) -> str:
    """What is wrong with two inputs (features, labels)."""
    if not same(first[0], second[0]):
        return "the features differ"
    if adjacency.unit != "record" or len(first[1]) != len(second[1]):
        return "" if adjacency.unit != "record" else "there is not one label for each record"
    count = sum(not same(one, other) for one, other in zip(first[1], second[1], strict=True))
    return f"{count} labels differ" if count > 1 else ""


def _outside_ball(first: Any, second: Any, adjacency: Adjacency) -> str:
    """What is wrong with two vectors, as far as they are vectors."""
    radius = rational(adjacency.radius) if adjacency.radius is not None else Fraction(0)
    try:
        return "the two vectors are further apart" if distance_exceeds(first, second, adjacency.norm or "l1", radius) else ""
    except DpauditError:
        return ""


def _graphs_apart(first: Any, second: Any, adjacency: Adjacency) -> str:
    """What is wrong with two graphs; both ends of an edge list it, or one where the graph is directed."""
    before, after = graph_of(first), graph_of(second)
    if before is None or after is None:
        return ""
    changed: set[frozenset[Hashable]] = {frozenset(arc) for arc in before[1] ^ after[1]}
    nodes = before[0] ^ after[0]
    if adjacency.kind == "edge":
        return f"{len(nodes)} nodes and {len(changed)} edges differ" if nodes or len(changed) > 1 else ""
    if len(nodes) > 1 or any(not nodes & edge for edge in changed):
        return f"{len(nodes)} nodes differ, or edges that touch none of them"
    return ""
