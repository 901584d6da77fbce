"""PureMarginClassifier: scikit-learn's conventions, public candidates, its price, and the example on which dimension matters."""

from __future__ import annotations

import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.claims import PureDP
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from learners.budget import Budget
from learners.choices.counts import Listed, choose, errors, totals
from learners.choices.levels import counts_mechanism
from learners.margins.pure_margin import PureMarginClassifier
from learners.rows.ingest import to_rows
from mechanisms import source_from

COVERS = [{"cover": "random", "candidates": 500}, {"cover": "arrangement"}, {"cover": "lattice", "margin": "1/2"}]
each_cover = pytest.mark.parametrize("cover", COVERS, ids=lambda options: options["cover"])


def data(records=400, features=5, seed=0):
    """Features of norm about 1, and whether the first is positive; the first is the largest."""
    rows = np.random.default_rng(seed).normal(size=(records, features)) * np.array([0.8, *[0.2] * (features - 1)])
    return rows, (rows[:, 0] > 0).astype(int)


def model(**parameters):
    return PureMarginClassifier(**{"epsilon": 1, "feature_norm": 2, "classes": [0, 1], "random_state": 0, **parameters})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [*COVERS[:2], {"cover": "random", "candidates": 99, "intercept": True}], ids=str)
def test_every_check_of_scikit_learn_passes(options):
    results = check_estimator(PureMarginClassifier(epsilon=1, feature_norm=1, **options), on_fail=None, on_skip=None)
    assert [] == [(each["check_name"], each["exception"]) for each in results if each["status"] not in {"passed", "skipped"}]
    assert 40 < sum(each["status"] == "passed" for each in results)


@each_cover
@pytest.mark.parametrize("adjacency", ["replace_one", "zero_out"])
@pytest.mark.parametrize("epsilon", ["1/3", 2])
def test_the_price_is_pure_and_what_was_asked_for(cover, adjacency, epsilon):
    record = model(epsilon=epsilon, adjacency=adjacency, random_state=None, **cover).fit(*data()).privacy_
    assert Fraction(epsilon) == record.epsilon == record.recompute().upper
    assert record.secure
    (release,) = record.charges[0].releases
    assert ("exponential_mechanism", 1) == (release.kind, release.sensitivity)
    assert (2 if adjacency == "replace_one" else 1) / Fraction(epsilon) == release.parameter("temperature")


@each_cover
def test_scores_are_those_of_the_coefficients(cover):
    rows, labels = data(features=2)
    fitted = model(epsilon=5, intercept=cover["cover"] != "arrangement", dimension=2, **cover).fit(rows, labels)
    expected = rows @ fitted.coef_[0] + fitted.intercept_[0]
    found = fitted.decision_function(rows)
    inside = np.linalg.norm(rows, axis=1) < 1.9
    clear = inside & (np.abs(expected) > 0.01)
    if fitted.plan_.image is None:
        assert (np.sign(expected) == np.sign(found))[clear].all()
    assert (1, 2) == fitted.coef_.shape


def test_enough_records_give_a_good_classifier_whatever_the_candidates():
    rows, labels = data(records=2000, features=2)
    for cover in COVERS:
        assert 0.93 < model(**cover).fit(rows, labels).score(rows, labels)


def test_candidates_and_projection_do_not_depend_on_the_records():
    first, second = (model(dimension=3).fit(*data(seed=seed)).plan_ for seed in (1, 2))
    assert first == second
    image = first.image
    assert image is not None
    assert image.seed == 0
    weights = np.eye(3)
    assert image.transpose(weights).tolist() == second.image.transpose(weights).tolist()


@each_cover
def test_sparse_records_and_another_order_choose_the_same(cover):
    rows, labels = data()
    rows = np.where(np.abs(rows) < 0.1, 0, rows)
    order = np.random.default_rng(1).permutation(len(labels))
    wanted = model(**cover).fit(rows, labels)
    again = model(**cover).fit(csr_array(rows[order]), labels[order])
    assert wanted.weights_.tolist() == again.weights_.tolist()
    assert wanted.decision_function(rows).tolist() == again.decision_function(csr_array(rows)).tolist()


@each_cover
@pytest.mark.parametrize("records", [1, 2, 3])
def test_few_useless_and_broken_records_are_records(cover, records):
    broken = np.array([[math.nan, 1.0], [1e300, -1e300], [0.0, 0.0]])[:records]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model(**cover).fit(broken, np.array([0, 7, "?"], dtype=object)[:records])
    assert records == fitted.privacy_.public["records"]
    assert {0, 1} >= set(fitted.predict(broken).tolist())


def test_one_candidate_is_released_and_paid_for():
    fitted = model(candidates=1, dimension=2).fit(*data())
    assert fitted.plan_.cover.candidate(0).tolist() == fitted.weights_.tolist()
    assert 1 == fitted.privacy_.epsilon


def test_a_budget_is_spent_before_a_record_is_read(monkeypatch):
    budget = Budget(PureDP(epsilon=1))
    first = model(budget=budget, epsilon="3/4").fit(*data())
    monkeypatch.setattr(PureMarginClassifier, "_learn", None)
    with recording() as log, pytest.raises(BudgetExceeded):
        clone(first).fit(*data())
    assert [] == log


@each_cover
def test_a_pickle_predicts_alike_and_holds_no_record(cover):
    rows, labels = data()
    fitted = model(**cover).fit(rows, labels)
    text = pickle.dumps(fitted)
    again = pickle.loads(text)
    assert fitted.predict(rows).tolist() == again.predict(rows).tolist()
    assert not any(rows[place].tobytes() in text or rows[place, 0].tobytes() in text for place in range(len(labels)))
    again.fit(rows, labels)


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("DPA604", {"adjacency": "add_remove"}),
        ("DPA604", {"adjacency": "label"}),
        ("DPA604", {"adjacency": "zero_out", "intercept": True}),
        ("DPA103", {"classes": [0, 1, 2], "cover": "arrangement"}),
        ("DPA103", {"classes": [0, 1, 2], "cover": "lattice", "margin": 1}),
        ("DPA103", {"cover": "other"}),
        ("DPA103", {"cover": "arrangement", "dimension": 3}),
        ("DPA105", {"cover": "lattice"}),
        ("DPA103", {"cover": "lattice", "margin": 3}),
        ("DPA103", {"cover": "lattice", "margin": 1, "dimension": 5}),
        ("DPA103", {"candidates": 0}),
        ("DPA103", {"dimension": 0}),
        ("DPA105", {"intercept": 1}),
        ("DPA103", {"seed": -1}),
        ("DPA104", {"epsilon": 0}),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_before_a_record_is_read(monkeypatch, code, options):
    monkeypatch.setattr(PureMarginClassifier, "_learn", None)
    with recording() as log, pytest.raises(DpauditError) as caught:
        model(**options).fit(*data(features=6))
    assert (code, []) == (caught.value.code, log)


def test_the_certified_excess_holds_in_200_fits():
    """It may fail with probability 1 in 20; 40 failures in 200 would then happen less often than once in 1e11 runs."""
    rows, labels = data(records=150, features=2)
    worse = 0
    for seed in range(200):
        fitted = model(seed=seed, random_state=seed, candidates=200).fit(rows, labels)
        bound = fitted.excess(chord=0.2)
        directions = np.array([np.cos(angles := np.linspace(0, 2 * np.pi, 360)), np.sin(angles)])
        wrong = ((rows @ directions) * (2 * labels - 1)[:, np.newaxis] <= 0).mean(axis=0)
        # The best direction whose neighbours within 12 degrees, more than the chord, are all as good.
        robust = min(max(np.take(wrong, range(place - 12, place + 13), mode="wrap")) for place in range(360))
        worse += 1 - fitted.score(rows, labels) > robust + bound
    assert 0.1 < bound < 0.3
    assert worse < 40


def test_an_excess_is_certified_for_random_directions_only():
    assert math.isinf(model(candidates=5, dimension=2).fit(*data()).excess(chord=0.1))
    for options in COVERS[1:]:
        with pytest.raises(DpauditError) as caught:
            model(**options).fit(*data()).excess(chord=0.1)
        assert "DPA202" == caught.value.code


@pytest.mark.parametrize(
    ("given", "code"), [({"chord": 0}, "DPA104"), ({"chord": 1.5}, "DPA103"), ({"chord": 1, "beta": 0}, "DPA103")], ids=str
)
def test_an_excess_of_numbers_that_mean_nothing_is_refused(given, code):
    with pytest.raises(DpauditError, match=code):
        model(dimension=2).fit(*data(20)).excess(**given)


def corners(dimension):
    """All candidates with entries 1 and -1, in columns: those of the example that shows what dimension costs."""
    places = np.arange(2**dimension)
    return Listed(np.array([2 * (places >> bit & 1) - 1 for bit in range(dimension)]))


@pytest.mark.parametrize("dimension", [3, 6])
@pytest.mark.parametrize("records", [4, 9])
def test_half_of_all_corners_are_wrong_and_each_is_chosen_as_often_as_computed(dimension, records):
    """Records y e_1: a corner is right everywhere or nowhere by its first sign, so P[right] = 1 / (1 + e^(-epsilon m / 2))."""
    labels = np.arange(records) % 2
    rows = to_rows(np.outer(2.0 * labels - 1, np.eye(dimension)[0]), labels, feature_norm=1, lattice_bits=8)
    cover = corners(dimension)
    found = totals(rows, cover, errors()).tolist()
    assert [records if weights[0] < 0 else 0 for weights in cover.weights.T] == found
    weights = np.exp(-np.array(found) / 2)
    right = float(weights[np.array(found) == 0].sum() / weights.sum())
    assert right == pytest.approx(1 / (1 + math.exp(-records / 2)))
    source, mechanism = source_from(np.random.default_rng(dimension)), counts_mechanism(epsilon=1, adjacency="replace_one")
    # 1500 choices: 7 standard deviations, a false alarm below 1e-11.
    drawn = sum(int(choose(rows, cover, errors(), mechanism, source)[0]) > 0 for _ in range(1500))
    assert abs(drawn - 1500 * right) < 7 * (1500 * right * (1 - right)) ** 0.5 + 1


@pytest.mark.parametrize(("bits", "records"), [(10, 9.47), (20, 23.33), (30, 37.20)])
def test_one_good_candidate_among_many_needs_as_many_records_as_computed(bits, records):
    """With P[good] = 1 / (1 + N e^(-m / 2)) an error is 9 times as likely up to m = 2 (ln N - ln 9)."""
    assert records == pytest.approx(2 * (bits * math.log(2) - math.log(9)), abs=6e-3)
    odds = 2**bits * math.exp(-records / 2)
    assert 0.9 == pytest.approx(odds / (1 + odds), abs=1e-3)


def test_two_dimensions_escape_the_price_of_dimension():
    """Half of the plane is right wherever the first axis is mapped to, so that the number of axes is no matter."""
    labels = np.arange(60) % 2
    features = np.outer(2.0 * labels - 1, np.eye(20)[0])
    fitted = model(feature_norm=1, cover="arrangement").fit(features, labels)
    assert 1.0 == fitted.score(features, labels)
    assert (2,) == fitted.weights_.shape


@pytest.mark.parametrize("gamma", [0.3, 0.1, 0.01])
def test_the_unconstrained_hinge_minimiser_is_long_and_no_better(gamma):
    """Mass gamma / 2 at -1 and the rest at gamma: the least hinge loss is at 1 / gamma, and its errors are those of weight 1."""
    alpha = gamma / 2
    grid = np.linspace(-1, 2 / gamma, 200_001)
    loss = alpha * np.maximum(0, 1 + grid) + (1 - alpha) * np.maximum(0, 1 - grid * gamma)
    assert 1 / gamma == pytest.approx(grid[loss.argmin()], rel=1e-3)
    assert (1 + gamma) / 2 == pytest.approx(loss.min(), rel=1e-3)
    assert (1 - alpha) * (1 + gamma) == pytest.approx(loss[0])
    wrong = [alpha * (-weight <= 0) + (1 - alpha) * (weight * gamma <= 0) for weight in (1 / gamma, 1)]
    assert [alpha, alpha] == wrong
