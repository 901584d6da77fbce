"""A certificate by search: hypotheses that suffice, and a lemma for each assignment of truth values that arithmetic excludes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any, Final, TypeAlias

from dpaudit.extras import require
from dpaudit.verifier.certify import multipliers
from dpaudit.verifier.certify.propositions import Propositions, tree
from dpaudit.verifier.certify.relaxations import Relaxation
from dpaudit.verifier.fuel import OutOfFuel, spend, time_limit
from dpaudit.verifier.kernel.clauses import Clauses, conjuncts
from dpaudit.verifier.kernel.polynomials import UNIT, Monomial, Polynomial, Row, plus, polynomial_key
from dpaudit.verifier.terms import Term

_PATIENCE: Final = 2.0
"""Seconds for one question to z3."""
_MOST_SPLITS: Final = 40
"""The most integer splits in one certificate."""
_MOST_PAIRS: Final = 60
"""The most values of functions that are compared, two and two."""
_MOST_NODES: Final = 4000
"""The most cases of one certificate."""


Known: TypeAlias = dict[Any, dict[str, Any]]
"""What was found, by clauses and what their literals mean: obligations that differ in names alone share it."""


class _GivenUp(Exception):
    """No certificate was found."""


def certificate(obligation: Term, *, seconds: float = 20.0, known: Known | None = None) -> dict[str, Any] | None:
    """Search with z3 for a certificate by which the kernel accepts an obligation.

    Args:
      obligation: a truth-valued term that should hold for all values.
      seconds: processor time after which to give up, above 0.
      known: what earlier searches found, to which this one adds; none by default.
    Returns:
      A certificate, of plain lists, integers and texts; None where none was found, which says nothing of the obligation.
    Raises:
      IllSorted: the term is a number.
      OutOfFuel: the limit around this search is reached.
    Source: Farkas 1902; Krivine 1964 and Stengle 1974; Nieuwenhuis, Oliveras, Tinelli 2006 for lemmas from a theory.
    Example:
      >>> from dpaudit.verifier.terms import Sort, constant, implies, less_equal, variable
      >>> x = variable("x", Sort.INT)
      >>> certificate(implies(less_equal(constant(2), x), less_equal(constant(1), x)))
      {'keep': [0, 1], 'atoms': [], 'lemmas': [[[2, -1], [['1', [0]], ['1', [1]]]]], 'tree': [0]}
    """
    require("proofs")
    import z3  # type: ignore[import-untyped]

    parts = conjuncts(obligation)
    # A context of its own lets the same question be answered in the same way.
    context = z3.Context()
    try:
        with time_limit(seconds):
            for congruent in (False, True):
                kept = _sufficient(parts, seconds, context, congruent=congruent)
                if kept is not None:
                    problem = Clauses([parts[index] for index in kept])
                    pairs = [list(pair) for pair in problem.pairs()] if congruent else []
                    for one, other in pairs:
                        problem.congruent(one, other)
                    key, known = _key(problem), {} if known is None else known
                    if key not in known:
                        search = _Search(problem, context)
                        search.close()
                        known[key] = {"atoms": search.atoms, **search.proof()}
                    return {"keep": kept, **({"pairs": pairs} if pairs else {}), **known[key]}
            return None
    except _GivenUp:
        return None
    except OutOfFuel:
        # Only this certificate is given up, unless the time of all that it is for is over too.
        spend()
        return None


def _key(problem: Clauses) -> Any:
    """All that the search for a certificate looks at."""
    rows = tuple(row and (row[0], polynomial_key(row[1])) for row in problem.atoms)
    return tuple(problem.integer), rows, tuple(problem.clauses), tuple(problem.quotients())


def _sufficient(parts: Sequence[Term], seconds: float, context: Any, *, congruent: bool) -> list[int] | None:
    """The places of formulas that cannot hold together, as few as z3 says, under the weakest reading under which they cannot."""
    problem = Clauses(parts)
    tops, every = len(problem.clauses) - len(parts), len(problem.clauses)
    pairs = problem.pairs() if congruent else []
    if congruent and not 0 < len(pairs) <= _MOST_PAIRS:
        return None
    for one, other in pairs:
        problem.congruent(one, other)
    for kind in ("linear", "integer", "products"):
        relaxation = Relaxation(problem, kind, min(seconds, 2 * _PATIENCE), context)
        relaxation.extend(problem.clauses[:tops] + problem.clauses[every:], problem.clauses[tops:every])
        core = relaxation.core([f"t{index}" for index in range(len(parts))])
        if core is not None:
            return sorted(int(name[1:]) for name in core)
    return None


class _Search:
    """The lemmas that leave no case open."""

    def __init__(self, problem: Clauses, context: Any) -> None:
        """A search that has found nothing yet."""
        self.atoms: list[Any] = []
        self._problem = problem
        self._context = context
        self._clauses = list(problem.clauses)
        self._lemmas: list[Any] = []
        self._rows: dict[int, Row | None] = {}
        self._propositions = Propositions(self._clauses, context)
        self._linear = Relaxation(problem, "linear", _PATIENCE, context)
        self._products: Relaxation | None = None

    def close(self) -> None:
        """Find lemmas until no assignment is left: each excludes one by which every clause holds."""
        comparisons = {number for number, row in enumerate(self._problem.atoms, 1) if row is not None}
        while (literals := self._propositions.open_case(comparisons)) is not None:
            spend()
            if not self._excluded(self._linear, literals) and not self._multiplied(literals):
                comparisons.add(abs(self._split()))

    def proof(self) -> dict[str, Any]:
        """The lemmas that are needed, and the cases that they close."""
        needed = self._propositions.needed()
        lemmas = [] if needed is None else [self._lemmas[place] for place in needed]
        found = tree(self._clauses, [tuple(-literal for literal in literals) for literals, _ in lemmas], _MOST_NODES)
        if found is None:
            raise _GivenUp
        return {"lemmas": lemmas, "tree": found}

    def _excluded(self, relaxation: Relaxation, literals: Sequence[int]) -> bool:
        """True if some of the literals cannot hold together, with a lemma that says so."""
        comparisons = [literal for literal in literals if self._row(literal) is not None]
        core = relaxation.conflict(comparisons)
        if core is None:
            return False
        rows = [row for literal in core if (row := self._row(literal)) is not None]
        look = multipliers.linear if relaxation is self._linear else multipliers.with_products
        terms = look(rows, _PATIENCE, self._context)
        if terms is None and look is multipliers.with_products and len(core) < len(comparisons):
            # A least core need not have the rows whose products are simple.
            core, rows = comparisons, [row for literal in comparisons if (row := self._row(literal)) is not None]
            terms = look(rows, _PATIENCE, self._context)
        if terms is None:
            return False
        used = sorted({place for _, places, *_ in terms for place in places})
        if look is multipliers.linear and len(used) < len(core):
            core = [core[place] for place in used]
            terms = look([rows[place] for place in used], _PATIENCE, self._context)
        self._lemmas.append([core, terms])
        self._propositions.add(tuple(-literal for literal in core), lemma=True)
        return True

    def _row(self, literal: int) -> Row | None:
        """The comparison that holds where a literal does, made once."""
        if literal not in self._rows:
            self._rows[literal] = self._problem.row(literal)
        return self._rows[literal]

    def _multiplied(self, literals: Sequence[int]) -> bool:
        """True if products of rows exclude the literals, with a lemma that says so."""
        rows = [row for literal in literals if (row := self._row(literal)) is not None]
        if all(len(monomial) < 2 for _, polynomial in rows for monomial in polynomial):
            return False
        if self._products is None:
            self._products = Relaxation(self._problem, "products", _PATIENCE, self._context)
        return self._excluded(self._products, literals)

    def _split(self) -> int:
        """The literal of a new comparison by which an integer is below or above a value that it cannot have."""
        values = self._linear.values()
        if len(self.atoms) >= _MOST_SPLITS:
            raise _GivenUp
        for part, value in (
            *self._apart(values),
            *(({monomial: Fraction(1)}, value) for monomial, value in sorted(values.items())),
        ):
            if value.denominator > 1 and all(self._problem.integer[index] for monomial in part for index in monomial):
                below: Polynomial = plus(part, UNIT, -floor(value))
                self.atoms.append(multipliers.polynomial_rows(below))
                literal = self._problem.compared("<=", below)
                self._linear.extend()
                self._products = None
                # Each assignment says on which side the integer is.
                self._propositions.add((literal, -literal))
                return literal
        raise _GivenUp

    def _apart(self, values: Mapping[Monomial, Fraction]) -> Iterator[tuple[Polynomial, Fraction]]:
        """Differences of quotients: where what is divided is equal they are 0, however large each may be."""
        found = [(index,) for index in self._problem.quotients() if (index,) in values]
        for place, one in enumerate(found):
            for other in found[place + 1 :]:
                yield {one: Fraction(1), other: Fraction(-1)}, values[one] - values[other]
