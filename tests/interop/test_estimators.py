"""Estimators as targets: clones are fitted, seeded from the audit, and give out what was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from dpaudit import Claim, PureDP, audit
from dpaudit.errors import InvalidArgument
from dpaudit.interop import from_sklearn

CLAIM = Claim(PureDP(epsilon=1), adjacency="replace_one")
ROWS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])


def run(estimator, data=ROWS, seed=1, **others):
    """What one run gives out."""
    return from_sklearn(estimator, claim=CLAIM, **others).run(data, np.random.default_rng(seed))


def test_every_fitted_attribute_is_given_out_unless_some_are_named():
    assert {"coef_", "intercept_", "n_features_in_"} <= set(run(Ridge()))
    assert ["coef_"] == list(run(Ridge(), released=["coef_"]))


def test_methods_are_asked_about_public_rows():
    given_out = run(Ridge(), released=["predict"], rows=[[0.0, 0.0], [1.0, 1.0]])
    assert (2,) == given_out["predict"].shape


def test_labels_are_the_last_column_or_the_second_of_a_pair():
    one, other = run(Ridge()), run(Ridge(), data=(ROWS[:, :2], ROWS[:, 2]))
    assert one["coef_"].tolist() == other["coef_"].tolist()


def test_an_estimator_without_labels_gets_all_columns():
    assert 3 == run(KMeans(n_clusters=2), labels=False)["n_features_in_"]


def test_the_estimator_itself_is_never_fitted():
    model = Ridge()
    run(model)
    assert not hasattr(model, "coef_")


PROJECTION = GaussianRandomProjection(n_components=1)


@pytest.mark.parametrize("estimator", [PROJECTION, make_pipeline(StandardScaler(), PROJECTION)], ids=["plain", "nested"])
def test_a_run_repeats_from_its_seed_and_from_no_other(estimator):
    shown = {"released": ["transform"], "rows": ROWS, "labels": False}
    first, again, other = (run(estimator, seed=seed, **shown)["transform"].tolist() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_model_without_noise_is_refuted():
    pairs = [(ROWS, np.vstack([ROWS[:3], [[0.0, 0.0, 1.0]]]))]
    target = from_sklearn(DummyRegressor(), claim=CLAIM, neighbours=pairs, released=["constant_"])
    assert "refuted" == str(audit(target, runs=500, seed=1).results[0].verdict)


@pytest.mark.parametrize("what", [3, object(), len, type("Fitting", (), {"fit": lambda self, rows: self})()])
def test_what_is_no_estimator_is_refused(what):
    with pytest.raises(InvalidArgument, match="DPA105"):
        from_sklearn(what, claim=CLAIM)


def test_the_refusal_shows_no_records():
    with pytest.raises(InvalidArgument, match=r"expected, got a list\.$"):
        from_sklearn([[4711.0]], claim=Claim(PureDP(epsilon=1)))
