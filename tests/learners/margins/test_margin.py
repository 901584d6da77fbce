"""MarginClassifier: few columns, clipped images, the price of its passes, and weights for the records themselves."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from dpaudit import Adjacency, ApproxDP
from dpaudit.errors import BudgetExceeded, InvalidArgument, Unsupported
from dpaudit.releases import recording
from learners.budget import Budget
from learners.estimator import Public
from learners.margins.margin import MarginClassifier
from learners.record import PrivacyRecord
from learners.rows.hadamard import HadamardMap
from learners.rows.ingest import to_rows
from learners.rows.signs import SignMap
from learners.solvers.phased import WEIGHT_BITS


def model(**given):
    usual = {"epsilon": 2, "delta": "1e-6", "margin": "1/2", "feature_norm": 1, "classes": [0, 1]}
    return MarginClassifier(**(usual | given))


def public(records=1000, features=200):
    return Public(records, features, 2, Fraction(1), Fraction(1), Fraction(1, 10**6), Adjacency.of("replace_one"))


def separable(count, columns, margin=0.6, seed=1):
    rng = np.random.default_rng(seed)
    features, labels = rng.standard_normal((count, columns)), rng.integers(0, 2, count)
    features[:, 0] = 0
    features *= math.sqrt(1 - margin**2) / np.linalg.norm(features, axis=1, keepdims=True)
    features[:, 0] = margin * (2 * labels - 1)
    return features, labels


@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes():
    estimator = MarginClassifier(epsilon=50, delta="1e-3", margin="1/2", feature_norm=5, random_state=1)
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)


@pytest.mark.parametrize("given", [{}, {"fit_intercept": False, "adjacency": "zero_out"}, {"variant": "permutation"}], ids=str)
def test_records_with_a_margin_are_told_apart(given):
    features, labels = separable(3000, 20)
    fitted = model(epsilon=8, **given).fit(features[:2000], labels[:2000])
    assert fitted.score(features[2000:], labels[2000:]) > 0.97
    assert fitted.privacy_.epsilon <= 8


def test_accuracy_does_not_depend_on_the_number_of_columns():
    features, labels = separable(3000, 1500)
    fitted = model(epsilon=8).fit(features[:2000], labels[:2000])
    assert fitted.plan_.erm.schedule.columns < 1500
    assert fitted.score(features[2000:], labels[2000:]) > 0.95


def test_the_papers_own_steps_run_at_their_own_constants():
    plan = model(faithful=True)._plan(public(records=100, features=60))
    assert (4, True, "hinge") == (plan.erm.rounds, plan.erm.replacement, plan.erm.chosen_by)
    assert plan.projection is None  # it asks for more columns than there are
    wide = model(faithful=True)._plan(public(records=10**4, features=10**5))
    assert (2048, 2) == (wide.erm.schedule.columns, round(wide.clip, 1))


def test_the_map_is_the_same_for_all_data_and_its_images_are_clipped_exactly():
    plan = model(dimension=8)._plan(public())
    assert isinstance(plan.projection, HadamardMap)
    assert plan == model(dimension=8)._plan(public())
    rng = np.random.default_rng(1)
    features = rng.standard_normal((50, 200)) * 10.0 ** rng.integers(-3, 9, (50, 1))
    rows = to_rows(features, np.zeros(50, dtype=np.int64), feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)
    images = plan.projection.apply(rows, clip=plan.clip, lattice_bits=plan.lattice_bits)
    assert plan.erm.schedule.bound == images.bound
    assert all(sum(int(entry) ** 2 for entry in row) <= images.bound**2 for row in images.steps)


def test_a_record_far_above_the_bound_moves_the_model_no_further_than_one_on_it():
    features, labels = separable(200, 300)
    pair = []
    for size in (1.0, 4096.0):
        features[0] = 0
        features[0, 7] = size
        pair.append(model(dimension=16, random_state=3).fit(features, labels).weights_.tolist())
    assert pair[0] == pair[1]


def test_many_columns_are_mapped_by_dense_signs_and_never_become_dense():
    features = sparse.random_array((300, 10**5), density=1e-4, rng=np.random.default_rng(1), format="csr")
    labels = np.arange(300) % 2
    fitted = model(dimension=16).fit(features, labels)
    assert isinstance(fitted.plan_.projection, SignMap)
    assert (300,) == fitted.predict(features).shape
    assert (1, 10**5) == fitted.coef_.shape


def test_array_and_csr_give_the_same_model():
    features, labels = separable(200, 40)
    one, other = (model(random_state=1).fit(given, labels) for given in (features, sparse.csr_array(features)))
    assert one.weights_.tolist() == other.weights_.tolist()
    assert one.decision_function(features[:5]).tolist() == other.decision_function(sparse.csr_array(features[:5])).tolist()


def test_scores_are_those_of_the_coefficients():
    features, labels = separable(200, 10)
    fitted = model().fit(features, labels)
    expected = (features @ fitted.coef_.T).ravel() + fitted.intercept_
    assert np.allclose(expected, fitted.decision_function(features), atol=1e-4)
    assert sum(int(weight) ** 2 for weight in fitted.embedded_weights_) <= 4**WEIGHT_BITS


def test_two_fits_differ_and_a_seeded_one_says_what_its_order_is_worth():
    features, labels = separable(60, 4)
    assert model().fit(features, labels).weights_.tolist() != model().fit(features, labels).weights_.tolist()
    seeded = model(random_state=5).fit(features, labels)
    assert not seeded.privacy_.secure
    assert "order of the records came from a seeded source" in seeded.privacy_.notes[-1]


def test_the_record_says_what_ran_and_recomputes_to_the_same_epsilon():
    features, labels = separable(60, 4)
    fitted = model().fit(features, labels)
    read = PrivacyRecord.from_dict(fitted.privacy_.to_dict())
    assert fitted.privacy_.epsilon == read.recompute().upper
    assert ("1/2", "none", "1 over permutations", "vacuous") == tuple(
        read.public[name] for name in ("margin", "projection", "passes", "utility")
    )
    assert str(fitted.utility_) == read.public["utility"]


def test_a_pickle_predicts_the_same_and_holds_no_records():
    features, labels = separable(60, 300)
    fitted = model(dimension=16).fit(features, labels)
    text = pickle.dumps(fitted)
    assert fitted.predict(features).tolist() == pickle.loads(text).predict(features).tolist()
    assert len(text) < 20_000


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"margin": 0}, "DPA104"),
        ({"margin": 2}, "DPA103"),
        ({"weight_norm": 0}, "DPA104"),
        ({"dimension": 0}, "DPA103"),
        ({"projection_seed": -1, "dimension": 2}, "DPA103"),
        ({"variant": "other"}, "DPA103"),
        ({"calibration": "paper"}, "DPA103"),
        ({"failure": 1}, "DPA103"),
        ({"chosen_by": "hinge"}, "DPA103"),
        ({"fit_intercept": 1}, "DPA105"),
        ({"by_place": "yes"}, "DPA105"),
        ({"faithful": None}, "DPA105"),
        ({"delta": 0}, "DPA103"),
        ({"classes": [0, 1, 2], "faithful": True}, "DPA103"),
    ],
    ids=str,
)
def test_parameters_are_refused_before_anything_is_released(wrong, code):
    features, labels = separable(20, 4)
    with recording() as log, pytest.raises(InvalidArgument, match=code):
        model(**wrong).fit(features, labels)
    assert [] == list(log)


def test_only_relations_with_a_public_number_of_records_are_accepted():
    features, labels = separable(20, 4)
    for given in ({"adjacency": "add_remove"}, {"adjacency": "label"}, {"adjacency": "zero_out"}):
        with pytest.raises(Unsupported, match="DPA604"):
            model(**given).fit(features, labels)


def test_a_budget_that_is_spent_stops_a_fit_before_it_reads_a_record():
    features, labels = separable(20, 4)
    budget = Budget(ApproxDP(epsilon=3, delta="1e-6"))
    model(budget=budget).fit(features, labels)
    with recording() as log, pytest.raises(BudgetExceeded):
        model(budget=budget).fit(features, labels)
    assert [] == list(log)


def test_private_values_are_mapped_in_place_whatever_they_are():
    features, labels = separable(20, 4)
    features[:5] = [[np.nan] * 4, [np.inf] * 4, [1e300] * 4, [0.0] * 4, [-5e-324] * 4]
    broken = labels.astype(object)
    broken[6] = "neither"
    assert (20,) == model().fit(features, broken).predict(features).shape
