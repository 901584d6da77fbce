"""LabelPrivateClassifier: private in the labels alone, by candidates that the features decide and no label changes."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners.choices.counts import errors, totals
from learners.margins.label_private import LabelPrivateClassifier, candidates_of
from learners.rows.rows import Rows
from learners.rows.seeds import PublicBits
from proofs.papers.specimens.catalogue import SPECIMENS


def data(records=300, features=4, seed=0):
    rows = np.random.default_rng(seed).normal(size=(records, features))
    return rows, (rows[:, 0] > 0).astype(int)


def model(**parameters):
    return LabelPrivateClassifier(**{"epsilon": 1, "feature_norm": 3, "classes": [0, 1], "random_state": 0, **parameters})


@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes():
    results = check_estimator(LabelPrivateClassifier(epsilon=1, feature_norm=1, candidates=256), on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]


@pytest.mark.parametrize("epsilon", ["1/10", 3])
def test_the_price_is_pure_and_speaks_of_labels(epsilon):
    record = model(epsilon=epsilon, random_state=None).fit(*data()).privacy_
    assert Fraction(epsilon) == record.epsilon == record.recompute().upper
    assert "label" == record.adjacency.kind
    assert record.secure


@pytest.mark.parametrize("records", [1, 2, 4, 6])
def test_all_labels_of_few_records_keep_the_claim(records):
    """Every vector of labels against every other that differs at one place; the law is computed from the counts."""
    steps = np.random.default_rng(records).integers(-3000, 3000, (records, 3)).astype(np.int32)
    laws = {}
    for labels in itertools.product((0, 1), repeat=records):
        rows = Rows(steps, 2**13, Fraction(1, 2**13), np.array(labels))
        cover = candidates_of(rows, 12, PublicBits(0, "test"))
        weights = np.exp(-totals(rows, cover, errors(2**24)) / 2)
        laws[labels] = weights / weights.sum()
    worst = 0.0
    for labels, law in laws.items():
        for place in range(records):
            other = laws[(*labels[:place], 1 - labels[place], *labels[place + 1 :])]
            worst = max(worst, float(np.abs(np.log(law / other)).max()))
    assert 0.2 < worst <= 1 + 1e-12


def test_no_label_changes_a_candidate():
    rows, labels = data(50)
    steps = np.rint(rows * 500).astype(np.int32)
    covers = [
        candidates_of(Rows(steps, 2**12, Fraction(1), each), 40, PublicBits(3, "x")).weights.tolist()
        for each in (labels, 1 - labels, labels * 0)
    ]
    assert covers[0] == covers[1] == covers[2]


def test_a_record_that_changes_its_features_changes_the_candidates(largest_ratio_of_label_cover):
    assert math.inf == largest_ratio_of_label_cover


@pytest.fixture
def largest_ratio_of_label_cover():
    """The loss of the specimen on its pair: infinite, since the two supports differ."""
    (specimen,) = (each for each in SPECIMENS if each.name == "broken_label_cover")
    ((first, second),) = specimen.neighbours
    laws = specimen.pmf(first), specimen.pmf(second)
    return math.inf if set(laws[0]) != set(laws[1]) else 0.0


def test_the_margin_counts_records_that_are_right_by_too_little():
    features, labels = np.array([[0.3], [0.9]] * 40), np.ones(80, dtype=int)
    for margin, right in [("0", 80), ("1/2", 80), ("1", 40), ("2", 0)]:
        fitted = model(feature_norm=1, margin=margin, candidates=12).fit(features, labels)
        rows = fitted._rows(features, labels, fitted.plan_)
        threshold = math.floor(Fraction(margin) / 2 / rows.step * 2**16)
        found = totals(rows, candidates_of(rows, 12, PublicBits(0, "combinations", 1)), errors(threshold))
        assert 80 - right == found.min()


def test_it_is_useful():
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    assert 0.92 < model(feature_norm=5).fit(rows, labels).score(rows, labels)


def test_many_features_go_through_a_public_map():
    rows, labels = data(200, 600)
    fitted = model(feature_norm=30, candidates=64).fit(rows, labels)
    assert 512 == fitted.plan_.image.dimension_out
    again = pickle.loads(pickle.dumps(fitted))
    assert fitted.predict(rows).tolist() == again.predict(rows).tolist()


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("DPA604", {"adjacency": "replace_one"}),
        ("DPA604", {"adjacency": "add_remove"}),
        ("DPA104", {"margin": -1}),
        ("DPA103", {"candidates": 0}),
        ("DPA103", {"seed": -1}),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_before_a_record_is_read(monkeypatch, code, options):
    monkeypatch.setattr(LabelPrivateClassifier, "_learn", None)
    with recording() as log, pytest.raises(DpauditError) as caught:
        model(**options).fit(*data())
    assert (code, []) == (caught.value.code, log)
