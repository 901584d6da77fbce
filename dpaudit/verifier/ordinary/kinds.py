"""Sets of private values: how many different ones there are.

The values are whole numbers, or texts that stand for such, so any two data sets have public ends between which all of their values
lie. The core program goes through the numbers between these ends, and counts those that occur; the ends are parameters of it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from dpaudit.verifier.ordinary import iterating, numbers
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.loops import grow, growing
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.signatures import refuse_unhashable
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Counts,
    Groups,
    Growing,
    Items,
    Kinds,
    Nothing,
    Ref,
    Scalar,
    Sequence,
    Tuple,
    Value,
    names_in,
    renamed,
)

_HINT = "count different texts or whole numbers of the data, as they are"


def made_of(state: State, node: ast.AST, found: Any) -> Ref:
    """A new set of elements: of private values, or of what the source says."""
    if isinstance(found, Sequence):
        if found.once:
            raise refuse(node, f"`{ast.unparse(node)}`, a set of noise", "keep a list", "DPA706")
        # Elements that may raise do so here.
        state.new(found)
        return state.new(Kinds(found))
    if any(guard is not None for guard, _ in found):
        raise refuse(node, f"`{ast.unparse(node)}`", "write a list comprehension", "DPA706")
    items = tuple(one for _, one in found)
    refuse_unhashable(state, node, items)
    return state.new(Items(items, "set"))


def keys_of(state: State, node: ast.AST, found: Counts | Groups) -> Scalar:
    """The number of keys of a dictionary that is filled at one place."""
    # A defaultdict has more keys after it was read.
    if found.default in ("int", "float", "list") or len(found.pairs) != 1 or not isinstance(found.pairs[0].value, Tuple):
        raise teach(node, "private keys", "the number of keys that are found in the data")
    return number_of(state, node, found.pairs[0], 0)


def number_of(state: State, node: ast.AST, found: Sequence, part: int | None = None) -> Scalar:
    """How many different values a sequence has, or how many a part of its elements has."""
    value = found.value.items[part] if part is not None and isinstance(found.value, Tuple) else found.value
    if not isinstance(value, Scalar) or value.kind not in ("int", "str"):
        if isinstance(value, Scalar):
            state.assume(value.origin, "int", "an element of a set")
        raise refuse(node, f"`{ast.unparse(node)}`", _HINT, "DPA706")
    low, high = _ends(state, node, value)
    count, seen, one = state.fresh("kinds"), state.fresh("seen"), state.fresh("kind")
    state.emit(f"{count} = 0")
    state.emit(f"for {one} in range({low}, {high}):")
    outer = state.depth
    state.depth += 1
    state.emit(f"{seen} = False")
    inner = state.depth
    element = state.opened(node, found)
    own = element.items[part] if part is not None and isinstance(element, Tuple) else element
    state.emit(f"if {numbers.scalar(state, node, own).code} == {one}:")
    state.depth += 1
    state.emit(f"{seen} = True")
    state.depth = inner
    state.emit(f"if {seen}:")
    state.depth += 1
    state.emit(f"{count} = {count} + 1")
    state.depth = outer
    return Scalar(count, "int", numbers.INT, counts=True)


def _ends(state: State, node: ast.AST, value: Scalar) -> tuple[str, str]:
    """The public ends of the columns that an element is read from; it must be what stands there."""
    columns = names_in(value.code) & set(state.columns)
    raw = any(
        value.code == renamed(code, {place: one})
        for column in columns
        for code, place in [state.columns[column]]
        for one in names_in(value.code)
    )
    if not raw:
        raise refuse(node, f"`{ast.unparse(node)}`", _HINT, "DPA706")
    for column in columns:
        if column not in state.ends:
            state.ends[column] = next(
                (state.ends[one] for one in columns if one in state.ends), (state.fresh("low"), state.fresh("high"))
            )
    return state.ends[min(columns)]


def fitted(ends: Mapping[str, tuple[str, str]], *sides: dict[str, Any]) -> None:
    """Let the ends be those of the values on all sides."""
    for low, high in dict.fromkeys(ends.values()):
        values = [one for column, pair in ends.items() if pair == (low, high) for side in sides for one in side[column]]
        for side in sides:
            side[low], side[high] = min(values, default=0), max(values, default=-1) + 1


def _unique(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
    """`numpy.unique` of private values, of which only the number is read."""
    found = iterating.drained(state, node, given(node, args, named, "ar")["ar"])
    if not isinstance(found, Sequence):
        raise refuse(node, f"`{ast.unparse(node)}` of values that are written out", "write them out", "DPA706")
    return made_of(state, node, found)


def _of_set(state: State, node: ast.AST, owner: Value, name: str, args: list[Value], named: dict[str, Value]) -> Value | None:
    """`.add` of a set that a loop fills."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    before = held.before if isinstance(held, Growing) else held
    if not isinstance(owner, Ref) or not isinstance(before, Items) or before.form != "set" or name != "add" or named:
        return None
    if len(args) != 1 or before.items or not growing(state, owner.address):
        raise refuse(node, f"`{ast.unparse(node)}`", "fill a set that starts as set() in a loop over the data", "DPA705")
    refuse_unhashable(state, node, (args[0],))
    grow(state, owner.address, args[0])
    return Nothing()


def fill() -> None:
    """Enter the functions of this module."""
    Sources.METHODS["set"] = _of_set
    Sources.MODULES["numpy.unique"] = _unique
