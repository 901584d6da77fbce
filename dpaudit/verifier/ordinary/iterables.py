"""Python's functions that make one sequence out of others: range, list, enumerate, zip, map, filter, sorted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from dpaudit.verifier.ordinary import numbers, sequences
from dpaudit.verifier.ordinary.arguments import Named, only, opaque
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Base,
    Counts,
    Fixed,
    Function,
    Nothing,
    Opaque,
    Output,
    Scalar,
    Sequence,
    Table,
    Value,
)


def read_range(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`range`."""
    only(node, args, named, 1, 3)
    parts = [numbers.whole(state, node, numbers.as_scalar(state, node, one), "in range") for one in args]
    if any(part.counts_records for part in parts):
        raise teach(node, "record by index", "a range over a private number of records", "data")
    step = parts[2] if len(parts) == 3 else numbers.constant(state, 1)
    if not step.is_known or step.known == 0:
        raise refuse(node, "a step that is no constant", "write it out", "DPA706")
    start, stop = (numbers.constant(state, 0), parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    start, stop = (_steady(state, node, one) for one in (start, stop))
    return sequences.range_of(state, start, stop, step.known)


def _steady(state: State, node: ast.AST, one: Scalar) -> Scalar:
    """An end of a range, which is evaluated once."""
    public = one.is_known or one.code.startswith("len(") or one.code in state.public
    return one if public else state.temporary(node, "end", one)


def read_listed(shape: str) -> Callable[..., Value]:
    """`list` and `tuple`: the same elements."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        only(node, args, named, 0, 1)
        if not args:
            place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
            return Fixed((), shape, place, (state.depth, state.loops), state.frames[-1])
        found = args[0]
        if isinstance(found, Sequence):
            return replace(found, shape="list")
        if isinstance(found, Output):
            return opaque(state, node, args, named)
        if isinstance(found, Table):
            found = Fixed(tuple(numbers.constant(state, key) for key in found.cells))
        if isinstance(found, Fixed):
            return state.held(node, Fixed(found.items, shape))
        if isinstance(found, Scalar):
            state.assume(found.origin, "list", "list of it")
        if isinstance(found, Counts):
            raise teach(node, "private keys", "a list of keys that are found in the data")
        raise refuse(node, f"`{ast.unparse(node)}`", "list lists only", "DPA706")

    return read


def read_enumerate(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`enumerate`: the place among the elements that there are."""
    start = named.get("start", args[1] if len(args) == 2 else numbers.constant(state, 0))
    first = numbers.whole(state, node, numbers.as_scalar(state, node, state.held(node, start)), "as a start")
    found = through(state, node, args[0])
    if isinstance(found, Fixed):
        if not first.is_known:
            raise refuse(node, "enumerate from a number that is not constant", "write it out", "DPA706")
        pairs = [Fixed((numbers.constant(state, first.known + k), one), "tuple") for k, one in enumerate(found.items)]
        return Fixed(tuple(pairs), "iterator")
    base = found.base
    if found.keep is None and base.at is not None and base.length is not None and not base.private:
        return replace(_indexed(state, node, [found], base.length, first), shape="iterator")

    def each(use: Callable[[Value], None]) -> None:
        place = state.fresh("place")
        state.varying.add(place)
        state.store(node, place, Scalar(f"{first.code} - 1" if first.code != "0" else "-1", "int"))

        def step(one: Value) -> None:
            state.store(node, place, Scalar(f"{place} + 1", "int"))
            use(Fixed((Scalar(place, "int"), one), "tuple"))

        sequences.go(state, node, found, step)

    return Sequence(Base(each, None, private=base.private, nested=base.nested), shape="iterator")


def through(state: State, node: ast.AST, found: Value) -> Fixed | Sequence:
    """Something that can be gone through."""
    if isinstance(found, Table):
        return Fixed(tuple(numbers.constant(state, key) for key in found.cells))
    if isinstance(found, (Fixed, Sequence)):
        return found
    sequences.go(state, node, found, lambda _: None)
    raise refuse(node, f"`{ast.unparse(node)}`", "go through a list", "DPA706")


def _indexed(state: State, node: ast.AST, found: list[Sequence], length: Scalar, first: Scalar | None) -> Sequence:
    """Elements of lists at one place, after the place itself where it is wanted."""

    def elements(place: Scalar) -> Value:
        parts: list[Value] = [] if first is None else [numbers.arithmetic(state, node, ast.Add(), place, first)]
        parts += [one.element(one.base.at(node, place)) for one in found if one.base.at is not None]
        return Fixed(tuple(parts), "tuple")

    def each(use: Callable[[Value], None]) -> None:
        name = state.fresh("i")
        with sequences.loop_over(state, name, length.code, private=False):
            use(elements(Scalar(name, "int")))

    return Sequence(Base(each, length, private=False, at=lambda _, place: elements(place)))


def read_zip(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`zip`: as many as the shortest list has."""
    named = dict(named)
    strict = named.get("strict")
    if isinstance(strict, Scalar) and strict.known is False:
        del named["strict"]
    only(node, args, named, 1, 8)
    found = [through(state, node, one) for one in args]
    if all(isinstance(one, Fixed) for one in found):
        rows = zip(*(one.items for one in found if isinstance(one, Fixed)), strict=False)
        return Fixed(tuple(Fixed(row, "tuple") for row in rows), "iterator")
    lists = [one for one in found if isinstance(one, Sequence)]
    if len(lists) < len(found):
        raise refuse(node, "zip of a list that is written out with another", "use lists of one length", "DPA706")
    first = lists[0]
    if all(one.base is first.base and one.keep is first.keep for one in lists):
        return Sequence(first.base, lambda one: Fixed(tuple(each.element(one) for each in lists), "tuple"), first.keep, "iterator")
    if any(one.keep is not None or one.base.at is None or one.base.length is None or one.base.private for one in lists):
        raise refuse(node, "zip of lists that do not belong together", "pass one list of tuples", "DPA706")
    codes = list(dict.fromkeys(one.base.length.code for one in lists if one.base.length is not None))
    shortest = codes[0]
    for code in codes[1:]:
        shortest = f"min({shortest}, {code})"
    return replace(_indexed(state, node, lists, Scalar(shortest, "int"), None), shape="iterator")


def read_reversed(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`reversed` of what is written out."""
    only(node, args, named, 1, 1)
    if isinstance(args[0], Fixed):
        return Fixed(tuple(reversed(args[0].items)), "iterator")
    raise refuse(node, f"`{ast.unparse(node)}`", "loop forwards", "DPA706")


def read_map(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`map` of a function of the source."""
    only(node, args, named, 2, 2)
    function, found = args[0], through(state, node, args[1])
    if not isinstance(function, Function):
        raise refuse(node, "map of something other than a function of this file", "write a comprehension", "DPA706")

    def made(one: Value) -> Value:
        with state.lazily():
            answer: Value = state.call(state, node, function, [one], {})
            return answer

    if isinstance(found, Fixed):
        return Fixed(tuple(state.held(node, made(one)) for one in found.items), "iterator")
    inner = found.element
    result = replace(found, element=lambda one: made(inner(one)), shape="iterator")
    return sequences.deferred(state, node, result)


def read_filter(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`filter` by a function of the source."""
    only(node, args, named, 2, 2)
    function, found = args[0], through(state, node, args[1])
    if not isinstance(function, Function) or not isinstance(found, Sequence):
        raise refuse(node, "this form of filter", "write a comprehension", "DPA706")
    before, made = found.keep, found.element

    def keep(one: Value) -> Scalar:
        with state.lazily():
            answer = state.call(state, node, function, [made(one)], {})
        test = numbers.as_truth(state, node, numbers.as_scalar(state, node, answer))
        return test if before is None else Scalar(f"({before(one).code} and {test.code})", "bool")

    return sequences.deferred(state, node, replace(found, keep=keep, shape="iterator"))


def read_sorted(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`sorted` of released values."""
    found = args[0] if args else Nothing()
    if isinstance(found, (Output, Opaque)) or (isinstance(found, Fixed) and set(named) <= {"reverse"}):
        return opaque(state, node, args, named)
    if isinstance(found, Sequence):
        raise teach(
            node, "sorted", "sorted data", ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "data"
        )
    raise refuse(node, f"`{ast.unparse(node)}`", "sort released values", "DPA706")
