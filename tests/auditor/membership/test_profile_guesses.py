"""One run against a curve: certified from any multipliers, at the optimum from good ones, never worse than a single point."""

import math
from fractions import Fraction

import numpy as np
import pytest
from guess_oracle import largest_probability
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from dpaudit import GDP, ApproxDP, Claim, PureDP
from dpaudit.auditor.membership import (
    CanaryGuesses,
    canary_epsilon_bound,
    canary_mu_bound,
    guesses_p_value,
    guesses_p_value_under_claim,
)
from dpaudit.auditor.membership.profile_guesses import MOST_GUESSES, POINTS, _certify_level, _propose_prices, curve_points
from dpaudit.auditor.statistics.bounds import ClaimPoint

CLAIM = Claim(GDP(mu=1))
SMALL = CanaryGuesses(canaries=2, guessed=2, correct=2)


def delta_of(epsilon, mu=1.0):
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def test_the_points_lie_on_the_curve_rounded_up_and_reach_from_nothing_to_where_delta_is_negligible():
    points = curve_points(CLAIM, 1000)
    assert POINTS == len(points)
    assert 0 == points[0].epsilon
    assert 1000 * points[-1].delta <= Fraction(1, 10**6)
    for point in points:
        assert delta_of(float(point.epsilon)) == pytest.approx(float(point.delta), rel=1e-5)
        assert delta_of(float(point.epsilon)) <= float(point.delta) * (1 + 1e-12)


@pytest.mark.parametrize("claim", [Claim(PureDP(epsilon=1)), Claim(ApproxDP(epsilon=1, delta="0.001"))])
def test_a_claim_that_is_one_point_is_tested_there(claim):
    guesses = CanaryGuesses(canaries=50, guessed=40, correct=36)
    delta = getattr(claim.guarantee, "delta", 0)
    assert guesses_p_value(guesses, epsilon=1, delta=delta) == guesses_p_value_under_claim(guesses, claim)


@pytest.mark.parametrize(("guessed", "correct"), [(2, 1), (2, 2), (1, 1)])
def test_two_canaries_are_bounded_by_the_optimum_over_all_mechanisms(guessed, correct):
    """All guessed: the same number. With one left out the proof gives more than the optimum, never less."""
    guesses = CanaryGuesses(canaries=2, guessed=guessed, correct=correct)
    points = curve_points(CLAIM, 2)
    optimum = largest_probability(2, guessed, correct, [(float(point.epsilon), float(point.delta)) for point in points])
    found = guesses_p_value_under_claim(guesses, CLAIM)
    assert optimum <= found * (1 + 1e-7)
    if guessed == 2:
        assert optimum == pytest.approx(found, abs=1e-5)


@pytest.mark.parametrize(("canaries", "guessed", "correct"), [(100, 100, 75), (100, 60, 58), (300, 100, 96)])
def test_a_curve_refutes_at_least_as_well_as_any_of_its_points(canaries, guessed, correct):
    guesses = CanaryGuesses(canaries=canaries, guessed=guessed, correct=correct)
    found = guesses_p_value_under_claim(guesses, CLAIM)
    fine = [Fraction(step, 20) for step in range(1, 160)]
    single = min(guesses_p_value(guesses, epsilon=epsilon, delta=delta_of(float(epsilon)) + 1e-15) for epsilon in fine)
    assert found <= single
    # Several points together say more than each of them.
    assert found < 0.97 * single


def test_the_lower_bound_on_mu_is_never_below_the_one_by_a_single_point():
    guesses = CanaryGuesses(canaries=400, guessed=100, correct=99)
    mu = canary_mu_bound(guesses, alpha="0.05")
    for delta in (1e-5, 1e-4, 1e-3):
        epsilon = float(canary_epsilon_bound(guesses, delta=delta, alpha="0.05"))
        # At this mu the curve allows the epsilon of the single point, and more.
        assert delta_of(epsilon, float(mu) + 2**-9) >= delta * (1 - 1e-9)
    assert mu > 1


@pytest.mark.parametrize("canaries", [100, 1000, 10**4, 10**5])
def test_where_the_published_bound_refutes_a_point_the_curve_through_it_is_refuted_too(canaries):
    """Randomised response of every canary: its bounds .61, .88, .96 and .99 are epsilons of curves that claim a little less."""
    guesses = CanaryGuesses(canaries=canaries, guessed=canaries, correct=round(canaries / (1 + math.exp(-1))))
    epsilon, delta = float(canary_epsilon_bound(guesses, delta="1e-6", alpha="0.05")), 1e-6
    low, high = 0.01, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(epsilon, middle) > delta else (middle, high)
    points = curve_points(Claim(GDP(mu=Fraction(low - 2**-9))), canaries)
    # What the whole curve gives is at most this.
    assert min(guesses_p_value(guesses, epsilon=point.epsilon, delta=point.delta) for point in points) <= 0.05
    assert guesses_p_value(guesses, epsilon=1, delta=0) > 0.05


@given(prices=st.lists(st.floats(0, 0.1), min_size=POINTS, max_size=POINTS))
@settings(max_examples=40, deadline=None)
def test_whatever_is_proposed_the_bound_is_valid(prices):
    guesses = CanaryGuesses(canaries=40, guessed=40, correct=32)
    points = curve_points(CLAIM, 40)
    best = _certify_level(guesses, points, _propose_prices(guesses, points))
    assert best - 1e-6 <= _certify_level(guesses, points, prices) <= 1


@pytest.mark.parametrize("price", [0.5, 2.0, 100.0])
def test_a_high_price_never_pays_for_less_than_the_claim_allows(price):
    found = _certify_level(CanaryGuesses(canaries=1, guessed=1, correct=1), [ClaimPoint(1, "0.0001")], [price])
    assert 1 / (1 + math.exp(-1)) + 0.0001 * price == pytest.approx(found, rel=1e-9)


def test_one_price_gives_back_the_bound_of_one_point():
    guesses, point = CanaryGuesses(canaries=60, guessed=60, correct=48), ClaimPoint(1, "0.0001")
    share = 1 / (1 + math.exp(-1))
    tail, mass = binom.sf(47, 60, share), binom.pmf(48, 60, share)
    found = _certify_level(guesses, [point], [tail * (1 - tail) / (48 * mass) * (1 + 1e-9)])
    assert guesses_p_value(guesses, epsilon=1, delta="0.0001") == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("mu", [0.5, 1.0])
@pytest.mark.parametrize("level", [0.2, 0.05])
def test_independent_gaussian_canaries_are_refuted_no_more_often_than_alpha(mu, level):
    """All canaries guessed by the sign of their own noisy score: right guesses are binomial, so the size is a finite sum."""
    canaries, claim = 40, Claim(GDP(mu=Fraction(mu)))
    small = [
        guesses_p_value_under_claim(CanaryGuesses(canaries=canaries, guessed=canaries, correct=v), claim) <= level
        for v in range(41)
    ]
    assert any(small)
    assert float(binom.pmf(np.arange(41), canaries, norm.cdf(mu / 2)) @ np.array(small)) <= level


def test_beyond_the_size_of_the_linear_program_the_best_point_decides():
    guesses = CanaryGuesses(canaries=3000, guessed=MOST_GUESSES + 1, correct=MOST_GUESSES)
    best = min(guesses_p_value(guesses, epsilon=p.epsilon, delta=p.delta) for p in curve_points(CLAIM, 3000))
    assert best == guesses_p_value_under_claim(guesses, CLAIM)


def test_no_right_guess_is_no_evidence():
    assert 1 == guesses_p_value_under_claim(CanaryGuesses(canaries=20, guessed=10, correct=0), CLAIM)
    assert 0 == canary_mu_bound(CanaryGuesses(canaries=20, guessed=10, correct=5), alpha="0.05")
