"""Functions of itertools, operator and functools over what is written out."""

from __future__ import annotations

import ast
import itertools
from typing import Any, Final

from dpaudit.verifier.ordinary import iterating
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.reaching import reached
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Builtin, Class, Function, Items, Iterator, Partial, Scalar, Sequence, Tuple, Value

Args = list[Value]
Named = dict[str, Value]
_OPERATORS: Final[dict[str, ast.operator]] = {
    "add": ast.Add(), "sub": ast.Sub(), "mul": ast.Mult(), "truediv": ast.Div(), "floordiv": ast.FloorDiv(), "mod": ast.Mod(),
}  # fmt: skip
_GETS: Final = "operator. get"
"""A function that no source can name: an element or attribute of a value."""


def _of_operator(op: ast.operator) -> Any:
    """The reader of a function of `operator` with two operands."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        if named or len(args) != 2:
            raise refuse(node, f"`{ast.unparse(node)}`", "pass two values", "DPA706")
        return state.parts.operated(state, node, op, *args)

    return read


def _partial(_: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`functools.partial` of a function of the file, of Python or of a module."""
    if not args or not isinstance(args[0], (Function, Class, Builtin, Partial)):
        raise refuse(node, f"`{ast.unparse(node)}`", "write a function", "DPA706")
    return Partial(args[0], tuple(args[1:]), tuple(named.items()))


def _getter(way: str) -> Any:
    """The reader of `itemgetter` and `attrgetter` of one constant."""

    def read(_: State, node: ast.AST, args: Args, named: Named) -> Value:
        only = args[0] if len(args) == 1 and not named else None
        plain = isinstance(only, Scalar) and (type(only.known) is str or (way == "item" and type(only.known) is int))
        if only is None or not plain or (way == "attribute" and not str(getattr(only, "known", "")).isidentifier()):
            raise refuse(node, f"`{ast.unparse(node)}`", "write a lambda", "DPA706")
        return Partial(Builtin(f"{_GETS} {way}"), (only,))

    return read


def _got(way: str) -> Any:
    """The reader of what these make: the element or attribute of one value."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        if named or len(args) != 2:
            raise refuse(node, f"`{ast.unparse(node)}`", "call it with one value", "DPA706")
        wanted, owner = args
        assert isinstance(wanted, Scalar)  # noqa: S101 - as it was made
        if way == "attribute":
            return state.parts.attribute(state, node, owner, str(wanted.known))
        return state.parts.element(state, node, owner, wanted)

    return read


def _written(state: State, node: ast.AST, found: Value) -> list[Value]:
    """The elements of something that is written out and gone through now."""
    items = iterating.drained(state, node, found)
    if isinstance(items, Sequence) or any(guard is not None for guard, _ in items):
        raise refuse(node, f"`{ast.unparse(node)}` of records", "write a loop", "DPA706")
    return [one for _, one in items]


def elements(state: State, node: ast.AST, found: Iterator) -> list[Value]:
    """All elements of a function of itertools: Python makes each where it is wanted, so that what it is made of may not change."""
    for address in reached(state.heap, found.parts):
        if isinstance(state.heap[address], (Items, Sequence)) and address not in state.shared and not state.draining:
            raise refuse(node, f"a loop over `{ast.unparse(node)}`", "make a list of it first, list(...)", "DPA706")
    items = _made(state, node, found)
    if len(items) > iterating.MOST_UNROLLED:
        raise refuse(node, f"a loop over {len(items)} values that are written out", "loop over fewer", "DPA706")
    return items


def _made(state: State, node: ast.AST, found: Iterator) -> list[Value]:
    """The elements of `accumulate`, `chain`, `product`, `combinations`, `pairwise` or `islice`."""
    what = found.what.partition(" ")[2]
    if what == "chain":
        return [one for part in found.parts for one in _written(state, node, part)]
    if what == "product":
        return [Tuple(one) for one in itertools.product(*(_written(state, node, part) for part in found.parts))]
    source, *rest = found.parts
    items = _written(state, node, source)
    size = rest[0].known if rest and isinstance(rest[0], Scalar) else None
    if what == "pairwise":
        return [Tuple(one) for one in itertools.pairwise(items)]
    if what == "combinations" and type(size) is int and size >= 0:
        return [Tuple(one) for one in itertools.combinations(items, size)]
    if what == "islice" and type(size) is int and size >= 0:
        return items[:size]
    if what == "accumulate":
        made: list[Value] = []
        for one in items:
            made.append(one if not made else _together(state, node, made[-1], one, *rest))
        return made
    raise refuse(node, f"`{ast.unparse(node)}`", "write it out", "DPA706")


def _together(state: State, node: ast.AST, so_far: Value, one: Value, *function: Value) -> Value:
    """One more element of `accumulate`."""
    if not function:
        return state.parts.operated(state, node, ast.Add(), so_far, one)
    heap, grown = dict(state.heap), state.grown()
    made = state.call(node, function[0], [so_far, one], {})
    iterating.check_still(state, node, heap, grown)
    return made


def _iterator(what: str, *parts: str) -> Any:
    """The reader of a function of `itertools`, whose elements are made where it is gone through."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        values = tuple(args) if not parts else tuple(given(node, args, named, *parts).values())
        if named and not parts:
            raise refuse(node, f"`{ast.unparse(node)}`", "pass lists by position", "DPA706")
        return state.new(Iterator(f"tool {what}", values))

    return read


def fill() -> None:
    """Enter the functions of this module."""
    Sources.MODULES.update({f"operator.{name}": _of_operator(op) for name, op in _OPERATORS.items()})
    Sources.MODULES.update(
        {
            "functools.partial": _partial,
            "operator.itemgetter": _getter("item"),
            "operator.attrgetter": _getter("attribute"),
            f"{_GETS} item": _got("item"),
            f"{_GETS} attribute": _got("attribute"),
            "itertools.accumulate": _iterator("accumulate", "iterable", "func?"),
            "itertools.chain": _iterator("chain"),
            "itertools.product": _iterator("product"),
            "itertools.combinations": _iterator("combinations", "iterable", "r"),
            "itertools.pairwise": _iterator("pairwise", "iterable"),
            "itertools.islice": _iterator("islice", "iterable", "stop"),
        }
    )
    iterating.TOOLS.append(elements)
