"""`neighbours`: a Hypothesis strategy of pairs for every adjacency, drawn as a dataset and an edit so that both shrink together."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dpaudit.auditor.data.records import label_of, null_record, relabel_record, same
from dpaudit.auditor.pairs.boundary import Kind, boundary_values, lengths, plain_values
from dpaudit.auditor.pairs.graphs import toggle_edge, without_node
from dpaudit.auditor.pairs.vectors import entries_of, move_vector, within_ball
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, class_name
from dpaudit.exact import integer, rational, word

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

MODES: Final = ("boundary", "plain")

_MOST_WEIGHT: Final = 3

Pair: TypeAlias = tuple[Any, Any]


def neighbours(
    rows: SearchStrategy[Any] | Kind,
    adjacency: Adjacency | str = "add_remove",
    *,
    max_size: int = 8,
    mode: str = "boundary",
    reorder: bool = False,
) -> SearchStrategy[Pair]:
    """A Hypothesis strategy of neighbouring datasets, for tests and for `Target(neighbours=...)`.

    Args:
      rows: a strategy of records (of entries for `norm_ball`, of names of nodes for `edge` and `node`), drawn as they are; or
        bool, int, float, str or the name of a numpy number type, for values of `boundary_values`. Under a unit "user:KEY" rows
        are mappings, which get the user's key; under "label" their label is the last entry or the field "label".
      adjacency: an Adjacency or its shorthand string.
      max_size: largest number of records, entries or nodes of either dataset, at least 1.
      mode: "boundary" also repeats records to lengths around powers of two, and sorts and reverses them; "plain" does not.
      reorder: whether the second dataset may come in another order, for claims on multisets.
    Returns:
      A strategy of pairs (first, second) of lists, or of mappings for graphs, whose sides differ. They shrink together.
    Raises:
      InvalidArgument: an unknown adjacency, mode or kind of rows (DPA103), a norm ball by its name alone (DPA106), a size below 1
        (DPA103), or rows of the wrong type (DPA105).
    Source: docs/auditing.md, "Which neighbours".
    Example:
      >>> from hypothesis import find
      >>> find(neighbours("int8"), lambda pair: len(pair[0]) > len(pair[1]))
      ([0], [])
    """
    from hypothesis import strategies as st

    relation = Adjacency.of(adjacency)
    word(mode, "mode", MODES)
    most = integer(max_size, "max_size", lower=1)
    records = _records(rows, mode)
    if relation.kind == "norm_ball":
        pairs = st.composite(_vectors)(records, relation, most)
    elif relation.kind in {"edge", "node"}:
        pairs = st.composite(_graphs)(records, relation.kind, most)
    elif relation.unit != "record":
        pairs = st.composite(_users)(records, relation, most)
    else:
        pairs = st.composite(_datasets)(records, relation, most, mode)
    if reorder and relation.kind not in {"norm_ball", "edge", "node"}:
        pairs = st.composite(_reordered)(pairs)
    return pairs.filter(lambda pair: not same(*pair))


def _records(rows: SearchStrategy[Any] | Kind, mode: str) -> SearchStrategy[Any]:
    """The strategy of single records."""
    from hypothesis import strategies as st

    if isinstance(rows, st.SearchStrategy):
        return rows
    if not isinstance(rows, (type, str)):
        raise InvalidArgument("DPA105", f"rows must be a strategy, a type or the name of one, got a {type(rows).__name__}.")
    return boundary_values(rows) if mode == "boundary" else plain_values(rows)


def _datasets(draw: DrawFn, records: SearchStrategy[Any], adjacency: Adjacency, most: int, mode: str) -> Pair:
    """A list of records, and the same list after an edit of single records."""
    from hypothesis import strategies as st

    adds = adjacency.kind == "add_remove"
    base = draw(st.lists(records, min_size=1 - adds, max_size=most - adds))
    if mode == "boundary":
        base = _arranged(draw, base, most - adds)
    place = draw(st.integers(0, len(base) - 1 + adds))
    if adds:
        longer = [*base[:place], draw(records), *base[place:]]
        return (base, longer) if draw(st.booleans()) else (longer, base)
    count = draw(st.integers(1, int(rational(adjacency.radius)))) if adjacency.kind == "hamming" and adjacency.radius else 1
    second = list(base)
    for number in range(count):
        at = (place + number) % len(base)
        second[at] = _edited(draw, base[at], records, adjacency.kind)
    return base, second


def _edited(draw: DrawFn, record: Any, records: SearchStrategy[Any], kind: str) -> Any:
    """What becomes of a record."""
    if kind == "zero_out":
        return null_record(record)
    other = draw(records)
    return relabel_record(record, label_of(other)) if kind == "label" else other


def _arranged(draw: DrawFn, base: list[Any], most: int) -> list[Any]:
    """The records as they are, or repeated to a length at which summation changes its order, or sorted, or reversed."""
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


def _users(draw: DrawFn, records: SearchStrategy[Any], adjacency: Adjacency, most: int) -> Pair:
    """Rows of a few users, and the same after an edit of all rows of one of them."""
    from hypothesis import strategies as st

    field = adjacency.unit.removeprefix("user:")
    rows = st.lists(records, min_size=1, max_size=most)

    def owned(user: int) -> list[Any]:
        found = draw(rows)
        for row in found:
            if not isinstance(row, Mapping):
                raise InvalidArgument("DPA105", f"rows under {adjacency} must be mappings, got a {class_name(type(row))}.")
        return [{**row, field: user} for row in found]

    others = [row for user in range(draw(st.integers(0, most - 1))) for row in owned(user + 1)][: most - 1]
    place = draw(st.integers(0, len(others)))
    mine = owned(0)[: most - len(others)]
    if adjacency.kind == "add_remove":
        after: list[Any] = []
    elif adjacency.kind in {"zero_out", "label"}:
        make: Callable[[Any], Any] = (
            (lambda row: null_record(row, field))
            if adjacency.kind == "zero_out"
            else (lambda row: relabel_record(row, label_of(draw(records))))
        )
        after = [make(row) for row in mine]
    else:
        after = owned(0)[: len(mine)]
    return [*others[:place], *mine, *others[place:]], [*others[:place], *after, *others[place:]]


def _vectors(draw: DrawFn, entries: SearchStrategy[Any], adjacency: Adjacency, most: int) -> Pair:
    """A vector, and the same moved within the ball in the direction of small whole weights."""
    from hypothesis import strategies as st

    base = draw(st.lists(entries, min_size=1, max_size=most))
    if entries_of(base) is None:
        raise InvalidArgument("DPA105", f"rows under {adjacency} must be numbers, the entries of a vector.")
    size, whole = len(base), all(isinstance(entry, numbers.Integral) for entry in base)
    most_weight = 1 if whole else _MOST_WEIGHT
    weights = draw(
        st.lists(st.integers(-most_weight, most_weight), min_size=size, max_size=size)
        | st.sampled_from([1, -1]).map(lambda sign: [sign] * size)
        | st.integers(1, size).map(lambda cut: [1] * cut + [-1] * (size - cut))
    )
    if whole and adjacency.norm != "linf":
        # Whole numbers stay whole where the radius is: one of them takes the whole step.
        place = draw(st.integers(0, size - 1))
        weights = [weights[place] * (other == place) for other in range(size)]
    return (base, move_vector(base, within_ball(weights, adjacency))) if any(weights) else (base, base)


def _graphs(draw: DrawFn, names: SearchStrategy[Any], kind: str, most: int) -> Pair:
    """A graph as a mapping from node to neighbours, and the same without one node or with one edge more or less."""
    from hypothesis import strategies as st

    nodes = draw(st.lists(names, min_size=1 if kind == "node" else 2, max_size=max(most, 2), unique=True))
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


def _reordered(draw: DrawFn, pairs: SearchStrategy[Pair]) -> Pair:
    """A pair whose second dataset may be a permutation of itself, or of the first with no other change."""
    from hypothesis import strategies as st

    first, second = draw(pairs)
    how = draw(st.sampled_from(("as drawn", "second shuffled", "first shuffled")))
    return first, second if how == "as drawn" else draw(st.permutations(second if how == "second shuffled" else first))
