"""Weights by all gradients together: the curvature on a way, what noise and contradictions weigh, rare classes that are found."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

from dpaudit.claims import Adjacency
from learners.estimator import Public
from learners.rows.ingest import checked_features, to_rows
from learners.solvers.gradient import solve
from learners.solvers.newton import Axes, NormalModel
from learners.solvers.plans import default_plan
from learners.solvers.pooling import NoisyShare, Pool, curvature, pooled_steps
from learners.solvers.slopes import expected_bend, expected_share
from mechanisms import source_from

CONSTANT = 0.125
WEIGHTS = np.array([2.0, -1.0, 0.5, -8.0])


def model_of(count=200_000, noise=1e-9):
    """Normal rows with a constant, and their model."""
    random = np.random.default_rng(0)
    features = random.normal(size=(count, 3)) @ np.diag([0.6, 0.5, 0.4]) + [0.1, 0, -0.1]
    rows = np.column_stack([features, np.full(count, CONSTANT)])
    values, vectors = np.linalg.eigh(rows.T @ rows)
    return rows, NormalModel(Axes(values, vectors, noise), count, CONSTANT, expected_bend)


def pool_of(model, deviation, share=0.3, doubt=1e9):
    """What is known before the first gradient."""
    start = model.axes.inward(np.array([0, 0, 0, -1 / CONSTANT]))
    return Pool(model, start, NoisyShare(share, doubt, expected_share), deviation)


def test_the_curvature_on_a_way_is_the_mean_over_the_way():
    rows, model = model_of()
    first, last = np.array([0, 0, 0, -8.0]), WEIGHTS * 2
    second = expected_share(rows @ last)
    ways = [rows @ (first + part * (last - first)) for part in np.linspace(0.05, 0.95, 10)]
    bends = np.mean([expected_bend(margins, second=second) for margins in ways], axis=0)
    expected = (rows.T * bends) @ rows
    found = curvature(model, expected_share, model.axes.inward(first), model.axes.inward(last))
    for vector in np.eye(4):
        product = model.axes.outward(found.times(model.axes.inward(vector)))
        assert np.linalg.norm(expected @ vector - product) < 0.05 * np.linalg.norm(expected @ vector)


def test_its_square_is_the_product_with_itself():
    _, model = model_of(1000)
    found = curvature(model, expected_share, np.zeros(4), np.ones(4))
    whole = np.column_stack([found.times(each) for each in np.eye(4)])
    assert np.allclose(whole, whole.T)
    assert np.allclose(whole @ whole, found.square())


def test_two_gradients_at_one_place_count_as_their_mean_with_half_the_variance():
    _, model = model_of(1000)
    here, pulls = model.axes.inward(np.array([0, 0, 0, -8.0])), np.array([[3.0, -2, 1, 4], [5, 0, -1, 2]])
    noise = 10.0  # beside which errors of the model are nothing
    both = pool_of(model, noise).estimate([(here, pull) for pull in pulls], here)
    mean = pool_of(model, noise / np.sqrt(2)).estimate([(here, pulls.mean(axis=0))], here)
    assert 0.1 < np.abs(both - here).max()
    assert np.allclose(both, mean, atol=1e-6)


def test_where_noise_is_all_weights_stay_and_the_share_sets_the_constant():
    rows, model = model_of()
    pool = pool_of(model, 1e12, share=0.02, doubt=1e-4)
    found = model.axes.outward(pool.estimate([(pool.start, np.ones(4) * 1e12)], pool.start))
    assert np.abs(found[:3]).max() < 0.1
    assert 0.02 == pytest.approx(expected_share(rows @ found).mean(), rel=0.2)


@pytest.mark.parametrize("size", [0.0, 1.0, 1e3, 1e9])
def test_estimates_are_finite_whatever_was_released(size):
    _, model = model_of(1000, noise=3.0)
    random = np.random.default_rng(1)
    for share in (1e-6, 0.5, 1 - 1e-6):
        move = pooled_steps(pool_of(model, 1.0, share, 0.1))
        weights = random.normal(size=4) * size
        for _ in range(3):
            weights = weights + move(random.normal(size=4) * size, weights)
        assert np.isfinite(weights).all()


def test_steps_depend_on_what_was_released_alone():
    _, model = model_of(1000)
    first, second = (pooled_steps(pool_of(model, 5.0)) for _ in range(2))
    assert np.array_equal(first(np.ones(4), np.zeros(4)), second(np.ones(4), np.zeros(4)))
    assert np.array_equal(first(np.ones(4), np.ones(4)), second(np.ones(4), np.ones(4)))


def precision_beside_no_noise(features, labels, epsilon, seeds):
    """Average precision of private fits over that of logistic regression, both on half of the records that they have not seen."""
    half = len(labels) // 2
    public = Public(half, features.shape[1], 2, Fraction(1), Fraction(epsilon), Fraction(1, 10**5), Adjacency.of("replace_one"))
    plan = default_plan(public)
    learn, test = (
        to_rows(
            checked_features(features[part]), labels[part], feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept
        )
        for part in (slice(half), slice(half, None))
    )
    best = LogisticRegression(C=100, max_iter=1000).fit(features[:half], labels[:half]).decision_function(features[half:])
    found = [test.steps @ solve(learn, plan, source_from(np.random.default_rng(seed))) for seed in range(seeds)]
    scores = [average_precision_score(labels[half:], each) for each in (*found, best)]
    return np.mean(scores[:-1]) / scores[-1]


def labels_of(score, share, random):
    """Labels of a logistic law of which a share are ones."""
    drawn = score + random.logistic(size=len(score))
    return (drawn > np.quantile(drawn, 1 - share)).astype(np.int64)


def test_one_percent_is_found_among_columns_that_vary_together():
    random = np.random.default_rng(11)
    features = random.normal(size=(40_000, 3)) @ random.normal(size=(3, 12)) + 0.7 * random.normal(size=(40_000, 12))
    features /= 4 * features.std(axis=0) * np.sqrt(3)
    score = features @ random.normal(size=12)
    labels = labels_of(2.5 * score / score.std(), 0.01, random)
    assert 0.8 < precision_beside_no_noise(features, labels, 1, 5)


def test_rows_of_heavy_tails_are_followed_to_the_end():
    random = np.random.default_rng(12)
    clean = random.normal(size=(40_000, 8))
    features = np.exp(1.2 * clean) / 200
    labels = labels_of(2.5 * np.sqrt(1 / 8) * clean.sum(axis=1), 0.05, random)
    assert 0.95 < precision_beside_no_noise(features, labels, 100, 2)
