"""numpy on real numbers: arrays whose length the source says, or with one element for each record, and sums over them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from dpaudit.verifier.ordinary import iterating, kinds, numbers, quantiles, texts, wording
from dpaudit.verifier.ordinary.lines import as_kind
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.signatures import refuse_fraction
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    UNKNOWN,
    Counts,
    Dictionary,
    Groups,
    Hollow,
    Items,
    Kinds,
    Opaque,
    Ranked,
    Ref,
    Scalar,
    Sequence,
    Short,
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
_OF_TYPE: Final = {"int": "np.int", "float": "np.float", "Fraction": "np.float", "bool": "np.bool"}


TABLES: Final[list[Callable[[State, ast.AST, Sequence], Ref]]] = []
FILLED: Final[list[Callable[[State, list[Value]], tuple[list[Value], bool]]]] = []
PAIRED: Final[list[Callable[[State, ast.AST, list[Any]], None]]] = []
"""What makes arrays of records and of sums over them, and owes what operations on both need."""


def is_array(state: State, found: Value) -> bool:
    """True for an array, and for data of which nothing says that they are none."""
    held = state.object(found) if isinstance(found, Ref) else None
    return isinstance(held, Hollow) or (isinstance(held, (Items, Sequence)) and held.form in ("array", "any"))


def held_by(state: State, node: ast.AST, found: Value) -> Items | Sequence:
    """The elements of an array, or of a list that numpy takes for one."""
    if isinstance(found, Scalar):
        state.assume(found.origin, "list", "numpy")
    if isinstance(found, Tuple):
        return Items(found.items, "array")
    held = state.object(found) if isinstance(found, Ref) else None
    if isinstance(held, Spent):
        raise refuse(node, f"`{ast.unparse(node)}` of {held.why}", "keep each value under a name of its own", "DPA705")
    if isinstance(held, Sequence) and isinstance(found, Ref):
        return state.taken(node, found.address, held)
    if isinstance(held, Items) and held.form != "set":
        return held
    raise refuse(node, f"`{ast.unparse(node)}`", "use an array, or a list of numbers", "DPA706")


def element(state: State, node: ast.AST, found: Value) -> Value:
    """An element as an array holds it."""
    if isinstance(found, Opaque):
        return texts.firm_number(state, node, found)
    refuse_fraction(state, node, found)
    one = numbers.scalar(state, node, found)
    if one.kind == "str" or (one.kind == "int" and numbers.bits_of(one) > 62):
        raise refuse(node, "an array of texts or of large numbers", "use numbers", "DPA703")
    return one if one.types <= {"np.int", "np.float", "np.bool"} else held_as(one)


def held_as(one: Scalar) -> Scalar:
    """A number with the type that numpy gives it: what decides between several types decides between those of numpy."""
    types = frozenset(_OF_TYPE.get(kind, kind) for kind in one.types)
    return replace(one, types=types, tests=() if len(types) == 1 else one.tests or None)


def alike(state: State, node: ast.AST, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """Elements of one type, as an array holds them."""
    made = [element(state, node, one) for one in items]
    kinds = {one.kind for one in made if isinstance(one, Scalar)}
    loose = list(dict.fromkeys((one.types, one.tests) for one in made if isinstance(one, Scalar) and not one.firm))
    if kinds <= {"int", "real"} and (kinds == {"int", "real"} or loose):
        if any(isinstance(one, Scalar) and one.types == FLOAT for one in made):
            return tuple(numbers.floated(state, node, one, FLOAT) if isinstance(one, Scalar) else one for one in made)
        # All are whole or all are floats, as those that may be either are.
        types = frozenset(kind for one, _ in loose for kind in one)
        tests = loose[0][1] if len(loose) == 1 else None
        return tuple(replace(one, types=types, tests=tests) if isinstance(one, Scalar) else one for one in made)
    if len(kinds) > 1 or (kinds and any(isinstance(one, Opaque) for one in made) and kinds != {"real"}):
        raise refuse(node, "an array of different types", "give all elements one type", "DPA703")
    return tuple(made)


def made_of(state: State, node: ast.AST, found: Value) -> Ref:
    """A new array of the elements of something."""
    held = held_by(state, node, found)
    state.real("arrays of floats")
    if isinstance(held, Items):
        return state.new(Items(alike(state, node, held.items), "array"))
    if isinstance(held.value, Tuple) and TABLES:
        return TABLES[0](state, node, held)
    if not isinstance(held.value, Scalar):
        raise refuse(node, "an array of records", "use one list for each field", "DPA706")

    def make(one: Value) -> tuple[None, Value]:
        made = element(state, node, one)
        if held.form == "list" and isinstance(made, Scalar) and made.types != FLOAT:
            # Without an element numpy makes floats, and with one float among them.
            made = replace(made, types=made.types | FLOAT, tests=None)
        return None, made

    return state.new(replace(iterating.over(state, node, held, make), form="array"))


def elementwise(state: State, node: ast.AST, parts: list[Value], make: Make, *, further: tuple[Value, ...] | None = None) -> Value:
    """An operation on each element; numbers go with each.

    `further` says what else decides the value, where numpy computes one for all numbers: only then values may be rounded.
    """

    def one_by_one(*args: Value) -> Value:
        if any(isinstance(one, Opaque) for one in args):
            if further is None:
                raise refuse(node, f"`{ast.unparse(node)}` of rounded values", "compute first, and round at the end", "DPA706")
            if any(not isinstance(one, (Opaque, Scalar)) or (isinstance(one, Scalar) and one.kind == "str") for one in args):
                raise refuse(node, f"`{ast.unparse(node)}` of what is no number", "use numbers", "DPA703")
            numbers_only = [texts.firm_number(state, node, one) if isinstance(one, Opaque) else one for one in args]
            return texts.opaque(state, node, *numbers_only, *further)
        return element(state, node, make(*args))

    parts, hollow = FILLED[0](state, parts)
    held: list[Any] = []
    for one in parts:
        if isinstance(one, (Ref, Tuple)):
            inner = held_by(state, node, one)
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
    widths = {len(one.value.items) for one in sequences if isinstance(one.value, Tuple)}
    if widths and sizes <= widths and len(widths) == 1 and all(isinstance(one.value, Tuple) for one in sequences):
        return _of_rows(state, node, held, one_by_one)
    if sizes and sequences:
        raise refuse(node, f"`{ast.unparse(node)}` of arrays of different lengths", "use arrays of one length", "DPA706")
    if sizes:
        if len(sizes) > 1 or 0 in sizes:
            raise refuse(node, "arrays of different lengths, or without elements", "use arrays of one length", "DPA706")
        arrays = [tuple(element(state, node, part) for part in one.items) if isinstance(one, Items) else None for one in held]
        rounds = [
            [array[place] if array is not None else one for array, one in zip(arrays, held, strict=True)]
            for place in range(sizes.pop())
        ]
        items = alike(state, node, tuple(one_by_one(*args) for args in rounds))
        return state.new(Hollow(items) if hollow else Items(items, "array"))

    def together(values: list[Value]) -> tuple[None, Value]:
        rest = iter(values)
        return None, one_by_one(*(element(state, node, next(rest)) if isinstance(one, Sequence) else one for one in held))

    return state.new(replace(iterating.beside(state, node, sequences, together), form="array"))


def _of_rows(state: State, node: ast.AST, held: list[Any], make: Make) -> Value:
    """An operation on each cell of tables; arrays that are written out go with each row, cell by cell."""
    sequences = [one for one in held if isinstance(one, Sequence)]
    PAIRED[0](state, node, held)

    def together(values: list[Value]) -> tuple[None, Value]:
        rest = iter(values)
        rows = [next(rest) if isinstance(one, Sequence) else one for one in held]
        width = next(len(one.items) for one in rows if isinstance(one, Tuple))
        cells = (
            make(*(element(state, node, one.items[place]) if isinstance(one, (Tuple, Items)) else one for one in rows))
            for place in range(width)
        )
        return None, Tuple(tuple(cells))

    return state.new(replace(iterating.beside(state, node, sequences, together), form="array"))


def operated(state: State, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """An operation on arrays."""
    if isinstance(op, (ast.BitAnd, ast.BitOr)):
        return elementwise(state, node, [left, right], lambda a, b: _both(state, node, op, a, b))
    for one in (left, right):
        held = state.object(one) if isinstance(one, Ref) else None
        if isinstance(held, Items) and held.form == "list":
            raise refuse(node, f"`{ast.unparse(node)}` of a list and an array", "write np.array(...) around the list", "DPA703")
    state.real("arrays of floats")
    # numpy gives NaN for 0 / 0.
    total = isinstance(op, ast.Div) and isinstance(right, Scalar) and (right.positive or bool(right.known and right.is_known))
    further = () if total or isinstance(op, (ast.Add, ast.Sub, ast.Mult)) else None
    return elementwise(state, node, [left, right], lambda a, b: numbers.arithmetic(state, node, op, a, b), further=further)


def _both(state: State, node: ast.AST, op: ast.operator, first: Value, second: Value) -> Scalar:
    """`&` and `|` of truth values of numpy."""
    one, other = numbers.scalar(state, node, first), numbers.scalar(state, node, second)
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
    found, test = held_by(state, node, owner), held_by(state, node, mask)
    if found.form == "any":
        state.assume(f"{found.base}#" if isinstance(found, Sequence) and found.base else None, "array", "a mask")
        raise refuse(node, f"`{ast.unparse(node)}`, where nothing says that it is an array,", "annotate it as np.ndarray", "DPA703")
    if not (isinstance(found, Sequence) and isinstance(test, Sequence) and isinstance(test.value, Scalar)) or found.form == "list":
        raise refuse(node, f"`{ast.unparse(node)}`", "select by a comparison of the same array", "DPA706")
    if test.value.types != TRUTH or test.form != "array":
        raise refuse(node, f"`{ast.unparse(node)}`", "select by a comparison of the same array", "DPA706")
    return state.new(replace(iterating.beside(state, node, [found, test], lambda both: (both[1], both[0])), form="array"))


# Folds.


def total(state: State, node: ast.AST, found: Any, start: Scalar) -> Value:
    """The sum of elements, from a start on."""
    if isinstance(found, Sequence):
        return fold(state, node, found, start)
    if any(isinstance(one, Opaque) for _, one in found):
        if any(guard is not None or not numbers.is_number(one) for guard, one in found):
            raise refuse(node, "a sum of texts or of values that may not be there", "add numbers", "DPA706")
        return texts.opaque(state, node, start, *(one for _, one in found))
    for guard, one in found:
        added = numbers.arithmetic(state, node, ast.Add(), start, one)
        start = added if guard is None else numbers.chosen(state, node, guard, added, start)
    return start


def fold(state: State, node: ast.AST, found: Sequence, start: Scalar) -> Scalar:
    """A sum over a sequence, in a loop."""
    with state.trial():
        depth = state.depth
        one = numbers.number(state, node, state.opened(node, found))
        made = numbers.arithmetic(state, node, ast.Add(), replace(start, known=UNKNOWN), one)
        state.depth = depth
    if "np.int" in made.types and numbers.bits_of(one) > numbers.DATA_BITS + 2:
        raise refuse(node, "a sum of large whole numbers of numpy", "write the array with floats, 1.0", "DPA706")
    if made.kind == "int" and numbers.bits_of(one) > 2 * numbers.DATA_BITS:
        made = replace(made, bits=2 * numbers.MOST_FLOAT_BITS)
    name, depth = state.fresh("total"), state.depth
    state.emit(f"{name} = {as_kind(start, made.kind)}")
    state.record_loops += found.private
    element = numbers.number(state, node, state.opened(node, found))
    state.record_loops -= found.private
    state.emit(f"{name} = {name} + {element.code}")
    state.depth = depth
    types = made.types | start.types  # without an element the start is what comes out
    public = made.public and found.steady
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
    if (size := wording.length(state, node, found)) is not None:
        return size
    if isinstance(found, Scalar):
        state.assume(found.origin, "list", "len")
    if isinstance(found, Short):
        return found.size
    held = state.object(found) if isinstance(found, Ref) else None
    match held:
        case Items(items, form) if form != "set":
            return numbers.constant(state, len(items))
        case Dictionary(entries):
            return numbers.constant(state, len(entries))
        case Counts() | Groups():
            return kinds.keys_of(state, node, held)
        case Ranked(source):
            return length(state, node, state.new(source))
        case Kinds(source):
            return kinds.number_of(state, node, source)
        case Sequence() if held.form != "iterator":
            if held.length is not None and held.index:
                plain = held.length.code.startswith("len(") and held.length.code.count("(") == 1
                return held.length if plain else replace(held.length, code=f"max(0, {held.length.code})")
            if not held.once:
                counted = fold(
                    state, node, replace(held, value=numbers.constant(state, 1), form="list"), numbers.constant(state, 0)
                )
                if held.private and isinstance(found, Ref):
                    state.sizes[counted.code] = (found.address, held)
                return replace(counted, counts=held.private, public=False)
    raise refuse(node, f"`{ast.unparse(node)}`", "take the length of lists", "DPA706")


def mean(state: State, node: ast.AST, found: Value, types: frozenset[str]) -> Value:
    """The sum by the number of elements."""
    held = held_by(state, node, found)
    if isinstance(held, Sequence) and held.private and not state.lenient:
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
    # What decided the type of an element is gone after the loop.
    made = replace(one, code=top, public=False, origin=None, tests=() if one.firm else None)
    if first is None:
        state.owe(seen)
        return made
    return numbers.chosen(state, node, Scalar(seen, "bool", numbers.BOOL), made, first)


def any_of(state: State, node: ast.AST, found: Sequence, *, every: bool) -> Scalar:
    """`any` or `all` of a sequence."""
    if found.once or len(found.lines) > found.head + 1:
        raise refuse(node, f"`{ast.unparse(node)}`", "make a list of the truth values first", "DPA706")
    name, depth = state.fresh("all" if every else "any"), state.depth
    state.emit(f"{name} = {every}")
    one = state.truth(node, state.opened(node, found))
    state.emit(f"if {'not ' if every else ''}{one.code}:")
    state.depth += 1
    state.emit(f"{name} = {not every}")
    state.depth = depth
    return Scalar(name, "bool", numbers.BOOL, public=one.public and found.steady)


def single(state: State, node: ast.AST, found: Value) -> Value:
    """Refuse an array where a number is needed."""
    raise refuse(node, f"`{ast.unparse(node)}` of an array or list", "take one element", "DPA703")


def absolute(state: State, node: ast.AST, found: Value) -> Value:
    """The size of a number, or of each element."""

    def make(one: Value) -> Value:
        value = numbers.number(state, node, one)
        if value.is_known:
            return replace(numbers.constant(state, abs(value.known), value.types), bits=value.bits)
        return replace(value, code=f"abs({value.code})", origin=None)

    if isinstance(found, Opaque):
        return texts.opaque(state, node, texts.firm_number(state, node, found))
    if (curve := quantiles.curve_of(state, found)) is not None:
        return quantiles.absolute(node, curve)
    return elementwise(state, node, [found], make, further=()) if isinstance(found, Ref) else make(found)


def property_of(state: State, node: ast.AST, owner: Ref, name: str) -> Value:
    """`.size` and `.shape` of an array."""
    held = state.object(owner)
    if isinstance(held, (Items, Sequence)) and held.form == "array" and name in ("size", "shape"):
        size = length(state, node, owner)
        return size if name == "size" else Tuple((size,))
    raise refuse(node, f"`.{name}`", "use len(...)", "DPA706")
