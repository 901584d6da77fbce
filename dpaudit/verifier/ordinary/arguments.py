"""What calls of known functions share: which arguments they may have, and results of which only the parts are known."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from dpaudit.verifier.ordinary import numbers, shapes
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Fixed,
    Output,
    Value,
)

Named = Mapping[str, Value]


def only(node: ast.AST, args: list[Value], named: Named, least: int, most: int) -> None:
    """Refuse a call with other arguments."""
    if named or not least <= len(args) <= most:
        raise refuse(node, f"`{ast.unparse(node)}` in this form", "pass the usual arguments by position", "DPA706")


def opaque(state: State, node: ast.AST, args: list[Value], named: Named, *, total: bool = True) -> Value:
    """A function of values that is not computed; where it may fail, these are shown before."""
    called = getattr(node, "func", node)
    name = getattr(called, "attr", getattr(called, "id", ""))
    what, parts = f"{name} {' '.join(named)}", (*args, *named.values())
    if name in ("str", "repr"):
        return numbers.opaque(state, node, what, *parts, sort="text", lossy=False)
    if name in ("sum", "sorted", "mean", "fmean") and all(is_numbers(state, one) for one in args):
        return numbers.opaque(state, node, what, *parts, sort="number" if name != "sorted" else "other")
    return shapes.computed(state, node, what, *parts, total=total)


def is_numbers(state: State, found: Value) -> bool:
    """True for a list that holds numbers, sorted or added without an error."""
    if isinstance(found, Output):
        wrap, kind = state.wraps.get(found.name, ("", "int"))
        return not wrap and kind != "str"
    return isinstance(found, Fixed) and all(numbers.sort_of(one) == "number" for one in found.items)
