"""From a formula to clauses over literals, each a truth value or a comparison of a polynomial with 0.

Literals are numbers from 1 on, negated by their sign. Choices between numbers, list elements and quotients become variables that
are named by the canonical polynomials of their arguments; of quotients only the guarded axioms are known. A variable is a whole
number where the sort of its term says so, and nothing else can make it one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpaudit.verifier.kernel.polynomials import UNIT, Polynomial, Row, plus, polynomial_key, tighten, times
from dpaudit.verifier.terms import Op, Sort, Term, negation, subterms


def conjuncts(obligation: Term) -> list[Term]:
    """Formulas that hold together just where the obligation does not hold."""
    found: list[Term] = []
    stack = [negation(obligation)]
    while stack:
        term = stack.pop()
        inner = term.args[0] if term.op is Op.NOT else None
        if term.op is Op.AND:
            stack += reversed(term.args)
        elif inner is not None and inner.op is Op.OR:
            stack += [negation(argument) for argument in reversed(inner.args)]
        else:
            found.append(term)
    return found


class Clauses:
    """Clauses that can be satisfied where the formulas can hold together, with what their literals and variables mean."""

    def __init__(self, formulas: Sequence[Term]) -> None:
        """The clauses of formulas that are all to hold."""
        self.integer: list[bool] = []
        self.atoms: list[Row | None] = []
        self.clauses: list[tuple[int, ...]] = []
        self._variables: dict[Any, int] = {}
        self._literals: dict[Any, int] = {}
        self._meanings: dict[Term, Any] = {}
        self._applied: dict[int, tuple[Any, Sort, list[Polynomial]]] = {}
        # A disjunction is a clause already.
        clauses = [formula.args if formula.op is Op.OR else (formula,) for formula in formulas]
        for term in subterms(*(part for parts in clauses for part in parts)):
            args = [self._meanings[argument] for argument in term.args]
            self._meanings[term] = self._truth(term, args) if term.sort is Sort.BOOL else self._number(term, args)
        self.clauses += [tuple(self._meanings[part] for part in parts) for parts in clauses]

    def compared(self, relation: str, polynomial: Polynomial) -> int:
        """The literal of a comparison with 0."""
        row = tighten(relation, polynomial, self.integer)
        if isinstance(row, bool):
            return self._constant() if row else -self._constant()
        relation, polynomial = row
        if polynomial[max(polynomial)] < 0:
            opposite = {monomial: -coefficient for monomial, coefficient in polynomial.items()}
            if relation != "=":
                # p <= 0 is the negation of -p < 0, and p < 0 that of -p <= 0.
                return -self.compared("<" if relation == "<=" else "<=", opposite)
            polynomial = opposite
        return self._literal((relation, polynomial_key(polynomial)), (relation, polynomial))

    def pairs(self) -> list[tuple[int, int]]:
        """The variables, two and two, that are values of one function at other arguments."""
        return [(one, other) for one in self._applied for other in self._applied if one < other and self._is_alike(one, other)]

    def quotients(self) -> list[int]:
        """The variables that are quotients of whole numbers."""
        return [place for (key, _), place in self._variables.items() if isinstance(key, tuple) and key[0] == "//"]

    def congruent(self, one: int, other: int) -> bool:
        """Add that a function has one value at equal arguments; False where these variables are not values of one function."""
        if not self._is_alike(one, other):
            return False
        differences = [
            plus(first, second, -1) for first, second in zip(self._applied[one][2], self._applied[other][2], strict=True)
        ]
        differences.append({(one,): Fraction(1), (other,): Fraction(-1)})
        for difference in differences:
            self.clauses.append((self.compared("=", difference), self.compared("<", difference), -self.compared("<=", difference)))
        *same, values = (self.compared("=", difference) for difference in differences)
        self.clauses.append((*(-literal for literal in same), values))
        return True

    def _is_alike(self, one: int, other: int) -> bool:
        """True if two variables are values of one function of numbers."""
        if one == other or one not in self._applied or other not in self._applied:
            return False
        (name, sort, args), (name_2, sort_2, args_2) = self._applied[one], self._applied[other]
        return name == name_2 and sort is sort_2 and len(args) == len(args_2)

    def row(self, literal: int) -> Row | None:
        """The comparison that holds where the literal does; None for a negated equality, which is not one comparison."""
        atom = self.atoms[abs(literal) - 1]
        if atom is None or literal > 0:
            return atom
        relation, polynomial = atom
        opposite = {monomial: -coefficient for monomial, coefficient in polynomial.items()}
        row = None if relation == "=" else tighten("<" if relation == "<=" else "<=", opposite, self.integer)
        return None if isinstance(row, bool) else row

    def _literal(self, key: Any, atom: Row | None) -> int:
        """The literal of this name, made where it is new."""
        if key not in self._literals:
            self.atoms.append(atom)
            self._literals[key] = len(self.atoms)
        return self._literals[key]

    def _constant(self) -> int:
        """The literal that is true."""
        if "true" not in self._literals:
            self.clauses.append((self._literal("true", None),))
        return self._literals["true"]

    def _variable(self, key: Any, sort: Sort) -> tuple[Polynomial, bool]:
        """The variable of this name and sort, and whether it is new."""
        name = (key, sort)
        fresh = name not in self._variables
        if fresh:
            self._variables[name] = len(self.integer)
            self.integer.append(sort is Sort.INT)
        return {(self._variables[name],): Fraction(1)}, fresh

    def _truth(self, term: Term, args: list[Any]) -> int:
        """The literal of a truth value by the meanings of its arguments."""
        match term.op:
            case Op.CONSTANT:
                return self._constant() if term.value is True else -self._constant()
            case Op.NOT:
                return -int(args[0])
            case Op.AND:
                return self._all(args)
            case Op.OR:
                return -self._all([-argument for argument in args])
            case Op.EQUAL if term.args[0].sort is Sort.BOOL:
                return self._same(*args)
            case Op.LESS_EQUAL | Op.LESS | Op.EQUAL:
                difference = plus(args[0], args[1], -1)
                literal = self.compared("=" if term.op is Op.EQUAL else term.op.value, difference)
                if term.op is Op.EQUAL:
                    self.clauses.append((literal, self.compared("<", difference), -self.compared("<=", difference)))
                return literal
            case Op.VARIABLE | Op.APPLY:
                return self._literal((term.op, term.value, self._names(term, args)), None)
        raise TypeError(term.op)

    def _all(self, literals: Sequence[int]) -> int:
        """The literal that all of the literals hold."""
        gate = self._literal(("and", tuple(literals)), None)
        self.clauses += [(-gate, literal) for literal in literals]
        self.clauses.append((gate, *(-literal for literal in literals)))
        return gate

    def _same(self, first: int, second: int) -> int:
        """The literal that two literals are equally true."""
        gate = self._literal(("same", first, second), None)
        self.clauses += [(-gate, -first, second), (-gate, first, -second), (gate, first, second), (gate, -first, -second)]
        return gate

    def _number(self, term: Term, args: list[Any]) -> Polynomial:
        """The polynomial of a number by the meanings of its arguments."""
        match term.op:
            case Op.CONSTANT:
                return plus({}, UNIT, Fraction(term.value or 0))
            case Op.ADD | Op.MULTIPLY:
                total: Polynomial = {} if term.op is Op.ADD else UNIT
                for argument in args:
                    total = plus(total, argument) if term.op is Op.ADD else times(total, argument)
                return total
            case Op.QUOTIENT | Op.REMAINDER:
                return self._division(*args)[term.op is Op.REMAINDER]
            case Op.VARIABLE | Op.APPLY | Op.DIVIDE | Op.CHOOSE:
                value, fresh = self._variable((term.op, term.value, self._names(term, args)), term.sort)
                if fresh and term.op is Op.APPLY and all(argument.sort is not Sort.BOOL for argument in term.args):
                    self._applied[len(self.integer) - 1] = term.value, term.sort, args
                if fresh and term.op is Op.CHOOSE:
                    test, then, otherwise = args
                    self.clauses.append((-test, self.compared("=", plus(value, then, -1))))
                    self.clauses.append((test, self.compared("=", plus(value, otherwise, -1))))
                if fresh and term.op is Op.DIVIDE:
                    product = plus(times(args[1], value), args[0], -1)
                    self.clauses.append((self.compared("=", args[1]), self.compared("=", product)))
                return value
        raise TypeError(term.op)

    def _division(self, first: Polynomial, second: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and remainder of integers, of which something is known where the divisor is at least 1."""
        quotient, fresh = self._variable(("//", polynomial_key(first), polynomial_key(second)), Sort.INT)
        remainder, _ = self._variable(("%", polynomial_key(first), polynomial_key(second)), Sort.INT)
        if fresh:
            undefined = self.compared("<=", second)
            whole = plus(plus(times(second, quotient), remainder), first, -1)
            self.clauses.append((undefined, self.compared("=", whole)))
            self.clauses.append((undefined, -self.compared("<", remainder)))
            self.clauses.append((undefined, self.compared("<", plus(remainder, second, -1))))
        return quotient, remainder

    @staticmethod
    def _names(term: Term, args: list[Any]) -> tuple[Any, ...]:
        """A key that equal arguments share, and only they."""
        pairs = zip(term.args, args, strict=True)
        return tuple((argument.sort, value if argument.sort is Sort.BOOL else polynomial_key(value)) for argument, value in pairs)
