"""Alignments are found with as little as they need, in each mode, and none is found where data can be told apart."""

from __future__ import annotations

import pytest

from dpaudit.catalogue.programs import maximum, sparse_vector, sums
from dpaudit.spec import Spec
from dpaudit.verifier.alignment.search import Search, user_alignment
from dpaudit.verifier.alignment.templates import narrow, templates
from dpaudit.verifier.evaluation import value_of
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.runs import Misused
from dpaudit.verifier.terms import Op, Sort, number_of, variable
from tests.verifier.reach.cases import variants

NAMED = """
def named(q: list[Fraction], eps: Fraction) -> Fraction:
    eta = laplace(1 / eps)
    return q[0] + eta
"""


def first_found(function, *, pointwise=False):
    """The first alignment found for a function of the suite."""
    program = parse(function)
    return next(Search(program, directions(program)[0], pointwise).found(), None)


def variant(name):
    """A program of the variants."""
    case = next(one for one in variants() if one.name == name)
    return parse(case.source, Spec(**case.specification))


def named(align):
    """The alignment that a specification gives."""
    program = parse(NAMED, Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"], align=align))
    return user_alignment(program, directions(program)[0], pointwise=False)


def test_a_sum_is_hidden_by_its_own_distance():
    (shift,) = first_found(sums.partial_sum).values()
    values = {"other.total": 5, "total": 3}
    assert -2 == value_of(shift, values | {"q": [0] * 9, "other.q": [0] * 9})


def test_the_threshold_moves_by_one_and_only_answers_move():
    found = first_found(sparse_vector.sparse_vector)
    assert 1 == number_of(found[1])
    assert Op.CHOOSE is found[2].op
    assert 0 == number_of(found[2].args[2])


def test_the_largest_is_moved_at_the_output_only():
    assert "(2 if (i == ghost.o) else 0)" == str(first_found(maximum.noisy_max, pointwise=True)[1])


@pytest.mark.parametrize(
    "function",
    [sums.bad_partial_sum, sums.bad_smart_sum, maximum.bad_noisy_max, sparse_vector.bad_sparse_vector_without_stop],
    ids=lambda function: function.__name__,
)
def test_nothing_is_found_where_data_can_be_told_apart(function):
    assert first_found(function) is None


def test_noise_is_followed_to_its_first_test_and_to_outputs():
    program = parse(sparse_vector.gap_sparse_vector)
    threshold, query = templates(program, directions(program)[0], None)
    assert ((), 1) == (threshold.tests, len(query.tests))
    assert {"1"} == set(map(str, threshold.basis))
    assert {"1", "(other.noisy + (-1 * noisy))", "(other.q[i] + (-1 * q[i]))"} < set(map(str, query.basis))


def test_a_fresh_threshold_moves_only_if_there_is_another_round_that_tests_it():
    program = variant("sparse vector with a fresh threshold after each answer")
    first, query, fresh = narrow(program, directions(program)[0])
    assert ((), False) == (first.tests, first.still)
    assert ((True, 1), (True, ["(found < n)"])) == (
        (query.still, len(query.tests)),
        (fresh.still, [str(one) for one in fresh.tests]),
    )


def test_answers_that_each_cost_a_sixth_of_the_claim_are_not_an_alignment():
    program = variant("sparse vector, high and low in turn")
    found = next(Search(program, directions(program)[0]).found())
    assert (1, -1) == (number_of(found[1]), number_of(found[2]))


def test_a_fresh_threshold_is_not_paid_for_by_noise_for_one():
    program = variant("sparse vector with a fresh threshold and noise for one answer")
    search = Search(program, directions(program)[0])
    assert not list(search.fitted(list(narrow(program, search.pairs)), (2, 3, 5)))


def test_given_shifts_are_read_in_the_words_of_both_runs():
    shift = named({"eta": "q[0] - other.q[0]"})[1]
    names = {str(part.value) for part in shift.args} | {str(part.value) for one in shift.args for part in one.args}
    assert {"q", "other.q"} <= names


def test_a_shift_for_no_draw_is_refused():
    with pytest.raises(Misused, match="no draw"):
        named({"noise": "1"})


def test_a_given_shift_is_not_searched_for():
    program = parse(NAMED, Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"]))
    given = {1: variable("eta", Sort.REAL)}
    assert [given] == list(Search(program, directions(program)[0], given=given).found())
