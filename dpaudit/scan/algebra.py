"""Algebra on expressions: definitions put in for names, and with which power a parameter enters a scale."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from dpaudit.dotted_names import dotted
from dpaudit.scan.names import last_name

_LARGEST: Final = 80
"""Nodes of an expression beyond which names are not replaced, so that repeated assignments cannot grow it without end."""

_POWERS: Final = {
    **dict.fromkeys(("float", "abs", "int", "array", "asarray", "tensor", "mean", "fabs", "item", "Fraction", "ceil"), Fraction(1)),
    "sqrt": Fraction(1, 2),
    "square": Fraction(2),
}
"""Calls that take a product of powers to another."""


def expand(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """Return an expression with the definitions of its names put in; itself where that would be too large."""
    if not any(isinstance(one, (ast.Name, ast.Attribute)) for one in ast.walk(node)):
        return node
    result = _Names(known).visit(_copy(node))
    assert isinstance(result, ast.expr), "an expression stays one"  # noqa: S101
    return result if sum(1 for _ in ast.walk(result)) <= _LARGEST else node


class _Names(ast.NodeTransformer):
    """Replaces names by their definitions."""

    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name, by what it was assigned."""
        return self.known.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """An attribute of `self`, by what it was assigned; of anything else as it stands."""
        return self.known.get(dotted(node), node)


def _copy(node: ast.expr) -> ast.expr:
    """Return a copy of an expression, so that names in it can be replaced and the tree of the file stays as it is."""
    copied = _copied(node)
    assert isinstance(copied, ast.expr), "a copy is of the same kind"  # noqa: S101
    return copied


def _copied(node: object) -> object:
    """Return a copy of a node, or of a list of them, down to what is no node."""
    if isinstance(node, list):
        return [_copied(one) for one in node]
    if not isinstance(node, ast.AST) or isinstance(node, (ast.expr_context, ast.operator, ast.Constant)):
        return node
    return ast.copy_location(type(node)(**{name: _copied(value) for name, value in ast.iter_fields(node)}), node)


def degree(node: ast.expr, is_wanted: Callable[[str], bool]) -> Fraction | None:
    """Return the power of the wanted names in a product of powers; None where an expression is none."""
    if isinstance(node, ast.Constant):
        return Fraction(0)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return Fraction(int(is_wanted(last_name(node))))
    if isinstance(node, ast.UnaryOp):
        return degree(node.operand, is_wanted)
    if isinstance(node, ast.BinOp):
        return _degree_of_operation(node, is_wanted)
    if isinstance(node, ast.Call) and len(node.args) == 1 and (power := _POWERS.get(last_name(node.func))) is not None:
        inside = degree(node.args[0], is_wanted)
        return None if inside is None else inside * power
    return None if any(is_wanted(one) for one in names_in(node)) else Fraction(0)


def _degree_of_operation(node: ast.BinOp, is_wanted: Callable[[str], bool]) -> Fraction | None:
    """Return the power of the wanted names in a product, quotient, power or sum of equal powers."""
    left = degree(node.left, is_wanted)
    if isinstance(node.op, ast.Pow):
        exponent = number(node.right)
        if left is None or (exponent is None and left != 0):
            return None
        return left * exponent if exponent is not None else Fraction(0)
    right = degree(node.right, is_wanted)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Mult):
        return left + right
    if isinstance(node.op, ast.Div):
        return left - right
    return left if left == right else None


def number(node: ast.expr) -> Fraction | None:
    """Return the value of an expression of constants; None for any other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and abs(node.value) < 1e300:  # not infinite
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inside = number(node.operand)
        return None if inside is None else -inside
    if isinstance(node, ast.BinOp):
        left, right = number(node.left), number(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Div) and right:
            return left / right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and abs(right) <= 64 and left:
            return left**right.numerator if abs(left) < 1e6 else None
    return None


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield every name and attribute in an expression."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Attribute):
            yield one.attr


def calls_in(node: ast.AST) -> set[str]:
    """Return the last names of what an expression calls."""
    return {last_name(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
