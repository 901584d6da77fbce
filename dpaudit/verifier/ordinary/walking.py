"""Ways through things of which the source says how many there are, step by step as Python goes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.verifier.ordinary import nested, numbers
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Dictionary, Items, Scalar, Tuple, Value


@dataclass(frozen=True)
class Walk:
    """A place in something that is gone through: it is read again at each step, as Python does."""

    what: str
    source: Any = None
    place: int = 0
    parts: tuple[Walk, ...] = ()


def step(state: State, node: ast.AST, at: Walk) -> tuple[Value, Walk] | None:
    """The next element, and the place after it."""
    after = replace(at, place=at.place + 1)
    match at.what:
        case "tuple" | "short":
            return (at.source.items[at.place], after) if at.place < len(at.source.items) else None
        case "range":
            return (numbers.constant(state, at.source[at.place]), after) if at.place < len(at.source) else None
        case "list":
            found = state.object(at.source)
            if not isinstance(found, Items):
                raise refuse(node, "a loop over a list that changes", "go through a copy, list(...)", "DPA705")
            return (found.items[at.place], after) if at.place < len(found.items) else None
        case "backwards":
            found = state.object(at.source)
            if not isinstance(found, Items) or at.place > len(found.items):
                raise refuse(node, "a loop over a list that changes", "go through a copy, list(...)", "DPA705")
            return (found.items[at.place - 1], replace(at, place=at.place - 1)) if at.place else None
        case "keys" | "values" | "items":
            return _entry(state, node, at, after)
        case "enumerate":
            inner = step(state, node, at.parts[0])
            if inner is None:
                return None
            return Tuple((numbers.constant(state, at.source + at.place), inner[0])), replace(after, parts=(inner[1],))
        case "zip":
            values, parts = [], list(at.parts)
            for place, part in enumerate(at.parts):
                inner = step(state, node, part)
                if inner is None:
                    if at.source and (place or any(step(state, node, other) is not None for other in at.parts[1:])):
                        raise refuse(node, "zip of unequal lengths", "use one length", "DPA704")
                    return None
                values.append(inner[0])
                parts[place] = inner[1]
            return (Tuple(tuple(values)), replace(after, parts=tuple(parts))) if parts else None
    raise refuse(node, f"a loop over {at.what}", "write a loop over a list", "DPA706")


def guard(state: State, node: ast.AST, at: Walk) -> Scalar | None:
    """The condition under which there is a next element, where the source does not say how many there are."""
    if at.what == "short":
        return nested.guard(state, node, at.source, at.place) if at.place < len(at.source.items) else None
    found = [one for part in at.parts if (one := guard(state, node, part)) is not None]
    return found[0] if len(found) == 1 and at.what == "enumerate" else _both(node, found)


def _both(node: ast.AST, found: list[Scalar]) -> Scalar | None:
    """Refuse lists inside of records beside other things."""
    if found:
        raise refuse(node, f"`{ast.unparse(node)}`", "loop over the list inside of the record alone", "DPA706")
    return None


def _entry(state: State, node: ast.AST, at: Walk, after: Walk) -> tuple[Value, Walk] | None:
    """The next key, value or pair of a dictionary, which may not get other keys meanwhile."""
    found = state.object(at.source)
    if not isinstance(found, Dictionary):
        raise teach(node, "private keys", "a loop over keys that are found in the data")
    if at.parts and at.parts[0].source != found.shape:
        raise refuse(node, "a loop over a dictionary that gets new keys", "go through list(...) of its keys", "DPA705")
    after = replace(after, parts=(Walk("shape", found.shape),))
    if at.place >= len(found.entries):
        return None
    key, value = found.entries[at.place]
    name = numbers.constant(state, key)
    return (name if at.what == "keys" else value if at.what == "values" else Tuple((name, value))), after


def check_even(node: ast.AST, walks: list[Any], drawing: int) -> None:
    """Refuse draws beside other things of another length: Python draws as it goes on, and no more than it needs."""
    sizes = {len(one.source.items) if isinstance(one, Walk) and one.what == "tuple" else -1 for one in walks}
    if drawing > 1 or (drawing and (len(sizes) > 1 or -1 in sizes)):
        raise refuse(node, f"`{ast.unparse(node)}`, which draws,", "make a list of the noise first", "DPA706")
