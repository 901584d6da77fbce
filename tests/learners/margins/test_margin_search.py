"""MarginSearch: one choice of a margin and one fit, at the learner's own price, whichever margin is chosen."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.claims import PureDP
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from learners.budget import Budget
from learners.choices.hinge_minimum import Scale
from learners.margins.margin import MarginClassifier
from learners.margins.margin_search import MarginSearch
from learners.margins.pure_margin import PureMarginClassifier
from learners.public_data.private_classifier import PrivateClassifier
from learners.record import PrivacyRecord


def data(records=1500, gap=0.25, seed=0):
    """Records in the unit ball, half of each class, at least `gap` to the side of their class."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((records, 6))
    rows *= 0.6 / np.linalg.norm(rows, axis=1, keepdims=True)
    labels = (rows[:, 0] > 0).astype(int)
    rows[:, 0] += gap * (2 * labels - 1)
    return rows, labels


def pure(**parameters):
    return PureMarginClassifier(**{"epsilon": 1, "feature_norm": 1, "classes": [0, 1], "candidates": 500, **parameters})


def phased(**parameters):
    return MarginClassifier(
        **{"epsilon": 2, "delta": "1e-5", "margin": 1, "feature_norm": 1, "classes": [0, 1], "fit_intercept": False, **parameters}
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("score_by", ["hinge", "errors"])
def test_every_check_of_scikit_learn_passes(score_by):
    search = MarginSearch(PureMarginClassifier(epsilon=1, feature_norm=1, candidates=64), margins=2, score_by=score_by)
    results = check_estimator(search, on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]


@pytest.mark.parametrize(("learner", "delta"), [(pure(), Fraction(0)), (phased(), Fraction(1, 10**5))], ids=["pure", "phased"])
def test_choice_and_fit_together_cost_what_the_learner_may_spend(learner, delta):
    with recording() as log:
        record = MarginSearch(learner, margins=4).fit(*data()).privacy_
    assert record.epsilon <= Fraction(learner.epsilon)
    assert (delta, True) == (record.delta, record.secure)
    assert record.epsilon == record.recompute().upper
    assert Fraction(8 // learner.epsilon) == log[0].parameter("temperature")
    assert sum(len(charge.releases) for charge in record.charges) == len(log)


class Uneven(MarginClassifier):
    """Spends less at smaller margins."""

    def _plan(self, public):
        return super()._plan(replace(public, epsilon=public.epsilon * min(Fraction(self.margin), Fraction(1))))


def test_a_learner_whose_price_depends_on_its_margin_is_refused_before_anything_is_released():
    learner = Uneven(epsilon=2, delta="1e-5", margin=1, feature_norm=1, classes=[0, 1])
    with recording() as log, pytest.raises(DpauditError, match="DPA604 the learner's price depends on its margin"):
        MarginSearch(learner, margins=3).fit(*data(200))
    assert [] == log


@pytest.mark.parametrize("variant", ["direct", "permutation", "faithful"])
def test_the_record_lists_what_ran_at_the_price_of_any_margin(variant):
    learner = phased(variant=variant, calibration="paper" if variant == "faithful" else "exact")
    with recording() as log:
        model = MarginSearch(learner, margins=3).fit(*data(60))
    assert log == [release for charge in model.privacy_.charges for release in charge.releases]
    choice, *_ = model.plan_.charges
    assert {model.privacy_.epsilon} == {
        PrivacyRecord.of((choice, *branch.charges), adjacency="replace_one", delta="1e-5", public={}).epsilon
        for branch in model.plan_.branches
    }


def test_a_pure_search_costs_exactly_the_sum_of_its_parts():
    assert Fraction(1) == MarginSearch(pure(), share="1/3").fit(*data()).privacy_.epsilon


def test_with_a_large_budget_the_margin_of_the_data_is_found():
    found = MarginSearch(phased(epsilon=40), margins=5, random_state=1).fit(*data(records=2000)).margin_
    assert Fraction(1, 8) <= found <= Fraction(1, 2)


@pytest.mark.parametrize("score_by", ["hinge", "errors"])
def test_the_learner_inside_is_fitted_at_the_chosen_margin(score_by):
    rows, labels = data()
    search = MarginSearch(phased(), score_by=score_by, random_state=3).fit(rows, labels)
    assert search.margin_ == search.estimator_.margin
    assert search.predict(rows).tolist() == search.estimator_.predict(rows).tolist()
    assert 0.9 < search.score(rows, labels)
    assert search.plan_.margins[0] == 1
    assert all(2 * later == earlier for earlier, later in pairwise(search.plan_.margins))


@pytest.mark.parametrize(("records", "count"), [(1, 1), (2, 2), (4, 2), (5, 3), (16, 3), (17, 4), (10**6, 7)])
def test_the_margins_reach_the_largest_over_the_root_of_the_number_of_records(records, count):
    search = MarginSearch(pure())
    public = search._public(np.zeros((min(records, 20), 3)), 2)
    plan = search._plan(type(public)(records, *list(vars(public).values())[1:]))
    assert count == len(plan.margins)
    assert min(records, 2**12) == plan.records


def test_the_sensitivities_are_those_of_the_scores_as_they_are_computed():
    rows, labels = data(300)
    plan = MarginSearch(pure()).fit(rows, labels).plan_
    assert [Scale(300, exponent).sensitivity for exponent in plan.exponents] == list(plan.mechanism.sensitivities)
    assert all(
        raised == each + Fraction(1, 2**20)
        for raised, each in zip(plan.mechanism.raised, plan.mechanism.sensitivities, strict=True)
    )


def test_scores_of_neighbours_differ_by_at_most_their_sensitivities():
    """All records but one lie on one side; that one lies farther out and changes its side."""
    for score_by in ("hinge", "errors"):
        search = MarginSearch(pure(candidates=5), margins=4, score_by=score_by)
        features = np.array([[0.3, 0.0]] * 60 + [[1.0, 0.0]])
        found = []
        for label in (0, 1):
            labels = np.array([1] * 60 + [label])
            fitted = clone(search).set_params(random_state=0).fit(features, labels)
            rows = fitted._rows(features, labels, fitted.plan_)
            found.append(fitted._scores_of(fitted._mapped_rows(rows, fitted.plan_.branches[0]), fitted.plan_))
        moves = [abs(one - other) for one, other in zip(*found, strict=True)]
        assert all(move <= each for move, each in zip(moves, fitted.plan_.mechanism.sensitivities, strict=True))
        assert 0 < max(moves)


def test_the_grid_of_margins_is_public():
    plans = [MarginSearch(pure(), random_state=0).fit(*data(200, gap=gap)).plan_ for gap in (0.05, 0.39)]
    assert plans[0] == plans[1]


def test_a_budget_is_spent_once_and_before_a_record_is_read(monkeypatch):
    budget = Budget(PureDP(epsilon="3/2"))
    search = MarginSearch(pure(budget=budget), margins=2).fit(*data())
    monkeypatch.setattr(MarginSearch, "_learn", None)
    with recording() as log, pytest.raises(BudgetExceeded):
        clone(search).fit(*data())
    assert [] == log


def test_a_pickle_predicts_alike_and_leaves_its_budget_behind():
    rows, labels = data()
    search = MarginSearch(pure(budget=Budget(PureDP(epsilon=5))), margins=2).fit(rows, labels)
    again = pickle.loads(pickle.dumps(search))
    assert search.predict(rows).tolist() == again.predict(rows).tolist()
    with pytest.raises(DpauditError) as caught:
        again.fit(rows, labels)
    assert "DPA601" == caught.value.code


def test_a_single_class_is_learned_without_a_release():
    with recording() as log:
        search = MarginSearch(pure(classes=["only"])).fit([[1.0], [2.0]], ["only"] * 2)
    assert ([], ["only"]) == (log, search.predict([[5.0]]).tolist())


@pytest.mark.parametrize(
    ("code", "search"),
    [
        ("DPA105", MarginSearch(LogisticRegression())),
        ("DPA105", MarginSearch(PrivateClassifier(epsilon=1, delta="1e-5", feature_norm=1))),
        ("DPA103", MarginSearch(pure(), share=1)),
        ("DPA103", MarginSearch(pure(), score_by="other")),
        ("DPA103", MarginSearch(pure(), margins=0)),
        ("DPA104", MarginSearch(pure(), norm_bound=0)),
        ("DPA103", MarginSearch(pure(classes=[0, 1, 2]))),
        ("DPA604", MarginSearch(pure(adjacency="add_remove"))),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_before_a_record_is_read(monkeypatch, code, search):
    monkeypatch.setattr(MarginSearch, "_learn", None)
    with recording() as log, pytest.raises(DpauditError) as caught:
        search.fit(*data(50))
    assert (code, []) == (caught.value.code, log)
