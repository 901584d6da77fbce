"""Kernel regressors: least squares with cut residuals, what one label moves, sparse columns, and plans that remember no weights."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from learners import KernelRidgeRegressor, SemiInteractiveKernelRegressor
from learners.estimator import Public
from learners.kernels.semi_interactive import noisy_values
from learners.kernels.spaces import Columns, Linear, Polynomial
from learners.rows.labels import TARGET_UNIT, targets
from learners.rows.rows import Rows
from learners.solvers.losses import Loss
from learners.solvers.minimum import IMAGE_BITS, minimise, minimum

ONE = 1 << IMAGE_BITS
KINDS = [(KernelRidgeRegressor, {}), (SemiInteractiveKernelRegressor, {"point_count": 20})]
every = pytest.mark.parametrize(("kind", "options"), KINDS, ids=lambda each: getattr(each, "__name__", ""))
USUAL = {"epsilon": 1, "delta": "1e-5", "feature_norm": 1, "label_bound": 1, "ridge": "1/10"}


def rows_of(images, labels):
    """Images of norm at most 1, and targets in [-1, 1]."""
    steps = np.trunc(np.asarray(images) * ONE).astype(np.int32)
    return Rows(steps, ONE, Fraction(1, ONE), targets(np.asarray(labels, dtype=float), Fraction(1)))


def data(records=2000, seed=0):
    """Records on a sphere, and a product of two features with a little noise."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(records, 3))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows, 2 * rows[:, 0] * rows[:, 1] + 0.05 * random.normal(size=records)


@every
def test_scikit_learn_finds_one_thing_to_complain_about(kind, options):
    """That labels which are all NaN raise nothing: they are private values, and whether a fit raises would tell of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(kind(**USUAL, **options), on_fail=None, on_skip=None)
    assert ["check_supervised_y_no_nan"] == [result["check_name"] for result in results if result["status"] == "failed"]


@every
def test_what_no_line_fits_is_learned_at_a_price_that_is_kept(kind, options):
    model = kind(**{**USUAL, "epsilon": 100, "ridge": "1/300"}, **options, kernel=Polynomial(2)).fit(*data())
    assert model.score(*data(seed=1)) > 0.8
    assert model.privacy_.recompute().upper <= model.privacy_.epsilon <= 100
    assert ("1", "2000") == (model.privacy_.public["label_bound"], str(model.privacy_.public["records"]))


def test_wide_residuals_are_those_of_least_squares():
    random = np.random.default_rng(3)
    images, labels = random.uniform(-0.5, 0.5, size=(60, 3)), np.round(random.uniform(-1, 1, 60) * TARGET_UNIT) / TARGET_UNIT
    rows, found = rows_of(images, labels), minimum(records=60, columns=3, ridge="1/10", loss=Loss("residual", 3))
    exact = rows.steps / ONE
    expected = np.linalg.solve(exact.T @ exact / 60 + np.eye(3) / 10, exact.T @ labels / 60)
    apart = minimise(rows, found) / 2.0**found.weight_bits - expected
    assert np.sqrt(apart @ apart) <= float(found.objective.radius) + 2 / 2**found.weight_bits


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-0.7, 0.7), st.floats(-0.7, 0.7), st.floats(-2, 2)), min_size=6, max_size=6),
    st.tuples(st.floats(-0.7, 0.7), st.floats(-0.7, 0.7), st.floats(-2, 2)),
    st.sampled_from([-1, 0, 2]),
)
def test_a_record_and_its_label_move_the_weights_by_no_more_than_the_sensitivity(records, other, bits):
    found = minimum(records=6, columns=2, ridge="1/5", loss=Loss("residual", bits))
    fits = [
        minimise(rows_of([each[:2] for each in some], [each[2] for each in some]), found)
        for some in (records, [other, *records[1:]])
    ]
    apart = (fits[0] - fits[1]).tolist()
    assert sum(gap**2 for gap in apart) <= found.sensitivity**2
    assert max(sum(weight**2 for weight in fit.tolist()) for fit in fits) <= (found.longest * 2**found.weight_bits + 300) ** 2


def test_a_label_moves_the_weights_by_nearly_all_of_the_sensitivity():
    found = minimum(records=1000, columns=2, ridge="1/10", loss="residual")
    images = np.tile([[0.0, 1.0]], (1000, 1))
    images[0] = [1.0, 0.0]
    fits = [minimise(rows_of(images, [label] + [0.0] * 999), found) for label in (1.0, -1.0)]
    assert 0.95 <= abs(int(fits[0][0] - fits[1][0])) / found.sensitivity <= 1


def test_wider_residuals_cost_as_much_more_noise():
    narrow, wide = (KernelRidgeRegressor(**USUAL, residual_bits=bits).fit(*data(100)).plan_ for bits in (0, 2))
    sigmas = [
        plan.telling.release.parameter("sigma") / 2**plan.minimum.weight_bits * plan.minimum.objective.ridge
        for plan in (narrow, wide)
    ]
    assert float(sigmas[1] / sigmas[0]) == pytest.approx(4, rel=0.01)


def test_sparse_columns_stay_sparse_and_are_learned_from_like_an_array():
    rows = np.zeros((200, 500))
    rows[np.arange(200), np.arange(200) % 7] = 0.8
    labels = np.where(np.arange(200) % 7 < 3, 0.5, -0.5)
    given_points = rows[:10]
    fits = [
        SemiInteractiveKernelRegressor(**USUAL, kernel=Linear(), points=form(given_points), random_state=3).fit(form(rows), labels)
        for form in (np.asarray, csr_array)
    ]
    assert isinstance(fits[1].plan_.telling.points.steps, csr_array)
    assert fits[0].plan_.telling.release == fits[1].plan_.telling.release
    assert fits[0].values_.tolist() == fits[1].values_.tolist()
    np.testing.assert_allclose(fits[0].predict(rows), fits[1].predict(rows), atol=1e-9)


@pytest.mark.parametrize("count", [4, 60])
def test_weights_are_the_best_of_some_ridge_and_no_longer_than_a_minimiser(count):
    """Fewer points than columns, and more: the gradient of squares at the fitted weights is a negative multiple of them."""
    random = np.random.default_rng(count)
    images = random.normal(size=(count, 8)) / 5
    public = Public(1000, 8, 2, Fraction(1), Fraction(8), Fraction(1, 10**6), Adjacency.of("replace_one"))
    found = minimum(records=1000, columns=8, ridge="1/10", loss="residual")
    told = noisy_values(rows_of(images, np.zeros(count)), public, found)
    values = np.rint(random.normal(size=count) * 3e4).astype(np.int64)
    weights = told.fitted(values) / 2.0**found.weight_bits
    points, wanted = told.points.steps / ONE, values * 2.0 ** (told.shift - found.weight_bits - IMAGE_BITS)
    pull = points.T @ (wanted - points @ weights)
    ridge = (pull @ weights) / (weights @ weights)
    assert ridge > 0
    np.testing.assert_allclose(pull, ridge * weights, atol=1e-4 * np.abs(pull).max())
    assert weights @ weights <= float(found.longest) ** 2 * (1 + 1e-6)


def test_a_plan_remembers_nothing_of_private_weights():
    """Small weights are multiplied in floats, large ones in whole numbers; neither leaves a trace in the public points."""
    found = minimum(records=1000, columns=2, ridge="1/10", loss="residual")
    public = Public(1000, 2, 2, Fraction(1), Fraction(1), Fraction(1, 10**6), Adjacency.of("replace_one"))
    told = noisy_values(rows_of(np.eye(2), np.zeros(2)), public, found)
    before = pickle.dumps(told), set(vars(told.points))
    for size in (1, 2**40):
        told.tell(np.full(2, size), None)
        assert before == (pickle.dumps(told), set(vars(told.points)))


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"residual_bits": 31}, "DPA103"),
        ({"residual_bits": 1.5}, "DPA105"),
        ({"delta": 0}, "DPA103"),
        ({"ridge": 0}, "DPA104"),
        ({"kernel": Polynomial(0)}, "DPA103"),
    ],
)
@every
def test_what_is_public_is_refused(kind, options, changed, code):
    with pytest.raises(InvalidArgument, match=code):
        kind(**{**USUAL, **options, **changed}).fit(np.eye(3), [0, 1, 0])


def test_columns_are_images_of_a_finer_lattice_only():
    rows = Rows(np.array([[3, 4]], dtype=np.int32), 5, Fraction(1, 5), np.array([0]))
    found = Columns(2).apply(rows, lattice_bits=4)
    assert ([[9, 12]], 15, Fraction(1, 15)) == (found.steps.tolist(), found.bound, found.step)
    for bad, code in (({"lattice_bits": 2}, "DPA103"), ({"lattice_bits": 4, "intercept": 1}, "DPA103")):
        with pytest.raises(InvalidArgument, match=code):
            Columns(2).apply(rows, **bad)
    with pytest.raises(InvalidArgument, match="DPA105"):
        Columns(3).apply(rows, lattice_bits=4)
