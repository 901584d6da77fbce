"""Guesses for loops whose alignment looks ahead to the rivals of a chosen draw: what names hold before it and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpaudit.verifier.ir import For, Relation, While
from dpaudit.verifier.product.costs import SPENT
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.rivals import OWN, PICKED, SEEN, SO_FAR
from dpaudit.verifier.product.runs import OTHER
from dpaudit.verifier.terms import (
    ONE,
    ZERO,
    Sort,
    Term,
    absolute,
    add,
    choose,
    conjunction,
    constant,
    disjunction,
    equal,
    implies,
    less,
    less_equal,
    negation,
    negative,
    substitute,
    subtract,
    variable,
)


def lead(execution: Execution, loop: For | While, changed: Sequence[tuple[str, Sort]]) -> Iterator[Term]:
    """Candidates about one chosen draw; without an index or an output to choose it there are none."""
    index = variable(loop.name, Sort.INT) if isinstance(loop, For) else None
    start = loop.start if isinstance(loop, For) else ZERO
    rivals, output = execution.rivals, next((one for one in execution.output() if one is not None and one.sort is Sort.INT), None)
    if rivals is None or index is None or output is None:
        return
    sense = rivals.sense
    own, wins = (OWN, add(OWN, sense.apart)), sense.beats(OWN, sense.one)
    before, after = less_equal(index, output), conjunction(PICKED, wins)
    yield disjunction(negation(PICKED), less(output, index))
    yield disjunction(negation(PICKED), less_equal(ZERO, output))
    yield disjunction(negation(PICKED), negation(equal(OWN, sense.one)))
    yield disjunction(PICKED, less(output, ZERO), before)
    yield disjunction(negation(SEEN), less(ZERO, index))
    yield disjunction(negation(SEEN), negation(PICKED), less(ONE, index))
    for first in (ZERO, ONE):
        yield disjunction(SEEN, less_equal(index, first))
        yield disjunction(SEEN, less_equal(index, first), conjunction(less(output, index), equal(first, ONE)))
    yield implies(conjunction(before, less(ZERO, index)), SEEN)
    for name, _ in execution.pairs.contract.changes:
        if execution.pairs.relation(name) is Relation.ONE:
            yield implies(equal(execution.pairs.position(name), output), equal(SO_FAR, _other(SO_FAR)))
    for run, (limit, mine) in enumerate(zip((sense.one, sense.other), own, strict=True)):
        so_far, seen = (_other(one) if run else one for one in (SO_FAR, SEEN))
        yield implies(seen, sense.bounds(so_far, limit))
        for name, sort in changed:
            one = variable(name, sort)
            if name.startswith("$") or one in (SO_FAR, SEEN, PICKED):
                continue
            one = _other(one) if run else one
            if sort is Sort.INT:
                yield implies(after, equal(one, output))
                yield from (implies(conjunction(less(output, index), equal(one, output)), equal(variable(value, Sort.REAL), mine))
                    for value, kind in changed if kind is Sort.REAL and not run)
            elif sort is Sort.REAL:
                yield disjunction(SEEN, equal(variable(name, sort), _other(variable(name, sort))))
                yield implies(before, equal(one, so_far))
                yield implies(after, equal(one, mine))
                yield implies(seen, sense.bounds(so_far, one))
                for value in (so_far, subtract(mine, so_far), subtract(so_far, mine)):
                    yield implies(conjunction(after, seen), equal(one, value))
    for site, shift in rivals.shifts.items():
        cost = absolute(substitute(shift, {index: output}))
        yield less_equal(variable(f"{SPENT}.{site}", Sort.REAL), choose(conjunction(less_equal(start, output), less(output, index)), cost, ZERO))


def _other(symbol: Term) -> Term:
    """A name in the second run."""
    return variable(OTHER + str(symbol.value), symbol.sort)
