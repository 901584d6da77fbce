"""Obligations are regenerated from what is claimed, and nothing that a certificate brings along is believed."""

from __future__ import annotations

import pytest

from dpaudit.catalogue.programs import sparse_vector, sums
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import expression, parse
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.rational import at_most, reduce_ratio
from dpaudit.verifier.product.runs import Misused
from dpaudit.verifier.proving import Proof, obligations, prove
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.terms import FALSE, ONE, TRUE, ZERO, Sort, less, less_equal, negation, subtract, variable

LATER_STATE = """
def later(q: list[Fraction], eps: Fraction) -> int:
    x = laplace(2 / eps)
    y = Fraction(0)
    for i in range(1):
        y = laplace(2 / eps)
    if y + x > 0:
        return 1
    return 0
"""


def unproven(made):
    """The kinds of obligation that z3 does not confirm."""
    return {one.kind for one in made if satisfiable([negation(one.formula)]).answer is not Answer.UNSAT}


@pytest.fixture
def sums_program():
    """A program with one loop and one draw."""
    program = parse(sums.partial_sum)
    return program, directions(program)[0]


def test_the_same_arguments_give_the_same_obligations():
    program = parse(sparse_vector.sparse_vector)
    found = prove(program)
    assert isinstance(found, Proof)
    for one in found.directions:
        again = obligations(program, one.pairs, one.alignment, one.invariants, pointwise=one.pointwise)
        assert one.obligations == again
        assert len(again) == len({obligation.id for obligation in again})


def test_growing_lists_are_proven_both_ways_with_different_alignments():
    found = prove(parse(sparse_vector.sparse_vector_increasing))
    assert isinstance(found, Proof)
    up, down = found.directions
    assert (False, True) == (up.pairs.reverse, down.pairs.reverse)
    assert "triangular" not in unproven(obligations(parse(sparse_vector.sparse_vector_increasing), down.pairs, up.alignment, {}))
    assert up.alignment != down.alignment


def test_without_invariants_a_loop_proves_nothing(sums_program):
    program, pairs = sums_program
    assert {"out", "cost"} & unproven(obligations(program, pairs, {}, {}))


@pytest.mark.parametrize("name", ["$noise.1", "nobody", "total@1", "other.nobody", "ghost.o"])
def test_invariants_speak_of_what_is_there_at_their_head_only(name, sums_program):
    program, pairs = sums_program
    with pytest.raises(Misused, match="not there at the head"):
        obligations(program, pairs, {}, {1: (less_equal(ZERO, variable(name, Sort.REAL)),)})


@pytest.mark.parametrize("name", ["y@1", "$noise.2", "y~", "nobody", "ghost.o"])
def test_a_shift_speaks_of_no_later_state(name):
    program = parse(LATER_STATE, Spec(claim="eps", adjacency="one", requires=["eps > 0"]))
    made = obligations(program, directions(program)[0], {1: variable(name, Sort.REAL)}, {})
    assert [FALSE, TRUE] == [one.formula for one in made if one.kind == "triangular"]


def test_false_invariants_are_not_proven(sums_program):
    program, pairs = sums_program
    assert {"init", "step"} & unproven(obligations(program, pairs, {}, {1: (less(variable("i", Sort.INT), ZERO),)}))


def test_clearing_asks_for_the_sign_of_every_divisor():
    n = variable("N", Sort.REAL)
    claim = expression("1 / (N - 1)", {"N": Sort.REAL}, {}).term
    assert "((0 < (N + -1)) and ((N + -2) <= 0))" == str(at_most(ONE, claim))
    scale = expression("(N - 1) / (N - 1)", {"N": Sort.REAL}, {}).term
    assert negation(less_equal(scale, ONE)) is not at_most(scale, ONE)
    assert "(not ((N + -1) == 0))" in str(at_most(scale, ONE))
    assert subtract(n, ONE) is reduce_ratio(expression("(N * N - 1) / (N + 1)", {"N": Sort.REAL}, {}).term)
