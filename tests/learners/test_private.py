"""PrivateClassifier: scikit-learn's conventions, its price, private values that never raise, and scores from released weights."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.claims import ApproxDP
from dpaudit.errors import BudgetExceeded, DpauditError
from learners import Budget, PrivateClassifier, PrivateGridSearchCV


def data(records=600, features=4, seed=0):
    """Features, and whether the first is positive."""
    rows = np.random.default_rng(seed).normal(size=(records, features))
    return rows, (rows[:, 0] > 0).astype(int)


def model(**parameters):
    """A classifier for tests."""
    return PrivateClassifier(
        **{"epsilon": 5, "delta": "1e-5", "feature_norm": 3, "classes": [0, 1], "random_state": 0, **parameters}
    )


UNEQUAL = {
    "check_all_zero_sample_weights_error",  # a private value must not decide that a fit raises
    "check_sample_weight_equivalence_on_dense_data",  # the number of records is public: a copy is no weight of 2
    "check_sample_weight_equivalence_on_sparse_data",
}


def test_scikit_learn_finds_nothing_to_complain_about():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        model = PrivateClassifier(epsilon=1, delta="1e-5", feature_norm=10)
        results = check_estimator(model, on_fail=None, on_skip=None)
    assert UNEQUAL >= {result["check_name"] for result in results if result["status"] not in ("passed", "skipped")}
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


def rare(records=20_000, seed=0):
    """Features, and a class of one record in ten that a linear model suits."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(records, 4))
    return rows, (random.random(records) < 1 / (1 + np.exp(3.2 - 1.5 * rows[:, 0]))).astype(int)


def test_probabilities_are_calibrated_and_agree_with_predictions():
    rows, labels = rare()
    fitted = model(epsilon=3, feature_norm=5).fit(rows, labels)
    likely = fitted.predict_proba(rows)
    assert (20_000, 2) == likely.shape
    assert likely.sum(axis=1) == pytest.approx(1)
    assert np.array_equal(fitted.predict(rows), fitted.classes_[likely.argmax(axis=1)])
    assert likely[:, 1].mean() == pytest.approx(labels.mean(), abs=0.01)
    best = LogisticRegression().fit(rows, labels).predict_proba(rows)
    assert log_loss(labels, likely) < log_loss(labels, best) + 0.01
    assert np.exp(fitted.predict_log_proba(rows)) == pytest.approx(likely)


def test_probabilities_of_several_classes_agree_with_predictions():
    rows, labels = data(4000)
    labels = labels + (labels & (rows[:, 1] > 0))
    fitted = model(classes=[0, 1, 2], epsilon=20).fit(rows, labels)
    likely = fitted.predict_proba(rows)
    assert np.array_equal(fitted.predict(rows), likely.argmax(axis=1))
    assert likely.mean(axis=0) == pytest.approx(np.bincount(labels) / len(labels), abs=0.05)


def test_a_single_class_has_probability_one():
    fitted = model(classes=[3]).fit(np.zeros((5, 2)), [3] * 5)
    assert [[1.0]] * 2 == fitted.predict_proba(np.zeros((2, 2))).tolist()


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_weights_of_classes_find_more_of_a_rare_class_at_the_same_price(adjacency):
    rows, labels = rare()
    given = {"adjacency": adjacency, "n_nominal": 20_000 if adjacency == "add_remove" else None, "epsilon": 1}
    plain, weighted = (model(**given, class_weight=each).fit(rows, labels) for each in (None, {0: 1, 1: 8}))
    assert plain.privacy_.epsilon == weighted.privacy_.epsilon
    assert [512, 4096] == weighted.privacy_.to_dict()["public"]["class_weight"]
    found = [fitted.predict(rows)[labels == 1].mean() for fitted in (plain, weighted)]
    assert found[0] + 0.2 < found[1]
    assert weighted.predict_proba(rows)[:, 1].mean() > 0.3  # those of records so weighted


def test_only_ratios_of_weights_count_and_several_classes_have_them_too():
    rows, labels = data(2000)
    first, second = (model(class_weight=each).fit(rows, labels).weights_ for each in ({0: 1, 1: 2}, {1: "1/2", 0: 0.25}))
    assert np.array_equal(first, second)
    three = labels + (labels & (rows[:, 1] > 0))
    share = [
        (model(classes=[0, 1, 2], class_weight=each).fit(rows, three).predict(rows) == 2).mean()
        for each in (None, {0: 1, 1: 1, 2: 20})
    ]
    assert share[0] + 0.1 < share[1]


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ("equal", "DPA105"),
        ({0: 1}, "DPA103"),
        ({0: 1, 1: 1, 2: 1}, "DPA103"),
        ({0: 1, 1: 0}, "DPA104"),
        ({0: 1, 1: -1}, "DPA104"),
    ],
)
def test_other_weights_are_refused(weights, code):
    with pytest.raises(DpauditError) as caught:
        model(class_weight=weights).fit(*data(40))
    assert code == caught.value.code


@pytest.mark.parametrize("weights", [{0: 1, 2: 1}, {0: 1, 1: 1, 2: 1}])
def test_weights_of_a_search_are_refused_before_a_label_is_read(weights):
    search = PrivateGridSearchCV(model(), {"class_weight": [weights]})
    with pytest.raises(DpauditError, match="class_weight"):
        search.fit(*data(40))


def test_scikit_learn_moves_the_threshold_and_calibrates():
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import FixedThresholdClassifier

    rows, labels = rare(4000)
    lower = FixedThresholdClassifier(model(), threshold=0.1, response_method="predict_proba").fit(rows, labels)
    assert lower.predict(rows)[labels == 1].mean() > model().fit(rows, labels).predict(rows)[labels == 1].mean() + 0.2
    budget = Budget(ApproxDP(epsilon=11, delta="1e-4"))
    with pytest.raises(BudgetExceeded, match="DPA204"):  # a fit for every fold, each at its price
        CalibratedClassifierCV(model(budget=budget), cv=5).fit(rows, labels)
