"""Random neighbouring datasets of each kind, drawn with Hypothesis as a dataset and an edit so that both shrink together."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dpaudit.auditor.data.fields import label_of, null_record, relabel_record
from dpaudit.auditor.pairs.boundary import lengths
from dpaudit.auditor.pairs.graphs import toggle_edge, without_node
from dpaudit.auditor.pairs.relations import Pair, records_changed
from dpaudit.auditor.pairs.vectors import entries_of, move_vector, within_ball
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, class_name

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

_MOST_WEIGHT: Final = 3


@dataclass(frozen=True)
class Recipe:
    """Ingredients of drawn pairs: records, entries or nodes, at most so many; `is_arranged` also repeats and sorts them."""

    records: SearchStrategy[Any]
    adjacency: Adjacency
    most: int
    is_arranged: bool


def draw_records(draw: DrawFn, recipe: Recipe) -> Pair:
    """Draw a list of records, and the same list after an edit of single records."""
    from hypothesis import strategies as st

    records, adds = recipe.records, recipe.adjacency.kind == "add_remove"
    base = draw(st.lists(records, min_size=1 - adds, max_size=recipe.most - adds))
    if recipe.is_arranged:
        base = _arrange(draw, base, recipe.most - adds)
    place = draw(st.integers(0, len(base) - 1 + adds))
    if adds:
        longer = [*base[:place], draw(records), *base[place:]]
        return (base, longer) if draw(st.booleans()) else (longer, base)
    count = draw(st.integers(1, records_changed(recipe.adjacency))) if recipe.adjacency.kind == "hamming" else 1
    second = list(base)
    for number in range(count):
        at = (place + number) % len(base)
        second[at] = _edit_record(draw, base[at], recipe)
    return base, second


def _edit_record(draw: DrawFn, record: Any, recipe: Recipe, owner: str | None = None) -> Any:
    """Null a record but for its user's key, relabel it, or draw another in its place."""
    if recipe.adjacency.kind == "zero_out":
        return null_record(record, owner)
    other = draw(recipe.records)
    return relabel_record(record, label_of(other)) if recipe.adjacency.kind == "label" else other


def _arrange(draw: DrawFn, base: list[Any], most: int) -> list[Any]:
    """Repeat records to a length at which summation changes its order, sort or reverse them, or leave them as they are."""
    from hypothesis import strategies as st

    length = draw(st.sampled_from((0, *lengths(most))))
    if length and base:
        base = [base[place % len(base)] for place in range(length)]
    order = draw(st.sampled_from(("given", "sorted", "reversed")))
    if order == "given":
        return base
    try:
        return sorted(base, reverse=order == "reversed")
    except (TypeError, ValueError):
        return base[::-1]


def draw_users(draw: DrawFn, recipe: Recipe) -> Pair:
    """Draw rows of a few users, and the same after an edit of all rows of one of them."""
    from hypothesis import strategies as st

    adjacency, most = recipe.adjacency, recipe.most
    field = adjacency.unit.removeprefix("user:")
    rows = st.lists(recipe.records, min_size=1, max_size=most)

    def owned(user: int) -> list[Any]:
        found = draw(rows)
        for row in found:
            if not isinstance(row, Mapping):
                raise InvalidArgument(
                    "DPA105",
                    f"rows under {adjacency} must be mappings, got a {class_name(type(row))}. Draw dictionaries of fields.",
                )
        return [{**row, field: user} for row in found]

    others = [row for user in range(draw(st.integers(0, most - 1))) for row in owned(user + 1)][: most - 1]
    place = draw(st.integers(0, len(others)))
    mine = owned(0)[: most - len(others)]
    after: list[Any] = []
    if adjacency.kind in {"zero_out", "label"}:
        after = [_edit_record(draw, row, recipe, field) for row in mine]
    elif adjacency.kind != "add_remove":
        after = owned(0)[: len(mine)]
    return [*others[:place], *mine, *others[place:]], [*others[:place], *after, *others[place:]]


def draw_vectors(draw: DrawFn, recipe: Recipe) -> Pair:
    """Draw a vector, and the same moved within the ball in the direction of small integer weights."""
    from hypothesis import strategies as st

    adjacency = recipe.adjacency
    base = draw(st.lists(recipe.records, min_size=1, max_size=recipe.most))
    if entries_of(base) is None:
        raise InvalidArgument("DPA105", f"rows under {adjacency} must be numbers, the entries of a vector. Draw for example float.")
    size, whole = len(base), all(isinstance(entry, numbers.Integral) for entry in base)
    most_weight = 1 if whole else _MOST_WEIGHT
    weights = draw(
        st.lists(st.integers(-most_weight, most_weight), min_size=size, max_size=size)
        | st.sampled_from([1, -1]).map(lambda sign: [sign] * size)
        | st.integers(1, size).map(lambda cut: [1] * cut + [-1] * (size - cut))
    )
    if whole and adjacency.norm != "linf":
        # Integers stay integers where the radius is one: a single entry takes the whole step.
        place = draw(st.integers(0, size - 1))
        weights = [weights[place] * (other == place) for other in range(size)]
    return (base, move_vector(base, within_ball(weights, adjacency))) if any(weights) else (base, base)


def draw_graphs(draw: DrawFn, recipe: Recipe) -> Pair:
    """Draw a graph as a mapping from node to neighbours, and the same without one node or with one edge more or less."""
    from hypothesis import strategies as st

    kind = recipe.adjacency.kind
    nodes = draw(st.lists(recipe.records, min_size=1 if kind == "node" else 2, max_size=max(recipe.most, 2), unique=True))
    graph: dict[Any, list[Any]] = {node: [] for node in nodes}
    for number, node in enumerate(nodes):
        for other in nodes[:number]:
            if draw(st.booleans()):
                graph = toggle_edge(graph, node, other)
    if kind == "node":
        return graph, without_node(graph, draw(st.sampled_from(nodes)))
    one = draw(st.integers(0, len(nodes) - 2))
    other = draw(st.integers(one + 1, len(nodes) - 1))
    return graph, toggle_edge(graph, nodes[one], nodes[other])
