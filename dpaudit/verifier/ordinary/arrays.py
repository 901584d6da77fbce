"""numpy on real numbers: arrays of public shape, or with one entry for each record."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpaudit.verifier.ordinary import arguments, builtins, numbers, sequences
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import UNKNOWN, Base, Fixed, Module, Nothing, Opaque, Output, Scalar, Sequence, Value

Named = Mapping[str, Value]


def _given(node: ast.AST, args: list[Value], named: Named, *parts: str) -> dict[str, Value]:
    """Arguments by name."""
    given = dict(zip(parts, args, strict=False))
    if len(args) > len(parts) or set(given) & set(named) or not set(named) <= set(parts):
        raise refuse(node, f"`{ast.unparse(node)}` in this form", f"its arguments here are {', '.join(parts)}", "DPA706")
    return given | dict(named)


def _array(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.array`: the same elements."""
    given = _given(node, args, named, "object", "dtype")
    found = given["object"]
    if not isinstance(given.get("dtype", Nothing()), (Nothing, Module)):
        raise refuse(node, "this dtype", "leave it out", "DPA706")
    if "dtype" in given:
        state.real("arrays of floats")
    if isinstance(found, Scalar):
        state.assume(found.origin, "list", "an array of it")
    if isinstance(found, Fixed):
        if any(not isinstance(one, Scalar) for one in found.items):
            raise refuse(node, "an array of arrays", "use one array a row", "DPA706")
        kinds = {one.kind for one in found.items if isinstance(one, Scalar)}
        if len(kinds) > 1 or "str" in kinds:
            raise refuse(node, "an array of different types", "give all elements one type", "DPA703")
        return Fixed(found.items, "array")
    if isinstance(found, Sequence):
        return replace(found, shape="array")
    if isinstance(found, Output):
        return arguments.opaque(state, node, args[:1], {})
    raise refuse(node, f"`{ast.unparse(node)}`", "make arrays of lists", "DPA706")


def _same(what: int) -> Callable[..., Value]:
    """`np.zeros` and `np.ones`."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        given = _given(node, args, named, "shape", "dtype")
        whole = isinstance(node, ast.Call) and any(
            ast.unparse(one) == "int" for one in [*node.args[1:], *(k.value for k in node.keywords)]
        )
        size = numbers.as_scalar(state, node, given["shape"])
        if not size.is_known or not 0 < size.known <= sequences.MOST_UNROLLED:
            raise refuse(node, "an array of this size", "use a list comprehension", "DPA706")
        if not whole:
            state.real("arrays of floats")
        one = numbers.constant(state, what)
        return Fixed((one if whole else state.as_real(one),) * size.known, "array")

    return read


def _sum(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.sum` of one axis."""
    _given(node, args, named, "a")
    if isinstance(args[0], Scalar):
        state.assume(args[0].origin, "list", "its sum")
    state.real("sums by numpy")
    return builtins.BUILTINS["sum"](state, node, args, {})  # type: ignore[no-any-return]


def _mean(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.mean` of one axis."""
    return builtins.FUNCTIONS["statistics.mean"](state, node, args, named)  # type: ignore[no-any-return]


def _clip(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.clip`: the greater of the number and the lower end, then the smaller of that and the upper end."""
    names = {"min": "a_min", "max": "a_max"}
    given = _given(node, args, {names.get(key, key): one for key, one in named.items()}, "a", "a_min", "a_max")
    if isinstance(given["a"], Scalar):
        # A number or a list: what the data are, where they are said to be a list.
        origin = given["a"].origin
        if origin is not None and "." not in origin and "[" not in origin:
            state.assume(origin, "list", "np.clip")
    low, high = given.get("a_min", Nothing()), given.get("a_max", Nothing())

    def make(one: Scalar, *ends: Scalar) -> Scalar:
        rest = list(ends)
        if not isinstance(low, Nothing):
            one = sequences.of_two(state, node, [one, rest.pop(0)], least=False)
        if not isinstance(high, Nothing):
            one = sequences.of_two(state, node, [one, rest.pop(0)], least=True)
        return one

    if isinstance(given["a"], (Opaque, Output)):
        return arguments.opaque(state, node, [given["a"], low, high], {})
    parts = [given["a"], *(end for end in (low, high) if not isinstance(end, Nothing))]
    if any(not isinstance(end, Scalar) for end in parts[1:]):
        raise refuse(node, "clip ends that are no numbers", "use numbers", "DPA706")
    return _loosely(state, node, parts, make)


def _loosely(state: State, node: ast.AST, parts: list[Value], make: Callable[..., Scalar]) -> Value:
    """An operation of numpy, which takes lists as arrays."""
    taken = [replace(one, shape="array") if isinstance(one, (Fixed, Sequence)) else one for one in parts]
    return sequences.elementwise(state, node, taken, make)


def _pair(least: bool) -> Callable[..., Value]:  # noqa: FBT001 - the table says which
    """`np.minimum` and `np.maximum`."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        given = _given(node, args, named, "x1", "x2")
        if any(isinstance(one, (Opaque, Output)) for one in given.values()):
            return arguments.opaque(state, node, list(given.values()), {})
        return _loosely(state, node, list(given.values()), lambda a, b: sequences.of_two(state, node, [a, b], least=least))

    return read


def _where(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.where` with three arguments."""
    given = _given(node, args, named, "condition", "x", "y")
    if len(given) != 3:
        raise refuse(node, "np.where with one argument", "use a mask", "DPA706")

    def make(test: Scalar, one: Scalar, other: Scalar) -> Scalar:
        one, other = numbers.same_kind(state, node, one, other)
        return Scalar(f"({one.code} if {numbers.as_truth(state, node, test).code} else {other.code})", one.kind)

    return _loosely(state, node, list(given.values()), make)


def _extreme(name: str) -> Callable[..., Value]:
    """`np.max` and `np.min`."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        _given(node, args, named, "a")
        return builtins.BUILTINS[name](state, node, args, {})  # type: ignore[no-any-return]

    return read


def _argument(least: bool) -> Callable[..., Value]:  # noqa: FBT001 - the table says which
    """`np.argmax` and `np.argmin`: the first of equal ones."""

    def read(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
        _given(node, args, named, "a")
        found = args[0]
        if isinstance(found, Fixed):
            return _first(state, node, found, least=least)
        if isinstance(found, (Output, Opaque)):
            return arguments.opaque(state, node, [found], {})
        if not isinstance(found, Sequence) or found.keep is not None or found.base.private or found.base.length is None:
            raise refuse(node, f"`{ast.unparse(node)}`", "use an array of public length", "DPA706")
        best, top, place = (state.fresh(stem) for stem in ("best", "top", "place"))
        state.store(node, best, Scalar("0", "int"))
        kind = state.learned.kinds.get(top, "real")
        state.store(node, top, Scalar("0" if kind == "int" else "Fraction(0, 1)", kind))
        state.store(node, place, Scalar("0", "int"))

        def look(one: Value) -> None:
            value = numbers.number(state, node, numbers.as_scalar(state, node, one))
            held = state.temporary(node, "value", value)
            sign = "<" if least else ">"
            with sequences.branch(state, f"if {place} == 0 or {held.code} {sign} {top}:"):
                state.store(node, best, Scalar(place, "int"))
                state.store(node, top, held)
            state.store(node, place, Scalar(f"{place} + 1", "int"))

        sequences.go(state, node, found, look)
        return Scalar(best, "int")

    return read


def _first(state: State, node: ast.AST, found: Fixed, *, least: bool) -> Value:
    """The first place of the extreme among numbers that are written out."""
    parts = [numbers.number(state, node, numbers.as_scalar(state, node, one)) for one in found.items]
    if not parts:
        raise refuse(node, "the place of the largest of nothing", "give at least one number", "DPA706")
    best = state.store(node, state.fresh("best"), Scalar("0", "int"))
    top = state.store(node, state.fresh("top"), replace(parts[0], known=UNKNOWN))
    for place, part in enumerate(parts[1:], 1):
        with sequences.branch(state, f"if {part.code} {'<' if least else '>'} {top.code}:"):
            state.store(node, best.code, Scalar(str(place), "int"))
            state.store(node, top.code, part)
    return Scalar(best.code, "int")


def _histogram(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.histogram` with public edges: the last bin is closed, values outside are dropped."""
    given = _given(node, args, named, "a", "bins", "range")
    found, bins = given["a"], given.get("bins")
    if isinstance(found, Scalar):
        state.assume(found.origin, "list", "np.histogram")
    if isinstance(bins, Scalar) and bins.is_known and isinstance(given.get("range"), Fixed):
        low, high = (numbers.as_scalar(state, node, one) for one in given["range"].items)  # type: ignore[union-attr]
        if not (low.is_known and high.is_known and low.known < high.known and 0 < bins.known <= sequences.MOST_UNROLLED):
            raise refuse(node, "a histogram whose range is not written out", "write `bins=[...]`", "DPA706")
        state.real("edges computed by numpy")
        edges = [
            numbers.constant(state, low.known + (high.known - low.known) * k / Fraction(bins.known)) for k in range(bins.known + 1)
        ]
    elif isinstance(bins, Fixed) and "range" not in given:
        edges = [numbers.as_scalar(state, node, one) for one in bins.items]
    else:
        raise refuse(node, "a histogram whose edges come from the data", "write `bins=[...]` with public edges", "DPA706")
    if len(edges) < 2 or not all(edge.is_known for edge in edges) or any(a.known >= b.known for a, b in pairwise(edges)):
        raise refuse(node, "edges that are no growing constants", "write them out in order", "DPA706")
    counts = []
    for place in range(len(edges) - 1):
        low, high = edges[place], edges[place + 1]
        last = "<=" if place == len(edges) - 2 else "<"
        counts.append(_count(state, node, found, f"{low.code} <= {{0}} and {{0}} {last} {high.code}"))
    return Fixed((Fixed(tuple(counts), "array"), Fixed(tuple(edges), "array")), "tuple")


def _count(state: State, node: ast.AST, found: Value, test: str) -> Scalar:
    """The number of elements that pass a test."""
    name = state.fresh("bin")
    state.store(node, name, Scalar("0", "int"))

    def look(one: Value) -> None:
        value = numbers.number(state, node, numbers.as_scalar(state, node, one))
        with sequences.branch(state, f"if {test.format(value.code)}:"):
            state.store(node, name, Scalar(f"{name} + 1", "int"))

    sequences.go(state, node, found, look)
    return Scalar(name, "int")


def _count_nonzero(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.count_nonzero`."""
    _given(node, args, named, "a")

    def amount(one: Value) -> Scalar:
        return numbers.number(state, node, numbers.as_truth(state, node, numbers.as_scalar(state, node, one)))

    return sequences.total(state, node, "count", args[0], amount)


def _astype(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`.astype(float)`, and `.astype(int)` of whole numbers and masks."""
    word = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else ""
    if word == "float":
        state.real("arrays of floats")
        return _loosely(state, node, args[:1], lambda one: state.as_real(numbers.number(state, node, one)))
    if word == "int":
        return _loosely(state, node, args[:1], lambda one: numbers.whole(state, node, one, "as whole numbers"))
    raise refuse(node, "this conversion", "convert to int or float", "DPA706")


def _plain(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`.tolist()` and `.copy()`: the same elements."""
    _given(node, args, named, "a")
    if isinstance(args[0], Fixed):
        return Fixed(args[0].items, "list" if isinstance(node, ast.Call) and "tolist" in ast.unparse(node.func) else args[0].shape)
    return args[0]


def _linspace(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.linspace` and `np.arange` of constants."""
    given = _given(node, args, named, "start", "stop", "num")
    parts = [numbers.as_scalar(state, node, one) for one in given.values()]
    if len(parts) != 3 or not all(part.is_known for part in parts) or not 2 <= parts[2].known <= sequences.MOST_UNROLLED:
        raise refuse(node, "linspace of what is not constant", "write the numbers out", "DPA706")
    low, high, count = (part.known for part in parts)
    state.real("numbers computed by numpy")
    step = Fraction(high - low) / (count - 1)
    return Fixed(tuple(numbers.constant(state, low + step * k) for k in range(count)), "array")


def _arange(state: State, node: ast.AST, args: list[Value], named: Named) -> Value:
    """`np.arange` of whole constants."""
    found = builtins.BUILTINS["range"](state, node, args, named)
    if isinstance(found, Fixed):
        return Fixed(found.items, "array")
    raise refuse(node, "a long arange, or one whose ends are not constant", "use range in a loop", "DPA706")


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": builtins.absolute, "absolute": builtins.absolute, "amax": _extreme("max"), "amin": _extreme("min"), "arange": _arange,
    "argmax": _argument(False), "argmin": _argument(True), "array": _array, "asarray": _array, "clip": _clip,
    "count_nonzero": _count_nonzero, "histogram": _histogram, "linspace": _linspace, "max": _extreme("max"),
    "maximum": _pair(False), "mean": _mean, "min": _extreme("min"), "minimum": _pair(True), "ones": _same(1),
    "round": arguments.opaque, "rint": arguments.opaque, "exp": arguments.opaque, "floor": arguments.opaque,
    "ceil": arguments.opaque,
    "sum": _sum, "where": _where, "zeros": _same(0), "float64": builtins.BUILTINS["float"], "any": builtins.BUILTINS["any"],
    "all": builtins.BUILTINS["all"],
}  # fmt: skip
ARRAYS: Final = {f"numpy.{name}": read for name, read in _FUNCTIONS.items()}
"""Functions of numpy, by their dotted names."""

METHODS: Final[Mapping[str, Callable[..., Any]]] = {
    "argmax": _argument(False), "argmin": _argument(True), "astype": _astype, "clip": _clip, "copy": _plain, "max": _extreme("max"),
    "mean": _mean, "min": _extreme("min"), "sum": _sum, "tolist": _plain, "round": arguments.opaque,
}  # fmt: skip
"""Methods of arrays."""

__all__ = ["ARRAYS", "METHODS", "Base", "teach"]
