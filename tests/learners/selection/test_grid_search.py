"""PrivateGridSearchCV: an exact secret number of fits, one price for all of them, and refusals."""

from __future__ import annotations

import inspect
import math
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from dpaudit import Adjacency, PureDP
from dpaudit.accounting import best_of_negative_binomial_runs, gdp
from dpaudit.errors import BudgetExceeded, DpauditError, InvalidArgument, Unsupported
from dpaudit.releases import recording
from learners import MarginClassifier, ObjectivePerturbation, OutputPerturbation, PrivateClassifier
from learners.budget import Budget
from learners.estimator import Public
from learners.record import PrivacyRecord
from learners.selection.grid_search import Cases, PrivateGridSearchCV
from learners.selection.runs import PoissonRuns, Runs
from mechanisms.sampling.random import source_from
from tests.support.sources import TapeSource

GRID = {"ridge": ["1/10", "1/3", 1]}


def learner(**given):
    return OutputPerturbation(**({"epsilon": 6, "feature_norm": 1, "classes": [0, 1]} | given))


def search(grid=GRID, *, of=None, **given):
    return PrivateGridSearchCV(learner() if of is None else of, grid, **given)


def separable(count=600, columns=3, seed=1):
    rng = np.random.default_rng(seed)
    features, labels = rng.standard_normal((count, columns)), rng.integers(0, 2, count)
    features[:, 0] = (np.abs(features[:, 0]) + 0.5) * (2 * labels - 1)
    return features / np.linalg.norm(features, axis=1, keepdims=True), labels


@pytest.mark.parametrize(("shape", "stop"), [(1, "1/4"), (0, "1/8"), ("1/2", "1/3"), ("-1/2", "1/9")])
def test_numbers_of_runs_have_their_law(shape, stop):
    law, source = Runs(shape=shape, stop=stop), source_from(np.random.default_rng(7))
    drawn = Counter(law.draw(source) for _ in range(3000))
    for count in (1, 2, 3, 4):
        expected = float(law.pmf(count).upper)
        assert abs(drawn[count] / 3000 - expected) < 6.5 * (expected / 3000) ** 0.5
    assert sum(float(law.pmf(count).upper) for count in range(1, 200)) == pytest.approx(1)


@pytest.mark.parametrize("parameter", ["1/10", 2, 30])
def test_poisson_numbers_of_runs_have_their_law(parameter):
    law, source = PoissonRuns(parameter=parameter), source_from(np.random.default_rng(8))
    drawn = Counter(law.draw(source) for _ in range(1000))
    mean = float(Fraction(parameter))
    for count in (1, 2, 30):
        expected = float(law.pmf(count).upper)
        exact = math.exp(-mean + count * math.log(mean) - math.lgamma(count + 1)) / -math.expm1(-mean)
        assert exact == pytest.approx(expected)
        assert abs(drawn[count] / 1000 - expected) < 6.5 * (expected / 1000) ** 0.5 + 1e-3
    assert mean / -math.expm1(-mean) == pytest.approx(float(law.mean.upper))


def test_a_number_of_runs_follows_from_its_first_digits():
    law = Runs(shape=1, stop="1/4")
    assert [1, 1, 2, 2, 4] == [law.draw(TapeSource(number << 56, 64)) for number in (0, 63, 65, 111, 150)]


@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes():
    estimator = search({"ridge": ["1/10", 1]}, of=learner(epsilon=50, feature_norm=5, classes=None), random_state=1)
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)


def test_one_release_stands_for_all_fits_and_the_budget_pays_once():
    features, labels = separable()
    budget = Budget(PureDP(epsilon=6))
    with recording() as log:
        fitted = search(of=learner(budget=budget)).fit(features, labels)
    assert ["best_of_runs"] == [release.kind for release in log]
    assert (6, 6) == (fitted.privacy_.epsilon, fitted.privacy_.recompute().upper)
    assert fitted.privacy_ == fitted.best_estimator_.privacy_ == PrivacyRecord.from_dict(fitted.privacy_.to_dict())
    assert {"epsilon": 0} == budget.remaining
    with recording() as log, pytest.raises(BudgetExceeded):
        search(of=learner(budget=budget)).fit(features, labels)
    assert [] == log


def test_every_fit_and_every_score_has_its_share_of_epsilon():
    plan = search(shape=0, of=learner(epsilon=4))._plan(_public())
    assert {2} == {branch.releases[0].sensitivity / branch.releases[0].parameter("scale") for branch in plan.branches}
    assert (Fraction(1, 2), 200, 800) == (plan.score.scale, plan.held_out, plan.branches[0].objective.records)
    assert {("epsilon", 2), ("shape", 0), ("stop", Fraction(1, 15))} == set(plan.whole.parameters)


def _public(delta=0, epsilon=4, features=3):
    return Public(1000, features, 2, Fraction(1), Fraction(epsilon), Fraction(delta), Adjacency.of("replace_one"))


def test_gaussian_fits_cost_what_their_moments_say():
    of = PrivateClassifier(epsilon=4, delta="1e-6", feature_norm=1, classes=[0, 1])
    plan = search({"feature_norm": [1, 2]}, of=of)._plan(_public(delta=Fraction(1, 10**6)))
    rho = dict(plan.whole.parameters)["rho"]
    for branch in plan.branches:
        assert branch.charges[0].loss.zcdp().upper <= rho
    assert 1 / plan.score.scale**2 / 2 <= rho
    record = PrivacyRecord.of(plan.charges, adjacency="replace_one", delta="1e-6", public={})
    assert 3.99 < record.epsilon <= 4
    whole = best_of_negative_binomial_runs(gdp(Fraction(int((2 * rho) ** 0.5 * 10**6), 10**6)), shape=1, stop="1/10")
    assert abs(float(whole.epsilon(delta="1e-6").upper) - float(record.epsilon)) < 0.02


def test_a_poisson_number_of_gaussian_fits_costs_what_its_theorem_says():
    of = PrivateClassifier(epsilon=4, delta="1e-6", feature_norm=1, classes=[0, 1])
    plan = search({"feature_norm": [1, 2]}, poisson=5, of=of)._plan(_public(delta=Fraction(1, 10**6)))
    said = dict(plan.whole.parameters)
    assert {"mean", "mu"} == set(said)
    for branch in plan.branches:
        assert said["mu"] * Fraction(99, 100) < branch.charges[0].loss.gdp().upper <= said["mu"]
    assert 1 / plan.score.sigma <= said["mu"]
    record = PrivacyRecord.of(plan.charges, adjacency="replace_one", delta="1e-6", public={})
    assert 3.99 < record.epsilon <= 4
    few = search({"feature_norm": [1, 2]}, stop="1/10", of=of)._plan(_public(delta=Fraction(1, 10**6)))
    assert said["mu"] > 1.2 * float(2 * dict(few.whole.parameters)["rho"]) ** 0.5


def test_the_best_of_a_poisson_number_of_fits_is_released_alone():
    features, labels = separable(400)
    of = PrivateClassifier(epsilon=40, delta="1e-6", feature_norm=1, classes=[0, 1])
    with recording() as log:
        fitted = search({"feature_norm": [1, 10**6]}, poisson=8, of=of, random_state=0).fit(features, labels)
    assert ["best_of_runs"] == [release.kind for release in log]
    assert {"feature_norm": 1} == fitted.best_params_
    assert fitted.score(features, labels) > 0.9
    assert fitted.privacy_.recompute().upper == fitted.privacy_.epsilon <= 40


def test_a_poisson_number_of_fits_is_refused_where_it_has_no_price():
    gaussian = PrivateClassifier(epsilon=4, delta="1e-6", feature_norm=1, classes=[0, 1])
    passes = MarginClassifier(epsilon=4, delta="1e-6", feature_norm=1, margin="1/4", classes=[0, 1])
    cases = [
        ({"poisson": 0}, gaussian, {"feature_norm": [1]}, "DPA104"),
        ({"poisson": 1001}, gaussian, {"feature_norm": [1]}, "DPA103"),
        ({"poisson": 5, "stop": "1/2"}, gaussian, {"feature_norm": [1]}, "DPA103"),
        ({"poisson": 5, "shape": 0}, gaussian, {"feature_norm": [1]}, "DPA103"),
        ({"poisson": 5}, passes, {"margin": ["1/4"]}, "DPA604"),
        ({"poisson": 5}, learner(), {"ridge": ["1/10"]}, "DPA103"),
    ]
    for options, of, grid, code in cases:
        with recording() as log, pytest.raises(DpauditError, match=code):
            search(grid, of=of, **options).fit(*separable(50))
        assert [] == list(log)


def test_the_best_of_many_fits_is_as_good_as_a_good_candidate():
    features, labels = separable(2000)
    fitted = search({"feature_norm": [1, 10**6]}, stop="1/40", random_state=0).fit(features[:1500], labels[:1500])
    assert {"feature_norm": 1} == fitted.best_params_
    assert fitted.score(features[1500:], labels[1500:]) > 0.9
    assert 0.8 < fitted.best_score_ < 1.2
    assert fitted.best_estimator_.predict(features).tolist() == fitted.predict(features).tolist()


def test_neighbours_differ_in_what_is_learned_from_or_in_what_is_counted_never_in_both():
    plan = search()._plan(_public())
    places = np.arange(1000)
    kept, out = plan.parts(Cases(places[:, np.newaxis], places))
    assert (800, 200) == (len(kept.labels), len(out.labels))
    assert set(range(1000)) == set(kept.labels.tolist()) | set(out.labels.tolist())
    assert set() == set(kept.labels.tolist()) & set(out.labels.tolist())
    assert kept.labels.tolist() == kept.features[:, 0].tolist()
    assert (
        out.labels.tolist() != search(split_seed=1)._plan(_public()).parts(Cases(places[:, np.newaxis], places))[1].labels.tolist()
    )


def test_the_number_of_fits_is_not_kept():
    features, labels = separable(200)
    fitted = search(random_state=2).fit(features, labels)
    kept = {name for name in vars(fitted) if name.endswith("_")}
    assert {"best_estimator_", "best_index_", "best_score_", "classes_", "n_features_in_", "plan_", "privacy_"} == kept
    copy = pickle.loads(pickle.dumps(fitted))
    assert fitted.predict(features).tolist() == copy.predict(features).tolist()
    assert "runs" not in str(fitted.privacy_).replace("best_of_runs", "")


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_no_private_value_makes_a_search_raise(data):
    numbers = st.sampled_from([0.0, 1.0, float("nan"), float("inf"), 1e308, -5e-324])
    count = data.draw(st.integers(2, 6))
    features = np.array(data.draw(st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=count, max_size=count)))
    labels = data.draw(st.lists(st.sampled_from([0, 1, 5, "a"]), min_size=count, max_size=count))
    fitted = search(random_state=1, stop="1/2").fit(features, labels)
    assert fitted.privacy_.epsilon == 6


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"grid": {"epsilon": [1, 2]}}, "DPA103"),
        ({"grid": {"classes": [[0, 1]]}}, "DPA103"),
        ({"grid": {"depth": [1]}}, "DPA103"),
        ({"grid": 3}, "DPA105"),
        ({"grid": {"ridge": []}}, "DPA105"),
        ({"grid": {"ridge": [0]}}, "DPA104"),
        ({"of": LinearSVC()}, "DPA105"),
        ({"of": search()}, "DPA105"),
        ({"shape": -1}, "DPA103"),
        ({"stop": 1}, "DPA103"),
        ({"held_out": 0}, "DPA103"),
        ({"split_seed": -1}, "DPA103"),
    ],
    ids=str,
)
def test_public_parameters_are_refused_before_anything_is_released(given, code):
    with recording() as log, pytest.raises(InvalidArgument, match=code):
        search(**given).fit([[0.5, 0.5]] * 10, [0, 1] * 5)
    assert [] == log


def test_a_single_record_is_too_few_to_search_with():
    with pytest.raises(InvalidArgument, match="DPA109"):
        search().fit([[0.5]], [0])


@pytest.mark.parametrize(
    ("of", "grid"),
    [
        (learner(delta="1e-6", epsilon=1, adjacency="zero_out"), GRID),
        (ObjectivePerturbation(epsilon=1, delta="1e-6", feature_norm=1, classes=[0, 1]), {"ridge": [1]}),
        (PrivateClassifier(epsilon=1, delta="1e-6", feature_norm=1, classes=[0, 1], adjacency="add_remove", n_nominal=9), {}),
    ],
    ids=["another relation", "pure fits at a positive delta", "a private number of records"],
)
def test_what_the_theorem_does_not_cover_is_refused(of, grid):
    with pytest.raises(Unsupported, match="DPA604"):
        search(grid, of=of).fit([[0.5, 0.5]] * 10, [0, 1] * 5)


def test_fits_without_a_bound_on_their_moments_are_refused():
    of = MarginClassifier(epsilon=1, delta="1e-6", margin="1/2", feature_norm=1, classes=[0, 1])
    with pytest.raises(Unsupported):
        search({"margin": ["1/4", "1/2"]}, of=of).fit([[0.5, 0.5]] * 10, [0, 1] * 5)


def test_searches_take_public_parameters_only():
    names = set(inspect.signature(PrivateGridSearchCV).parameters)
    assert {"estimator", "param_grid", "shape", "stop", "poisson", "held_out", "split_seed", "random_state"} == names
