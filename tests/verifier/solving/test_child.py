"""The process that cvc5 runs in: it answers, and it is killed and replaced when it does not."""

from __future__ import annotations

import time

from dpaudit.verifier.solving.child import Child
from dpaudit.verifier.solving.printer import script
from dpaudit.verifier.terms import FALSE, Sort, Term, add, less, multiply, variable

HARD = 7


def cauchy_schwarz(size: int) -> Term:
    """That the inequality fails in so many dimensions, which cvc5 looks at for very long without a glance at the clock."""
    ones, others = ([variable(f"{name}{place}", Sort.REAL) for place in range(size)] for name in "ab")
    squares = [add(*(multiply(one, one) for one in side)) for side in (ones, others)]
    mixed = add(*(multiply(one, other) for one, other in zip(ones, others, strict=True)))
    return less(multiply(*squares), multiply(mixed, mixed))


def test_a_question_without_an_answer_ends_and_the_next_one_is_answered() -> None:
    """However long cvc5 would go on, the limit holds, and a new process takes over."""
    child = Child()
    try:
        assert child.ask(script([FALSE]), 5.0) == ("unsat", None)
        started = time.monotonic()
        assert child.ask(script([cauchy_schwarz(HARD)]), 0.5)[0] == "unknown"
        assert time.monotonic() - started < 20
        assert child.ask(script([FALSE]), 5.0) == ("unsat", None)
    finally:
        child.stop()


def test_a_process_that_died_is_replaced() -> None:
    """Nothing is lost but the answer."""
    child = Child()
    try:
        assert child.ask(script([FALSE]), 5.0)[0] == "unsat"
        child.stop()
        assert child.ask(script([FALSE]), 5.0)[0] == "unsat"
    finally:
        child.stop()


def test_what_is_no_text_of_the_language_is_not_answered() -> None:
    """An error of the solver is no evidence."""
    child = Child()
    try:
        assert child.ask("(assert nonsense)", 5.0) == ("unknown", None)
    finally:
        child.stop()


def test_files_of_the_working_directory_are_not_what_the_child_imports(tmp_path, monkeypatch) -> None:
    """Whoever proves a function in a folder of somebody else does not run that folder's modules."""
    for name in ("cvc5", "json", "dpaudit"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    child = Child()
    try:
        assert child.ask(script([FALSE]), 5.0) == ("unsat", None)
    finally:
        child.stop()
