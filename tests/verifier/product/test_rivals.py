"""Shifts that look at later noise: gaps of a noisy maximum are proven, and whatever Theorem A' does not allow is refused."""

from __future__ import annotations

import pytest

from dpaudit.spec import Spec
from dpaudit.verifier.alignment.ahead import is_lead, leads
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.product.rivals import OWN, SENSES
from dpaudit.verifier.product.runs import Misused
from dpaudit.verifier.product.statements import execute
from dpaudit.verifier.proving import Proof, modes, prove
from dpaudit.verifier.terms import Sort, add, apply, choose, constant, equal, less_equal, variable

GAP = """
def gap(q: list[Fraction], t: Fraction, eps: Fraction) -> tuple[int, Fraction]:
    best = q[0] + laplace(2 / eps)
    runner = Fraction(0)
    winner = 0
    for i in range(1, len(q)):
        x = q[i] + laplace(2 / eps)
        if x > best:
            runner = best
            best = x
            winner = i
        elif i == 1 or x > runner:
            runner = x
    return winner, best - runner
"""
LEAST = GAP.replace("x > best", "x < best").replace("x > runner", "x < runner").replace("best - runner", "runner - best")
MOST = SENSES[0]
INDEX, OUTPUT, ZERO = variable("i", Sort.INT), variable("ghost.o", Sort.INT), constant(0, Sort.REAL)


def read(source, adjacency="all", claim="eps"):
    """A program with its promise."""
    return parse(source, Spec(claim=claim, adjacency=adjacency, requires=["eps > 0", "len(q) >= 2"]))


def executed(source, alignment):
    """The obligations of a program with an alignment that looks at one output."""
    program = read(source)
    return execute(Execution(program, directions(program)[0], alignment, {}, pointwise=True)).obligations


def lead(source):
    """The first alignment by which a winner keeps its lead."""
    program = read(source)
    return next(leads(program, directions(program)[0]))


@pytest.mark.parametrize(
    ("source", "adjacency"),
    [(GAP, "all"), (LEAST, "all"), (GAP.replace("2 / eps", "1 / eps"), "inc"), (GAP.replace("2 / eps", "1 / eps"), "one")],
    ids=["largest", "smallest", "all grow", "one changes"],
)
def test_an_index_and_its_gap_are_proven(source, adjacency):
    assert isinstance(prove(read(source, adjacency), seconds=30), Proof)


WRONG = {
    "half the noise": ("2 / eps", "1 / eps"),
    "the winner's value": ("best - runner", "best"),
    "the runner-up's value": ("best - runner", "runner"),
    "the gap to a public number": ("best - runner", "best - t"),
    "the gap to a true answer": ("best - runner", "best - q[0]"),
    "the sum instead of the gap": ("best - runner", "best + runner"),
    "noise of a tenth for later answers": ("x = q[i] + laplace(2 / eps)", "x = q[i] + laplace(1 / (5 * eps))"),
    "twice the answer": ("x = q[i] + laplace(2 / eps)", "x = 2 * q[i] + laplace(2 / eps)"),
    "an answer without noise": ("x = q[i] + laplace(2 / eps)", "y = laplace(2 / eps)\n        x = q[i]"),
    "the answer before it": ("x = q[i] + laplace(2 / eps)", "x = q[i] + q[i - 1] + laplace(2 / eps)"),
    "a gap that is stretched": ("best - runner", "3 * best - 2 * runner"),
}


@pytest.mark.parametrize(("old", "new"), WRONG.values(), ids=WRONG)
def test_what_is_more_than_the_gap_is_not(old, new):
    program = read(GAP.replace(old, new))
    for pairs in directions(program):
        for alignment in leads(program, pairs):
            made = execute(Execution(program, pairs, alignment, {}, pointwise=True))
            assert made.obligations
    assert not isinstance(prove(program, seconds=4), Proof)


def test_lattice_noise_may_tie_and_does_not_look_ahead():
    source = GAP.replace("list[Fraction]", "list[int]").replace("tuple[int, Fraction]", "tuple[int, int]")
    program = read(source.replace("laplace(2 / eps)", "discrete_laplace(2 / eps)").replace("Fraction(0)", "0"))
    assert [] == list(leads(program, directions(program)[0]))


FORMS = {
    "a draw under a test": ("        if x > best:\n", "        if x > best:\n            y = laplace(1)\n"),
    "a loop that is left": ("            winner = i\n", "            winner = i\n            break\n"),
    "a number of rounds that noise decides": (
        "    for i in range(1, len(q)):\n",
        "    n = 1\n    if best > 0:\n        n = 2\n    for i in range(n, len(q)):\n",
    ),
    "a scale that noise decides": (
        "x = q[i] + laplace(2 / eps)",
        "b = Fraction(2)\n        if best > 0:\n            b = Fraction(3)\n        x = q[i] + laplace(b / eps)",
    ),
    "an early return": ("        if x > best:\n", "        if x > 9:\n            return i, x\n        if x > best:\n"),
}


@pytest.mark.parametrize(("old", "new"), FORMS.values(), ids=FORMS)
def test_what_noise_may_decide_is_no_fixed_number_of_draws(old, new):
    program = read(GAP.replace(old, new))
    assert [] == list(leads(program, directions(program)[0]))
    with pytest.raises(Misused):
        executed(GAP.replace(old, new), {1: choose(equal(constant(0), OUTPUT), MOST.apart, ZERO)})


BEST, NOISE = variable("best", Sort.REAL), variable("laplace.2", Sort.REAL)
FORGED = {
    "its own value": choose(equal(INDEX, OUTPUT), add(MOST.apart, OWN), ZERO),
    "rivals that move": choose(equal(INDEX, OUTPUT), MOST.apart, constant(1, Sort.REAL)),
    "rivals that look ahead": choose(equal(INDEX, OUTPUT), ZERO, MOST.apart),
    "all that look ahead": MOST.apart,
    "names that change": choose(equal(INDEX, OUTPUT), add(MOST.apart, BEST), ZERO),
    "a choice by noise": choose(less_equal(BEST, ZERO), MOST.apart, ZERO),
    "a choice by its own noise": choose(less_equal(NOISE, ZERO), MOST.apart, ZERO),
    "a choice by data": choose(equal(apply("q", (INDEX,), Sort.REAL), ZERO), MOST.apart, ZERO),
    "a choice by what is ahead": choose(less_equal(MOST.one, ZERO), MOST.apart, ZERO),
    "both ends": choose(equal(INDEX, OUTPUT), add(MOST.one, SENSES[1].one), ZERO),
    "its own noise": choose(equal(INDEX, OUTPUT), add(MOST.apart, NOISE), ZERO),
}


@pytest.mark.parametrize("shift", FORGED.values(), ids=FORGED)
def test_shifts_of_another_form_are_refused(shift):
    with pytest.raises(Misused):
        executed(GAP, {**lead(GAP), 2: shift})


def test_draws_beside_it_may_not_use_noise_either():
    source = GAP.replace("    runner = Fraction(0)\n", "    runner = Fraction(0)\n    z = laplace(1)\n", 1)
    assert executed(source, {1: lead(source)[1], 2: constant(1, Sort.REAL), 3: lead(source)[3]})
    with pytest.raises(Misused):
        executed(source, {**lead(source), 2: BEST})


def test_all_outputs_at_once_cannot_look_ahead():
    program = read(GAP)
    with pytest.raises(Misused):
        Execution(program, directions(program)[0], lead(GAP), {}, pointwise=False)


def test_one_output_at_a_time_comes_first_where_a_number_stands_beside_an_index():
    program = read(GAP)
    assert is_lead(program, directions(program)[0])
    assert (True, False) == modes(program, directions(program)[0])


def test_two_chosen_draws_are_owed_to_be_one():
    # Both draws are chosen where the output is 1, so that the second finds that one was.
    alignment = {1: choose(equal(constant(1), OUTPUT), MOST.apart, ZERO), 2: lead(GAP)[2]}
    program = read(GAP)
    book = execute(Execution(program, directions(program)[0], alignment, {}, pointwise=True, rounds=2))
    from dpaudit.verifier.confirming import Confirmations

    unproven = Confirmations().first_unproven([one for one in book.obligations if one.kind == "ahead"])
    assert unproven is not None
    assert "ahead" == unproven.kind
