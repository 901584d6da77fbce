"""Expressions of the subset as terms, from left to right; what each needs is a check under the conditions that it stands under."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from fractions import Fraction
from typing import Any, Final

from dpaudit.clauses import HIGHEST_POWER
from dpaudit.verifier.frontend.clauses import CONSTRUCTORS
from dpaudit.verifier.frontend.readers import Reader
from dpaudit.verifier.frontend.refusals import refusal, refusal_of_kind, take
from dpaudit.verifier.frontend.scopes import Source, Standard
from dpaudit.verifier.ir import Law
from dpaudit.verifier.terms import (
    ONE,
    TRUE,
    ZERO,
    Sort,
    Term,
    absolute,
    apply,
    choose,
    conjunction,
    constant,
    disjunction,
    divide,
    equal,
    largest,
    least,
    length,
    less,
    less_equal,
    multiply,
    negation,
    negative,
    number_of,
    quotient,
    remainder,
)


def term(reader: Reader, node: ast.expr) -> Term:
    """The term of an expression; what it needs is emitted first."""
    read = _READERS.get(type(node))
    if read is None:
        raise refusal_of_kind(node)
    return read(reader, node)


def number(reader: Reader, node: ast.expr, what: str) -> Term:
    """The term of an expression that must be a number."""
    found = term(reader, node)
    if found.sort is Sort.BOOL:
        raise refusal(node, f"a truth value {what}", "write `1 if ... else 0`", "DPA703")
    return found


def whole(reader: Reader, node: ast.expr, what: str) -> Term:
    """The term of an expression that must be an integer."""
    found = term(reader, node)
    if found.sort is not Sort.INT:
        raise refusal(node, f"{_SORTS[found.sort]} {what}", "only whole numbers (int) may stand here", "DPA703")
    return found


def truth(reader: Reader, node: ast.expr, what: str) -> Term:
    """The term of an expression that must be a truth value."""
    found = term(reader, node)
    if found.sort is not Sort.BOOL:
        raise refusal(node, f"{_SORTS[found.sort]} {what}", "compare it, for instance with `!= 0`", "DPA703")
    return found


_SORTS: Final = {Sort.INT: "an int", Sort.REAL: "a Fraction", Sort.BOOL: "a bool"}


def literal(_: Reader, node: ast.Constant) -> Term:
    """A literal."""
    take(node, "value")
    value = node.value
    if isinstance(value, int):
        return constant(value)
    hint = "write `Fraction(1, 2)` for 0.5" if type(value) is float else "programs compute with int, Fraction and bool only"
    raise refusal(node, f"a literal of type {type(value).__name__}", hint, "DPA703")


def _name(reader: Reader, node: ast.Name) -> Term:
    """The value of a scalar or of a frozen global number."""
    take(node, "id")
    name = node.id
    if name in reader.lists or name in reader.outputs:
        raise refusal(node, f"the list {name} as a value", "lists are only read by index, appended to and returned", "DPA705")
    if name in reader.symbols and reader.defined is not None and name in reader.defined:
        return reader.symbols[name]
    if name in reader.locals:
        raise refusal(node, f"{name} may have no value here", "assign it on every path, and read no loop variable later", "DPA704")
    # Python replaces __debug__ by what the option -O says.
    found = None if name.startswith("__") else reader.meaning(name)
    if isinstance(found, (int, Fraction)):
        reader.shared.constants[reader.prefix + name] = found
        return constant(found)
    raise refusal(node, f"the name {name}", "use parameters, local names, and global int, Fraction or bool constants", "DPA702")


def _unary(reader: Reader, node: ast.UnaryOp) -> Term:
    """Minus and not."""
    take(node, "op", "operand")
    if isinstance(node.op, ast.Not):
        return negation(truth(reader, node.operand, "after `not`"))
    if isinstance(node.op, ast.USub):
        return negative(number(reader, node.operand, "after minus"))
    raise refusal(node, f"the operator {type(node.op).__name__}", "the subset has `-` and `not`")


def _binary(reader: Reader, node: ast.BinOp) -> Term:
    """Arithmetic."""
    take(node, "left", "op", "right")
    return arithmetic(reader, node, node.op, number(reader, node.left, "in arithmetic"), node.right)


def arithmetic(reader: Reader, node: ast.AST, operator: ast.operator, left: Term, operand: ast.expr) -> Term:
    """An operation on a value and an expression that is read now."""
    if isinstance(operator, ast.Pow):
        return _power(left, operand)
    if isinstance(operator, (ast.FloorDiv, ast.Mod)):
        if left.sort is not Sort.INT:
            raise refusal(node, "// or % of a Fraction", "only whole numbers (int) may stand here", "DPA703")
        right = whole(reader, operand, "after // or %")
        reader.check(node, "modulus", less_equal(ONE, right))
        return (quotient if isinstance(operator, ast.FloorDiv) else remainder)(left, right)
    right = number(reader, operand, "in arithmetic")
    if isinstance(operator, ast.Div):
        if left.sort is Sort.INT and right.sort is Sort.INT:
            raise refusal(node, "int / int, which is a float", "write `Fraction(a, b)`", "DPA703")
        reader.check(node, "divisor", negation(equal(right, ZERO)))
        return divide(left, right)
    if type(operator) not in _OPERATORS:
        raise refusal(node, f"the operator {type(operator).__name__}", "the subset has + - * / // % and ** with exponents 0 to 4")
    return _OPERATORS[type(operator)](left, right)


def _power(base: Term, exponent: ast.expr) -> Term:
    """A power with a small literal exponent."""
    if isinstance(exponent, ast.Constant) and type(exponent.value) is int and 0 <= exponent.value <= HIGHEST_POWER:
        return multiply(constant(1, base.sort), *[base] * exponent.value)
    raise refusal(exponent, "this exponent", f"write a literal from 0 to {HIGHEST_POWER}")


def _compare(reader: Reader, node: ast.Compare) -> Term:
    """Comparisons; in a chain each operand is evaluated once, as long as the chain holds, and nothing is drawn."""
    take(node, "left", "ops", "comparators")
    with reader.under(TRUE) if len(node.ops) > 1 else nullcontext():
        left, found = term(reader, node.left), TRUE
        for operator, operand in zip(node.ops, node.comparators, strict=True):
            with reader.under(found) if found is not TRUE else nullcontext():
                right = term(reader, operand)
            found = conjunction(found, _compared(operand, operator, left, right))
            left = right
    return found


def _compared(node: ast.expr, operator: ast.cmpop, left: Term, right: Term) -> Term:
    """One comparison."""
    make = _OPERATORS.get(type(operator))
    if make is None:
        raise refusal(node, f"the comparison {type(operator).__name__}", "the subset has < <= > >= == and !=")
    truths = [side.sort is Sort.BOOL for side in (left, right)]
    if any(truths) and not (all(truths) and isinstance(operator, (ast.Eq, ast.NotEq))):
        raise refusal(node, "a comparison of a truth value", "compare truth values with each other, by == or !=", "DPA703")
    return make(left, right)


def _connective(reader: Reader, node: ast.BoolOp) -> Term:
    """`and` and `or`; each operand is evaluated where those before do not decide."""
    take(node, "op", "values")
    both = isinstance(node.op, ast.And)
    found = truth(reader, node.values[0], "with `and` or `or`")
    for value in node.values[1:]:
        with reader.under(found if both else negation(found)):
            operand = truth(reader, value, "with `and` or `or`")
        found = conjunction(found, operand) if both else disjunction(found, operand)
    return found


def _conditional(reader: Reader, node: ast.IfExp) -> Term:
    """A conditional expression; its branches have one sort."""
    take(node, "test", "body", "orelse")
    test = truth(reader, node.test, "as a condition")
    with reader.under(test):
        then = term(reader, node.body)
    with reader.under(negation(test)):
        otherwise = term(reader, node.orelse)
    _same(node, "the branches of a conditional expression", then, otherwise)
    return choose(test, then, otherwise)


def _same(node: ast.AST, what: str, first: Term, second: Term) -> None:
    """Two values of one sort, so that the type of the result does not depend on the data."""
    if first.sort is not second.sort:
        found = f"{what} are {_SORTS[first.sort]} and {_SORTS[second.sort]}"
        raise refusal(node, found, "make them one type: `Fraction(1, 1)` for 1", "DPA703")


def _element(reader: Reader, node: ast.Subscript) -> Term:
    """An element of a list parameter."""
    take(node, "value", "slice")
    base = ast.unparse(node.value)
    if not isinstance(node.value, ast.Name) or base not in reader.lists:
        raise refusal(node, "an index into something other than a list parameter", "read list parameters by index", "DPA705")
    name, sort = reader.lists[base]
    index = whole(reader, node.slice, "as an index")
    value = number_of(index)
    if value is not None and value < 0:
        raise refusal(node.slice, "a negative index", f"write `{base}[len({base}) - 1]` for the last element")
    reader.check(node, "index", conjunction(less_equal(ZERO, index), less(index, length(name))))
    return apply(name, (index,), sort)


_CALLABLE: Final = "call samplers, helpers, abs, min, max, len and Fraction"


def _call(reader: Reader, node: ast.Call) -> Term:
    """A call of a function of Python, a sampler or a helper."""
    take(node, "func", "args", "keywords")
    if not isinstance(node.func, ast.Name) or node.func.id in reader.lists or node.func.id in reader.outputs:
        raise refusal(node, "a call of something other than a name", _CALLABLE, "DPA706")
    meaning = reader.meaning(node.func.id)
    if isinstance(meaning, Standard):
        if node.keywords:
            raise refusal(node.keywords[0].value, f"a keyword argument of {meaning.name}", "pass it by position", "DPA706")
        return _standard(reader, node, meaning.name)
    if reader.call is None or not isinstance(meaning, (Law, Source)):
        raise refusal(node, f"a call of {node.func.id}", _CALLABLE, "DPA706")
    return reader.call(reader, node, meaning)


def _standard(reader: Reader, node: ast.Call, name: str) -> Term:
    """A call of abs, min, max, len or Fraction."""
    if name == "len":
        return length(list_argument(reader, node))
    allowed = {"abs": (1,), "min": (2,), "max": (2,), "Fraction": (1, 2)}.get(name, ())
    if len(node.args) not in allowed:
        wanted = " or ".join(map(str, allowed)) or "a place in `for ... in`, not"
        raise refusal(node, f"{name} with {len(node.args)} arguments", f"{name} takes {wanted} here", "DPA706")
    if name == "Fraction":
        parts = [whole(reader, argument, "in Fraction") for argument in node.args]
        if len(parts) == 1:
            return multiply(constant(1, Sort.REAL), parts[0])
        reader.check(node, "divisor", negation(equal(parts[1], ZERO)))
        return divide(*parts)
    values = [number(reader, argument, f"in {name}") for argument in node.args]
    if name == "abs":
        return absolute(values[0])
    _same(node, f"the arguments of {name}", *values)
    return (least if name == "min" else largest)(*values)


def list_argument(reader: Reader, node: ast.Call) -> str:
    """The list parameter that is the only argument of a call."""
    if len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id in reader.lists:
        return reader.lists[node.args[0].id][0]
    raise refusal(node, "len of something other than a list parameter", "count in a name of its own", "DPA705")


_OPERATORS: Final[Mapping[type[ast.AST], Callable[..., Term]]] = {
    kind: CONSTRUCTORS[symbol]
    for kind, symbol in (
        (ast.Add, "+"), (ast.Sub, "-"), (ast.Mult, "*"),
        (ast.Lt, "<"), (ast.LtE, "<="), (ast.Gt, ">"), (ast.GtE, ">="), (ast.Eq, "=="), (ast.NotEq, "!="),
    )
}  # fmt: skip
"""Every operator that is defined for all numbers, as `CONSTRUCTORS` makes its term; those that need a check are in `arithmetic`."""

_READERS: Final[Mapping[type[ast.expr], Callable[[Reader, Any], Term]]] = {
    ast.BinOp: _binary,
    ast.BoolOp: _connective,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: literal,
    ast.IfExp: _conditional,
    ast.Name: _name,
    ast.Subscript: _element,
    ast.UnaryOp: _unary,
}
"""Every kind of expression that the subset has; any other is refused."""
