"""Counterexamples and vacuity runs are made again by Python itself, on draws that were written down."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpaudit import verify
from dpaudit.catalogue import PROGRAMS
from dpaudit.spec import Spec
from dpaudit.verifier import verifying
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.interpreter import Halt
from dpaudit.verifier.product.walk import draws
from dpaudit.verifier.product.witness import Empty, Witnesses, first_unreachable_output, witnesses
from dpaudit.verifier.refuter.events import Box, Event
from dpaudit.verifier.refuter.reproducing import is_reproduced
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.replay import Differs, Drawn, is_same_end, python_run

FALSE = [case for case in PROGRAMS if case.verdict == "refuted" and "adaptive" not in case.program.__name__]
PROMISE = Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])
HEAD = "def noisy(q: list[Fraction], eps: Fraction) -> {0}:\n"
LOUD = HEAD.format("Fraction") + "    return q[0] + laplace(1 / (2 * eps))\n"
LATTICE = HEAD.format("int").replace("list[Fraction]", "list[int]") + "    return q[0] + discrete_laplace(1 / (2 * eps))\n"
ONE_SIDED = HEAD.format("Fraction") + "    return q[0] + exponential(1 / (2 * eps))\n"
CHOICE = HEAD.format("int") + "    return exponential_choice(q, 4 * eps, 1)\n"
TWICE = HEAD.format("tuple[Fraction, Fraction]") + "    x = laplace(1 / eps)\n    return q[0] + x, x\n"
RAISES = HEAD.format("int") + "    if q[0] > 0:\n        raise ValueError\n    return 1\n"


@pytest.mark.parametrize("case", FALSE, ids=lambda case: case.program.__name__)
def test_python_gives_the_event_of_every_false_program_of_the_suite(case):
    program = parse(case.program)
    assert is_reproduced(program, search(program))


@pytest.mark.parametrize("text", [LOUD, LATTICE, ONE_SIDED, CHOICE, TWICE, RAISES])
def test_python_gives_events_of_every_kind(text):
    program = parse(text, PROMISE)
    assert is_reproduced(program, search(program))


@pytest.mark.parametrize(
    ("text", "said", "done"),
    [
        (LOUD, "q[0] + laplace", "-q[0] - 7 + laplace"),
        (LOUD, "2 * eps", "3 * eps"),
        (LOUD, "laplace(", "gaussian("),
        (LOUD, "laplace(1 / (2 * eps))", "laplace(1 / (2 * eps)) + laplace(1)"),
        (LOUD, " + laplace(1 / (2 * eps))", ""),
        (TWICE, "return q[0] + x, x", "return q[0] + 2 * x, x"),
        (CHOICE, "return exponential_choice(q, 4 * eps, 1)", "return 1 - exponential_choice(q, 4 * eps, 1)"),
        (RAISES, "ValueError", "OverflowError"),
    ],
)
def test_a_counterexample_of_a_program_that_is_not_its_source_is_none(text, said, done):
    program = parse(text, PROMISE)
    witness = search(program)
    assert is_reproduced(program, witness)
    assert not is_reproduced(replace(program, source=text.replace(said, done)), witness)


def test_an_event_that_does_not_come_out_is_none():
    program = parse(LOUD, PROMISE)
    witness = search(program)
    assert not is_reproduced(program, replace(witness, event=Event((True,))))
    assert not is_reproduced(program, replace(witness, event=Event((Box(Fraction(1), Fraction(1)),))))


def test_what_python_does_not_reproduce_is_not_refuted(monkeypatch):
    monkeypatch.setattr(verifying, "is_reproduced", lambda program, witness: False)
    found = verify(LOUD, claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])
    assert ("unknown", None) == (found.status, found.witness)
    assert "Python" in found.reason


# Runs by Python.


def drawn(program, *values, args=None):
    """Recorded values for the first draw of a program, again and again."""
    return [Drawn(next(iter(draws(program.body))), args, value) for value in values]


def test_python_runs_on_the_recorded_draws():
    program = parse(LOUD, PROMISE)
    inputs = {"q": (Fraction(3),), "eps": Fraction(1)}
    ended = python_run(program, inputs, drawn(program, Fraction(1, 4), args=(Fraction(1, 2),)))
    assert Halt((Fraction(13, 4),)) == ended
    assert Halt((), "IndexError") == python_run(program, inputs | {"q": ()}, [])


@pytest.mark.parametrize(
    ("values", "args"), [((), None), ((Fraction(1), Fraction(1)), None), ((Fraction(1),), (Fraction(1, 3),))], ids=str
)
def test_other_draws_than_the_recorded_ones_are_noticed(values, args):
    program = parse(LOUD, PROMISE)
    with pytest.raises(Differs):
        python_run(program, {"q": [Fraction(3)], "eps": Fraction(1)}, drawn(program, *values, args=args))


def test_another_law_than_the_recorded_one_is_noticed():
    program = parse(LOUD, PROMISE)
    with pytest.raises(Differs, match="exponential"):
        python_run(replace(program, source=ONE_SIDED), {"q": [1], "eps": Fraction(1)}, drawn(program, Fraction(1)))


def test_ends_are_compared_with_their_types():
    assert is_same_end(Halt((1, (True,))), Halt((1, (True,))))
    assert not is_same_end(Halt((1, (True,))), Halt((1, (1,))))
    assert not is_same_end(Halt((1,)), Halt((Fraction(1),)))
    assert not is_same_end(Halt(()), Halt((), "ValueError"))


def test_outputs_are_reached_only_if_python_comes_there_too():
    program = parse(LOUD, PROMISE)
    assert first_unreachable_output(witnesses(program)) is None
    other = replace(program, source=LOUD.replace("q[0] +", "1 + q[0] +"))
    assert isinstance(witnesses(other), Empty)
    assert 2 == first_unreachable_output(Witnesses(other)).line


def test_each_return_has_to_be_reached():
    text = HEAD.format("Fraction") + "    if eps > 1:\n        return laplace(1 / eps)\n    return q[0] + laplace(1 / eps)\n"
    assert first_unreachable_output(witnesses(parse(text, PROMISE))) is None
    never = replace(PROMISE, requires=("eps > 0", "eps <= 1", "len(q) >= 1"))
    assert 3 == first_unreachable_output(witnesses(parse(text, never))).line
