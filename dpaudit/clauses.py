"""Texts of specifications as trees that keep every node: one meaning for the guard, the audit, the refuter and the proof.

A text is read once. Values and terms are two recursions over the same tree, whose operations are named alike, so that a proof
never counts on a clause that the guard reads otherwise.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

from dpaudit.errors import Unsupported
from dpaudit.exact import rational

Kind: TypeAlias = Literal["int", "Fraction", "bool"]

HIGHEST_POWER: Final = 4
EACH: Final = "ghost.each"
"""What stands for every place of the lists in a clause about the domain, where its text says `each`; no parameter has this name."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One node of a text.

    Args:
      op: "number", "name", "each", "len", "read", "and", "or", "if", "**", or a key of `OPERATIONS`.
      kind: the type of its value.
      args: its operands, in the order in which they are evaluated; of "if" the test first; of "read" the index.
      value: the number of "number", the exponent of "**", or the name of "name", "len" and "read".
      column: where it begins in the text, from 1 on.
    """

    op: str
    kind: Kind
    args: tuple[Clause, ...] = ()
    value: Any = None
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a text may speak of: scalars with their types, lists with those of their elements, and whether `each` is a place."""

    names: Mapping[str, Kind]
    lists: Mapping[str, Kind]
    has_places: bool = False


class Unread(Unsupported):
    """A text that has no meaning here; `column` from 1 on, `construct` as found, `hint` what to write instead."""

    def __init__(self, code: str, column: int, construct: str, hint: str) -> None:
        super().__init__(code, f"column {column}: {construct}; {hint}.")
        self.column, self.construct, self.hint = column, construct, hint

    def __reduce__(self) -> tuple[type[Unread], tuple[str, int, str, str]]:  # type: ignore[override]
        """Pickle by parts."""
        return type(self), (self.code, self.column, self.construct, self.hint)


class OutsideLists(LookupError):
    """An element is read at a place that the list does not have."""


# From text to tree.


def read_clause(text: str, scope: Scope, tree: ast.expr | None = None) -> Clause:
    """Read a text, or a part of it, of the expression language."""
    return _read(_Reading(text, scope), ast.parse(text, mode="eval").body if tree is None else tree)


@dataclass(frozen=True)
class _Reading:
    """The text that is read, and what it may speak of."""

    text: str
    scope: Scope


def _read(reading: _Reading, node: ast.expr) -> Clause:
    """The tree of an expression."""
    read = _READERS.get(type(node))
    if read is None:
        hint = "texts have numbers, names, len, + - * / // % **, comparisons, and, or, not, if, abs, min, max and Fraction"
        raise _refused(node, f"the construct {type(node).__name__}", hint)
    return read(reading, node)


def _refused(node: ast.AST, construct: str, hint: str, code: str = "DPA701") -> Unread:
    """The error for a node, to be raised."""
    return Unread(code, getattr(node, "col_offset", 0) + 1, construct, hint)


def _made(node: ast.AST, op: str, kind: Kind, *args: Clause, value: Any = None) -> Clause:
    """A node of the tree."""
    return Clause(op, kind, args, value, getattr(node, "col_offset", 0) + 1)


def _number(reading: _Reading, node: ast.expr, what: str) -> Clause:
    """An expression that must be a number."""
    found = _read(reading, node)
    if found.kind == "bool":
        raise _refused(node, f"a truth value {what}", "write `1 if ... else 0`", "DPA703")
    return found


def _whole(reading: _Reading, node: ast.expr, what: str) -> Clause:
    """An expression that must be an integer."""
    found = _read(reading, node)
    if found.kind != "int":
        raise _refused(node, f"a {found.kind} {what}", "only whole numbers (int) may stand here", "DPA703")
    return found


def _truth(reading: _Reading, node: ast.expr, what: str) -> Clause:
    """An expression that must be a truth value."""
    found = _read(reading, node)
    if found.kind != "bool":
        raise _refused(node, f"a number {what}", "compare it, for instance with `!= 0`", "DPA703")
    return found


def _joined(*parts: Clause) -> Kind:
    """The type of a number that is computed from others."""
    return "int" if all(part.kind == "int" for part in parts) else "Fraction"


def _literal(reading: _Reading, node: ast.Constant) -> Clause:
    """A literal; decimals are exact, as they are written."""
    value = node.value
    if isinstance(value, bool):
        return _made(node, "number", "bool", value=value)
    if isinstance(value, int):
        return _made(node, "number", "int", value=value)
    if isinstance(value, float):
        return _made(node, "number", "Fraction", value=rational(ast.get_source_segment(reading.text, node) or ""))
    raise _refused(node, f"a literal of type {type(value).__name__}", "write an exact number or True or False", "DPA703")


def _name(reading: _Reading, node: ast.Name | ast.Attribute) -> Clause:
    """A scalar, by its name or by a dotted one that is known."""
    name = ast.unparse(node)
    if name in reading.scope.lists:
        raise _refused(node, f"the list {name} as a value", "lists are only read by index and by len", "DPA705")
    if name == "each" and reading.scope.has_places:
        return _made(node, "each", "int")
    if name in reading.scope.names:
        return _made(node, "name", reading.scope.names[name], value=name)
    if isinstance(node, ast.Attribute):
        raise _refused(node, "the construct Attribute", "name parameters only")
    raise _refused(node, f"the name {name}", "use the names of parameters", "DPA702")


def _unary(reading: _Reading, node: ast.UnaryOp) -> Clause:
    """Minus and not."""
    if isinstance(node.op, ast.Not):
        return _made(node, "not", "bool", _truth(reading, node.operand, "after `not`"))
    if isinstance(node.op, ast.USub):
        operand = _number(reading, node.operand, "after minus")
        return _made(node, "neg", operand.kind, operand)
    raise _refused(node, f"the operator {type(node.op).__name__}", "texts have `-` and `not`")


def _binary(reading: _Reading, node: ast.BinOp) -> Clause:
    """Arithmetic."""
    if isinstance(node.op, ast.Pow):
        base, exponent = _number(reading, node.left, "in arithmetic"), node.right
        if isinstance(exponent, ast.Constant) and type(exponent.value) is int and 0 <= exponent.value <= HIGHEST_POWER:
            return _made(node, "**", base.kind, base, value=exponent.value)
        raise _refused(exponent, "this exponent", f"write a literal from 0 to {HIGHEST_POWER}")
    op = _ARITHMETIC.get(type(node.op))
    if op is None:
        raise _refused(node, f"the operator {type(node.op).__name__}", "texts have + - * / // % and ** with exponents 0 to 4")
    operand = _whole if op in MODULI else _number
    what = "before // or %" if op in MODULI else "in arithmetic"
    left, right = operand(reading, node.left, what), operand(reading, node.right, what.replace("before", "after"))
    return _made(node, op, "Fraction" if op == "/" else _joined(left, right), left, right)


def _compare(reading: _Reading, node: ast.Compare) -> Clause:
    """Comparisons; a chain is the conjunction of its links."""
    operands = [_read(reading, part) for part in (node.left, *node.comparators)]
    links = [_compared(part, op, *pair) for part, op, pair in zip(node.comparators, node.ops, pairwise(operands), strict=True)]
    return links[0] if len(links) == 1 else _made(node, "and", "bool", *links)


def _compared(node: ast.expr, op: ast.cmpop, left: Clause, right: Clause) -> Clause:
    """One comparison."""
    name = _COMPARISONS.get(type(op))
    if name is None:
        raise _refused(node, f"the comparison {type(op).__name__}", "texts have < <= > >= == and !=")
    truths = [side.kind == "bool" for side in (left, right)]
    if any(truths) and not (all(truths) and name in ("==", "!=")):
        raise _refused(node, "a comparison of a truth value", "compare truth values with each other, by == or !=", "DPA703")
    return _made(node, name, "bool", left, right)


def _connective(reading: _Reading, node: ast.BoolOp) -> Clause:
    """`and` and `or`."""
    parts = [_truth(reading, part, "with `and` or `or`") for part in node.values]
    return _made(node, "and" if isinstance(node.op, ast.And) else "or", "bool", *parts)


def _conditional(reading: _Reading, node: ast.IfExp) -> Clause:
    """A conditional expression, whose branches are two numbers or two truth values."""
    test, then, otherwise = _truth(reading, node.test, "as a condition"), _read(reading, node.body), _read(reading, node.orelse)
    if (then.kind == "bool") is not (otherwise.kind == "bool"):
        what = f"the branches of a conditional expression are {then.kind} and {otherwise.kind}"
        raise _refused(node, what, "make them two numbers or two conditions", "DPA703")
    return _made(node, "if", "bool" if then.kind == "bool" else _joined(then, otherwise), test, then, otherwise)


def _element(reading: _Reading, node: ast.Subscript) -> Clause:
    """An element of a list."""
    name = ast.unparse(node.value)
    if not isinstance(node.value, (ast.Name, ast.Attribute)) or name not in reading.scope.lists:
        raise _refused(node, "an index into something other than a list parameter", "read list parameters by index", "DPA705")
    index = _whole(reading, node.slice, "as an index")
    if index.op == "neg" and index.args[0].op == "number" and index.args[0].value > 0:
        raise _refused(node.slice, "a negative index", f"write `{name}[len({name}) - 1]` for the last element")
    return _made(node, "read", reading.scope.lists[name], index, value=name)


def _call(reading: _Reading, node: ast.Call) -> Clause:
    """A call of len, abs, min, max or Fraction."""
    called = node.func.id if isinstance(node.func, ast.Name) else ""
    if called not in _CALLS or called in reading.scope.names or called in reading.scope.lists:
        what = f"a call of {called}" if called else "a call of something other than a name"
        raise _refused(node, what, "call abs, min, max, len and Fraction", "DPA706")
    if node.keywords:
        raise _refused(node.keywords[0].value, f"a keyword argument of {called}", "pass it by position", "DPA706")
    if called == "len":
        return _length(reading, node)
    if len(node.args) not in _CALLS[called]:
        wanted = " or ".join(map(str, _CALLS[called]))
        raise _refused(node, f"{called} with {len(node.args)} arguments", f"{called} takes {wanted} here", "DPA706")
    if called == "Fraction":
        parts = [_whole(reading, part, "in Fraction") for part in node.args]
        return _made(node, "real" if len(parts) == 1 else "/", "Fraction", *parts)
    parts = [_number(reading, part, f"in {called}") for part in node.args]
    return _made(node, called, _joined(*parts), *parts)


def _length(reading: _Reading, node: ast.Call) -> Clause:
    """The length of a list."""
    if len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id in reading.scope.lists:
        return _made(node, "len", "int", value=node.args[0].id)
    raise _refused(node, "len of something other than a list parameter", "name a list parameter", "DPA705")


_READERS: Final[Mapping[type[ast.expr], Callable[[_Reading, Any], Clause]]] = {
    ast.Attribute: _name,
    ast.BinOp: _binary,
    ast.BoolOp: _connective,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: _literal,
    ast.IfExp: _conditional,
    ast.Name: _name,
    ast.Subscript: _element,
    ast.UnaryOp: _unary,
}
_ARITHMETIC: Final[Mapping[type, str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_COMPARISONS: Final[Mapping[type, str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_CALLS: Final[Mapping[str, tuple[int, ...]]] = {"abs": (1,), "min": (2,), "max": (2,), "len": (1,), "Fraction": (1, 2)}


# From tree to value.


def _divided(first: Any, second: Any) -> Fraction:
    """Exact division, of ints too."""
    return Fraction(first) / Fraction(second)


def _modulus(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`//` or `%` where texts give it a meaning: by a divisor of at least 1."""

    def computed(first: Any, second: Any) -> Any:
        if second < 1:
            raise ZeroDivisionError
        return operation(first, second)

    return computed


MODULI: Final = ("//", "%")
OPERATIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "neg": operator.neg,
    "real": Fraction,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "//": _modulus(operator.floordiv),
    "%": _modulus(operator.mod),
    "abs": abs,
    "min": min,
    "max": max,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "not": operator.not_,
}
"""What each operation is in numbers; the verifier has a constructor of terms for each of these names."""


def value(clause: Clause, values: Mapping[str, Any]) -> Any:  # noqa: PLR0911 - one case a construct
    """Return the exact value of a text; what Python would not evaluate is not looked at."""
    args = clause.args
    match clause.op:
        case "number":
            return clause.value
        case "name":
            return values[clause.value]
        case "each":
            return values[EACH]
        case "len":
            return len(values[clause.value])
        case "read":
            return _item(values[clause.value], value(args[0], values))
        case "and":
            return all(value(part, values) for part in args)
        case "or":
            return any(value(part, values) for part in args)
        case "if":
            return value(args[1] if value(args[0], values) else args[2], values)
        case "**":
            return reduce(operator.mul, [value(args[0], values)] * clause.value, 1)
    return OPERATIONS[clause.op](*[value(part, values) for part in args])


def _item(items: Any, index: int) -> Any:
    """An element; negative places are none."""
    if not 0 <= index < len(items):
        raise OutsideLists
    return items[index]


def parts_of(clause: Clause) -> Iterator[Clause]:
    """Every node of a tree, operands before what they are in, those that Python would skip too."""
    for part in clause.args:
        yield from parts_of(part)
    yield clause


def reads(clause: Clause) -> tuple[Clause, ...]:
    """Every read of an element in the text, whether or not its value counts."""
    return tuple(part for part in parts_of(clause) if part.op == "read")


def speaks(clause: Clause, values: Mapping[str, Any]) -> bool:
    """True if every element that a text names lies inside its list, also where its value does not count."""
    try:
        for read in reads(clause):
            _item(values[read.value], value(read.args[0], values))
    except (OutsideLists, ZeroDivisionError):
        return False
    return True


def holds(clause: Clause, values: Mapping[str, Any]) -> bool:
    """True if a clause does not speak of these values, or has a value, which is true."""
    try:
        return not speaks(clause, values) or value(clause, values) is True
    except ZeroDivisionError:
        return False
