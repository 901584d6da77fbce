"""What a verifier easily overlooks, as far as no other test looks at it: with its check taken out, what is false passes."""

from __future__ import annotations

import inspect
import re
import tomllib
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

from dpaudit import promise
from dpaudit.binding import bind
from dpaudit.errors import InvalidArgument
from dpaudit.spec import Spec
from dpaudit.verifier import proving
from dpaudit.verifier.alignment import search
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.invariants.houdini import Group
from dpaudit.verifier.product import loops, statements
from dpaudit.verifier.proving import Failed, Proof, prove
from dpaudit.verifier.solving import Answer, Outcome, Session, printer, satisfiable
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.terms import FALSE, ONE, Sort, choose, constant, less, variable
from tests.verifier.bound_programs import noisy
from tests.verifier.invariants.test_houdini import settled
from tests.verifier.product.test_removals import NO_CHECKS, NO_WITNESS, take_out

STOPS = """
def stops(q: list[Fraction], n: int, eps: Fraction, t: Fraction) -> int:
    c = 0
    for i in range(n):
        c = i
        if q[i] + laplace(2 / eps) >= t:
            break
    return c
"""
READS = """
def reads(q: list[int]) -> int:
    u = q[1 if q[0] > 0 else 0]
    return 0
"""
RAISES = """
def raises(q: list[Fraction]) -> int:
    if q[0] > 0:
        raise ValueError
    return 0
"""
ALL = {"claim": "eps", "adjacency": "all", "requires": ["eps > 0", "n >= 0", "n <= len(q)"]}
TWO_ROUNDS = """
def two_rounds(q: list[Fraction], eps: Fraction) -> list[Fraction]:
    out = []
    for i in range(len(q)):
        out.append(q[i] + laplace(2 / eps))
    return out
"""
NOTHING = {"claim": 0, "adjacency": "one", "requires": ["len(q) >= 1"]}
NO_SYNC = (statements.run_jump, 'execution.book.prove("sync", place.line, equal(runs[0].path, runs[1].path))', "pass")
NO_RAISE = (
    statements.finish,
    "raised, values)",
    "disjunction(negation(equal(one.names[RAISED], ZERO)), negation(equal(other.names[RAISED], ZERO)), *alike))",
)
FOLDER = Path(__file__).parent
OVERLOOKED = tomllib.loads((FOLDER / "overlooked.toml").read_text(encoding="utf-8"))
X, Y = variable("x", Sort.REAL), variable("y", Sort.REAL)
N, A = variable("n", Sort.INT), variable("a", Sort.BOOL)
FALSE_PROGRAMS = {
    "break is left in both runs or in none": (
        STOPS,
        ALL,
        [(loops.flags_of, "isinstance(statement, While) or can_leave(body, Break)", "False")],
    ),
    "a read past the end is some number": (READS, NOTHING, [NO_CHECKS, NO_WITNESS]),
}


@pytest.mark.parametrize("name", FALSE_PROGRAMS)
def test_without_its_check_a_false_program_is_proven(name, monkeypatch):
    text, promise, edits = FALSE_PROGRAMS[name]
    program = parse(text, Spec(**promise))
    assert isinstance(prove(program, seconds=20), Failed)
    take_out(monkeypatch, edits)
    assert isinstance(prove(program, seconds=20), Proof)


@pytest.mark.parametrize(
    ("edits", "outcome"), [([], Failed), ([NO_SYNC], Failed), ([NO_RAISE], Failed), ([NO_SYNC, NO_RAISE], Proof)]
)
def test_an_exception_is_an_output(edits, outcome, monkeypatch):
    take_out(monkeypatch, edits)
    assert isinstance(prove(parse(RAISES, Spec(**NOTHING)), seconds=20), outcome)


def test_what_holds_for_two_rounds_is_no_proof(monkeypatch):
    program = parse(TWO_ROUNDS, Spec(claim="eps", adjacency="all", requires=["eps > 0"]))
    monkeypatch.setattr(search, "ROUNDS", (2,))
    assert isinstance(prove(program, seconds=20), Failed)
    edits = [
        (proving.attempt, "invariants = houdini.needed()", "invariants = {}"),
        (proving.obligations, "invariants, pointwise))", "invariants, pointwise, rounds=2))"),
    ]
    take_out(monkeypatch, edits)
    assert isinstance(prove(program, seconds=20), Proof)


# What is asked of solvers, and what their answers mean.


@pytest.mark.parametrize(
    ("old", "new", "formula"),
    [
        (
            'return f"(- {size})" if exact < 0 else size',
            'return f"-{size}" if exact < 0 else size',
            less(X, constant(Fraction(-1, 2))),
        ),
        ('return f"(to_real {text})" if number is None else _number(number, Sort.REAL)', "return text", less(choose(A, N, X), ONE)),
        ('_FOREIGN.sub(lambda found: f"~{ord(found[0]):x}~", name)', "name", less(variable("x|'", Sort.REAL), ONE)),
        ('"|" + _FOREIGN', '"" + _FOREIGN', less(variable("x'", Sort.REAL), ONE)),
    ],
)
def test_a_text_that_cvc5_cannot_read_is_no_answer(old, new, formula, monkeypatch):
    assert [Answer.SAT] * 2 == [satisfiable([formula], solver=solver).answer for solver in ("z3", "cvc5")]
    (function,) = (one for one in (printer._number, printer._widened, printer.symbol) if old in inspect.getsource(one))
    take_out(monkeypatch, [(function, old, new)])
    assert Answer.UNKNOWN is satisfiable([formula], solver="cvc5").answer


def test_a_candidate_is_not_kept_because_a_solver_has_no_answer(monkeypatch):
    monkeypatch.setattr(Session, "check", lambda *_: Outcome(Answer.UNKNOWN, None, 0.0, "z3"))
    assert [] == settled([FALSE])[0]
    take_out(
        monkeypatch, [(Group.failing, "self.goals[one]).answer is not Answer.UNSAT}", "self.goals[one]).answer is Answer.SAT}")]
    )
    assert [FALSE] == settled([FALSE])[0]


def test_a_model_gives_every_symbol_a_value(monkeypatch):
    model = satisfiable([less(X, ONE)]).model
    assert 0 == model.value(Y)
    take_out(monkeypatch, [(Model._constant, "self._symbols.get(part, _nothing(part.sort))", "self._symbols[part]")])
    with pytest.raises(KeyError):
        model.value(Y)


# What a proof assumes of parameters.


def test_what_is_required_is_asked_of_every_call(monkeypatch):
    call = partial(bind(noisy, production={}).with_test_samplers, [Fraction(3)], Fraction(-1), laplace=lambda scale: scale)
    with pytest.raises(InvalidArgument, match="requires eps > 0"):
        call()
    take_out(
        monkeypatch,
        [
            (
                promise.first_violation,
                'if not holds(one.clause, values):\n            return Violation("requires"',
                'if False:\n            return Violation("requires"',
            )
        ],
    )
    assert 2 == call()


# The table of mistakes.


def test_every_test_that_the_table_of_mistakes_names_is_there():
    named = [test for mistake in OVERLOOKED["mistake"] for test in mistake["tests"]]
    assert len(named) >= 20
    for found in (re.fullmatch(r"(\w[\w/]*\.py)::(\w+)(?:\[([^]]*)\])?", test) for test in named):
        file, test, case = found.groups()
        text = (FOLDER / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text, (file, test)
        assert not case or f'"{case}"' in text, (file, case)
