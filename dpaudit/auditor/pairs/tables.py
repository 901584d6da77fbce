"""Pairs of tables: what is done with their rows, and tables of the same type made of the rows that come of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from dpaudit.auditor.data.tables import Row, columns_of, rows_of, table_like
from dpaudit.auditor.pairs.relations import Edit, Pair, Part, Pieces
from dpaudit.claims import Adjacency


def tables_apart(apart: Callable[[Any, Any, Adjacency], str], first: Any, second: Any, adjacency: Adjacency) -> str:
    """Say what is wrong with two tables, empty if nothing is or can be decided."""
    if type(first) is not type(second) or columns_of(first) != columns_of(second):
        return "the tables have other columns, or columns of other types"
    return apart(rows_of(first), rows_of(second), adjacency)


def table_edits(edits: Callable[[Any, Adjacency], Iterator[Edit]], data: Any, adjacency: Adjacency) -> Iterator[Edit]:
    """Edit the rows of a table."""
    own = rows_of(data)
    return ((partial(_made, data, own, make), text) for make, text in edits(own, adjacency))


def table_parts(parts: Callable[[Any, Adjacency], Iterator[Part]], data: Any, adjacency: Adjacency) -> Iterator[Part]:
    """Make tables of few and of tied rows; those that share their rows are one object."""
    own, made = rows_of(data), dict[int, tuple[list[Row], Any]]()

    def table(rows: list[Row]) -> Any:
        if id(rows) not in made:
            made[id(rows)] = rows, table_like(data, own, rows)  # the rows are kept, so that no other list gets their address
        return made[id(rows)][1]

    return ((table(first), table(second), text) for first, second, text in parts(own, adjacency))


def table_pieces(pieces: Callable[[Any, Any], Pieces], first: Any, second: Any) -> Pieces:
    """The rows of two tables."""
    sides = [(table, rows_of(table)) for table in (first, second)]
    count, keeping, changed = pieces(sides[0][1], sides[1][1])

    def kept(places: Collection[int]) -> Pair:
        before, after = (table_like(*side, rows) for side, rows in zip(sides, keeping(places), strict=True))
        return before, after

    return count, kept, changed


def simplify_tables(
    simplify: Callable[[Pair, Adjacency, Any, Callable[[Pair], bool]], Pair],
    pair: Pair,
    adjacency: Adjacency,
    data: Any,
    wanted: Callable[[Pair], bool],
) -> Pair:
    """Make the values of two tables simpler as long as the pair is still wanted."""
    sides = [(table, rows_of(table)) for table in pair]

    def made(rows: Pair) -> Pair:
        before, after = (table_like(*side, kept) for side, kept in zip(sides, rows, strict=True))
        return before, after

    start = (sides[0][1], sides[1][1])
    found = simplify(start, adjacency, rows_of(data), lambda rows: wanted(made(rows)))
    return pair if found is start else made(found)


def _made(data: Any, own: list[Row], make: Callable[[], list[Row]]) -> Any:
    """The table of the rows that an edit makes."""
    return table_like(data, own, make())
