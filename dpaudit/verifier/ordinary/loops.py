"""Loops of the core program: the body is interpreted once, with a core name for each number that a round may change."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dpaudit.verifier.ordinary import outcomes
from dpaudit.verifier.ordinary.lines import Line, Loop, Released, as_kind, assigned_in, core_names
from dpaudit.verifier.ordinary.numbers import DATA_BITS, MOST_BITS, MOST_FLOAT_BITS
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Counts,
    Dictionary,
    Groups,
    Growing,
    Items,
    Kinds,
    Object,
    Output,
    Poison,
    Record,
    Row,
    Scalar,
    Sequence,
    Spent,
    Tuple,
    Value,
    names_in,
)

_HEAD: Final = re.compile(r"for (\w+) in range\(0, (.*)\):$")
_EFFECTS: Final = re.compile(r"^(?:noise__\d+ = |raise |break$|continue$)")
_MOST_PASSES: Final = 40
_ADDED_BITS: Final = 16
"""By how much a round may let a number grow that it only adds to."""


@dataclass
class _Changes:
    """What a round does to places that were there before the loop."""

    phis: dict[tuple[int, Any], Value] = field(default_factory=dict)  # numbers under core names
    lost: dict[tuple[int, Any], str] = field(default_factory=dict)  # places that have no one value
    pieces: dict[int, Object] = field(default_factory=dict)  # objects that the loop fills, or replaces


def repeat(
    state: State, node: ast.AST, opening: Callable[[], Value], body: Callable[[Value], object], *, private: bool, public: bool
) -> None:
    """Write a loop of the core program: `opening` writes its head and gives the element, `body` interprets a round.

    `private` says whether it goes through records that come and go, `public` whether the number of rounds is public.
    """
    found, entry = _Changes(), dict(state.heap)
    leaves = False
    for _ in range(_MOST_PASSES):
        with state.trial():
            _enter(state, found)
            loop, ends = _round(state, opening, body, found, private=private, public=public)
        if loop.leaves and not leaves:
            leaves, public = True, False
            continue
        if not _learn(state, entry, loop, ends, found, public=public):
            break
    else:
        raise refuse(node, "a loop in which too much changes", "keep less from one round to the next", "DPA706")
    filled = {
        address: _filled(state, address, one, loop, loop.grown[address])
        for address, one in found.pieces.items()
        if isinstance(one, Growing)
    }
    for address, one in filled.items():
        if isinstance(one, Output):
            before = state.heap[address]
            for item in before.items if isinstance(before, Items) else ():
                outcomes.append(state, node, one, item)
            found.pieces[address] = one
    for (address, key), phi in found.phis.items():
        for leaf, value in _leaves(phi, state.heap[address].cells()[key]):
            state.emit(f"{leaf.code} = {as_kind(value, leaf.kind)}")
    _enter(state, found)
    after = dict(state.heap)
    loop, ends = _round(state, opening, body, found, private=private, public=public)
    state.heap = after
    if _learn(state, entry, loop, ends, found, public=public):
        raise refuse(node, "a loop in which too much changes", "keep less from one round to the next", "DPA706")
    state.heap.update(filled)
    state.private_tests += leaves


def _enter(state: State, found: _Changes) -> None:
    """Let the heap be that of any round."""
    for address, piece in found.pieces.items():
        state.heap[address] = piece
    places: dict[int, dict[Any, Value]] = {}
    for (address, key), phi in found.phis.items():
        places.setdefault(address, {})[key] = phi
    for (address, key), why in found.lost.items():
        places.setdefault(address, {})[key] = Poison(why)
    for address, cells in places.items():
        if address not in found.pieces:
            held = state.heap[address]
            state.heap[address] = held.made({**held.cells(), **cells})


def _round(
    state: State, opening: Callable[[], Value], body: Callable[[Value], object], found: _Changes, *, private: bool, public: bool
) -> tuple[Loop, list[Mapping[int, Object]]]:
    """Interpret one round: the loop, and the heaps at its ends."""
    loop = Loop(private, len(state.so_far()), state.depth, dict(state.heap), public=public)
    loop.phis = {one.code for phi in found.phis.values() for one, _ in _leaves(phi, phi)}
    loop.leave = lambda: _assign(state, found)
    loop.tests = state.private_tests + (not public)
    ensured = set(state.ensured)
    state.loops.append(loop)
    state.record_loops += private
    element = opening()
    tests = state.private_tests
    with state.private(not public):
        size = len(state.lines)
        body(element)
        ends = [*loop.breaks, *([] if state.dead else [dict(state.heap)])]
        if not state.dead:
            _assign(state, found)
    loop.lines = state.so_far()[loop.start :]
    if len(state.lines) == size:
        state.emit("pass")
    state.private_tests, state.ensured = tests, ensured
    state.dead = False
    state.depth = loop.depth
    state.record_loops -= private
    state.loops.pop()
    return loop, ends


def _leaves(phi: Value, value: Value) -> list[tuple[Scalar, Scalar]]:
    """The scalars of two values of one form, in pairs."""
    match phi, value:
        case Scalar(), Scalar():
            return [(phi, value)]
        case Tuple(items), Tuple(others):
            return [pair for one, other in zip(items, others, strict=True) for pair in _leaves(one, other)]
        case Record(parts=parts), Record(parts=others):
            return [pair for (_, one), (_, other) in zip(parts, others, strict=True) for pair in _leaves(one, other)]
    return []


def _assign(state: State, found: _Changes) -> None:
    """Write the numbers of the next round, all at once."""
    pairs: list[tuple[str, str]] = []
    for (address, key), phi in found.phis.items():
        value = state.heap[address].cells().get(key)
        if value is not None and not isinstance(value, Poison):
            pairs += [(one.code, as_kind(new, one.kind)) for one, new in _leaves(phi, value) if new.code != one.code]
    targets = {name for name, _ in pairs}
    if any((names_in(code) & targets) - {name} for name, code in pairs):
        for place, (name, code) in enumerate(pairs):
            held = state.fresh("t")
            state.emit(f"{held} = {code}")
            pairs[place] = (name, held)
    for name, code in pairs:
        state.emit(f"{name} = {code}")


def _learn(
    state: State, entry: Mapping[int, Object], loop: Loop, ends: list[Mapping[int, Object]], found: _Changes, *, public: bool
) -> bool:
    """Add what a round changed; True if that is new."""
    before = (dict(found.phis), dict(found.lost), dict(found.pieces))
    for address in loop.grown:
        if address not in found.pieces:
            held = entry[address]
            assert isinstance(held, (Items, Dictionary))  # noqa: S101 - for the type checker
            found.pieces[address] = Growing(held)
    for end in ends:
        for address, start in entry.items():
            now, then = end[address], loop.before[address]
            if now is then or now == then or address in found.pieces:
                continue
            if now.shape != then.shape:
                found.pieces[address] = Spent(f"a list, dictionary or array that the loop of line {state.line} changes")
                continue
            old, new, first = then.cells(), now.cells(), start.cells()
            for key in dict.fromkeys((*old, *new)):
                place = (address, key)
                if place in found.lost or (key in old and key in new and old[key] == new[key]):
                    continue
                joined: Value | None = None
                if key in first and key in new:
                    joined = _phi(state, loop, str(key), first[key], found.phis.get(place, first[key]), new[key], public=public)
                if joined is None:
                    found.phis.pop(place, None)
                    found.lost[place] = f"which the loop of line {state.line} may or may not have assigned"
                else:
                    found.phis[place] = joined
    return before != (found.phis, found.lost, found.pieces)


def grows(lines: list[Line], code: str, phis: set[str]) -> bool:
    """True if a round may do more to a number than add what does not depend on the rounds before, or replace it."""
    known: dict[str, list[str]] = {}
    for _, text, _ in lines:
        name, found, value = text.partition(" = ") if isinstance(text, str) else ("", "", "")
        if found and name not in phis:
            known.setdefault(name, []).append(value)

    shares: dict[str, int] = {}
    again: set[str] = set()

    def inner(name: str) -> int:
        if name not in shares:
            shares[name] = -1
            found = max((share(ast.parse(one, mode="eval").body) for one in known.get(name, [])), default=0)
            # What a loop inside adds up may be added many times.
            shares[name] = 2 * found if name in again else found
        if shares[name] < 0:
            again.add(name)
        return max(shares[name], 0)

    def share(node: ast.AST) -> int:
        match node:
            case ast.Name(id=name):
                return 1 if name in phis else inner(name)
            case ast.IfExp(body=one, orelse=other):
                return max(share(one), share(other))
            case ast.BinOp(left=one, op=ast.Add() | ast.Sub(), right=other):
                return share(one) + share(other)
            case ast.UnaryOp(operand=one) | ast.BinOp(left=one, op=ast.FloorDiv() | ast.Mod()):
                return share(one)
            case ast.Call(func=ast.Name(id="min" | "max"), args=args):
                return max(map(share, args))
        return 2 * max(map(share, ast.iter_child_nodes(node)), default=0)

    return share(ast.parse(code, mode="eval").body) > 1


def _phi(state: State, loop: Loop, stem: str, first: Value, known: Value, new: Value, *, public: bool) -> Value | None:
    """What a place holds in any round, or None."""
    match first, known, new:
        case Scalar(), Scalar(), Scalar() if known.kind == new.kind or {known.kind, new.kind} == {"int", "real"}:
            name = known.code if known is not first else state.fresh(stem if stem.isidentifier() and "__" not in stem else "c")
            made = state.mixed(name, replace(known, known=UNKNOWN), new, None, public=public)
            bits = max(known.bits, DATA_BITS)
            bits = new.bits if new.bits > bits + _ADDED_BITS else bits
            if made.kind == "int" and grows(loop.lines, new.code, loop.phis | {name}):
                bits = 2 * MOST_FLOAT_BITS
            if "np.int" in made.types and bits > MOST_BITS:
                return None
            return replace(made, bits=min(bits, 2 * MOST_FLOAT_BITS), positive=False, tests=() if made.firm else None)
        case Tuple(items), Tuple(knowns), Tuple(others) if len(items) == len(knowns) == len(others):
            parts = [_phi(state, loop, stem, *three, public=public) for three in zip(items, knowns, others, strict=True)]
            return None if None in parts else Tuple(tuple(part for part in parts if part is not None))
        case Record(owner, items), Record(_, knowns), Record(another, others) if owner == another:
            fields = [
                (name, _phi(state, loop, stem, one, two, three, public=public))
                for (name, one), (_, two), (_, three) in zip(items, knowns, others, strict=True)
            ]
            return (
                None
                if any(one is None for _, one in fields)
                else Record(owner, tuple((name, one) for name, one in fields if one is not None))
            )
    return new if new == known else None


# Lists and dictionaries that a loop fills.


def growing(state: State, address: int) -> Loop | None:
    """The outermost loop of the core program that a list or dictionary is older than; None outside of such loops."""
    return next((loop for loop in state.loops if address in loop.before), None)


def grow(state: State, address: int, value: Value) -> None:
    """Let a list or dictionary grow in a loop: a list by a value, a dictionary by a pair of a key and an amount."""
    if address in state.shared:
        raise teach(ast.Pass(), "mutation", "a change of something that outlives the call", line=state.line)
    loop = growing(state, address)
    assert loop is not None  # noqa: S101 - callers have looked
    loop.grown.setdefault(address, []).append((value, _template(state, loop, value)))


def is_plain(value: Value) -> bool:
    """True for numbers and what is made of them."""
    match value:
        case Scalar():
            return True
        case Tuple(items):
            return all(map(is_plain, items))
        case Record(parts=parts) | Row(parts=parts):
            return all(is_plain(one) for _, one in parts)
    return False


def _template(state: State, loop: Loop, value: Value) -> Sequence | None:
    """The rounds that come to this place, as a sequence of its own; None where it depends on other rounds or draws."""
    lines: list[Line] = [(depth - loop.depth, text, line) for depth, text, line in state.so_far()[loop.start :]]
    if not is_plain(value) or any(isinstance(text, Released) or _EFFECTS.match(text) for _, text, _ in lines):
        return None
    phis = {name for one in state.loops[state.loops.index(loop) :] for name in one.phis}
    used = {name for _, text, _ in lines for name in names_in(text)} | core_names(value)
    if used & phis:
        return None
    inside = {"private": any(one.private for one in state.loops), "public": loop.public}
    return template(lines, state.depth - loop.depth, value, **inside)


def template(lines: list[Line], depth: int, value: Value, *, private: bool, public: bool) -> Sequence:
    """A sequence made of the lines of a loop; it keeps all places where nothing in it is under a test."""
    head = _HEAD.match(lines[0][1])
    names = assigned_in(lines)
    index, length, base = "", None, ""
    if head and depth == 1 and not private:
        index, length = head.group(1), Scalar(head.group(2), "int", frozenset({"int"}), public=public)
        base = f"range {head.group(2)}"
    return Sequence(tuple(lines), depth, value, names, length, index, private, base=base, head=1 if base else 0)


def _filled(state: State, address: int, found: Growing, loop: Loop, grown: list[tuple[Any, Sequence | None]]) -> Object:
    """What a list or dictionary is after the loop that filled it."""
    # A break ends the rounds, which no sequence does.
    templates = [None if loop.broken else one for _, one in grown]
    before = found.before
    if address in state.entered and len(grown) == 1 and len(state.loops) == 0:
        return replace(state.channel(), form="dict")
    if isinstance(before, Dictionary):
        lists = [isinstance(value, Tuple) and isinstance(value.items[1], Tuple) for value, _ in grown]
        if any(lists) and (len(grown) > 1 or before.default not in ("", "list")):
            return Spent("a dictionary whose lists are filled at more than one place")
        if any(lists) and templates[0] is not None:
            return Groups((templates[0],), before.default)
        if all(one is not None for one in templates):
            return Counts(tuple(one for one in templates if one is not None), before.default)
        return Spent("a dictionary whose entries are more than sums over records")
    if len(grown) == 1 and templates[0] is not None and not before.items:
        return Kinds(templates[0]) if before.form == "set" else templates[0]
    if before.form == "set":
        return Spent("a set that depends on the records before")
    if (loop.private or state.record_loops) and not state.lenient:
        return Spent("a list of records that depends on the records before")
    if state.loops:
        # An output list goes on from round to round, and a new list does not.
        return Spent("a list that is new in each round of the loop around")
    return replace(state.channel(), form=before.form)
