"""Order statistics of private lists: `sorted(x)[k]`, medians. They may move far, so that most claims about them are refuted."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction

from dpaudit.verifier.ordinary import arrays, numbers
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Items, Ranked, Ref, Scalar, Sequence, Value


def ranked(state: State, node: ast.AST, found: Sequence, reverse: Scalar) -> Ref:
    """A private list in order."""
    if found.once or not isinstance(found.value, Scalar) or found.value.kind not in ("int", "real"):
        raise refuse(node, f"`{ast.unparse(node)}`", "sort numbers of the data", "DPA706")
    if type(reverse.known) is not bool:
        raise refuse(node, f"`{ast.unparse(node)}`", "write reverse=True out", "DPA706")
    # Elements that may raise do so here.
    state.new(found)
    return state.new(Ranked(found, falling=reverse.known))


def element(state: State, node: ast.AST, held: Ranked, place: Value) -> Scalar:
    """The element of a place: the one before which so many others come, equal ones being one block."""
    where = numbers.whole(state, node, place, "as an index")
    size = numbers.number(state, node, arrays.length(state, node, state.new(held.source)))
    if where.is_known and where.known < 0:
        where = numbers.arithmetic(state, node, ast.Add(), size, where)
    state.owe(f"0 <= {where.code} and {where.code} < {size.code}")
    if held.falling:
        last = numbers.arithmetic(state, node, ast.Sub(), size, numbers.constant(state, 1))
        where = numbers.arithmetic(state, node, ast.Sub(), last, where)
    return _at(state, node, held.source, where)


def _at(state: State, node: ast.AST, found: Sequence, where: Scalar) -> Scalar:
    """The element that so many others come before, in a loop over all and a loop over all in it."""
    top, below, equal, outer = state.fresh("ranked"), state.fresh("below"), state.fresh("equal"), state.depth
    place = state.keep("rank", where)
    kind = found.value.kind if isinstance(found.value, Scalar) else "real"
    state.emit(f"{top} = {'0' if kind == 'int' else 'Fraction(0)'}")
    one = numbers.number(state, node, state.opened(node, found))
    state.emit(f"{below} = 0")
    state.emit(f"{equal} = 0")
    inner = state.depth
    other = numbers.number(state, node, state.opened(node, found))
    depth = state.depth
    for test, name in ((f"{other.code} < {one.code}", below), (f"{other.code} == {one.code}", equal)):
        state.emit(f"if {test}:")
        state.depth += 1
        state.emit(f"{name} = {name} + 1")
        state.depth = depth
    state.depth = inner
    state.emit(f"if {below} <= {place.code} and {place.code} < {below} + {equal}:")
    state.depth += 1
    state.emit(f"{top} = {one.code}")
    state.depth = outer
    # What decided the type of an element is gone after the loop.
    return Scalar(top, one.kind, one.types, tests=() if one.firm else None, bits=one.bits)


def _median(state: State, node: ast.AST, args: list[Value], named: dict[str, Value]) -> Value:
    """The median: the element in the middle, or the mean of the two there."""
    name = "data" if state.callee.startswith("statistics") else "a"
    source = given(node, args, named, name)[name]
    held = arrays.held_by(state, node, source)
    if isinstance(held, Items) or not isinstance(held.value, Scalar):
        raise refuse(node, f"`{ast.unparse(node)}` of values that are written out", "use min and max", "DPA706")
    order = state.new(Ranked(held))
    size = numbers.number(state, node, arrays.length(state, node, state.new(held)))
    kept = state.object(order)
    assert isinstance(kept, Ranked)  # noqa: S101 - for the type checker
    two = numbers.constant(state, 2)
    less = numbers.arithmetic(state, node, ast.Sub(), size, numbers.constant(state, 1))
    state.owe(f"0 < {size.code}")
    low, high = (_at(state, node, kept.source, numbers.arithmetic(state, node, ast.FloorDiv(), one, two)) for one in (less, size))
    half = numbers.constant(state, Fraction(1, 2))
    made = numbers.arithmetic(state, node, ast.Mult(), half, numbers.arithmetic(state, node, ast.Add(), low, high))
    state.real("floats")
    types = arrays.FLOAT if state.callee.startswith("numpy") else frozenset({"int", "float"})
    return replace(made, types=types, tests=() if len(types) == 1 else None, public=False)


def fill() -> None:
    """Enter the functions of this module."""
    Sources.MODULES.update({"numpy.median": _median, "statistics.median": _median})
