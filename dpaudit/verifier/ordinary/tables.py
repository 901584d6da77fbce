"""Arrays of records: one row for each, and a known number of columns.

An array that numpy makes of a list of tuples has no columns where the list is empty: a sum over its rows is the number 0 then. Such
a sum is an array only once it meets another array, and a column of it is owed to be of at least one record.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from dpaudit.verifier.ordinary import arrays, iterating, numbers
from dpaudit.verifier.ordinary.lines import Again
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Hollow, Items, Nothing, Ref, Scalar, Sequence, Tuple, Value


def is_table(state: State, found: Value) -> bool:
    """True for an array of records."""
    held = state.object(found) if isinstance(found, Ref) else None
    return isinstance(held, Sequence) and held.form == "array" and isinstance(held.value, Tuple)


def made_of(state: State, node: ast.AST, held: Sequence) -> Ref:
    """An array of the rows of a list."""
    state.real("arrays of floats")

    def row(value: Value) -> tuple[None, Value]:
        assert isinstance(value, Tuple)  # noqa: S101 - the caller has looked
        cells = [numbers.number(state, node, one) for one in value.items]
        if any(one.kind == "bool" for one in value.items if isinstance(one, Scalar)):
            raise refuse(node, "an array of truth values in several columns", "use numbers", "DPA703")
        # One float makes all of them floats, and whole numbers alone may be none in an empty array.
        return None, Tuple(tuple(numbers.floated(state, node, one, arrays.FLOAT) for one in cells))

    if isinstance(held.value, Tuple) and not any(isinstance(one, Scalar) and one.kind == "real" for one in held.value.items):
        raise refuse(node, "an array of records without a float", "annotate a field as float", "DPA703")
    return state.new(replace(iterating.over(state, node, held, row), form="array"))


def column(state: State, node: ast.Subscript, owner: Value) -> Value | None:
    """`table[:, place]` and `table[:, a:b]` of one column; None for other elements."""
    if not (isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2 and isinstance(owner, Ref)):
        return None
    rows, place = node.slice.elts
    whole = isinstance(rows, ast.Slice) and rows.lower is None and rows.upper is None and rows.step is None
    held = state.object(owner)
    if isinstance(held, Sequence) and held.form == "array" and isinstance(held.value, Scalar) and held.base:
        found = state.value(place) if not isinstance(place, ast.Slice) else None
        if whole and isinstance(found, Scalar) and type(found.known) is int and 0 <= found.known < 16:
            state.learned.types[f"{held.base}[]"] = f"tuple{_width(state, held.base, found.known)}"
            raise Again
    if not whole or not is_table(state, owner):
        return None
    assert isinstance(held, Sequence)  # noqa: S101 - as was looked
    where = state.value(place)
    width = len(held.value.items) if isinstance(held.value, Tuple) else 0
    if held.base in state.matrices and isinstance(where, Scalar) and type(where.known) is int and width <= where.known < 16:
        state.learned.types[f"{held.base}[]"] = f"tuple{_width(state, held.base, where.known)}"
        raise Again
    if not isinstance(where, Scalar) or type(where.known) is not int or not -width <= where.known < width:
        raise refuse(node, f"`{ast.unparse(node)}`", "name a column by a constant", "DPA706")
    owe_rows(state, node, held)
    number = int(where.known)

    def cell(value: Value) -> tuple[None, Value]:
        assert isinstance(value, Tuple)  # noqa: S101 - as was looked
        return None, value.items[number]

    return state.new(replace(iterating.over(state, node, held, cell), form="array"))


def _width(state: State, name: str, place: int) -> int:
    """The number of columns that use asks for."""
    known = state.learned.types.get(f"{name}[]", "")
    return max(place + 1, int(known[5:]) if known.startswith("tuple") else 0)


def owe_rows(state: State, node: ast.AST, held: Sequence) -> None:
    """Owe that there is a row, where an array without rows has no columns; one that is passed as an array has them."""
    if held.base in state.matrices:
        return
    size = numbers.number(state, node, arrays.length(state, node, state.new(held)))
    state.owe(f"{size.code} > 0")


def summed(state: State, node: ast.AST, held: Sequence, axis: Value, *, mean: bool) -> Value:
    """Sums or means of a table: of each column, of each row, or of all."""
    state.real("sums by numpy")
    assert isinstance(held.value, Tuple)  # noqa: S101 - the caller has looked
    width, way = len(held.value.items), axis.known if isinstance(axis, Scalar) else None
    if not isinstance(axis, Nothing) and way not in (0, 1, -1):
        raise refuse(node, f"`{ast.unparse(node)}`", "write axis=0 or axis=1", "DPA706")

    def of_row(value: Value) -> tuple[None, Value]:
        assert isinstance(value, Tuple)  # noqa: S101 - as above
        made = numbers.number(state, node, value.items[0])
        for one in value.items[1:]:
            made = numbers.arithmetic(state, node, ast.Add(), made, one)
        return None, numbers.arithmetic(state, node, ast.Div(), made, numbers.constant(state, width)) if mean else made

    if way in (1, -1):
        owe_rows(state, node, held)
        return state.new(replace(iterating.over(state, node, held, of_row), form="array"))
    if way is None:
        rows = iterating.over(state, node, held, of_row)
        return arrays.mean(state, node, state.new(rows), arrays.FLOAT) if mean else _total(state, node, rows)
    sums: list[Value] = []
    for place in range(width):
        cells = iterating.over(state, node, held, lambda value, place=place: (None, value.items[place]))
        sums.append(arrays.mean(state, node, state.new(cells), arrays.FLOAT) if mean else _total(state, node, cells))
    # The mean of nothing is no number, and so owes that there is a row.
    sure = mean or held.base in state.matrices
    return state.new(Items(tuple(sums), "array") if sure else Hollow(tuple(sums)))


def _total(state: State, node: ast.AST, found: Sequence) -> Scalar:
    """The sum of a column, which is a float of numpy with or without rows."""
    made = arrays.fold(state, node, found, numbers.constant(state, 0))
    return numbers.floated(state, node, made, arrays.FLOAT)


def paired(state: State, node: ast.AST, held: list[Any]) -> None:
    """See that tables have columns where an array goes with each row."""
    for one in held:
        if isinstance(one, Sequence) and any(isinstance(other, Items) for other in held):
            owe_rows(state, node, one)


def filled(state: State, parts: list[Value]) -> tuple[list[Value], bool]:
    """Operands where sums that may be a number stand as arrays; says whether the result may be a number too."""
    held = [state.object(one) if isinstance(one, Ref) else one for one in parts]
    if not any(isinstance(one, Hollow) for one in held):
        return parts, False
    whole = any(isinstance(one, Items) and one.form == "array" for one in held)
    made: list[Value] = [
        state.new(Items(one.items, "array")) if isinstance(one, Hollow) else part for one, part in zip(held, parts, strict=True)
    ]
    return made, not whole
