"""Newton steps: the curvature of normal records, bounded below by noise, and weights that find rare classes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpaudit.claims import Adjacency
from learners.estimator import Public
from learners.rows.ingest import checked_features, to_rows
from learners.solvers.gradient import WEIGHT_BITS, solve
from learners.solvers.newton import Axes, NormalModel, newton_steps, normal_model
from learners.solvers.plans import default_plan
from learners.solvers.slopes import LOGISTIC, expected_bend
from mechanisms import source_from

CONSTANT = 0.125


def normal_rows(count=200_000, seed=0):
    """Rows of a normal law that is not centred, with a constant behind them."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, 4)) @ random.normal(size=(4, 4)) / 4 + [0.3, -0.2, 0.1, 0]
    return np.column_stack([rows, np.full(count, CONSTANT)])


def axes_of(moment, noise=1e-9):
    """The axes of a second moment without noise."""
    values, vectors = np.linalg.eigh(moment)
    return Axes(np.maximum(values, 1e-9), vectors, noise)


@pytest.mark.parametrize("length", [0.5, 3, 8])
def test_a_step_divides_by_the_mean_curvature_of_normal_records(length):
    rows = normal_rows()
    weights = np.array([1, -0.5, 0.25, 1, -8]) * length / 2
    axes = axes_of(rows.T @ rows)
    model = NormalModel(axes, len(rows), CONSTANT, expected_bend)
    pull = np.random.default_rng(1).normal(size=5)
    bends = expected_bend(rows @ weights)
    expected = np.linalg.solve((rows.T * bends) @ rows, pull)
    found = axes.outward(model.step(axes.inward(pull), axes.inward(weights)))
    assert np.linalg.norm(expected - found) < 0.05 * np.linalg.norm(expected)


def test_rows_without_a_constant_are_taken_as_centred():
    rows = normal_rows()[:, :4]
    rows -= rows.mean(axis=0)
    axes = axes_of(rows.T @ rows)
    model = NormalModel(axes, len(rows), 0.0, expected_bend)
    weights, pull = np.array([3.0, -1, 2, 1]), np.ones(4)
    expected = np.linalg.solve((rows.T * expected_bend(rows @ weights)) @ rows, pull)
    assert np.linalg.norm(expected - model.step(axes.inward(pull), axes.inward(weights)) @ axes.vectors.T) < 0.05 * np.linalg.norm(
        expected
    )


@pytest.mark.parametrize("size", [0.0, 1.0, 1e3, 1e9])
def test_steps_are_finite_and_go_downhill_wherever_the_weights_are(size):
    random = np.random.default_rng(3)
    for trial in range(200):
        moment = random.normal(size=(5, 5)) * 10.0 ** random.uniform(-2, 4)
        axes = axes_of(moment + moment.T, noise=10.0 ** random.uniform(0, 3))
        axes = replace(axes, values=np.maximum(axes.values, axes.noise))
        model = NormalModel(axes, 100, CONSTANT * (trial % 2), expected_bend)
        pull, weights = random.normal(size=5), random.normal(size=5) * size
        step = model.step(pull, weights)
        assert np.isfinite(step).all()
        assert step @ pull > 0


def test_the_bend_is_the_mean_second_derivative_for_labels_that_suit_the_margin():
    margins, small = np.linspace(-8, 8, 33), 1e-5
    weights = (4096, 1024)

    def pull(margin, sign):
        return min(1.0, 2 / (1 + np.exp(sign * margin)))

    for margin in margins[margins != 0]:
        # labels whose weighted pulls balance at this margin
        up, down = pull(margin, 1) * 1024, pull(margin, -1) * 4096
        share = down / (up + down)
        slopes = [share * 1024 * pull(at, 1) - (1 - share) * 4096 * pull(at, -1) for at in (margin - small, margin + small)]
        expected = (slopes[0] - slopes[1]) / (2 * small) / 4096
        assert expected == pytest.approx(float(expected_bend(np.array([margin]), weights)[0]), rel=1e-4, abs=1e-9)


def test_the_step_depends_on_what_was_released_alone():
    public = Public(1000, 4, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency.of("replace_one"))
    plan, axes = default_plan(public), axes_of(np.diag([1.0, 2, 3, 4, 5]) * 50, noise=30)
    first, second = (newton_steps(normal_model(axes, plan, LOGISTIC), LOGISTIC) for _ in range(2))
    weights, slope = np.arange(5.0), np.ones(5)
    first(slope * 7, weights * 3)  # leaves nothing behind
    assert np.array_equal(first(slope, weights), second(slope, weights))


def test_a_rare_column_that_says_nearly_all_does_not_throw_steps_to_and_fro():
    random = np.random.default_rng(3)
    inside = random.random((40_000, 10)) < [0.085, *np.linspace(0.07, 0.3, 9)]
    features = (inside * 2.0 - 1) / np.sqrt(2.5)
    labels = (random.random(40_000) < 0.25 * inside[:, 0] * 0.6 ** inside[:, 1:].sum(axis=1)).astype(np.int64)
    public = Public(40_000, 10, 2, Fraction(1), Fraction(1), Fraction(1, 10**5), Adjacency.of("replace_one"))
    plan = default_plan(public)
    rows = to_rows(checked_features(features), labels, feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)
    found = [solve(rows, plan, source_from(np.random.default_rng(seed)))[0] for seed in range(2)]
    assert 4 << WEIGHT_BITS < min(found)


@pytest.mark.parametrize(("rate", "epsilon"), [(0.05, 1), (0.1, 1), (0.1, "1/10")])
def test_a_rare_class_is_found(rate, epsilon):
    random = np.random.default_rng(7)
    features = random.normal(size=(20_000, 8)) / 4
    scores = features @ random.normal(size=8) * 5
    odds = scores - np.quantile(scores, 1 - rate)
    labels = (random.random(20_000) < 1 / (1 + np.exp(-2 * odds))).astype(np.int64)
    public = Public(20_000, 8, 2, Fraction(1), Fraction(epsilon), Fraction(1, 10**5), Adjacency.of("replace_one"))
    plan = default_plan(public)
    rows = to_rows(checked_features(features), labels, feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)
    chosen = np.array([rows.margins(solve(rows, plan, source_from(np.random.default_rng(seed)))) > 0 for seed in range(5)])
    best = LogisticRegression(C=100).fit(features, labels).predict(features) == 1
    recall, possible = chosen[:, labels == 1].mean(), best[labels == 1].mean()
    assert recall >= (0.8 if epsilon == 1 else 0.4) * possible
    assert (chosen == labels).mean() >= (best == labels).mean() - (0.01 if epsilon == 1 else 0.02)
