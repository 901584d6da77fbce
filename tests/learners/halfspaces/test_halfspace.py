"""HalfspaceClassifier: scikit-learn's conventions, public plans, refusals, accuracy with a margin, and what it promises."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners.halfspaces.descent import Descent
from learners.halfspaces.halfspace import HalfspaceClassifier
from learners.halfspaces.literal import LiteralDescent

entries = st.one_of(st.floats(width=64), st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 5e-324, 1e308]))


def separated(records, features, margin, seed=0):
    """Unit records that all have exactly the margin."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=features)
    normal /= np.linalg.norm(normal)
    rows = rng.normal(size=(records, features))
    rows -= np.outer(rows @ normal, normal)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.arange(records) % 2
    return (1 - margin**2) ** 0.5 * rows + np.outer(2 * labels - 1, margin * normal), labels


def model(**parameters):
    return HalfspaceClassifier(
        **{"epsilon": 1, "delta": "1e-6", "margin": "1/5", "classes": [0, 1], "random_state": 0, **parameters}
    )


@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes():
    results = check_estimator(HalfspaceClassifier(epsilon=1, delta="1e-6", margin="1/5", dimension=1), on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)


def test_few_columns_of_many_features_are_enough_where_there_is_a_margin():
    """2500 records of 500 features at epsilon 1, learned in 200 columns: about 1 in 300 of others is wrong."""
    rows, labels = separated(3000, 500, 0.2)
    fitted = model(dimension=200).fit(rows[:2500], labels[:2500])
    assert (200,) == fitted.embedded_weights_.shape
    assert 0.97 < fitted.score(rows[2500:], labels[2500:])
    assert 0.97 < np.mean((rows[2500:] @ fitted.coef_[0] > 0) == labels[2500:])


def test_several_runs_are_paid_for_and_one_of_them_is_kept():
    rows, labels = separated(3000, 60, 0.3)
    fitted = model(margin="3/10", runs=4).fit(rows, labels)
    assert 0.99 < fitted.score(rows, labels)
    sums, choice = fitted.privacy_.charges
    assert (4 * fitted.plan_.runs.steps, 1) == (len(sums.releases), len(choice.releases))
    assert Fraction(20) == choice.releases[0].parameter("temperature")
    assert fitted.privacy_.recompute().upper <= fitted.privacy_.epsilon <= 1


@pytest.mark.parametrize(("margin", "columns"), [("1", 16), ("1/5", 400), ("1/20", 2048), ("1/1000", 2048)])
def test_columns_follow_the_margin(margin, columns):
    fitted = model(margin=margin, epsilon=1).fit(np.eye(2, 3000), [0, 1])
    assert columns == fitted.plan_.image.dimension_out == fitted.privacy_.public["columns"]
    assert model(margin=margin).fit(np.eye(2, 16), [0, 1]).plan_.image is None


def test_the_literal_algorithm_runs_on_few_records_within_its_budget():
    rows, labels = separated(40, 5, 0.5)
    fitted = model(faithful=True, margin="1/2").fit(rows, labels)
    assert isinstance(fitted.plan_.runs, LiteralDescent)
    assert 0.5 < float(fitted.privacy_.epsilon) < 0.6
    assert "6 of 1599 steps" == fitted.privacy_.public["runs"]
    assert "vacuous" == str(fitted.utility_)
    assert fitted.plan_.image is None
    hinge = fitted.plan_.runs
    assert (0.48, 0.05) == pytest.approx((hinge.high / 2**50, hinge.low / 2**50))


def test_what_is_promised_is_said_plainly():
    """With many records and no map something is promised, with few nothing, after a map to few columns nothing at all."""
    wide = np.eye(3000, 100)
    few = model().fit(wide[:20, :3], np.arange(20) % 2)
    assert "vacuous" == str(few.utility_) == few.privacy_.public["utility"]
    mapped = model(dimension=20).fit(wide, np.arange(3000) % 2)
    assert str(mapped.utility_).startswith("void: the map has too few columns")
    assert mapped.privacy_.public["utility"] == str(mapped.utility_)
    many = model(margin=1, epsilon=8, runs=4).fit(np.repeat([[1.0], [-1.0]], 10000, axis=0), np.repeat([1, 0], 10000))
    assert 0 < float(str(many.utility_)) < 0.3
    assert isinstance(many.plan_.runs, Descent)


@settings(max_examples=25, deadline=None)
@given(arrays.arrays(np.float64, (5, 3), elements=entries), st.lists(st.integers(0, 3), min_size=5, max_size=5), st.booleans())
def test_no_records_make_a_fit_refuse_raise_or_warn(features, labels, csr):
    stored = csr_array(features) if csr else features
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model(random_state=None, dimension=2).fit(stored, labels)
        assert {*fitted.predict(stored)} <= {0, 1}
    assert fitted.privacy_.epsilon <= 1
    assert fitted.privacy_.secure


def test_scale_of_a_record_storage_order_and_the_public_seed():
    rows, labels = separated(60, 40, 0.3)
    wanted = model(dimension=8).fit(rows, labels).embedded_weights_.tolist()
    scaled = rows * np.exp2(np.arange(60) - 30)[:, np.newaxis]
    order = np.random.default_rng(2).permutation(60)
    assert wanted == model(dimension=8).fit(scaled, labels).embedded_weights_.tolist()
    assert wanted == model(dimension=8).fit(csr_array(scaled[order]), labels[order]).embedded_weights_.tolist()
    assert wanted == model(dimension=8).fit(np.asfortranarray(rows), labels).embedded_weights_.tolist()
    assert wanted != model(dimension=8, seed=1).fit(rows, labels).embedded_weights_.tolist()


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("DPA604", {"adjacency": "add_remove"}),
        ("DPA604", {"adjacency": "zero_out"}),
        ("DPA103", {"classes": [0, 1, 2]}),
        ("DPA103", {"margin": 0}),
        ("DPA103", {"margin": "11/10"}),
        ("DPA103", {"margin": "1e-9"}),
        ("DPA101", {"margin": None}),
        ("DPA103", {"jl_fraction": 1}),
        ("DPA103", {"jl_fraction": 0}),
        ("DPA103", {"failure": 0}),
        ("DPA103", {"choice_share": 1}),
        ("DPA103", {"runs": 0}),
        ("DPA103", {"runs": 65}),
        ("DPA103", {"dimension": 0}),
        ("DPA103", {"seed": -1, "dimension": 2}),
        ("DPA105", {"faithful": 1}),
        ("DPA103", {"faithful": True, "epsilon": 2}),
        ("DPA103", {"delta": 0}),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_before_a_record_is_read(monkeypatch, code, options):
    monkeypatch.setattr(HalfspaceClassifier, "_learn", None)
    with recording() as log, pytest.raises(DpauditError) as caught:
        model(**options).fit(np.eye(6), [0, 1] * 3)
    assert (code, []) == (caught.value.code, log)


def test_the_literal_algorithm_refuses_many_records():
    with pytest.raises(DpauditError, match="DPA103 faithful=True is for at most 500 records"):
        model(faithful=True).fit(np.ones((501, 2)), np.arange(501) % 2)
