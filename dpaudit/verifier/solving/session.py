"""Many questions to one z3 that remembers: for search, where speed counts and nothing is proven by it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from dpaudit.extras import require
from dpaudit.verifier.fuel import interruptible
from dpaudit.verifier.solving.back_ends import Answer, Outcome, read_answer, z3_values
from dpaudit.verifier.solving.limits import limit_z3
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.solving.printer import assertion, declarations, symbol
from dpaudit.verifier.solving.totals import total
from dpaudit.verifier.terms import FALSE, Op, Sort, Term, equal, variable, variables


class Session:
    """Formulas that are added, taken back by `pop`, and asked about under assumptions; never evidence.

    Args:
      seconds: how long it may think about one question.
      bold: whether truth values are first tried as true, so that one model shows as many of them as it can.
    Source: the incremental commands of the SMT-LIB Standard, version 2.6, https://smt-lib.org.
    Example:
      >>> from dpaudit.verifier.terms import Sort, constant, less, variable
      >>> x = variable("x", Sort.INT)
      >>> session = Session()
      >>> session.add(less(constant(0), x))
      >>> session.check(less(x, constant(1))).answer, session.check().answer
      (<Answer.UNSAT: 'unsat'>, <Answer.SAT: 'sat'>)
    """

    def __init__(self, seconds: float = 5.0, *, bold: bool = False) -> None:
        """Nothing is added yet."""
        require("proofs")
        import z3  # type: ignore[import-untyped]

        self._z3 = z3
        self._context = z3.Context()
        self._solver = z3.Solver(ctx=self._context)
        limit_z3(self._solver, seconds)
        if bold:
            self._solver.set("phase_selection", 1)
        self._names: list[dict[Term, Term]] = [{}]
        self._indicators = 0
        self._symbols: set[Term] = set()
        self._literals: dict[Term, Any] = {}

    def add(self, *terms: Term) -> None:
        """All of the terms hold, until the `pop` of this level."""
        formulas: list[Term] = []
        for term in terms:
            plain, facts = total(term, self._names[-1])
            formulas += [*facts, plain]
        if formulas:
            self._symbols |= variables(*formulas)
            self._solver.add(self._read(formulas))

    def push(self) -> None:
        """A new level begins."""
        self._solver.push()
        self._names.append(dict(self._names[-1]))

    def pop(self) -> None:
        """All that was added on this level is forgotten."""
        self._solver.pop()
        self._names.pop()

    def check(self, *assumptions: Term) -> Outcome:
        """Ask whether everything added can hold together with the assumptions; an `UNSAT` comes with those that it needed."""
        started = time.monotonic()
        answer, model, core = Answer.UNKNOWN, None, list[Term]()
        # Literals leave the level alone, so that what z3 has learned stays.
        literal = all((term.args[0] if term.op is Op.NOT else term).op is Op.VARIABLE for term in assumptions)
        if not literal:
            self.push()
        try:
            literals = [self._literal(term) for term in assumptions]
            with interruptible(self._context):
                answer = read_answer(self._solver.check(*literals))
            if answer is Answer.UNSAT:
                meant = {found.get_id(): term for found, term in zip(literals, assumptions, strict=True)}
                core = [meant[found.get_id()] for found in self._solver.unsat_core()]
            elif answer is Answer.SAT and (values := z3_values(self._solver.model())) is not None:
                model = Model({term: values[name] for term in self._symbols if (name := symbol(term)) in values}, self._names[-1])
        except self._z3.Z3Exception:
            answer = Answer.UNKNOWN
        finally:
            if not literal:
                self.pop()
        return Outcome(answer, model, time.monotonic() - started, "z3", tuple(core))

    def _literal(self, term: Term) -> Any:
        """A z3 literal that means the term, on the level of this question."""
        if term in self._literals:
            return self._literals[term]
        plain, stated = term.args[0] if term.op is Op.NOT else term, term
        if plain.op is not Op.VARIABLE:
            self._indicators += 1
            plain = variable(f"?{self._indicators}", Sort.BOOL)
            self.add(equal(plain, term))
            term = plain
        self._symbols.add(plain)
        literal = self._z3.Bool(symbol(plain)[1:-1], ctx=self._context)
        literal = self._z3.Not(literal) if term.op is Op.NOT else literal
        if term is stated:
            # An indicator, in contrast, means its term on this level only.
            self._literals[term] = literal
        return literal

    def _read(self, formulas: Sequence[Term]) -> Any:
        """The formulas as z3 reads our text of them."""
        if FALSE in formulas:
            return self._z3.BoolVal(val=False, ctx=self._context)
        text = "\n".join([*declarations(formulas), *map(assertion, formulas)])
        return self._z3.parse_smt2_string(text, ctx=self._context)
