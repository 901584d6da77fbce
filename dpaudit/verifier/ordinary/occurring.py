"""What shows which records there are: keys that occur in the data, and records by their place. It is read to refute claims only."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from dpaudit.verifier.ordinary import iterating, numbers, outcomes
from dpaudit.verifier.ordinary.lines import as_kind
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Counts,
    Kinds,
    Nothing,
    Object,
    Output,
    Ref,
    Scalar,
    Sequence,
    Tuple,
    Value,
    mapped,
)

_FIRST = {"int": "0", "real": "Fraction(0)", "bool": "False", "str": "0"}


def keys_of(state: State, node: ast.AST, held: Counts | Kinds, what: str = "keys") -> Sequence:
    """The keys of a dictionary of counts, or values of a set, each where it occurs first: keys, values or pairs of both."""
    if isinstance(held, Counts) and len(held.pairs) != 1:
        raise refuse(node, "a dictionary that is filled at several places", "fill it at one place", "DPA706")
    source = held.pairs[0] if isinstance(held, Counts) else held.source
    if source.once:
        raise refuse(node, f"`{ast.unparse(node)}`", "count records, not noise", "DPA706")
    state.unordered = state.unordered or isinstance(held, Kinds)

    def first(value: Value) -> tuple[None, Value]:
        key, amount = value.items if isinstance(value, Tuple) and isinstance(held, Counts) else (value, numbers.constant(state, 1))
        own, added = numbers.scalar(state, node, key), numbers.number(state, node, amount)
        place = str(state.lines[0][1]).split()[1]
        seen, total, depth, begin = state.fresh("seen"), state.fresh("total"), state.depth, len(state.lines)
        state.emit(f"{seen} = False")
        state.emit(f"{total} = {'Fraction(0)' if added.kind == 'real' else '0'}")
        begin = len(state.lines)
        other = state.opened(node, source)
        before = str(state.lines[begin][1]).split()[1]
        another, more = other.items if isinstance(other, Tuple) and isinstance(held, Counts) else (other, amount)
        state.emit(f"if {numbers.scalar(state, node, another).code} == {own.code}:")
        state.depth += 1
        state.emit(f"{total} = {total} + {as_kind(numbers.number(state, node, more), added.kind)}")
        state.emit(f"if {before} < {place}:")
        state.depth += 1
        state.emit(f"{seen} = True")
        state.depth = depth
        state.emit(f"if not {seen}:")
        state.depth += 1
        summed = replace(added, code=total, known=UNKNOWN, public=False, positive=False, origin=None)
        # Its name is assigned once for each key.
        named = state.keep("key", replace(own, public=False))
        made = {"keys": named, "values": summed}.get(what, Tuple((named, summed)))
        return None, made

    return replace(iterating.over(state, node, source, first), form="list")


def record_at(state: State, node: ast.AST, held: Sequence, place: Value) -> Value:
    """The record at a place, which must be there."""
    where = numbers.whole(state, node, place, "as an index")
    if held.once:
        raise refuse(node, f"`{ast.unparse(node)}`", "loop over it", "DPA706")
    size = state.fresh("size")
    if where.is_known and where.known < 0:
        depth = state.depth
        state.emit(f"{size} = 0")
        state.opened(node, held)
        state.emit(f"{size} = {size} + 1")
        state.depth = depth
        where = replace(where, code=f"({size} + {where.code})", known=UNKNOWN)
    at, there, depth = state.fresh("at"), state.fresh("there"), state.depth
    state.emit(f"{at} = 0")
    state.emit(f"{there} = False")
    names: dict[str, Scalar] = {}

    def name(one: Scalar) -> Scalar:
        made = state.fresh("record")
        state.emit(f"{made} = {_FIRST[one.kind]}")
        names[made] = one
        return replace(one, code=made, known=UNKNOWN, public=False, positive=False, origin=None)

    found = mapped(held.value, name)
    value = state.opened(node, held)
    state.emit(f"if {at} == {where.code}:")
    state.depth += 1
    state.emit(f"{there} = True")
    for made, one in zip(names, _leaves(value), strict=True):
        state.emit(f"{made} = {as_kind(one, names[made].kind)}")
    state.depth -= 1
    state.emit(f"{at} = {at} + 1")
    state.depth = depth
    test = Scalar(there, "bool", numbers.BOOL)
    state.branch(test, lambda: None, lambda: outcomes.ended(state, node, "IndexError", []))
    return found


def _leaves(value: Value) -> list[Scalar]:
    """The scalars of a value, in the order in which they are mapped."""
    found: list[Scalar] = []

    def take(one: Scalar) -> Scalar:
        found.append(one)
        return one

    mapped(value, take)
    return found


def as_dictionary(state: State, node: ast.DictComp, found: Sequence, held: Object | None) -> Ref:
    """A dictionary over keys that occur, put out pair by pair; each key once."""
    parts: tuple[Any, ...] = getattr(held, "parts", ())
    inner = state.object(parts[0]) if getattr(held, "what", "") == "items" and isinstance(parts[0], Ref) else held
    target = node.generators[0].target
    first = target.elts[0] if isinstance(target, ast.Tuple) else target
    same = isinstance(first, ast.Name) and isinstance(node.key, ast.Name) and node.key.id == first.id
    if not isinstance(inner, (Counts, Kinds)) or not same or state.loops:
        raise refuse(node, f"`{ast.unparse(node)}`", "make sets and dictionaries of keys that are written out", "DPA706")
    made = replace(state.channel(), form="dict")
    depth = state.depth
    outcomes.append(state, node, made, state.opened(node, found))
    state.depth = depth
    return state.new(made)


def entered(state: State, node: ast.AST, owner: Ref, key: Scalar, value: Value) -> bool:
    """`noisy[key] = value` for a key of the loop around, which comes once; True if it was read."""
    held = state.object(owner)
    if not state.lenient or (len(state.loops), key.code) not in state.distinct:
        return False
    if isinstance(held, Output):
        outcomes.append(state, node, held, Tuple((key, value)))
        return True
    loop = next((one for one in state.loops if owner.address in one.before), None)
    if loop is None or loop is not state.loops[-1]:
        return False
    state.entered.add(owner.address)
    loop.grown.setdefault(owner.address, []).append((Tuple((key, Nothing())), None))
    return True
