"""PrivateLinearRegression: weights in the units of the table, at the price that was asked for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import Adjacency
from learners import PrivateLinearRegression
from learners.estimator import Public
from learners.public_data.linear_regression import count_labels, regression_plan

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (4000, 3))
Y = 5 * X[:, 0] - 2 * X[:, 1] + 1


def fitted():
    return PrivateLinearRegression(epsilon=3, delta="1e-5", feature_norm=2, label_bound=10, random_state=1).fit(X, Y)


def test_a_line_is_learned_at_the_price_that_was_asked_for():
    model = fitted()
    assert model.score(X, Y) > 0.97
    assert 2.99 < model.privacy_.epsilon <= 3
    np.testing.assert_allclose([5, -2, 0], model.coef_, atol=0.6)


def test_weights_in_their_own_units_give_the_predictions():
    model = fitted()
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict(X), atol=0.02)


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
@given(first=st.integers(-4096, 4096), second=st.integers(-4096, 4096))
def test_one_label_moves_the_counts_by_no_more_than_their_sensitivity(adjacency, first, second):
    plan = regression_plan(Public(3, 2, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency.of(adjacency)))
    before, other = np.array([first, 7]), [second, 7] if adjacency == "replace_one" else [7]
    moved = count_labels(before) - count_labels(np.array(other))
    assert (moved**2).sum() <= plan.labels.sensitivity**2


def test_a_generous_bound_costs_little():
    scores = []
    for bound in (8, 800):
        model = PrivateLinearRegression(epsilon=1, delta="1e-5", feature_norm=2, label_bound=bound, random_state=1)
        scores.append(model.fit(X, Y).score(X, Y))
    assert scores[0] > 0.95
    assert scores[1] > 0.5
