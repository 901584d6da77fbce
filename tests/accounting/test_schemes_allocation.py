"""Random allocation against the mean of likelihood ratios, written out in exact fractions or integrated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf, ncdf, npdf, quad, sqrt

from dpaudit.accounting import RandomAllocation, approx_dp, explicit_pair, gaussian, zcdp
from dpaudit.accounting.laws.allocation import Allocated
from dpaudit.accounting.laws.distributions import distribution_of
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, ball_endpoints, working_precision

GROWTHS = [Fraction(1, 3), Fraction(9, 10), Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(5, 2)]


@st.composite
def distributions(draw, largest=9, size=3):
    """Exact probabilities, with a denominator that is as large as the weights."""
    weights = draw(st.lists(st.integers(0, largest), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


def one_of(p, q, steps):
    """Probabilities of all outputs of an epoch, with the record in one of its steps and without it."""
    whole, bare = [], []
    for outputs in product(range(len(p)), repeat=steps):
        without = Fraction(1)
        for output in outputs:
            without *= q[output]
        mean = Fraction(0)
        for place in range(steps):
            term = Fraction(1, steps)
            for index, output in enumerate(outputs):
                term *= p[output] if index == place else q[output]
            mean += term
        whole.append(mean)
        bare.append(without)
    return whole, bare


def hockey_stick(p, q, growth):
    """Sum of the positive parts of P - growth Q."""
    return sum((max(Fraction(0), a - growth * b) for a, b in zip(p, q, strict=True)), Fraction(0))


def divergence(law, growth, times=1):
    """Ends of the hockey-stick divergence of a law that only has points, composed with itself."""
    with working_precision(160):
        points = distribution_of(law).points(200)
        cut, finite = ball(growth), [(arb(1), arb(1))]
        for _ in range(times):
            finite = [(p * a, q * b) for p, q in finite for _, a, b in points.finite]
        total = 1 - (1 - arb(points.p_infinity)) ** times
        return ball_endpoints(total + sum(((p - cut * q).nonnegative_part() for p, q in finite), arb(0)))


@given(distributions(), distributions(), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_allocation_of_a_rational_pair_is_exact_in_both_directions(p, q, steps):
    law = explicit_pair(p, q).sampled(RandomAllocation(steps=steps)).parts[0][0]
    whole, bare = one_of(p, q, steps)
    for direction, first, second in ((law, whole, bare), (law.reversed(), bare, whole)):
        for growth in GROWTHS:
            expected = hockey_stick(first, second, growth)
            found = divergence(direction, growth)
            assert found[0] <= expected <= found[1]
            assert found[1] - found[0] < Fraction(1, 10**30)


@given(distributions(), distributions())
@settings(max_examples=8, deadline=None)
def test_two_epochs_of_a_rational_pair_are_the_product(p, q):
    loss = explicit_pair(p, q).sampled(RandomAllocation(steps=2))
    whole, bare = one_of(p, q, 2)
    whole, bare = ([a * b for a, b in product(side, side)] for side in (whole, bare))
    found = divergence(loss.parts[0][0], Fraction(3, 2), times=2)
    assert found[0] <= hockey_stick(whole, bare, Fraction(3, 2)) <= found[1]
    expected = max(hockey_stick(whole, bare, 1), hockey_stick(bare, whole, 1))
    assert (2 * loss).delta(epsilon=0).contains(expected)


@given(distributions(largest=10**6), distributions(largest=10**6), st.integers(2, 3))
@settings(max_examples=8, deadline=None)
def test_a_pair_off_every_grid_lies_between_the_spread_and_the_fused_law(p, q, steps):
    law = explicit_pair(p, q).sampled(RandomAllocation(steps=steps)).parts[0][0]
    whole, bare = one_of(p, q, steps)
    for direction, first, second in ((law, whole, bare), (law.reversed(), bare, whole)):
        for growth in GROWTHS:
            expected = hockey_stick(first, second, growth)
            assert divergence(direction.lower, growth)[0] <= expected <= divergence(direction.upper, growth)[1]


@pytest.mark.parametrize(("sigma", "epsilon"), [("3", "1/10")])
def test_two_steps_of_a_gaussian_agree_with_integration(sigma, epsilon):
    found = gaussian(sigma=sigma).sampled(RandomAllocation(steps=2)).delta(epsilon=epsilon)
    with mp.workdps(30):
        mu, growth = 1 / mpf(int(sigma)), mp.exp(mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)

        def rest(strike):
            """Mean of the positive part of a likelihood ratio less a strike."""
            if strike <= 0:
                return 1 - strike
            place = (mp.log(strike) + mu**2 / 2) / mu
            return ncdf(mu - place) - strike * ncdf(-place)

        edge = (mp.log(2 * growth) + mu**2 / 2) / mu
        expected = quad(
            lambda x: npdf(x) * rest(2 * growth - mp.exp(mu * x - mu**2 / 2)) / 2, [-sqrt(mpf(200)), 0, edge, edge + 3, 18]
        )
        assert float(found.lower) <= expected * (1 + mpf(10) ** -8)
        assert float(found.upper) >= expected * (1 - mpf(10) ** -8)
    assert found.upper < found.lower * Fraction(103, 100)


def test_a_record_in_one_of_many_steps_loses_less_than_in_one_known_step():
    step = explicit_pair(["3/4", "1/4"], ["1/4", "3/4"])
    hidden = step.sampled(RandomAllocation(steps=10))
    assert hidden.delta(epsilon="1/2").upper < step.delta(epsilon="1/2").lower / 10
    assert (3 * hidden).delta(epsilon="1/2").lower > hidden.delta(epsilon="1/2").upper
    assert step == step.sampled(RandomAllocation(steps=1))


def test_an_epoch_has_no_larger_moments_than_one_step():
    step = explicit_pair(["3/4", "1/4"], ["1/4", "3/4"])
    hidden = step.sampled(RandomAllocation(steps=4))
    assert 0 < hidden.renyi(order=2).upper <= step.renyi(order=2).upper
    ((revealing, _),) = explicit_pair(["0", "1"], ["9/10", "1/10"]).parts
    added = Allocated(revealing.reversed(), 2, removing=False)
    assert added.log_moment(Fraction(1)) is None, "a mean of ratios of which one is 0 is finite"
    assert Fraction(81, 100) <= added.infinity_mass() <= Fraction(82, 100)
    assert added.reversed().log_moment(Fraction(1)) is not None


@given(distributions(), distributions(), st.integers(2, 4), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_whole_moments_of_an_epoch_are_sums_over_its_outputs(p, q, steps, order):
    ((law, _),) = explicit_pair(p, q).parts
    whole, bare = one_of(p, q, steps)
    expected = sum((a * (a / b) ** order for a, b in zip(whole, bare, strict=True) if b), Fraction(0))
    with working_precision(128):
        found = Allocated(law, steps, removing=True).log_moment(Fraction(order))
        if expected and found is not None:
            assert ball_endpoints(found - ball(expected).log())[1] > -Fraction(1, 10**30)
            if law.infinity_mass() == 0:
                assert abs(found - ball(expected).log()) < 1e-30


@given(distributions(), distributions(), st.integers(2, 4), st.fractions("1/8", 4, max_denominator=8))
@settings(max_examples=25, deadline=None)
def test_moments_of_any_order_stand_above_those_of_an_epoch(p, q, steps, order):
    ((law, _),) = explicit_pair(p, q).parts
    whole, bare = one_of(p, q, steps)
    for direction, (first, second) in zip(
        (Allocated(law, steps, removing=True), Allocated(law.reversed(), steps, removing=False)),
        ((whole, bare), (bare, whole)),
        strict=True,
    ):
        with working_precision(128):
            found = direction.log_moment(order)
            terms = (ball(a) * (ball(order) * ball(a / b).log()).exp() for a, b in zip(first, second, strict=True) if a and b)
            truth = sum(terms, arb(0))
            assert found is None or truth == 0 or truth.log() < found + arb(2) ** -60


def test_epsilon_is_bounded_on_both_sides_at_the_smallest_deltas():
    loss = gaussian(sigma=1).sampled(RandomAllocation(steps=100))
    for delta, gap in (("1e-100", "0.5"), ("1e-300", "0.3")):
        found = loss.epsilon(delta=delta)
        assert 16 < found.lower < found.upper < found.lower + Fraction(gap)


def test_many_steps_are_resolved_as_well_as_few():
    # Sums of ten thousand ratios reach far beyond the places of one: pairs of places are merged after every doubling.
    loss = gaussian(sigma=2).sampled(RandomAllocation(steps=1000))
    found, tail = loss.delta(epsilon="1/25"), loss.delta(epsilon="1/8")
    assert found.upper < found.lower * Fraction(101, 100)
    assert 0 < tail.lower <= tail.upper < tail.lower * Fraction(11, 10) < Fraction(1, 10**15)


def test_a_revealing_output_stays_revealing_only_in_its_direction():
    law = approx_dp(1, delta="1/100").sampled(RandomAllocation(steps=5)).parts[0][0]
    assert Fraction(1, 100) == law.upper.infinity_mass()
    nothing_shared = explicit_pair(["1", "0"], ["0", "1"]).sampled(RandomAllocation(steps=3))
    assert nothing_shared.delta(epsilon=5).contains(1)


@pytest.mark.parametrize("loss", [gaussian(sigma=1, adjacency="replace_one"), zcdp(1)])
def test_an_allocation_that_no_theorem_covers_is_refused(loss):
    with pytest.raises(Unsupported, match="DPA202"):
        loss.sampled(RandomAllocation(steps=3))


@pytest.mark.parametrize(("steps", "code"), [(0, "DPA103"), (1.5, "DPA105"), (True, "DPA105")])
def test_the_number_of_steps_is_checked(steps, code):
    with pytest.raises(InvalidArgument, match=code):
        RandomAllocation(steps=steps)
