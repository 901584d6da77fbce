"""Probabilities of conditions that tie several draws together: sums of many, and chains that look like circles."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from flint import arb, fmpq

from dpaudit.exact import ball_endpoints
from dpaudit.verifier.refuter.forms import Condition, Form
from dpaudit.verifier.refuter.paths import Noise, Undecided
from dpaudit.verifier.refuter.pieces import decay
from dpaudit.verifier.refuter.regions import mass_of

LAPLACE = Noise(decay(fmpq(1), arb(fmpq(1, 2)), whole=False, one_sided=False), fmpq(1))
WIDE = Noise(decay(fmpq(1, 2), arb(fmpq(1, 4)), whole=False, one_sided=False), fmpq(1))


def below(factors, start=0, relation="<"):
    """A sum of draws is below minus a number."""
    return Condition(Form({place: fmpq(factor) for place, factor in factors.items()}, fmpq(start)), relation)


def number(mass):
    """The middle of a probability."""
    low, high = ball_endpoints(mass)
    assert high - low < 1e-9
    return float(low)


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
@pytest.mark.parametrize("redundant", [False, True])
def test_each_order_of_three_like_draws_has_a_sixth(order, redundant):
    first, second, third = order
    conditions = [below({first: 1, second: -1}), below({second: 1, third: -1}, relation="<=")]
    # The last says nothing new and closes a circle.
    conditions += [below({first: 1, third: -1})] if redundant else []
    noises = dict.fromkeys((1, 2, 3), LAPLACE)
    assert math.isclose(1 / 6, number(mass_of(noises, tuple(conditions))), abs_tol=1e-9)


def test_orders_that_exclude_each_other_have_probability_0():
    noises = dict.fromkeys((1, 2, 3), LAPLACE)
    circle = [below({1: 1, 2: -1}), below({2: 1, 3: -1}), below({3: 1, 1: -1})]
    assert 0 == number(mass_of(noises, tuple(circle)))
    assert 0 == number(mass_of(noises, (below({1: 1, 2: -1}), below({2: 1, 1: -1}))))
    # With room for it nothing is excluded.
    room = [below({1: 1, 2: -1}, -5), below({2: 1, 1: -1}, -5)]
    assert 0.9 < number(mass_of(noises, tuple(room))) < 1


def test_a_circle_that_says_more_is_refused():
    noises = dict.fromkeys((1, 2, 3), LAPLACE)
    with pytest.raises(Undecided):
        mass_of(noises, (below({1: 1, 2: -1}, -5), below({2: 1, 3: -1}, -5), below({1: 1, 3: -1}, -1)))


def test_a_sum_of_three_draws_is_one_draw():
    # P(x + y + z < 0) = 1/2; by symmetry the two tails are alike.
    noises = {1: LAPLACE, 2: LAPLACE, 3: WIDE}
    assert math.isclose(0.5, number(mass_of(noises, (below({1: 1, 2: 1, 3: 1}),))), abs_tol=1e-9)
    tails = [number(mass_of(noises, (below(dict.fromkeys(noises, sign), 4),))) for sign in (1, -1)]
    assert math.isclose(tails[0], tails[1], abs_tol=1e-9)
    assert 0 < tails[0] < 0.25


def test_sums_along_a_chain_are_folded_one_after_the_other():
    """P(x < 0, x + y < 0, x + y + z < 0) of like symmetric draws is 5/16, whatever they are (Sparre Andersen)."""
    noises = dict.fromkeys((1, 2, 3), LAPLACE)
    conditions = (below({1: 1}), below({1: 1, 2: 1}), below({1: 1, 2: 1, 3: 1}))
    assert math.isclose(5 / 16, number(mass_of(noises, conditions)), abs_tol=1e-9)


def test_sums_that_share_their_draws_in_other_ways_are_refused():
    noises = dict.fromkeys((1, 2, 3), LAPLACE)
    with pytest.raises(Undecided):
        mass_of(noises, (below({1: 1, 2: 1, 3: 1}), below({1: 1, 2: -1, 3: 2})))
