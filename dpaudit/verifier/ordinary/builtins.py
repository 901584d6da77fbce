"""Python's own functions, and those of math, statistics, fractions and collections."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ordinary import numbers, sequences, shapes
from dpaudit.verifier.ordinary.arguments import Named, only, opaque
from dpaudit.verifier.ordinary.iterables import (
    read_enumerate,
    read_filter,
    read_listed,
    read_map,
    read_range,
    read_reversed,
    read_sorted,
    read_zip,
    through,
)
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Counts,
    Fixed,
    Nothing,
    Opaque,
    Output,
    Scalar,
    Table,
    Value,
)


def _len(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`len`."""
    only(node, args, named, 1, 1)
    return sequences.length(state, node, args[0])


def _sum(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`sum`."""
    start = named.get("start", args[1] if len(args) == 2 else None)
    only(node, args, {}, 1, 2)
    if isinstance(args[0], (Output, Opaque)) or (
        isinstance(args[0], Fixed) and any(isinstance(one, Opaque) for one in args[0].items)
    ):
        return opaque(state, node, args, named)
    first = None if start is None else numbers.number(state, node, numbers.as_scalar(state, node, start))
    return sequences.total(
        state, node, "sum", args[0], lambda one: numbers.number(state, node, numbers.as_scalar(state, node, one)), first
    )


def _extreme(least: bool) -> Callable[..., Value]:  # noqa: FBT001 - the table says which
    """`min` and `max`."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        named = dict(named)
        default = named.pop("default", None)
        chosen_by = named.pop("key", None)
        if named or (chosen_by is not None and (default is not None or len(args) != 1)):
            raise refuse(node, "this form of min or max", "pass numbers or one list", "DPA706")
        if chosen_by is not None:
            return _chosen(state, node, args[0], chosen_by, least=least)
        if any(isinstance(one, (Opaque, Output)) for one in args):
            return opaque(state, node, args, {} if default is None else {"default": default}, total=len(args) > 1)

        def key(one: Value) -> Scalar:
            found = numbers.as_scalar(state, node, one)
            if found.kind == "bool":
                raise refuse(node, "the extreme of truth values", "use any, all, `and` or `or`", "DPA703")
            return numbers.number(state, node, found)

        if len(args) == 1:
            given = None if default is None else key(default)
            found = args[0]
            if isinstance(found, Table):
                found = Fixed(tuple(numbers.constant(state, one) for one in found.cells))
            if isinstance(found, Fixed) and not found.items and given is not None:
                return given
            return sequences.extreme(state, node, found, least=least, default=given, key=key)
        if default is not None:
            raise refuse(node, "default with several arguments", "leave it out", "DPA706")
        return sequences.of_two(state, node, [key(one) for one in args], least=least)

    return read


def _chosen(state: State, node: ast.AST, found: Value, by: Value, *, least: bool) -> Value:
    """The first of several things whose key is least or greatest."""
    items = through(state, node, found)
    if not isinstance(items, Fixed) or not items.items:
        raise refuse(node, "the extreme by a key of a list of any length", "write the candidates out", "DPA706")

    def key(one: Value) -> Scalar:
        return numbers.number(state, node, numbers.as_scalar(state, node, state.call(state, node, by, [one], {})))

    keys = [numbers.as_scalar(state, node, state.held(node, key(one))) for one in items.items]
    best = state.store(node, state.varying_name("best"), Scalar("0", "int"))
    top = state.store(node, state.varying_name("top"), replace(keys[0], known=UNKNOWN, loose=()))
    for number, one in enumerate(keys[1:], 1):
        with sequences.branch(state, f"if {one.code} {'<' if least else '>'} {top.code}:"):
            state.store(node, best.code, Scalar(str(number), "int"))
            state.store(node, top.code, replace(one, loose=()))
    place = numbers.as_scalar(state, node, state.held(node, replace(best, known=UNKNOWN)))
    return _at(state, node, list(items.items), place)


def _at(state: State, node: ast.AST, items: list[Value], place: Scalar) -> Value:
    """The thing at a place among several of one form."""
    first = items[0]
    if isinstance(first, Fixed) and all(isinstance(one, Fixed) and len(one.items) == len(first.items) for one in items):
        columns = zip(*(one.items for one in items if isinstance(one, Fixed)), strict=True)
        return Fixed(tuple(_at(state, node, list(column), place) for column in columns), first.shape)
    parts = [numbers.as_scalar(state, node, one) for one in items]
    result = parts[-1]
    for number, one in reversed(list(enumerate(parts[:-1]))):
        test = f"({place.code} == {number})"
        loose = numbers.either(one, result, test)
        part, result = numbers.same_kind(state, node, one, result)
        result = Scalar(f"({part.code} if {test} else {result.code})", part.kind, loose=loose)
    return result


def _quantified(every: bool) -> Callable[..., Value]:  # noqa: FBT001 - the table says which
    """`any` and `all`."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        only(node, args, named, 1, 1)
        return sequences.quantified(state, node, args[0], every=every)

    return read


def absolute(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`abs`."""
    only(node, args, named, 1, 1)
    if isinstance(args[0], Opaque):
        return opaque(state, node, args, named)

    def make(one: Scalar) -> Scalar:
        one = numbers.number(state, node, one)
        if one.is_known:
            return numbers.constant(state, abs(one.known))
        return Scalar(f"abs({one.code})", one.kind, noisy=one.noisy, loose=("?",) if one.loose else ())

    return sequences.elementwise(state, node, args, make)


def _round(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`round`, which does nothing to whole numbers."""
    if len(args) == 1 and not named and isinstance(args[0], Scalar) and args[0].kind == "int":
        return args[0]
    return opaque(state, node, args, named)


def _int(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`int`."""
    only(node, args, named, 1, 1)
    found = args[0]
    if isinstance(found, Scalar):
        if found.kind in ("int", "bool"):
            return numbers.number(state, node, found)
        if found.is_known and found.kind == "real":
            return numbers.constant(state, int(found.known))
        if found.kind == "real":
            state.assume(found.origin, "int", "int(...)")
    return opaque(state, node, args, named)


def _float(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`float`: the same real number."""
    only(node, args, named, 1, 1)
    found = args[0]
    if isinstance(found, Opaque):
        return opaque(state, node, args, named)
    one = numbers.number(state, node, numbers.as_scalar(state, node, found))
    state.real("float(...)")
    if one.is_known:
        return numbers.constant(state, Fraction(one.known))
    return replace(state.as_real(one), loose=())


def _str(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`str`."""
    only(node, args, named, 1, 1)
    if isinstance(args[0], Scalar) and args[0].kind == "str":
        return args[0]
    return opaque(state, node, args, named)


def _bool(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`bool`."""
    only(node, args, named, 1, 1)
    if isinstance(args[0], Opaque):
        return opaque(state, node, args, named)
    return sequences.truth(state, node, args[0])


def _dict(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`dict`."""
    table = Table({}, (state.depth, state.loops), state.frames[-1])
    if len(args) == 1 and isinstance(args[0], Table):
        table.cells |= {key: sequences.cell(state, node, one) for key, one in args[0].cells.items()}
    elif len(args) == 1 and isinstance(args[0], Counts):
        raise teach(node, "private keys", "a dictionary over keys that are found in the data")
    elif args:
        raise refuse(node, f"`{ast.unparse(node)}`", "write the dictionary out", "DPA706")
    table.cells |= {key: sequences.cell(state, node, one) for key, one in named.items()}
    return table


def _print(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`print`, which puts out what it is given."""
    for name, one in named.items():
        if name not in ("sep", "end", "flush") or not isinstance(one, Scalar) or not one.is_known:
            raise refuse(node, f"print with {name}", "print to the terminal", "DPA706")
    shapes.show(state, node, *args, *named.values())
    return Nothing()


def _fraction(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`Fraction`."""
    only(node, args, named, 1, 2)
    first = numbers.as_scalar(state, node, args[0])
    if len(args) == 1 and first.kind == "str" and first.is_known:
        try:
            return numbers.constant(state, Fraction(first.known))
        except (ValueError, ZeroDivisionError) as error:
            raise refuse(node, "this text of a fraction", 'write for instance "1/2"', "DPA703") from error
    parts = [numbers.number(state, node, numbers.as_scalar(state, node, one)) for one in args]
    if all(part.is_known for part in parts) and (len(parts) == 1 or parts[1].known != 0):
        return numbers.constant(state, Fraction(parts[0].known) / (parts[1].known if len(parts) == 2 else 1))
    if len(parts) == 1:
        return state.as_real(parts[0])
    code = " / ".join(state.as_real(part).code for part in parts)
    return Scalar(f"({code})", "real")


def _counter(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`Counter`: how often each key occurs."""
    only(node, args, named, 0, 1)
    counts = Counts(None, total=True, block=(state.depth, state.loops), home=state.frames[-1])
    if args:
        found = through(state, node, args[0])
        one = numbers.constant(state, 1)
        if isinstance(found, Fixed):
            counts.pairs = Fixed(tuple(Fixed((item, one)) for item in found.items))
        else:
            made = found.element
            counts.pairs = sequences.deferred(
                state, node, replace(found, element=lambda value: Fixed((made(value), one)), shape="list")
            )
        counts.fresh = False
    return counts


def _defaultdict(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`defaultdict(int)`."""
    wanted = (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id in ("int", "float")
    )
    if not wanted or named:
        raise refuse(node, "this default dictionary", "write `defaultdict(int)`", "DPA706")
    return Counts(None, total=True, block=(state.depth, state.loops), home=state.frames[-1])


def _mean(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """The mean of a list of public length."""
    only(node, args, named, 1, 1)
    if isinstance(args[0], (Output, Opaque)):
        return opaque(state, node, args, {})
    count = sequences.length(state, node, args[0])
    if count.counts_records:
        name = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "data"
        raise teach(node, "private length", "a mean of records that come and go", name)
    sum_ = _sum(state, node, args, {})
    state.real("a mean")
    top = state.as_real(numbers.as_scalar(state, node, sum_))
    return numbers.arithmetic(state, node, ast.Div(), top, count)


def _math(name: str) -> Callable[..., Value]:
    """A function of math on public parameters or released values."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        state.real("functions of math")
        if name == "fabs":
            return absolute(state, node, args, named)
        return opaque(state, node, args, named, total=name not in _PARTIAL)

    return read


_PARTIAL: Final = ("log", "log1p", "log2", "log10", "sqrt")

BUILTINS: Final[dict[str, Callable[..., Any]]] = {
    "Fraction": _fraction, "abs": absolute, "all": _quantified(True), "any": _quantified(False), "bool": _bool, "dict": _dict,
    "enumerate": read_enumerate, "filter": read_filter, "float": _float, "format": opaque, "int": _int, "len": _len,
    "list": read_listed("list"), "map": read_map, "max": _extreme(False), "min": _extreme(True), "print": _print,
    "range": read_range, "repr": opaque, "reversed": read_reversed, "round": _round, "sorted": read_sorted, "str": _str,
    "sum": _sum, "tuple": read_listed("tuple"), "zip": read_zip,
}  # fmt: skip
"""Python's functions."""

FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "collections.Counter": _counter,
    "collections.defaultdict": _defaultdict,
    "fractions.Fraction": _fraction,
    "math.fsum": _sum,
    "statistics.fmean": _mean,
    "statistics.mean": _mean,
    **{
        f"math.{name}": _math(name)
        for name in ("ceil", "exp", "fabs", "floor", "isnan", "log", "log1p", "log2", "log10", "sqrt", "trunc")
    },
}
"""Functions of modules, by their dotted names."""
