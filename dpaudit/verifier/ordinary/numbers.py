"""Numbers, truth values and texts of the core program, and what may be done with them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import Again, State
from dpaudit.verifier.ordinary.values import UNKNOWN, Fixed, Kind, Nothing, Opaque, Output, Record, Scalar, Sequence, Table, Value


def scalar(state: State, node: ast.expr, what: str = "here") -> Scalar:
    """The value of an expression that must be a number, a truth value or a text."""
    found = state.value(node)
    return as_scalar(state, node, found, what)


def as_scalar(state: State, node: ast.AST, found: Value, what: str = "here") -> Scalar:
    """A value that must be a number, a truth value or a text."""
    if isinstance(found, Scalar):
        return found
    if isinstance(found, Opaque):
        raise teach(node, "opaque", f"a rounded or formatted value {what}")
    raise refuse(node, f"`{ast.unparse(node)}`, which is no number,", f"use a number {what}", "DPA703")


def number(state: State, node: ast.AST, found: Scalar) -> Scalar:
    """A scalar as a number; truth values count as 0 and 1."""
    if found.kind == "str":
        state.assume(found.origin, "real", "arithmetic")
        raise refuse(node, "arithmetic on a text", "compare texts with == only", "DPA703")
    if found.kind == "bool":
        known = int(found.known) if found.is_known else UNKNOWN
        return Scalar(f"(1 if {found.code} else 0)", "int", known)
    return found


def whole(state: State, node: ast.AST, found: Scalar, what: str) -> Scalar:
    """A scalar that must be a whole number."""
    found = number(state, node, found)
    if found.kind != "int":
        state.assume(found.origin, "int", what)
        raise refuse(node, f"`{ast.unparse(node)}` {what}, which may not be whole,", "annotate it as int", "DPA703")
    return found


def truth(state: State, node: ast.expr) -> Scalar:
    """An expression as a condition."""
    return as_truth(state, node, scalar(state, node, "in a condition"))


def as_truth(state: State, node: ast.AST, found: Scalar) -> Scalar:
    """A scalar as a condition."""
    if found.kind == "bool":
        return found
    if found.kind == "str":
        state.assume(found.origin, "bool", "a condition")
        raise refuse(node, "a text as a condition", 'compare it, for instance with `!= ""`', "DPA703")
    state.assume(found.origin, "bool", "a condition")
    known = bool(found.known) if found.is_known else UNKNOWN
    return Scalar(f"({found.code} != 0)", "bool", known)


def constant(state: State, known: Any) -> Scalar:
    """A constant as the core program writes it."""
    if isinstance(known, str):
        return state.text(known)
    if isinstance(known, bool):
        return Scalar(str(known), "bool", known)
    if isinstance(known, int):
        return Scalar(str(known) if known >= 0 else f"({known})", "int", known)
    known = Fraction(known)
    return Scalar(f"Fraction({known.numerator}, {known.denominator})", "real", known)


def _folded(op: ast.operator, left: Any, right: Any) -> Any:
    """The value of an operation on constants, exactly; None where it has none or is not needed."""
    if isinstance(op, (ast.Add, ast.Sub, ast.Mult)):
        return {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}[type(op)]
    if right == 0:
        return None
    if isinstance(op, ast.Div):
        return Fraction(left) / Fraction(right)
    if isinstance(op, (ast.FloorDiv, ast.Mod)) and type(left) is int and type(right) is int:
        return left // right if isinstance(op, ast.FloorDiv) else left % right
    if isinstance(op, ast.Pow) and type(right) is int and 0 <= right <= 64:
        return left**right
    return None


def arithmetic(state: State, node: ast.AST, op: ast.operator, left: Scalar, right: Scalar) -> Scalar:
    """An operation on two numbers."""
    if left.kind == right.kind == "bool":
        raise refuse(
            node, "arithmetic of two truth values", "write `1 if ... else 0` for each: numpy adds them otherwise", "DPA703"
        )
    left, right = number(state, node, left), number(state, node, right)
    if left.is_known and right.is_known and (folded := _folded(op, left.known, right.known)) is not None:
        if isinstance(op, ast.Div) and "real" not in (left.kind, right.kind):
            state.real("division of whole numbers")
        return constant(state, folded)
    kind: Kind = "real" if "real" in (left.kind, right.kind) else "int"
    firm = any(one.kind == "real" and not one.loose for one in (left, right))
    noisy = left.noisy or right.noisy
    counts = (left.counts_records or right.counts_records) and not noisy

    def made(code: str, kind: Kind, *, loose: bool = False) -> Scalar:
        return Scalar(code, kind, counts_records=counts, noisy=noisy, loose=("?",) if loose and kind == "real" else ())

    if type(op) in _SYMBOLS:
        return made(f"({left.code} {_SYMBOLS[type(op)]} {right.code})", kind, loose=not firm)
    if isinstance(op, ast.Div):
        if right.counts_records:
            raise teach(node, "private length", "a division by a private number of records", "data")
        if kind == "int":
            state.real("division of whole numbers")
            return made(f"Fraction({left.code}, {right.code})", "real")
        return made(f"({left.code} / {right.code})", "real")
    if isinstance(op, (ast.FloorDiv, ast.Mod)):
        left, right = whole(state, node, left, "before // or %"), whole(state, node, right, "after // or %")
        return made(f"({left.code} {'//' if isinstance(op, ast.FloorDiv) else '%'} {right.code})", "int")
    if isinstance(op, ast.Pow) and right.is_known and right.kind == "int" and 0 <= right.known <= 4:
        return made(f"({left.code} ** {right.known})", left.kind, loose=bool(left.loose))
    raise refuse(node, f"the operator in `{ast.unparse(node)}`", "use + - * / // % and ** with exponents 0 to 4")


def link(state: State, node: ast.AST, op: ast.cmpop, left: Scalar, right: Scalar) -> Scalar:
    """A comparison of two scalars."""
    symbol = _COMPARISONS[type(op)]
    if "str" in (left.kind, right.kind):
        for one in (left, right):
            if one.kind != "str":
                state.assume(one.origin, "str", "a comparison with a text")
        if left.kind != right.kind:
            raise refuse(node, "a comparison of a text with a number", "compare texts with texts", "DPA703")
        if symbol not in ("==", "!="):
            raise refuse(node, "an order of texts", "compare texts with == only", "DPA703")
    elif "bool" in (left.kind, right.kind) and not (left.kind == right.kind and symbol in ("==", "!=")):
        left, right = number(state, node, left), number(state, node, right)
    known: Any = UNKNOWN
    if left.is_known and right.is_known:
        known = _DECIDED[symbol](left.known, right.known)
    return Scalar(f"({left.code} {symbol} {right.code})", "bool", known)


def connected(node: ast.AST, word: str, parts: list[Scalar]) -> Scalar:
    """A conjunction or disjunction of truth values."""
    if any(part.kind != "bool" for part in parts):
        raise refuse(node, f"`{word}` of values that are no conditions", "compare them, for instance with `!= 0`", "DPA703")
    if all(part.is_known for part in parts):
        decide = all if word == "and" else any
        known = decide(part.known for part in parts)
        return Scalar(str(known), "bool", known)
    if len(parts) == 1:
        return parts[0]
    return Scalar(f"({f' {word} '.join(part.code for part in parts)})", "bool")


def either(one: Scalar, other: Scalar, test: str) -> tuple[str, ...]:
    """What decides whether one of two numbers, the first if a test holds, is an int or a float."""
    if one.kind == other.kind and not one.loose and not other.loose:
        return ()
    if ("?",) in (one.loose, other.loose):
        return ("?",)
    return (*one.loose, *other.loose, test)


def same_kind(state: State, node: ast.AST, left: Scalar, right: Scalar) -> tuple[Scalar, Scalar]:
    """Two scalars of one sort; a whole number beside a real one is read as real."""
    if left.kind == right.kind:
        return left, right
    for one, other in ((left, right), (right, left)):
        if other.kind == "str":
            state.assume(one.origin, "str", "a text beside it")
    if {left.kind, right.kind} != {"int", "real"}:
        raise refuse(node, f"a value that is {left.kind} or {right.kind}", "give both branches one type", "DPA703")
    state.real("whole and other numbers as results of one expression")
    return state.as_real(left), state.as_real(right)


def opaque(state: State, node: ast.AST, what: str, *parts: Value, sort: str = "other", lossy: bool = True) -> Opaque:
    """What a place of the source makes of values, which is not computed: they are kept as they are now."""
    kept = tuple(state.held(node, part, copy=True) for part in parts)
    for part in kept:
        _close(state, node, part)
    state.learned.rounded = state.learned.rounded or lossy
    return Opaque(
        f"{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}:{getattr(node, 'end_col_offset', 0)}:{what}", kept, sort
    )


def sort_of(found: Value) -> str:
    """Whether a value is a number or a text, where that is sure."""
    if isinstance(found, Opaque):
        return found.sort
    return "other" if not isinstance(found, Scalar) else "text" if found.kind == "str" else "number"


def _close(state: State, node: ast.AST, found: Value) -> None:
    """Let no list grow any more that something was computed of: the list at the end would not show what it was."""
    match found:
        case Output(name=name):
            if state.loops:
                raise refuse(node, f"`{ast.unparse(node)}` of a growing list in a loop", "compute it after the loop", "DPA705")
            state.closed.add(name)
        case Opaque(parts=parts) | Fixed(items=parts):
            for one in parts:
                _close(state, node, one)
        case Record(parts=named) | Table(cells=named):
            for one in named.values():
                _close(state, node, one)
        case Sequence(shape="iterator"):
            raise teach(node, "two generators", "an iterator here", "items")
        case Scalar() | Nothing() | Sequence():
            pass
        case _:
            raise refuse(node, f"`{ast.unparse(node)}`", "round and format numbers, lists and dictionaries", "DPA706")


def put_out(state: State, name: str) -> None:
    """An output of the core program is returned by it: known from the reading before."""
    if name not in state.learned.outputs:
        state.learned.outputs = (*state.learned.outputs, name)
        raise Again


_SYMBOLS: Final[Mapping[type, str]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_COMPARISONS: Final[Mapping[type, str]] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_DECIDED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
