"""Processor time is a limit on all that is done inside it: proofs, solvers, certificates, witnesses and counterexamples."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise

import pytest

from dpaudit.spec import Spec
from dpaudit.verifier import verify
from dpaudit.verifier.certify import certificate
from dpaudit.verifier.frontend import expression, parse
from dpaudit.verifier.fuel import OutOfFuel, clock, seconds_left, spend, time_limit
from dpaudit.verifier.proving import Failed, prove
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.solving import Session, satisfiable
from dpaudit.verifier.terms import Sort, subterms

SECONDS = 1.0
HEAD = "def f(q: list[Fraction], eps: Fraction) -> Fraction:\n    s = q[0]\n"
LAST = "    return s + laplace(1 / eps)\n"


def branches(count):
    """A sum with one more term for each of many public truth values: a tree of cases with 2 ** count leaves."""
    flags = ", ".join(f"b{place}: bool" for place in range(count))
    added = "".join(f"    if b{place}:\n        s = s + q[{place + 1}]\n" for place in range(count))
    head = HEAD.replace("eps: Fraction)", f"eps: Fraction, {flags})")
    return head + added + f"    return s + laplace({count + 1} / eps)\n", {"adjacency": "all", "length": count + 1}


def draws(count):
    """Many draws, each compared with the one before: many shifts to choose."""
    lines = "".join(f"    x{place} = laplace({place + 1} / eps)\n" for place in range(count))
    tests = "".join(f"    if q[{two}] + x{two} > x{one}:\n        s = s + 1\n" for one, two in pairwise(range(count)))
    return HEAD.replace("s = q[0]", "s = Fraction(0)") + lines + tests + "    return s\n", {"claim": "eps / 100", "length": count}


def nested(depth):
    """Loops inside loops, which grow with every round that is looked at."""
    loops = "".join(f"{'    ' * (place + 1)}for i{place} in range(len(q)):\n" for place in range(depth))
    return HEAD + loops + f"{'    ' * (depth + 1)}s = s - s + q[0]\n" + LAST, {}


def powers():
    """Products of products, on which solvers work long."""
    body = "        s = s * s * q[i] * q[i] + s * q[i] * q[0]\n"
    body += "        if s * s * s > q[i] * q[i] * q[0] + eps * s:\n            s = s * q[i] / 7\n"
    return HEAD + "    for i in range(len(q)):\n" + body + LAST, {}


def tied(count):
    """Noises that are summed and compared: probabilities that are long to enclose."""
    lines = "".join(f"    x{place} = q[{place}] + laplace(3 / eps)\n" for place in range(count))
    tests = "".join(f"    if x{place} > 0:\n        s = s + {2**place}\n" for place in range(count))
    return HEAD.replace("s = q[0]", "s = Fraction(0)") + lines + tests + "    return s\n", {"adjacency": "all", "length": count}


PROGRAMS = {"branches": branches(10), "draws": draws(8), "nested": nested(6), "powers": powers(), "tied": tied(9)}


def within(seconds, before):
    """Whether what was spent is within the limit."""
    return clock() - before <= 1.2 * seconds + 0.5


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_verdict_costs_no_more_than_the_seconds_that_it_may_cost(name):
    text, rest = PROGRAMS[name]
    before = clock()
    found = verify(
        text,
        claim=rest.get("claim", "eps"),
        adjacency=rest.get("adjacency", "one"),
        requires=["eps > 0", f"len(q) >= {rest.get('length', 1)}"],
        seconds=SECONDS,
    )
    assert within(SECONDS, before)
    assert found.status != "proven"


def sums(count):
    """That a sum of terms, each there or not, is no larger than the sum of their sizes."""
    symbols = {f"x{place}": Sort.REAL for place in range(count)} | {f"b{place}": Sort.BOOL for place in range(count)}
    chosen = " + ".join(f"(x{place} if b{place} else 0)" for place in range(count))
    sizes = " + ".join(f"abs(x{place})" for place in range(count))
    return expression(f"abs({chosen}) <= {sizes}", symbols, {}).term


def test_the_search_for_a_certificate_ends_in_its_time():
    before = clock()
    assert certificate(sums(6), seconds=SECONDS) is None
    assert within(SECONDS, before)


def test_a_certificate_is_given_up_alone_unless_all_time_is_up():
    assert certificate(sums(2), seconds=20) is not None
    with time_limit(60):
        assert certificate(sums(6), seconds=0.5) is None
        spend()
    with time_limit(0.5), pytest.raises(OutOfFuel):
        certificate(sums(6), seconds=20)


def hard():
    """Whether a sum of two cubes is a cube, which is undecidable for solvers in practice."""
    symbols = dict.fromkeys("xyz", Sort.INT)
    return expression("x > 1 and y > x and z > y and x ** 3 + y ** 3 == z ** 3", symbols, {}).term


def again_and_again(ask):
    """Ask a question so often that only a limit ends it."""
    for _ in range(100):
        ask()


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_solver_is_interrupted(solver):
    satisfiable([expression("x > 0", {"x": Sort.INT}, {}).term], solver=solver)
    before = clock()
    with pytest.raises(OutOfFuel), time_limit(SECONDS):
        again_and_again(lambda: satisfiable([hard()], solver=solver, seconds=60))
    assert within(SECONDS, before)
    assert "sat" == satisfiable([expression("x > 0", {"x": Sort.INT}, {}).term], solver=solver).answer.value


def test_a_session_is_interrupted_and_can_be_asked_again():
    session, before = Session(seconds=60), clock()
    with pytest.raises(OutOfFuel), time_limit(SECONDS):
        again_and_again(lambda: session.check(hard()))
    assert within(SECONDS, before)
    assert "sat" == session.check(expression("x > 0", {"x": Sort.INT}, {}).term).answer.value


def test_a_proof_and_a_counterexample_are_looked_for_no_longer_than_asked():
    text, rest = PROGRAMS["tied"]
    program = parse(text, Spec("eps", "all", ["eps > 0", f"len(q) >= {rest['length']}"]))
    before = clock()
    assert isinstance(prove(program, seconds=SECONDS), Failed)
    assert within(SECONDS, before)
    before = clock()
    with suppress(OutOfFuel), time_limit(SECONDS):
        search(program, seconds=600)
    assert within(SECONDS, before)


def test_limits_nest_and_end():
    with time_limit(10):
        with time_limit(1):
            assert seconds_left() <= 1
            with time_limit(5):
                assert seconds_left() <= 1
        assert 1 < seconds_left() <= 10
    assert math.inf == seconds_left()
    term = hard()
    with time_limit(0), pytest.raises(OutOfFuel):
        list(subterms(term))
