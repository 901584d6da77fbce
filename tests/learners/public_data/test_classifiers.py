"""Classifiers with public records: scikit-learn's conventions, weights in the span, the default rule, bits that nothing changes."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError
from learners import PrivateClassifier, PublicCoverClassifier, PublicSubspaceClassifier
from learners.estimator import Public
from learners.public_data.covers import LinearCover, NetworkCover, NormCover
from learners.public_data.default_rule import directions_for, public_plan
from learners.public_data.descent import ProjectedDescent, descent_slopes
from learners.solvers.plans import SolverPlan
from learners.solvers.slopes import UNIT
from mechanisms import GaussianMechanism


def public_records(columns):
    """Public records of as many columns as there are."""
    return np.random.default_rng(7).normal(size=(60, columns)) / 2


def data(records=600, features=20, seed=0):
    """Features of falling size, and whether the first is positive."""
    rows = np.random.default_rng(seed).normal(size=(records, features)) / np.arange(1, features + 1)
    return rows, (rows[:, 0] > 0).astype(int)


COMMON = {"epsilon": 5, "delta": "1e-5", "feature_norm": 3, "classes": [0, 1], "random_state": 0}
BEFORE = data(60, seed=5)[0]
"""Public records of the same law."""

MODELS = {
    "rule": lambda **given: PrivateClassifier(**{**COMMON, "public_X": BEFORE, **given}),
    "subspace": lambda **given: PublicSubspaceClassifier(**{**COMMON, "public_X": BEFORE, "dimension": 5, **given}),
    "projected": lambda **given: PublicSubspaceClassifier(
        **{**COMMON, "public_X": BEFORE, "dimension": 5, "learner": ProjectedDescent(8), **given}
    ),
    "cover": lambda **given: PublicCoverClassifier(**{**COMMON, "public_X": BEFORE, **given}),
    "norms": lambda **given: PublicCoverClassifier(
        **{**COMMON, "public_X": BEFORE, "hypotheses": NormCover(size=64, pool=256), **given}
    ),
    "networks": lambda **given: PublicCoverClassifier(
        **{**COMMON, "public_X": BEFORE, "hypotheses": NetworkCover(size=64, pool=256, dimension=4), **given}
    ),
}
each_model = pytest.mark.parametrize("name", MODELS)


@pytest.mark.parametrize("kind", [PrivateClassifier, PublicSubspaceClassifier, PublicCoverClassifier])
def test_scikit_learn_finds_nothing_to_complain_about(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(kind(epsilon=1, delta="1e-5", feature_norm=10, public_X=public_records))
    assert {"passed", "skipped"} == {result["status"] for result in results}
    assert {False} == {result["expected_to_fail"] for result in results}


@each_model
def test_a_signal_is_learned_at_the_price_that_was_asked_for(name):
    rows, labels = data(2000)
    fitted = MODELS[name](random_state=None).fit(rows, labels)
    assert fitted.score(*data(1000, seed=1)) > (0.85 if name == "networks" else 0.9)
    assert fitted.privacy_.secure
    assert 4.99 < fitted.privacy_.epsilon <= 5
    assert fitted.privacy_.recompute().upper <= 5


@each_model
def test_order_of_the_records_and_threads_change_no_bit(name):
    rows, labels = data()
    expected = MODELS[name]().fit(rows, labels).decision_function(rows)
    order = np.random.default_rng(1).permutation(len(labels))
    with threadpool_limits(limits=2):
        found = MODELS[name]().fit(np.asfortranarray(rows[order]), labels[order])
    assert np.array_equal(expected, found.decision_function(rows))


@each_model
def test_private_values_never_raise_warn_or_change_the_plan(name):
    rows, labels = data(40)
    rows[0], rows[1], rows[2], rows[3], rows[4, 0] = np.nan, np.inf, 1e300, 0, 5e-324
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        records = [
            MODELS[name]().fit(each, each_labels).privacy_ for each, each_labels in ((rows, labels), (0 * BEFORE[:40], labels))
        ]
    assert records[0] == records[1]


@pytest.mark.parametrize("name", ["rule", "subspace", "cover"])
@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"public_X": np.zeros((0, 20))}, "DPA109"),
        ({"public_X": np.zeros((5, 20))}, "DPA109"),
        ({"public_X": np.ones((5, 7))}, "DPA105"),
        ({"public_X": "rows"}, "DPA105"),
        ({"epsilon": 0}, "DPA104"),
        ({"adjacency": "label"}, "DPA604"),
    ],
)
def test_public_parameters_are_refused_before_a_record_is_read(name, changed, code, monkeypatch):
    def read(*_arguments, **_named):
        raise AssertionError("records were read")

    monkeypatch.setattr("learners.estimator.to_rows", read)
    with pytest.raises(DpauditError) as caught:
        MODELS[name](**changed).fit(*data(40))
    assert code == caught.value.code


def test_weights_lie_in_the_span_whatever_the_private_records_are():
    for seed in range(3):
        rows, labels = data(300, seed=seed)
        fitted = MODELS["subspace"](centred=False, public_X=BEFORE[:4], dimension=None).fit(rows, labels)
        weights = fitted.coef_[0]
        across = weights - np.linalg.pinv(BEFORE[:4]) @ (BEFORE[:4] @ weights)
        assert np.abs(across).max() < 1e-4 * np.abs(weights).max()


@pytest.mark.parametrize("name", ["rule", "subspace", "projected"])
def test_scores_are_those_of_the_coefficients_where_nothing_is_clipped(name):
    rows, labels = data()
    fitted = MODELS[name](**({} if name == "rule" else {"reach": 20})).fit(rows, labels)
    some = BEFORE / 100 + BEFORE.mean(axis=0)
    expected = some @ fitted.coef_[0] + fitted.intercept_[0]
    assert expected == pytest.approx(fitted.decision_function(some), abs=0.02)


@pytest.mark.parametrize("name", ["rule", "subspace", "projected"])
def test_weights_are_a_function_of_what_was_released(name, monkeypatch):
    released, release = [], GaussianMechanism.release

    def kept(self, value, source=None):
        released.append(release(self, value, source))
        return released[-1]

    monkeypatch.setattr(GaussianMechanism, "release", kept)
    expected = MODELS[name]().fit(*data(300)).weights_
    played = iter(released)
    monkeypatch.setattr(
        GaussianMechanism, "release", lambda self, value, source=None: (release(self, value, source), next(played))[1]
    )
    assert np.array_equal(expected, MODELS[name]().fit(*data(300, seed=9)).weights_)


@pytest.mark.parametrize("name", ["rule", "subspace", "projected"])
def test_under_add_remove_the_nominal_number_stands_for_the_true_one(name):
    plans = [MODELS[name](adjacency="add_remove", n_nominal=500, epsilon=1).fit(*data(count)).plan_ for count in (300, 600)]
    assert plans[0].inner == plans[1].inner
    assert plans[0].public_map.dimension_out == plans[1].public_map.dimension_out


def test_several_classes_see_the_same_directions():
    rows, labels = data(4000)
    fitted = MODELS["rule"](classes=[0, 1, 2], epsilon=20).fit(rows, labels + (labels & (rows[:, 1] > 0)))
    assert (3, 20) == fitted.coef_.shape
    assert (3,) == fitted.intercept_.shape
    assert fitted.score(rows, labels + (labels & (rows[:, 1] > 0))) > 0.75


def test_the_record_says_in_which_directions_records_were_seen():
    fitted = MODELS["rule"](epsilon=1).fit(*data())
    assert 60 == fitted.privacy_.public["public_records"]
    assert directions_for(_public(600, 20, 1)) == fitted.privacy_.public["directions"] < 20
    assert str(fitted.plan_.public_map.clip) == fitted.privacy_.public["clip"]


def _public(records, features, epsilon, adjacency="replace_one"):
    """Public quantities of two classes."""
    return Public(records, features, 2, Fraction(1), Fraction(epsilon), Fraction(1, 10**5), Adjacency.of(adjacency))


def test_the_rule_sees_no_private_record_and_more_directions_for_more_of_them():
    found = [directions_for(_public(records, 1000, epsilon)) for records in (1000, 4000) for epsilon in ("0.1", 1, 3)]
    assert [1, 11, 29, 5, 43, 115] == found


def test_more_directions_than_columns_are_no_projection():
    assert isinstance(public_plan(BEFORE, _public(10**5, 20, 1)), SolverPlan)


def test_a_map_with_a_centre_is_refused_under_zero_out_and_the_rule_has_none():
    with pytest.raises(DpauditError, match="DPA604"):
        MODELS["subspace"](adjacency="zero_out").fit(*data(40))
    fitted = MODELS["rule"](adjacency="zero_out", epsilon=1).fit(*data())
    assert not fitted.plan_.public_map.offset.any()


@pytest.mark.parametrize("bits", [12, 32])
def test_slopes_of_the_logistic_loss_are_those_of_the_table(bits):
    margins = np.arange(-20, 21)
    found = descent_slopes(margins << bits, np.ones(41, dtype=np.int64), bits)
    assert np.abs(found - UNIT / (1 + np.exp(margins))).max() <= 0.5
    assert np.array_equal(-found, descent_slopes(-margins << bits, np.zeros(41, dtype=np.int64), bits))
    assert UNIT == found.max()


def test_projected_weights_stay_in_their_ball():
    rows, labels = data(2000)
    fitted = MODELS["projected"](learner=ProjectedDescent("1/2"), epsilon=50).fit(rows, labels)
    assert np.linalg.norm(fitted.coef_[0]) <= 0.5001


def test_a_ridge_prefers_short_weights_and_belongs_to_linear_candidates():
    rows, labels = data(400)
    long, short = (MODELS["cover"](ridge=ridge, epsilon=500).fit(rows, labels) for ridge in (0, 100))
    sizes = [np.abs(each.plan_.candidates.weights[:, each.place_]).sum() for each in (long, short)]
    assert sizes[0] > 10 * sizes[1]
    with pytest.raises(DpauditError, match="DPA103"):
        MODELS["networks"](ridge=1).fit(rows, labels)


@pytest.mark.parametrize(
    "changed",
    [
        {"margin": 0},
        {"margin": 2},
        {"ridge": -1},
        {"hypotheses": LinearCover(resolution=0)},
        {"hypotheses": LinearCover(resolution="1/500", dimension=12)},
        {"hypotheses": NormCover(power="1/2")},
        {"hypotheses": NormCover(pool=10**6)},
        {"hypotheses": NetworkCover(layers=1)},
        {"classes": [0, 1, 2]},
    ],
)
def test_covers_that_cannot_be_made_are_refused(changed):
    with pytest.raises(DpauditError):
        MODELS["cover"](**changed).fit(*data(40))
