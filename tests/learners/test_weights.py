"""Weights of records and of classes: no slope gets longer, the price stays, and weights do what they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners import PrivateBoostingClassifier, PrivateBoostingRegressor, PrivateClassifier
from learners.rows.labels import WEIGHT_UNIT, read_weights
from learners.solvers.slopes import UNIT, best_score, weigh_records

USUAL = {"epsilon": 3, "delta": "1e-5", "random_state": 2}
MAKERS = {
    "linear": lambda **given: PrivateClassifier(**USUAL, feature_norm=2, classes=[0, 1], **given),
    "boosting": lambda **given: PrivateBoostingClassifier(**USUAL, columns=(-2, 2), classes=[0, 1], **given),
}
every = pytest.mark.parametrize("name", MAKERS)


def problem(count=6000, share=0.2):
    """Records whose second class is rare and overlaps the first."""
    random = np.random.default_rng(4)
    labels = (random.random(count) < share).astype(int)
    return random.normal(size=(count, 2)) / 2 + labels[:, np.newaxis] * 0.5, labels


def test_weights_of_records_are_read_one_by_one_and_cut():
    given = [0.5, -1.0, np.nan, 7.0, "text", None, 1.0]
    assert [1024, 0, 0, 4096, 0, 0, 2048] == read_weights(given, Fraction(2), 7).tolist()
    assert [2048] * 3 == read_weights(None, Fraction(2), 3).tolist()


def test_weights_of_records_lengthen_no_slope():
    slopes = np.array([[-UNIT, 0], [UNIT // 2, 5], [3, -3]])
    weighed = weigh_records(slopes, np.array([WEIGHT_UNIT, 2000, 0]))
    assert (np.abs(weighed) <= np.abs(slopes)).all()
    assert [[-UNIT, 0], [UNIT // 2 * 2000 // WEIGHT_UNIT, 2], [0, 0]] == weighed.tolist()


def test_the_best_score_of_all_records_alike_has_no_slope():
    for share, weights in ((0.01, (4096, 4096)), (0.7, (4096, 1024)), (0.3, (100, 4096))):
        score = best_score(share, weights)
        pull = [min(1.0, 2 / (1 + np.exp(side * score))) for side in (1, -1)]
        assert abs(share * weights[1] * pull[0] - (1 - share) * weights[0] * pull[1]) < 1e-9


@every
def test_weights_of_one_are_nearly_no_weights(name):
    rows, labels = problem()
    first, second = (MAKERS[name]().fit(rows, labels, sample_weight=weights) for weights in (None, np.ones(6000)))
    assert np.corrcoef(first.decision_function(rows), second.decision_function(rows))[0, 1] > 0.98
    assert ("sample_weight_bound" in first.privacy_.public, "1") == (False, second.privacy_.public["sample_weight_bound"])


@every
def test_records_of_weight_zero_teach_nothing(name):
    rows, labels = problem()
    wrong = np.where(np.arange(6000) % 2, labels, 1 - labels)
    model = MAKERS[name](sample_weight_bound="1/2").fit(rows, wrong, sample_weight=(np.arange(6000) % 2) / 2)
    assert model.score(rows, labels) > 0.8
    assert 2.9 < model.privacy_.epsilon <= 3
    assert "1/2" == model.privacy_.public["sample_weight_bound"]


@every
def test_small_weights_give_the_same_model_as_large_ones(name):
    rows, labels = problem()
    found = [MAKERS[name](sample_weight_bound=1).fit(rows, labels, sample_weight=np.full(6000, size)) for size in (1.0, 0.3)]
    likely = [model.predict_proba(rows)[:, 1] for model in found]
    assert np.corrcoef(*likely)[0, 1] > 0.97
    assert abs(likely[0].mean() - likely[1].mean()) < 0.04


def test_a_regressor_takes_weights():
    rows = np.random.default_rng(5).uniform(-1, 1, size=(4000, 1))
    wrong = np.arange(4000) % 2
    model = PrivateBoostingRegressor(**USUAL, columns=(-1, 1), label_bound=2, sample_weight_bound=1)
    model.fit(rows, np.where(wrong, -rows[:, 0], rows[:, 0]), sample_weight=1 - wrong)
    assert model.score(rows, rows[:, 0]) > 0.6


@every
def test_balanced_classes_count_alike_and_the_budget_covers_it(name):
    rows, labels = problem()
    plain, balanced = (MAKERS[name](class_weight=weight).fit(rows, labels) for weight in (None, "balanced"))
    public = MAKERS[name](class_weight={0: 1, 1: 4}).fit(rows, labels)
    assert plain.predict(rows).mean() < 0.2
    assert 0.3 < balanced.predict(rows).mean() < 0.5
    assert abs(balanced.predict(rows).mean() - public.predict(rows).mean()) < 0.08
    assert balanced.privacy_.epsilon == plain.privacy_.epsilon
    assert "balanced" == balanced.privacy_.public["class_weight"]
    assert clone(balanced).get_params()["class_weight"] == "balanced"


def test_several_classes_of_boosting_are_balanced_too():
    rows, labels = problem(8000)
    labels = labels + (rows[:, 0] > 1.2)
    model = PrivateBoostingClassifier(**USUAL, columns=(-2, 2), classes=[0, 1, 2])
    shares = [
        np.bincount(each.fit(rows, labels).predict(rows), minlength=3)[2]
        for each in (model, clone(model).set_params(class_weight="balanced"))
    ]
    assert shares[0] < shares[1]


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ({"sample_weight_bound": 0}, [1.0] * 40),
        ({"sample_weight_bound": 1}, [1.0] * 39),
        ({"sample_weight_bound": 1}, np.ones((40, 1))),
        ({"sample_weight_bound": 1}, np.array(["a"] * 40)),
        ({"class_weight": "equal"}, None),
        ({"class_weight": {0: 1}}, None),
    ],
)
@every
def test_what_is_no_weight_is_refused_before_anything_is_drawn(name, given, weights):
    rows, labels = problem(40)
    with recording() as log, pytest.raises(DpauditError):
        MAKERS[name](**given).fit(rows, labels, sample_weight=weights)
    assert [] == list(log)


@pytest.mark.parametrize(
    "given",
    [
        {"classes": [0, 1, 2], "class_weight": "balanced"},
        {"adjacency": "zero_out", "class_weight": "balanced"},
        {"public_X": np.eye(2), "class_weight": "balanced"},
    ],
)
def test_rules_without_a_profile_refuse_what_needs_one(given):
    rows, labels = problem(40)
    with pytest.raises(DpauditError, match="DPA604"):
        PrivateClassifier(**{**USUAL, "feature_norm": 1, "classes": [0, 1], **given}).fit(rows, labels)


@pytest.mark.parametrize("given", [{"adjacency": "zero_out"}, {"public_X": np.eye(2)}])
def test_rules_without_a_profile_refuse_weights_of_records(given):
    rows, labels = problem(40)
    with pytest.raises(DpauditError, match="DPA604"):
        PrivateClassifier(**USUAL, feature_norm=1, classes=[0, 1], **given).fit(rows, labels, sample_weight=np.ones(40))
