"""Confirmation of obligations: by both solvers on our text, and by the kernel on a certificate of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from dpaudit.verifier.certify.search import Known, certificate
from dpaudit.verifier.kernel import KernelRejects, check
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.solving import Answer, Outcome, satisfiable, script
from dpaudit.verifier.terms import TRUE, Term, negation

SECONDS = 5.0
"""A solver's limit for one obligation, in seconds of patience (`solving.limits`)."""


@dataclass
class Confirmations:
    """The answers about formulas, each of which is asked about once."""

    solvers: dict[Term, tuple[Outcome, Outcome]] = field(default_factory=dict)  # the answers of z3 and cvc5
    # A certificate that the kernel accepted, or None where none was found.
    kernel: dict[Term, dict[str, Any] | None] = field(default_factory=dict)
    known: Known = field(default_factory=dict)

    def first_unproven(self, made: Iterable[Obligation]) -> Obligation | None:
        """The first obligation that is not confirmed; None where all are.

        Both solvers must answer `unsat`. Where cvc5 has no answer, a certificate that the kernel accepts stands in for it.
        """
        for obligation in made:
            formula = obligation.formula
            if formula is TRUE or self.by_solvers(formula):
                continue
            first, second = self.solvers[formula]
            undecided = first.answer is Answer.UNSAT and second.answer is Answer.UNKNOWN
            if not (undecided and self.by_kernel(formula)):
                return obligation
        return None

    def by_solvers(self, formula: Term) -> bool:
        """True if both solvers find the negation impossible."""
        if formula not in self.solvers:
            first = satisfiable([negation(formula)], solver="z3", seconds=SECONDS)
            missing = Outcome(Answer.UNKNOWN, None, 0.0, "cvc5")
            unsat = first.answer is Answer.UNSAT
            second = satisfiable([negation(formula)], solver="cvc5", seconds=SECONDS) if unsat else missing
            self.solvers[formula] = first, second
        return all(outcome.answer is Answer.UNSAT for outcome in self.solvers[formula])

    def by_kernel(self, formula: Term, seconds: float = 20.0) -> bool:
        """True if the kernel accepts a certificate that is looked for here, for so long."""
        if formula not in self.kernel:
            found = certificate(formula, seconds=seconds, known=self.known)
            self.kernel[formula] = found if found is not None and is_accepted(formula, found) else None
        return self.kernel[formula] is not None


def is_accepted(formula: Term, found: Any) -> bool:
    """True if the kernel accepts a certificate."""
    try:
        check(formula, found)
    except KernelRejects:
        return False
    return True


# Hash and linearity of a formula are asked for separately, and its text is long: it is written once.
@lru_cache(maxsize=4096)
def formula_digest(formula: Term) -> tuple[str, bool]:
    """SHA-256 of the text that both solvers are given, and whether it is one of linear arithmetic."""
    text = script([negation(formula)])
    logic = text.split(")", 1)[0].removeprefix("(set-logic QF_").removeprefix("UF")
    return hashlib.sha256(text.encode()).hexdigest(), not logic.startswith("N")


def text_hash(formula: Term) -> str:
    """SHA-256 of the text that both solvers are given."""
    return formula_digest(formula)[0]


def is_linear(formula: Term) -> bool:
    """True if the text is one of linear arithmetic."""
    return formula_digest(formula)[1]
