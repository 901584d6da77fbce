"""z3 and cvc5 behind one question, each fed the same text: whatever is not a plain answer is `UNKNOWN`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

from dpaudit.extras import require
from dpaudit.verifier.fuel import OutOfFuel, interruptible
from dpaudit.verifier.solving.child import Values, cvc5_here
from dpaudit.verifier.solving.limits import limit_z3
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.solving.printer import script, symbol
from dpaudit.verifier.solving.totals import total
from dpaudit.verifier.terms import Number, Term, variables

Solver: TypeAlias = Literal["z3", "cvc5"]


class Answer(Enum):
    """A solver's answer; only `UNSAT` ever counts as evidence."""

    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    """A solver's answer, its model or core, and the time it took.

    Args:
      answer: the answer.
      model: values under which the formulas hold, of a `SAT` in rational numbers; None else.
      seconds: time on the clock.
      solver: who answered.
      core: the assumptions that an `UNSAT` of a session needed.
    Source: the answers of the SMT-LIB Standard, version 2.6, https://smt-lib.org.
    Example:
      >>> from dpaudit.verifier.terms import FALSE
      >>> satisfiable([FALSE]).answer
      <Answer.UNSAT: 'unsat'>
    """

    answer: Answer
    model: Model | None
    seconds: float
    solver: str
    core: tuple[Term, ...] = ()


def satisfiable(formulas: Sequence[Term], *, solver: Solver = "z3", seconds: float = 5.0) -> Outcome:
    """Ask one solver whether formulas can hold together, as our own text.

    Args:
      formulas: truth-valued terms, any number; what `/`, `//` and `%` mean is added where they are defined.
      solver: `"z3"` or `"cvc5"`.
      seconds: how long the solver may think, above 0, as steps that do not depend on how busy the machine is.
    Returns:
      `UNSAT`, `SAT` with a model that our own evaluator finds to satisfy every formula (None where values are irrational), or
      `UNKNOWN`: out of time, an error of the solver, or a model that does not hold.
    Raises:
      KeyError: there is no solver of this name.
      MissingExtra: the solvers are not installed (DPA206).
      OutOfFuel: the limit around this question is reached.
    Source: de Moura, Bjorner 2008 for z3; Barbosa et al. 2022 for cvc5.
    Example:
      >>> from dpaudit.verifier.terms import Sort, constant, equal, less, multiply, variable
      >>> x = variable("x", Sort.INT)
      >>> outcome = satisfiable([equal(multiply(constant(2), x), constant(6))])
      >>> outcome.answer.value, outcome.model.value(x)
      ('sat', 3)
    """
    started = time.monotonic()
    answer, model = Answer.UNKNOWN, None
    ask = _ASK[solver]
    require("proofs")  # before the block that takes every error for no answer
    try:
        answer, values = ask(script(formulas), seconds)
        if answer is Answer.SAT and values is not None:
            model = model_of(formulas, values)
            if not model.satisfies(*formulas):
                answer, model = Answer.UNKNOWN, None
    except OutOfFuel:
        raise
    except Exception:  # noqa: BLE001 - whatever a solver does wrong, it has not answered.
        answer, model = Answer.UNKNOWN, None
    return Outcome(answer, model, time.monotonic() - started, solver)


def model_of(formulas: Sequence[Term], values: Mapping[str, Number]) -> Model:
    """The model of formulas by the values that a solver gave to the symbols of their text."""
    names: dict[Term, Term] = {}
    plain = [part for found, facts in (total(formula, names) for formula in formulas) for part in (found, *facts)]
    return Model({term: values[name] for term in variables(*plain) if (name := symbol(term)) in values}, names)


def _by_z3(text: str, seconds: float) -> tuple[Answer, Values | None]:
    """The answer of z3 to a text, and the values of its constants."""
    import z3  # type: ignore[import-untyped]

    context = z3.Context()
    solver = z3.Solver(ctx=context)
    limit_z3(solver, seconds)
    solver.from_string(text)
    with interruptible(context):
        answer = read_answer(solver.check())
    return answer, z3_values(solver.model()) if answer is Answer.SAT else None


def z3_values(model: Any) -> Values | None:
    """The values of the constants of a z3 model by their quoted names; None where one is irrational."""
    import z3

    # z3's own functions: models have a thousand truth values, and its classes look at each several times.
    context, values = model.ctx.ref(), Values()
    for place in range(z3.Z3_model_get_num_consts(context, model.model)):
        declared = z3.Z3_model_get_const_decl(context, model.model, place)
        found = z3.Z3_model_get_const_interp(context, model.model, declared)
        name = f"|{z3.Z3_get_symbol_string(context, z3.Z3_get_decl_name(context, declared))}|"
        truth = z3.Z3_get_bool_value(context, found)
        if truth != z3.Z3_L_UNDEF:
            values[name] = truth == z3.Z3_L_TRUE
        elif z3.Z3_get_ast_kind(context, found) != z3.Z3_NUMERAL_AST:
            return None
        else:
            number = Fraction(z3.Z3_get_numeral_string(context, found))
            values[name] = int(number) if z3.Z3_get_sort_kind(context, z3.Z3_get_sort(context, found)) == z3.Z3_INT_SORT else number
    return values


def read_answer(result: Any) -> Answer:
    """The answer that a solver's own result is, by its text."""
    return {"unsat": Answer.UNSAT, "sat": Answer.SAT}.get(str(result), Answer.UNKNOWN)


def _by_cvc5(text: str, seconds: float) -> tuple[Answer, Values | None]:
    """The answer of cvc5 to a text, and the values of its constants."""
    answer, values = cvc5_here().ask(text, seconds)
    return read_answer(answer), values


_ASK: Final = {"z3": _by_z3, "cvc5": _by_cvc5}
