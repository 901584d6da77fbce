"""Solvers: exactly the planned releases, the same bits whatever the order, the storage and the threads, weights that learn."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.releases import recording
from learners.estimator import Public
from learners.rows.ingest import checked_features, to_rows
from learners.solvers.gradient import WEIGHT_BITS, on_lattice, solve
from learners.solvers.plans import MOST_COLUMNS, default_plan
from learners.solvers.quasi_newton import eigen, preconditioner
from learners.solvers.slopes import LOGISTIC, UNIT, logistic_slopes, softmax_slopes
from mechanisms import GaussianMechanism, source_from


def problem(*, records=400, features=6, classes=2, epsilon=100, seed=0):
    """Features, labels, and the plan for them."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(records, features)) / 3
    labels = (rows[:, 0] > 0).astype(np.int64) + ((rows[:, 1] > 0.2) if classes > 2 else 0)
    public = Public(records, features, classes, Fraction(1), Fraction(epsilon), Fraction(1, 10**5), Adjacency.of("replace_one"))
    return rows, labels, default_plan(public)


def rows_of(features, labels, plan):
    """Rows on the lattice of the plan."""
    read = checked_features(features)
    return to_rows(read, labels, feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)


def noise(seed=3):
    """A fixed stream."""
    return source_from(np.random.default_rng(seed))


SHAPES = [{}, {"classes": 3}, {"features": MOST_COLUMNS}]


@pytest.mark.parametrize("shape", SHAPES)
def test_exactly_what_was_planned_is_released(shape):
    features, labels, plan = problem(**shape)
    with recording() as log:
        solve(rows_of(features, labels, plan), plan, noise())
    assert list(plan.charges[0].releases) == [replace(release, secure=True) for release in log]


@pytest.mark.parametrize("shape", SHAPES)
def test_order_and_storage_of_the_records_change_no_bit(shape):
    features, labels, plan = problem(**shape)
    features[np.abs(features) < 0.2] = 0
    expected = solve(rows_of(features, labels, plan), plan, noise())
    order = np.random.default_rng(1).permutation(len(labels))
    assert np.array_equal(expected, solve(rows_of(features[order], labels[order], plan), plan, noise()))
    assert np.array_equal(expected, solve(rows_of(csr_array(features), labels, plan), plan, noise()))
    assert np.array_equal(expected, solve(rows_of(np.asfortranarray(features), labels, plan), plan, noise()))


def test_the_number_of_threads_changes_no_bit():
    features, labels, plan = problem(features=500)
    random = np.random.default_rng(0).normal(size=(500, 500))
    found = set()
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads):
            parts = [*eigen(random + random.T), solve(rows_of(features, labels, plan), plan, noise())]
        found.add(b"".join(part.tobytes() for part in parts))
    assert 1 == len(found)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_learn_a_signal_that_the_budget_allows(shape):
    features, labels, plan = problem(**{"records": 4000, **shape})
    rows = rows_of(features, labels, plan)
    margins = rows.margins(solve(rows, plan, noise()))
    chosen = margins > 0 if margins.ndim == 1 else margins.argmax(axis=1)
    assert np.mean(chosen == labels) > (0.75 if "classes" in shape or "features" in shape else 0.95)


def test_longer_rows_than_planned_are_refused_before_anything_is_drawn():
    features, labels, plan = problem()
    rows = to_rows(features, labels, feature_norm=1, lattice_bits=plan.lattice_bits + 1)
    with recording() as log, pytest.raises(InvalidArgument, match="DPA103"):
        solve(rows, plan)
    assert [] == log


@pytest.mark.parametrize("classes", [2, 4])
def test_the_worst_pairs_of_records_move_a_gradient_by_nearly_its_sensitivity_and_never_more(classes):
    _, _, plan = problem(records=2, classes=classes)
    random, slopes_of = np.random.default_rng(5), softmax_slopes if classes > 2 else logistic_slopes
    worst = 0.0
    for trial in range(400):
        row = random.normal(size=6) * random.choice([1, 3, 1e300])
        pair = np.stack([row, -row if trial % 2 else random.normal(size=6)])
        weights = on_lattice(random.normal(size=(7, classes) if classes > 2 else 7) * 10.0 ** random.uniform(-2, 2))
        sums = []
        for one in pair:
            rows = rows_of(one[np.newaxis], random.integers(0, classes, 1), plan)
            sums.append(rows.weighted_sum(slopes_of(rows.margins(weights), rows.labels, plan.lattice_bits + WEIGHT_BITS)))
        squared = sum(int(entry) ** 2 for entry in (sums[0] - sums[1]).ravel())
        assert squared <= plan.gradient.sensitivity**2
        worst = max(worst, squared / float(plan.gradient.sensitivity) ** 2)
    assert worst > 0.95


def constant(loss=LOGISTIC):
    """The same loss for steps that know its largest curvature alone."""
    return replace(loss, bend=None)


def test_the_map_of_gradients_inverts_the_curvature_of_the_rows():
    features, labels, plan = problem(records=20000, epsilon=1000)
    rows = rows_of(features, labels, plan)
    matrix = rows.second_moment() / 4.0**plan.lattice_bits
    expected = np.eye(len(matrix)) * 2
    move, zero = preconditioner(rows, plan, noise(), constant()), np.zeros(len(matrix))
    assert np.abs(expected - matrix @ move(np.eye(len(matrix)), zero)).max() < 0.05
    first = preconditioner(rows, plan, noise())
    assert np.abs(expected - matrix @ np.stack([first(row, zero) for row in np.eye(len(matrix))])).max() < 0.05


def test_directions_below_the_noise_move_by_no_more_than_the_floor_allows():
    features, labels, plan = problem(records=10, epsilon=1)
    rows = rows_of(features * 0, labels, plan)
    deviation = float(plan.moment.parameter("sigma")) / 7 / 4**plan.lattice_bits
    columns = rows.steps.shape[1]
    move = preconditioner(rows, plan, noise(), constant())
    longest = np.linalg.norm(move(np.eye(columns), np.zeros(columns)), 2)
    assert longest <= 1 / (0.5 * 0.5 * 2 * np.sqrt(columns) * deviation) * 1.0001


def test_the_first_gradient_is_the_sum_of_the_rows_by_their_class(monkeypatch):
    features, labels, plan = problem(features=MOST_COLUMNS)
    plan = replace(plan, steps=2)
    rows, seen = rows_of(features, labels, plan), []
    release = GaussianMechanism.release

    def watched(self, value, source=None):
        seen.append(value)
        return release(self, value, source)

    monkeypatch.setattr(GaussianMechanism, "release", watched)
    solve(rows, plan, noise())
    assert np.array_equal(UNIT * (2 * labels - 1) @ rows.steps.astype(np.int64), seen[0])


def test_weights_meet_records_on_a_lattice_and_within_a_ball():
    assert [2**WEIGHT_BITS, -(2 ** (WEIGHT_BITS - 1))] == on_lattice(np.array([1.0, -0.5])).tolist()
    far = on_lattice(np.full(4, 1e100))
    assert np.sqrt(np.square(far / 2**WEIGHT_BITS).sum()) == pytest.approx(2**20)
