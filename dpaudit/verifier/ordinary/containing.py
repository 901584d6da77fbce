"""Whether something is among others: `one in owner`."""

from __future__ import annotations

import ast
from typing import Any

from dpaudit.verifier.ordinary import numbers, wording
from dpaudit.verifier.ordinary.loops import growing
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.subscripts import scalar_key
from dpaudit.verifier.ordinary.values import Counts, Dictionary, Entry, Growing, Items, Nothing, Ref, Scalar, Span, Tuple, Value


def contains(state: State, node: ast.AST, one: Value, owner: Value) -> Any:
    """`one in owner`."""
    held = state.object(owner) if isinstance(owner, Ref) else owner
    if isinstance(owner, Scalar) and isinstance(one, Scalar) and isinstance(one.known, str):
        found_in = wording.derived(state, node, owner, "in", (one.known,))
        if found_in is not None:
            return found_in
    match held:
        case Tuple(items) | Items(items):
            values = list(items)
        case Dictionary(entries):
            if not entries and isinstance(owner, Ref) and growing(state, owner.address):
                return Entry(owner.address, scalar_key(state, node, one))
            values = [numbers.constant(state, key) for key, _ in entries]
        case Span(start, stop, 1):
            place = numbers.number(state, node, one)
            if place.kind != "int":
                raise refuse(node, f"`{ast.unparse(node)}` of a number that may not be whole", "compare with < and <=", "DPA703")
            return numbers.connected(
                "and",
                [
                    numbers.compared(state, node, ast.LtE(), start, place),
                    numbers.compared(state, node, ast.Lt(), place, stop),
                ],
            )
        case Growing(Dictionary()) if isinstance(owner, Ref):
            return Entry(owner.address, scalar_key(state, node, one))
        case Growing(Dictionary()) | Counts():
            raise refuse(node, f"`{ast.unparse(node)}`", "count with `counts[key] = counts.get(key, 0) + 1`", "DPA706")
        case _:
            raise refuse(node, f"`{ast.unparse(node)}`", "look for it in a list or dictionary that is written out", "DPA706")
    wanted = numbers.scalar(state, node, one)
    found = []
    for value in values:
        if isinstance(value, Nothing):
            continue
        other = numbers.scalar(state, node, value)
        if "str" in (wanted.kind, other.kind) and wanted.kind != other.kind:
            for side in (wanted, other):
                state.assume(side.origin, "str", "a text that it is looked for among")
            raise refuse(node, f"`{ast.unparse(node)}` of texts and numbers", "use one type", "DPA703")
        found.append(numbers.compared(state, node, ast.Eq(), wanted, other))
    return numbers.connected("or", found)
