"""numpy on real numbers: arrays whose length the source says, or with one element for each record, and sums over them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from dpaudit.verifier.ordinary import iterating, numbers, texts
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State, as_kind
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Builtin,
    Counts,
    Dictionary,
    Items,
    Nothing,
    Opaque,
    Poison,
    Ref,
    Scalar,
    Sequence,
    Span,
    Spent,
    Tuple,
    Value,
)

Args = list[Value]
Named = dict[str, Value]
Make = Callable[..., Value]
FLOAT: Final = frozenset({"np.float"})
WHOLE: Final = frozenset({"np.int"})
TRUTH: Final = frozenset({"np.bool"})
_OF_KIND: Final = {"int": WHOLE, "real": FLOAT, "bool": TRUTH}


def is_array(state: State, found: Value) -> bool:
    """True for an array, and for data of which nothing says that they are none."""
    held = state.object(found) if isinstance(found, Ref) else None
    return isinstance(held, (Items, Sequence)) and held.form in ("array", "any")


def _held(state: State, node: ast.AST, found: Value) -> Items | Sequence:
    """The elements of an array, or of a list that numpy takes for one."""
    if isinstance(found, Scalar):
        state.assume(found.origin, "list", "numpy")
    if isinstance(found, Tuple):
        return Items(found.items, "array")
    held = state.object(found) if isinstance(found, Ref) else None
    if isinstance(held, Spent):
        raise refuse(node, f"`{ast.unparse(node)}` of {held.why}", "keep each value under a name of its own", "DPA705")
    if isinstance(held, Sequence) and isinstance(found, Ref):
        return iterating.taken(state, node, found.address, held)
    if isinstance(held, Items) and held.form != "set":
        return held
    raise refuse(node, f"`{ast.unparse(node)}`", "use an array, or a list of numbers", "DPA706")


def _element(state: State, node: ast.AST, found: Value) -> Value:
    """An element as an array holds it."""
    if isinstance(found, Opaque):
        return found
    one = numbers.scalar(state, node, found)
    if one.kind == "str" or (one.kind == "int" and numbers.bits_of(one) > 62):
        raise refuse(node, "an array of texts or of large numbers", "use numbers", "DPA703")
    return one if one.types <= {"np.int", "np.float", "np.bool"} else replace(one, types=_OF_KIND[one.kind], tests=())


def _alike(state: State, node: ast.AST, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Elements of one type, as an array holds them."""
    made = [_element(state, node, one) for one in items]
    kinds = {one.kind for one in made if isinstance(one, Scalar)}
    if kinds == {"int", "real"}:
        return tuple(numbers.floated(state, node, one, FLOAT) if isinstance(one, Scalar) else one for one in made)
    if len(kinds) > 1 or (kinds and any(isinstance(one, Opaque) for one in made) and kinds != {"real"}):
        raise refuse(node, "an array of different types", "give all elements one type", "DPA703")
    return tuple(made)


def made_of(state: State, node: ast.AST, found: Value) -> Ref:
    """A new array of the elements of something."""
    held = _held(state, node, found)
    state.real("arrays of floats")
    if isinstance(held, Items):
        return state.new(Items(_alike(state, node, held.items), "array"))
    if not isinstance(held.value, Scalar):
        raise refuse(node, "an array of records", "use one list for each field", "DPA706")
    return state.new(replace(iterating.over(state, node, held, lambda one: (None, _element(state, node, one))), form="array"))


def elementwise(state: State, node: ast.AST, parts: list[Value], make: Make) -> Value:
    """An operation on each element; numbers go with each."""

    def one_by_one(*args: Value) -> Value:
        if any(isinstance(one, Opaque) for one in args):
            return texts.opaque(state, node, *args)
        return _element(state, node, make(*args))

    held: list[Any] = []
    for one in parts:
        if isinstance(one, (Ref, Tuple)):
            inner = _held(state, node, one)
            if inner.form == "any":
                state.assume(
                    f"{inner.base}#" if isinstance(inner, Sequence) and inner.base else None, "array", "an operation on arrays"
                )
                raise refuse(
                    node,
                    f"`{ast.unparse(node)}`, where nothing says that the data are an array,",
                    "annotate the parameter as np.ndarray",
                    "DPA703",
                )
            held.append(inner)
        else:
            held.append(one)
    if not any(isinstance(one, (Items, Sequence)) for one in held):
        return one_by_one(*held)
    sizes = {len(one.items) for one in held if isinstance(one, Items)}
    sequences = [one for one in held if isinstance(one, Sequence)]
    if sizes and sequences:
        raise refuse(node, f"`{ast.unparse(node)}` of arrays of different lengths", "use arrays of one length", "DPA706")
    if sizes:
        if len(sizes) > 1:
            raise refuse(node, "arrays of different lengths", "use arrays of one length", "DPA706")
        arrays = [tuple(_element(state, node, part) for part in one.items) if isinstance(one, Items) else None for one in held]
        rounds = [
            [array[place] if array is not None else one for array, one in zip(arrays, held, strict=True)]
            for place in range(sizes.pop())
        ]
        return state.new(Items(_alike(state, node, tuple(one_by_one(*args) for args in rounds)), "array"))

    def together(values: list[Value]) -> tuple[None, Value]:
        rest = iter(values)
        return None, one_by_one(*(_element(state, node, next(rest)) if isinstance(one, Sequence) else one for one in held))

    return state.new(replace(iterating.beside(state, node, sequences, together), form="array"))


def operated(state: State, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """An operation on arrays."""
    if isinstance(op, (ast.BitAnd, ast.BitOr)):
        return elementwise(state, node, [left, right], lambda a, b: _both(node, op, a, b))
    for one in (left, right):
        held = state.object(one) if isinstance(one, Ref) else None
        if isinstance(held, Items) and held.form == "list":
            raise refuse(node, f"`{ast.unparse(node)}` of a list and an array", "write np.array(...) around the list", "DPA703")
    state.real("arrays of floats")
    return elementwise(state, node, [left, right], lambda a, b: numbers.arithmetic(state, node, op, a, b))


def _both(node: ast.AST, op: ast.operator, one: Scalar, other: Scalar) -> Scalar:
    """`&` and `|` of truth values of numpy."""
    if one.kind != "bool" or other.kind != "bool":
        raise refuse(node, f"`{ast.unparse(node)}` of numbers", "use & and | on comparisons", "DPA703")
    return replace(numbers.connected("and" if isinstance(op, ast.BitAnd) else "or", [one, other]), types=TRUTH)


def inverted(state: State, node: ast.AST, found: Value) -> Value:
    """`~` of an array of truth values."""

    def make(one: Scalar) -> Scalar:
        if one.kind != "bool":
            raise refuse(node, f"`{ast.unparse(node)}` of numbers", "use ~ on comparisons", "DPA703")
        return numbers.negated(one)

    if not is_array(state, found):
        raise refuse(node, f"`{ast.unparse(node)}`", "use `not`", "DPA703")
    return elementwise(state, node, [found], make)


def masked(state: State, node: ast.AST, owner: Ref, mask: Ref) -> Value:
    """`array[mask]`: the elements for which a comparison holds."""
    found, test = _held(state, node, owner), _held(state, node, mask)
    if not (isinstance(found, Sequence) and isinstance(test, Sequence) and isinstance(test.value, Scalar)) or found.form == "list":
        raise refuse(node, f"`{ast.unparse(node)}`", "select by a comparison of the same array", "DPA706")
    if test.value.kind != "bool" or test.form != "array":
        raise refuse(node, f"`{ast.unparse(node)}`", "select by a comparison of the same array", "DPA706")
    return state.new(replace(iterating.beside(state, node, [found, test], lambda both: (both[1], both[0])), form="array"))


# Folds.


def total(state: State, node: ast.AST, found: Any, start: Scalar) -> Value:
    """The sum of elements, from a start on."""
    if isinstance(found, Sequence):
        return _total(state, node, found, start)
    if any(isinstance(one, Opaque) for _, one in found):
        if any(guard is not None or not numbers.is_number(one) for guard, one in found):
            raise refuse(node, "a sum of texts or of values that may not be there", "add numbers", "DPA706")
        return texts.opaque(state, node, start, *(one for _, one in found))
    for guard, one in found:
        added = numbers.arithmetic(state, node, ast.Add(), start, one)
        start = added if guard is None else numbers.chosen(state, node, guard, added, start)
    return start


def _total(state: State, node: ast.AST, found: Sequence, start: Scalar) -> Scalar:
    """A sum over a sequence, in a loop."""
    with state.trial():
        depth = state.depth
        one = numbers.number(state, node, state.opened(node, found))
        made = numbers.arithmetic(state, node, ast.Add(), replace(start, known=UNKNOWN), one)
        state.depth = depth
    if made.kind == "int" and numbers.bits_of(one) > 2 * numbers.DATA_BITS:
        made = replace(made, bits=2 * numbers.MOST_FLOAT_BITS)
    name, depth = state.fresh("total"), state.depth
    state.emit(f"{name} = {as_kind(start, made.kind)}")
    state.record_loops += found.private
    element = numbers.number(state, node, state.opened(node, found))
    state.record_loops -= found.private
    state.emit(f"{name} = {name} + {element.code}")
    state.depth = depth
    types = made.types | (frozenset() if found.form == "array" else start.types)
    public = made.public and not found.private and found.index != ""
    loose = () if len(types) == 1 else None
    return Scalar(name, made.kind, types, tests=loose, public=public, noisy=made.noisy, bits=made.bits)


def length(state: State, node: ast.AST, found: Value) -> Value:
    """`len`."""
    if isinstance(found, Tuple):
        return numbers.constant(state, len(found.items))
    if isinstance(found, Span) and found.start.is_known and found.stop.is_known:
        written = range(found.start.known, found.stop.known, found.step)
        if written and abs(written[-1] - written[0]) >= 2**62:
            raise refuse(node, "the length of a range that is too long", "use a shorter one", "DPA704")
        return numbers.constant(state, len(written))
    if isinstance(found, Scalar) and isinstance(found.known, str):
        return numbers.constant(state, len(found.known))
    if isinstance(found, Scalar):
        state.assume(found.origin, "list", "len")
    held = state.object(found) if isinstance(found, Ref) else None
    match held:
        case Items(items, form) if form != "set":
            return numbers.constant(state, len(items))
        case Dictionary(entries):
            return numbers.constant(state, len(entries))
        case Counts():
            raise teach(node, "private keys", "the number of keys that are found in the data")
        case Sequence() if held.form != "iterator":
            if held.length is not None and held.index:
                plain = held.length.code.startswith("len(") and held.length.code.count("(") == 1
                return held.length if plain else replace(held.length, code=f"max(0, {held.length.code})")
            if not held.once:
                counted = _total(
                    state, node, replace(held, value=numbers.constant(state, 1), form="list"), numbers.constant(state, 0)
                )
                return replace(counted, counts=held.private, public=False)
    raise refuse(node, f"`{ast.unparse(node)}`", "take the length of lists", "DPA706")


def mean(state: State, node: ast.AST, found: Value, types: frozenset[str]) -> Value:
    """The sum by the number of elements."""
    held = _held(state, node, found)
    if isinstance(held, Sequence) and held.private:
        raise teach(node, "private length", "a mean of a private number of records", "data")
    summed = total(
        state, node, held if isinstance(held, Sequence) else [(None, one) for one in held.items], numbers.constant(state, 0)
    )
    size = length(state, node, found) if isinstance(held, Items) else length(state, node, state.new(held))
    made = numbers.arithmetic(state, node, ast.Div(), summed, size)
    state.real("floats")
    if types == numbers.FLOAT and not summed.types <= {"float"}:  # type: ignore[union-attr]
        return replace(made, types=frozenset({"int", "float", "Fraction"}), tests=None)
    return replace(made, types=types, tests=())


def best(state: State, node: ast.AST, found: Sequence, default: Value | None, *, least: bool) -> Value:
    """The largest or smallest element; that there is one is owed."""
    if not isinstance(found.value, Scalar) or found.value.kind not in ("int", "real"):
        raise refuse(node, "a largest or smallest record", "compute with its numbers", "DPA706")
    kind = found.value.kind
    seen, top, depth = state.fresh("seen"), state.fresh("top"), state.depth
    first = numbers.number(state, node, default) if default is not None else None
    if first is not None and first.kind != kind:
        raise refuse(node, "a default of another type", "give a default of the type of the elements", "DPA703")
    state.emit(f"{seen} = False")
    state.emit(f"{top} = {'0' if kind == 'int' else 'Fraction(0)'}")
    one = numbers.number(state, node, state.opened(node, found))
    state.emit(f"if not {seen} or {one.code} {'<' if least else '>'} {top}:")
    state.depth += 1
    state.emit(f"{top} = {one.code}")
    state.depth -= 1
    state.emit(f"{seen} = True")
    state.depth = depth
    made = replace(one, code=top, public=False, origin=None)
    if first is None:
        state.owe(seen)
        return made
    return numbers.chosen(state, node, Scalar(seen, "bool", numbers.BOOL), made, first)


def any_of(state: State, node: ast.AST, found: Sequence, *, every: bool) -> Scalar:
    """`any` or `all` of a sequence."""
    from dpaudit.verifier.ordinary.expressions import truth

    if found.once or len(found.lines) > found.head + 1:
        raise refuse(node, f"`{ast.unparse(node)}`", "make a list of the truth values first", "DPA706")
    name, depth = state.fresh("all" if every else "any"), state.depth
    state.emit(f"{name} = {every}")
    one = truth(state, node, state.opened(node, found))
    state.emit(f"if {'not ' if every else ''}{one.code}:")
    state.depth += 1
    state.emit(f"{name} = {not every}")
    state.depth = depth
    return Scalar(name, "bool", numbers.BOOL, public=one.public and not found.private)


def single(state: State, node: ast.AST, found: Value) -> Value:
    """Refuse an array where a number is needed."""
    raise refuse(node, f"`{ast.unparse(node)}` of an array or list", "take one element", "DPA703")


def absolute(state: State, node: ast.AST, found: Value) -> Value:
    """The size of a number, or of each element."""

    def make(one: Value) -> Value:
        value = numbers.number(state, node, one)
        if value.is_known:
            return numbers.constant(state, abs(value.known), value.types)
        return replace(value, code=f"abs({value.code})", origin=None)

    if isinstance(found, Opaque):
        return texts.opaque(state, node, texts.firm_number(state, node, found))
    return elementwise(state, node, [found], make) if isinstance(found, Ref) else make(found)


# Functions of numpy.


def _array(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.array` and `np.asarray`."""
    parts = given(node, args, named, "object", "dtype?")
    kind = parts.get("dtype", Nothing())
    source = parts["object"]
    if state.callee == "numpy.asarray" and is_array(state, source) and isinstance(kind, Nothing):
        held = state.object(source) if isinstance(source, Ref) else None
        if isinstance(held, Items):
            return source
    made = made_of(state, node, source)
    return made if isinstance(kind, Nothing) else _converted(state, node, made, kind)


def _converted(state: State, node: ast.AST, found: Value, kind: Value) -> Value:
    """An array of floats."""
    if isinstance(kind, Builtin) and kind.name in ("float", "numpy.float64"):
        return elementwise(state, node, [found], lambda one: numbers.floated(state, node, _plain(state, node, one), FLOAT))
    if isinstance(kind, Builtin) and kind.name == "int":

        def whole(one: Value) -> Scalar:
            value = _plain(state, node, one)
            if value.kind != "int":
                raise refuse(node, "a conversion of numbers that may not be whole", "leave it out", "DPA703")
            return replace(value, types=WHOLE)

        return elementwise(state, node, [found], whole)
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
        one = numbers.number(state, node, parts["fill_value"]) if value is None else numbers.constant(state, value)
        if isinstance(kind, Builtin) and kind.name == "int" and one.kind == "int":
            made = replace(one, types=WHOLE)
        elif isinstance(kind, Nothing) or (isinstance(kind, Builtin) and kind.name == "float"):
            whole = value is None and isinstance(kind, Nothing)
            made = numbers.scalar(state, node, _element(state, node, one)) if whole else numbers.floated(state, node, one, FLOAT)
        else:
            raise refuse(node, "this dtype", "leave it out", "DPA706")
        return state.new(Items((made,) * size.known, "array"))

    return read


def _sum(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.sum` of one axis."""
    found = _held(state, node, given(node, args, named, "a")["a"])
    state.real("sums by numpy")
    start = numbers.constant(state, 0)
    if isinstance(found, Sequence):
        made = _total(state, node, _counting(found), start)
    else:
        plain = [(None, _plain(state, node, one) if isinstance(one, Scalar) else one) for one in found.items]
        made = total(state, node, plain, start)  # type: ignore[assignment]
    if isinstance(made, Opaque):
        return made
    return replace(made, types=_OF_KIND[made.kind], tests=(), bits=numbers.DATA_BITS if not made.is_known else made.bits)


def _counting(found: Sequence) -> Sequence:
    """A sequence whose truth values count as 0 and 1."""
    value = found.value
    return replace(found, value=replace(value, types=numbers.BOOL)) if isinstance(value, Scalar) and value.kind == "bool" else found


def _mean(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.mean` of one axis."""
    return mean(state, node, given(node, args, named, "a")["a"], FLOAT)


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
        if not isinstance(low, Nothing):
            one = numbers.extreme(state, node, one, low, least=False)
        return one if isinstance(high, Nothing) else numbers.extreme(state, node, one, high, least=True)

    if any(not isinstance(end, (Scalar, Nothing)) for end in (low, high)):
        raise refuse(node, "clip ends that are no numbers", "use numbers", "DPA706")
    # Which of the ends is which is a part of what is not computed.
    state.callee += f" {isinstance(low, Nothing)} {isinstance(high, Nothing)}"
    return elementwise(state, node, [_as_array(state, node, found), *ends], make)


def _as_array(state: State, node: ast.AST, found: Value) -> Value:
    """A list as the array that numpy takes it for."""
    if not isinstance(found, (Ref, Tuple)):
        return found
    return made_of(state, node, found)


def _pair(*, least: bool) -> Any:
    """The reader of `np.minimum` and `np.maximum`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        parts = given(node, args, named, "x1", "x2")
        state.real("arrays of floats")
        both = [_as_array(state, node, one) for one in parts.values()]
        return elementwise(state, node, both, lambda a, b: numbers.extreme(state, node, a, b, least=least))

    return read


def _where(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.where` with three arguments."""
    parts = given(node, args, named, "condition", "x", "y")
    state.real("arrays of floats")

    def make(test: Value, one: Value, other: Value) -> Value:
        found = numbers.scalar(state, node, test)
        if found.kind != "bool":
            raise refuse(node, "np.where of numbers", "compare them first", "DPA703")
        first, second = numbers.number(state, node, one), numbers.number(state, node, other)
        made = numbers.chosen(state, node, found, first, second)
        return replace(made, types=_OF_KIND[made.kind], tests=())

    return elementwise(state, node, list(parts.values()), make)


def _extreme(*, least: bool) -> Any:
    """The reader of `np.max` and `np.min`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        found = _held(state, node, given(node, args, named, "a")["a"])
        if isinstance(found, Sequence):
            made = best(state, node, found, None, least=least)
            assert isinstance(made, Scalar)  # noqa: S101 - for the type checker
            return replace(made, types=_OF_KIND[made.kind], tests=())
        if not found.items:
            raise refuse(node, "the largest or smallest of nothing", "give numbers", "DPA704")
        items = _alike(state, node, found.items)
        if any(isinstance(one, Opaque) for one in items):
            return texts.opaque(state, node, *items)
        top = items[0]
        for one in items[1:]:
            top = numbers.extreme(state, node, top, one, least=least)
        return top

    return read


def _argument(*, least: bool) -> Any:
    """The reader of `np.argmax` and `np.argmin`: the first of equal ones."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        found = _held(state, node, given(node, args, named, "a")["a"])
        sign = "<" if least else ">"
        if isinstance(found, Items):
            items = _alike(state, node, found.items)
            if not items:
                raise refuse(node, "the place of the largest of nothing", "give numbers", "DPA704")
            if any(isinstance(one, Opaque) for one in items):
                return texts.opaque(state, node, *items)
            place, top = numbers.constant(state, 0, WHOLE), numbers.number(state, node, items[0])
            for number, one in enumerate(items[1:], 1):
                value = numbers.number(state, node, one)
                better = numbers.compared(state, node, ast.Lt() if least else ast.Gt(), value, top)
                place = numbers.chosen(state, node, better, numbers.constant(state, number, WHOLE), place)
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
        return Scalar(best_place, "int", WHOLE, noisy=one.noisy, bits=numbers.DATA_BITS)

    return read


def _histogram(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.histogram` with public edges: the last bin is closed, values outside are dropped."""
    parts = given(node, args, named, "a", "bins", "range?")
    found, edges = _held(state, node, parts["a"]), _edges(state, node, parts)
    if len(edges) < 2 or not all(edge.is_known for edge in edges) or any(a.known >= b.known for a, b in pairwise(edges)):
        raise refuse(node, "edges that are no growing constants", "write them out in order", "DPA706")
    if isinstance(found, Items):
        raise refuse(node, "a histogram of values that are written out", "count them", "DPA706")
    counts: list[Value] = []
    for low, high in pairwise(edges):
        last = ast.LtE() if high is edges[-1] else ast.Lt()

        def inside(one: Value, low: Scalar = low, high: Scalar = high, last: ast.cmpop = last) -> tuple[None, Value]:
            value = numbers.number(state, node, one)
            ends = [numbers.compared(state, node, ast.LtE(), low, value), numbers.compared(state, node, last, value, high)]
            return None, replace(numbers.connected("and", ends), types=numbers.BOOL)

        bin_count = _total(state, node, iterating.over(state, node, found, inside), numbers.constant(state, 0))
        counts.append(replace(bin_count, types=WHOLE, bits=numbers.DATA_BITS))
    return Tuple((state.new(Items(tuple(counts), "array")), state.new(Items(tuple(edges), "array"))))


def _edges(state: State, node: ast.AST, parts: Named) -> list[Scalar]:
    """The edges of a histogram."""
    bins, ends = parts["bins"], parts.get("range")
    if isinstance(bins, Scalar) and type(bins.known) is int and isinstance(ends, Tuple) and len(ends.items) == 2:
        low, high = (numbers.number(state, node, one) for one in ends.items)
        if low.is_known and high.is_known and low.known < high.known and 0 < bins.known <= iterating.MOST_UNROLLED:
            state.real("edges computed by numpy")
            step = (Fraction(high.known) - low.known) / bins.known
            return [numbers.constant(state, Fraction(low.known) + step * place, FLOAT) for place in range(bins.known + 1)]
    if isinstance(bins, (Ref, Tuple)) and ends is None:
        held = _held(state, node, bins)
        if isinstance(held, Items):
            return [numbers.number(state, node, one) for one in _alike(state, node, held.items)]
    raise refuse(node, "a histogram whose edges come from the data", "write `bins=[...]` with public edges", "DPA706")


def _count_nonzero(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.count_nonzero` of truth values."""
    found = _held(state, node, given(node, args, named, "a")["a"])
    if not isinstance(found, Sequence) or not isinstance(found.value, Scalar) or found.value.kind != "bool":
        raise refuse(node, f"`{ast.unparse(node)}`", "count a comparison", "DPA706")
    return replace(_total(state, node, _counting(found), numbers.constant(state, 0)), types=numbers.INT)


def _arange(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.arange` of whole constants."""
    found = Sources.PYTHON["range"](state, node, args, named)
    if isinstance(found, Span) and found.start.is_known and found.stop.is_known:
        written = range(found.start.known, found.stop.known, found.step)
        if len(written) <= iterating.MOST_UNROLLED:
            return state.new(Items(tuple(numbers.constant(state, one, WHOLE) for one in written), "array"))
    raise refuse(node, "a long arange, or one whose ends are not constant", "use range in a loop", "DPA706")


def _linspace(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.linspace` of constants."""
    parts = [numbers.number(state, node, one) for one in given(node, args, named, "start", "stop", "num").values()]
    if not all(one.is_known for one in parts) or not 2 <= parts[2].known <= iterating.MOST_UNROLLED:
        raise refuse(node, "linspace of what is not constant", "write the numbers out", "DPA706")
    state.real("numbers computed by numpy")
    low, high, count = Fraction(parts[0].known), Fraction(parts[1].known), int(parts[2].known)
    return state.new(
        Items(tuple(numbers.constant(state, low + (high - low) * k / (count - 1), FLOAT) for k in range(count)), "array")
    )


def _opaque(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.round`, `floor`, `sqrt` and the like, which numpy computes for all numbers."""
    if not 1 <= len(args) <= 2 or set(named) - {"decimals"}:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass one number or array", "DPA706")
    if any(not (isinstance(one, Scalar) and type(one.known) is int) for one in (*args[1:], *named.values())):
        raise refuse(node, f"`{ast.unparse(node)}`", "round to a constant number of digits", "DPA706")
    digits = [*args[1:], *named.values()]
    if isinstance(args[0], Ref):
        return elementwise(state, node, [_as_array(state, node, args[0])], lambda one: texts.opaque(state, node, one, *digits))
    return texts.opaque(state, node, texts.firm_number(state, node, args[0]), *digits)


def _any(*, every: bool) -> Any:
    """The reader of `np.any` and `np.all`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        found = _held(state, node, given(node, args, named, "a")["a"])
        if not isinstance(found, Sequence) or not isinstance(found.value, Scalar) or found.value.kind != "bool":
            raise refuse(node, f"`{ast.unparse(node)}`", "use it on a comparison", "DPA706")
        return replace(any_of(state, node, found, every=every), types=TRUTH)

    return read


def property_of(state: State, node: ast.AST, owner: Ref, name: str) -> Value:
    """`.size` and `.shape` of an array."""
    held = state.object(owner)
    if isinstance(held, (Items, Sequence)) and held.form == "array" and name in ("size", "shape"):
        size = length(state, node, owner)
        return size if name == "size" else Tuple((size,))
    raise refuse(node, f"`.{name}`", "use len(...)", "DPA706")


def _of_array(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """Methods of arrays."""
    held = state.object(owner) if isinstance(owner, Ref) else None
    if not isinstance(owner, Ref) or not isinstance(held, (Items, Sequence)) or held.form not in ("array", "any"):
        return None
    if name == "astype" and len(args) == 1 and not named:
        return _converted(state, node, owner, args[0])
    if name == "copy" and not args and not named:
        return state.new(held)
    if name == "tolist" and isinstance(held, Items) and not args and not named:
        types = {"int": numbers.INT, "real": numbers.FLOAT, "bool": numbers.BOOL}
        return state.new(
            Items(tuple(replace(one, types=types[one.kind]) if isinstance(one, Scalar) else one for one in held.items))
        )
    read = _METHODS.get(name)
    return None if read is None else read(state, node, [owner, *args], named)


def _float64(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.float64` of a number."""
    return numbers.floated(state, node, numbers.number(state, node, given(node, args, named, "x")["x"]), FLOAT)


def _absolute(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`np.abs`."""
    return absolute(state, node, _as_array(state, node, given(node, args, named, "x")["x"]))


_METHODS: Final[dict[str, Any]] = {
    "argmax": _argument(least=False), "argmin": _argument(least=True), "clip": _clip, "max": _extreme(least=False),
    "mean": _mean, "min": _extreme(least=True), "round": _opaque, "sum": _sum, "any": _any(every=False), "all": _any(every=True),
}  # fmt: skip


def fill() -> None:
    """Enter the functions of this module."""
    functions: dict[str, Any] = {
        **_METHODS, "abs": _absolute, "absolute": _absolute, "amax": _extreme(least=False), "amin": _extreme(least=True),
        "arange": _arange, "array": _array, "asarray": _array, "count_nonzero": _count_nonzero, "full": _filled(None),
        "histogram": _histogram, "linspace": _linspace, "maximum": _pair(least=False), "minimum": _pair(least=True),
        "ones": _filled(1), "zeros": _filled(0), "where": _where, "floor": _opaque, "ceil": _opaque, "rint": _opaque,
        "sqrt": _opaque, "exp": _opaque, "log": _opaque, "float64": _float64, "around": _opaque,
    }  # fmt: skip
    Sources.MODULES.update({f"numpy.{name}": read for name, read in functions.items()})
    Sources.METHODS["array"] = _of_array


__all__ = ["Poison", "elementwise", "fill", "inverted", "is_array", "length", "mean", "total"]
