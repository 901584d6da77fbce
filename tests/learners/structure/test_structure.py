"""PrivatePCA and PrivateKMeans: what one record moves, what is released, and that structure is found."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.claims import GDP
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from learners import Budget, PrivateKMeans, PrivatePCA
from learners.structure.kmeans import CONSTANT, cluster_sensitivity, sum_clusters
from learners.structure.unlabelled import LATTICE_BITS
from learners.targets import structure
from mechanisms import GaussianMechanism

KINDS = (PrivatePCA, PrivateKMeans)
every = pytest.mark.parametrize("kind", KINDS)
ONE = 2**LATTICE_BITS
record = st.tuples(st.floats(0, 2 * np.pi), st.floats(0, 1)).map(
    lambda polar: (int(ONE * polar[1] * np.cos(polar[0])), int(ONE * polar[1] * np.sin(polar[0])))
)


def made(kind, **given):
    return kind(**{"epsilon": 2, "delta": "1e-6", "feature_norm": 1, "random_state": 1, **given})


def blobs(count=3000):
    """Three clusters in the plane, the first twice as large."""
    random = np.random.default_rng(0)
    centres = np.array([[0.6, 0.0], [0.6, 0.0], [-0.5, 0.5], [-0.4, -0.6]])
    return centres[random.integers(0, 4, count)] + random.normal(size=(count, 2)) / 20, centres[1:]


def length(values):
    return sum(int(each) ** 2 for each in np.ravel(values))


@given(st.lists(record, max_size=3), record, record)
def test_one_record_moves_the_moment_by_no_more_than_its_sensitivity(rest, first, second):
    sums = [structure.triangle(each) for each in ([first, *rest], [second, *rest])]
    assert length(sums[0] - sums[1]) <= structure.PLAN.moment.sensitivity**2
    assert length(sums[0] - (structure.triangle(rest) if rest else 0)) <= structure.PLAN.moment.sensitivity**2 // 2 + 1


@given(st.lists(record, max_size=3), record, record, st.lists(st.floats(-2 * ONE, 2 * ONE), min_size=6, max_size=6))
def test_one_record_moves_the_clusters_by_no_more_than_their_sensitivity(rest, first, second, centres):
    places = np.array(centres).reshape(3, 2)
    sums = [sum_clusters(structure.rows_of(each, CONSTANT), places) for each in ([first, *rest], [second, *rest])]
    assert length(sums[0] - sums[1]) <= cluster_sensitivity(2) ** 2
    other = sum_clusters(structure.rows_of(rest, CONSTANT), places) if rest else np.zeros_like(sums[0])
    assert length(sums[0] - other) <= cluster_sensitivity(1) ** 2


def test_the_pairs_of_the_audits_move_both_by_nearly_all():
    assert length(np.subtract(*map(structure.triangle, structure.TURN_PAIR))) > 0.98 * structure.PLAN.moment.sensitivity**2
    assert length(np.subtract(*map(structure.clusters, structure.SIDE_PAIR))) == structure.CLUSTERS.sums.sensitivity**2


@every
@pytest.mark.parametrize("relation", [{}, {"adjacency": "add_remove", "n_nominal": 1000}])
def test_exactly_what_was_planned_is_released_at_the_price_that_was_asked_for(kind, relation):
    with recording() as log:
        model = made(kind, **relation).fit(blobs()[0])
    assert [release.sensitivity for release in log] == [each.sensitivity for each in model.plan_.charges[0].releases]
    assert 1.9 < model.privacy_.recompute().upper <= 2


@every
def test_fits_depend_on_what_was_released_alone(kind, monkeypatch):
    """Other records with the same noisy sums give the same model."""
    real = GaussianMechanism.release
    monkeypatch.setattr(GaussianMechanism, "release", lambda *given: 0 * real(*given) + 10**9)
    first, second = (made(kind).fit(np.random.default_rng(seed).normal(size=(50, 3))) for seed in (0, 1))
    for name in kind.released:
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_directions_and_variances_are_those_of_the_records():
    random = np.random.default_rng(3)
    turn = np.linalg.qr(random.normal(size=(4, 4)))[0]
    rows = random.normal(size=(20_000, 4)) * [0.3, 0.15, 0.05, 0.05] @ turn.T + 0.1
    model = made(PrivatePCA, n_components=2).fit(rows)
    assert np.abs(np.diag(model.components_ @ turn[:, :2])).min() > 0.98
    assert np.allclose(model.explained_variance_, [0.09, 0.0225], atol=0.006)
    assert np.allclose(model.mean_, 0.1, atol=0.02)
    assert model.inverse_transform(model.transform(rows)).shape == rows.shape
    assert ["privatepca0", "privatepca1"] == model.get_feature_names_out().tolist()


@pytest.mark.parametrize("kind", [PrivateKMeans, PrivatePCA])
def test_what_needs_a_fit_says_so(kind):
    for name in ("predict", "transform", "inverse_transform"):
        if hasattr(kind, name):
            with pytest.raises(NotFittedError):
                getattr(made(kind), name)([[0.0]])


@pytest.mark.parametrize("relation", [{}, {"adjacency": "add_remove", "n_nominal": 10_000}])
def test_clusters_are_found(relation):
    rows, centres = blobs()
    model = made(PrivateKMeans, n_clusters=3, **relation).fit(rows)
    distances = np.sqrt(np.square(centres[:, np.newaxis] - model.cluster_centers_).sum(axis=2))
    assert distances.min(axis=1).max() < 0.05
    assert sorted(distances.argmin(axis=1).tolist()) == [0, 1, 2]
    assert (model.predict(rows) == model.transform(rows).argmin(axis=1)).all()
    assert 0.4 < max(model.counts_) / 3000 < 0.6


@every
def test_dense_and_sparse_records_give_the_same_model(kind):
    rows = np.where(np.abs(blobs(400)[0]) < 0.2, 0.0, blobs(400)[0])
    first, second = made(kind).fit(rows), made(kind).fit(csr_array(rows))
    assert all(np.array_equal(getattr(first, name), getattr(second, name)) for name in kind.released)


@every
def test_private_values_never_raise_and_a_pickle_predicts(kind):
    rows = np.array([[np.nan, 1.0], [np.inf, -np.inf], [1e300, 1e300], [0.1, 0.2]] * 10)
    model = clone(made(kind)).fit(rows)
    assert np.array_equal(model.transform(rows), pickle.loads(pickle.dumps(model)).transform(rows))


@every
def test_a_budget_is_spent_and_refuses(kind):
    budget = Budget(GDP(mu="1/2"))
    made(kind, budget=budget).fit(blobs()[0])
    with recording() as log, pytest.raises(BudgetExceeded):
        made(kind, budget=budget).fit(blobs()[0])
    assert [] == list(log)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (PrivatePCA, {"n_components": 3}),
        (PrivatePCA, {"adjacency": "zero_out"}),
        (PrivatePCA, {"delta": 0}),
        (PrivateKMeans, {"n_clusters": 0}),
        (PrivateKMeans, {"feature_norm": -1}),
    ],
)
def test_parameters_are_refused_before_anything_is_drawn(kind, given):
    with recording() as log, pytest.raises(DpauditError):
        made(kind, **given).fit(blobs(50)[0])
    assert [] == list(log)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [PrivatePCA(epsilon=1, delta="1e-5", feature_norm=1), PrivateKMeans(epsilon=1, delta="1e-5", feature_norm=1)]
)
def test_scikit_learn_accepts_them(model):
    results = check_estimator(model, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == ({"check_clustering"} if isinstance(model, PrivateKMeans) else set())  # it wants labels_, which are private
