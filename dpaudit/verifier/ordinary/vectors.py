"""Functions and methods of numpy, on real numbers."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ordinary import arrays, iterating, numbers, tables, texts
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.histograms import even
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.signatures import check
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Items,
    Nothing,
    Opaque,
    Ref,
    Scalar,
    Sequence,
    Span,
    Tuple,
    Value,
)

Args = list[Value]
Named = dict[str, Value]
_DTYPES: Final = {"float": arrays.FLOAT, "numpy.float64": arrays.FLOAT, "int": arrays.WHOLE}


def _array(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.array` and `np.asarray`."""
    parts = given(node, args, named, "a" if state.callee == "numpy.asarray" else "object", "dtype?")
    kind = parts.get("dtype", Nothing())
    source = parts.get("a") or parts["object"]
    held = state.object(source) if isinstance(source, Ref) else None
    if state.callee == "numpy.asarray" and isinstance(held, Items) and held.form == "array":
        # The same array, where its elements have the type already; else a copy.
        wanted = _DTYPES.get(kind.name) if isinstance(kind, Builtin) else None
        types = {one.types if isinstance(one, Scalar) else frozenset() for one in held.items}
        if isinstance(kind, Nothing) or types <= {wanted}:
            return source
        if len(types) > 1 or not types <= {arrays.FLOAT, arrays.WHOLE, arrays.TRUTH}:
            raise refuse(node, "np.asarray of an array whose type is not sure", "leave dtype out", "DPA703")
    made = arrays.made_of(state, node, source)
    return made if isinstance(kind, Nothing) else _converted(state, node, made, kind)


def _converted(state: State, node: ast.AST, found: Value, kind: Value) -> Value:
    """An array of floats."""
    if isinstance(kind, Builtin) and kind.name in ("float", "numpy.float64"):
        return arrays.elementwise(
            state,
            node,
            [found],
            lambda one: numbers.floated(state, node, _plain(state, node, one), arrays.FLOAT),
            further=(state.text("float"),),
        )
    if isinstance(kind, Builtin) and kind.name == "int":

        def whole(one: Value) -> Scalar:
            value = _plain(state, node, one)
            if value.kind != "int":
                raise refuse(node, "a conversion of numbers that may not be whole", "leave it out", "DPA703")
            return replace(value, types=arrays.WHOLE)

        return arrays.elementwise(state, node, [found], whole, further=(state.text("int"),))
    raise refuse(node, "this dtype", "leave it out, or write dtype=float", "DPA706")


def _plain(state: State, node: ast.AST, one: Value) -> Scalar:
    """An element as a number; truth values count as 0 and 1."""
    found = numbers.scalar(state, node, one)
    return numbers.number(state, node, replace(found, types=numbers.BOOL) if found.kind == "bool" else found)


def _filled(value: int | None) -> Any:
    """The reader of `np.zeros`, `np.ones` and `np.full`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        parts = given(node, args, named, "shape", *(["fill_value"] if value is None else []), "dtype?")
        size = parts["shape"]
        if isinstance(size, Tuple) and len(size.items) == 1:
            size = size.items[0]
        if not isinstance(size, Scalar) or type(size.known) is not int or not 0 < size.known <= iterating.MOST_UNROLLED:
            raise refuse(node, "an array of this size", "write a list comprehension", "DPA706")
        kind = parts.get("dtype", Nothing())
        fill = parts["fill_value"] if value is None else numbers.constant(state, value)
        if isinstance(fill, Scalar) and fill.kind == "bool":
            raise refuse(node, "an array of truth values by np.full", "write numbers, 1 and 0", "DPA703")
        one = numbers.number(state, node, fill)
        if isinstance(kind, Builtin) and kind.name == "int" and one.kind == "int":
            made = replace(one, types=arrays.WHOLE)
        elif isinstance(kind, Nothing) or (isinstance(kind, Builtin) and kind.name == "float"):
            whole = value is None and isinstance(kind, Nothing)
            made = (
                numbers.scalar(state, node, arrays.element(state, node, one))
                if whole
                else numbers.floated(state, node, one, arrays.FLOAT)
            )
        else:
            raise refuse(node, "this dtype", "leave it out", "DPA706")
        return state.new(Items((made,) * size.known, "array"))

    return read


def _sum(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.sum` of one axis."""
    parts = given(node, args, named, "a", "axis?")
    axis = parts.get("axis", Nothing())
    found = arrays.held_by(state, node, parts["a"])
    if isinstance(found, Sequence) and isinstance(found.value, Tuple) and found.form == "array":
        return tables.summed(state, node, found, axis, mean=False)
    _check_axis(node, axis)
    state.real("sums by numpy")
    start = numbers.constant(state, 0)
    if isinstance(found, Sequence):
        made = arrays.fold(state, node, _counting(found), start)
    else:
        same = arrays.alike(state, node, found.items)
        plain = [(None, _plain(state, node, one) if isinstance(one, Scalar) else one) for one in same]
        made = arrays.total(state, node, plain, start)  # type: ignore[assignment]
    if isinstance(made, Opaque):
        return made
    if isinstance(found, Items):
        if not found.items:
            return numbers.constant(state, Fraction(0), arrays.FLOAT)
        return replace(arrays.held_as(made), bits=made.bits if made.is_known else max(numbers.DATA_BITS, made.bits))
    value = numbers.scalar(state, node, found.value)
    types = arrays.held_as(_plain(state, node, value)).types
    if found.form != "array" or "np.float" in value.types:
        types |= arrays.FLOAT  # without an element numpy gives a float
    tests: tuple[str, ...] | None = () if len(types) == 1 else None
    return replace(made, types=types, tests=tests, bits=_most_bits(node, found))


def _most_bits(node: ast.AST, found: Sequence) -> int:
    """How large a sum over the data may become: of ordinary size, as its elements are."""
    one = found.value
    bits = numbers.bits_of(one) if isinstance(one, Scalar) and one.kind == "int" else 0
    if bits > numbers.DATA_BITS + 2:
        raise refuse(node, "a sum of large whole numbers of numpy", "write the array with floats, 1.0", "DPA706")
    return max(numbers.DATA_BITS, bits)


def _counting(found: Sequence) -> Sequence:
    """A sequence whose truth values count as 0 and 1."""
    value = found.value
    return replace(found, value=replace(value, types=numbers.BOOL)) if isinstance(value, Scalar) and value.kind == "bool" else found


def _mean(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.mean` of one axis."""
    parts = given(node, args, named, "a", "axis?")
    held = state.object(parts["a"]) if isinstance(parts["a"], Ref) else None
    if isinstance(held, Sequence) and isinstance(held.value, Tuple) and held.form == "array":
        return tables.summed(state, node, held, parts.get("axis", Nothing()), mean=True)
    _check_axis(node, parts.get("axis", Nothing()))
    return arrays.mean(state, node, parts["a"], arrays.FLOAT)


def _check_axis(node: ast.AST, axis: Value) -> None:
    """Refuse an axis that an array of numbers does not have."""
    if not isinstance(axis, Nothing) and not (isinstance(axis, Scalar) and type(axis.known) is int and axis.known == 0):
        raise refuse(node, f"`{ast.unparse(node)}`", "leave axis out", "DPA706")


def _clip(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.clip`: the greater of the number and the lower end, then the smaller of that and the upper end."""
    renamed = {{"min": "a_min", "max": "a_max"}.get(key, key): one for key, one in named.items()}
    parts = given(node, args, renamed, "a", "a_min?", "a_max?")
    found, low, high = parts["a"], parts.get("a_min", Nothing()), parts.get("a_max", Nothing())
    if isinstance(found, Scalar) and found.origin is not None and "." not in found.origin and "[" not in found.origin:
        state.assume(found.origin, "list", "np.clip")
    state.real("arrays of floats")

    ends = [end for end in (low, high) if not isinstance(end, Nothing)]

    def make(one: Value, *_: Value) -> Value:
        # numpy gives all one type before it compares.
        one, *rest = arrays.alike(state, node, (one, *ends))
        if not isinstance(low, Nothing):
            one = numbers.extreme(state, node, one, rest[0], least=False)
        return one if isinstance(high, Nothing) else numbers.extreme(state, node, one, rest[-1], least=True)

    if any(not isinstance(end, (Scalar, Nothing)) for end in (low, high)):
        raise refuse(node, "clip ends that are no numbers", "use numbers", "DPA706")
    # Which of the ends is which is a part of what is not computed.
    state.callee += f" {isinstance(low, Nothing)} {isinstance(high, Nothing)}"
    return arrays.elementwise(state, node, [_as_array(state, node, found), *ends], make, further=())


def _as_array(state: State, node: ast.AST, found: Value) -> Value:
    """A list as the array that numpy takes it for."""
    if not isinstance(found, (Ref, Tuple)):
        return found
    return arrays.made_of(state, node, found)


def _pair(*, least: bool) -> Any:
    """The reader of `np.minimum` and `np.maximum`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        parts = given(node, args, named, "x1", "x2")
        state.real("arrays of floats")
        both = [_as_array(state, node, one) for one in parts.values()]

        def make(one: Value, other: Value) -> Scalar:
            return numbers.extreme(state, node, *arrays.alike(state, node, (one, other)), least=least)

        return arrays.elementwise(state, node, both, make, further=())

    return read


def _where(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.where` with three arguments."""
    parts = given(node, args, named, "condition", "x", "y")
    if not any(isinstance(one, Ref) for one in parts.values()):
        raise refuse(node, f"`{ast.unparse(node)}` of numbers", "write `x if test else y`", "DPA706")
    state.real("arrays of floats")

    def make(test: Value, one: Value, other: Value) -> Value:
        found = numbers.scalar(state, node, test)
        if found.kind != "bool":
            raise refuse(node, "np.where of numbers", "compare them first", "DPA703")
        first, second = numbers.scalar(state, node, one), numbers.scalar(state, node, other)
        if "bool" in (first.kind, second.kind):
            raise refuse(node, "np.where of truth values", "give numbers, 1 and 0", "DPA703")
        both = (numbers.scalar(state, node, part) for part in arrays.alike(state, node, (first, second)))
        return numbers.chosen(state, node, found, *both)

    return arrays.elementwise(state, node, list(parts.values()), make, further=())


def _extreme(*, least: bool) -> Any:
    """The reader of `np.max` and `np.min`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        found = arrays.held_by(state, node, given(node, args, named, "a")["a"])
        if isinstance(found, Sequence):
            made = arrays.best(state, node, found, None, least=least)
            assert isinstance(made, Scalar)  # noqa: S101 - for the type checker
            # There is an element; one float among them makes all of them floats.
            return replace(made, types=arrays.WHOLE, tests=()) if made.kind == "int" else _all_floats(made)
        if not found.items:
            raise refuse(node, "the largest or smallest of nothing", "give numbers", "DPA704")
        items = arrays.alike(state, node, found.items)
        if any(isinstance(one, Opaque) for one in items):
            return texts.opaque(state, node, *items)
        top = items[0]
        for one in items[1:]:
            top = numbers.extreme(state, node, top, one, least=least)
        return top

    return read


def _all_floats(found: Scalar) -> Scalar:
    """An element of an array of floats, or of one that is of whole numbers in some runs."""
    types = arrays.held_as(found).types
    return replace(found, types=types, tests=() if len(types) == 1 else None)


def _argument(*, least: bool) -> Any:
    """The reader of `np.argmax` and `np.argmin`: the first of equal ones."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        found = arrays.held_by(state, node, given(node, args, named, "a")["a"])
        sign = "<" if least else ">"
        if isinstance(found, Items):
            items = arrays.alike(state, node, found.items)
            if not items:
                raise refuse(node, "the place of the largest of nothing", "give numbers", "DPA704")
            if any(isinstance(one, Opaque) for one in items):
                return texts.opaque(state, node, *items)
            place, top = numbers.constant(state, 0, arrays.WHOLE), numbers.number(state, node, items[0])
            for number, one in enumerate(items[1:], 1):
                value = numbers.number(state, node, one)
                better = numbers.compared(state, node, ast.Lt() if least else ast.Gt(), value, top)
                place = numbers.chosen(state, node, better, numbers.constant(state, number, arrays.WHOLE), place)
                top = numbers.chosen(state, node, better, value, top)
                if not better.is_known:
                    place, top = state.keep("best", place), state.keep("top", top)
            return place
        if not found.index or found.length is None or not isinstance(found.value, Scalar) or found.value.kind == "bool":
            raise refuse(node, f"`{ast.unparse(node)}`", "use an array of public length", "DPA706")
        state.owe(f"{found.length.code} > 0")
        best_place, top_name, depth = state.fresh("best"), state.fresh("top"), state.depth
        state.emit(f"{best_place} = 0")
        state.emit(f"{top_name} = {'0' if found.value.kind == 'int' else 'Fraction(0)'}")
        begin = len(state.lines)
        one = numbers.number(state, node, state.opened(node, found))
        place_name = str(state.lines[begin][1]).split()[1]
        held = state.keep("value", one)
        state.emit(f"if {place_name} == 0 or {held.code} {sign} {top_name}:")
        state.depth += 1
        state.emit(f"{best_place} = {place_name}")
        state.emit(f"{top_name} = {held.code}")
        state.depth = depth
        return Scalar(best_place, "int", arrays.WHOLE, noisy=one.noisy, bits=numbers.DATA_BITS)

    return read


def _count_nonzero(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.count_nonzero` of truth values."""
    found = arrays.held_by(state, node, given(node, args, named, "a")["a"])
    if not isinstance(found, Sequence) or not isinstance(found.value, Scalar) or found.value.kind != "bool":
        raise refuse(node, f"`{ast.unparse(node)}`", "count a comparison", "DPA706")
    made = arrays.fold(state, node, _counting(found), numbers.constant(state, 0))
    return replace(made, types=_count_types(), bits=numbers.DATA_BITS)


def _count_types() -> frozenset[str]:
    """The type of what np.count_nonzero gives, which versions of numpy do not agree on."""
    import numpy as np

    return arrays.WHOLE if issubclass(type(np.count_nonzero([True])), np.integer) else numbers.INT


def _arange(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.arange` of whole constants."""
    found = Sources.PYTHON["range"](state, node, args, named)
    if isinstance(found, Span) and found.start.is_known and found.stop.is_known:
        written = range(found.start.known, found.stop.known, found.step)
        if len(written) <= iterating.MOST_UNROLLED:
            return state.new(Items(tuple(numbers.constant(state, one, arrays.WHOLE) for one in written), "array"))
    raise refuse(node, "a long arange, or one whose ends are not constant", "use range in a loop", "DPA706")


def _linspace(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.linspace` of constants."""
    found = given(node, args, named, "start", "stop", "num")
    parts = [numbers.number(state, node, found[name]) for name in ("start", "stop", "num")]
    if not all(one.is_known for one in parts) or not 2 <= parts[2].known <= iterating.MOST_UNROLLED:
        raise refuse(node, "linspace of what is not constant", "write the numbers out", "DPA706")
    state.real("numbers computed by numpy")
    low, high, count = Fraction(parts[0].known), Fraction(parts[1].known), int(parts[2].known)
    return state.new(Items(tuple(even(state, low, (high - low) / (count - 1), count)), "array"))


def _opaque(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.round`, `floor`, `sqrt` and the like, which numpy computes for all numbers."""
    if not 1 <= len(args) <= 2 or set(named) - {"decimals"}:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass one number or array", "DPA706")
    if any(not (isinstance(one, Scalar) and type(one.known) is int) for one in (*args[1:], *named.values())):
        raise refuse(node, f"`{ast.unparse(node)}`", "round to a constant number of digits", "DPA706")
    digits = [*args[1:], *named.values()]

    def make(one: Value) -> Opaque:
        if isinstance(one, Scalar) and one.kind == "bool":
            raise refuse(node, f"`{ast.unparse(node)}` of truth values", "use numbers", "DPA703")
        return texts.opaque(state, node, texts.firm_number(state, node, one), *digits)

    if isinstance(args[0], Ref):
        return arrays.elementwise(state, node, [_as_array(state, node, args[0])], make, further=tuple(digits))
    return make(args[0])


def _any(*, every: bool) -> Any:
    """The reader of `np.any` and `np.all`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        found = arrays.held_by(state, node, given(node, args, named, "a")["a"])
        if not isinstance(found, Sequence) or not isinstance(found.value, Scalar) or found.value.kind != "bool":
            raise refuse(node, f"`{ast.unparse(node)}`", "use it on a comparison", "DPA706")
        return replace(arrays.any_of(state, node, found, every=every), types=arrays.TRUTH)

    return read


def _of_array(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """Methods of arrays."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if not isinstance(owner, Ref) or not isinstance(held, (Items, Sequence)) or held.form not in ("array", "any"):
        return None
    if held.form == "any":
        state.assume(f"{held.base}#" if isinstance(held, Sequence) and held.base else None, "array", f".{name}")
        raise refuse(node, f"`.{name}`, where nothing says that the data are an array,", "annotate it as np.ndarray", "DPA703")
    if name == "astype" and len(args) == 1 and not named:
        return _converted(state, node, owner, args[0])
    if name == "copy" and not args and not named:
        return state.new(state.taken(node, owner.address, held) if isinstance(held, Sequence) else held)
    if name == "tolist" and isinstance(held, Items) and not args and not named:
        own = {"np.int": "int", "np.float": "float", "np.bool": "bool"}
        items = (
            replace(one, types=frozenset(own.get(kind, kind) for kind in one.types)) if isinstance(one, Scalar) else one
            for one in held.items
        )
        return state.new(Items(tuple(items)))
    read = _METHODS.get(name)
    if read is None:
        return None
    check(state, node, f"array.{name}", [owner, *args], named)
    found: Value = read(state, node, [owner, *args], named)
    return found


def _float64(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.float64` of a number."""
    return numbers.floated(state, node, numbers.number(state, node, given(node, args, named, "x")["x"]), arrays.FLOAT)


def _absolute(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.abs`."""
    found = _as_array(state, node, given(node, args, named, "x")["x"])
    if isinstance(found, Scalar) and found.kind == "bool":
        raise refuse(node, f"`{ast.unparse(node)}` of a truth value", "use numbers", "DPA703")
    made = arrays.absolute(state, node, found)
    return arrays.element(state, node, made) if isinstance(found, Scalar) else made


_METHODS: Final[dict[str, Any]] = {
    "argmax": _argument(least=False), "argmin": _argument(least=True), "clip": _clip, "max": _extreme(least=False),
    "mean": _mean, "min": _extreme(least=True), "round": _opaque, "sum": _sum, "any": _any(every=False), "all": _any(every=True),
}  # fmt: skip


def fill() -> None:
    """Enter the functions of this module."""
    functions: dict[str, Any] = {
        **_METHODS, "abs": _absolute, "absolute": _absolute, "amax": _extreme(least=False), "amin": _extreme(least=True),
        "arange": _arange, "array": _array, "asarray": _array, "count_nonzero": _count_nonzero,
        "full": _filled(None),
        "linspace": _linspace, "maximum": _pair(least=False), "minimum": _pair(least=True),
        "ones": _filled(1), "zeros": _filled(0), "where": _where, "floor": _opaque, "ceil": _opaque, "rint": _opaque,
        "sqrt": _opaque, "exp": _opaque, "log": _opaque, "float64": _float64, "around": _opaque,
    }  # fmt: skip
    Sources.MODULES.update({f"numpy.{name}": read for name, read in functions.items()})
    Sources.METHODS["array"] = _of_array
    arrays.TABLES.append(tables.made_of)
    arrays.FILLED.append(tables.filled)
    arrays.PAIRED.append(tables.paired)
