"""Solvers are limited in steps that they count themselves, so that what they say does not depend on how busy the machine is."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from dpaudit.verifier.solving import Answer, Session, limits, satisfiable
from dpaudit.verifier.solving.child import Child, _answer
from dpaudit.verifier.solving.printer import script
from dpaudit.verifier.terms import Sort, add, constant, equal, less, less_equal, multiply, variable

X, Y, Z = (variable(name, Sort.REAL) for name in "xyz")
CYCLE = [less(X, Y), less(Y, Z), less(Z, X)]
"""What any solver refutes in a moment."""
PATIENT = 600.0


def test_too_few_steps_end_a_question_of_z3_whatever_the_clock_says(monkeypatch):
    assert Answer.UNSAT is satisfiable(CYCLE, seconds=PATIENT).answer
    assert Answer.UNSAT is Session(PATIENT).check(*CYCLE).answer
    monkeypatch.setattr(limits, "Z3_STEPS", 1e-9)
    assert Answer.UNKNOWN is satisfiable(CYCLE, seconds=PATIENT).answer
    assert Answer.UNKNOWN is Session(PATIENT).check(*CYCLE).answer


def test_too_few_steps_end_a_question_of_cvc5_whatever_the_clock_says(monkeypatch):
    product = [equal(multiply(X, Y), constant(2)), equal(add(X, Y), constant(2)), less_equal(constant(1), Z)]
    assert "unsat" == _answer(script(product), PATIENT)[0]
    monkeypatch.setattr(limits, "CVC5_STEPS", 1e-9)
    assert _answer(script(product), PATIENT)[0].startswith("unknown")


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_a_solver_that_gets_no_processor_for_a_while_still_answers():
    child = Child()
    try:
        assert "unsat" == child.ask(script(CYCLE), 0.1)[0]
        process = child._process
        process.send_signal(signal.SIGSTOP)
        threading.Timer(2.0, process.send_signal, [signal.SIGCONT]).start()
        started = time.monotonic()
        assert "unsat" == child.ask(script(CYCLE), 0.1)[0]
        assert 1.0 < time.monotonic() - started
        assert child._process is process
    finally:
        child.stop()


@pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="processes have no limit of their own here")
def test_a_process_that_computes_for_too_long_ends():
    code = "from dpaudit.verifier.solving.limits import limit_process; limit_process(0.2)\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert -signal.SIGPROF == ended.returncode
