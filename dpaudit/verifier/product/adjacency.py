"""Neighbouring data: the second run's q[i] in terms of the first's, and the facts that adjacency gives about their difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from dpaudit.clauses import EACH
from dpaudit.verifier.ir import Contract, ListOf, Program, Relation, contract_of
from dpaudit.verifier.terms import (
    ONE,
    ZERO,
    Op,
    Sort,
    Term,
    absolute,
    add,
    apply,
    choose,
    conjunction,
    constant,
    equal,
    implies,
    length,
    less,
    less_equal,
    multiply,
    negative,
    substitute,
    subterms,
    variable,
    variables,
)

GHOST: Final = "ghost."
"""The prefix of names that no program can have: where neighbours differ, by how much, and which output is looked at."""

Read = Callable[[str, Term], Term]


@dataclass(frozen=True)
class Neighbours:
    """Ordered pairs of neighbouring data, as the contract says or the other way round."""

    contract: Contract
    elements: tuple[tuple[str, Sort], ...]  # sort of the elements of each list
    reverse: bool = False  # whether the pairs are taken the other way round, which matters where a list may only grow or only fall

    def ghost(self, letter: str, name: str) -> str:
        """The name of a ghost of a list; short where one list is private only."""
        return f"{GHOST}{letter}" if len(self.contract.changes) == 1 else f"{GHOST}{letter}_{name}"

    def relation(self, name: str) -> Relation | None:
        """The relation of a list in this direction; None for a public one."""
        found = dict(self.contract.changes).get(name)
        if found is None:
            return None
        return _REVERSED.get(found.relation, found.relation) if self.reverse else found.relation

    def bound(self, name: str) -> Term:
        """The bound on the change of a private list."""
        return dict(self.contract.changes)[name].bound

    def change(self, name: str, index: Term) -> Term:
        """The amount added to an element in the second run."""
        sort = dict(self.elements)[name]
        relation = self.relation(name)
        if relation is None:
            return ZERO
        if relation is Relation.ONE:
            return choose(equal(index, self.position(name)), variable(self.ghost("d", name), sort), constant(0, sort))
        return apply(self.ghost("d", name), (index,), sort)

    def position(self, name: str) -> Term:
        """The one index at which a list differs; any integer, also one that is no index."""
        return variable(self.ghost("k", name), Sort.INT)

    def spent(self, name: str, index: Term) -> Term:
        """The sum of the changes before an index, in size or squared."""
        return apply(self.ghost("s", name), (index,), Sort.REAL)

    def read(self, run: int, name: str, index: Term) -> Term:
        """An element of a list in run 1 or 2."""
        value = apply(name, (index,), dict(self.elements)[name])
        return value if run == 1 or self.relation(name) is None else add(value, self.change(name, index))

    def at_entry(self) -> Iterator[Term]:
        """Facts that speak of no index in particular."""
        for name, _ in self.elements:
            yield less_equal(ZERO, length(name))
        yield from self.contract.requires
        for name, change in self.contract.changes:
            relation = self.relation(name)
            if relation is Relation.ONE:
                yield less_equal(absolute(variable(self.ghost("d", name), dict(self.elements)[name])), change.bound)
            elif relation in _SUMS:
                total = multiply(change.bound, change.bound) if relation is Relation.L2 else change.bound
                yield equal(self.spent(name, ZERO), ZERO)
                yield less_equal(self.spent(name, length(name)), total)
        for clause in self.contract.domain:
            if variable(EACH, Sort.INT) not in variables(clause):
                yield self.moved(clause, 1)
                yield self.moved(clause, 2)

    def at(self, name: str, index: Term) -> Iterator[Term]:
        """Facts about one index of a list that is read there."""
        relation = self.relation(name)
        if relation in _RANGES:
            change, bound = self.change(name, index), self.bound(name)
            yield less_equal(change, ZERO if relation is Relation.DEC else bound)
            yield less_equal(ZERO if relation is Relation.INC else negative(bound), change)
        elif relation in _SUMS:
            yield from self._sum_at(name, index)
        each = variable(EACH, Sort.INT)
        for clause in self.contract.domain:
            if each in variables(clause):
                for run in (1, 2):
                    yield self.moved(substitute(clause, {each: index}), run)

    def _sum_at(self, name: str, index: Term) -> Iterator[Term]:
        """One step of the sum over changes, which has a meaning inside the list only."""
        change, end = self.change(name, index), length(name)
        size = multiply(change, change) if self.relation(name) is Relation.L2 else absolute(change)
        before, after = self.spent(name, index), self.spent(name, add(index, ONE))
        step = conjunction(equal(after, add(before, size)), less_equal(ZERO, before), less_equal(after, self.spent(name, end)))
        yield implies(conjunction(less_equal(ZERO, index), less(index, end)), step)

    def moved(self, term: Term, run: int) -> Term:
        """A term over entry values as run 1 or 2 sees it."""
        return substitute_run_terms(term, {}, lambda name, index: self.read(run, name, index))


def neighbours(program: Program, *, reverse: bool = False) -> Neighbours:
    """The pairs that a program's contract speaks of."""
    elements = tuple((one.name, one.sort.element) for one in program.parameters if isinstance(one.sort, ListOf))
    return Neighbours(contract_of(program), elements, reverse)


def directions(program: Program) -> tuple[Neighbours, ...]:
    """The pairs, and the reversed pairs where those are others."""
    first = neighbours(program)
    directed = any(change.relation in _REVERSED for _, change in first.contract.changes)
    return (first, replace(first, reverse=True)) if directed else (first,)


def substitute_run_terms(term: Term, names: dict[Term, Term], read: Read) -> Term:
    """A term of the program with its variables and elements replaced at once."""
    mapping = dict(names)
    for part in subterms(term):
        if part.op is Op.APPLY:
            mapping[part] = read(str(part.value), substitute(part.args[0], mapping))
    return substitute(term, mapping)


_REVERSED: Final = {Relation.INC: Relation.DEC, Relation.DEC: Relation.INC}
_RANGES: Final = (Relation.ALL, Relation.INC, Relation.DEC)
_SUMS: Final = (Relation.L1, Relation.L2)
