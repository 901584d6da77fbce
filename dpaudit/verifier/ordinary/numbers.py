"""Arithmetic, comparisons and conditions of scalars; what may fail is written where Python evaluates it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ordinary import outcomes
from dpaudit.verifier.ordinary.lines import as_kind
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Curve, Kind, Opaque, Place, Poison, Scalar, Value

INT: Final = frozenset({"int"})
FLOAT: Final = frozenset({"float"})
EXACT: Final = frozenset({"Fraction"})
BOOL: Final = frozenset({"bool"})
MOST_BITS: Final = 62
MOST_FLOAT_BITS: Final = 1000
DATA_BITS: Final = 40
_LARGEST: Final = 10**15
INEXACT: Final = -1
"""The size in bits of a constant that floats compute otherwise."""
CURVES: Final[list[Callable[[State, ast.AST, Curve], Scalar]]] = []
"""What draws the noise that a curve over a uniform number amounts to."""
_NEAR: Final = Fraction(1, 10**6)


def constant(state: State, known: Any, types: frozenset[str] | None = None) -> Scalar:
    """A constant as the core program writes it."""
    if isinstance(known, str):
        return state.text(known)
    if isinstance(known, bool):
        return Scalar(str(known), "bool", types or BOOL, known, public=True)
    if isinstance(known, int):
        code = str(known) if known >= 0 else f"({known})"
        return Scalar(code, "int", types or INT, known, public=True, positive=known > 0, bits=known.bit_length())
    top, bottom = known.numerator, known.denominator
    code = f"Fraction({top}, {bottom})" if top >= 0 else f"(-Fraction({-top}, {bottom}))"
    return Scalar(code, "real", types or FLOAT, Fraction(known), public=True, positive=known > 0)


def truth_of(code: str, *parts: Scalar) -> Scalar:
    """A truth value made of scalars."""
    return Scalar(code, "bool", BOOL, public=all(one.public for one in parts), noisy=any(one.noisy for one in parts))


def scalar(state: State, node: ast.AST, found: Value, what: str = "here") -> Scalar:
    """A value that must be a number, a truth value or a text."""
    if isinstance(found, Scalar):
        return found
    if isinstance(found, Place) and found.count is not None:
        return found.count
    if isinstance(found, Curve):
        return CURVES[0](state, node, found)
    if isinstance(found, Opaque):
        raise teach(node, "opaque", f"a rounded or formatted value {what}")
    if isinstance(found, Poison):
        raise refuse(node, f"`{ast.unparse(node)}`, {found.why},", "give it a value on every way", "DPA705")
    raise refuse(node, f"`{ast.unparse(node)}`, which is no number,", f"use a number {what}", "DPA703")


def number(state: State, node: ast.AST, found: Value) -> Scalar:
    """A scalar as a number; truth values count as 0 and 1."""
    one = scalar(state, node, found)
    if one.kind == "str":
        state.assume(one.origin, "real", "arithmetic")
        raise refuse(node, "arithmetic on a text", "compare texts with == only", "DPA703")
    if one.kind == "bool":
        if one.types != BOOL:
            raise refuse(node, "arithmetic of truth values of numpy", "count them with np.sum", "DPA703")
        if one.is_known:
            return constant(state, int(one.known))
        return replace(one, code=f"(1 if {one.code} else 0)", kind="int", types=INT, bits=1)
    return one


def whole(state: State, node: ast.AST, found: Value, what: str) -> Scalar:
    """A scalar that must be a whole number."""
    one = number(state, node, found)
    if one.kind != "int":
        state.assume(one.origin, "int", what)
        raise refuse(node, f"`{ast.unparse(node)}` {what}, which may not be whole,", "annotate it as int", "DPA703")
    return one


def condition(state: State, node: ast.AST, found: Scalar) -> Scalar:
    """A scalar as a condition."""
    if found.kind == "bool":
        return found
    if found.is_known:
        if found.bits == INEXACT:
            decided(node, "!=", found, constant(state, 0))
        return constant(state, bool(found.known))
    if found.origin is not None and ("[" in found.origin or "." in found.origin):
        state.assume(found.origin, "bool", "a condition")
    if found.kind == "str":
        raise refuse(node, "a text as a condition", 'compare it, for instance with `!= ""`', "DPA703")
    return truth_of(f"({found.code} != 0)", found)


def negated(found: Scalar) -> Scalar:
    """The opposite of a condition."""
    if found.is_known:
        return replace(found, code=str(not found.known), known=not found.known)
    return replace(found, code=f"(not {found.code})")


def _types(node: ast.AST, op: ast.operator, left: Scalar, right: Scalar) -> frozenset[str]:
    """The types in Python of the result of an operation."""
    return frozenset(_type(op, one, other) for one in left.types for other in right.types)


def _type(op: ast.operator, one: str, other: str) -> str:
    """The type of the result of an operation on two types."""
    pair = {"int" if kind == "bool" else kind for kind in (one, other)}
    divided = isinstance(op, ast.Div)
    if pair & {"np.int", "np.float"}:
        return "np.int" if pair <= {"np.int", "int"} and not divided else "np.float"
    if "float" in pair:
        return "float"
    if "Fraction" in pair:
        return "int" if isinstance(op, ast.FloorDiv) else "Fraction"
    return "float" if divided else "int"


def _folded(op: ast.operator, left: Any, right: Any) -> Any:
    """The value of an operation on constants, exactly; None where it has none or is not needed."""
    if isinstance(op, (ast.Add, ast.Sub, ast.Mult)):
        return {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}[type(op)]
    if isinstance(op, ast.Pow):
        return left**right if type(right) is int and 0 <= right <= 64 and abs(left) < _LARGEST else None
    if right == 0:
        return None
    if isinstance(op, ast.Div):
        return Fraction(left) / Fraction(right)
    if isinstance(op, (ast.FloorDiv, ast.Mod)) and type(left) is int and type(right) is int:
        return left // right if isinstance(op, ast.FloorDiv) else left % right
    return None


def bits_of(found: Scalar) -> int:
    """How large a whole number may become, in bits; those of the data are taken to be of ordinary size."""
    return found.bits if found.is_known or found.bits else DATA_BITS


def _bits(node: ast.AST, op: ast.operator, types: frozenset[str], left: Scalar, right: Scalar) -> int:
    """The size of a result: numpy keeps whole numbers in 64 bits, and floats hold no number above 2 to the 1024."""
    own = [bits_of(one) for one in (left, right) if one.kind == "int"]
    if not own:
        return 0
    if isinstance(op, ast.Mult):
        made = sum(own)
    elif isinstance(op, ast.Pow):
        made = own[0] * (int(right.known) if right.is_known and 0 <= right.known <= 64 else 64)
    else:
        made = max(own) + isinstance(op, (ast.Add, ast.Sub))
    if "np.int" in types and made > MOST_BITS:
        raise refuse(node, "whole numbers of numpy that may not fit into 64 bits", "write the array with floats, 1.0", "DPA706")
    if types & {"float", "np.float"}:
        fits_float(node, left, right)
    return made


def _rounds(op: ast.operator, left: Scalar, right: Scalar, exact: Any) -> bool:
    """True where floats give another constant than exact numbers do."""
    if INEXACT in (left.bits, right.bits):
        return True
    compute: Any = {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.Div: lambda a, b: a / b,
    }.get(type(op), pow)
    try:
        return bool(compute(float(left.known), float(right.known)) != float(exact))
    except (OverflowError, ValueError, ZeroDivisionError):
        return True


def decided(node: ast.AST, symbol: str, left: Scalar, right: Scalar) -> bool:
    """A comparison of constants, as floats decide it where they are floats."""
    one, other = left.known, right.known
    if INEXACT in (left.bits, right.bits) and abs(one - other) <= _NEAR * max(abs(one), abs(other), 1):
        raise refuse(node, f"`{ast.unparse(node)}`, which rounding decides,", "write the constants out", "DPA703")
    # Python compares a float with other numbers exactly; numpy makes floats of both.
    types = left.types | right.types
    by_numpy = bool(types & {"np.float", "np.int"}) and bool(types & {"float", "np.float"})
    if by_numpy:
        fits_float(node, left, right)
    one, other = (
        Fraction(float(value)) if by_numpy or found.types & {"float", "np.float"} else value
        for value, found in ((one, left), (other, right))
    )
    return bool(_DECIDED[symbol](one, other))


def fits_float(node: ast.AST, *found: Scalar) -> None:
    """Refuse whole numbers that no float may hold: Python would raise an error."""
    if any(one.kind == "int" and bits_of(one) > MOST_FLOAT_BITS for one in found):
        raise refuse(node, "a whole number that no float may hold", "use smaller numbers", "DPA706")


def arithmetic(state: State, node: ast.AST, op: ast.operator, first: Value, second: Value) -> Scalar:
    """An operation on two numbers."""
    left, right = number(state, node, first), number(state, node, second)
    types = _types(node, op, left, right)
    bits = _bits(node, op, types, left, right)
    if types & {"float", "np.float"} and isinstance(op, (ast.Mult, ast.Div)):
        _signed_zero(node, op, left, right)
    if left.is_known and right.is_known and (folded := _folded(op, left.known, right.known)) is not None:
        if types != INT and abs(folded) > 2**1000:
            raise refuse(node, "a number that no float holds", "use smaller numbers", "DPA706")
        made = constant(state, Fraction(folded) if types != INT and "np.int" not in types else folded, types)
        if types & {"float", "np.float"}:
            state.real("floats")
            made = replace(made, bits=INEXACT if _rounds(op, left, right, folded) else 0)
        return made
    kind: Kind = "real" if "real" in (left.kind, right.kind) else "int"
    noisy = left.noisy or right.noisy
    loose = [one for one in (left, right) if not one.firm]
    made = Scalar(
        "",
        kind,
        types,
        tests=() if len(types) == 1 else loose[0].tests if len(loose) == 1 else None,
        public=left.public and right.public,
        noisy=noisy,
        counts=(left.counts or right.counts) and not noisy,
        positive=left.positive and right.positive and isinstance(op, (ast.Add, ast.Mult, ast.Div, ast.Pow)),
        bits=bits,
    )
    if type(op) in _SYMBOLS:
        made = replace(made, code=f"({left.code} {_SYMBOLS[type(op)]} {right.code})")
        # A name for the first sum that noise enters: proofs align noise there.
        return state.keep("x", made) if left.noisy != right.noisy and not isinstance(op, ast.Mult) else made
    if isinstance(op, ast.Div):
        return _divided(state, node, left, right, replace(made, kind="real"))
    if isinstance(op, (ast.FloorDiv, ast.Mod)):
        left, right = whole(state, node, left, "before // or %"), whole(state, node, right, "after // or %")
        code = f"({left.code} {'//' if isinstance(op, ast.FloorDiv) else '%'} {right.code})"
        made = replace(made, code=code)
        return made if right.is_known and right.known > 0 else state.keep("q", made)
    if isinstance(op, ast.Pow) and right.is_known and right.kind == "int" and 0 <= right.known <= 4:
        return replace(made, code=f"({left.code} ** {right.known})")
    raise refuse(node, f"the operator in `{ast.unparse(node)}`", "use + - * / // % and ** with exponents 0 to 4")


def _divided(state: State, node: ast.AST, left: Scalar, right: Scalar, made: Scalar) -> Scalar:
    """A quotient; a divisor of 0 is owed not to be."""
    if right.counts and not state.lenient:
        raise teach(node, "private length", "a division by a private number of records", "data")
    if right.counts and not (left.types | right.types) & _OF_NUMPY:
        # Without a record Python fails here, and that shows.
        empty = truth_of(f"({right.code} == 0)", right)
        state.branch(empty, lambda: outcomes.ended(state, node, "ZeroDivisionError", []), lambda: None)
    if made.types & {"float", "np.float"}:
        state.real("floats")
    both = left.kind == right.kind == "int"
    code = f"Fraction({left.code}, {right.code})" if both else f"({left.code} / {right.code})"
    made = replace(made, code=code)
    return made if right.positive or (right.is_known and right.known != 0) else state.keep("q", made)


def _signed_zero(node: ast.AST, op: ast.operator, left: Scalar, right: Scalar) -> None:
    """Refuse a float that is 0 or -0 by the sign of something else: real numbers do not tell them apart."""
    for one, other in ((left, right), (right, left)) if isinstance(op, ast.Mult) else ((left, right),):
        if one.is_known and one.known == 0 and not (other.positive or (other.is_known and other.known > 0)):
            raise refuse(node, "a float that may be 0 or -0", "leave out what is multiplied by 0", "DPA706")


def negative(state: State, node: ast.AST, found: Value) -> Scalar:
    """Minus a number."""
    one = number(state, node, found)
    if one.is_known and one.known == 0 and one.kind == "real":
        raise refuse(node, "a float that is -0", "write 0.0", "DPA706")
    if one.is_known:
        return replace(constant(state, -one.known, one.types), bits=one.bits)
    return replace(one, code=f"(-{one.code})", origin=None, positive=False)


def compared(state: State, node: ast.AST, op: ast.cmpop, left: Scalar, right: Scalar) -> Scalar:
    """A comparison of two scalars."""
    symbol = _COMPARISONS.get(type(op))
    if symbol is None:
        raise refuse(node, f"the comparison in `{ast.unparse(node)}`", "use < <= > >= == and !=")
    ways = {bool({one, other} & _OF_NUMPY) for one in left.types for other in right.types}
    if "str" in (left.kind, right.kind):
        for one in (left, right):
            if one.kind != "str":
                state.assume(one.origin, "str", "a comparison with a text")
        if left.kind != right.kind:
            raise refuse(node, "a comparison of a text with a number", "compare texts with texts", "DPA703")
        if symbol not in ("==", "!="):
            raise refuse(node, "an order of texts", "compare texts with == only", "DPA703")
    elif "bool" in (left.kind, right.kind) and not (left.kind == right.kind and symbol in ("==", "!=")):
        left, right = (replace(one, types=BOOL) if one.kind == "bool" else one for one in (left, right))
        left, right = number(state, node, left), number(state, node, right)
    made = truth_of(f"({left.code} {symbol} {right.code})", left, right)
    types = frozenset("np.bool" if way else "bool" for way in ways)
    made = replace(made, types=types, tests=() if len(types) == 1 else None)
    if left.is_known and right.is_known:
        return constant(state, decided(node, symbol, left, right), made.types)
    return made


def chosen(state: State, node: ast.AST, test: Scalar, one: Scalar, other: Scalar) -> Scalar:
    """One of two scalars, without writing anything."""
    if test.is_known:
        return one if test.known else other
    if one == other:
        return one
    if one.kind != other.kind and {one.kind, other.kind} != {"int", "real"}:
        raise refuse(node, f"a value that is {one.kind} or {other.kind}", "give both ways one type", "DPA703")
    wide = "real" if one.kind != other.kind else one.kind
    code = f"({as_kind(one, wide)} if {test.code} else {as_kind(other, wide)})"
    made = state.mixed(code, one, other, test.code, public=test.public, here=True)
    return replace(made, noisy=one.noisy or other.noisy)


def extreme(state: State, node: ast.AST, one: Value, other: Value, *, least: bool) -> Scalar:
    """Python's min or max of two: the first of equal ones."""
    first, second = number(state, node, one), number(state, node, other)
    if isinstance(one, Scalar) and isinstance(other, Scalar) and "bool" in (one.kind, other.kind):
        raise refuse(node, "the largest or smallest of truth values", "use any or all", "DPA703")
    if first.is_known and second.is_known:
        takes = decided(node, "<" if least else ">", second, first)
        return second if takes else first
    wide = "real" if first.kind != second.kind else first.kind
    test = f"({second.code} {'<' if least else '>'} {first.code})"
    made = state.mixed("", second, first, test, public=True, here=True)
    positive = (first.positive and second.positive) if least else (first.positive or second.positive)
    made = replace(made, noisy=first.noisy or second.noisy, counts=False, positive=positive)
    return replace(made, code=f"{'min' if least else 'max'}({as_kind(first, wide)}, {as_kind(second, wide)})")


_OF_NUMPY: Final = frozenset({"np.int", "np.float", "np.bool"})


def connected(word: str, parts: list[Scalar]) -> Scalar:
    """A conjunction or disjunction of truth values, all of which exist."""
    decisive = word == "or"
    left = [one for one in parts if not one.is_known]
    # The value is one of the operands, and so is its type.
    types = frozenset(kind for one in parts for kind in one.types) or BOOL
    tests = () if len(types) == 1 else None
    if any(one.is_known and one.known is decisive for one in parts):
        return Scalar(str(decisive), "bool", types, decisive, tests, public=True)
    if not left:
        return Scalar(str(not decisive), "bool", types, not decisive, tests, public=True)
    if len(left) == 1:
        return replace(left[0], types=types, tests=tests)
    made = truth_of(f"({f' {word} '.join(one.code for one in left)})", *left)
    return replace(made, types=types, tests=() if len(types) == 1 else None)


def floated(state: State, node: ast.AST, found: Scalar, types: frozenset[str] = FLOAT) -> Scalar:
    """A number as a float."""
    state.real("floats")
    fits_float(node, found)
    if found.is_known:
        return replace(constant(state, Fraction(found.known), types), bits=INEXACT if found.bits == INEXACT else 0)
    return replace(found, code=as_kind(found, "real"), kind="real", types=types, tests=(), origin=None, bits=0)


def is_number(found: Value) -> bool:
    """True for what is a number in Python for sure."""
    return (isinstance(found, Scalar) and found.kind != "str") or (isinstance(found, Opaque) and found.sort == "number")


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
