"""Every lemma is confirmed by both solvers and by the kernel, has hypotheses that can be met, and is written down."""

from __future__ import annotations

import pytest

from devtools.site import TABLES
from dpaudit.verifier.lemmas import INEQUALITIES, LEMMAS, QUESTIONS, Confirmation, Lemma, checked
from dpaudit.verifier.solving import Answer


@pytest.mark.parametrize("name", LEMMAS)
def test_a_lemma_is_confirmed(name):
    found = checked(LEMMAS[name], seconds=60.0)
    assert found.holds
    assert (Answer.UNSAT, Answer.UNSAT, True) == (found.z3, found.cvc5, found.kernel)


def test_the_site_lists_just_these_lemmas():
    names = [*LEMMAS, *(question.name for question in QUESTIONS), *(inequality.name for inequality in INEQUALITIES)]
    assert [f"| `{name}` |" for name in names] == [" ".join(line.split()[:3]) for line in TABLES["lemmas"]().splitlines()[2:]]


@pytest.mark.parametrize(
    ("answers", "kernel", "example", "expected"),
    [
        ((Answer.UNSAT, Answer.UNSAT), False, True, True),
        ((Answer.UNSAT, Answer.UNKNOWN), True, True, True),
        ((Answer.UNSAT, Answer.UNKNOWN), False, True, False),
        ((Answer.UNKNOWN, Answer.UNKNOWN), True, True, False),
        ((Answer.UNSAT, Answer.SAT), True, True, False),
        ((Answer.UNSAT, Answer.UNSAT), True, False, False),
    ],
)
def test_one_checker_is_never_enough(answers, kernel, example, expected):
    assert expected is Confirmation(*answers, kernel=kernel, example=example, seconds=0.0).holds


@pytest.mark.parametrize(
    ("hypotheses", "goal"),
    [
        (("x <= 1",), "x < 1"),
        # What follows from hypotheses that contradict each other says nothing.
        (("x < 0", "0 < x"), "x == 5"),
        # A quotient must be defined before anything is said of it, by what stands before it.
        ((), "x / y == x / y"),
        (("1 <= x / y", "0 < y"), "x / y == x / y"),
    ],
)
def test_what_is_no_lemma_is_not_confirmed(hypotheses, goal):
    assert not checked(Lemma("test.wrong", "wrong", "x y", hypotheses, goal, "nobody")).holds


def test_a_quotient_may_be_defined_by_what_stands_before_it():
    assert checked(Lemma("test.right", "right", "x y", ("0 < y", "1 <= x / y"), "y <= x", "everybody")).holds
