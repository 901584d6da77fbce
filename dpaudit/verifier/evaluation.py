"""The value of terms: compiled once to nested functions that compute with Python's own operators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, Final, TypeAlias

from dpaudit.verifier.terms import Op, Sort, Term

Value: TypeAlias = Any
"""A number, a truth value, or what stands for one: it has Python's operators, and `Decide` knows its truth."""

Names: TypeAlias = Mapping[str, Value]
Decide: TypeAlias = Callable[[Value], bool]
Code: TypeAlias = Callable[[Names, Decide], Value]
"""A term, ready to be computed from what its names stand for."""

_OPERATIONS: Final[Mapping[Op, Callable[[Value, Value], Value]]] = {
    Op.ADD: operator.add,
    Op.MULTIPLY: operator.mul,
    Op.QUOTIENT: operator.floordiv,
    Op.REMAINDER: operator.mod,
    Op.LESS_EQUAL: operator.le,
    Op.LESS: operator.lt,
    Op.EQUAL: operator.eq,
}


def value_of(term: Term, names: Names) -> Value:
    """The exact value of a term."""
    return code_of(term, Fraction)(names, bool)


# Terms are hashed by identity, so a look-up is cheap; loops and repeated runs compute the same terms again and again.
@lru_cache(maxsize=8192)
def code_of(term: Term, real: Callable[[Fraction], Value]) -> Code:
    """The function that computes a term; `real` makes the values of its REAL constants."""
    args = [code_of(argument, real) for argument in term.args]
    match term.op:
        case Op.CONSTANT:
            constant = real(term.value) if isinstance(term.value, Fraction) else term.value
            return lambda _, __: constant
        case Op.VARIABLE:
            return _named(str(term.value))
        case Op.APPLY:
            name, index = str(term.value), args[0]
            return lambda names, decide: names[name][index(names, decide)]
        case Op.CHOOSE:
            test, then, otherwise = args
            return lambda names, decide: (then if decide(test(names, decide)) else otherwise)(names, decide)
    return _operation(term, args, real(Fraction(1)))


def _named(name: str) -> Code:
    """The code that looks up a variable."""
    if name.startswith("len("):
        owner = name[4:-1]
        return lambda names, _: len(names[owner])
    return lambda names, _: names[name]


def _operation(term: Term, args: list[Code], one: Value) -> Code:
    """A connective, comparison or sum of what its arguments give."""
    first, last = args[0], args[-1]
    match term.op:
        case Op.AND:
            return lambda names, decide: all(decide(part(names, decide)) for part in args)
        case Op.OR:
            return lambda names, decide: any(decide(part(names, decide)) for part in args)
        case Op.NOT:
            return lambda names, decide: not decide(first(names, decide))
        case Op.EQUAL if term.args[0].sort is Sort.BOOL:
            return lambda names, decide: decide(first(names, decide)) is decide(last(names, decide))
        case Op.DIVIDE:
            # Two ints would give a float; in the subset one of them is a Fraction, or both stand in Fraction(a, b).
            return lambda names, decide: one * first(names, decide) / last(names, decide)
    operation = _OPERATIONS[term.op]
    if len(args) == 1:
        # An integer that stands for a rational one.
        return lambda names, decide: one * first(names, decide)
    if len(args) == 2:
        return lambda names, decide: operation(first(names, decide), last(names, decide))
    return lambda names, decide: reduce(operation, [part(names, decide) for part in args])
