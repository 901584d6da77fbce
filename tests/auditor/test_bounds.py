"""Bounds from counts: exact, rounded outward, and consistent with each other."""

import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from dpaudit.auditor.statistics import bounds
from dpaudit.auditor.statistics.bounds import (
    ClaimPoint,
    clopper_pearson_lower,
    clopper_pearson_upper,
    epsilon_lower_bound,
    mu_lower_bound,
    p_value,
    profile_lower_bounds,
)
from dpaudit.errors import InvalidArgument
from dpaudit.results import Counts

ALPHAS = st.sampled_from([Fraction(1, 2), Fraction(1, 20), Fraction(1, 40), Fraction(1, 10**6)])


@st.composite
def counts_of(draw, most=400):
    runs = draw(st.integers(1, most))
    ones = draw(st.integers(0, runs))
    return Counts(ones=ones, zeros=draw(st.integers(0, runs - ones)), runs=runs)


def exact_tail(successes, trials, probability):
    return sum(math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k) for k in range(successes, trials + 1))


@given(trials=st.integers(1, 40), data=st.data(), alpha=ALPHAS)
@settings(max_examples=60, deadline=None)
def test_lower_end_is_certified_by_the_exact_binomial_tail_and_is_tight(trials, data, alpha):
    successes = data.draw(st.integers(1, trials))
    lower = clopper_pearson_lower(successes, trials, alpha)
    assert exact_tail(successes, trials, lower) <= alpha
    assert exact_tail(successes, trials, lower + Fraction(1, 10**9)) > alpha


def test_published_interval_is_reproduced():
    # Agresti and Coull 1998 discuss 0 of n: the 97.5 % upper end is 1 - 0.025**(1/n).
    assert float(clopper_pearson_upper(0, 10, "0.025")) == pytest.approx(1 - 0.025**0.1, abs=1e-14)
    assert float(clopper_pearson_lower(10, 10, "0.025")) == pytest.approx(0.025**0.1, abs=1e-14)
    assert 0 == clopper_pearson_lower(0, 10, "0.025")


def test_ten_million_trials_are_fast_and_as_precise_as_few():
    from scipy.special import betaincinv

    lower = clopper_pearson_lower(5_000_000, 10_000_000, "0.05")
    assert float(lower) == pytest.approx(float(betaincinv(5_000_000, 5_000_001, 0.05)), rel=1e-12)


def test_upper_end_mirrors_lower_end():
    assert clopper_pearson_upper(3, 17, "0.01") == 1 - clopper_pearson_lower(14, 17, "0.01")


@pytest.mark.parametrize(
    ("successes", "trials", "alpha"),
    [(-1, 10, "0.05"), (11, 10, "0.05"), (3, 10, 0), (3, 10, 1), (3, 10, math.nan), (True, 10, "0.05"), (2.0, 10, "0.05")],
)
def test_impossible_arguments_are_refused(successes, trials, alpha):
    with pytest.raises(InvalidArgument):
        clopper_pearson_lower(successes, trials, alpha)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (1, 1), (1, -1), (math.inf, 0)])
def test_impossible_claim_points_are_refused(epsilon, delta):
    with pytest.raises(InvalidArgument):
        ClaimPoint(epsilon, delta)


def test_impossible_counts_are_refused():
    with pytest.raises(InvalidArgument, match="hits must be between"):
        epsilon_lower_bound(Counts(ones=8, zeros=8, runs=10), delta=0, alpha="0.05")


def test_pure_bound_is_the_log_odds_of_the_lower_end():
    theta = float(clopper_pearson_lower(70, 100, "0.05"))
    bound = epsilon_lower_bound(Counts(ones=70, zeros=30, runs=500), delta=0, alpha="0.05")
    assert math.log(theta / (1 - theta)) == pytest.approx(float(bound), abs=1e-14)


def test_bound_is_negative_where_the_event_speaks_for_the_other_label_and_none_where_nothing_is_bounded():
    assert epsilon_lower_bound(Counts(ones=10, zeros=90, runs=500), delta=0, alpha="0.05") < 0
    assert None is epsilon_lower_bound(Counts(ones=0, zeros=90, runs=500), delta=0, alpha="0.05")
    assert None is epsilon_lower_bound(Counts(ones=5, zeros=0, runs=500), delta="0.5", alpha="0.05")


@given(counts=counts_of(), delta=st.sampled_from(["0.001", "0.01", "0.1"]))
@settings(max_examples=40, deadline=None)
def test_a_larger_delta_or_a_smaller_alpha_never_raises_the_bound(counts, delta):
    def bound(delta, alpha):
        found = epsilon_lower_bound(counts, delta=delta, alpha=alpha)
        return -math.inf if found is None else found

    assert bound(delta, "0.05") <= bound(0, "0.05")
    assert bound(delta, "0.01") <= bound(delta, "0.05")


@given(
    counts=counts_of(),
    epsilon=st.sampled_from(["0", "0.1", "1", "2"]),
    delta=st.sampled_from(["0", "0.001", "0.05"]),
    alpha=ALPHAS,
)
@settings(max_examples=80, deadline=None)
def test_p_value_and_bound_tell_the_same_story(counts, epsilon, delta, alpha):
    point = ClaimPoint(epsilon, delta)
    bound = epsilon_lower_bound(counts, delta=point.delta, alpha=alpha)
    value = p_value(counts, point=point)
    assert 0 < value <= 1
    # The two sides round apart by about 1e-12, so the very edge is left out.
    assume(bound is None or abs(bound - point.epsilon) > Fraction(1, 10**9))
    assert (bound is not None and bound > point.epsilon) == (value <= alpha)


@given(counts=counts_of(most=200), delta=st.sampled_from(["0", "0.02"]))
@settings(max_examples=30, deadline=None)
def test_more_hits_under_label_one_never_raise_the_p_value(counts, delta):
    assume(counts.zeros > 0)
    point = ClaimPoint("0.5", delta)
    shifted = Counts(ones=counts.ones + 1, zeros=counts.zeros - 1, runs=counts.runs)
    assert p_value(shifted, point=point) <= p_value(counts, point=point) * (1 + 1e-9)


def test_p_value_of_overwhelming_counts_stays_positive():
    counts = Counts(ones=9_000_000, zeros=0, runs=10_000_000)
    assert 0 < p_value(counts, point=ClaimPoint(1, 0)) < 1e-300
    assert 0 < p_value(counts, point=ClaimPoint(1, "1e-5")) <= 1.01e-300


@given(hits=st.integers(200, 100_000), epsilon=st.sampled_from(["0", "1/2", "1", "3", "30", "1000"]), below=st.floats(5, 40))
@settings(max_examples=60, deadline=None)
def test_counts_far_below_the_claim_have_the_p_value_of_the_whole_tail(hits, epsilon, below):
    point = ClaimPoint(epsilon=epsilon, delta=0)
    share = 1 / (1 + math.exp(-min(float(point.epsilon), 700)))
    ones = int(hits * share - below * math.sqrt(hits * share * (1 - share)))
    assume(1 <= ones < hits)
    counts = Counts(ones=ones, zeros=hits - ones, runs=hits)
    shortcut = bounds._says_nothing(counts, point)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_says_nothing", lambda *_: False)
        assert (1.0 if shortcut else p_value(counts, point=point)) == p_value(counts, point=point)


def test_the_sum_is_spared_where_the_claim_is_far_from_the_counts():
    counts = Counts(ones=7_310, zeros=2_690, runs=10_000)
    points = [ClaimPoint(epsilon=epsilon, delta=0) for epsilon in (1, "5/4", 30, 10**400)]
    assert [False, True, True, True] == [bounds._says_nothing(counts, point) for point in points]


@given(trials=st.integers(1, 10**9), share=st.floats(0, 1), alpha=ALPHAS)
@settings(max_examples=40, deadline=None)
def test_tails_in_few_bits_give_the_bounds_of_tails_in_many(trials, share, alpha):
    successes = round(share * trials)
    quick = clopper_pearson_lower(successes, trials, alpha)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_FEW_BITS", bounds._BITS)
        assert clopper_pearson_lower(successes, trials, alpha) == quick


def test_profile_gives_back_the_epsilon_at_the_delta_of_the_bound():
    counts = Counts(ones=700, zeros=300, runs=3000)
    bound = epsilon_lower_bound(counts, delta="0.02", alpha="0.05")
    below, at, above = profile_lower_bounds(counts, [bound - Fraction(1, 100), bound, bound + Fraction(1, 100)], "0.05")
    assert 0.02 == pytest.approx(at, abs=1e-12)
    assert below > at > above


@given(counts=counts_of(), alpha=ALPHAS)
@settings(max_examples=30, deadline=None)
def test_profile_bounds_are_probabilities_that_fall_with_epsilon(counts, alpha):
    deltas = profile_lower_bounds(counts, ["0", "0.1", "0.5", "1", "3"], alpha)
    assert sorted(deltas, reverse=True) == deltas
    assert all(0 <= delta <= 1 for delta in deltas)


@pytest.mark.parametrize("mu", [0.3, 1, 3])
@pytest.mark.parametrize("cut", [-0.5, 0.7, 2])
def test_mu_is_bounded_by_the_quantiles_of_an_event_and_nearly_reached(mu, cut):
    runs = 10**7
    counts = Counts(ones=round(runs / 2 * ndtr(mu - cut)), zeros=round(runs / 2 * ndtr(-cut)), runs=runs)
    found = mu_lower_bound(counts, Fraction(1, 2000))
    assert 0.8 * mu < found < mu


@given(counts=counts_of(), alpha=ALPHAS)
def test_the_bound_on_mu_uses_half_the_level_for_each_dataset(counts, alpha):
    found = mu_lower_bound(counts, alpha)
    own, other = (
        clopper_pearson_lower(counts.ones, counts.runs, alpha / 2),
        clopper_pearson_upper(counts.zeros, counts.runs, alpha / 2),
    )
    if found is None:
        assert own <= other or 2 * own >= 1
    else:
        assert found > 0
        assert ndtr(NormalDist().inv_cdf(float(2 * other)) + float(found)) <= 2 * own + 1e-9
