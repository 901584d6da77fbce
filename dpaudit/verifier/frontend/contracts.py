"""Specifications as terms: trees over entry values in, a contract out, with what must hold for it to have a meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dpaudit.clauses import Clause
from dpaudit.promise import read_promise
from dpaudit.spec import Spec
from dpaudit.verifier.frontend.clauses import KINDS, express_clause, length, state_clause
from dpaudit.verifier.ir import Change, Contract, ListOf, Parameter, Relation
from dpaudit.verifier.terms import ONE, TRUE, ZERO, Term, conjunction, implies, less_equal


class _Facts:
    """Facts that later parts of a specification may lean on, and what must follow from them."""

    def __init__(self, facts: Iterable[Term]) -> None:
        self.facts = list(facts)
        self.obligations: list[tuple[str, Term]] = []

    def owed(self, kind: str, condition: Term) -> None:
        """Note what must follow from the facts so far."""
        needed = implies(conjunction(*self.facts), condition)
        if needed is not TRUE:
            self.obligations.append((kind, needed))

    def public(self, clause: Clause) -> Term:
        """A term over public scalars and lengths, with its definedness owed."""
        found = express_clause(clause)
        for check in found.checks:
            self.owed("defined", check.condition)
        return found.term


def contract(spec: Spec, parameters: tuple[Parameter, ...]) -> Contract:
    """The specification of a function with these parameters, as terms over their values at entry."""
    promise = read_promise(spec, tuple((one.name, kind_of(one)) for one in parameters))
    facts = _Facts(less_equal(ZERO, length(one.name)) for one in parameters if isinstance(one.sort, ListOf))
    requires = []
    for one in promise.requires:
        clause = facts.public(one.clause)
        facts.facts.append(clause)
        requires.append(clause)
    changes = tuple((name, Change(Relation(relation), facts.public(bound.clause))) for name, relation, bound in promise.changes)
    for _, change in changes:
        facts.owed("bound", less_equal(ZERO, change.bound))
    claim, odds, delta = (facts.public(part) for part in (promise.claim, promise.odds, promise.delta))
    facts.owed("claim", less_equal(ZERO, claim))
    facts.owed("odds", less_equal(ONE, odds))
    facts.owed("delta", less_equal(ZERO, delta))
    return Contract(
        claim=claim,
        odds=odds,
        delta=delta,
        cost=str(spec.cost),
        changes=changes,
        public=tuple(spec.public),
        requires=tuple(requires),
        domain=tuple(state_clause(one.clause) for one in promise.domain),
        obligations=tuple(facts.obligations),
        align=tuple((str(name), str(shift)) for name, shift in dict(spec.align).items()),
        promise=promise,
    )


def kind_of(parameter: Parameter) -> str:
    """The type of a parameter as its annotation writes it."""
    return f"list[{KINDS[parameter.sort.element]}]" if isinstance(parameter.sort, ListOf) else KINDS[parameter.sort]


__all__: Final = ["contract", "kind_of"]
