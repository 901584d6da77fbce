"""Checks that a certificate shows an obligation: lemmas by exact arithmetic, then a tree of cases closed by unit propagation.

A certificate is `{"keep", "atoms", "lemmas", "tree"}`. `keep` lists the conjuncts of the negated obligation that are used; `pairs`,
which may be left out, are variables that are values of one function, so that they are equal where its arguments are. `atoms` are
polynomials p whose comparison `p <= 0` is a literal too. A lemma is a list of literals that cannot hold together, with terms
`[multiplier, rows]` or `[multiplier, rows, square]` that add up to a contradiction. `tree` lists the nodes as they are met: 0 for a
closed one, else the literal that is assumed first and denied then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.kernel.clauses import Clauses, conjuncts
from dpaudit.verifier.kernel.polynomials import Polynomial, Row, plus, times
from dpaudit.verifier.kernel.reading import KernelRejects, index, items, number, polynomial
from dpaudit.verifier.terms import Sort, Term

MOST_FACTORS: Final = 4
"""The most rows that are multiplied."""
_FIELDS: Final = {"keep", "atoms", "lemmas", "tree"}


def check(obligation: Term, certificate: Mapping[str, Any]) -> None:
    """Accept a certificate that an obligation holds for all values of its variables and functions.

    Args:
      obligation: a truth-valued term, made again from the source.
      certificate: what `read` gives; nothing in it is believed.
    Raises:
      KernelRejects: the certificate does not show the obligation, or is not written as it must be.
    Source: Farkas 1902; Krivine 1964 and Stengle 1974 for products and squares.
    Example:
      >>> from dpaudit.verifier.terms import Sort, constant, implies, less_equal, variable
      >>> x = variable("x", Sort.INT)
      >>> obligation = implies(less_equal(constant(2), x), less_equal(constant(1), x))
      >>> check(obligation, {"keep": [0, 1], "atoms": [], "lemmas": [[[-1, 2], [["1", [0]], ["1", [1]]]]], "tree": [0]})
    """
    if obligation.sort is not Sort.BOOL:
        raise KernelRejects("an obligation must be a truth value")
    if type(certificate) is not dict or set(certificate) - {"pairs"} != _FIELDS:
        raise KernelRejects("a certificate must have exactly the fields keep, atoms, lemmas and tree, and may have pairs")
    parts = conjuncts(obligation)
    problem = Clauses([parts[index(kept, len(parts))] for kept in items(certificate["keep"])])
    for pair in items(certificate.get("pairs", [])):
        if not problem.congruent(*(index(place, len(problem.integer)) for place in items(pair, range(2, 3)))):
            raise KernelRejects("a pair is not of two values of one function")
    for atom in items(certificate["atoms"]):
        problem.compared("<=", polynomial(atom, len(problem.integer)))
    for lemma in items(certificate["lemmas"]):
        problem.clauses.append(_lemma(problem, lemma))
    walk(problem.clauses, len(problem.atoms), items(certificate["tree"]))


def _lemma(problem: Clauses, lemma: Any) -> tuple[int, ...]:
    """The clause that a lemma shows."""
    written, terms = items(lemma, range(2, 3))
    literals = [index(literal, len(problem.atoms) + 1, -len(problem.atoms)) for literal in items(written)]
    if 0 in literals:
        raise KernelRejects("0 is not a literal")
    rows = [row for literal in literals if (row := problem.row(literal)) is not None]
    if len(rows) < len(literals):
        raise KernelRejects("a literal of a lemma is not a comparison")
    total: Polynomial = {}
    strict = False
    for term in items(terms):
        part, nonzero = _term(items(term, range(2, 4)), rows, len(problem.integer))
        total, strict = plus(total, part), strict or nonzero
    # Only the constant may be left, which is the empty monomial.
    if any(total) or not (total.get((), 0) > 0 or (not total and strict)):
        raise KernelRejects("a lemma does not add up to a contradiction")
    return tuple(-literal for literal in literals)


def _term(term: Sequence[Any], rows: Sequence[Row], variables: int) -> tuple[Polynomial, bool]:
    """A polynomial that is at most 0 where the rows hold, and whether it is below 0.

    With rows r <= 0 the product of all -r and of a square is at least 0. An equality makes it 0, with any multiplier.
    """
    factors = [rows[index(factor, len(rows))] for factor in items(term[1], range(MOST_FACTORS + 1))]
    free = any(relation == "=" for relation, _ in factors)
    multiplier: Polynomial = polynomial(term[0], variables) if free and type(term[0]) is list else {(): number(term[0])}
    if not free and multiplier[()] < 0:
        raise KernelRejects("a negative multiplier")
    product: Polynomial = {(): Fraction(-1)}
    for _, factor in factors:
        product = plus({}, times(product, factor), -1)
    squares = [polynomial(square, variables) for square in term[2:]]
    for square in squares:
        product = times(product, times(square, square))
    strict = bool(factors) and not squares and all(relation == "<" for relation, _ in factors)
    return times(product, multiplier), strict and multiplier[()] > 0


def walk(clauses: Sequence[tuple[int, ...]], atoms: int, tree: Sequence[Any]) -> None:
    """Accept a tree of cases in each of which unit propagation finds a clause that fails."""
    cases = Cases(clauses)
    closed = not cases.assume([])
    others: list[tuple[int, int]] = []
    place = 0
    while True:
        if place == len(tree):
            raise KernelRejects("the tree ends too early")
        node = index(tree[place], atoms + 1, -atoms)
        place += 1
        if node:
            others.append((len(cases.trail), -node))
            closed = closed or not cases.assume([node])
        elif not closed:
            raise KernelRejects("a case is left open")
        elif not others:
            break
        else:
            length, other = others.pop()
            cases.forget(length)
            closed = not cases.assume([other])
    if place < len(tree):
        raise KernelRejects("the tree goes on after its end")


class Cases:
    """Literals that hold in one case, with what follows from them clause by clause."""

    def __init__(self, clauses: Sequence[tuple[int, ...]]) -> None:
        """No literal holds yet; clauses of one literal wait for the first assumption."""
        self.trail: list[int] = []
        self._waiting = [clause[0] for clause in clauses if len(clause) == 1]
        self._true: set[int] = set()
        self._clauses: dict[int, list[tuple[int, ...]]] = {}
        for clause in clauses:
            for literal in set(clause):
                self._clauses.setdefault(-literal, []).append(clause)

    def assume(self, literals: list[int]) -> bool:
        """Add literals and all that follows; False where a clause fails."""
        literals, self._waiting = literals + self._waiting, []
        while literals:
            literal = literals.pop()
            if -literal in self._true:
                return False
            if literal in self._true:
                continue
            self._true.add(literal)
            self.trail.append(literal)
            for clause in self._clauses.get(literal, ()):
                if self._true.isdisjoint(clause):
                    open_ones = [one for one in dict.fromkeys(clause) if -one not in self._true]
                    if not open_ones:
                        return False
                    if len(open_ones) == 1:
                        literals.append(open_ones[0])
        return True

    def forget(self, length: int) -> None:
        """Only the first literals hold."""
        self._true.difference_update(self.trail[length:])
        del self.trail[length:]
