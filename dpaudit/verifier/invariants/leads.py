"""Guesses for loops whose alignment looks ahead to the rivals of a chosen draw: what names hold before it and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpaudit.verifier.ir import For, Relation, While
from dpaudit.verifier.product.costs import SPENT
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.rivals import OWN, PICKED, SEEN, SO_FAR, Sense
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
    disjunction,
    equal,
    implies,
    less,
    less_equal,
    negation,
    substitute,
    subtract,
    variable,
)


def lead(execution: Execution, loop: For | While, changed: Sequence[tuple[str, Sort]]) -> Iterator[Term]:
    """Candidates about one chosen draw; without an index or an output to choose it there are none."""
    rivals, outputs = execution.rivals, [one for one in execution.output() if one is not None and one.sort is Sort.INT]
    if rivals is None or not isinstance(loop, For) or not outputs:
        return
    output, index, sense = outputs[0], variable(loop.name, Sort.INT), rivals.sense
    yield from _stages(execution, index, output)
    for run, (limit, mine) in enumerate(((sense.one, OWN), (sense.other, add(OWN, sense.apart)))):
        state = _State(sense, index, output, mine, in_other=bool(run))
        yield implies(state.seen, sense.bounds(state.so_far, limit))
        for name, sort in changed:
            one = variable(name, sort)
            if name.startswith("$") or one in (SO_FAR, SEEN, PICKED):
                continue
            if sort is Sort.INT:
                reals = [variable(value, kind) for value, kind in changed if kind is Sort.REAL]
                yield from state.place(one, reals)
            elif sort is Sort.REAL:
                yield from state.value(one)
    for site, shift in rivals.shifts.items():
        cost = absolute(substitute(shift, {index: output}))
        passed = conjunction(less_equal(loop.start, output), less(output, index))
        yield less_equal(variable(f"{SPENT}.{site}", Sort.REAL), choose(passed, cost, ZERO))


def _stages(execution: Execution, index: Term, output: Term) -> Iterator[Term]:
    """When there was a rival, and when the chosen draw was."""
    rivals = execution.rivals
    before, passed = less_equal(index, output), less(output, index)
    yield disjunction(negation(PICKED), passed)
    yield disjunction(negation(PICKED), less_equal(ZERO, output))
    if rivals is not None:
        yield disjunction(negation(PICKED), negation(equal(OWN, rivals.sense.one)))
    yield disjunction(PICKED, less(output, ZERO), before)
    yield disjunction(negation(SEEN), less(ZERO, index))
    yield disjunction(negation(SEEN), negation(PICKED), less(ONE, index))
    for first in (ZERO, ONE):
        yield disjunction(SEEN, less_equal(index, first))
    yield disjunction(SEEN, less_equal(index, ONE), passed)
    yield implies(conjunction(before, less(ZERO, index)), SEEN)
    for name, _ in execution.pairs.contract.changes:
        if execution.pairs.relation(name) is Relation.ONE:
            yield implies(equal(execution.pairs.position(name), output), equal(SO_FAR, _other(SO_FAR)))


@dataclass(frozen=True)
class _State:
    """What one run knows of its rivals at a loop head."""

    sense: Sense
    index: Term
    output: Term
    mine: Term  # the chosen value in this run
    in_other: bool

    @property
    def so_far(self) -> Term:
        """The furthest rival so far."""
        return self.own(SO_FAR)

    @property
    def seen(self) -> Term:
        """True once there was one."""
        return self.own(SEEN)

    @property
    def after(self) -> Term:
        """The chosen draw is over, and beats all rivals, as it does in both runs or in none."""
        return conjunction(PICKED, self.sense.beats(OWN, self.sense.one))

    def own(self, symbol: Term) -> Term:
        """A name in this run."""
        return _other(symbol) if self.in_other else symbol

    def place(self, name: Term, reals: Sequence[Term]) -> Iterator[Term]:
        """An integer may say which draw leads, and a number by what value."""
        yield implies(self.after, equal(self.own(name), self.output))
        if not self.in_other:
            leads = conjunction(less(self.output, self.index), equal(name, self.output))
            yield from (implies(leads, equal(value, self.mine)) for value in reals)

    def value(self, name: Term) -> Iterator[Term]:
        """A number may be the furthest rival so far, the chosen value, or how far these lie apart."""
        one = self.own(name)
        yield disjunction(SEEN, equal(name, _other(name)))
        yield implies(less_equal(self.index, self.output), equal(one, self.so_far))
        yield implies(self.after, equal(one, self.mine))
        yield implies(self.seen, self.sense.bounds(self.so_far, one))
        for value in (self.so_far, subtract(self.mine, self.so_far), subtract(self.so_far, self.mine)):
            yield implies(conjunction(self.after, self.seen), equal(one, value))


def _other(symbol: Term) -> Term:
    """A name in the second run."""
    return variable(OTHER + str(symbol.value), symbol.sort)
