"""Comparisons: chains, membership, identity with None, coins, and uniform numbers at their middle."""

from __future__ import annotations

import ast
from dataclasses import replace
from fractions import Fraction
from typing import Final

from dpaudit.verifier.ordinary import arrays, containing, draws, numbers, quantiles
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Curve, Entry, Infinity, Iterator, Nothing, Ref, Scalar, Spent, Value

UNIFORM: Final = "an iterator: a uniform number that was compared before"


def compare(state: State, node: ast.Compare) -> Value:
    """Comparisons, one after the other as long as they hold."""
    left = state.value(node.left)
    return _chain(state, node, left, list(zip(node.ops, node.comparators, strict=True)))


def _chain(state: State, node: ast.Compare, left: Value, links: list[tuple[ast.cmpop, ast.expr]]) -> Value:
    """A chain from one operand on."""
    (op, operand), rest = links[0], links[1:]
    right = state.value(operand)
    first = _link(state, node, op, left, right)
    if not rest:
        return first
    test = numbers.scalar(state, node, first)
    if test.is_known:
        return _chain(state, node, right, rest) if test.known else first
    with state.private(not test.public):
        found = state.quiet(lambda: _chain(state, node, right, rest))
    if found is None or not isinstance(found[0], Scalar):
        raise refuse(node, f"`{ast.unparse(node)}`", "write it as two comparisons with `and`", "DPA706")
    return numbers.connected("and", [test, found[0]])


def _link(state: State, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison."""
    if isinstance(op, (ast.In, ast.NotIn)):
        found = containing.contains(state, node, left, right)
        if isinstance(found, Entry):
            return found
        found = replace(found, types=numbers.BOOL, tests=())
        return numbers.negated(found) if isinstance(op, ast.NotIn) else found
    if isinstance(op, (ast.Is, ast.IsNot)):
        if not (isinstance(left, Nothing) or isinstance(right, Nothing)):
            raise refuse(node, f"`{ast.unparse(node)}`", "use `is` with None only", "DPA703")
        other = right if isinstance(left, Nothing) else left
        same = isinstance(other, Nothing)
        return numbers.constant(state, same is isinstance(op, ast.Is))
    if "uniform" in state.learned.types:
        # Elsewhere arithmetic is done with such a number, so that it is no coin.
        left, right = (quantiles.curve_of(state, one) or one for one in (left, right))
    if isinstance(left, Curve) or isinstance(right, Curve):
        return _parted(state, node, op, left, right)
    for one, other, below in ((left, right, isinstance(op, (ast.Lt, ast.LtE))), (right, left, isinstance(op, (ast.Gt, ast.GtE)))):
        held = state.object(one) if isinstance(one, Ref) else None
        if isinstance(one, Ref) and isinstance(held, Iterator) and held.what == "uniform":
            if not isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                raise refuse(node, f"`{ast.unparse(node)}` of a uniform number", "compare it with < a probability", "DPA706")
            state.change(node, one.address, Spent(UNIFORM))
            return draws.coin(state, node, numbers.number(state, node, other), less=below)
    if isinstance(left, Infinity) or isinstance(right, Infinity):
        return _infinite(state, node, op, left, right)
    if arrays.is_array(state, left) or arrays.is_array(state, right):

        def compare(one: Value, other: Value) -> Scalar:
            return numbers.compared(state, node, op, numbers.scalar(state, node, one), numbers.scalar(state, node, other))

        return arrays.elementwise(state, node, [left, right], compare)
    empty = [isinstance(one, Nothing) for one in (left, right)]
    if isinstance(op, (ast.Eq, ast.NotEq)) and any(empty) and all(isinstance(one, (Nothing, Scalar)) for one in (left, right)):
        return numbers.constant(state, all(empty) is isinstance(op, ast.Eq))
    return numbers.compared(state, node, op, numbers.scalar(state, node, left), numbers.scalar(state, node, right))


def _parted(state: State, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Scalar:
    """A comparison of what is made of a uniform number with a constant: at its middle it is a test that is named for it."""
    turned: dict[type, ast.cmpop] = {ast.Lt: ast.Gt(), ast.LtE: ast.GtE(), ast.Gt: ast.Lt(), ast.GtE: ast.LtE()}
    curve, other, way = (left, right, op) if isinstance(left, Curve) else (right, left, turned.get(type(op), op))
    assert isinstance(curve, Curve)  # noqa: S101 - the caller has looked
    if isinstance(other, Scalar) and other.is_known and other.kind in ("int", "real"):
        holds = quantiles.compared(node, way, curve, Fraction(other.known))
        if holds is not None and holds[0] is not holds[1]:
            name = f"middle {curve.address} {int(holds[0])}"
            return Scalar(name, "bool", numbers.BOOL, noisy=True)
    raise teach(node, "noise by hand", f"`{ast.unparse(node)}` of a uniform number")


def middle(test: Scalar) -> tuple[int, tuple[bool, bool]] | None:
    """The uniform number that a test parts at its middle, and on which side it holds; None for other tests."""
    word, _, rest = test.code.partition(" ")
    if word != "middle":
        return None
    address, first = rest.split()
    return int(address), (first == "1", first != "1")


def _infinite(state: State, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Scalar:
    """A comparison of a number with an infinite one."""
    ends = []
    for one in (left, right):
        if not isinstance(one, Infinity):
            numbers.number(state, node, one)
        ends.append((1 if one.positive else -1) if isinstance(one, Infinity) else 0)
    made = numbers.compared(state, node, op, *(numbers.constant(state, one) for one in ends))
    types = frozenset("np.bool" if one.startswith("np.") else "bool" for found in (left, right) for one in _types_of(found))
    return replace(made, types=types or numbers.BOOL, tests=() if len(types) <= 1 else None)


def _types_of(found: Value) -> frozenset[str]:
    """The types of a number that is not infinite."""
    return found.types if isinstance(found, Scalar) else frozenset()
