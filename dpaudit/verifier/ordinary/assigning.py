"""Assignments: to names, parts, elements and attributes; objects are changed where they are, and all their names see it."""

from __future__ import annotations

import ast
from typing import Any

from dpaudit.verifier.ordinary import quantiles, subscripts
from dpaudit.verifier.ordinary.methods import extend
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State, frame_of
from dpaudit.verifier.ordinary.values import (
    Frame,
    Instance,
    Items,
    Record,
    Ref,
    Scalar,
    Sequence,
    Tuple,
    Value,
)


def bind(state: State, target: ast.expr, found: Value) -> None:
    """Assign a value to a target."""
    match target:
        case ast.Name(id=name):
            found = quantiles.settled(state, target, found)
            frame = frame_of(state, state.frame)
            made = Frame({**frame.names, name: found}, frame.known, frame.outer)
            state.heap[state.frame] = made
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            values = _unpacked(state, target, found, len(parts))
            for part, value in zip(parts, values, strict=True):
                bind(state, part.value if isinstance(part, ast.Starred) else part, value)
        case ast.Subscript(value=owner, slice=place):
            if isinstance(place, ast.Slice):
                raise refuse(target, f"an assignment to `{ast.unparse(target)}`", "make a new list", "DPA705")
            held = state.value(owner)
            subscripts.assign(state, target, held, state.value(place), found)
        case ast.Attribute(value=owner, attr=name):
            _set_attribute(state, target, state.value(owner), name, found)
        case _:
            raise refuse(target, f"an assignment to `{ast.unparse(target)}`", "assign to names, elements or fields", "DPA705")


def _unpacked(state: State, node: ast.expr, found: Value, size: int) -> list[Value]:
    """The parts of a value that is unpacked."""
    match found:
        case Tuple(items):
            values = list(items)
        case Record(owner, parts) if owner.style == "tuple":
            values = [value for _, value in parts]
        case Scalar(origin=str(origin)) if "[" in origin:
            state.assume(found.origin, f"tuple{size}", "unpacking")
            raise refuse(node, "a record that is unpacked", "annotate the records as tuples", "DPA703")
        case Ref() if isinstance(held := state.object(found), Items) and held.form != "set":
            values = list(held.items)
        case _:
            raise refuse(node, f"`{ast.unparse(node)}`", "unpack tuples of as many values", "DPA703")
    starred = [place for place, one in enumerate(getattr(node, "elts", [])) if isinstance(one, ast.Starred)]
    if starred and len(values) >= size - 1:
        # The rest in the middle is a new list.
        first, last = starred[0], len(values) - (size - 1 - starred[0])
        return [*values[:first], state.new(Items(tuple(values[first:last]))), *values[last:]]
    if len(values) != size:
        raise refuse(node, f"{len(values)} values for {size} names", "give as many names as values", "DPA704")
    return values


def _set_attribute(state: State, node: ast.AST, owner: Value, name: str, found: Value) -> None:
    """`owner.name = value` of an instance."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if not isinstance(owner, Ref) or not isinstance(held, Instance):
        raise teach(node, "mutation", f"an assignment to `{ast.unparse(node)}`")
    if name in {key for key, _, _ in held.owner.methods} or name.startswith("__"):
        raise refuse(node, f"an assignment to the method {name}", "use another name", "DPA705")
    state.change(node, owner.address, Instance(held.owner, {**held.parts, name: found}))


def augmented(state: State, node: ast.AugAssign) -> None:
    """`target op= value`: a list or array is changed in place, and all its names see it."""
    match node.target:
        case ast.Name(id=name):
            old = state.value(ast.copy_location(ast.Name(name, ast.Load()), node.target))
            new = _in_place(state, node, old, state.value(node.value))
            bind(state, node.target, new)
        case ast.Subscript(value=owner, slice=place) if not isinstance(place, ast.Slice):
            held = state.value(owner)
            where = state.value(place)
            before = state.object(held) if isinstance(held, Ref) else None
            amount = state.value(node.value)
            if isinstance(held, Ref) and state.object(held) is not before:
                raise refuse(node, "a value that changes what it is added to", "compute it on a line before", "DPA705")
            subscripts.add(state, node, held, where, node.op, amount)
        case ast.Attribute(value=owner, attr=name):
            held = state.value(owner)
            old = state.parts.attribute(state, node, held, name)
            _set_attribute(state, node.target, held, name, _in_place(state, node, old, state.value(node.value)))
        case _:
            raise refuse(node, f"`{ast.unparse(node)}`", "write name = name + value", "DPA705")


def _in_place(state: State, node: ast.AugAssign, old: Value, value: Value) -> Value:
    """The value of an augmented assignment; objects that may change are changed."""
    held = state.object(old) if isinstance(old, Ref) else None
    if held is None or not isinstance(old, Ref):
        return state.parts.operated(state, node, node.op, old, value)
    added = state.object(value) if isinstance(value, Ref) else None
    of_numpy = isinstance(added, (Items, Sequence)) and added.form in ("array", "any")
    if of_numpy and getattr(held, "form", "") not in ("array", "any"):
        # numpy answers first: the name gets a new array, of sums.
        raise refuse(node, f"`{ast.unparse(node)}` of a list and an array", "write .extend(...)", "DPA705")
    if isinstance(held, Items) and held.form == "list" and isinstance(node.op, ast.Add):
        extend(state, node, old, value)
        return old
    if isinstance(held, Items) and held.form == "array":
        made = state.parts.operated(state, node, node.op, old, value)
        new = state.object(made) if isinstance(made, Ref) else None
        rounded = any(not isinstance(one, Scalar) for one in held.items)
        if rounded or not isinstance(new, Items) or [_types(one) for one in new.items] != [_types(one) for one in held.items]:
            raise refuse(node, "an array that is changed in place to another type or size", "write a = a + b", "DPA705")
        state.change(node, old.address, new)
        return old
    raise refuse(node, f"`{ast.unparse(node)}`", "write a = a + b", "DPA705")


def _types(one: Value) -> Any:
    """The types of an element."""
    return one.types if isinstance(one, Scalar) else None
