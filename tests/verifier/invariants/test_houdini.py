"""What is kept holds at the first round and after each, what does not hold is dropped, and what nothing needs is left out."""

from __future__ import annotations

import pytest

from dpaudit.catalogue.programs import sums
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.invariants.candidates import candidates
from dpaudit.verifier.invariants.houdini import Houdini
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.product.statements import execute
from dpaudit.verifier.solving import Answer, Outcome, Session
from dpaudit.verifier.terms import ZERO, Sort, add, equal, less, less_equal, negative, variable

INDEX = variable("i", Sort.INT)
APART = add(variable("other.total", Sort.REAL), negative(variable("total", Sort.REAL)))
SHIFT = {1: negative(APART)}


def settled(guesses):
    """The candidates for the loop of the sum that are kept."""
    program = parse(sums.partial_sum)
    houdini = Houdini(Execution(program, directions(program)[0], SHIFT, {1: tuple(guesses)}, switched=True))
    houdini.settle()
    return [guesses[position] for _, position in houdini.kept], houdini


def test_what_fails_at_first_or_later_is_dropped():
    held, later, never = less_equal(ZERO, INDEX), less_equal(INDEX, ZERO), less(INDEX, ZERO)
    assert [held] == settled([held, later, never])[0]


def test_what_rests_on_something_dropped_is_dropped_too():
    one, other = variable("total", Sort.REAL), variable("other.total", Sort.REAL)
    # The sums are equal as long as their difference is not positive and not negative, and it may be either.
    assert [] == settled([less_equal(one, other), less_equal(other, one), equal(one, other)])[0]


def test_a_solver_without_an_answer_keeps_nothing(monkeypatch):
    monkeypatch.setattr(Session, "check", lambda *_: Outcome(Answer.UNKNOWN, None, 0.0, "z3"))
    assert [] == settled([less_equal(ZERO, INDEX)])[0]


def test_an_obligation_that_does_not_follow_is_named():
    failed = settled([less_equal(ZERO, INDEX)])[1].needed()
    assert isinstance(failed, Obligation)
    assert "cost" == failed.kind


@pytest.fixture(scope="module")
def proven():
    """All candidates for the sum with its right alignment, and those that are needed."""
    program = parse(sums.partial_sum)
    pairs = directions(program)[0]
    plain = Execution(program, pairs, SHIFT, {})
    execute(plain)
    guesses = candidates(plain)
    houdini = Houdini(Execution(program, pairs, SHIFT, guesses, switched=True))
    houdini.settle()
    return guesses, houdini.needed()


def test_what_is_needed_is_a_small_part_of_what_was_guessed(proven):
    guesses, needed = proven
    assert 0 < len(needed[1]) <= 6
    assert set(needed[1]) <= set(guesses[1])
    assert len(guesses[1]) == len(set(guesses[1]))
