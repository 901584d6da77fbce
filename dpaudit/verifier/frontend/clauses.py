"""Specifications as terms: the same recursion over the same trees as their values, and the contract that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from dpaudit.clauses import EACH, MODULI, Clause, Kind, Scope, Unread, read_clause, reads
from dpaudit.errors import Unsupported
from dpaudit.promise import read_promise
from dpaudit.spec import Spec
from dpaudit.verifier.frontend.refusals import OutsideSubset
from dpaudit.verifier.ir import Change, Check, Contract, ListOf, Parameter, Place, Relation
from dpaudit.verifier.terms import (
    ONE,
    TRUE,
    ZERO,
    Sort,
    Term,
    absolute,
    add,
    apply,
    choose,
    conjunction,
    constant,
    disjunction,
    divide,
    equal,
    implies,
    largest,
    least,
    length,
    less,
    less_equal,
    multiply,
    negation,
    negative,
    quotient,
    remainder,
    subtract,
    variable,
)

SORTS: Final[Mapping[Kind, Sort]] = {"int": Sort.INT, "Fraction": Sort.REAL, "bool": Sort.BOOL}
KINDS: Final[Mapping[Sort, Kind]] = {sort: kind for kind, sort in SORTS.items()}

CONSTRUCTORS: Final[Mapping[str, Callable[..., Term]]] = {
    "neg": negative,
    "real": lambda number: multiply(constant(1, Sort.REAL), number),
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": quotient,
    "%": remainder,
    "abs": absolute,
    "min": least,
    "max": largest,
    "<": less,
    "<=": less_equal,
    ">": lambda left, right: less(right, left),
    ">=": lambda left, right: less_equal(right, left),
    "==": equal,
    "!=": lambda left, right: negation(equal(left, right)),
    "not": negation,
}
"""The constructor of each operation of `dpaudit.clauses.OPERATIONS`; the readers of programs use it too."""


@dataclass(frozen=True)
class Expression:
    """A text of the expression language as a term.

    Args:
      term: its value, over variables of the symbols' names.
      checks: what makes it defined, in the order of evaluation, each where Python evaluates it.
    Source: docs/verification.md, "What the verifier reads".
    Example:
      >>> from dpaudit.verifier.frontend import expression
      >>> from dpaudit.verifier.terms import Sort
      >>> expression("1 / x", {"x": Sort.REAL}, {}).checks[0].kind
      'divisor'
    """

    term: Term
    checks: tuple[Check, ...]


def expression(text: str, symbols: Mapping[str, Sort], lists: Mapping[str, Sort]) -> Expression:
    """Read a text of the expression language.

    Args:
      text: a Python expression; `1/3` and `1e-6` are read exactly, `ghost.k` is the symbol of that name.
      symbols: the scalars that it may speak of, with their sorts.
      lists: the lists that it may speak of, with the sorts of their elements.
    Returns:
      The term, over variables of the symbols' names, and the checks that make it defined.
    Raises:
      OutsideSubset: what the expression language does not have (DPA701 to DPA706).
    Source: docs/verification.md, "What the verifier reads".
    Example:
      >>> expression("2 * x if x > 1/3 else 0", {"x": Sort.REAL}, {}).term
      ((2 * x) if (1/3 < x) else 0)
    """
    scope = Scope({name: KINDS[sort] for name, sort in symbols.items()}, {name: KINDS[sort] for name, sort in lists.items()})
    try:
        return express_clause(read_clause(text, scope))
    except Unread as error:
        raise OutsideSubset(error.code, Place(1, error.column), error.construct, error.hint) from error


def express_clause(clause: Clause) -> Expression:
    """The term of a tree, and what makes it defined."""
    reading = _Reading()
    found = reading.term(clause)
    return Expression(found, tuple(reading.checks))


def state_clause(clause: Clause) -> Term:
    """The statement of a clause about data at one place: if every element that its text names exists, it is defined and true.

    Elements that its text names count also where their values do not, as `dpaudit.clauses.holds` counts them.
    """
    inside: list[Term] = []
    for read in reads(clause):
        index = express_clause(read.args[0])
        inside += [check.condition for check in index.checks]
        inside += _inside(str(read.value), index.term)
    found = express_clause(clause)
    # Inside operands that Python skips, divisors are not evaluated; that reads are inside is known here already.
    defined = [check.condition for check in found.checks if check.kind != "index"]
    return implies(conjunction(*inside), conjunction(*defined, found.term))


def _inside(name: str, index: Term) -> tuple[Term, Term]:
    """That a place is one of a list."""
    return less_equal(ZERO, index), less(index, length(name))


@dataclass
class _Reading:
    """The checks so far, and the conditions under which Python evaluates what is read now."""

    checks: list[Check] = field(default_factory=list)
    guards: list[Term] = field(default_factory=list)

    def term(self, clause: Clause) -> Term:  # noqa: C901, PLR0911 - one case a construct
        """The term of a tree."""
        match clause.op:
            case "number":
                return constant(clause.value, SORTS[clause.kind])
            case "name":
                return variable(str(clause.value), SORTS[clause.kind])
            case "each":
                return variable(EACH, Sort.INT)
            case "len":
                return length(str(clause.value))
            case "and" | "or":
                return self._connected(clause)
            case "if":
                return self._chosen(clause)
        parts = [self.term(part) for part in clause.args]
        if clause.op == "read":
            self._check(clause, "index", conjunction(*_inside(str(clause.value), parts[0])))
            return apply(str(clause.value), (parts[0],), SORTS[clause.kind])
        if clause.op == "**":
            return multiply(constant(1, parts[0].sort), *parts * clause.value)
        if clause.op in MODULI:
            self._check(clause, "modulus", less_equal(ONE, parts[1]))
        elif clause.op == "/":
            self._check(clause, "divisor", negation(equal(parts[1], ZERO)))
        return CONSTRUCTORS[clause.op](*parts)

    def _connected(self, clause: Clause) -> Term:
        """A conjunction or disjunction; each operand is evaluated where those before do not decide."""
        both = clause.op == "and"
        found = self.term(clause.args[0])
        for part in clause.args[1:]:
            with self._under(found if both else negation(found)):
                operand = self.term(part)
            found = conjunction(found, operand) if both else disjunction(found, operand)
        return found

    def _chosen(self, clause: Clause) -> Term:
        """A conditional expression."""
        test, then, otherwise = clause.args
        condition = self.term(test)
        with self._under(condition):
            one = self.term(then)
        with self._under(negation(condition)):
            other = self.term(otherwise)
        return choose(condition, one, other)

    def _check(self, clause: Clause, kind: str, condition: Term) -> None:
        """Note what must hold here; what holds anyway is not noted."""
        needed = implies(conjunction(*self.guards), condition)
        if needed is not TRUE:
            self.checks.append(Check(Place(1, clause.column), kind, needed))

    @contextmanager
    def _under(self, condition: Term) -> Iterator[None]:
        """Read something that Python evaluates only where the condition holds."""
        self.guards.append(condition)
        try:
            yield
        finally:
            self.guards.pop()


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
    for name, relation, _ in promise.changes:
        if relation not in Relation._value2member_map_:
            raise Unsupported(
                "DPA723", f"neighbours differ in records of {name}: use `dpaudit.verify`, which reads lists of records."
            )
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
