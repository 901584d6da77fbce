"""The kinds of dataset that an audit can make neighbours of: one entry each, with all that is done with datasets of that kind.

A new kind of dataset is one more entry of `KINDS`; a new edit is one more function behind `edits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.auditor.data.distance import estimate_change
from dpaudit.auditor.data.records import copy_of, fingerprint, is_labelled
from dpaudit.auditor.data.tables import is_table
from dpaudit.auditor.pairs.edits import label_edits, record_edits, user_edits
from dpaudit.auditor.pairs.graphs import graph_edits, graph_parts, graph_pieces, graphs_apart
from dpaudit.auditor.pairs.parts import label_parts, record_parts, user_parts
from dpaudit.auditor.pairs.random_pairs import Recipe, draw_graphs, draw_records, draw_users, draw_vectors
from dpaudit.auditor.pairs.relations import Edit, Pair, Part, Pieces, labels_apart, records_apart, users_apart
from dpaudit.auditor.pairs.searched import Draft, search_nothing, search_records, search_users
from dpaudit.auditor.pairs.simplifying import keep_pair, label_pieces, record_pieces, simplify_records, simplify_vectors
from dpaudit.auditor.pairs.tables import simplify_tables, table_edits, table_parts, table_pieces, tables_apart
from dpaudit.auditor.pairs.vectors import vector_edits, vector_parts, vector_pieces, vectors_apart
from dpaudit.claims import KINDS as ALLOWED
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.targets import Sensitivity

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

_REMEDY: Final = (
    "Give two datasets that are neighbours, or claim the adjacency that these have (for two vectors of query answers that is "
    'Adjacency("norm_ball", norm=..., radius=...)).'
)
_WITHOUT_RECORDS: Final = ("norm_ball", "edge", "node")
_MOST_RANKED: Final = 256
_MOST_NUMBERS: Final = 10_000_000
"""Numbers in all datasets together on which a declared query is tried to rank edits: some seconds of a fast query."""


@dataclass(frozen=True)
class Operations:
    """Functions that search for pairs among datasets of one kind.

    `apart` says what keeps two from being neighbours; `edits` and `parts` make neighbours of one dataset; `pieces` and `simplify`
    make a pair smaller and plainer; `draw` draws a pair with Hypothesis; `search` drafts
    datasets unlike the data; `most` edits are made; `is_ordered` where order matters.
    """

    apart: Callable[[Any, Any, Adjacency], str]
    edits: Callable[[Any, Adjacency], Iterator[Edit]]
    parts: Callable[[Any, Adjacency], Iterator[Part]]
    pieces: Callable[[Any, Any], Pieces]
    simplify: Callable[[Pair, Adjacency, Any, Callable[[Pair], bool]], Pair]
    draw: Callable[[DrawFn, Recipe], Pair]
    search: Callable[..., Iterator[Draft]] = search_nothing
    most: int = 8
    is_ordered: bool = False


_VECTORS: Final = Operations(
    vectors_apart, vector_edits, vector_parts, vector_pieces, simplify_vectors, draw_vectors, most=16, is_ordered=True
)
_GRAPHS: Final = Operations(graphs_apart, graph_edits, graph_parts, graph_pieces, keep_pair, draw_graphs, is_ordered=True)
_LABELLED: Final = Operations(labels_apart, label_edits, label_parts, label_pieces, keep_pair, draw_records)
_USERS: Final = Operations(users_apart, user_edits, user_parts, record_pieces, simplify_records, draw_users, search_users)
_RECORDS: Final = Operations(
    records_apart, record_edits, record_parts, record_pieces, simplify_records, draw_records, search_records
)

KINDS: Final[tuple[tuple[Callable[[Adjacency, tuple[Any, ...]], bool], Operations], ...]] = (
    (lambda adjacency, _: adjacency.kind == "norm_ball", _VECTORS),
    (lambda adjacency, _: adjacency.kind in {"edge", "node"}, _GRAPHS),
    (lambda adjacency, datasets: adjacency.kind == "label" and datasets != () and all(map(is_labelled, datasets)), _LABELLED),
    (lambda adjacency, _: adjacency.unit != "record", _USERS),
    (lambda _, __: True, _RECORDS),
)
"""When datasets under an adjacency are of a kind, and what is done with them; the first that fits."""


def operations_of(adjacency: Adjacency, *datasets: Any) -> Operations:
    """Find the operations on some datasets under an adjacency; on tables those on their rows."""
    if datasets and all(map(is_table, datasets)) and adjacency.kind not in _WITHOUT_RECORDS:
        return _of_tables(operations_of(adjacency))
    return next(operations for fits, operations in KINDS if fits(adjacency, datasets))


def _of_tables(of_rows: Operations) -> Operations:
    """The operations on tables that those on their rows make."""
    return replace(
        of_rows,
        apart=partial(tables_apart, of_rows.apart),
        edits=partial(table_edits, of_rows.edits),
        parts=partial(table_parts, of_rows.parts),
        pieces=partial(table_pieces, of_rows.pieces),
        simplify=partial(simplify_tables, of_rows.simplify),
    )


def check_neighbours(pair: Pair, adjacency: Adjacency, name: str = "the pair") -> None:
    """Refuse a pair of datasets that differ by more than the adjacency allows."""
    if problem := operations_of(adjacency, *pair).apart(*pair, adjacency):
        raise InvalidArgument("DPA407", f"{name}: {problem}, but {adjacency} allows {ALLOWED[adjacency.kind]}. {_REMEDY}")


def edits_of(data: Any, adjacency: Adjacency, sensitivity: Sensitivity | None = None) -> list[Edit]:
    """Edits that make neighbours of one dataset, those first that move a declared query most."""
    kind = operations_of(adjacency, data)
    found = list(islice(kind.edits(data, adjacency), kind.most if sensitivity is None else _MOST_RANKED))
    if not found:
        raise Unsupported(
            "DPA409", f"the data have nothing that another value under {adjacency} could change: all are equal. Give neighbours=."
        )
    return (found if sensitivity is None else _rank_by_query(data, sensitivity.query, found))[: kind.most]


def _rank_by_query(data: Any, query: Callable[[Any], Any], edits: list[Edit]) -> list[Edit]:
    """The edits in the order of what they move the declared query by."""
    size = data.size if isinstance(data, np.ndarray) else len(data) if hasattr(data, "__len__") else 1
    ranked = edits[: max(_VECTORS.most, _MOST_NUMBERS // max(size, 1))]
    try:
        copy = copy_of(data)
        before = fingerprint(copy)
        start = query(copy)
        if fingerprint(copy) != before:
            return edits  # a query that changes its input would change the pairs
        moved = [estimate_change(start, query(edit())) for edit, _ in ranked]
    except Exception:  # noqa: BLE001 - a query that fails is reported by its own check, not here
        return edits
    return [ranked[place] for place in sorted(range(len(ranked)), key=lambda place: (-moved[place], place))]
