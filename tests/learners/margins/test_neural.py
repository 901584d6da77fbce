"""NeuralMarginClassifier: public networks, one pure choice, and shapes that a linear classifier does not learn."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners.margins.neural import NeuralMarginClassifier


def quarters(records=1500, seed=0):
    """Points of a square, and whether both coordinates have one sign."""
    rows = np.random.default_rng(seed).uniform(-1, 1, (records, 2))
    return rows, (rows[:, 0] * rows[:, 1] > 0).astype(int)


def model(**parameters):
    options = {"epsilon": 1, "feature_norm": "3/2", "classes": [0, 1], "random_state": 0, "candidates": 300}
    return NeuralMarginClassifier(**{**options, **parameters})


PRODUCT = ([[3, 3, -3, -3], [3, -3, 3, -3], [-2, -2, -2, -2]], [1, -1, -1, 1])
"""A network for `quarters`: units that see one corner each."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"intercept": True, "layers": 3, "width": 3}], ids=str)
def test_every_check_of_scikit_learn_passes(options):
    learner = NeuralMarginClassifier(epsilon=1, feature_norm=1, candidates=64, **options)
    results = check_estimator(learner, on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]


@pytest.mark.parametrize(("adjacency", "temperature"), [("replace_one", 4), ("zero_out", 2)])
def test_the_price_is_pure_and_what_was_asked_for(adjacency, temperature):
    record = model(epsilon="1/2", adjacency=adjacency, random_state=None).fit(*quarters()).privacy_
    assert Fraction(1, 2) == record.epsilon == record.recompute().upper
    assert temperature == record.charges[0].releases[0].parameter("temperature")
    assert record.secure


def test_a_public_network_that_fits_is_chosen_among_others():
    rows, labels = quarters()
    others = [([[a], [b], [0.1]], [1]) for a, b in [(1, 0), (0, 1), (-1, 1), (2, 1)]]
    fitted = model(networks=[*others, PRODUCT], intercept=True).fit(rows, labels)
    assert 4 == fitted.network_[0].shape[1]
    assert 0.9 < fitted.score(rows, labels)


def test_random_networks_learn_what_no_linear_classifier_does():
    rows, labels = quarters()
    assert 0.65 < model(intercept=True, candidates=2000).fit(rows, labels).score(rows, labels)


def test_sparse_records_and_another_order_choose_the_same():
    rows, labels = quarters(200)
    order = np.random.default_rng(2).permutation(200)
    wanted = model().fit(rows, labels)
    again = model().fit(csr_array(rows[order]), labels[order])
    assert [layer.tolist() for layer in wanted.network_] == [layer.tolist() for layer in again.network_]
    assert wanted.decision_function(rows).tolist() == again.decision_function(csr_array(rows)).tolist()


def test_scores_of_a_record_do_not_depend_on_the_records_beside_it():
    rows, labels = quarters(100)
    fitted = model(layers=3).fit(rows, labels)
    alone = [fitted.decision_function(rows[place : place + 1])[0] for place in range(100)]
    assert alone == fitted.decision_function(rows).tolist()


def test_many_features_are_projected_and_few_are_not():
    rng = np.random.default_rng(3)
    wide, labels = rng.normal(size=(60, 50)), rng.integers(0, 2, 60)
    assert (32, 8) == model(feature_norm=8).fit(wide, labels).network_[0].shape
    assert model(feature_norm=8, dimension=64).fit(wide, labels).plan_.image is None


def test_a_pickle_predicts_alike():
    rows, labels = quarters(100)
    fitted = model().fit(rows, labels)
    again = pickle.loads(pickle.dumps(fitted))
    assert fitted.decision_function(rows).tolist() == again.decision_function(rows).tolist()


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("DPA604", {"adjacency": "add_remove"}),
        ("DPA604", {"adjacency": "zero_out", "intercept": True}),
        ("DPA105", {"classes": [0, 1, 2], "networks": [([[1, 1], [1, 1]], [1, 1])]}),
        ("DPA105", {"classes": [0, 1, 2], "networks": [([[1, 1], [1, 1]], [[1, 1], [1, 1]])]}),
        ("DPA103", {"layers": 1}),
        ("DPA103", {"width": 0}),
        ("DPA103", {"candidates": 0}),
        ("DPA105", {"networks": [([[1]], [1])]}),
        ("DPA105", {"networks": [PRODUCT]}),
        ("DPA105", {"intercept": "yes"}),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_before_a_record_is_read(monkeypatch, code, options):
    monkeypatch.setattr(NeuralMarginClassifier, "_learn", None)
    with recording() as log, pytest.raises(DpauditError) as caught:
        model(**options).fit(*quarters())
    assert (code, []) == (caught.value.code, log)
