"""Bounds of Poisson samples: moments where losses can be infinite, and brackets whose ends have brackets of their own."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import Poisson, bounded_range, compose, explicit_pair, noisy_max, permute_and_flip, pure_dp, sparse_vector
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.exact import ball, working_precision

WEIGHTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4)


def pair(weights):
    """Two distributions on the same outputs, some of which only one of them has; None where one is empty."""
    totals = [sum(weight[side] for weight in weights) for side in (0, 1)]
    if not all(totals):
        return None
    return [tuple(Fraction(weight[side], totals[side]) for weight in weights) for side in (0, 1)]


def moment(first, second, order):
    """E over the first of (first/second)^order, finite losses only."""
    return sum((p * (p / q) ** order for p, q in zip(first, second, strict=True) if q), Fraction(0))


@given(WEIGHTS, st.fractions("1/100", "99/100", max_denominator=100), st.integers(1, 6))
def test_moments_of_a_sample_stand_above_those_of_its_pair(weights, rate, order):
    sides = pair(weights)
    if sides is None:
        return
    with_record, without = sides
    mixed = tuple((1 - rate) * q + rate * p for p, q in zip(with_record, without, strict=True))
    ((law, _),) = explicit_pair(with_record, without).parts
    removing, adding = Sampled(law, rate, removing=True), Sampled(law.reversed(), rate, removing=False)
    assert adding == removing.reversed()
    for sampled, truth in ((removing, moment(mixed, without, order)), (adding, moment(without, mixed, order))):
        with working_precision(128):
            bound = sampled.log_moment(Fraction(order))
            assert bound is None or truth == 0 or not ball(truth).log() > bound + arb(2) ** -100


def test_a_mark_of_one_dataset_does_not_make_the_moment_small():
    ((law, _),) = explicit_pair(["9/10", "1/10"], [0, 1]).parts
    with working_precision(128):
        bound = Sampled(law, Fraction(1, 2), removing=True).log_moment(Fraction(1)).exp()
        assert bound >= ball(Fraction(3025, 10000)) * (1 - arb(2) ** -100)


@pytest.mark.parametrize(
    "make", [permute_and_flip, noisy_max, sparse_vector, pure_dp, lambda epsilon: bounded_range(epsilon=epsilon)]
)
@pytest.mark.parametrize("times", [1, 3])
def test_a_sample_of_a_pure_mechanism_is_pure(make, times):
    # log(1 - q + q e) at q = 1/10, whichever bounds the law itself is known by.
    found = (times * make(1).sampled(Poisson("1/10"))).epsilon(delta=0)
    assert found.lower <= found.upper <= times * Fraction(158566, 10**6)
    small = (times * make(1).sampled(Poisson("1/10"))).epsilon(delta="1e-9")
    assert small.lower <= small.upper <= found.upper


def test_brackets_within_brackets_compose_with_others():
    total = compose(permute_and_flip(1).sampled(Poisson("1/10")), pure_dp(1))
    assert 1 <= total.epsilon(delta=0).upper <= Fraction(1158566, 10**6)
