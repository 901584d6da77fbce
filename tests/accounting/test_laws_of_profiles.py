"""Laws that every privacy profile obeys: shape, products, processing, sampling and conversions, as far as enclosures tell."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpaudit.accounting import (
    Poisson,
    RandomAllocation,
    Shuffle,
    WithoutReplacement,
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
    staircase,
    zcdp,
)
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.exact import ball, ball_endpoints, working_precision

SIZES = st.fractions(min_value=Fraction(1, 10), max_value=10, max_denominator=20)
EPSILONS = st.fractions(min_value=0, max_value=5, max_denominator=30)
RATES = st.fractions(min_value="1/50", max_value="49/50", max_denominator=50)
ALPHAS = st.fractions(min_value="1/1000", max_value="9/10", max_denominator=1000)
SYMMETRIC = st.one_of(
    st.builds(gaussian, SIZES),
    st.builds(laplace, SIZES),
    st.builds(discrete_laplace, SIZES, sensitivity=st.integers(1, 4)),
    st.builds(lambda square, steps: discrete_gaussian(sigma_squared=square, sensitivity=steps), SIZES, st.integers(1, 3)),
    st.builds(lambda step, kinds: randomized_response(step, categories=kinds, adjacency="add_remove"), SIZES, st.integers(2, 5)),
    st.builds(lambda epsilon, delta: approx_dp(epsilon, delta=delta), SIZES, st.sampled_from(["1e-12", "1/7"])),
    st.builds(lambda fall, more, width: staircase(fall, step=more + width, width=width), SIZES, st.integers(0, 3), st.just(2)),
    st.builds(lambda sigma, step: compose(gaussian(sigma), 2 * pure_dp(step)), SIZES, SIZES),
)
FEW = settings(max_examples=25)


@st.composite
def distributions(draw, size, least=0):
    """Exact probabilities with small denominators."""
    weights = draw(st.lists(st.integers(least, 9), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


PAIRS = st.integers(2, 4).flatmap(lambda size: st.tuples(distributions(size), distributions(size)))
LOSSES = st.one_of(SYMMETRIC, PAIRS.map(lambda pair: explicit_pair(*pair)))


def exactly(function, *arguments):
    """Rationals just around a number that balls give."""
    with working_precision(256):
        return ball_endpoints(function(*(ball(argument) for argument in arguments)))


@FEW
@given(LOSSES, st.lists(EPSILONS, min_size=3, max_size=3, unique=True))
def test_a_profile_is_convex_in_the_exponential_of_epsilon(loss, places):
    near, middle, far = sorted(places)
    share = exactly(lambda x, y, z: (z.exp() - y.exp()) / (z.exp() - x.exp()), near, middle, far)[1]
    first, last = loss.delta(epsilon=near).upper, loss.delta(epsilon=far).upper
    assert loss.delta(epsilon=middle).lower <= share * first + (1 - share) * last + Fraction(1, 10**60)


@FEW
@given(LOSSES, EPSILONS, EPSILONS)
def test_a_profile_falls_no_faster_than_one_less_the_growth(loss, first, second):
    """Its slope in the exponential of epsilon is at least -1, since Q has mass 1."""
    near, far = sorted((first, second))
    drop = exactly(lambda x, y: y.exp() - x.exp(), near, far)[1]
    assert loss.delta(epsilon=near).lower - loss.delta(epsilon=far).upper <= drop


@pytest.mark.parametrize("size", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(20)])
def test_delta_at_zero_is_the_total_variation_distance(size):
    distances = [
        (gdp(size), lambda mu: (mu / arb(8).sqrt()).erf()),
        (laplace(1 / size), lambda pure: -(-pure / 2).expm1()),
        (pure_dp(size), lambda step: (step / 2).tanh()),
        (approx_dp(size, delta="1/7"), lambda step: (1 + 6 * (step / 2).tanh()) / 7),
        (randomized_response(size, categories=5), lambda step: step.expm1() / (step.exp() + 4)),
        (bounded_range(size), lambda width: (width / 4).tanh()),
        (discrete_laplace(1 / size), lambda pure: (pure / 2).tanh()),
        (discrete_laplace(1 / size, sensitivity=2), lambda pure: -(-pure).expm1()),
    ]
    for loss, distance in distances:
        low, high = exactly(distance, size)
        found = loss.delta(epsilon=0)
        assert found.lower <= high
        assert found.upper >= low
        assert found.width <= Fraction(1, 10**12) * found.upper


@FEW
@given(LOSSES, ALPHAS)
def test_no_test_errs_less_than_the_distance_of_the_datasets_allows(loss, alpha):
    assert loss.tradeoff(alpha=alpha).upper >= 1 - alpha - loss.delta(epsilon=0).upper


@pytest.mark.parametrize("law", [gaussian(2), laplace("1/2"), bounded_range(3), gaussian(1).sampled(Poisson("1/5"))])
@given(EPSILONS)
@settings(max_examples=15)
def test_the_exchanged_pair_has_the_profile_that_the_reversal_formula_gives(law, epsilon):
    (one, _), (other, _) = law.parts[0], law.reversed().parts[0]
    if not hasattr(one, "profile"):
        one = other = Swapped(gaussian(2).parts[0][0], Fraction(1, 5))
    with working_precision(192):
        place = ball(epsilon)
        gap = other.profile(place) - (1 - place.exp() + place.exp() * one.profile(-place))
        assert abs(gap) < arb(10) ** -40


@FEW
@given(SYMMETRIC, ALPHAS)
def test_the_tradeoff_of_a_symmetric_loss_is_its_own_inverse(loss, alpha):
    error = loss.tradeoff(alpha=alpha)
    assume(error.lower > 0)
    assert loss.tradeoff(alpha=error.upper).lower <= alpha
    assert loss.tradeoff(alpha=error.lower).upper >= alpha


@FEW
@given(SYMMETRIC, st.lists(ALPHAS, min_size=3, max_size=3, unique=True))
def test_a_tradeoff_falls_and_is_convex(loss, places):
    near, middle, far = sorted(places)
    found = [loss.tradeoff(alpha=alpha) for alpha in (near, middle, far)]
    assert all(later.lower <= earlier.upper for earlier, later in pairwise(found))
    share = (far - middle) / (far - near)
    assert found[1].lower <= share * found[0].upper + (1 - share) * found[2].upper


@FEW
@given(st.lists(PAIRS, min_size=2, max_size=3), EPSILONS)
def test_a_composition_is_the_product_pair(pairs, epsilon):
    sides = [[math.prod(masses) for masses in product(*(pair[side] for pair in pairs))] for side in (0, 1)]
    whole = explicit_pair(*sides).delta(epsilon=epsilon)
    assert whole.meets(compose(*(explicit_pair(*pair) for pair in pairs)).delta(epsilon=epsilon))


@FEW
@given(PAIRS, st.integers(1, 3), EPSILONS, st.data())
def test_processing_outputs_never_raises_a_loss(pair, count, epsilon, data):
    size = data.draw(st.integers(1, 3))
    kernel = [data.draw(distributions(size)) for _ in pair[0]]
    seen = [[sum(mass * row[place] for mass, row in zip(side, kernel, strict=True)) for place in range(size)] for side in pair]
    whole, less = count * explicit_pair(*pair), count * explicit_pair(*seen)
    assert less.delta(epsilon=epsilon).lower <= whole.delta(epsilon=epsilon).upper
    assert less.renyi(order=3).lower <= whole.renyi(order=3).upper


@settings(max_examples=8)
@given(st.one_of(st.builds(gaussian, SIZES), PAIRS.map(lambda pair: explicit_pair(*pair))), RATES, RATES, EPSILONS)
def test_more_records_in_a_sample_never_lose_less(loss, first, second, epsilon):
    few, many = (loss.sampled(Poisson(rate)).delta(epsilon=epsilon / 4) for rate in sorted((first, second)))
    assert few.lower <= many.upper
    assert many.lower <= loss.delta(epsilon=epsilon / 4).upper


@settings(max_examples=15)
@given(SIZES, st.integers(1, 9), st.integers(1, 9), EPSILONS)
def test_a_larger_share_without_replacement_never_loses_less(scale, first, second, epsilon):
    loss = laplace(scale, adjacency="replace_one")
    few, many = (loss.sampled(WithoutReplacement(size=size, of=10)).delta(epsilon=epsilon) for size in sorted((first, second)))
    assert few.lower <= many.upper


@settings(max_examples=6)
@given(st.sampled_from([(1, 3), (1, 4), (2, 3)]), st.integers(1, 4), EPSILONS)
def test_more_steps_to_hide_in_never_lose_more(odds, steps, epsilon):
    """A mean of more exchangeable ratios is smaller in convex order."""
    rare = Fraction(odds[0], sum(odds))
    step = explicit_pair([1 - rare, rare], [rare, 1 - rare])
    few, many = (step.sampled(RandomAllocation(steps=number)).delta(epsilon=epsilon / 4) for number in (steps, steps + 1))
    assert many.lower <= few.upper
    assert few.width <= Fraction(1, 10**12)


@settings(max_examples=6)
@given(st.fractions("1/10", 3, max_denominator=10), st.integers(1, 60), EPSILONS)
def test_more_reports_to_hide_among_never_lose_more(local, reports, epsilon):
    law = randomized_response(local)
    few, many = (law.sampled(Shuffle(reports=number)).delta(epsilon=epsilon / 4) for number in (reports, reports + 1))
    assert many.upper <= few.upper * (1 + Fraction(1, 10**9))


@settings(max_examples=12)
@given(SIZES, st.integers(1, 20), EPSILONS)
def test_guarantees_converted_from_a_loss_cover_it(scale, count, epsilon):
    losses = [count * gaussian(scale), count * discrete_laplace(scale), count * pure_dp(scale / 10)]
    for loss in (*losses, compose(gaussian(scale), pure_dp(1))):
        lost = loss.delta(epsilon=epsilon).lower
        assert lost <= zcdp(loss.zcdp().upper).delta(epsilon=epsilon).upper
        curve = {order: loss.renyi(order=order).upper for order in (Fraction(3, 2), Fraction(4), Fraction(32))}
        assert lost <= rdp(curve).delta(epsilon=epsilon).upper
    for loss in losses:
        assert loss.delta(epsilon=epsilon).lower <= gdp(loss.gdp().upper).delta(epsilon=epsilon).upper


@FEW
@given(SYMMETRIC, st.lists(st.fractions("101/100", 40, max_denominator=100), min_size=2, max_size=2))
def test_a_divergence_grows_with_its_order_up_to_the_pure_epsilon(loss, orders):
    low, high = (loss.renyi(order=order) for order in sorted(orders))
    assert low.lower <= high.upper
    pure = loss.epsilon(delta=0).upper
    assert high.lower <= pure


@FEW
@given(LOSSES, st.integers(2, 9), st.fractions("3/2", 20, max_denominator=10))
def test_the_divergence_of_many_releases_is_that_of_one_so_many_times(loss, count, order):
    one, many = loss.renyi(order=order), (count * loss).renyi(order=order)
    assert many.lower <= count * one.upper
    assert many.upper >= count * one.lower
