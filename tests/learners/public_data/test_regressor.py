"""PublicSubspaceRegressor: what labels become, how far one record moves a release, what is learned and what is refused."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import is_regressor
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.errors import DpauditError
from learners import PublicSubspaceRegressor
from learners.public_data.subspace_regressor import residuals
from learners.rows.labels import targets
from learners.solvers.slopes import UNIT


def data(records=2000, features=8, seed=0):
    """Features, and labels that are mostly linear in two of them."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(records, features)) / np.sqrt(features)
    return rows, rows[:, 0] - rows[:, 1] / 2 + 0.3 + 0.05 * random.normal(size=records)


def model(**parameters):
    """A regressor for tests."""
    return PublicSubspaceRegressor(
        **{"epsilon": 3, "delta": "1e-5", "feature_norm": 2, "label_bound": 2, "random_state": 0, **parameters}
    )


def public_records(columns):
    """Public records of as many columns as there are."""
    return np.random.default_rng(7).normal(size=(60, columns)) / 2


@pytest.mark.parametrize("public_X", [None, public_records])
def test_scikit_learn_finds_one_thing_to_complain_about(public_X):  # noqa: N803 - as the estimator names it
    """That labels which are all NaN raise nothing: they are private values, and whether a fit raises would tell of them."""
    made = PublicSubspaceRegressor(epsilon=1, delta="1e-5", feature_norm=10, label_bound=10, public_X=public_X)
    assert is_regressor(made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(made, on_fail=None, on_skip=None)
    assert ["check_supervised_y_no_nan"] == [result["check_name"] for result in results if result["status"] == "failed"]


def test_labels_become_whole_parts_of_their_bound_whatever_they_are():
    given_labels = np.array([3, -3, 1e300, -np.inf, np.nan, None, "2", 0.5], dtype=object)
    assert [UNIT, -UNIT, UNIT, -UNIT, 0, 0, 0, UNIT // 4] == targets(given_labels, Fraction(2)).tolist()
    assert [UNIT, 0, -UNIT // 2] == targets(np.array([2**60, 0, -1]), Fraction(2)).tolist()


@given(st.lists(st.floats(), min_size=1, max_size=5), st.floats(), st.fractions(min_value="1/1000", max_value=1000))
def test_a_label_becomes_the_same_whatever_the_others_are(labels, other, bound):
    found = targets(np.array(labels), bound)
    assert np.abs(found).max() <= UNIT
    assert found[0] == targets(np.array([labels[0], other]), bound)[0]


@given(st.integers(-(2**60), 2**60), st.integers(-UNIT, UNIT), st.integers(12, 40))
def test_no_slope_is_longer_than_the_unit(margin, label, bits):
    (slope,) = residuals(np.array([margin]), np.array([label]), bits).tolist()
    assert max(-UNIT, min(UNIT, label - (margin >> (bits - 12)))) == slope


@pytest.mark.parametrize("public_X", [None, public_records])
def test_a_signal_is_learned_at_the_price_that_was_asked_for(public_X):  # noqa: N803 - as the estimator names it
    fitted = model(random_state=None, public_X=public_X).fit(*data())
    assert fitted.score(*data(seed=1)) > 0.8
    assert fitted.privacy_.secure
    assert 2.99 < fitted.privacy_.epsilon <= 3
    assert fitted.privacy_.recompute().upper <= 3


def test_many_columns_learn_by_plain_steps_that_do_not_run_away():
    rows, labels = data(4000, 8)
    wide = csr_array((rows.ravel(), np.tile(np.arange(0, 1600, 200), 4000), np.arange(0, 32001, 8)), shape=(4000, 1600))
    fitted = model(epsilon=20).fit(wide, labels)
    assert fitted.plan_.moment is None
    assert fitted.score(wide, labels) > 0.5


def test_steps_that_are_too_long_are_halved_until_they_are_not():
    alike = np.abs(np.random.default_rng(3).normal(size=(2000, 1100))) / 33
    fitted = model(epsilon=50, feature_norm=1).fit(alike, np.ones(2000))
    assert np.abs(fitted.predict(alike) - 1).mean() < 0.1


def test_predictions_are_within_the_bound_and_a_pickle_gives_the_same():
    rows, labels = data()
    fitted = model(label_bound="1/4").fit(rows, labels)
    stored = pickle.dumps(fitted)
    assert np.abs(fitted.predict(rows)).max() <= 0.25
    assert np.array_equal(fitted.predict(rows), pickle.loads(stored).predict(rows))
    assert not any(value.tobytes() in stored for value in rows.ravel())


def test_private_values_never_raise_or_warn():
    rows, labels = data(40)
    rows[0], rows[1], rows[2] = np.nan, np.inf, 1e300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [model().fit(rows, each).privacy_ for each in (labels, np.full(40, np.nan), np.full(40, 1e308))]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"label_bound": 0}, "DPA104"),
        ({"label_bound": None}, "DPA101"),
        ({"delta": 0}, "DPA103"),
        ({"feature_norm": -1}, "DPA104"),
        ({"adjacency": "add_remove"}, "DPA603"),
        ({"public_X": np.zeros((0, 8))}, "DPA109"),
        ({"public_X": np.ones((3, 4))}, "DPA105"),
    ],
)
def test_parameters_are_refused_before_a_record_is_read(changed, code, monkeypatch):
    def read(*_arguments, **_named):
        raise AssertionError("records were read")

    monkeypatch.setattr("learners.estimator.to_rows", read)
    with pytest.raises(DpauditError) as caught:
        model(**changed).fit(*data(40))
    assert code == caught.value.code
