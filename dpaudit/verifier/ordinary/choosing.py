"""Statements that choose by a value or by an error: `match` as tests in turn, a division that falls back on a constant."""

from __future__ import annotations

import ast
from typing import Final

from dpaudit.verifier.ordinary import numbers, texts
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Builtin, Opaque, Scalar, Value

_PURE: Final = ("abs", "float", "max", "min", "round")
"""Functions of numbers that may stand around a division that is tried."""


def tests_of(node: ast.Match) -> list[ast.stmt]:
    """A `match` with constants as `if` statements; its subject is evaluated once, under a name that no source can have."""
    # A name is asked where it stands: a capture may bind it, but a guard may not.
    subject = ast.copy_location(ast.Name(f"match {node.lineno}:{node.col_offset}", ast.Load()), node.subject)
    found: list[ast.stmt] = []
    for case in reversed(node.cases):
        captured = case.pattern.name if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None else None
        test = None if captured is not None else _pattern(subject, case.pattern)
        if case.guard is not None:
            test = case.guard if test is None else ast.BoolOp(ast.And(), [test, case.guard])
        found = list(case.body) if test is None else [_placed(case.pattern, ast.If(test, case.body, found))]
        if captured is not None:
            # The name is bound before the guard is asked, and stays bound.
            target = ast.copy_location(ast.Name(captured, ast.Store()), case.pattern)
            found = [ast.copy_location(ast.Assign([target], subject), case.pattern), *found]
    hidden = ast.copy_location(ast.Name(subject.id, ast.Store()), node.subject)
    return [ast.copy_location(ast.Assign([hidden], node.subject), node), *found]


def of_one_or_other(node: ast.Expr) -> ast.If:
    """`(a if test else b).method(...)` in a line of its own as an `if` statement: the test comes first in both."""
    call = node.value
    assert isinstance(call, ast.Call)  # noqa: S101 - the caller has looked
    assert isinstance(call.func, ast.Attribute)  # noqa: S101
    chosen = call.func.value
    assert isinstance(chosen, ast.IfExp)  # noqa: S101
    lines: list[ast.stmt] = []
    for owner in (chosen.body, chosen.orelse):
        method = ast.copy_location(ast.Attribute(owner, call.func.attr, ast.Load()), call.func)
        lines.append(ast.copy_location(ast.Expr(ast.copy_location(ast.Call(method, call.args, call.keywords), call)), node))
    return ast.copy_location(ast.If(chosen.test, lines[:1], lines[1:]), node)


def _placed(place: ast.pattern, made: ast.If) -> ast.If:
    """A new statement, with its test, at the place of a pattern."""
    for part in (made, *ast.walk(made.test)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return made


def _pattern(subject: ast.Name, pattern: ast.pattern) -> ast.expr | None:
    """The test that a pattern makes; None where it fits everything."""
    match pattern:
        case ast.MatchValue(value=value):
            return ast.Compare(subject, [ast.Eq()], [value])
        case ast.MatchSingleton(value=None):
            return ast.Compare(subject, [ast.Is()], [ast.Constant(None)])
        case ast.MatchOr(patterns=parts):
            tests = [_pattern(subject, one) for one in parts]
            known = [one for one in tests if one is not None]
            return ast.BoolOp(ast.Or(), known) if len(known) == len(tests) else None
        case ast.MatchAs(pattern=None, name=None):
            return None
    raise refuse(pattern, f"the case `{ast.unparse(pattern)}`", "match numbers, texts, None and _")


def fallen_back(state: State, node: ast.Try) -> tuple[ast.stmt, Value]:
    """`try: x = a / b` or `return a / b` with a constant in place of an error, and the value of the whole.

    It is a function of the numbers that are divided, whatever error occurs: these are put out, and the proof is about them.
    """
    match node:
        case ast.Try(
            body=[ast.Return(value=ast.expr() as tried) as first],
            handlers=[ast.ExceptHandler(name=None, body=[ast.Return(value=ast.expr() as spare)]) as handler],
            orelse=[],
            finalbody=[],
        ):
            pass
        case ast.Try(
            body=[ast.Assign(targets=[ast.Name(id=name)], value=tried) as first],
            handlers=[ast.ExceptHandler(name=None, body=[ast.Assign(targets=[ast.Name(id=other)], value=spare)]) as handler],
            orelse=[],
            finalbody=[],
        ) if name == other:
            pass
        case _:
            raise teach(node, "try", "`try`")
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if not all(one is None or isinstance(one, ast.Name) for one in kinds):
        raise teach(node, "try", "`try`")
    constant = state.value(spare) if isinstance(spare, (ast.Constant, ast.UnaryOp)) else None
    if not (isinstance(constant, Scalar) and constant.is_known and constant.kind in ("int", "real")):
        raise refuse(spare, f"`{ast.unparse(spare)}` in place of an error", "fall back on a number")
    return first, texts.partial(state, node, *_leaves(state, tried))


def _leaves(state: State, node: ast.expr) -> list[Value]:
    """The numbers that an expression is made of, by arithmetic and a few functions alone."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            return [*_leaves(state, left), *_leaves(state, right)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _leaves(state, operand)
        case ast.Call(func=ast.Name(id="len") as called, args=[ast.Name()], keywords=[]) if state.value(called) == Builtin("len"):
            return [texts.firm_number(state, node, state.value(node))]
        case ast.Call(func=ast.Name() as called, args=args, keywords=[]) if _is_pure(state, called):
            return [leaf for one in args for leaf in _leaves(state, one)]
        case ast.Name() | ast.Constant():
            found = state.value(node)
            if isinstance(found, Opaque) or numbers.is_number(found):
                return [texts.firm_number(state, node, found)]
    raise refuse(
        node, f"`{ast.unparse(node)}` in a `try`", "compute it on a line before, and divide numbers in the `try`", "DPA701"
    )


def _is_pure(state: State, node: ast.Name) -> bool:
    """True if a name means one of the functions that may stand around a division."""
    return node.id in _PURE and state.value(node) == Builtin(node.id)
