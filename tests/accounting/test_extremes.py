"""Extreme parameters: a certified answer or a coded refusal, never NaN, a negative number or an empty interval."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from dpaudit.accounting import (
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    laplace,
    pure_dp,
    randomized_response,
    rdp,
    zcdp,
)
from dpaudit.errors import DpauditError

SCALES = ["1e-3", "1", "1e3", "1e6"]
COUNTS = [0, 1, 10**9]
EPSILONS = ["0", "1e-12", "1", "1e3"]
DELTAS = ["0", "1e-300", "1e-6", "0.9"]
LAWS = {
    "gaussian": gaussian,
    "laplace": laplace,
    "discrete_laplace": discrete_laplace,
    "discrete_gaussian": discrete_gaussian,
    "randomized_response": randomized_response,
    "pure_dp": pure_dp,
    "bounded_range": bounded_range,
    "zcdp": zcdp,
    "approx_dp": lambda epsilon: approx_dp(epsilon, delta="1e-12"),
    "rdp": lambda bound: rdp({2: bound}),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_extreme_parameters_give_ordered_answers(name, scale):
    for count in COUNTS:
        loss = count * LAWS[name](scale)
        deltas = [loss.delta(epsilon=epsilon) for epsilon in EPSILONS]
        assert all(0 <= found.lower <= found.upper <= 1 for found in deltas)
        assert all(far.lower <= near.upper for near, far in pairwise(deltas))
        epsilons = [loss.epsilon(delta=delta) for delta in DELTAS]
        assert all(0 <= found.lower <= found.upper for found in epsilons)
        assert all(far.lower <= near.upper for near, far in pairwise(epsilons))


@pytest.mark.parametrize("name", LAWS)
def test_no_release_loses_nothing(name):
    loss = 0 * LAWS[name]("1/2")
    assert (0, 0) == (loss.delta(epsilon=0).lower, loss.delta(epsilon=0).upper)
    assert (0, 0) == (loss.epsilon(delta=0).lower, loss.epsilon(delta=0).upper)
    assert loss == 3 * loss


@pytest.mark.parametrize("law", [gaussian, discrete_gaussian])
def test_an_unbounded_loss_has_no_pure_epsilon(law):
    found = law(1).epsilon(delta=0)
    assert (math.inf, math.inf) == (found.lower, found.upper)


def test_an_epsilon_is_infinite_exactly_where_the_infinite_loss_is_too_likely():
    loss = 2 * approx_dp(1, delta="1e-3")
    revealing = 1 - (1 - Fraction(1, 1000)) ** 2
    assert math.inf == loss.epsilon(delta=revealing - Fraction(1, 10**12)).lower
    assert (2, 2) == (loss.epsilon(delta=revealing).lower, loss.epsilon(delta=revealing).upper)
    assert loss.epsilon(delta=revealing + Fraction(1, 1000)).upper < 2


def test_pairs_without_a_common_output_lose_everything():
    loss = explicit_pair([1, 0], [0, 1])
    assert (1, 1) == (loss.delta(epsilon=1000).lower, loss.delta(epsilon=1000).upper)
    assert math.inf == compose(loss, gaussian(1)).epsilon(delta="0.99").lower


def test_equal_pairs_lose_nothing():
    loss = 50 * explicit_pair(["1/3", "2/3"], ["1/3", "2/3"])
    assert (0, 0) == (loss.delta(epsilon=0).lower, loss.delta(epsilon=0).upper)
    assert (0, 0) == (loss.epsilon(delta="1/2").lower, loss.epsilon(delta="1/2").upper)


@pytest.mark.parametrize("epsilon", [Fraction(1) - Fraction(1, 10**30), Fraction(1), Fraction(1) + Fraction(1, 10**30)])
def test_the_greatest_loss_is_the_sharp_edge_of_a_pure_law(epsilon):
    for loss in (pure_dp(1), laplace(1), discrete_laplace(1), bounded_range(1), randomized_response(1)):
        found = loss.delta(epsilon=epsilon)
        assert (found.upper > 0) == (epsilon < 1)
        assert (found.lower > 0) == (epsilon < 1)


def test_an_epsilon_beyond_all_floats_is_answered():
    for loss in (2 * discrete_gaussian(1), compose(gaussian(1), pure_dp(1)), 3 * laplace(1), 2 * approx_dp(1, delta="1/2")):
        found = loss.delta(epsilon="1e400")
        assert 0 <= found.lower <= found.upper <= Fraction(3, 4)


def test_huge_and_tiny_numbers_are_answered_or_refused_with_a_code():
    for size in ("1e-4000", "1e-300", "1e300", "1e4000"):
        for law in (gaussian, laplace, discrete_laplace, pure_dp, bounded_range, zcdp):
            try:
                found = law(size).delta(epsilon=1)
            except DpauditError:
                continue
            assert 0 <= found.lower <= found.upper <= 1


def test_a_loss_that_is_reported_as_a_million_small_ones_stays_exact_for_gaussians():
    found, single = (10**6 * gaussian(1000)).delta(epsilon=3), gaussian(1).delta(epsilon=3)
    assert (single.lower, single.upper) == (found.lower, found.upper)
