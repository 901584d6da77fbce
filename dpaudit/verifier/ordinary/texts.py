"""What is not computed: rounded numbers, texts and functions of math, as functions of the values that they are made of."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Final, TypeAlias

from dpaudit.verifier.ordinary import numbers, outcomes
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Dictionary, Items, Nothing, Opaque, Output, Record, Ref, Scalar, Tuple, Value

_MOST_PARTS: Final = 256
"""The most numbers that something that is not computed may be made of."""
_MOST_FACTORS: Final = 8
_FIXED: Final = (ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.JoinedStr)
"""Nodes that say by themselves what is computed."""
_NO_NUMBERS: Final = ("numpy.sqrt", "numpy.log", "numpy.exp")
"""Functions that give NaN or infinity where those of `math` fail."""
_FORMAT: Final = re.compile(r"[<>^]?\d{0,2},?(\.\d{1,2})?([dfgeEG%]?)")


_MOST_DIGITS: Final = 2**31 - 1
"""The largest precision that Python takes."""
Piece: TypeAlias = str | tuple[Value, str, str]
_AS_FLOAT: Final = ("e", "E", "f", "g", "G", "%")
"""Letters of formats that take every number for a float."""


def opaque(state: State, node: ast.AST, *parts: Value, sort: str = "number") -> Opaque:
    """What a place of the source makes of values."""
    place = ":".join(str(getattr(node, name, 0)) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
    if not isinstance(node, _FIXED):
        # One call may be of several functions, and one name of several iterators that call them.
        place += f":{state.callee}"
    made = Opaque(place, tuple(_held(state, node, one) for one in parts), sort)
    if len(outcomes.scalars(made)) > _MOST_PARTS:
        raise refuse(node, "a value of so many rounded ones", "compute first, and round at the end", "DPA706")
    return made


def is_text(found: Value) -> bool:
    """True for a text for sure."""
    return (isinstance(found, Scalar) and found.kind == "str") or (isinstance(found, Opaque) and found.sort == "text")


def product(state: State, node: ast.AST, *parts: Value) -> Opaque:
    """A product with rounded numbers: of few, since a whole number that grows without end has no float and no text."""
    made = opaque(state, node, *parts)
    leaves = outcomes.scalars(made)
    if len(leaves) > _MOST_FACTORS or any(one.kind == "int" and numbers.bits_of(one) > numbers.MOST_BITS for one in leaves):
        raise refuse(node, f"`{ast.unparse(node)}` of this many rounded numbers", "compute first, and round at the end", "DPA706")
    return made


def _held(state: State, node: ast.AST, found: Value) -> Value:
    """A part, which must be a plain value."""
    match found:
        case Scalar() | Nothing() | Opaque():
            return found
        case Tuple(items):
            return Tuple(tuple(_held(state, node, one) for one in items))
        case Record(owner, parts):
            return Record(owner, tuple((name, _held(state, node, one)) for name, one in parts))
        case Ref():
            held = state.object(found)
            if isinstance(held, Items):
                return Opaque(held.form, tuple(_held(state, node, one) for one in held.items))
            if isinstance(held, Dictionary):
                # Its keys are constants, and so a part of what it is.
                return Opaque(
                    f"dict {[key for key, _ in held.entries]!r}", tuple(_held(state, node, one) for _, one in held.entries)
                )
            if isinstance(held, Output):
                raise refuse(node, f"`{ast.unparse(node)}` of a list that a loop fills", "compute it for each element", "DPA706")
    raise refuse(node, f"`{ast.unparse(node)}`", "round and format numbers", "DPA706")


def firm_number(state: State, node: ast.AST, found: Value) -> Value:
    """A number whose type is sure, so that nothing fails by its type."""
    if isinstance(found, Opaque) and found.sort == "number":
        return found
    one = numbers.scalar(state, node, found)
    if one.kind == "str":
        raise refuse(node, f"`{ast.unparse(node)}` of a text", "use a number", "DPA703")
    if "np.bool" in one.types:
        raise refuse(node, f"`{ast.unparse(node)}` of a truth value of numpy", "use bool(...) first", "DPA703")
    return one


def partial(state: State, node: ast.AST, *parts: Value) -> Opaque:
    """What may fail for some numbers: they are put out where they, or the tests around, are not public."""
    found = opaque(state, node, *parts)
    if state.private_tests or any(not one.public for one in outcomes.scalars(found)):
        outcomes.show(state, node, found)
    return found


def converted(state: State, node: ast.AST, *parts: Value) -> Opaque:
    """What makes a whole number of another: it fails for NaN and infinity, which numpy may give."""
    return (partial if any(map(_may_be_no_number, parts)) else opaque)(state, node, *parts)


def _may_be_no_number(found: Value) -> bool:
    """True if what is not computed may be NaN or infinite."""
    return isinstance(found, Opaque) and (found.site.endswith(_NO_NUMBERS) or any(map(_may_be_no_number, found.parts)))


def formatted(state: State, node: ast.JoinedStr) -> Value:
    """A text with values in it: known where all are constants, else a function of them."""
    pieces: list[Piece] = []
    sizes: list[Scalar] = []
    for one in node.values:
        if isinstance(one, ast.Constant):
            pieces.append(str(one.value))
            continue
        assert isinstance(one, ast.FormattedValue)  # noqa: S101 - for the type checker
        value = state.value(one.value)
        spec = ""
        for part in getattr(one.format_spec, "values", []):
            if isinstance(part, ast.Constant):
                spec += str(part.value)
                continue
            digits = _digits(state, part.value, spec)
            spec += str(digits.known) if digits.is_known else "1"
            sizes += [] if digits.is_known else [digits]
        pieces.append((value, spec, "" if one.conversion == -1 else chr(one.conversion)))
    return pieced(state, node, pieces, *sizes)


def _digits(state: State, node: ast.expr, before: str) -> Scalar:
    """A number in a format: a constant, or a public number of digits, which Python refuses if it is below 0 or too large."""
    found = state.value(node)
    if isinstance(found, Scalar) and (isinstance(found.known, str) or (type(found.known) is int and found.known >= 0)):
        return found
    whole = isinstance(found, Scalar) and found.types == numbers.INT and found.code in state.parameters
    if not isinstance(found, Scalar) or not whole or not before.endswith("."):
        raise refuse(node, f"`{ast.unparse(node)}` in a format", "write the number of digits out", "DPA703")
    fits = numbers.truth_of(f"(0 <= {found.code} and {found.code} <= {_MOST_DIGITS})", found)
    state.branch(fits, lambda: None, lambda: outcomes.ended(state, node, "ValueError", []))
    return found


def pieced(state: State, node: ast.AST, pieces: list[Piece], *sizes: Scalar) -> Value:
    """A text of pieces: fixed ones, and values with their format and conversion; `sizes` are public parts of formats."""
    parts: list[Value] = list(sizes)
    known: str | None = ""
    for one in pieces:
        if isinstance(one, str):
            known = None if known is None else known + one
            parts.append(state.text(one))
            continue
        value, spec, conversion = one
        if spec and conversion:
            raise refuse(node, f"the format {spec!r} of a text", "leave the conversion out", "DPA703")
        if spec[-1:] in _AS_FLOAT and isinstance(value, Scalar) and value.types <= {"int", "np.int", "float", "np.float"}:
            # The text is the same for a whole number and for the float that is as large.
            value = replace(value, types=numbers.FLOAT, tests=()) if not value.firm else value
        _check_format(state, node, value, spec)
        parts.append(value)
        if isinstance(value, Scalar) and type(value.known) in (str, int) and not conversion and not spec:
            known = None if known is None else known + str(value.known)
            parts[-1] = state.text(str(value.known))
        else:
            known = None
    if known is not None:
        return state.text(known)
    # Each piece keeps its place: the same pieces in another order are another text.
    made = opaque(state, node, *parts, sort="text")
    shown = [spec for one in pieces if not isinstance(one, str) for value, spec, _ in [one] if not _is_known(value)]
    if len(shown) == 1 and not sizes:
        state.formats[made] = shown[0]
    return made


def _is_known(found: Value) -> bool:
    """True for a constant."""
    return isinstance(found, Scalar) and found.is_known


def _check_format(state: State, node: ast.AST, value: Value, spec: str) -> None:
    """Refuse a format that Python may not take for a value."""
    found = _FORMAT.fullmatch(spec)
    fits = not spec
    if spec and found is not None:
        precise, letter = found.groups()
        # A whole number takes a precision with a letter for floats only; what is rounded may be whole.
        if isinstance(value, Opaque):
            fits = value.sort == "number" and letter != "d" and bool(letter or not precise)
        elif isinstance(value, Scalar) and value.types <= {"int", "np.int", "float", "np.float"}:
            whole = value.types <= {"int", "np.int"}
            fits = (whole and not precise) if letter == "d" else bool(letter or not precise) or value.types <= {"float", "np.float"}
    if not fits:
        raise refuse(node, f"the format {spec!r} of this value", "format floats, or leave the format out", "DPA703")
    as_text(state, node, value)


def as_text(state: State, node: ast.AST, value: Value) -> None:
    """Refuse what has no text that is sure to exist."""
    match value:
        case Scalar():
            if value.kind == "int" and numbers.bits_of(value) > numbers.MOST_FLOAT_BITS:
                raise refuse(node, "a whole number that is too long for a text", "use smaller numbers", "DPA706")
            if "Fraction" in value.types and not (value.is_known or value.origin or value.code in state.parameters):
                # Its whole numbers may be too long as well, and nothing counts their digits.
                raise refuse(node, "a text of a computed fraction", "write float(...) first", "DPA706")
            if not value.firm and value.tests is None:
                state.untyped = state.untyped or state.line
        case Nothing():
            pass
        case Opaque(parts=items) | Tuple(items):
            # What is rounded or added up may be as long as its parts are.
            for one in items:
                as_text(state, node, one)
        case Record(parts=parts):
            for _, one in parts:
                as_text(state, node, one)
        case Ref():
            as_text(state, node, _held(state, node, value))
        case _:
            raise refuse(node, f"`{ast.unparse(node)}`", "format numbers and texts", "DPA706")
