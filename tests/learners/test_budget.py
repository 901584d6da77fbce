"""One budget, however often the estimator that holds it is copied: clones, searches and threads spend it together."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpaudit import GDP, ZCDP, ApproxDP
from dpaudit.accounting import gaussian
from dpaudit.errors import AdjacencyMismatch, BudgetExceeded, DpauditError, InvalidArgument, Unsupported
from dpaudit.ledger import Ledger
from learners import estimator as estimator_module
from learners.budget import Budget, BudgetLeftBehind
from learners.public_data.private_classifier import PrivateClassifier


@pytest.fixture
def data():
    features = np.random.default_rng(2).standard_normal((60, 3))
    return features, (features[:, 0] > 0).astype(int)


@pytest.fixture
def reads(monkeypatch):
    """How often records were turned into whole numbers for learning."""
    counted = []
    real = estimator_module.positions
    monkeypatch.setattr(estimator_module, "positions", lambda *args: (counted.append(1), real(*args))[1])
    return counted


def of_two_fits():
    """The small learner at epsilon 1 spends mu = 1/4 a fit."""
    return Budget(GDP(mu="3/8"))


def test_copies_of_a_budget_are_the_budget_itself(mean_classifier):
    budget = of_two_fits()
    model = mean_classifier(epsilon=1, feature_norm=1, budget=budget)
    pipeline = make_pipeline(FunctionTransformer(), model)
    for copied in (clone(model), copy.deepcopy(model), copy.copy(model), clone(clone(pipeline))[-1], copy.deepcopy(pipeline)[-1]):
        assert copied.budget is budget
    assert copy.copy(budget) is copy.deepcopy(budget) is clone(budget, safe=False) is budget


def test_a_search_is_stopped_at_the_third_fit_before_its_records_are_read(mean_classifier, data, reads):
    """Three candidates in five folds would be fifteen fits, each of epsilon 1."""
    budget = Budget(ApproxDP(epsilon=2, delta="1e-5"))
    model = mean_classifier(epsilon="1.08", feature_norm=1, classes=[0, 1], budget=budget)
    assert 1 < clone(model).set_params(budget=None).fit(*data).privacy_.epsilon < 1.1
    reads.clear()
    search = GridSearchCV(model, {"feature_norm": [1, 2, 3]}, cv=5, error_score="raise")
    with pytest.raises(BudgetExceeded, match="DPA204"):
        search.fit(*data)
    assert 2 == len(reads)


@pytest.mark.filterwarnings("ignore")
def test_a_search_that_passes_over_failed_fits_spends_no_more_and_gives_no_model(mean_classifier, data, reads):
    search = GridSearchCV(mean_classifier(epsilon=1, feature_norm=1, budget=of_two_fits()), {"feature_norm": [1, 2, 3]}, cv=5)
    with pytest.raises(BudgetExceeded):
        search.fit(*data)
    assert 2 == len(reads)


@pytest.mark.parametrize("run", ["threads", "joblib"])
def test_threads_spend_one_budget(mean_classifier, data, reads, run):
    budget = of_two_fits()
    models = [mean_classifier(epsilon=1, feature_norm=1, classes=[0, 1], budget=budget) for _ in range(8)]

    def fitted(model):
        try:
            return model.fit(*data)
        except BudgetExceeded:
            return None

    if run == "threads":
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(fitted, map(clone, models)))
    else:
        results = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(fitted)(clone(model)) for model in models)
    assert 2 == len(reads) == sum(result is not None for result in results)
    assert budget.remaining["mu squared"] < 1 / 16


def test_a_budget_does_not_leave_its_process(mean_classifier):
    with pytest.raises(Unsupported, match=r"DPA601 .*threads"):
        pickle.dumps(of_two_fits())
    with pytest.raises(Unsupported, match="DPA601"):
        pickle.dumps(mean_classifier(epsilon=1, feature_norm=1, budget=of_two_fits()))


def test_a_search_in_processes_is_refused(mean_classifier, data, reads):
    model = mean_classifier(epsilon=1, feature_norm=1, budget=of_two_fits())
    with pytest.raises((DpauditError, pickle.PicklingError)) as caught:
        cross_val_score(model, *data, cv=3, n_jobs=2)
    assert "DPA601" in f"{caught.value} {caught.value.__cause__}"
    assert [] == reads


def test_a_model_that_was_read_back_predicts_and_fits_only_with_a_budget_of_its_own(mean_classifier, data):
    features, labels = data
    model = mean_classifier(epsilon=1, feature_norm=1, classes=[0, 1], budget=of_two_fits()).fit(features, labels)
    again = pickle.loads(pickle.dumps(model))
    assert model.predict(features).tolist() == again.predict(features).tolist()
    assert isinstance(again.budget, BudgetLeftBehind)
    for left in (again, clone(again), pickle.loads(pickle.dumps(again))):
        with pytest.raises(BudgetExceeded, match="DPA601"):
            left.fit(features, labels)
    assert "sums_" in vars(again.set_params(budget=of_two_fits()).fit(features, labels))
    assert isinstance(model.budget, Budget)


def test_what_is_reserved_stays_spent_when_a_fit_fails(mean_classifier, data, monkeypatch):
    budget = of_two_fits()
    model = mean_classifier(epsilon=1, feature_norm=1, budget=budget)
    monkeypatch.setattr(type(model), "_learn", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(*data)
    assert budget.spent["mu squared"] >= 1 / 16


def test_a_budget_refuses_another_neighbouring_relation_and_other_things_are_no_budget(mean_classifier, data):
    model = mean_classifier(epsilon=1, feature_norm=1, budget=Budget(GDP(mu=1), adjacency="add_remove"))
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        model.fit(*data)
    with pytest.raises(InvalidArgument, match="DPA105"):
        model.set_params(budget=2).fit(*data)


def test_a_budget_says_what_is_left_of_it():
    budget = Budget(ZCDP(rho=1))
    budget.reserve(gaussian(sigma=1, adjacency="replace_one"))
    assert {"rho": 0.5} == budget.spent == budget.remaining
    assert "Budget(rho = 1 (zCDP) under replace_one; remaining: rho 0.5)" == repr(budget)
    assert "BudgetLeftBehind()" == repr(BudgetLeftBehind())


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "budget.ledger")
    made.open_budget("people/person", GDP(mu="3/4"), adjacency="replace_one")
    return made


def test_processes_share_a_budget_of_a_ledger_and_stop_where_it_ends(ledger, data):
    model = PrivateClassifier(epsilon=1, delta="1e-5", feature_norm=1, classes=[0, 1], budget=ledger.budget("people/person/model"))
    with pytest.raises(BudgetExceeded, match="DPA810"):
        cross_val_score(model, *data, cv=12, n_jobs=2, error_score="raise")
    fits = [entry for entry in ledger.entries() if entry.kind == "spend"]
    assert 7 == len(fits)  # mu is about .268 at epsilon 1, so 7 fits fit into the square of 3/4
    assert () == ledger.verify().problems


def test_a_ledger_that_refuses_does_so_before_a_record_is_read(mean_classifier, ledger, data, reads):
    model = mean_classifier(epsilon=1, feature_norm=1, budget=ledger.budget("other/person/model"))
    with pytest.raises(BudgetExceeded, match="DPA811"):
        model.fit(*data)
    assert [] == reads


def test_a_fit_is_charged_what_its_record_says(ledger, data):
    model = PrivateClassifier(
        epsilon=1, delta="1e-5", feature_norm=1, classes=[0, 1], budget=ledger.budget("people/person/model")
    ).fit(*data)
    (charge,) = ledger.recent(1)
    assert model.privacy_.loss.describe() == charge.body["spending"]
    assert "ledger" not in str(pickle.loads(pickle.dumps(model)).__dict__)
