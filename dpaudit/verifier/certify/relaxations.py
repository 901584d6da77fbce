"""The kernel's clauses as questions to z3: products of variables become unknowns of their own, integers may be real."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from dpaudit.extras import require
from dpaudit.verifier.fuel import interruptible
from dpaudit.verifier.kernel.clauses import Clauses
from dpaudit.verifier.kernel.polynomials import Monomial, Polynomial, Row
from dpaudit.verifier.solving.limits import limit_z3

Kind: TypeAlias = Literal["linear", "integer", "products"]


class Relaxation:
    """Literals of a problem with what they mean in linear arithmetic, over integers, or with products; never evidence."""

    def __init__(self, problem: Clauses, kind: Kind, seconds: float, context: Any) -> None:
        """The meanings of all literals that the problem has, each behind the truth value of its atom, in a z3 context."""
        require("proofs")
        import z3  # type: ignore[import-untyped]

        self._z3 = z3
        self._problem = problem
        self._kind = kind
        self._context = context
        self._seconds = seconds
        self._solver = z3.Solver(ctx=self._context)
        limit_z3(self._solver, seconds)
        # Multipliers show which rows of a core are needed, at less than what z3 takes to minimize it.
        self._solver.set("core.minimize", kind != "linear")
        self._monomials: dict[Monomial, str] = {}
        self._truths: dict[str, Any] = {}
        self._declared: list[str] = []
        self._atoms = 0
        self.extend()

    def extend(self, clauses: Sequence[tuple[int, ...]] = (), tracked: Sequence[tuple[int, ...]] = ()) -> None:
        """Add atoms that are new, clauses, and clauses that hold where `t0`, `t1`, ... do."""
        problem = self._problem
        # The solver remembers what was declared before.
        lines = [f"(declare-const b{number} Bool)" for number in range(self._atoms + 1, len(problem.atoms) + 1)]
        meanings = []
        for number in range(self._atoms + 1, len(problem.atoms) + 1):
            for literal in (number, -number):
                row = problem.row(literal)
                if row is not None:
                    meanings.append(f"(assert (=> {_named(literal)} {self._row(row)}))")
        self._atoms = len(problem.atoms)
        lines += self._declared + meanings
        self._declared.clear()
        lines += [f"(assert {_clause(clause)})" for clause in clauses]
        for index, clause in enumerate(tracked):
            lines.append(f"(declare-const t{index} Bool)(assert (=> t{index} {_clause(clause)}))")
        self._solver.from_string("\n".join(lines))

    def core(self, names: Iterable[str]) -> list[str] | None:
        """Truth values that cannot hold together; None where z3 does not say so.

        Of linear ones z3 leaves out what is superfluous itself; of others they are left out here until time runs out.
        """
        deadline = time.process_time() + self._seconds
        found = self._core(list(names))
        if found is None or self._kind == "linear":
            return found
        for name in list(found):
            if time.process_time() > deadline:
                break
            if len(found) > 1 and (smaller := self._core([other for other in found if other != name])) is not None:
                found = [other for other in found if other in smaller]
        return found

    def conflict(self, literals: Iterable[int]) -> list[int] | None:
        """Literals that cannot hold together, few or none of them superfluous."""
        found = self.core(_named(literal) for literal in literals)
        return None if found is None else [-int(name[6:-1]) if name[0] == "(" else int(name[1:]) for name in found]

    def values(self) -> dict[Monomial, Fraction]:
        """The values of the monomials after a question that was answered by a model; none where z3 broke off without one."""
        values: dict[Monomial, Fraction] = {}
        # z3 5.4 now and then fails an assertion of its own inside `check`. Values only guide the search; the kernel checks its end.
        try:
            model = self._solver.model()
        except self._z3.Z3Exception:
            return values
        for monomial, name in self._monomials.items():
            found = model.eval(self._z3.Real(name, ctx=self._context), model_completion=True)
            if self._z3.is_rational_value(found):
                values[monomial] = Fraction(found.numerator_as_long(), found.denominator_as_long())
        return values

    def _core(self, names: list[str]) -> list[str] | None:
        """Some truth values that cannot hold together."""
        with interruptible(self._context):
            result = self._solver.check(*map(self._truth, names))
        if result != self._z3.unsat:
            return None
        needed = {literal.sexpr() for literal in self._solver.unsat_core()}
        return [name for name in names if name in needed]

    def _truth(self, name: str) -> Any:
        """The z3 literal of a name."""
        if name not in self._truths:
            plain = self._z3.Bool(name[5:-1] if name[0] == "(" else name, ctx=self._context)
            self._truths[name] = self._z3.Not(plain) if name[0] == "(" else plain
        return self._truths[name]

    def _row(self, row: Row) -> str:
        """A comparison with 0 as text."""
        relation, polynomial = row
        whole = self._kind != "linear" and all(self._problem.integer[index] for monomial in polynomial for index in monomial)
        return f"({relation} {self._sum(polynomial, whole=whole)} {'0' if whole else '0.0'})"

    def _sum(self, polynomial: Polynomial, *, whole: bool) -> str:
        """A polynomial as text."""
        products = ((coefficient, self._product(monomial, whole=whole)) for monomial, coefficient in polynomial.items())
        parts = [_scaled(coefficient, factors, whole=whole) for coefficient, factors in products]
        return f"(+ {' '.join(parts)} {'0' if whole else '0.0'})"

    def _product(self, monomial: Monomial, *, whole: bool) -> list[str]:
        """A monomial as factors."""
        if not monomial:
            return []
        if self._kind == "products" and len(monomial) > 1:
            return [factor for index in monomial for factor in self._product((index,), whole=whole)]
        integer = self._kind != "linear" and all(self._problem.integer[index] for index in monomial)
        if monomial not in self._monomials:
            self._monomials[monomial] = name = f"m{len(self._monomials)}"
            self._declared.append(f"(declare-const {name} {'Int' if integer else 'Real'})")
        name = self._monomials[monomial]
        return [f"(to_real {name})" if integer and not whole else name]


def _named(literal: int) -> str:
    """The text of a literal."""
    return f"b{literal}" if literal > 0 else f"(not b{-literal})"


def _clause(clause: Sequence[int]) -> str:
    """The text of a clause."""
    return f"(or {' '.join(map(_named, clause))} false)"


def _scaled(coefficient: Fraction, factors: list[str], *, whole: bool) -> str:
    """A multiple of a product as text."""
    point = "" if whole else ".0"
    size = f"{abs(coefficient.numerator)}{point}"
    if coefficient.denominator != 1:
        size = f"(/ {size} {coefficient.denominator}{point})"
    signed = f"(- {size})" if coefficient < 0 else size
    return f"(* {' '.join([signed, *factors])})" if factors else signed
