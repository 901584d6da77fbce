"""Comprehensions: loops that are written where their elements are used."""

from __future__ import annotations

import ast
from collections.abc import Callable

from dpaudit.verifier.ordinary import numbers, sequences
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Base, Counts, Fixed, Function, Method, Scalar, Scope, Sequence, Table, Value


def comprehension(state: State, node: ast.ListComp | ast.GeneratorExp, *, once: bool) -> Value:
    """A comprehension."""
    shape = "iterator" if once else "list"
    first = node.generators[0]
    if any(part.is_async for part in node.generators):
        raise refuse(node, "an async comprehension", "write a plain one")
    source = state.value(first.iter)
    scope = sequences.frozen(state.scope)

    def inner(found: Value) -> Scope:
        new = Scope({}, scope, state.scope.prefix, {})
        sequences.bind_target(state, first.target, new, found)
        return new

    def under(new: Scope, read: Callable[[], Value]) -> Value:
        outer, state.scope = state.scope, new
        try:
            with state.lazily():
                return read()
        finally:
            state.scope = outer

    def tests(found: Value) -> Scalar:
        parts = under(inner(found), lambda: numbers.connected(node, "and", [numbers.truth(state, one) for one in first.ifs]))
        return numbers.as_scalar(state, node, parts)

    if len(node.generators) > 1:
        return _nested(state, node, shape)
    if isinstance(source, Table):
        source = Fixed(tuple(numbers.constant(state, key) for key in source.cells))
    if isinstance(source, Fixed):
        chosen, drawn = [], state.draws
        for one in source.items:
            test = tests(one) if first.ifs else numbers.constant(state, known=True)
            if not test.is_known:
                return _nested(state, node, shape)
            if test.known:
                found = sequences.settle(state, node, under(inner(one), lambda: state.value(node.elt)))
                if isinstance(found, (Function, Method)):
                    raise refuse(
                        node, "functions made in a comprehension", "they all see its last round; define each one", "DPA706"
                    )
                chosen.append(state.held(node, found))
        return Fixed(tuple(chosen), "list" if not once else "iterator" if state.draws == drawn else "draws")
    if not isinstance(source, Sequence):
        sequences.go(state, first.iter, source, lambda _: None)
        raise refuse(first.iter, f"a loop over `{ast.unparse(first.iter)}`", "loop over a list parameter or range", "DPA706")
    before, made = source.keep, source.element

    def keep(value: Value) -> Scalar:
        test = tests(made(value))
        return test if before is None else Scalar(f"({before(value).code} and {test.code})", "bool")

    return sequences.deferred(
        state,
        node,
        Sequence(
            source.base,
            lambda value: under(inner(made(value)), lambda: state.value(node.elt)),
            keep if first.ifs else before,
            shape,
        ),
    )


def _nested(state: State, node: ast.ListComp | ast.GeneratorExp, shape: str) -> Value:
    """A comprehension with several loops, or with tests on items that are written out."""
    scope = sequences.frozen(state.scope)

    def each(use: Callable[[Value], None]) -> None:
        def level(place: int, around: Scope) -> None:
            outer, state.scope = state.scope, around
            try:
                if place == len(node.generators):
                    with state.lazily():
                        found = state.value(node.elt)
                    use(found)
                    return
                part = node.generators[place]

                def step(found: Value) -> None:
                    new = Scope({}, around, around.prefix, {})
                    sequences.bind_target(state, part.target, new, found)
                    state.scope = new
                    with state.lazily():
                        tests = [numbers.truth(state, one) for one in part.ifs]
                    test = numbers.connected(node, "and", tests) if tests else numbers.constant(state, known=True)
                    if not test.is_known:
                        with sequences.branch(state, f"if {test.code}:"):
                            level(place + 1, new)
                    elif test.known:
                        level(place + 1, new)
                    state.scope = around

                sequences.go(state, part.iter, state.value(part.iter), step)
            finally:
                state.scope = outer

        level(0, scope)

    return sequences.deferred(state, node, Sequence(Base(each, None, private=True, nested=True), shape=shape))


def dict_comprehension(state: State, node: ast.DictComp) -> Value:
    """A dictionary over keys that the source writes out."""
    part = node.generators[0]
    source = state.value(part.iter)
    if isinstance(source, Table):
        source = Fixed(tuple(numbers.constant(state, key) for key in source.cells))
    if isinstance(source, Counts):
        raise teach(node, "private keys", "a dictionary over keys that are found in the data")
    if len(node.generators) != 1 or not isinstance(source, Fixed):
        raise refuse(node, "a dictionary over keys that are not written out", "write the keys out as a list", "DPA706")
    table = Table({}, (state.depth, state.loops), state.frames[-1])
    outer = state.scope
    for one in source.items:
        state.scope = Scope({}, outer, outer.prefix, {})
        try:
            sequences.bind_target(state, part.target, state.scope, one)
            tests = [numbers.truth(state, test) for test in part.ifs]
            if any(not test.is_known for test in tests):
                raise refuse(node, "a key that is there in some runs only", "give every key a value", "DPA706")
            if all(test.known for test in tests):
                key = numbers.scalar(state, node.key)
                if not key.is_known:
                    raise refuse(node.key, "a key that is no constant", "write the keys out", "DPA706")
                table.cells[key.known] = sequences.cell(state, node, state.value(node.value))
        finally:
            state.scope = outer
    return table
