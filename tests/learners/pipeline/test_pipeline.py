"""Pipelines: public preprocessing is cell by cell, leaky steps are refused by name, and odd tables lose nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler

from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from learners import PrivateClassifier, PrivatePipeline, TableEncoder, Text, make_private_pipeline

BOTH = {"epsilon": 1, "delta": "1e-5", "feature_norm": 1, "classes": [0, 1], "random_state": 1}
rng = np.random.default_rng(0)
CLEAN = pd.DataFrame({"a": rng.normal(size=8000), "b": rng.normal(size=8000)})
LABELS = (2 * CLEAN["a"] - CLEAN["b"] + rng.logistic(size=8000) > 0).to_numpy().astype(int)
COLUMNS = {"a": (-4, 4), "b": (-4, 4)}


class Copied(TransformerMixin, BaseEstimator):
    """Looks like a step of one's own."""

    def fit(self, X, y=None):  # noqa: N803 - scikit-learn's name
        return self

    def transform(self, X):  # noqa: N803 - scikit-learn's name
        return X


class Disguised(Normalizer):
    """A subclass may do anything."""


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        PCA(),
        SimpleImputer(),
        OneHotEncoder(),
        OneHotEncoder(categories=[["a"]]),
        OneHotEncoder(categories=[["a"]], handle_unknown="ignore", min_frequency=2),
        FunctionTransformer(np.log1p),
        Copied(),
        Disguised(),
        TfidfVectorizer(),
        ColumnTransformer([("scaled", StandardScaler(), ["a"])]),
        ColumnTransformer([("kept", "passthrough", make_column_selector())]),
        ColumnTransformer([("kept", "passthrough", ["a"])], remainder=StandardScaler()),
    ],
    ids=lambda step: type(step).__name__,
)
def test_a_step_that_may_learn_from_records_is_refused_by_name(step):
    pipeline = make_private_pipeline(step, PrivateClassifier(**BOTH))
    with recording() as log, pytest.raises(DpauditError, match=f"DPA604 step '{type(step).__name__.lower()}'"):
        pipeline.fit(CLEAN, LABELS)
    assert [] == list(log)


def test_a_learner_that_is_not_private_and_a_cache_are_refused():
    with pytest.raises(DpauditError, match="DPA105"):
        make_private_pipeline(TableEncoder(COLUMNS), LogisticRegression()).fit(CLEAN, LABELS)
    with pytest.raises(DpauditError, match="DPA604"):
        PrivatePipeline([("learner", PrivateClassifier(**BOTH))], memory="somewhere").fit(CLEAN, LABELS)


def test_steps_that_learn_nothing_are_taken_and_the_record_names_them():
    taken = ColumnTransformer([("first", "passthrough", ["a"])], remainder="drop")
    pipeline = make_private_pipeline(taken, Normalizer(), PrivateClassifier(**BOTH)).fit(CLEAN, LABELS)
    assert ["ColumnTransformer", "Normalizer"] == pipeline.privacy_.public["preprocessing"]
    assert pipeline.privacy_.epsilon <= 1
    assert clone(pipeline).fit(CLEAN, LABELS).score(CLEAN, LABELS) == pipeline.score(CLEAN, LABELS)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("odd", ["clean", "scaled", "offset", "missing", "category", "text"])
def test_odd_tables_stay_within_two_points_of_the_clean_one(odd, library):
    def score(table, columns):
        pipeline = make_private_pipeline(TableEncoder(columns), PrivateClassifier(**BOTH))
        return pipeline.fit(library(table), LABELS).score(library(table), LABELS)

    table, columns = dict(CLEAN), dict(COLUMNS)
    if odd == "scaled":
        table |= {"a": CLEAN["a"] * 100, "b": CLEAN["b"] / 100}
        columns = {"a": (-400, 400), "b": ("-1/25", "1/25")}
    if odd == "offset":
        table, columns = {name: values + 3 for name, values in table.items()}, {"a": (-1, 7), "b": (-1, 7)}
    if odd == "missing":
        table["a"] = CLEAN["a"].where(rng.random(8000) > 0.05)
    if odd == "category":
        table["c"], columns["c"] = rng.choice(["u", "v", "w"], 8000), ["u", "v"]
    if odd == "text":
        table["t"], columns["t"] = rng.choice(["some words", "other words", ""], 8000), Text(8)
    assert score(table, columns) > score(dict(CLEAN), COLUMNS) - (0.03 if odd == "missing" else 0.02)


def test_records_are_encoded_one_by_one():
    table = pd.DataFrame({"n": [0.0, 10.0, np.nan, 1e9], "c": ["x", "y", None, "z"], "t": ["one two", "two", None, ""]})
    encoder = TableEncoder({"n": (0, 10), "c": ["x", "y"], "t": Text(4)}).fit(table)
    whole = encoder.transform(table)
    np.testing.assert_array_equal(whole, np.vstack([encoder.transform(table.iloc[[place]]) for place in range(4)]))
    assert ["n", "c_x", "c_y", "t_0", "t_1", "t_2", "t_3"] == encoder.get_feature_names_out().tolist()
    assert (4, 7) == whole.shape
    assert np.isfinite(whole).all()


def test_an_encoder_names_no_columns_before_it_has_seen_them():
    with pytest.raises(NotFittedError):
        TableEncoder([(0, 1)]).get_feature_names_out()
