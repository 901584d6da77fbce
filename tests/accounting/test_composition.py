"""Laws that every loss obeys, drawn at random, and finite compositions against brute force over all their outcomes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpaudit.accounting import (
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gdp,
    laplace,
    pure_dp,
    randomized_response,
    rdp,
    zcdp,
)
from dpaudit.errors import AdjacencyMismatch


def distributions(size):
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return weights.map(lambda parts: tuple(Fraction(part, sum(parts)) for part in parts))


PAIRS = st.integers(2, 4).flatmap(lambda size: st.tuples(distributions(size), distributions(size)))
POSITIVE = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=40)
EPSILONS = st.fractions(min_value=0, max_value=6, max_denominator=50)
DELTAS = st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=10**6)
TIGHT = st.one_of(
    st.builds(gaussian, POSITIVE),
    st.builds(gdp, POSITIVE),
    st.builds(laplace, POSITIVE),
    st.builds(discrete_laplace, POSITIVE, sensitivity=st.integers(1, 5)),
    st.builds(lambda variance, steps: discrete_gaussian(sigma_squared=variance, sensitivity=steps), POSITIVE, st.integers(1, 4)),
    st.builds(lambda epsilon, k: randomized_response(epsilon, categories=k, adjacency="add_remove"), POSITIVE, st.integers(2, 5)),
    st.builds(pure_dp, POSITIVE),
    st.builds(lambda epsilon, delta: approx_dp(epsilon, delta=delta), POSITIVE, st.sampled_from(["1e-9", "1e-3", "1/3"])),
    st.builds(bounded_range, POSITIVE),
    PAIRS.map(lambda pair: explicit_pair(*pair)),
)
PURE = st.one_of(
    st.builds(laplace, POSITIVE),
    st.builds(discrete_laplace, POSITIVE, sensitivity=st.integers(1, 5)),
    st.builds(pure_dp, POSITIVE),
    st.builds(bounded_range, POSITIVE),
    PAIRS.filter(lambda pair: all(all(side) for side in pair)).map(lambda pair: explicit_pair(*pair)),
)
LOOSE = st.one_of(st.builds(zcdp, POSITIVE), st.builds(lambda order, bound: rdp({1 + order: bound}), POSITIVE, POSITIVE))
LOSSES = st.one_of(TIGHT, LOOSE)
FEW = settings(max_examples=60)


def growth_between(epsilon):
    """Rationals at or just below, and at or just above, e^epsilon."""
    if epsilon == 0:
        return Fraction(1), Fraction(1)
    with mp.workdps(60):
        near = Fraction(mp.nstr(mp.exp(mpf(epsilon.numerator) / epsilon.denominator), 50, min_fixed=0, max_fixed=0))
    return near * (1 - Fraction(1, 10**45)), near * (1 + Fraction(1, 10**45))


def brute_delta(pairs, growth):
    """H_growth of a product of pairs by going through all its outcomes, the worse direction, exactly."""
    directions = []
    for side in (pairs, [(q, p) for p, q in pairs]):
        total = Fraction(0)
        for outcome in product(*(range(len(p)) for p, _ in side)):
            over = under = Fraction(1)
            for (p, q), index in zip(side, outcome, strict=True):
                over, under = over * p[index], under * q[index]
            total += max(Fraction(0), over - growth * under)
        directions.append(total)
    return max(directions)


@settings(max_examples=300)
@given(st.lists(PAIRS, min_size=1, max_size=4), EPSILONS)
def test_a_composition_of_pairs_is_what_brute_force_gives(pairs, epsilon):
    low, high = growth_between(epsilon)
    found = compose(*(explicit_pair(p, q) for p, q in pairs)).delta(epsilon=epsilon)
    assert brute_delta(pairs, low) >= found.lower
    assert brute_delta(pairs, high) <= found.upper
    assert found.width <= Fraction(1, 10**14) * found.upper


@settings(max_examples=100)
@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_the_total_variation_distance_of_rational_pairs_is_an_exact_point(pairs):
    found = compose(*(explicit_pair(p, q) for p, q in pairs)).delta(epsilon=0)
    assert brute_delta(pairs, Fraction(1)) == found.lower == found.upper


@settings(max_examples=100)
@given(PAIRS, st.integers(1, 5), EPSILONS)
def test_many_copies_are_what_brute_force_gives(pair, count, epsilon):
    low, high = growth_between(epsilon)
    found = (count * explicit_pair(*pair)).delta(epsilon=epsilon)
    assert brute_delta([pair] * count, low) >= found.lower
    assert brute_delta([pair] * count, high) <= found.upper


@settings(max_examples=100)
@given(PAIRS, st.integers(1, 3), DELTAS)
@example(((Fraction(1, 2), Fraction(1, 2)), (Fraction(1), Fraction(0))), 1, Fraction(1, 2))
def test_epsilon_at_a_delta_separates_what_brute_force_allows_from_what_it_does_not(pair, count, delta):
    found = (count * explicit_pair(*pair)).epsilon(delta=delta)
    if found.upper < 10**6:
        assert brute_delta([pair] * count, growth_between(Fraction(found.upper))[1]) <= delta + Fraction(1, 10**40)
    if 0 < found.lower < 10**6:
        assert brute_delta([pair] * count, growth_between(Fraction(found.lower) * (1 - Fraction(1, 10**12)))[0]) > delta


@given(LOSSES, EPSILONS, EPSILONS)
def test_delta_is_a_probability_that_falls_with_epsilon(loss, first, second):
    low, high = sorted((first, second))
    near, far = loss.delta(epsilon=low), loss.delta(epsilon=high)
    assert 0 <= far.lower <= far.upper <= 1
    assert far.lower <= near.upper


@FEW
@given(LOSSES, DELTAS, DELTAS)
def test_epsilon_is_at_least_zero_and_falls_with_delta(loss, first, second):
    low, high = sorted((first, second))
    near, far = loss.epsilon(delta=low), loss.epsilon(delta=high)
    assert 0 <= far.lower <= far.upper
    assert far.lower <= near.upper


@FEW
@given(TIGHT, DELTAS)
def test_both_ends_of_an_inverted_epsilon_hold_on_the_profile(loss, delta):
    found = loss.epsilon(delta=delta)
    if found.upper < 10**9:
        assert loss.delta(epsilon=found.upper).lower <= delta
        assert found.width <= found.upper / 10**9
    if 0 < found.lower < 10**9:
        assert loss.delta(epsilon=found.lower * (1 - Fraction(1, 10**9))).upper >= delta


@FEW
@given(LOSSES, LOSSES, EPSILONS)
def test_composition_does_not_depend_on_the_order(first, second, epsilon):
    assert compose(first, second) == compose(second, first)
    assert hash(compose(first, second)) == hash(compose(second, first))
    assert compose(first, second).describe() == compose(second, first).describe()
    assert compose(first, second).delta(epsilon=epsilon) == compose(second, first).delta(epsilon=epsilon)


@given(LOSSES, LOSSES, LOSSES)
def test_composition_does_not_depend_on_the_brackets(first, second, third):
    assert compose(compose(first, second), third) == compose(first, compose(second, third))


@given(LOSSES, st.integers(0, 6))
def test_a_multiple_is_a_repeated_composition(loss, count):
    assert loss == 1 * loss == compose(loss, 0 * loss)
    assert count * loss == loss * count
    assert (count + 1) * loss == compose(count * loss, loss)


@FEW
@given(LOSSES, LOSSES, EPSILONS)
def test_releasing_more_never_loses_less(first, second, epsilon):
    assert first.delta(epsilon=epsilon).lower <= compose(first, second).delta(epsilon=epsilon).upper


@FEW
@given(LOSSES, EPSILONS)
def test_the_two_directions_together_do_not_depend_on_which_is_called_first(loss, epsilon):
    assert loss == loss.reversed().reversed()
    assert loss.delta(epsilon=epsilon) == loss.reversed().delta(epsilon=epsilon)


@FEW
@given(POSITIVE, POSITIVE, EPSILONS)
def test_more_noise_never_loses_more(first, second, epsilon):
    little, much = sorted((first, second))
    for law in (gaussian, laplace, discrete_laplace, discrete_gaussian):
        assert law(much).delta(epsilon=epsilon).lower <= law(little).delta(epsilon=epsilon).upper


@FEW
@given(POSITIVE, st.integers(0, 5), st.integers(0, 5), EPSILONS)
def test_more_releases_never_lose_less(scale, first, second, epsilon):
    few, many = sorted((first, second))
    for law in (gaussian, laplace, bounded_range, pure_dp):
        assert (few * law(scale)).delta(epsilon=epsilon).lower <= (many * law(scale)).delta(epsilon=epsilon).upper


@FEW
@given(st.lists(PURE, min_size=2, max_size=4))
def test_pure_epsilons_add_up(losses):
    """Direction by direction; the sum over the worse directions is an upper bound only."""
    pure = [loss.epsilon(delta=0) for loss in losses]
    whole = compose(*losses).epsilon(delta=0)
    assert sum(part.upper for part in pure) >= whole.lower
    assert max(part.lower for part in pure) <= whole.upper
    assert 0 == compose(*losses).delta(epsilon=sum(part.upper for part in pure)).lower
    symmetric = [loss for loss in losses if loss == loss.reversed()]
    if symmetric:
        whole = compose(*symmetric).epsilon(delta=0)
        assert sum(loss.epsilon(delta=0).lower for loss in symmetric) <= whole.upper
        assert sum(loss.epsilon(delta=0).upper for loss in symmetric) >= whole.lower


@FEW
@given(POSITIVE, EPSILONS)
def test_one_law_written_in_two_ways_costs_the_same(value, epsilon):
    same = [
        (gaussian(1 / value), gdp(value)),
        (gaussian(sigma=value, sensitivity=3), gdp(3 / value)),
        (pure_dp(value), approx_dp(value, delta=0)),
        (pure_dp(value), randomized_response(value, adjacency="add_remove")),
        (laplace(scale=value, sensitivity=3), laplace(scale=value / 3)),
        (discrete_gaussian(value), discrete_gaussian(sigma_squared=value**2)),
        (4 * gaussian(value), gaussian(value / 2)),
    ]
    for left, right in same:
        assert left.delta(epsilon=epsilon).meets(right.delta(epsilon=epsilon))


@FEW
@given(st.fractions(min_value=Fraction(1, 4), max_value=2, max_denominator=9), st.integers(1, 30), EPSILONS)
def test_equal_losses_are_gathered_whatever_the_laws_are_called(step, count, epsilon):
    """A grid of commensurable epsilons and the same epsilons as ratios of an explicit pair give one composition."""
    together = compose(count * pure_dp(step), 2 * pure_dp(step / 3), approx_dp(step * 2, delta="1e-3"))
    apart = compose(*[pure_dp(step)] * count, pure_dp(step / 3), pure_dp(step / 3), approx_dp(2 * step, delta="1e-3"))
    assert together.delta(epsilon=epsilon).meets(apart.delta(epsilon=epsilon))
    assert together.delta(epsilon=epsilon).width < Fraction(1, 10**14)


def test_different_adjacencies_do_not_compose():
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        compose(gaussian(1), gaussian(1, adjacency="replace_one"))
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        compose(pure_dp(1), randomized_response(1))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**14), Fraction(1, 10**20), Fraction(1, 10**30)])
def test_a_loss_next_to_epsilon_counts_on_its_own_side_only(epsilon):
    """The middle value 0 of two opposite losses lies below these epsilons by less than a float can tell."""
    pair = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
    low, high = growth_between(epsilon)
    found = (2 * explicit_pair(*pair)).delta(epsilon=epsilon)
    assert brute_delta([pair] * 2, low) >= found.lower
    assert brute_delta([pair] * 2, high) <= found.upper


def test_parameters_of_thousands_of_digits_are_composed_too():
    tiny = compose(pure_dp("1e-4999"), pure_dp("2e-4999"))
    assert 0 <= tiny.epsilon(delta=0).lower <= tiny.epsilon(delta=0).upper < Fraction(1, 10**1000)
    assert "about" in tiny.describe()
