"""What functions of Python and its modules take: a call that Python would refuse is refused before it is read.

Where the core program has no error but Python does, the error may show the data. So each function that is read has a signature
here, written as Python writes it, and the sort of operand that it takes for sure.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Counts,
    Curve,
    Dictionary,
    Generator,
    Growing,
    Infinity,
    Items,
    Iterator,
    Method,
    Nothing,
    Opaque,
    Output,
    Record,
    Ref,
    Scalar,
    Sequence,
    Short,
    Span,
    Spent,
    Tuple,
    Value,
)

_UFUNC: Final = "x: operand, /"
_SIGNATURES: Final[dict[str, tuple[str, ...]]] = {
    "abs": ("x: size, /",),
    "all": ("iterable: iterable, /",),
    "any": ("iterable: iterable, /",),
    "bool": ("x, /",),
    "enumerate": ("iterable: iterable, start: whole = 0",),
    "filter": ("function, iterable: iterable, /",),
    "float": ("x, /",),
    "frozenset": ("iterable: iterable = (), /",),
    "int": ("x, /",),
    "isinstance": ("obj, cls, /",),
    "len": ("obj, /",),
    "list": ("iterable: iterable = (), /",),
    "map": ("function, iterable: iterable, /, *more: iterable",),
    "print": ("*values, sep: text = ' ', end: text = '', flush = False",),
    "repr": ("object, /",),
    "reversed": ("sequence: reversible, /",),
    "round": ("number: number, ndigits = None",),
    "set": ("iterable: iterable = (), /",),
    "sorted": ("iterable: iterable, /, *, key = None, reverse = False",),
    "str": ("object, /",),
    "sum": ("iterable: iterable, /, start: number = 0",),
    "tuple": ("iterable: iterable = (), /",),
    "zip": ("*iterables: iterable, strict = False",),
    **{f"math.{name}": ("x: number, /",) for name in ("ceil", "exp", "fabs", "floor", "log10", "log2", "sqrt", "trunc")},
    "math.fsum": ("seq: iterable, /",),
    "math.log": ("x: number, /", "x: number, base: number, /"),
    **{f"bisect.{name}": ("a: iterable, x: number",) for name in ("bisect", "bisect_left", "bisect_right")},
    "functools.reduce": ("function, iterable: iterable, /", "function, iterable: iterable, initial, /"),
    "statistics.mean": ("data: iterable",),
    "statistics.fmean": ("data: iterable",),
    **{f"numpy.{name}": (_UFUNC,) for name in ("abs", "absolute", "ceil", "exp", "floor", "log", "rint", "sqrt")},
    **{f"numpy.{name}": ("x1: operand, x2: operand, /",) for name in ("maximum", "minimum")},
    **{
        f"numpy.{name}": ("a: array",)
        for name in ("all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "max", "min")
    },
    **{f"numpy.{name}": ("a: array, axis = None",) for name in ("mean", "sum")},
    **{f"numpy.{name}": ("a: operand, decimals: whole = 0",) for name in ("around", "round")},
    "numpy.arange": ("start: whole, stop: whole = None, step: whole = None, /",),
    "numpy.array": ("object: array, dtype = None",),
    "numpy.asarray": ("a: array, dtype = None",),
    "numpy.bincount": ("x: iterable, /, *, minlength: whole",),
    "numpy.clip": ("a: operand, a_min: end, a_max: end", "a: operand, /, *, min: end = None, max: end = None"),
    "numpy.digitize": ("x: number, bins: iterable, right = False",),
    "numpy.searchsorted": ("a: iterable, v: number, side = 'left'",),
    "numpy.float64": ("x: number, /",),
    "numpy.full": ("shape, fill_value: number, dtype = None",),
    "numpy.histogram": ("a: array, bins, range = None",),
    "numpy.linspace": ("start: number, stop: number, num: whole",),
    "numpy.ones": ("shape, dtype = None",),
    "numpy.median": ("a: array",),
    "statistics.median": ("data: iterable",),
    "numpy.unique": ("ar: array",),
    "numpy.where": ("condition: array, x: operand, y: operand, /",),
    "numpy.zeros": ("shape, dtype = None",),
    **{f"array.{name}": ("a: array, /",) for name in ("all", "any", "argmax", "argmin", "max", "min")},
    **{f"array.{name}": ("a: array, /, axis = None",) for name in ("mean", "sum")},
    "array.clip": ("a: array, min: end = None, max: end = None",),
    "array.round": ("a: array, decimals: whole = 0",),
}  # fmt: skip
"""By the name of each function its forms, with the sorts of operands as annotations; `array.` stands for methods of arrays."""


def check(state: State, node: ast.AST, name: str, args: list[Value], named: dict[str, Value]) -> None:
    """Refuse a call that Python may refuse by its arguments."""
    forms = _SIGNATURES.get(name)
    if forms is None:
        return
    bound = next((found for form in forms if (found := _bound(_PARSED[form], args, named)) is not None), None)
    if bound is None:
        raise refuse(node, f"`{ast.unparse(node)}`", f"its arguments are {' or '.join(map(_told, forms))}", "DPA706")
    for sort, one in bound:
        if isinstance(one, Ref) and isinstance(state.object(one), Spent):
            continue  # the reader of the call says what became of it
        if sort and not _SORTS[sort](state, one):
            raise refuse(node, f"`{ast.unparse(node)}`, which may raise,", f"pass a value that is {_TOLD[sort]}", "DPA703")
        if name.startswith(("numpy.", "array.")):
            refuse_fraction(state, node, one)


def refuse_fraction(state: State, node: ast.AST, found: Value) -> None:
    """Refuse fractions of a file that makes them: numpy keeps them as objects, or fails."""
    if state.fractions and isinstance(found, Scalar) and "Fraction" in found.types:
        raise refuse(node, f"`{ast.unparse(node)}` of a Fraction", "convert it with float() first", "DPA703")


def refuse_unhashable(state: State, node: ast.AST, items: tuple[Value, ...]) -> None:
    """Refuse elements of a set that Python may not hash."""
    for one in items:
        if not _is_hashable(one):
            raise refuse(
                node, f"`{ast.unparse(node)}` of what may not be hashed", "use numbers, texts and tuples of them", "DPA703"
            )


def is_method(state: State, found: Method) -> bool:
    """True for a method that exists for sure, of those that people pass on without a call."""
    held = state.object(found.owner) if isinstance(found.owner, Ref) else None
    match found.owner, held, found.name:
        case Generator(family), _, name:
            return name in ("laplace", "normal") if family != "random" else name in ("gauss", "random")
        case Builtin("dict"), _, "fromkeys":
            return True
        case _, Dictionary() | Counts(), "get":
            return True
        case _, Items(form="list") | Output(form="list"), "append":
            return True
    return False


def _arguments(form: str) -> ast.arguments:
    """A signature, read."""
    tree = ast.parse(f"def f({form}): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)  # noqa: S101 - for the type checker
    return tree.args


_PARSED: Final = {form: _arguments(form) for forms in _SIGNATURES.values() for form in forms}


def _told(form: str) -> str:
    """A signature without the sorts."""
    found = _PARSED[form]
    names = [one.arg for one in (*found.posonlyargs, *found.args, *([found.vararg] if found.vararg else []), *found.kwonlyargs)]
    return f"({', '.join(names)})"


def _bound(form: ast.arguments, args: list[Value], named: dict[str, Value]) -> list[tuple[str, Value]] | None:
    """Each argument with its sort; None where Python would not bind them."""
    places = [*form.posonlyargs, *form.args]
    if len(args) > len(places) and form.vararg is None:
        return None
    pairs = list(zip(places, args, strict=False))
    taken = {one.arg for one, _ in pairs}
    by_name = {one.arg: one for one in (*form.args, *form.kwonlyargs)}
    if any(name not in by_name or name in taken for name in named):
        return None
    pairs += [(by_name[name], value) for name, value in named.items()]
    filled = taken | set(named)
    required = places[: len(places) - len(form.defaults)]
    if any(one.arg not in filled for one in required):
        return None
    if form.vararg is not None:
        pairs += [(form.vararg, value) for value in args[len(places) :]]
    return [(one.annotation.id if isinstance(one.annotation, ast.Name) else "", value) for one, value in pairs]


def _is_number(state: State, found: Value) -> bool:
    """True for a number, and for a uniform one that the reader of the call makes something of."""
    if isinstance(found, Ref):
        held = state.object(found)
        return isinstance(held, Iterator) and held.what == "uniform"
    if isinstance(found, Curve):
        return True
    if isinstance(found, Opaque):
        return found.sort == "number"
    return isinstance(found, Infinity) or (isinstance(found, Scalar) and found.kind != "str")


def _is_array(state: State, found: Value) -> bool:
    """True for what numpy takes for an array."""
    held = state.object(found) if isinstance(found, Ref) else None
    if isinstance(found, Scalar):
        return found.origin is not None
    return isinstance(found, Tuple) or (isinstance(held, (Items, Sequence)) and held.form != "set")


def _is_operand(state: State, found: Value) -> bool:
    """True for a number or an array."""
    return _is_number(state, found) or _is_array(state, found)


def _is_size(state: State, found: Value) -> bool:
    """True for what has an absolute value: a number, or an array of numpy."""
    held = state.object(found) if isinstance(found, Ref) else None
    return _is_number(state, found) or (isinstance(held, (Items, Sequence)) and held.form in ("array", "any"))


def _is_iterable(state: State, found: Value) -> bool:
    """True for what is gone through."""
    if isinstance(found, Scalar):
        return found.origin is not None or isinstance(found.known, str)
    held = state.object(found) if isinstance(found, Ref) else None
    # A uniform number is kept as an iterator: it is none of Python's.
    plain = (Items, Dictionary, Sequence, Counts, Output, Growing)
    listed = isinstance(found, (Tuple, Span, Short)) or isinstance(held, plain)
    return listed or (isinstance(held, Iterator) and held.what != "uniform")


def _is_reversible(state: State, found: Value) -> bool:
    """True for what has an end to begin at."""
    held = state.object(found) if isinstance(found, Ref) else None
    listed = isinstance(held, (Items, Sequence, Output)) and held.form in ("list", "array", "any")
    return isinstance(found, (Tuple, Span)) or listed or (isinstance(found, Scalar) and found.origin is not None)


def _is_whole(_: State, found: Value) -> bool:
    """True for a whole number, and for a parameter that may still turn out to be one."""
    return isinstance(found, Scalar) and (found.kind == "int" or found.origin is not None)


def _is_text(_: State, found: Value) -> bool:
    """True for a text or None."""
    return isinstance(found, Nothing) or (isinstance(found, Scalar) and found.kind == "str")


def _is_end(state: State, found: Value) -> bool:
    """True for an end of an interval."""
    return isinstance(found, Nothing) or _is_number(state, found)


def _is_hashable(found: Value) -> bool:
    """True for a number, a text, None, and tuples and records of them."""
    match found:
        case Scalar() | Nothing() | Opaque():
            return True
        case Tuple(items):
            return all(map(_is_hashable, items))
        case Record(_, parts):
            return all(_is_hashable(one) for _, one in parts)
    return False


_SORTS: Final[dict[str, Callable[[State, Any], bool]]] = {
    "array": _is_array, "end": _is_end, "iterable": _is_iterable, "number": _is_number, "operand": _is_operand,
    "reversible": _is_reversible, "size": _is_size, "text": _is_text, "whole": _is_whole,
}  # fmt: skip
_TOLD: Final = {
    "array": "an array or list", "end": "a number", "iterable": "a list", "number": "a number",
    "operand": "a number or an array", "reversible": "a list", "size": "a number or an array", "text": "a text",
    "whole": "a whole number",
}  # fmt: skip
