"""Questions about machine words and floating-point numbers: small SMT-LIB texts that z3 and cvc5 are asked as they stand.

Terms know neither sort, so these texts stand apart from the obligations of programs, and nothing here proves one. Symbols are bit
vectors; a floating-point number is made from its bits, so that a model is a list of bit patterns that can be replayed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dpaudit.extras import require
from dpaudit.verifier.solving import Answer
from dpaudit.verifier.solving.back_ends import read_answer

_DECLARED: Final = re.compile(r"\(declare-const (\w+) ")


@dataclass(frozen=True)
class Question:
    """A text and what its answer means.

    Args:
      name: its identifier, `group.what`.
      statement: what an answer as expected shows, in words.
      text: an SMT-LIB 2 text with one `(check-sat)`, whose symbols are bit vectors.
      expected: `UNSAT` where the text denies what is claimed, `SAT` where it asks for a counterexample.
      source: the paper, or the argument that it is a step of.
    Source: docs/proofs.md, "Lemmas".
    Example:
      >>> Question("example.no", "false is false", "(assert false)(check-sat)", Answer.UNSAT, "logic").expected.value
      'unsat'
    """

    name: str
    statement: str
    text: str
    expected: Answer
    source: str


@dataclass(frozen=True)
class Reply:
    """One solver's answer to a text.

    Args:
      answer: the answer.
      values: the values of the symbols as unsigned integers, of a `SAT`; those left open are 0.
    Source: the SMT-LIB Standard, version 2.6, https://smt-lib.org.
    Example:
      >>> asked("(declare-const x (_ BitVec 4)) (assert (= (bvadd x #x1) #x0)) (check-sat)", "z3").values
      {'x': 15}
    """

    answer: Answer
    values: Mapping[str, int]


def asked(text: str, solver: str, *, seconds: float = 20.0) -> Reply:
    """Ask one solver a text.

    Args:
      text: an SMT-LIB 2 text with one `(check-sat)`, whose symbols are bit vectors declared by `declare-const`.
      solver: `"z3"` or `"cvc5"`.
      seconds: the time that it may take, above 0.
    Returns:
      Its answer, with values where it is `SAT`; `UNKNOWN` where time was too short or the solver failed.
    Raises:
      KeyError: there is no solver of this name.
      MissingExtra: the solvers are not installed (DPA206).
    Source: de Moura, Bjorner 2008 for z3; Barbosa et al. 2022 for cvc5.
    Example:
      >>> asked("(declare-const x (_ BitVec 4)) (assert (bvult x #x0)) (check-sat)", "cvc5").answer
      <Answer.UNSAT: 'unsat'>
    """
    ask = {"z3": _by_z3, "cvc5": _by_cvc5}[solver]
    require("proofs")
    try:
        return ask(text, max(1, int(seconds * 1000)))
    except Exception:  # noqa: BLE001 - whatever a solver does wrong, it has not answered.
        return Reply(Answer.UNKNOWN, {})


def _by_z3(text: str, milliseconds: int) -> Reply:
    """The reply of z3."""
    import z3  # type: ignore[import-untyped]

    solver = z3.Solver(ctx=z3.Context())
    solver.set("timeout", milliseconds)
    solver.from_string(text)
    answer = read_answer(solver.check())
    if answer is not Answer.SAT:
        return Reply(answer, {})
    model = solver.model()
    found = {declared.name(): model[declared].as_long() for declared in model.decls() if declared.arity() == 0}
    return Reply(answer, {name: found.get(name, 0) for name in _DECLARED.findall(text)})


def _by_cvc5(text: str, milliseconds: int) -> Reply:
    """The reply of cvc5."""
    import cvc5  # type: ignore[import-untyped]

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(milliseconds))
    solver.setOption("produce-models", "true")
    names = cvc5.SymbolManager(solver.getTermManager())
    parser = cvc5.InputParser(solver, names)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    answer = Answer.UNKNOWN
    while not (command := parser.nextCommand()).isNull():
        if command.getCommandName() == "check-sat":
            answer = read_answer(solver.checkSat())
        else:
            command.invoke(solver, names)
    if answer is not Answer.SAT:
        return Reply(answer, {})
    values = {term.getSymbol(): int(solver.getValue(term).getBitVectorValue(10)) for term in names.getDeclaredTerms()}
    return Reply(answer, {name: values[name] for name in _DECLARED.findall(text)})
