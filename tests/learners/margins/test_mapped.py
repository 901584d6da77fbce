"""Learners behind public maps: what maps add to the conventions, the price and the guarantee of the learners that they precede."""

from __future__ import annotations

import json
import pickle
import warnings
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.claims import ApproxDP
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from learners.budget import Budget
from learners.margins.kernel import KernelMarginClassifier
from learners.margins.mapped import PhasedDescent
from learners.margins.polynomial_margin import PolynomialMarginClassifier
from learners.record import PrivacyRecord

LEARNERS = {
    "fourier": (KernelMarginClassifier, {"frequencies": 60}),
    "laplacian": (KernelMarginClassifier, {"frequencies": 60, "kernel": "laplacian", "width": "1"}),
    "projected": (KernelMarginClassifier, {"frequencies": 60, "columns": 50}),
    "fastfood": (KernelMarginClassifier, {"frequencies": 60, "fastfood": True}),
    "monomials": (PolynomialMarginClassifier, {}),
    "sketch": (PolynomialMarginClassifier, {"columns": 40}),
    "phased": (KernelMarginClassifier, {"frequencies": 60, "columns": 50, "learner": PhasedDescent(margin="1/20")}),
}
every_learner = pytest.mark.parametrize("name", LEARNERS)


def made(name, **parameters):
    """A classifier for tests."""
    kind, own = LEARNERS[name]
    usual = {"epsilon": 5, "delta": "1e-5", "feature_norm": 1, "classes": [0, 1], "random_state": 0}
    return kind(**{**usual, **own, **parameters})


@cache
def crossed():
    """Records of two classes that no straight line tells apart: the sign of a product."""
    features = np.random.default_rng(1).uniform(-1, 1, (2000, 2)) / np.sqrt(2)
    return features, (features[:, 0] * features[:, 1] > 0).astype(int)


@cache
def fitted(name):
    """A classifier that was fitted to the first half of them."""
    features, labels = crossed()
    return made(name).fit(features[:1000], labels[:1000])


@pytest.fixture
def data():
    """Some of the records."""
    features, labels = crossed()
    return features[:100].copy(), labels[:100].copy()


@every_learner
def test_it_learns_what_no_line_separates(name):
    features, labels = crossed()
    assert 0.8 < (fitted(name).predict(features[1000:]) == labels[1000:]).mean()
    assert 0.99 * 5 < fitted(name).privacy_.epsilon <= 5


@every_learner
def test_the_record_states_the_map_and_recomputes(name):
    record = fitted(name).privacy_
    again = PrivacyRecord.from_dict(json.loads(json.dumps(record.to_dict())))
    assert record == again
    assert record.epsilon == again.recompute().upper
    assert "0" == record.public["map_seed"]
    assert {"columns", "images"} <= set(record.public)
    assert not record.secure


def test_the_record_names_kernels_and_widths(data):
    record = made("fourier", feature_norm=2).fit(*data).privacy_
    assert ("gaussian", "2/5", "120") == tuple(record.public[key] for key in ("kernel", "width", "columns"))
    assert "1" == fitted("monomials").privacy_.public["constant"]

    def own(columns, count, seed):
        return np.zeros((columns, count)) + seed

    record = made("fourier", kernel=own).fit(*data).privacy_
    assert "own" in record.public["kernel"]
    assert "width" not in record.public


@every_learner
def test_storage_order_and_neighbours_change_what_they_should(name, data):
    """Bit for bit the same for CSR and, in a full batch, for another order of records."""
    features, labels = data
    weights = made(name).fit(features, labels).weights_.tolist()
    assert weights == made(name).fit(csr_array(features), labels).weights_.tolist()
    order = np.random.default_rng(0).permutation(100)
    turned = made(name).fit(features[order], labels[order])
    assert (weights == turned.weights_.tolist()) == (name != "phased")
    scores = turned.decision_function(features)
    assert scores[::-1].tolist() == turned.decision_function(features[::-1]).tolist()
    assert scores[7:8].tolist() == turned.decision_function(features[7:8]).tolist()


@every_learner
def test_private_values_never_raise_or_warn(name):
    broken = np.array(
        [[np.nan, 1.0], [np.inf, 0.0], [1e300, -1e300], [0.0, 0.0], [5e-324, 0.0], [3.0, 4.0], [0.1, 0.2], [0.1, 0.2]]
    )
    labels = np.array([0.0, 1.0, np.nan, 7.0, 1.0, 0.0, 1.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = made(name, random_state=None).fit(broken, labels).decision_function(broken)
    assert np.isfinite(scores).all()
    assert scores[0] == scores[1] == scores[3]  # what is not finite counts as zero


@every_learner
def test_a_pickle_holds_released_numbers_and_the_public_map(name, data):
    fitted = made(name, random_state=None).fit(*data)
    state = pickle.dumps(fitted)
    assert fitted.predict(data[0]).tolist() == pickle.loads(state).predict(data[0]).tolist()
    assert len(state) < 20_000
    assert [] == [value for value in data[0].ravel() if value.tobytes() in state]


@pytest.mark.parametrize("name", ["projected", "sketch"])
def test_a_budget_stops_a_fit_before_records_are_read(name, data):
    budget = Budget(ApproxDP(epsilon=7, delta="1e-4"))
    model = made(name, budget=budget).fit(*data)
    with recording() as log, pytest.raises(BudgetExceeded, match="DPA204"):
        clone(model).fit(*data)
    assert [] == log


@pytest.mark.parametrize(
    ("name", "parameters", "code"),
    [
        ("fourier", {"adjacency": "zero_out"}, "DPA604"),
        ("monomials", {"adjacency": "zero_out"}, "DPA604"),
        ("sketch", {"adjacency": "zero_out"}, "DPA604"),
        ("phased", {"adjacency": "add_remove", "n_nominal": 100}, "DPA604"),
        ("phased", {"learner": PhasedDescent(margin="1/20", rival_seed=-1)}, "DPA103"),
        ("phased", {"learner": PhasedDescent(margin=3)}, "DPA103"),
        ("fourier", {"learner": "descent"}, "DPA105"),
        ("fourier", {"kernel": np.zeros(3)}, "DPA103"),
        ("fourier", {"adjacency": "add_remove"}, "DPA603"),
        ("fourier", {"kernel": "cubic"}, "DPA103"),
        ("fourier", {"kernel": lambda *_: np.zeros(3)}, "DPA105"),
        ("fourier", {"kernel": lambda *_: np.zeros(3), "width": 1}, "DPA103"),
        ("fourier", {"width": 0}, "DPA104"),
        ("fourier", {"frequencies": 0}, "DPA103"),
        ("fourier", {"fastfood": "no"}, "DPA105"),
        ("fourier", {"map_seed": -1}, "DPA103"),
        ("fastfood", {"kernel": "laplacian"}, "DPA103"),
        ("projected", {"columns": 200}, "DPA103"),
        ("monomials", {"degree": 0}, "DPA103"),
        ("monomials", {"constant": -1}, "DPA103"),
        ("sketch", {"columns": 0}, "DPA103"),
    ],
)
def test_what_is_public_is_refused_before_anything_is_spent_or_released(name, parameters, code, data):
    budget = Budget(ApproxDP(epsilon=7, delta="1e-4"))
    before = budget.spent
    with recording() as log, pytest.raises(DpauditError, match=code):
        made(name, budget=budget, **parameters).fit(*data)
    assert ([], before) == (log, budget.spent)


@pytest.mark.parametrize("columns", [None, 30])
def test_without_a_constant_the_null_record_has_no_image_and_zeroing_out_is_cheaper(columns, data):
    """Half the noise of replacing a record; and a record of zeros moves no released sum."""
    features, labels = data
    fits = {kind: made("monomials", columns=columns, constant=0, adjacency=kind) for kind in ("zero_out", "replace_one")}
    sigma = {kind: fit.fit(features, labels).privacy_.charges[0].releases[-1].parameter("sigma") for kind, fit in fits.items()}
    assert sigma["zero_out"] < sigma["replace_one"] * Fraction(3, 5)
    features[5] = 0
    first = made("monomials", columns=columns, constant=0, adjacency="zero_out").fit(features, labels)
    labels = labels.copy()
    labels[5] = 1 - labels[5]
    assert first.weights_.tolist() == fits["zero_out"].fit(features, labels).weights_.tolist()


def test_no_record_has_a_zero_image_under_a_kernel():
    """Why zeroing out is refused: what it would price at one bound is replaced by another image of the same norm."""
    model = fitted("fourier")
    images = model._rows(np.zeros((1, 2)), np.zeros(1, dtype=np.int64), model.plan_)
    size = sum(int(step) ** 2 for step in images.steps[0, : model.plan_.public_map.dimension_out])
    assert 0.9 * 4**model.plan_.inner.lattice_bits < size


def test_several_classes_share_one_price():
    features, _ = crossed()
    labels = (features[:, 0] > 0) + 2 * (features[:, 1] > 0)
    model = made("fourier", classes=[0, 1, 2, 3]).fit(features[:1000], labels[:1000])
    assert 0.8 < (model.predict(features[1000:]) == labels[1000:]).mean()
    assert model.privacy_.epsilon <= 5


def test_other_map_seeds_give_other_maps_and_the_same_price(data):
    first, second = (made("fourier", map_seed=seed).fit(*data) for seed in (0, 1))
    assert first.privacy_.epsilon == second.privacy_.epsilon
    assert first.decision_function(data[0][:5]).tolist() != second.decision_function(data[0][:5]).tolist()


def test_add_remove_needs_a_public_number_that_stands_for_the_records(data):
    model = made("monomials", adjacency="add_remove", n_nominal=2500).fit(*data)
    assert 2500 == model.privacy_.public["records"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["projected", "sketch"])
def test_every_check_of_scikit_learn_passes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(made(name, classes=None, random_state=None, feature_norm=10), on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)
