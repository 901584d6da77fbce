"""A lemma as data, and who confirms it: both solvers, and the kernel by a certificate that is searched for again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from dpaudit.verifier.certify import certificate
from dpaudit.verifier.confirming import is_accepted
from dpaudit.verifier.frontend import expression
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.terms import Sort, Term, conjunction, implies, negation


@dataclass(frozen=True)
class Lemma:
    """A statement about numbers that holds for all values of its variables.

    Args:
      name: its identifier, `group.what`.
      statement: what it says, in words.
      variables: the names of its variables, with blanks between them; `n:int` is an integer, the rest are real.
      hypotheses: conditions in the expression language; each must be defined where those before it hold.
      goal: what follows from them, in the same language.
      source: the paper and theorem, or the argument that it is a step of.
    Source: docs/proofs.md, "Lemmas".
    Example:
      >>> Lemma("example.half", "half a number", "x", ("0 <= x",), "x / 2 <= x", "arithmetic").obligations()
      (((not (0 <= x)) or ((1/2 * x) <= x)),)
    """

    name: str
    statement: str
    variables: str
    hypotheses: tuple[str, ...]
    goal: str
    source: str

    def premises(self) -> tuple[Term, ...]:
        """The hypotheses as terms."""
        return tuple(term for term, _ in self._parts())[:-1]

    def obligations(self) -> tuple[Term, ...]:
        """The formulas that must be valid: every part is defined where the hypotheses before it hold, and the lemma itself."""
        found, facts = list[Term](), list[Term]()
        for term, defined in self._parts():
            found += [implies(conjunction(*facts), condition) for condition in defined]
            facts.append(term)
        return (*found, implies(conjunction(*facts[:-1]), facts[-1]))

    def _parts(self) -> Iterator[tuple[Term, list[Term]]]:
        """Each hypothesis and then the goal, with the conditions under which it is defined."""
        names = (name.partition(":") for name in self.variables.split())
        symbols = {name: Sort.INT if kind == "int" else Sort.REAL for name, _, kind in names}
        for text in (*self.hypotheses, self.goal):
            found = expression(text, symbols, {})
            yield found.term, [check.condition for check in found.checks]


@dataclass(frozen=True)
class Confirmation:
    """The answers of the three checkers about a lemma.

    Args:
      z3: what z3 says of the negation of its obligations; `UNSAT` is a yes.
      cvc5: the same of cvc5.
      kernel: whether the kernel accepts a certificate of every obligation.
      example: whether the hypotheses hold for some values.
      seconds: processor time of all of it.
    Source: docs/proofs.md, "Lemmas".
    Example:
      >>> Confirmation(Answer.UNSAT, Answer.UNKNOWN, kernel=True, example=True, seconds=0.1).holds
      True
    """

    z3: Answer
    cvc5: Answer
    kernel: bool
    example: bool
    seconds: float

    @property
    def holds(self) -> bool:
        """True if two of the three say yes, none says no, and the hypotheses can be met."""
        answers = (self.z3, self.cvc5)
        agreed = answers.count(Answer.UNSAT) + self.kernel
        return agreed >= 2 and Answer.SAT not in answers and self.example


def checked(lemma: Lemma, *, seconds: float = 5.0) -> Confirmation:
    """Ask all three checkers whether a lemma holds.

    Args:
      lemma: the lemma.
      seconds: the time of each question, above 0.
    Returns:
      Their answers; `.holds` says whether these are enough.
    Raises:
      OutsideSubset: a text is not of the expression language.
    Source: docs/proofs.md, "Lemmas"; de Moura, Bjorner 2008; Barbosa et al. 2022; Krivine 1964 and Stengle 1974.
    Example:
      >>> checked(Lemma("example.half", "half a number", "x", ("0 <= x",), "x / 2 <= x", "arithmetic")).holds
      True
    """
    started = time.process_time()
    obligations = lemma.obligations()
    worse = (Answer.UNSAT, Answer.UNKNOWN, Answer.SAT).index
    z3, cvc5 = (
        max((satisfiable([negation(one)], solver=solver, seconds=seconds).answer for one in obligations), key=worse)
        for solver in ("z3", "cvc5")
    )
    certificates = ((one, certificate(one, seconds=seconds)) for one in obligations)
    kernel = all(found is not None and is_accepted(one, found) for one, found in certificates)
    example = satisfiable(lemma.premises(), seconds=seconds).answer is Answer.SAT
    return Confirmation(z3, cvc5, kernel, example, time.process_time() - started)
