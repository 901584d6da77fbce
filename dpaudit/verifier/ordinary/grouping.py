"""Dictionaries of lists: records by a key that they have, of which the lists of public keys are read."""

from __future__ import annotations

import ast
from dataclasses import replace

from dpaudit.verifier.ordinary import iterating, numbers
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.loops import grow, growing
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.subscripts import key_of, scalar_key
from dpaudit.verifier.ordinary.values import Dictionary, Entry, Groups, Growing, Items, Nothing, Ref, Scalar, Tuple, Value

Args = list[Value]
Named = dict[str, Value]


def group(state: State, node: ast.AST, held: Groups, key: Scalar, default: Value | None) -> Ref:
    """The list of a key: the elements that were put under it."""
    empty = default is None and held.default == "list"
    other = state.object(default) if isinstance(default, Ref) else default
    if not empty and not (isinstance(other, (Items, Tuple)) and not other.items and getattr(other, "form", "list") == "list"):
        raise refuse(node, f"`{ast.unparse(node)}`", "use .get(key, []), or a defaultdict(list)", "DPA706")

    def of_key(pair: Value) -> tuple[Scalar, Value]:
        assert isinstance(pair, Tuple)  # noqa: S101 - for the type checker
        own, inner = numbers.scalar(state, node, pair.items[0]), pair.items[1]
        assert isinstance(inner, Tuple)  # noqa: S101 - for the type checker
        if own.kind != key.kind:
            raise refuse(node, "a key of another type", "look up keys of the type of the data", "DPA703")
        return numbers.compared(state, node, ast.Eq(), own, key), inner.items[0]

    return state.new(replace(iterating.over(state, node, held.pairs[0], of_key), form="list"))


def _of_entry(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """`groups[key].append(value)` in the loop that fills the dictionary."""
    if not isinstance(owner, Entry) or owner.form != "list":
        return None
    value = given(node, args, named, "object")["object"]
    if name != "append" or named or owner.read != state.grown():
        raise refuse(node, f"`{ast.unparse(node)}`", "write `groups[key].append(value)` on a line of its own", "DPA706")
    grow(state, owner.address, Tuple((owner.key, Tuple((value,)))))
    return Nothing()


def _setdefault(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """`.setdefault(key, value)`."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if name != "setdefault" or not isinstance(owner, Ref) or not isinstance(held, (Dictionary, Growing)):
        return None
    before = held.before if isinstance(held, Growing) else held
    if not isinstance(before, Dictionary) or named or len(args) != 2 or before.default:
        raise refuse(node, f"`{ast.unparse(node)}`", "write `groups.setdefault(key, [])` of a plain dictionary", "DPA705")
    key, value = scalar_key(state, node, args[0]), args[1]
    other = state.object(value) if isinstance(value, Ref) else value
    if not key.is_known and not before.entries and growing(state, owner.address):
        if isinstance(node, ast.Call) and isinstance(node.args[1], ast.List) and not node.args[1].elts:
            # A new list each time, which nothing else holds.
            state.ensured.add((owner.address, key.code, "list"))
            return Entry(owner.address, key, read=state.grown(), form="list")
        if isinstance(other, Scalar) and other.known == 0 and other.types == numbers.INT:
            state.ensured.add((owner.address, key.code, "number"))
            return Entry(owner.address, key, read=state.grown())
    if not key.is_known or isinstance(held, Growing):
        raise teach(node, "private keys", f"`{ast.unparse(node)}`")
    known = key_of(state, node, key)
    cells = dict(before.entries)
    if known not in cells:
        cells[known] = value
        state.change(node, owner.address, replace(before, entries=tuple(cells.items())))
    found: Value = cells[known]
    return found


def _of_groups(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """Methods of a dictionary of lists."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if not isinstance(held, Groups):
        return None
    if name == "get" and len(args) == 2 and not named:
        return group(state, node, held, scalar_key(state, node, args[0]), args[1])
    raise teach(node, "private keys", f"`.{name}` of a dictionary over keys that are found in the data")


def fill() -> None:
    """Enter the methods of this module, which are looked for before those of dictionaries."""
    Sources.METHODS.update(entry=_of_entry, setdefault=_setdefault, groups=_of_groups)
