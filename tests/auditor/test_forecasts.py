"""Forecasts: fair against the claim, idle where nothing breaks it, smooth along bins, and weighted by what they explain."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from dpaudit.auditor.betting.accounts import game_of
from dpaudit.auditor.betting.forecasts import forecast
from dpaudit.auditor.betting.label_bettor import LabelBettor
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.catalogue import specimens

PURE = game_of(ClaimPoint(1, 0))
GAMES = [PURE, game_of(ClaimPoint(0, "0.3")), game_of(ClaimPoint("0.2", "0.05")), game_of(ClaimPoint(3, "1e-5"))]
COUNTS = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=2, max_size=12)


@given(counts=COUNTS, game=st.sampled_from(GAMES))
def test_factors_are_positive_and_back_one_label_in_a_bin(counts, game):
    factors, _ = forecast(np.array(counts, dtype=np.float64), game)
    # What the bins drain falls on all of them alike; a stake on top of it costs the odds on the other label.
    rest = (factors + game.odds * factors[:, ::-1]) / (1 + game.odds)
    drained = rest.max()

    assert factors.min() > 0
    assert np.all(rest <= drained + 1e-12)
    assert drained <= 1 + 1e-12
    assert np.all(np.abs(rest - drained).min(axis=1) < 1e-12)


def test_log_ratios_that_keep_the_claim_are_not_bet_on():
    counts = np.array([[270, 730], [1000, 1000], [730, 270]], dtype=np.float64)
    factors, evidence = forecast(counts, game_of(ClaimPoint("1.1", 0)))

    assert np.array_equal(np.ones((3, 2)), factors)
    assert evidence > 100  # labels are explained very well although no bet is worth while


def test_a_bin_without_runs_is_forecast_from_its_neighbours():
    counts = np.array([[500, 500], [900, 100], [0, 0], [900, 100], [500, 500]], dtype=np.float64)
    factors, _ = forecast(counts, PURE)

    assert factors[2, 0] > 1 > factors[2, 1]
    assert 1 == factors[0, 0]


def test_stakes_are_those_that_grow_fastest():
    counts = np.array([[9000, 1000], [1000, 9000]], dtype=np.float64)
    factors, _ = forecast(counts, PURE)

    assert factors[0, 0] == pytest.approx(0.9 * (1 + math.e) / math.e, rel=1e-3)
    assert factors[0, 1] == pytest.approx(0.1 * (1 + math.e), rel=1e-2)


@given(counts=COUNTS)
def test_evidence_is_the_ratio_of_two_densities(counts):
    counts = np.array(counts, dtype=np.float64)
    ratios, noise = np.log(counts + 0.5) @ [-1, 1], np.diag((1 / (counts + 0.5)).sum(axis=1))
    place = np.arange(len(counts))
    signal = 4 * np.exp(-np.abs(np.subtract.outer(place, place)) / 10)
    expected = multivariate_normal(cov=signal + noise).logpdf(ratios) - multivariate_normal(cov=noise).logpdf(ratios)

    assert expected == pytest.approx(forecast(counts, PURE)[1], rel=1e-6, abs=1e-6)


def test_a_column_without_signal_explains_nothing():
    labels = np.array([[100, 100], [90, 110], [105, 95]], dtype=np.float64)
    signal = np.array([[130, 70], [60, 140], [105, 95]], dtype=np.float64)

    assert forecast(labels, PURE)[1] < 0 < forecast(signal, PURE)[1]


def test_the_column_that_explains_labels_has_the_weight():
    stream = np.random.default_rng(5)
    labels = stream.integers(0, 2, 600).astype(np.uint8)
    features = stream.normal(size=(600, 3))
    features[:, 1] += labels
    bettor = LabelBettor(ClaimPoint(3, 0), groups=(0, 0, 0))
    bettor.observe(features, labels)
    weights = {column.source: column.weight for column in bettor._columns if isinstance(column.source, int)}

    assert weights[1] > 100 * max(weights[0], weights[2])
    assert 1 == pytest.approx(sum(column.weight for column in bettor._columns))


@pytest.mark.parametrize(("groups", "expected"), [((0, 3), False), ((0, 0), True), (None, False)])
def test_forecasts_are_for_outputs_of_several_items(groups, expected):
    stream = np.random.default_rng(6)
    labels = stream.integers(0, 2, 300).astype(np.uint8)
    bettor = LabelBettor(ClaimPoint(1, 0), groups)
    bettor.observe(stream.normal(size=(300, 2)), labels)

    assert expected == math.isfinite(bettor._log_forecasting)


@pytest.mark.parametrize(("name", "bar"), [("svt4", 11_000), ("svt6", 2000)])
def test_violations_seen_in_patterns_of_items_are_refuted_soon(name, bar):
    specimen = next(one for one in specimens(1) if one.name == name)
    stops = []
    for seed in range(5):
        stream = np.random.default_rng([31, seed])
        labels = stream.integers(0, 2, bar).astype(np.uint8)
        by_label = [specimen.target.sample(data, bar, stream).astype(np.float64) for data in specimen.target.neighbours[0]]
        items = np.where(labels[:, None] == 1, by_label[1], by_label[0])
        features = np.column_stack([items, items.sum(axis=1), items.argmax(axis=1)])
        path = np.cumsum(LabelBettor(ClaimPoint(1, 0), groups=(0,) * 10 + (2,) * 2).observe(features, labels))
        stops.append(int(np.argmax(path >= math.log(20))) if path.max() >= math.log(20) else math.inf)
    assert np.median(stops) <= bar
