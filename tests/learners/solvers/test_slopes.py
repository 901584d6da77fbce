"""Slopes: never larger than what they are charged for, a function of one record alone, and close to the loss they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from learners.rows.labels import WEIGHT_UNIT
from learners.solvers.slopes import (
    LOGISTIC,
    SOFTMAX,
    UNIT,
    _root_above,
    likely_classes,
    logistic_slopes,
    softmax_slopes,
    weighted_rule,
)

MARGINS = st.integers(-(2**62), 2**62) | st.integers(-(2**20), 2**20)


@given(arrays(np.int64, 12, elements=MARGINS), st.lists(st.integers(0, 1), min_size=12, max_size=12), st.integers(8, 40))
def test_no_logistic_slope_is_larger_than_the_unit_and_it_points_to_the_label(margins, labels, bits):
    slopes = logistic_slopes(margins, np.array(labels), bits)
    assert np.abs(slopes).max() <= UNIT
    assert np.all(slopes * (2 * np.array(labels) - 1) >= 0)


@given(arrays(np.int64, (8, 5), elements=MARGINS), st.lists(st.integers(0, 4), min_size=8, max_size=8), st.integers(8, 40))
def test_no_softmax_slope_is_longer_than_the_unit(margins, labels, bits):
    slopes = softmax_slopes(margins, np.array(labels), bits)
    assert all(sum(int(entry) ** 2 for entry in row) <= UNIT**2 for row in slopes)


@given(st.integers(1, 2**25 - 1))
def test_roots_are_rounded_up_exactly(root):
    squares = np.array([root**2 - 1, root**2, root**2 + 1])
    assert [root if root > 1 else 0, root, root + 1] == _root_above(squares).tolist()


@pytest.mark.parametrize("classes", [2, 3, 10, 1000])
def test_the_longest_residuals_are_cut_to_the_unit_and_not_below(classes):
    margins = np.zeros((2, classes), dtype=np.int64)
    margins[1, 0] = 100 << 16
    lengths = np.sqrt(np.square(softmax_slopes(margins, np.array([0, 1]), 16)).sum(axis=1))
    assert np.all(lengths <= UNIT)
    assert lengths.min() > UNIT - 2 * np.sqrt(classes)


@given(arrays(np.int64, (6, 4), elements=MARGINS), st.permutations(range(6)))
def test_the_slope_of_a_record_does_not_depend_on_the_others(margins, order):
    labels = np.arange(6) % 4
    expected = softmax_slopes(margins, labels, 20)[order]
    assert np.array_equal(expected, softmax_slopes(margins[order], labels[order], 20))
    alone = [softmax_slopes(margins[[row]], labels[[row]], 20)[0] for row in order]
    assert np.array_equal(expected, alone)


def test_the_logistic_slope_is_that_of_the_doubled_loss_cut_at_one():
    margins = np.linspace(-20, 20, 4001)
    expected = np.minimum(1, 2 / (1 + np.exp(margins)))
    actual = logistic_slopes(np.rint(margins * 2**28).astype(np.int64), np.ones(4001, dtype=np.int64), 28) / UNIT
    assert np.abs(expected - actual).max() < 0.003


def test_the_softmax_slope_is_the_residual_scaled_to_its_bound():
    margins = np.random.default_rng(1).normal(size=(500, 7)) * 3
    labels = np.arange(500) % 7
    likely = np.exp(margins) / np.exp(margins).sum(axis=1, keepdims=True)
    residual = np.eye(7)[labels] - likely
    expected = residual / np.maximum(np.linalg.norm(residual, axis=1), np.sqrt(0.5))[:, np.newaxis]
    actual = softmax_slopes(np.rint(margins * 2**28).astype(np.int64), labels, 28) / UNIT
    assert np.abs(expected - actual).max() < 0.01


def test_both_losses_are_one_for_two_classes_up_to_a_factor():
    margins = np.arange(-3000, 3000, 7) << 12
    labels = np.arange(len(margins)) % 2
    both = softmax_slopes(np.column_stack([np.zeros_like(margins), margins]), labels, 20)
    single = logistic_slopes(margins, labels, 20)
    assert np.abs(both[:, 1] * np.sqrt(2) - single).max() < 20


@given(
    arrays(np.int64, (6, 3), elements=MARGINS),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.tuples(*[st.integers(1, WEIGHT_UNIT)] * 3),
)
def test_weights_of_classes_lengthen_no_slope(margins, labels, weights):
    labels = np.array(labels)
    plain, weighted = (rule.slopes(margins, labels, 20) for rule in (SOFTMAX, weighted_rule(SOFTMAX, weights)))
    assert np.all(np.abs(weighted) <= np.abs(plain))
    assert np.all(weighted * plain >= 0)
    exact = plain * np.array(weights)[labels][:, np.newaxis] / WEIGHT_UNIT
    assert np.abs(weighted - exact).max() < 1
    two = [rule.slopes(margins[:, 0], labels % 2, 20) for rule in (LOGISTIC, weighted_rule(LOGISTIC, weights[:2]))]
    assert np.all(np.abs(two[1]) <= np.abs(two[0]))


def test_equal_weights_change_nothing():
    assert weighted_rule(LOGISTIC, (WEIGHT_UNIT, WEIGHT_UNIT)) is LOGISTIC


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_scores_are_best_for_the_probabilities_that_they_stand_for(classes):
    scores = np.random.default_rng(classes).normal(size=(200, classes)) * 3
    likely = likely_classes(scores)
    margins = np.rint(scores * 2**28).astype(np.int64)
    pulls = sum(likely[:, [label]] * softmax_slopes(margins, np.full(200, label), 28) for label in range(classes))
    assert np.abs(pulls).max() < 0.02 * UNIT
    assert np.array_equal(scores.argmax(axis=1), likely.argmax(axis=1))


@given(arrays(np.float64, (4, 5), elements=st.floats(-1e6, 1e6)))
def test_probabilities_keep_the_order_of_scores(scores):
    likely = likely_classes(scores)
    assert np.isfinite(likely).all()
    order = np.argsort(scores, axis=1)
    assert np.all(np.diff(np.take_along_axis(likely, order, axis=1), axis=1) >= -1e-12)


def test_probabilities_of_two_classes_follow_one_score():
    scores = np.linspace(-8, 8, 33)
    expected = np.where(scores > 0, (1 + np.exp(scores)) / (3 + np.exp(scores)), 2 / (3 + np.exp(-scores)))
    assert likely_classes(scores)[:, 1] == pytest.approx(expected)
