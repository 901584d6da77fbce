"""Tracing and the accuracy test: the identity behind them, valid p-values, and what they refute."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import GDP, ApproxDP, Claim, PureDP, audit
from dpaudit.auditor.membership import (
    draw_fingerprints,
    fingerprints,
    least_squared_distance,
    refute_by_accuracy,
    tracing_p_values,
    tracing_scores,
    tracing_target,
)
from dpaudit.errors import AdjacencyMismatch, InvalidArgument, TargetFailure
from dpaudit.results import Verdict

HALF = Claim(PureDP(epsilon="1/2"), adjacency="replace_one")


def mean(rows, rng):
    return rows.mean(axis=0)


def noisy_mean(mu):
    """The Gaussian mechanism on the mean of n rows of d signs: replacing one moves it by at most 2 sqrt(d) / n."""

    def estimate(rows, rng):
        records, dimension = rows.shape
        return rows.mean(axis=0) + rng.normal(scale=2 * math.sqrt(dimension) / (records * mu), size=dimension)

    return estimate


def without_public(estimate):
    return lambda private, public, rng: estimate(private, rng)


@pytest.mark.parametrize("spread", [0.3, 0.5, 1.0])
def test_the_correlation_of_records_with_any_function_of_them_is_an_integral_over_its_mean(spread):
    """E sum <f, x_i - p> = E 2 p g(p) + (1 - s^2) (g(s) - g(-s)) / (2 s), g(p) the mean of f, for five records of one sign."""
    signs = list(product((-1, 1), repeat=5))
    table = dict(zip(signs, np.random.default_rng(3).uniform(-1, 1, size=len(signs)), strict=True))

    def chance(row, p):
        return math.prod((1 + sign * p) / 2 for sign in row)

    def g(p):
        return sum(chance(row, p) * value for row, value in table.items())

    nodes, weights = np.polynomial.legendre.leggauss(20)
    places = spread * nodes
    correlation = [sum(chance(row, p) * table[row] * sum(sign - p for sign in row) for row in signs) for p in places]
    identity = [2 * p * g(p) for p in places]
    boundary = (1 - spread**2) * (g(spread) - g(-spread)) / (2 * spread)
    assert weights @ identity / 2 + boundary == pytest.approx(weights @ correlation / 2, abs=1e-12)


def test_a_traced_mean_has_the_published_power():
    """n = 50, d = 2000: mean score of a record that is in 26.9, deviation of others 4.6, most in and hardly any other found."""
    rng, inside, outside, found, alarms = np.random.default_rng(1), [], [], 0, 0
    for _ in range(40):
        means, rows = draw_fingerprints(100, 2000, rng)
        released = mean(rows[:50], rng)
        scores, values = tracing_scores(released, means, rows), tracing_p_values(released, means, rows)
        inside, outside = [*inside, *scores[:50]], [*outside, *scores[50:]]
        found, alarms = found + (values[:50] <= 0.05).sum(), alarms + (values[50:] <= 0.05).sum()
    assert 2 * 2000 / (3 * 50) == pytest.approx(np.mean(inside), rel=0.03)
    assert 4.6 == pytest.approx(np.std(outside), rel=0.1)
    assert found / 2000 > 0.99
    assert alarms / 2000 < 0.02


@given(estimate=st.lists(st.floats(-2, 2), min_size=8, max_size=8), seed=st.integers(0, 5), level=st.sampled_from([0.5, 0.1, 0.01]))
@settings(max_examples=60)
def test_a_record_that_is_out_is_found_no_more_often_than_its_level_by_enumeration(estimate, seed, level):
    means = np.random.default_rng(seed).uniform(-1, 1, size=8)
    rows = np.array(list(product((-1, 1), repeat=8)))
    chances = np.prod((1 + rows * means) / 2, axis=1)
    assert 1 == pytest.approx(chances.sum())
    assert chances @ (tracing_p_values(estimate, means, rows) <= level) <= level * (1 + 1e-9)


def test_an_estimate_without_error_traces_nobody():
    assert [1.0, 1.0] == tracing_p_values([0.5], [0.5], [[1], [-1]]).tolist()


def test_fingerprints_have_the_means_that_were_drawn():
    means, rows = draw_fingerprints(200_000, 3, np.random.default_rng(4), spread="1/2")
    assert np.abs(means).max() <= 0.5
    assert {-1, 1} == set(np.unique(rows))
    np.testing.assert_allclose(rows.mean(axis=0), means, atol=0.015)


def test_fingerprints_may_be_copies_of_few():
    means, rows = draw_fingerprints(500, 40, np.random.default_rng(4), distinct=7)
    assert ((40,), (500, 40)) == (means.shape, rows.shape)
    assert 7 == len(np.unique(rows, axis=0))


def test_fingerprints_are_the_same_in_one_block_and_in_many(monkeypatch):
    _, whole = draw_fingerprints(50, 7, np.random.default_rng(2))
    monkeypatch.setattr(fingerprints, "_SIGNS_AT_ONCE", 15)
    _, parts = draw_fingerprints(50, 7, np.random.default_rng(2))
    np.testing.assert_array_equal(whole, parts)
    assert np.int8 == parts.dtype


def test_tracing_too_many_signs_is_refused_before_a_run():
    with pytest.raises(InvalidArgument, match="DPA103"):
        tracing_target(mean, records=2**20, dimension=2**20, claim=HALF)


@pytest.mark.parametrize(
    "wrong",
    [{"records": 0}, {"dimension": 0}, {"spread": 0}, {"spread": 2}, {"distinct": 0}, {"distinct": 2**28}, {"dimension": 2**28}],
)
def test_impossible_fingerprints_are_refused_before_anything_is_drawn(wrong):
    rng = np.random.default_rng(1)
    with pytest.raises(InvalidArgument):
        draw_fingerprints(**{"records": 2, "dimension": 2, "rng": rng, **wrong})
    assert np.random.default_rng(1).random() == rng.random()


@pytest.mark.parametrize(
    "wrong", [([0.0], [0.0, 0.0], [[1, 1]]), ([0.0], [0.0], [[1, 1]]), ([np.nan], [0.0], [[1]]), ([0.0], [0.0], [1])]
)
def test_scores_of_what_does_not_fit_are_refused(wrong):
    with pytest.raises(InvalidArgument, match="DPA105"):
        tracing_scores(*wrong)


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_tracing_refutes_a_mean_without_noise(adjacency):
    target = tracing_target(mean, records=20, dimension=200, claim=Claim(GDP(mu=1), adjacency=adjacency))
    (result,) = audit(target, alpha="0.001", runs=2000, seed=1).results
    assert Verdict.REFUTED == result.verdict


def test_tracing_refutes_noise_for_another_claim_and_spares_the_right_one(false_alarm_level):
    claim = Claim(GDP(mu=1), adjacency="replace_one")

    def traced(mu, alpha):
        target = tracing_target(noisy_mean(mu), records=20, dimension=100, claim=claim)
        return audit(target, alpha=alpha, runs=3000, seed=1).results[0].verdict

    # Tracing shows 0.41 of mu on average, so that 1 is refuted by noise for 8.
    assert Verdict.REFUTED == traced(8, "0.001")
    assert Verdict.REFUTED != traced(1, false_alarm_level)


@pytest.mark.parametrize("adjacency", ["zero_out", "label"])
def test_other_neighbours_cannot_be_traced(adjacency):
    claim = Claim(PureDP(epsilon=1), adjacency=adjacency)
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        tracing_target(mean, records=5, dimension=5, claim=claim)
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        refute_by_accuracy(without_public(mean), dimension=5, private=5, claim=claim)


@pytest.mark.parametrize("public", [0, 10, 1000])
@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("epsilon", [0, "0.1", "1/2", 1, 3])
def test_the_least_distance_is_never_below_the_published_form(epsilon, delta, public):
    """The published constants have e^epsilon - 1 for sinh(epsilon) and 2 delta for (1 + e^-epsilon) delta."""
    d, n = 2000, 200
    e, small = math.exp(float(Fraction(epsilon))), float(delta)
    published = (2 * d / 3 - 8 * small * d * n) / (2 * math.sqrt(d / 3) + math.sqrt(2 * public * d / 3) + n * (e - 1))
    found = least_squared_distance(dimension=d, private=n, public=public, epsilon=epsilon, delta=delta)
    assert float(found) >= published**2 * (1 - 1e-12)
    odds = (e - 1 / e) / 2
    ours = (2 * d / 3 - 4 * small * (1 + 1 / e) * d * n) / (2 * math.sqrt(d / 3) + math.sqrt(2 * public * d / 3) + n * odds)
    assert ours**2 == pytest.approx(float(found), rel=1e-12)


def test_a_large_delta_allows_any_accuracy():
    claim = Claim(ApproxDP(epsilon=1, delta="1/2"), adjacency="replace_one")
    assert 0 == least_squared_distance(dimension=10, private=10, epsilon=1, delta="1/2")
    found = refute_by_accuracy(without_public(mean), dimension=10, private=10, claim=claim)
    assert (1, 1.0, "not applicable") == (found.runs, found.p_value, found.finding.status)


def test_a_mean_without_noise_is_too_accurate_and_the_right_noise_is_not():
    sizes = {"dimension": 1500, "private": 100, "claim": HALF, "seed": 1}
    plain = refute_by_accuracy(without_public(mean), **sizes)
    assert plain.refuted
    assert plain.runs < 1000
    # The squared distance of the mean of n signs is 2 d / (3 n).
    assert 2 * 1500 / (3 * 100) == pytest.approx(plain.mean, rel=0.02)
    right = refute_by_accuracy(without_public(noisy_mean(0.1)), runs=50, **sizes)
    assert not right.refuted
    assert (50, "holds") == (right.runs, right.finding.status)


def test_public_records_may_be_used_but_not_private_ones_among_them():
    sizes = {"dimension": 2000, "private": 100, "public": 2, "claim": HALF, "seed": 1}
    assert not refute_by_accuracy(lambda private, public, rng: public.mean(axis=0), runs=50, **sizes).refuted
    assert refute_by_accuracy(lambda private, public, rng: np.concatenate([private, public]).mean(axis=0), **sizes).refuted


def test_a_curve_is_tested_at_the_point_that_forces_most():
    claim = Claim(GDP(mu="1/4"), adjacency="replace_one")
    found = refute_by_accuracy(without_public(mean), dimension=500, private=50, claim=claim, runs=3)
    assert found.floor > 0


def test_estimates_are_clipped_and_what_is_no_number_counts_as_zero():
    def wild(private, public, rng):
        return np.where(np.arange(40) % 2 == 0, np.nan, 1e9)

    found = refute_by_accuracy(wild, dimension=40, private=4, claim=HALF, runs=200)
    # Half of the entries are 0 and half are 1: 1/3 and 4/3 from uniform means.
    assert 40 * (1 / 3 + 4 / 3) / 2 == pytest.approx(found.mean, rel=0.05)
    assert not found.refuted


def test_an_estimate_of_another_shape_stops_the_test():
    with pytest.raises(TargetFailure, match="DPA405"):
        refute_by_accuracy(lambda private, public, rng: 0.0, dimension=3, private=4, claim=HALF)


@pytest.mark.parametrize("wrong", [{"dimension": 0}, {"private": 0}, {"public": -1}, {"runs": 0}, {"alpha": 1}, {"seed": -1}])
def test_impossible_requests_are_refused_before_anything_is_drawn(wrong):
    def never(private, public, rng):
        raise AssertionError

    with pytest.raises(InvalidArgument):
        refute_by_accuracy(never, **{"dimension": 3, "private": 4, "claim": HALF, **wrong})
