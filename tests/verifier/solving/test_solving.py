"""Both solvers answer our text alike, with exact models, and say unknown where they have no answer."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.verifier.solving import Answer, Session, back_ends, satisfiable, script
from dpaudit.verifier.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Sort,
    add,
    apply,
    choose,
    conjunction,
    constant,
    divide,
    equal,
    implies,
    less,
    less_equal,
    multiply,
    negation,
    quotient,
    remainder,
    substitute,
    variable,
)

SOLVERS = ["z3", "cvc5"]
X, Y, Z = (variable(name, Sort.REAL) for name in "xyz")
STRANGE = variable("x'|~\\", Sort.REAL)
N, M, K = (variable(name, Sort.INT) for name in "nmk")
A, B = (variable(name, Sort.BOOL) for name in "ab")


def element(index, sort=Sort.REAL):
    """An element of a list."""
    return apply("q", (index,), sort)


DECIDED = {
    "no number is above 1 and below 1": ("unsat", [less(X, ONE), less(ONE, X)]),
    "no whole number is between 0 and 1": ("unsat", [less(ZERO, N), less(N, ONE)]),
    "a real number is between 0 and 1": ("sat", [less(ZERO, X), less(X, ONE)]),
    "whole and real numbers are compared": ("sat", [less(N, X), less(X, add(N, ONE))]),
    "remainder of a constant": ("unsat", [equal(remainder(N, constant(3)), constant(3))]),
    "quotient and remainder of a constant": ("unsat", [less(N, ZERO), less_equal(ZERO, quotient(N, constant(3)))]),
    "remainder below a divisor from 1 on": ("unsat", [equal(remainder(N, M), M), less_equal(ONE, M)]),
    "remainder by what may be 0": ("sat", [equal(remainder(N, M), M), less_equal(M, ZERO)]),
    "quotient by a negative number": ("sat", [equal(quotient(ONE, constant(-2)), constant(7))]),
    "division by 0": ("sat", [equal(divide(ONE, Y), constant(5)), equal(Y, ZERO)]),
    "division by 0 with one value": ("unsat", [less(divide(ONE, Y), divide(ONE, Z)), equal(Y, Z)]),
    "division by another number": ("unsat", [equal(divide(ONE, Y), constant(5)), equal(Y, ONE)]),
    "elements at one place": ("unsat", [equal(N, M), less(element(N), element(M))]),
    "elements at two places": ("sat", [less(element(add(N, ONE)), element(N))]),
    "functions of two sorts": ("sat", [less(element(N), element(N, Sort.INT))]),
    "a choice": ("unsat", [less(choose(A, X, Y), X), A]),
    "names that SMT-LIB would misread": (
        "unsat",
        [less(STRANGE, ZERO), less(ZERO, STRANGE)],
    ),
    "names that would meet": ("sat", [less(variable("~7c~", Sort.REAL), variable("|", Sort.REAL))]),
    "a variable named like a function": ("sat", [less(variable("(Int) Real q", Sort.REAL), element(ZERO)), less(element(ONE), X)]),
    "one name of three sorts": ("sat", [variable("v", Sort.BOOL), less(variable("v", Sort.INT), variable("v", Sort.REAL))]),
    "a number made real": ("sat", [less(add(N, constant(Fraction(0))), X)]),
    "nothing": ("sat", []),
    "falsity": ("unsat", [FALSE]),
    "truth": ("sat", [TRUE]),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", DECIDED)
def test_both_solvers_give_the_right_answer(name, solver):
    expected, formulas = DECIDED[name]
    outcome = satisfiable(formulas, solver=solver)
    assert expected == outcome.answer.value
    assert solver == outcome.solver
    assert (expected == "sat") == (outcome.model is not None)
    assert outcome.model is None or outcome.model.satisfies(*formulas)


def test_a_square_root_has_no_exact_model():
    outcome = satisfiable([equal(multiply(X, X), constant(2))])
    assert (Answer.SAT, None) == (outcome.answer, outcome.model)


def test_a_model_that_does_not_hold_is_no_answer(monkeypatch):
    monkeypatch.setitem(back_ends._ASK, "z3", lambda _text, _seconds: (Answer.SAT, {"|Real x|": Fraction(1)}))
    assert Answer.SAT is satisfiable([equal(X, ONE)]).answer
    outcome = satisfiable([equal(X, constant(2))])
    assert (Answer.UNKNOWN, None) == (outcome.answer, outcome.model)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_error_of_a_solver_is_no_answer(monkeypatch, solver):
    monkeypatch.setattr(back_ends, "script", lambda _formulas: "(assert (<= 1 |undeclared|))(check-sat)")
    assert Answer.UNKNOWN is satisfiable([TRUE], solver=solver).answer


def test_a_name_that_is_kept_for_values_of_functions_is_no_answer():
    assert Answer.UNKNOWN is satisfiable([less(variable("#0", Sort.INT), ZERO), less(ZERO, remainder(N, M))]).answer


@pytest.mark.parametrize("solver", SOLVERS)
def test_out_of_time_is_no_answer(solver):
    third = [multiply(*[symbol] * 3) for symbol in (N, M, K)]
    formulas = [equal(add(*third), constant(114)), *(less(constant(9), symbol) for symbol in (N, M))]
    assert Answer.UNKNOWN is satisfiable(formulas, solver=solver, seconds=0.05).answer


def test_the_text_is_the_same_in_every_process():
    code = (
        "from dpaudit.verifier.terms import *\n"
        "from dpaudit.verifier.solving import script\n"
        "x, n = variable('x', Sort.REAL), variable('n', Sort.INT)\n"
        "q = apply('q', (remainder(n, add(n, ONE)),), Sort.REAL)\n"
        "print(script([less(add(x, q), divide(x, q)), negation(equal(q, x))]), end='')\n"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True) for seed in "123"]
    (text,) = {run.stdout for run in runs}
    assert text.startswith("(set-logic QF_UFNIRA)\n")
    assert text.endswith("(check-sat)\n")


def test_what_is_shared_is_written_once():
    term = X
    for _ in range(200):
        term = add(multiply(term, constant(2)), choose(less(term, Y), term, Y))
    text = script([less(term, ZERO)])
    assert len(text) < 40_000


def test_the_text_has_no_sign_that_is_not_a_minus():
    text = script([less(add(N, constant(Fraction(-3, 2))), multiply(constant(-2), X)), equal(N, constant(-1))])
    assert "(+ (to_real |Int n|) (- (/ 3.0 2.0)))" in text
    assert "(- 2.0)" in text
    assert "(= |Int n| (- 1))" in text
    assert "-1" not in text


SMALL = st.integers(-3, 3)
TERMS = st.recursive(
    st.one_of(st.sampled_from([N, M, X]), st.builds(constant, SMALL)),
    lambda inner: st.one_of(
        st.builds(add, inner, inner),
        st.builds(multiply, inner, inner),
        st.builds(divide, inner, inner),
        st.builds(lambda test, one, other: choose(less(test, ZERO), one, other), inner, inner, inner),
        st.builds(lambda number: quotient(N, constant(number)), st.integers(1, 3)),
        st.builds(lambda number: remainder(M, constant(number)), st.integers(1, 3)),
        st.just(remainder(N, M)),
        st.just(quotient(M, N)),
    ),
    max_leaves=4,
)
FORMULAS = st.recursive(
    st.builds(lambda compare, one, other: compare(one, other), st.sampled_from([less, less_equal, equal]), TERMS, TERMS),
    lambda inner: st.one_of(st.builds(negation, inner), st.builds(conjunction, inner, inner), st.builds(equal, inner, inner)),
    max_leaves=3,
)


@settings(max_examples=60)
@given(formula=FORMULAS, values=st.tuples(SMALL, SMALL, st.fractions(-3, 3, max_denominator=3)))
def test_both_solvers_agree_with_exact_evaluation_where_everything_is_given(formula, values):
    symbols = {symbol: constant(value, symbol.sort) for symbol, value in zip((N, M, X), values, strict=True)}
    expected = substitute(formula, symbols)
    if expected not in (TRUE, FALSE):
        return
    pins = [equal(symbol, value) for symbol, value in symbols.items()]
    for solver in SOLVERS:
        outcome = satisfiable([*pins, formula], solver=solver)
        assert (Answer.SAT if expected is TRUE else Answer.UNSAT) is outcome.answer


def test_a_session_forgets_what_was_added_on_a_level():
    session = Session()
    session.add(less(X, Y), equal(element(N), remainder(N, M)))
    session.push()
    session.add(less(Y, X))
    assert Answer.UNSAT is session.check().answer
    session.pop()
    outcome = session.check(equal(element(N), constant(2)), less(ONE, M))
    assert Answer.SAT is outcome.answer
    assert outcome.model.satisfies(less(X, Y), equal(element(N), constant(2)), equal(remainder(N, M), constant(2)))
    assert Answer.SAT is session.check(equal(element(N), constant(3)), less(ONE, M)).answer


def test_a_session_says_which_assumptions_cannot_hold_together():
    session = Session()
    session.add(implies(A, less(X, Y)), implies(B, less(Y, X)))
    other = less(ZERO, X)
    outcome = session.check(A, other, B)
    assert (Answer.UNSAT, {A, B}) == (outcome.answer, set(outcome.core))
    assert Answer.SAT is session.check(A, negation(B), other).answer
    assert {A, less(Y, X)} == set(session.check(other, less(Y, X), A).core)
    assert Answer.UNSAT is session.check(FALSE).answer
    assert Answer.SAT is session.check().answer
