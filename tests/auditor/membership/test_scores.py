"""Likelihood-ratio scores and operating points: fitted on pilot runs, judged on others."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from dpaudit import GDP, Claim, audit
from dpaudit.auditor.membership import (
    OperatingPoint,
    canary_target,
    fit_likelihood_ratio,
    operating_point,
    threshold_at_false_positive_rate,
)
from dpaudit.auditor.statistics.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpaudit.errors import InvalidArgument
from dpaudit.results import Verdict

GAP = np.array([1.0, 0.0, -2.0])
SPREAD = np.array([1.0, 0.5, 2.0])
WIDER = 2 * SPREAD


def scores_of(runs, seed):
    rng = np.random.default_rng(seed)
    included = rng.integers(0, 2, size=(runs, 3)) == 1
    return included * GAP + np.where(included, WIDER, SPREAD) * rng.normal(size=(runs, 3)), included


def test_the_fitted_ratio_is_the_ratio_of_the_normal_laws():
    ratio = fit_likelihood_ratio(*scores_of(200_000, 1))
    points = np.array([0.5, -1.0, 1.0])
    expected = norm.logpdf(points, GAP, WIDER) - norm.logpdf(points, 0, SPREAD)
    np.testing.assert_allclose(ratio.each(points), expected, atol=0.03)
    assert expected.sum() == pytest.approx(ratio(points), abs=0.05)


def test_few_pilot_runs_share_one_spread():
    scores, included = scores_of(40, 2)
    spreads = fit_likelihood_ratio(scores, included).spreads
    assert 1 == len(set(spreads[0])) == len(set(spreads[1]))


def test_scores_without_any_spread_give_finite_ratios():
    included = np.array([[True], [True], [False], [False]])
    ratio = fit_likelihood_ratio(included.astype(float), included)
    assert np.isfinite(ratio.each([0.0])).all()
    assert ratio([1.0]) > 0 > ratio([0.0])


@pytest.mark.parametrize(
    ("scores", "included", "code"),
    [
        (np.zeros((4, 2)), np.zeros((4, 1), dtype=bool), "DPA105"),
        (np.zeros(4), np.zeros(4, dtype=bool), "DPA105"),
        (np.full((4, 1), np.nan), np.array([[1], [1], [0], [0]]), "DPA105"),
        (np.zeros((4, 1)), np.array([[1], [1], [1], [0]]), "DPA103"),
        (np.zeros((0, 1)), np.zeros((0, 1)), "DPA103"),
        (np.zeros((4, 0)), np.zeros((4, 0)), "DPA103"),
    ],
)
def test_pilots_that_say_nothing_are_refused(scores, included, code):
    with pytest.raises(InvalidArgument, match=code):
        fit_likelihood_ratio(scores, included)


def test_a_fitted_score_makes_an_audit_of_scores_refute_a_false_claim():
    """Two outputs whose spread, not their mean, tells the sides apart: the score is fitted on runs of its own."""

    def release(data, rng):
        return rng.normal(scale=1 + 2 * len(data), size=2)

    rng = np.random.default_rng(7)
    sides = [np.array([release(data, rng) for _ in range(400)]) for data in ([], [1])]
    included = np.repeat([[False, False], [True, True]], 400, axis=0)
    ratio = fit_likelihood_ratio(np.concatenate(sides), included)
    target = canary_target(release, ratio, without=[], including=[1], claim=Claim(GDP(mu=1)))
    assert Verdict.REFUTED == audit(target, alpha="0.001", runs=4000, seed=1).results[0].verdict


@given(scores=st.lists(st.integers(0, 20), min_size=1, max_size=60), rate=st.sampled_from(["0.01", "0.05", "0.3", "0.9"]))
def test_a_threshold_has_at_most_its_rate_and_no_lower_score_has(scores, rate):
    threshold = threshold_at_false_positive_rate(scores, rate=rate)
    allowed = Fraction(rate) * len(scores)
    assert sum(score >= threshold for score in scores) <= allowed
    below = [score for score in scores if score < threshold]
    if below:
        assert sum(score >= max(below) for score in scores) > allowed


def test_an_operating_point_counts_and_bounds_both_rates():
    members, others = np.array([3.0, 2.0, 1.0, 2.5]), np.array([0.0, 2.0, 1.0])
    point = operating_point(members, others, threshold=2, alpha="0.1")
    assert (3, 4, 1, 3) == (point.true_positives, point.members, point.false_positives, point.others)
    assert clopper_pearson_lower(3, 4, "0.05") == point.true_positive_rate
    assert clopper_pearson_upper(1, 3, "0.05") == point.false_positive_rate
    for delta in (0, Fraction(1, 10)):
        expected = math.log((point.true_positive_rate - delta) / point.false_positive_rate)
        assert expected == pytest.approx(float(point.epsilon(delta=delta)), abs=1e-12)


def test_the_bound_on_epsilon_keeps_its_error_rate_by_enumeration():
    """Worst pairs of (1, 0.05): the bound exceeds 1 with probability at most alpha, summed over both counts."""
    runs, alpha, epsilon, delta = 30, Fraction(1, 10), 1.0, 0.05
    exceeds = np.array(
        [
            [
                (
                    OperatingPoint(
                        threshold=0.0, true_positives=hits, members=runs, false_positives=alarms, others=runs, alpha=alpha
                    ).epsilon(delta="0.05")
                    or -1
                )
                > epsilon
                for alarms in range(runs + 1)
            ]
            for hits in range(runs + 1)
        ]
    )
    numbers = np.arange(runs + 1)
    worst = max(
        float(binom.pmf(numbers, runs, np.e * rate + delta) @ exceeds @ binom.pmf(numbers, runs, rate))
        for rate in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
    )
    assert 1e-6 < worst <= alpha


def test_rates_that_bound_nothing_give_no_epsilon():
    point = operating_point([0.0], [1.0], threshold=0.5, alpha="0.1")
    assert point.epsilon(delta=0) is None


@pytest.mark.parametrize(
    ("members", "others", "threshold", "alpha"),
    [([np.nan], [0.0], 0, "0.1"), ([[1.0]], [0.0], 0, "0.1"), ([1.0], [0.0], np.inf, "0.1"), ([1.0], [0.0], 0, 0)],
)
def test_impossible_operating_points_are_refused(members, others, threshold, alpha):
    with pytest.raises(InvalidArgument):
        operating_point(members, others, threshold=threshold, alpha=alpha)


def test_a_threshold_needs_pilot_scores():
    with pytest.raises(InvalidArgument, match="DPA109"):
        threshold_at_false_positive_rate([], rate="0.1")
    with pytest.raises(InvalidArgument, match="DPA103"):
        threshold_at_false_positive_rate([1.0], rate=0)
