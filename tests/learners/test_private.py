"""PrivateClassifier: scikit-learn's conventions, its price, private values that never raise, and scores from released weights."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.claims import ApproxDP
from dpaudit.errors import BudgetExceeded, DpauditError
from learners import Budget, PrivateClassifier


def data(records=600, features=4, seed=0):
    """Features, and whether the first is positive."""
    rows = np.random.default_rng(seed).normal(size=(records, features))
    return rows, (rows[:, 0] > 0).astype(int)


def model(**parameters):
    """A classifier for tests."""
    return PrivateClassifier(
        **{"epsilon": 5, "delta": "1e-5", "feature_norm": 3, "classes": [0, 1], "random_state": 0, **parameters}
    )


def test_scikit_learn_finds_nothing_to_complain_about():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(PrivateClassifier(epsilon=1, delta="1e-5", feature_norm=10))
    assert {"passed", "skipped"} == {result["status"] for result in results}
    assert {False} == {result["expected_to_fail"] for result in results}


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove", "zero_out"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_price_is_what_was_asked_for(adjacency, epsilon):
    nominal = 600 if adjacency == "add_remove" else None
    record = model(epsilon=epsilon, adjacency=adjacency, n_nominal=nominal, random_state=None).fit(*data()).privacy_
    assert float(epsilon) * 0.999 < record.epsilon <= float(epsilon)
    assert record.secure
    assert record.recompute().upper <= float(epsilon)


def test_scores_are_those_of_the_coefficients():
    rows, labels = data()
    rows = np.clip(rows, -1, 1)
    fitted = model().fit(rows, labels)
    expected = rows @ fitted.coef_[0] + fitted.intercept_[0]
    assert (1, 4) == fitted.coef_.shape
    assert expected == pytest.approx(fitted.decision_function(rows), abs=0.02)


def test_several_classes_share_one_composition():
    rows, labels = data(4000)
    fitted = model(classes=[0, 1, 2], epsilon=20).fit(rows, labels + (labels & (rows[:, 1] > 0)))
    assert (3, 4) == fitted.coef_.shape
    assert (3,) == fitted.intercept_.shape
    assert (4000, 3) == fitted.decision_function(rows).shape
    assert fitted.score(rows, labels + (labels & (rows[:, 1] > 0))) > 0.8


def test_dense_and_sparse_fits_and_scores_agree_in_every_bit():
    rows, labels = data()
    rows[np.abs(rows) < 0.5] = 0
    dense, sparse = model().fit(rows, labels), model().fit(csr_array(rows), labels)
    assert np.array_equal(dense.weights_, sparse.weights_)
    assert np.array_equal(dense.decision_function(rows), sparse.decision_function(csr_array(rows)))


def test_private_values_never_raise_warn_or_drop_a_record():
    rows, labels = data(40)
    rows[0], rows[1], rows[2], rows[3] = np.nan, np.inf, 1e300, 0
    given = labels.astype(object)
    given[4], given[5] = "foreign", None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model().fit(rows, given)
        one_class = model().fit(rows, np.zeros(40, dtype=int))
    assert fitted.plan_ == one_class.plan_
    assert fitted.privacy_.epsilon == one_class.privacy_.epsilon


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"delta": 0}, "DPA103"),
        ({"epsilon": 0}, "DPA104"),
        ({"epsilon": -1}, "DPA104"),
        ({"feature_norm": 0}, "DPA104"),
        ({"feature_norm": float("nan")}, "DPA102"),
        ({"adjacency": "label"}, "DPA604"),
        ({"adjacency": "add_remove"}, "DPA603"),
    ],
)
def test_parameters_are_refused_before_a_record_is_read(changed, code, monkeypatch):
    def read(*_arguments, **_named):
        raise AssertionError("records were read")

    monkeypatch.setattr("learners.estimator.to_rows", read)
    with pytest.raises(DpauditError) as caught:
        model(**changed).fit(*data(40))
    assert code == caught.value.code


def test_a_grid_search_stops_where_its_budget_ends():
    budget = Budget(ApproxDP(epsilon=11, delta="1e-4"))
    search = GridSearchCV(model(budget=budget), {"feature_norm": [1, 2, 3]}, error_score="raise")
    with pytest.raises(BudgetExceeded, match="DPA204"):
        search.fit(*data())


def test_a_pickle_predicts_the_same_and_holds_no_training_value():
    rows, labels = data()
    fitted = model().fit(rows, labels)
    stored = pickle.dumps(fitted)
    assert np.array_equal(fitted.decision_function(rows), pickle.loads(stored).decision_function(rows))
    assert not any(value.tobytes() in stored for value in rows.ravel())
    assert len(stored) < 5000


def test_more_privacy_means_noisier_weights():
    rows, labels = data(2000)
    fits = {e: [model(epsilon=e, random_state=seed).fit(rows, labels) for seed in range(3)] for e in ("0.01", "5")}
    scores = {e: np.mean([fitted.score(rows, labels) for fitted in fits[e]]) for e in fits}
    assert scores["0.01"] + 0.1 < scores["5"]
    assert scores["5"] > 0.95
