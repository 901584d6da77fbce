"""Numbers, truth values and texts of the core program, and what may be done with them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import Again, State, is_public_value
from dpaudit.verifier.ordinary.values import UNKNOWN, Fixed, Kind, Nothing, Opaque, Output, Scalar, Value

SHOWN: Final = "shown"
"""The output list of values of which the source releases a function."""


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
        return Scalar(f"(1 if {found.code} else 0)", "int", known, released=found.released)
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
    return Scalar(f"({found.code} != 0)", "bool", known, released=found.released)


def constant(state: State, known: Any) -> Scalar:
    """A constant as the core program writes it."""
    if isinstance(known, str):
        return state.text(known)
    if isinstance(known, bool):
        return Scalar(str(known), "bool", known, released=True)
    if isinstance(known, int):
        return Scalar(str(known) if known >= 0 else f"({known})", "int", known, released=True)
    known = Fraction(known)
    return Scalar(f"Fraction({known.numerator}, {known.denominator})", "real", known, released=True)


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
    left, right = number(state, node, left), number(state, node, right)
    kind: Kind = "real" if "real" in (left.kind, right.kind) else "int"
    noisy = left.noisy or right.noisy
    counts = (left.counts_records or right.counts_records) and not noisy
    released = left.released and right.released
    if left.is_known and right.is_known and (folded := _folded(op, left.known, right.known)) is not None:
        if isinstance(op, ast.Div) and kind == "int":
            state.real("division of whole numbers")
        return constant(state, folded)
    if type(op) in _SYMBOLS:
        return Scalar(
            f"({left.code} {_SYMBOLS[type(op)]} {right.code})", kind, counts_records=counts, noisy=noisy, released=released
        )
    if isinstance(op, ast.Div):
        if right.counts_records:
            raise teach(node, "private length", "a division by a private number of records", "data")
        if kind == "int":
            state.real("division of whole numbers")
            return Scalar(f"Fraction({left.code}, {right.code})", "real", counts_records=counts, noisy=noisy, released=released)
        return Scalar(f"({left.code} / {right.code})", "real", counts_records=counts, noisy=noisy, released=released)
    if isinstance(op, (ast.FloorDiv, ast.Mod)):
        left, right = whole(state, node, left, "before // or %"), whole(state, node, right, "after // or %")
        symbol = "//" if isinstance(op, ast.FloorDiv) else "%"
        return Scalar(f"({left.code} {symbol} {right.code})", "int", counts_records=counts, noisy=noisy, released=released)
    if isinstance(op, ast.Pow) and right.is_known and right.kind == "int" and 0 <= right.known <= 4:
        return Scalar(f"({left.code} ** {right.known})", left.kind, counts_records=counts, noisy=noisy, released=released)
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
    return Scalar(f"({left.code} {symbol} {right.code})", "bool", known, released=left.released and right.released)


def connected(node: ast.AST, word: str, parts: list[Scalar]) -> Scalar:
    """A conjunction or disjunction of truth values."""
    if any(part.kind != "bool" for part in parts):
        raise refuse(node, f"`{word}` of values that are no conditions", "compare them, for instance with `!= 0`", "DPA703")
    if all(part.is_known for part in parts):
        decide = all if word == "and" else any
        known = decide(part.known for part in parts)
        return Scalar(str(known), "bool", known, released=True)
    if len(parts) == 1:
        return parts[0]
    return Scalar(f"({f' {word} '.join(part.code for part in parts)})", "bool", released=all(part.released for part in parts))


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


def release(state: State, node: ast.AST, found: Value) -> None:
    """Put a value out, so that any function of it may be."""
    if isinstance(found, (Opaque, Nothing)):
        state.learned.opaque = True
        return
    if isinstance(found, Fixed):
        for item in found.items:
            release(state, node, item)
        return
    if isinstance(found, Output):
        state.learned.opaque = True
        put_out(state, found.name)
        return
    if not isinstance(found, Scalar):
        raise refuse(node, f"`{ast.unparse(node)}` in a text", "format numbers only", "DPA706")
    state.learned.opaque = True
    if not is_public_value(state, found) and not found.released:
        if state.record_loops:
            raise teach(node, "draw per record", "a release for each record")
        put_out(state, SHOWN)
        state.emit(f"{SHOWN}.append({found.code})")


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
