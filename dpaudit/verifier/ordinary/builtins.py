"""Python's own functions, and those of math, statistics, fractions and collections."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ordinary import numbers, sequences, shapes
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
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

Named = Mapping[str, Value]


def _only(node: ast.AST, args: list[Value], named: Named, least: int, most: int) -> None:
    """Refuse a call with other arguments."""
    if named or not least <= len(args) <= most:
        raise refuse(node, f"`{ast.unparse(node)}` in this form", "pass the usual arguments by position", "DPA706")


def _len(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`len`."""
    _only(node, args, named, 1, 1)
    return sequences.length(state, node, args[0])


def _sum(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`sum`."""
    start = named.get("start", args[1] if len(args) == 2 else None)
    _only(node, args, {}, 1, 2)
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
    items = _through(state, node, found)
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
        _only(node, args, named, 1, 1)
        return sequences.quantified(state, node, args[0], every=every)

    return read


def absolute(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`abs`."""
    _only(node, args, named, 1, 1)
    if isinstance(args[0], Opaque):
        return opaque(state, node, args, named)

    def make(one: Scalar) -> Scalar:
        one = numbers.number(state, node, one)
        if one.is_known:
            return numbers.constant(state, abs(one.known))
        return Scalar(f"abs({one.code})", one.kind, noisy=one.noisy, loose=("?",) if one.loose else ())

    return sequences.elementwise(state, node, args, make)


def opaque(state: State, node: ast.AST, args: list[Value], named: Named, *, total: bool = True) -> Value:
    """A function of values that is not computed; where it may fail, these are shown before."""
    called = getattr(node, "func", node)
    name = getattr(called, "attr", getattr(called, "id", ""))
    what, parts = f"{name} {' '.join(named)}", (*args, *named.values())
    if name in ("str", "repr"):
        return numbers.opaque(state, node, what, *parts, sort="text", lossy=False)
    if name in ("sum", "sorted", "mean", "fmean") and all(_is_numbers(state, one) for one in args):
        return numbers.opaque(state, node, what, *parts, sort="number" if name != "sorted" else "other")
    return shapes.computed(state, node, what, *parts, total=total)


def _is_numbers(state: State, found: Value) -> bool:
    """True for a list that holds numbers, sorted or added without an error."""
    if isinstance(found, Output):
        wrap, kind = state.wraps.get(found.name, ("", "int"))
        return not wrap and kind != "str"
    return isinstance(found, Fixed) and all(numbers.sort_of(one) == "number" for one in found.items)


def _round(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`round`, which does nothing to whole numbers."""
    if len(args) == 1 and not named and isinstance(args[0], Scalar) and args[0].kind == "int":
        return args[0]
    return opaque(state, node, args, named)


def _int(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`int`."""
    _only(node, args, named, 1, 1)
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
    _only(node, args, named, 1, 1)
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
    _only(node, args, named, 1, 1)
    if isinstance(args[0], Scalar) and args[0].kind == "str":
        return args[0]
    return opaque(state, node, args, named)


def _bool(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`bool`."""
    _only(node, args, named, 1, 1)
    if isinstance(args[0], Opaque):
        return opaque(state, node, args, named)
    return sequences.truth(state, node, args[0])


def _range(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`range`."""
    _only(node, args, named, 1, 3)
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


def _listed(shape: str) -> Callable[..., Value]:
    """`list` and `tuple`: the same elements."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        _only(node, args, named, 0, 1)
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


def _enumerate(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`enumerate`: the place among the elements that there are."""
    start = named.get("start", args[1] if len(args) == 2 else numbers.constant(state, 0))
    first = numbers.whole(state, node, numbers.as_scalar(state, node, state.held(node, start)), "as a start")
    found = _through(state, node, args[0])
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


def _through(state: State, node: ast.AST, found: Value) -> Fixed | Sequence:
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


def _zip(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`zip`: as many as the shortest list has."""
    named = dict(named)
    strict = named.get("strict")
    if isinstance(strict, Scalar) and strict.known is False:
        del named["strict"]
    _only(node, args, named, 1, 8)
    found = [_through(state, node, one) for one in args]
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


def _reversed(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`reversed` of what is written out."""
    _only(node, args, named, 1, 1)
    if isinstance(args[0], Fixed):
        return Fixed(tuple(reversed(args[0].items)), "iterator")
    raise refuse(node, f"`{ast.unparse(node)}`", "loop forwards", "DPA706")


def _map(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`map` of a function of the source."""
    _only(node, args, named, 2, 2)
    function, found = args[0], _through(state, node, args[1])
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


def _filter(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`filter` by a function of the source."""
    _only(node, args, named, 2, 2)
    function, found = args[0], _through(state, node, args[1])
    if not isinstance(function, Function) or not isinstance(found, Sequence):
        raise refuse(node, "this form of filter", "write a comprehension", "DPA706")
    before, made = found.keep, found.element

    def keep(one: Value) -> Scalar:
        with state.lazily():
            answer = state.call(state, node, function, [made(one)], {})
        test = numbers.as_truth(state, node, numbers.as_scalar(state, node, answer))
        return test if before is None else Scalar(f"({before(one).code} and {test.code})", "bool")

    return sequences.deferred(state, node, replace(found, keep=keep, shape="iterator"))


def _sorted(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`sorted` of released values."""
    found = args[0] if args else Nothing()
    if isinstance(found, (Output, Opaque)) or (isinstance(found, Fixed) and set(named) <= {"reverse"}):
        return opaque(state, node, args, named)
    if isinstance(found, Sequence):
        raise teach(
            node, "sorted", "sorted data", ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "data"
        )
    raise refuse(node, f"`{ast.unparse(node)}`", "sort released values", "DPA706")


def _print(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`print`, which puts out what it is given."""
    for name, one in named.items():
        if name not in ("sep", "end", "flush") or not isinstance(one, Scalar) or not one.is_known:
            raise refuse(node, f"print with {name}", "print to the terminal", "DPA706")
    shapes.show(state, node, *args, *named.values())
    return Nothing()


def _fraction(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`Fraction`."""
    _only(node, args, named, 1, 2)
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
    _only(node, args, named, 0, 1)
    counts = Counts(None, total=True, block=(state.depth, state.loops), home=state.frames[-1])
    if args:
        found = _through(state, node, args[0])
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
    _only(node, args, named, 1, 1)
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
    "enumerate": _enumerate, "filter": _filter, "float": _float, "format": opaque, "int": _int, "len": _len,
    "list": _listed("list"), "map": _map, "max": _extreme(False), "min": _extreme(True), "print": _print, "range": _range,
    "repr": opaque, "reversed": _reversed, "round": _round, "sorted": _sorted, "str": _str, "sum": _sum,
    "tuple": _listed("tuple"), "zip": _zip,
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
