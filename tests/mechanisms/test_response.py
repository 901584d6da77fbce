"""Randomized response: exact probabilities, one price for each person, an unbiased estimate, refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from dpaudit.releases import recording
from mechanisms import InsecureSeededSourceForTestsOnly, RandomizedResponse
from mechanisms.response import draw_honesty, report, reports, threshold, truth_probability
from mechanisms.sampling.uniform import draw_many_below

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

epsilons = st.fractions(min_value="1/1000", max_value=60, max_denominator=1000)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3), Fraction(7), Fraction(1, 1000)])
@pytest.mark.parametrize("bits", [1, 3, 8])
def test_a_coin_is_true_with_its_exact_probability(epsilon, bits, outcomes):
    found, unassigned = outcomes(lambda tape: bool(draw_honesty(epsilon, 3, 1, tape, bits=bits, step=1)[0]))
    with working_precision(200):
        true = truth_probability(epsilon, 3)(200)
        assert ball(found[True]) <= true
        assert true <= ball(found[True] + unassigned)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
def test_another_category_is_uniform(limit, outcomes):
    found, unassigned = outcomes(lambda tape: int(draw_many_below(limit, 1, tape)[0]), unassigned=Fraction(1, 2**8))
    assert set(range(limit)) == set(found)
    for share in found.values():
        assert share <= Fraction(1, limit) <= share + unassigned


@pytest.mark.parametrize("sampler", ["one", "many"])
@pytest.mark.parametrize(
    ("epsilon", "categories", "truth", "bits"),
    [("1", 2, 1, 3), ("1/3", 2, 0, 1), ("7/2", 3, 1, 5), ("1/10", 4, 3, 2), ("2", 5, 2, 4), ("1", 3, 0, 8)],
)
def test_every_report_has_exactly_its_probability_over_all_tapes(epsilon, categories, truth, bits, sampler, outcomes):
    def many(tape):
        return int(reports(np.array(truth), 1, Fraction(epsilon), categories, tape, bits=bits, step=1)[0])

    def one(tape):
        return report(truth, Fraction(epsilon), categories, tape, bits=bits, step=1)

    found, unassigned = outcomes(one if sampler == "one" else many)
    assert set(range(categories)) == set(found)
    with working_precision(200):
        honest = truth_probability(Fraction(epsilon), categories)(200)
        for category, mass in found.items():
            true = honest if category == truth else (1 - honest) / (categories - 1)
            assert ball(mass) <= true <= ball(mass + unassigned)


@pytest.mark.parametrize("categories", [2, 3, 5, 8])
def test_a_single_report_follows_the_law(categories, false_alarm_level):
    source, mechanism = InsecureSeededSourceForTestsOnly(23), RandomizedResponse(epsilon="1/2", categories=categories)
    counts = np.bincount([mechanism.release(1, source) for _ in range(40_000)], minlength=categories)
    expected = np.full(categories, 1 / (math.exp(0.5) + categories - 1))
    expected[1] *= math.exp(0.5)
    assert chisquare(counts, 40_000 * expected).pvalue > false_alarm_level


@given(epsilon=epsilons, categories=st.integers(2, 2**24))
def test_the_probability_of_the_truth_is_enclosed_closely(epsilon, categories):
    found = RandomizedResponse(epsilon=epsilon, categories=categories).keep_probability
    with mpmath.workdps(120):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        true = power / (power + categories - 1)
        lower, upper = (mpmath.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
        assert lower <= true <= upper
        assert upper - lower < mpmath.mpf(2) ** -100


def test_the_standard_error_is_the_spread_of_the_estimate():
    mechanism, people = RandomizedResponse(epsilon=1, categories=3), np.repeat([0, 1, 2], [2500, 1500, 1000])
    all_reports = mechanism.releases(people, 400, InsecureSeededSourceForTestsOnly(24))
    estimates = np.array([mechanism.estimate(row) for row in all_reports])
    errors = np.array([mechanism.standard_error(row) for row in all_reports])
    # The deviation of 400 estimates is within a fifth of the true one, and the error counts the spread of the truth, too.
    assert (estimates.std(axis=0) < 1.2 * errors.mean(axis=0)).all()
    assert (errors.mean(axis=0) < 1.3 * estimates.std(axis=0)).all()
    assert (abs(estimates.mean(axis=0) - [0.5, 0.3, 0.2]) < 7 * errors.mean(axis=0) / 20).all()


def test_one_report_has_no_standard_error():
    with pytest.raises(DpauditError, match="DPA109"):
        RandomizedResponse(epsilon=1).standard_error(np.array([1]))


@given(epsilon=epsilons, categories=st.integers(2, 2**24))
def test_the_threshold_is_the_floor_of_the_exact_probability(epsilon, categories):
    with mpmath.workdps(120):
        power = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        assert min(int(mpmath.floor(2**64 * power / (power + categories - 1))), 2**64 - 1) == threshold(epsilon, categories, 64)


@pytest.mark.parametrize("epsilon", [800, 10**6, Fraction(10) ** 300])
def test_a_huge_epsilon_tells_the_truth(epsilon):
    source = InsecureSeededSourceForTestsOnly(3)
    assert [4] * 100 == RandomizedResponse(epsilon=epsilon, categories=9).releases(4, 100, source).tolist()


@pytest.mark.parametrize(("categories", "truth"), [(2, 1), (3, 0), (5, 3)])
def test_reports_follow_the_law(categories, truth, false_alarm_level):
    reports = RandomizedResponse(epsilon=1, categories=categories).releases(truth, 300_000, InsecureSeededSourceForTestsOnly(21))
    expected = np.full(categories, 1 / (math.e + categories - 1))
    expected[truth] *= math.e
    assert chisquare(np.bincount(reports, minlength=categories), 300_000 * expected).pvalue > false_alarm_level


def test_reports_of_different_people_are_independent(false_alarm_level):
    people = np.tile(np.array([0, 1]), 100_000)
    reports = RandomizedResponse(epsilon=1).release(people, InsecureSeededSourceForTestsOnly(22))
    lies = (reports != people).reshape(-1, 2)
    lie = 1 / (math.e + 1)
    expected = np.outer([1 - lie, lie], [1 - lie, lie]).reshape(-1)
    counts = np.bincount(lies[:, 0] * 2 + lies[:, 1], minlength=4)
    assert chisquare(counts, lies.shape[0] * expected).pvalue > false_alarm_level


@given(epsilon=epsilons, categories=st.integers(2, 9), data=st.data())
def test_the_estimate_is_unbiased(epsilon, categories, data):
    truth = data.draw(st.integers(0, categories - 1))
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    honest = math.exp(epsilon) / (math.exp(epsilon) + categories - 1)
    law = np.full(categories, (1 - honest) / (categories - 1))
    law[truth] = honest
    expectation = sum(law[report] * mechanism.estimate(np.array([report])) for report in range(categories))
    np.testing.assert_allclose(np.eye(categories)[truth], expectation, atol=1e-9 * float(1 + 1 / epsilon))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**5000), Fraction(10) ** 5000])
def test_the_estimate_of_an_extreme_epsilon_is_finite(epsilon):
    assert np.isfinite(RandomizedResponse(epsilon=epsilon).estimate(np.array([0, 1, 1]))).all()


def test_shapes_are_kept_and_the_input_unchanged():
    people = np.array([[0, 1, 2], [2, 1, 0]], dtype=np.uint8)
    before = people.copy()
    mechanism = RandomizedResponse(epsilon=1, categories=3)
    assert (2, 3) == mechanism.release(people).shape
    assert (7, 2, 3) == mechanism.releases(people, 7).shape
    assert () == mechanism.release(np.array(1)).shape
    assert isinstance(mechanism.release(1), int)
    assert np.int64 == mechanism.release(people).dtype
    np.testing.assert_array_equal(before, people)


def test_the_log_prices_an_array_once_since_every_entry_is_another_person():
    mechanism = RandomizedResponse(epsilon="1/2", categories=4)
    with recording() as log:
        mechanism.release(np.array([0, 1, 2]))
        mechanism.release(3, InsecureSeededSourceForTestsOnly(1))
        mechanism.releases(3, 6)
    assert [(3, 1, True), (1, 1, False), (1, 6, True)] == [(release.dimension, release.count, release.secure) for release in log]
    for release in log:
        assert "randomized_response" == release.kind
        assert (("categories", Fraction(4)), ("epsilon", Fraction(1, 2))) == release.parameters
        assert mechanism.adjacency == release.adjacency
    for epsilon in ("0", "1/4", "1/2"):
        assert mechanism.loss.delta(epsilon=epsilon) == price_releases(log[:1]).delta(epsilon=epsilon)
    assert Fraction(1, 2) == mechanism.claim.guarantee.epsilon == mechanism.loss.epsilon(delta=0).upper


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("DPA103", 3),
        ("DPA103", -1),
        ("DPA103", np.array([0, 3])),
        ("DPA103", np.array([-1, 0])),
        ("DPA103", np.array([2**64 - 1], dtype=np.uint64)),
        ("DPA109", np.array([], dtype=np.int64)),
        ("DPA105", np.array([0.0, 1.0])),
        ("DPA105", np.array([True])),
        ("DPA105", np.array(["0"])),
        ("DPA105", True),
        ("DPA105", 1.0),
        ("DPA105", "1"),
        ("DPA105", None),
        ("DPA105", [0, 1]),
    ],
)
def test_what_is_no_category_is_refused_before_bits_are_drawn_or_anything_is_logged(code, value, unasked):
    mechanism = RandomizedResponse(epsilon=1, categories=3)
    with recording() as log:
        for call in (
            lambda: mechanism.release(value, unasked),
            lambda: mechanism.releases(value, 2, unasked),
            lambda: mechanism.estimate(value if isinstance(value, np.ndarray) else np.array([9])),
            lambda: mechanism.standard_error(value if isinstance(value, np.ndarray) else np.array([9, 9])),
        ):
            with pytest.raises(DpauditError, match=f"{code}|DPA103"):
                call()
    assert [] == log


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("DPA104", {"epsilon": 0}),
        ("DPA104", {"epsilon": -1}),
        ("DPA102", {"epsilon": math.nan}),
        ("DPA101", {"epsilon": True}),
        ("DPA103", {"epsilon": 1, "categories": 1}),
        ("DPA103", {"epsilon": 1, "categories": 2**24 + 1}),
        ("DPA105", {"epsilon": 1, "categories": 2.0}),
        ("DPA103", {"epsilon": 1, "adjacency": "add_remove"}),
        ("DPA103", {"epsilon": 1, "adjacency": "zero_out"}),
    ],
)
def test_bad_parameters_are_refused(code, arguments):
    with pytest.raises(DpauditError, match=code):
        RandomizedResponse(**arguments)


def test_labels_may_be_randomised():
    assert "label" == str(RandomizedResponse(epsilon=1, adjacency="label").loss.adjacency)


def test_a_mechanism_is_a_value_and_can_be_built_from_its_description():
    mechanism = RandomizedResponse(epsilon="1/3", categories=7)
    text = mechanism.to_dict()
    assert "RandomizedResponse" == text.pop("mechanism")
    assert mechanism == RandomizedResponse(epsilon=text["epsilon"], categories=int(text["categories"]), adjacency=text["adjacency"])
    assert "7 categories" in mechanism.describe()
