"""PrivateLinearRegression: weights in the units of the table, at the price that was asked for."""

from __future__ import annotations

import numpy as np

from learners import PrivateLinearRegression

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
