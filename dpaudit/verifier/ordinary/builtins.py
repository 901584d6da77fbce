"""Functions of Python and of its modules math, collections and fractions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpaudit.verifier.ordinary import arrays, exponentials, indexing, iterating, kinds, numbers, outcomes, texts
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.lines import as_kind
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.subscripts import key_of
from dpaudit.verifier.ordinary.values import (
    Builtin,
    Class,
    Counts,
    Dictionary,
    Function,
    Infinity,
    Items,
    Iterator,
    Nothing,
    Opaque,
    Partial,
    Ref,
    Scalar,
    Sequence,
    Span,
    Tuple,
    Value,
)

Args = list[Value]
Named = dict[str, Value]


def _abs(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`abs`."""
    found = given(node, args, named, "x")["x"]
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    return arrays.absolute(state, node, found)


def _len(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`len`."""
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    return arrays.length(state, node, given(node, args, {}, "obj")["obj"])


def _range(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`range`."""
    if named or not 1 <= len(args) <= 3:
        raise refuse(node, f"`{ast.unparse(node)}`", "write range(stop)", "DPA706")
    parts = [numbers.whole(state, node, one, "in range") for one in args]
    if any(one.counts for one in parts):
        return indexing.places(state, node, parts)
    start, stop = (numbers.constant(state, 0), parts[0]) if len(parts) == 1 else (parts[0], parts[1])
    step = parts[2].known if len(parts) == 3 else 1
    if type(step) is not int or step == 0:
        raise refuse(node, "a range whose step is no constant other than 0", "write it out", "DPA706")
    return Span(start, stop, step)


def _iterator(what: str) -> Callable[[State, ast.AST, Args, Named], Value]:
    """The reader of map, filter and reversed, which are evaluated where they are gone through."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        least, most = {"map": (2, 9), "filter": (2, 2), "reversed": (1, 1), "zip": (0, 9)}[what]
        if set(named) - ({"strict"} if what == "zip" else set()) or not least <= len(args) <= most:
            raise refuse(node, f"`{ast.unparse(node)}`", f"use {what} by position", "DPA706")
        strict = named.get("strict")
        equal = strict is not None and not (isinstance(strict, Scalar) and strict.known is False)
        if what in ("map", "filter") and not isinstance(args[0], (Function, Class, Builtin, Partial)):
            raise refuse(node, f"`{ast.unparse(node)}`", "map a function", "DPA706")
        for one in args[what in ("map", "filter") :]:
            if not isinstance(one, (Ref, Tuple, Span)) and not (
                isinstance(one, Scalar) and (one.origin or isinstance(one.known, str))
            ):
                raise refuse(node, f"`{ast.unparse(node)}`", "go through lists", "DPA706")
            if isinstance(one, Scalar):
                state.assume(one.origin, "list", what)
        return state.new(Iterator("zip strict" if equal else what, tuple(args)))

    return read


def _enumerate(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`enumerate`."""
    parts = given(node, args, named, "iterable", "start?")
    if isinstance(parts["iterable"], Scalar):
        state.assume(parts["iterable"].origin, "list", "enumerate")
    start = numbers.whole(state, node, parts.get("start", numbers.constant(state, 0)), "as a start")
    return state.new(Iterator("enumerate", (parts["iterable"], start)))


def _list(form: str) -> Callable[[State, ast.AST, Args, Named], Value]:
    """The reader of `list`, `tuple` and `set`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        if named or len(args) > 1:
            raise refuse(node, f"`{ast.unparse(node)}`", f"write {form}(values)", "DPA706")
        if not args:
            return Tuple(()) if form == "tuple" else state.new(Items((), form))
        found = iterating.drained(state, node, args[0])
        if form == "set":
            return kinds.made_of(state, node, found)
        if isinstance(found, Sequence):
            if form != "list" or found.once:
                raise refuse(node, f"`{ast.unparse(node)}`", "keep a list", "DPA706")
            return state.new(replace(found, form="list"))
        if any(guard is not None for guard, _ in found):
            raise refuse(node, f"`{ast.unparse(node)}`", "write a list comprehension", "DPA706")
        items = tuple(one for _, one in found)
        return Tuple(items) if form == "tuple" else state.new(Items(items, form))

    return read


def _float(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`float` of a number."""
    found = given(node, args, named, "x")["x"]
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    if isinstance(found, Scalar) and isinstance(found.known, str):
        try:
            value = float(found.known)
        except ValueError:
            value = float("nan")
        if abs(value) == float("inf"):
            state.real("floats")
            return Infinity(value > 0)
        if abs(value) < 2.0**1000:
            return numbers.floated(state, node, numbers.constant(state, Fraction(str(value))))
        raise refuse(
            node, f"`{ast.unparse(node)}`, which is no number that is read,", "start with None, or with the first value", "DPA703"
        )
    if isinstance(found, Opaque):
        return texts.opaque(state, node, texts.firm_number(state, node, found))
    if isinstance(found, Ref):
        found = arrays.single(state, node, found)
    one = numbers.scalar(state, node, found)
    if one.kind == "bool":
        one = replace(one, types=numbers.BOOL)
    return numbers.floated(state, node, numbers.number(state, node, one))


def _int(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`int` of a number: of a whole one the same, of others rounded."""
    found = given(node, args, {}, "x")["x"]
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    if isinstance(found, Opaque):
        return texts.converted(state, node, texts.firm_number(state, node, found))
    one = numbers.scalar(state, node, found)
    if one.kind == "str":
        raise refuse(node, f"`{ast.unparse(node)}` of a text", "use numbers", "DPA703")
    if one.kind == "bool":
        one = replace(one, types=numbers.BOOL)
    one = numbers.number(state, node, one)
    if one.kind == "int":
        return replace(one, types=numbers.INT, tests=())
    if one.is_known:
        near = numbers.constant(state, round(one.known), numbers.FLOAT)
        numbers.decided(node, "==", one, near)
        return numbers.constant(state, int(float(one.known) if one.types <= {"float", "np.float"} else one.known))
    return texts.opaque(state, node, one)


def _bool(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`bool`."""
    found = state.truth(node, given(node, args, {}, "x")["x"]) if not named else None
    if found is None:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    return replace(found, types=numbers.BOOL, tests=())


def _text(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`str` and `repr`."""
    found = given(node, args, {}, "object")["object"]
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    if isinstance(found, Scalar) and type(found.known) in (str, int) and state.callee == "str":
        return state.text(str(found.known))
    texts.as_text(state, node, found)
    return texts.opaque(state, node, found, sort="text")


def _round(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`round`."""
    parts = given(node, args, named, "number", "ndigits?")
    digits = parts.get("ndigits", Nothing())
    if not isinstance(digits, Nothing) and not (isinstance(digits, Scalar) and type(digits.known) is int):
        raise refuse(node, f"`{ast.unparse(node)}`", "round to a constant number of digits", "DPA706")
    found = parts["number"]
    if isinstance(found, Scalar) and found.kind == "int" and isinstance(digits, Nothing):
        return replace(found, types=numbers.INT, tests=())
    return texts.converted(state, node, texts.firm_number(state, node, found), digits)


def _rounded(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`math.floor`, `ceil`, `trunc`: total on numbers."""
    found = given(node, args, {}, "x")["x"]
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    if state.callee == "math.trunc" and (isinstance(found, Opaque) or "np.int" in getattr(found, "types", ())):
        raise refuse(node, f"`{ast.unparse(node)}`, which whole numbers of numpy do not have,", "write int(...)", "DPA703")
    return texts.converted(state, node, texts.firm_number(state, node, found))


def _math(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`math.sqrt`, `exp`, `log`: they fail for some numbers, which are put out where they are not public."""
    most = 2 if state.callee == "math.log" else 1
    if named or not 1 <= len(args) <= most:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass one number", "DPA706")
    parts = [texts.firm_number(state, node, one) for one in args]
    if state.callee == "math.exp":
        made = texts.opaque(state, node, *parts)
        if exponentials.never_large(state, parts[0]):
            return made
        if f"{made.site} shown" not in state.learned.types and not state.private_tests:
            # As a weight of a choice it is looked at over the real numbers, where none is too large.
            state.real("floats")
            state.exponents.setdefault(made, state.line)
            return made
    return texts.partial(state, node, *parts)


def _isinstance(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`isinstance` of a number whose type is sure."""
    wanted = given(node, args, {}, "obj", "cls")["cls"]
    kinds = wanted.items if isinstance(wanted, Tuple) else (wanted,)
    names = {one.name for one in kinds if isinstance(one, Builtin)}
    found = args[0]
    if (
        named
        or len(names) != len(kinds)
        or not isinstance(found, Scalar)
        or not found.firm
        or not found.types <= {"int", "float", "bool", "str"}
        or not names <= {"int", "float", "bool", "str"}
    ):
        raise refuse(node, f"`{ast.unparse(node)}`", "say the type in an annotation", "DPA706")
    (own,) = found.types
    # A truth value is a whole number for an annotation, and a whole number a float.
    sure = {"int": "bool" not in names or "int" in names, "float": {"int", "float"} <= names or names == {"str"}}.get(own, True)
    if not found.is_known and not sure:
        raise refuse(node, f"`{ast.unparse(node)}`, which an annotation does not decide,", "leave the test out", "DPA706")
    return numbers.constant(state, own in names or (own == "bool" and "int" in names))


def _print(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`print`: what is printed is put out."""
    if set(named) - {"sep", "end", "flush"} or any(not (isinstance(one, Scalar) and one.is_known) for one in named.values()):
        raise refuse(node, f"`{ast.unparse(node)}`", "print to the screen", "DPA706")
    for one in args:
        texts.as_text(state, node, one)
    outcomes.show(state, node, *args, *(named[one] for one in sorted(named)))
    return Nothing()


def _log(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """A line of a log: whether it is kept is for others to say, so that it is put out."""
    if named or not args or not (isinstance(args[0], Opaque) or (isinstance(args[0], Scalar) and args[0].kind == "str")):
        raise refuse(node, f"`{ast.unparse(node)}`", "log a text and its values", "DPA706")
    return _print(state, node, args, named)


def _logger(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`logging.getLogger`."""
    # Its name is part of each line of the log.
    plain = all(one == Opaque("__name__", (), "text") or (isinstance(one, Scalar) and isinstance(one.known, str)) for one in args)
    if named or len(args) > 1 or not plain:
        raise refuse(node, f"`{ast.unparse(node)}`", "write logging.getLogger(__name__)", "DPA706")
    return Builtin("logging.Logger")


def _dict(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`dict()` of keywords, of another dictionary, or of pairs."""
    if not args:
        return state.new(Dictionary(tuple(named.items())))
    held = state.object(args[0]) if isinstance(args[0], Ref) else None
    if len(args) == 1 and not named and isinstance(held, Dictionary):
        return state.new(replace(held, default=""))
    if len(args) == 1 and not named:
        found = iterating.drained(state, node, args[0])
        if not isinstance(found, Sequence) and all(
            guard is None and isinstance(one, Tuple) and len(one.items) == 2 for guard, one in found
        ):
            pairs = {key_of(state, node, one.items[0]): one.items[1] for _, one in found if isinstance(one, Tuple)}
            return state.new(Dictionary(tuple(pairs.items())))
    raise refuse(node, f"`{ast.unparse(node)}`", "write the dictionary out", "DPA706")


def _fromkeys(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`dict.fromkeys`."""
    parts = given(node, args, named, "iterable", "value?")
    found = iterating.drained(state, node, parts["iterable"])
    if named or isinstance(found, Sequence) or any(guard is not None for guard, _ in found):
        raise teach(node, "private keys", "a dictionary over keys that are found in the data")
    value = parts.get("value", Nothing())
    return state.new(Dictionary(tuple({key_of(state, node, one): value for _, one in found}.items())))


def _defaultdict(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`collections.defaultdict(int)`, `(float)`, and with a lambda that gives 0."""
    found = given(node, args, named, "factory")["factory"]
    if isinstance(found, Builtin) and found.name in ("int", "float", "list") and not named:
        return state.new(Dictionary((), found.name))
    raise refuse(node, f"`{ast.unparse(node)}`", "write defaultdict(int)", "DPA706")


def _counter(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`collections.Counter` of values."""
    if not args and not named:
        return state.new(Dictionary((), "counter"))
    found = iterating.drained(state, node, given(node, args, named, "iterable")["iterable"])
    if named or not isinstance(found, Sequence) or not isinstance(found.value, Scalar) or found.value.kind not in ("int", "str"):
        if isinstance(found, Sequence) and isinstance(found.value, Scalar):
            state.assume(found.value.origin, "str", "a key")
        raise refuse(node, f"`{ast.unparse(node)}`", "count texts or whole numbers of the data", "DPA706")
    if found.once:
        raise refuse(node, "a Counter of noise", "count texts or whole numbers of the data", "DPA706")
    pair = Tuple((found.value, numbers.constant(state, 1)))
    return state.new(Counts((replace(found, value=pair),), "counter"))


def _fraction(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`Fraction` of whole numbers, or of a constant text."""
    if named or not 1 <= len(args) <= 2:
        raise refuse(node, f"`{ast.unparse(node)}`", "write Fraction(1, 2)", "DPA706")
    if len(args) == 1 and isinstance(args[0], Scalar) and isinstance(args[0].known, str):
        try:
            return numbers.constant(state, Fraction(args[0].known), numbers.EXACT)
        except (ValueError, ZeroDivisionError):
            raise refuse(node, f"`{ast.unparse(node)}`", "write Fraction(1, 2)", "DPA704") from None
    parts = [numbers.number(state, node, one) for one in args]
    if any("np.int" in one.types for one in parts):
        raise refuse(node, f"`{ast.unparse(node)}` of a number of numpy", "convert it with int() first", "DPA703")
    if len(parts) == 1 and parts[0].kind == "real" and parts[0].types == numbers.EXACT:
        return parts[0]
    if any(one.kind != "int" for one in parts):
        raise refuse(node, f"`{ast.unparse(node)}` of a float", "write Fraction(1, 2)", "DPA703")
    if len(parts) == 1:
        one = parts[0]
        if one.is_known:
            return numbers.constant(state, Fraction(one.known), numbers.EXACT)
        return replace(one, code=as_kind(one, "real"), kind="real", types=numbers.EXACT, bits=0)
    made = numbers.arithmetic(state, node, ast.Div(), *(replace(one, types=numbers.EXACT) for one in parts))
    return replace(made, types=numbers.EXACT)


def fill() -> None:
    """Enter the functions of this module."""
    Sources.PYTHON.update(
        abs=_abs, bool=_bool, dict=_dict, enumerate=_enumerate,
        filter=_iterator("filter"),
        float=_float, int=_int, isinstance=_isinstance, len=_len, list=_list("list"), map=_iterator("map"),
        print=_print, range=_range, repr=_text, reversed=_iterator("reversed"), round=_round,
        set=_list("set"), str=_text, tuple=_list("tuple"), zip=_iterator("zip"),
    )  # fmt: skip
    Sources.PYTHON["frozenset"] = _list("set")
    modules: dict[str, Any] = {
        "collections.Counter": _counter, "collections.defaultdict": _defaultdict, "fractions.Fraction": _fraction,
        "math.floor": _rounded, "math.ceil": _rounded, "math.trunc": _rounded, "math.sqrt": _math, "math.exp": _math,
        "math.log": _math, "math.log2": _math, "math.log10": _math, "math.fabs": _math_abs,
    }  # fmt: skip
    logged = ("debug", "info", "warning", "error", "critical")
    modules |= {f"{place}.{level}": _log for place in ("logging", "logging.Logger") for level in logged}
    modules["logging.getLogger"] = _logger
    Sources.MODULES.update(modules)
    Sources.METHODS["fromkeys"] = lambda state, node, owner, name, args, named: (
        _fromkeys(state, node, args, named) if owner == Builtin("dict") and name == "fromkeys" else None
    )


def _math_abs(state: State, node: ast.AST, args: Args, named: Named) -> Value:
    """`math.fabs` of a number."""
    one = numbers.number(state, node, given(node, args, {}, "x")["x"])
    if named:
        raise refuse(node, f"`{ast.unparse(node)}`", "pass it by position", "DPA706")
    return numbers.floated(state, node, numbers.number(state, node, arrays.absolute(state, node, one)))
