"""Partial operations and functions named by variables: what is left has a meaning everywhere, and says what it may rest on.

Every application and every `/`, `//`, `%` becomes a variable that equals an uninterpreted function at its arguments, so that
equal arguments give equal values and nothing else is known. What `/`, `//` and `%` mean is added as an axiom that is guarded by
where they are defined: nothing follows from a division by zero.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Final

from dpaudit.verifier.terms import (
    ONE,
    ZERO,
    Op,
    Sort,
    Term,
    add,
    apply,
    conjunction,
    equal,
    implies,
    less,
    less_equal,
    multiply,
    negation,
    number_of,
    rebuild,
    subterms,
    variable,
)

PARTIAL: Final = frozenset({Op.DIVIDE, Op.QUOTIENT, Op.REMAINDER})
"""The operations that have no meaning for some arguments."""
_MARK: Final = "#"
"""The prefix of the names of named values."""


def signature(name: str, args: tuple[Term, ...], sort: Sort) -> str:
    """A name that tells functions of different sorts apart, and from variables, whose names begin with their sort."""
    return f"({' '.join(argument.sort.value for argument in args)}) {sort.value} {name}"


def total(term: Term, names: MutableMapping[Term, Term]) -> tuple[Term, list[Term]]:
    """The term over named values only, and what is known about the names that are new.

    `names` maps applications with named arguments to their variables; it is added to, so that one value has one name.
    """
    done: dict[Term, Term] = {}
    facts: list[Term] = []
    for part in subterms(term):
        if part.op is Op.VARIABLE and str(part.value).startswith(_MARK):
            raise ValueError(f"names that begin with {_MARK} are kept for values of functions")
        args = tuple(done[argument] for argument in part.args)
        if part.op in PARTIAL or part.op is Op.APPLY:
            done[part] = _named(part.op, str(part.value), args, part.sort, names, facts)
        else:
            done[part] = rebuild(part, args)
    return done[term], facts


def application(op: Op, name: str, args: tuple[Term, ...], sort: Sort) -> Term:
    """A function application in which the name tells its sorts; partial operations are functions of this kind too."""
    return apply(signature(name if op is Op.APPLY else op.value, args, sort), args, sort)


def _named(op: Op, name: str, args: tuple[Term, ...], sort: Sort, names: MutableMapping[Term, Term], facts: list[Term]) -> Term:
    """The variable of an application; a new one comes with its definition and, for / // %, with its guarded axiom."""
    value = application(op, name, args, sort)
    if value in names:
        return names[value]
    names[value] = named = variable(f"{_MARK}{len(names)}", sort)
    divisor = number_of(args[-1]) if op in PARTIAL else None
    # By a positive constant the axiom says all, without a function.
    if divisor is None or divisor < 1:
        facts.append(equal(named, value))
    if op is Op.DIVIDE:
        first, second = args
        facts.append(implies(negation(equal(second, ZERO)), equal(multiply(second, named), first)))
    elif op in PARTIAL:
        first, second = args
        others = (_named(one, "", args, sort, names, facts) for one in (Op.QUOTIENT, Op.REMAINDER) if one is not op)
        whole, rest = (named, next(others)) if op is Op.QUOTIENT else (next(others), named)
        if op is Op.QUOTIENT:
            meaning = conjunction(equal(first, add(multiply(second, whole), rest)), less_equal(ZERO, rest), less(rest, second))
            facts.append(implies(less_equal(ONE, second), meaning))
    return named
