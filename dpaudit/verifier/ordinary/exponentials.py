"""The exponential mechanism as people write it: one of several with weights that are exponentials, or shares of their sum.

Weights exp(c * s) with one public factor c are choices by the scores s with epsilon 2 * c and sensitivity 1: a factor that all
weights share cancels, so that exp(s - max) and shares of a sum are the same choice.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from dpaudit.verifier.ordinary import texts
from dpaudit.verifier.ordinary.refusing import refuse
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Items, Opaque, Ref, Scalar, Tuple, Value

_EXPONENTIALS: Final = (":math.exp", ":numpy.exp")
_SUMS: Final = (":sum", ":numpy.sum", ":.sum")
_SHARE: Final = ":share"
_MOST: Final = 64


def share(state: State, node: ast.AST, left: Value, right: Value) -> Opaque | None:
    """A weight divided by the sum of all weights, which is above 0; None for other divisions."""
    if not (isinstance(left, Opaque) and isinstance(right, Opaque)):
        return None
    weights = _summed(right)
    if weights is None or left not in weights:
        return None
    made = texts.opaque(state, node, left, right)
    return replace(made, site=made.site + _SHARE)


def shares(state: State, node: ast.AST, left: Value, right: Value) -> Ref | None:
    """An array of weights divided by their sum."""
    held = state.object(left) if isinstance(left, Ref) else None
    if not isinstance(held, Items) or held.form != "array" or not isinstance(right, Opaque):
        return None
    made = [share(state, node, one, right) for one in held.items]
    return state.new(Items(tuple(one for one in made if one is not None), "array")) if None not in made and made else None


def _summed(found: Opaque) -> tuple[Value, ...] | None:
    """The exponentials that something is the sum of."""
    first, *rest = found.parts or (None,)
    fits = found.site.endswith(_SUMS) and isinstance(first, Scalar) and first.is_known and first.known == 0
    return tuple(rest) if fits and rest and all(_exponent(one) is not None for one in rest) else None


def _exponent(found: Value) -> Scalar | None:
    """What a value is the exponential of."""
    fits = isinstance(found, Opaque) and found.site.endswith(_EXPONENTIALS) and len(found.parts) == 1
    one = found.parts[0] if isinstance(found, Opaque) and fits else None
    return one if isinstance(one, Scalar) and one.kind in ("int", "real") else None


def scores(state: State, node: ast.AST, weights: Value, *, shared: bool) -> tuple[list[str], str]:
    """The scores of a choice by weights, or by shares that add up to 1, and its epsilon at sensitivity 1."""
    held = state.object(weights) if isinstance(weights, Ref) else weights
    items: tuple[Value, ...] = held.items if isinstance(held, (Items, Tuple)) else ()
    if shared:
        totals = {one.parts[1] for one in items if isinstance(one, Opaque) and one.site.endswith(_SHARE)}
        total = totals.pop() if len(totals) == 1 else None
        whole = _summed(total) if isinstance(total, Opaque) else None
        fits = whole is not None and all(isinstance(one, Opaque) and one.site.endswith(_SHARE) for one in items)
        items = tuple(one.parts[0] for one in items if isinstance(one, Opaque)) if fits else ()
        items = items if items == whole else ()
    exponents = [one for one in map(_exponent, items) if one is not None]
    if not exponents or len(exponents) < len(items) or len(items) > _MOST:
        raise refuse(node, f"`{ast.unparse(node)}`", "give weights [math.exp(...) for ...], or p=weights / weights.sum()", "DPA706")
    for one in items:
        state.exponents.pop(one, None)  # type: ignore[arg-type] # what is no exponential was refused above
    parts = [_factored(state, ast.parse(one.code, mode="eval").body) for one in exponents]
    factors = {tuple(sorted(one)) for one, _ in parts}
    if len(factors) == 1:
        factor = " * ".join(("2", *factors.pop()))
        return [ast.unparse(one) for _, one in parts], f"({factor})"
    return [one.code for one in exponents], "2"


def _factored(state: State, node: ast.expr) -> tuple[list[str], ast.expr]:
    """The public factors above 0 of a number, and the rest."""
    if _is_above(state, node):
        return [f"Fraction({ast.unparse(node)}, 1)" if isinstance(node, ast.Constant) else ast.unparse(node)], ast.Constant(1)
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            factors, rest = _factored(state, inner)
            return factors, ast.UnaryOp(ast.USub(), rest)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            (some, one), (more, other) = _factored(state, left), _factored(state, right)
            return [*some, *more], ast.BinOp(one, ast.Mult(), other)
        case ast.BinOp(left=left, op=ast.Div(), right=right) if _is_above(state, right):
            factors, rest = _factored(state, left)
            return [f"(Fraction(1, 1) / {ast.unparse(right)})", *factors], rest
    return [], node


def _is_above(state: State, node: ast.expr) -> bool:
    """True for a public number that is above 0 for sure."""
    match node:
        case ast.Constant(value=int() as value):
            return value > 0
        case ast.Name(id=name):
            return state.facts.get(f"({name} > 0)", False)
        case ast.Call(func=ast.Name(id="Fraction"), args=args):
            return all(_is_above(state, one) for one in args)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() | ast.Add(), right=right):
            return _is_above(state, left) and _is_above(state, right)
    return False


def never_large(state: State, found: Value) -> bool:
    """True for a number that is at most 0 by its form, so that its exponential does not overflow."""
    return isinstance(found, Scalar) and found.kind in ("int", "real") and _sign(state, ast.parse(found.code, mode="eval").body) < 0


def _sign(state: State, node: ast.expr) -> int:
    """1 for what is at least 0 by its form, -1 for what is at most 0, and 0 for what may be either."""
    if _is_above(state, node):
        return 1
    match node:
        case ast.Constant(value=0):
            return 1
        case ast.Call(func=ast.Name(id="abs" | "len")):
            return 1
        case ast.Call(func=ast.Name(id="Fraction"), args=args):
            signs = [_sign(state, one) for one in args]
            return 1 if signs and min(signs) == 1 else signs[0] if len(signs) == 1 else 0
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_sign(state, inner)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return _sign(state, left) * _sign(state, right)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            one, other = _sign(state, left), _sign(state, right) * (1 if isinstance(op, ast.Add) else -1)
            return one if one == other else 0
    return 0
