"""Poisson samples and samples without replacement against mixtures written out in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpaudit.accounting import (
    Poisson,
    WithoutReplacement,
    approx_dp,
    compose,
    explicit_pair,
    gaussian,
    laplace,
    pure_dp,
    randomized_response,
    zcdp,
)
from dpaudit.accounting.laws.distributions import distribution_of
from dpaudit.accounting.laws.sampled import Sampled, profile_of
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, ball_endpoints, working_precision

RATES = st.fractions("1/20", "19/20", max_denominator=20)
GROWTHS = [Fraction(1, 5), Fraction(2, 3), Fraction(19, 20), Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(4)]


@st.composite
def distributions(draw, size=3, least=0):
    """Exact probabilities with small denominators."""
    weights = draw(st.lists(st.integers(least, 9), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


def hockey_stick(p, q, growth):
    """Sum of the positive parts of P - growth Q."""
    return sum((max(Fraction(0), a - growth * b) for a, b in zip(p, q, strict=True)), Fraction(0))


def mixed(p, q, rate):
    """(1 - rate) Q + rate P."""
    return [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]


def square(p):
    """Two independent draws."""
    return [a * b for a, b in product(p, p)]


def from_points(law, growth, times=1):
    """Ends of the hockey-stick divergence of a law that only has points, composed with itself."""
    with working_precision(192):
        points = distribution_of(law).points(200)
        cut = ball(growth)
        total, finite = arb(points.p_infinity), [(arb(1), arb(1))]
        for _ in range(times):
            finite = [(p * a, q * b) for p, q in finite for _, a, b in points.finite]
        total = 1 - (1 - total) ** times
        return ball_endpoints(total + sum(((p - cut * q).nonnegative_part() for p, q in finite), arb(0)))


def enclosed(ends, value):
    """Whether a number lies between two ends that are close to each other."""
    return ends[0] <= value <= ends[1] and ends[1] - ends[0] < Fraction(1, 10**30)


@given(distributions(), distributions(), RATES)
@settings(max_examples=40, deadline=None)
def test_a_poisson_sample_is_the_mixture_in_both_directions(p, q, rate):
    loss = explicit_pair(p, q).sampled(Poisson(rate))
    with_record = mixed(p, q, rate)
    for growth in GROWTHS:
        assert enclosed(from_points(loss.parts[0][0], growth), hockey_stick(with_record, q, growth))
        assert enclosed(from_points(loss.reversed().parts[0][0], growth), hockey_stick(q, with_record, growth))


@given(distributions(), distributions(), RATES, RATES)
@settings(max_examples=20, deadline=None)
def test_a_poisson_sample_of_a_poisson_sample_has_the_product_of_the_rates(p, q, rate, other):
    twice = explicit_pair(p, q).sampled(Poisson(rate)).sampled(Poisson(other)).parts[0][0]
    for growth in GROWTHS:
        assert enclosed(from_points(twice, growth), hockey_stick(mixed(p, q, rate * other), q, growth))


def test_sampling_everything_changes_nothing_and_sampling_nothing_loses_nothing():
    loss = compose(gaussian(sigma=2), 3 * laplace(scale=4))
    assert loss == loss.sampled(Poisson(1))
    assert 0 * loss == loss.sampled(Poisson(0))
    replaced = compose(gaussian(sigma=2, adjacency="replace_one"), pure_dp(1, adjacency="replace_one"))
    assert replaced == replaced.sampled(WithoutReplacement(size=7, of=7))
    assert 0 * replaced == replaced.sampled(WithoutReplacement(size=0, of=7))


@given(distributions(), distributions(), RATES)
@settings(max_examples=40, deadline=None)
def test_a_record_replaced_by_nothing_has_the_profile_of_the_mixture(p, q, rate):
    law = explicit_pair(p, q, adjacency="replace_one").parts[0][0]
    lost = Sampled(law, rate, removing=True)
    with_record = mixed(p, q, rate)
    with working_precision(192):
        for growth in GROWTHS:
            epsilon = ball(growth).log()
            found, back = (ball_endpoints(profile_of(side)(epsilon)) for side in (lost, lost.reversed()))
            assert enclosed(found, hockey_stick(with_record, q, growth))
            assert enclosed(back, hockey_stick(q, with_record, growth))


@given(st.lists(distributions(least=1), min_size=3, max_size=3), RATES)
@settings(max_examples=60, deadline=None)
def test_no_sample_without_replacement_of_a_bounded_mechanism_exceeds_the_bound(outputs, rate):
    ratio = max(a / b for p, q in product(outputs, outputs) for a, b in zip(p, q, strict=True))
    assume(ratio > 1)
    likely = ratio / (1 + ratio)
    base = explicit_pair([likely, 1 - likely], [1 - likely, likely], adjacency="replace_one")
    above = Swapped(base.parts[0][0], rate)
    rest, one, other = outputs
    first, second = mixed(one, rest, rate), mixed(other, rest, rate)
    with working_precision(192):
        for growth in GROWTHS:
            assert hockey_stick(first, second, growth) <= ball_endpoints(above.profile(ball(growth).log()))[1]
            assert hockey_stick(square(first), square(second), growth) <= from_points(above, growth, times=2)[1]


@given(distributions(), RATES)
@settings(max_examples=40, deadline=None)
def test_the_points_of_a_sample_without_replacement_have_its_profile(p, rate):
    sides = [*p, *p[::-1]], [*p[::-1], *p]
    base = explicit_pair(*([mass / 2 for mass in side] for side in sides), adjacency="replace_one").parts[0][0]
    above = Swapped(base, rate)
    with working_precision(192):
        for growth in GROWTHS:
            low, high = ball_endpoints(above.profile(ball(growth).log()))
            from_tail = from_points(above, growth)
            assert max(low, from_tail[0]) <= min(high, from_tail[1])


@pytest.mark.parametrize("loss", [gaussian(sigma=1, adjacency="replace_one"), laplace(scale=1, adjacency="replace_one")])
def test_the_distribution_of_a_sample_without_replacement_has_its_profile(loss):
    above = Swapped(loss.parts[0][0], Fraction(1, 10))
    with working_precision(192):
        distribution = distribution_of(above)
        points = distribution.points(200)
        for place in (Fraction(-1, 20), Fraction(0), Fraction(1, 50), Fraction(1, 3)):
            sides = distribution.sides([ball(place)])[0]
            beyond = [(p, q) for value, p, q in points.finite if value > ball(place)]
            p_mass, q_mass = sides.p_above + sum(p for p, _ in beyond), sides.q_above + sum(q for _, q in beyond)
            gap = p_mass - ball(place).exp() * q_mass - above.profile(ball(place))
            assert abs(gap) < 1e-40
            assert abs(sides.p_above + sides.p_below + sum((p for _, p, _ in points.finite), arb(0)) - 1) < 1e-40


@pytest.mark.parametrize(("epsilon", "delta"), [("1/100", None), ("1/2", None), ("1/2", "1e-7")])
def test_one_sample_without_replacement_has_the_amplified_profile(epsilon, delta):
    base = pure_dp(1, adjacency="replace_one") if delta is None else approx_dp(1, delta=delta, adjacency="replace_one")
    found = base.sampled(WithoutReplacement(size=1, of=3)).delta(epsilon=epsilon)
    with working_precision(192):
        inner = (3 * ball(Fraction(epsilon)).expm1()).log1p()
        growth, failure = inner.exp(), ball(Fraction(delta or 0))
        e = arb(1).exp()
        expected = ball_endpoints((failure + (1 - failure) * ((e - growth) / (1 + e)).nonnegative_part()) / 3)
    assert found.lower <= expected[1]
    assert found.upper >= expected[0]
    assert found.upper - found.lower < Fraction(1, 10**15)


def test_far_tails_of_a_sample_without_replacement_keep_their_relative_accuracy():
    distribution = distribution_of(Swapped(gaussian(sigma=1, adjacency="replace_one").parts[0][0], Fraction(1, 100)))
    with working_precision(128):
        far, back = distribution.sides([ball(12), ball(-12)])
        assert far.p_above.rel_accuracy_bits() > 60
        assert far.q_above.rel_accuracy_bits() > 60
        assert back.p_below.rel_accuracy_bits() > 60
        assert back.q_below.rel_accuracy_bits() > 60


@given(distributions(least=1), RATES, st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
@settings(max_examples=20, deadline=None)
def test_moments_of_a_sample_without_replacement_are_bounded_by_its_points(p, rate, order):
    above = Swapped(explicit_pair(p, p[::-1], adjacency="replace_one").parts[0][0], rate)
    with working_precision(128):
        points = distribution_of(above).points(200).finite
        expected = sum((p_mass * (ball(order) * loss).exp() for loss, p_mass, _ in points), arb(0)).log()
        assert expected <= above.log_moment(order) + arb(2) ** -90
        whole = above.law.log_moment(order)
        assert above.log_moment(order) <= (ball(rate) * whole.expm1()).log1p() + arb(2) ** -90


def test_many_samples_without_replacement_lie_between_those_of_a_vanishing_record_and_the_full_loss():
    loss = 100 * gaussian(sigma=1, adjacency="replace_one").sampled(WithoutReplacement(size=10, of=1000))
    vanishing = 100 * gaussian(sigma=1).sampled(Poisson("0.01"))
    found, part = loss.delta(epsilon=1), vanishing.delta(epsilon=1)
    assert found.lower <= part.upper * (1 + Fraction(1, 100))
    assert part.lower <= found.upper
    assert found.upper < Fraction(1, 1000)


@pytest.mark.parametrize(
    ("loss", "scheme"),
    [
        (gaussian(sigma=1, adjacency="replace_one"), Poisson("0.1")),
        (gaussian(sigma=1, adjacency="zero_out"), Poisson("0.1")),
        (gaussian(sigma=1), WithoutReplacement(size=1, of=10)),
        (gaussian(sigma=1, adjacency="label"), WithoutReplacement(size=1, of=10)),
        (zcdp(1, adjacency="replace_one"), WithoutReplacement(size=1, of=10)),
    ],
)
def test_a_sample_that_no_theorem_covers_is_refused(loss, scheme):
    with pytest.raises(Unsupported, match="DPA202"):
        loss.sampled(scheme)


def test_parameters_of_samples_are_checked():
    for wrong, code in (("2", "DPA103"), ("-1/2", "DPA103"), ("nan", "DPA102"), (None, "DPA101")):
        with pytest.raises(InvalidArgument, match=code):
            Poisson(wrong)
    for size, whole, code in ((3, 2, "DPA103"), (-1, 2, "DPA103"), (1, 0, "DPA103"), (0.5, 2, "DPA105")):
        with pytest.raises(InvalidArgument, match=code):
            WithoutReplacement(size=size, of=whole)
    with pytest.raises(InvalidArgument, match="DPA105"):
        gaussian(sigma=1).sampled("poisson")
    assert Poisson("0.1") == Poisson(Fraction(1, 10))


@pytest.mark.parametrize(("categories", "odds"), [(3, 2), (5, 3)])
def test_answers_with_a_third_category_attain_the_bound_also_in_compositions(categories, odds):
    rate = Fraction(1, 4)
    keep = Fraction(1, odds + categories - 1)
    answers = [[keep * (odds if output == truth else 1) for output in range(categories)] for truth in range(3)]
    first, second = mixed(answers[0], answers[2], rate), mixed(answers[1], answers[2], rate)
    with working_precision(192):
        epsilon = Fraction(ball_endpoints(ball(odds).log())[0])
    loss = randomized_response(epsilon, categories=categories).sampled(WithoutReplacement(size=1, of=4))
    found, twice = loss.delta(epsilon="1/8"), (2 * loss).delta(epsilon=0)
    with working_precision(192):
        growth = Fraction(ball_endpoints(ball(Fraction(1, 8)).exp())[0])
    for interval, expected in (
        (found, hockey_stick(first, second, growth)),
        (twice, hockey_stick(square(first), square(second), Fraction(1))),
    ):
        assert abs(interval.upper - expected) < Fraction(1, 10**12)
        assert abs(interval.lower - expected) < Fraction(1, 10**12)


def test_a_third_place_between_two_neighbours_is_worse_than_a_vanishing_record():
    # chi-square of the sample is about rate^2 times these, for x = mu^2: neither end of the bracket is attained in general.
    x = 4
    with working_precision(64):
        vanishing, triangle = ball(x).expm1(), 2 * (ball(x).exp() - ball(Fraction(x, 2)).exp())
        assert vanishing < triangle < 2 * vanishing
