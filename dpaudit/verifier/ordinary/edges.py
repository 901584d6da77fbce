"""Places among public edges: `bisect`, `np.digitize` and `np.searchsorted` of a number."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from dpaudit.verifier.ordinary import arrays, iterating, numbers
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Items, Ref, Scalar, Tuple, Value

_OF_SIDE: Final = {"left": ast.Lt, "right": ast.LtE}
"""How an edge compares with a number that comes behind it; equal ones come before or behind by the side."""


def _known_edges(state: State, node: ast.AST, found: Value) -> tuple[Scalar, ...]:
    """Edges that are constants in order."""
    held = state.object(found) if isinstance(found, Ref) else Items(found.items) if isinstance(found, Tuple) else None
    if isinstance(held, Items) and held.form != "set" and 0 < len(held.items) <= iterating.MOST_UNROLLED:
        edges = tuple(one for one in held.items if isinstance(one, Scalar) and one.is_known and one.kind in ("int", "real"))
        if len(edges) == len(held.items) and all(one.known <= other.known for one, other in pairwise(edges)):
            return edges
    raise refuse(node, f"`{ast.unparse(node)}`, whose edges are no constants in order,", "write the edges out", "DPA706")


def _place(state: State, node: ast.AST, edges: tuple[Scalar, ...], value: Value, side: str, types: frozenset[str]) -> Scalar:
    """How many edges come before a number."""
    one = numbers.number(state, node, value)
    found = numbers.constant(state, 0, types)
    for place, edge in enumerate(edges, 1):
        behind = numbers.compared(state, node, _OF_SIDE[side](), edge, one)
        found = numbers.chosen(state, node, behind, numbers.constant(state, place, types), found)
    kept = found if found.is_known else state.keep("place", found)
    return replace(kept, types=types, tests=(), bits=numbers.DATA_BITS if types == arrays.WHOLE else 0)


def _bisect(side: str) -> Any:
    """The reader of a function of `bisect`."""

    def read(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
        parts = given(node, args, named, "a", "x")
        return _place(state, node, _known_edges(state, node, parts["a"]), parts["x"], side, numbers.INT)

    return read


def _digitize(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.digitize` of growing edges: by default equal ones come before."""
    parts = given(node, args, named, "x", "bins", "right?")
    right = parts.get("right", numbers.constant(state, False))
    if not (isinstance(right, Scalar) and type(right.known) is bool):
        raise refuse(node, f"`{ast.unparse(node)}`", "write right=True out", "DPA706")
    return _of_numpy(state, node, parts["bins"], parts["x"], "left" if right.known else "right")


def _searchsorted(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.searchsorted` of growing edges: by default equal ones come behind."""
    parts = given(node, args, named, "a", "v", "side?")
    side = parts.get("side", state.text("left"))
    if not (isinstance(side, Scalar) and side.known in _OF_SIDE):
        raise refuse(node, f"`{ast.unparse(node)}`", 'write side="right" out', "DPA706")
    return _of_numpy(state, node, parts["a"], parts["v"], side.known)


def _of_numpy(state: State, node: ast.AST, edges: Value, value: Value, side: str) -> Value:
    """The place of a number."""
    known = _known_edges(state, node, edges)
    if not isinstance(value, Scalar):
        raise refuse(node, f"`{ast.unparse(node)}` of an array", "call it for each number", "DPA706")
    if any(one.known == other.known for one, other in pairwise(known)):
        raise refuse(node, f"`{ast.unparse(node)}` of edges of which two are equal", "write each edge once", "DPA706")
    state.real("arrays of floats")
    return _place(state, node, known, value, side, arrays.WHOLE)


def fill() -> None:
    """Enter the functions of this module."""
    Sources.MODULES.update(
        {
            "bisect.bisect": _bisect("right"),
            "bisect.bisect_right": _bisect("right"),
            "bisect.bisect_left": _bisect("left"),
            "numpy.digitize": _digitize,
            "numpy.searchsorted": _searchsorted,
        }
    )
