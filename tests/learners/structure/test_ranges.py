"""PrivateRanges: what one record moves, ranges that are found, and pipelines that pay for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import GDP
from dpaudit.errors import BudgetExceeded, DpauditError
from dpaudit.releases import recording
from learners import Budget, PrivateBoostingClassifier, PrivateClassifier, PrivateRanges, make_private_pipeline
from learners.boosting.plans import COUNT_STEPS
from learners.structure.ranges import bin_edges

WIDE = {"age": (0, 10**6), "kind": ["a", "b"], "gain": (-1000, 10**7)}


def table(count=6000):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": random.normal(40, 8, count), "kind": random.choice(["a", "b"], count), "gain": random.exponential(300, count)}
    )
    frame.loc[::50, "age"] = np.nan
    return frame, ((frame["age"] > 40) ^ (random.random(count) < 0.1)).astype(int).to_numpy()


def made(**given):
    return PrivateRanges(**{"epsilon": "1/2", "delta": "1e-6", "columns": WIDE, "random_state": 1, **given})


cell = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.just(0.0))


@given(st.lists(cell, min_size=3, max_size=3), st.lists(cell, min_size=3, max_size=3))
def test_one_record_moves_the_counts_by_no_more_than_their_sensitivity(first, second):
    model = made(columns=(-3, 1000))
    features = np.array([first, second])
    plan = model._plan(model._public(features, 2))
    steps = model._rows(features, np.zeros(2, dtype=np.int64), plan).steps.toarray().astype(np.int64) * COUNT_STEPS
    assert np.square(steps[0] - steps[1]).sum() <= plan.counts.sensitivity**2
    assert (steps.sum(axis=1) == 3 * COUNT_STEPS).all()


@pytest.mark.parametrize("relation", [{}, {"adjacency": "add_remove", "n_nominal": 6000}])
def test_exactly_what_was_planned_is_released(relation):
    with recording() as log:
        model = made(**relation).fit(table()[0])
    assert [release.sensitivity for release in log] == [model.plan_.counts.sensitivity]
    assert 0.49 < model.privacy_.recompute().upper <= 0.5


def test_ranges_hold_the_records_and_little_else():
    frame, _ = table()
    found = made().fit(frame).columns_
    assert ["a", "b"] == found["kind"]
    for name, quantile in (("age", 65), ("gain", 2000)):
        low, high = found[name]
        inside = frame[name].dropna().between(low, high).mean()
        assert inside > 0.97
        assert high < 3 * quantile


def test_a_wide_public_range_costs_little_once_it_is_narrowed():
    frame, labels = table()
    usual = {"epsilon": 1, "delta": "1e-6", "classes": [0, 1], "random_state": 1}
    wide = PrivateBoostingClassifier(**usual, columns=WIDE).fit(frame, labels)
    narrow = PrivateBoostingClassifier(**usual, columns=made().fit(frame).columns_).fit(frame, labels)
    assert wide.score(frame, labels) < 0.6
    assert narrow.score(frame, labels) > 0.8


def test_a_pipeline_states_the_price_of_both():
    frame, labels = table()
    learner = PrivateClassifier(epsilon=1, delta="1e-6", feature_norm=1, classes=[0, 1], random_state=1)
    pipeline = make_private_pipeline(made(), learner).fit(frame, labels)
    assert pipeline.score(frame, labels) > 0.8
    record = pipeline.privacy_
    assert learner.privacy_.epsilon < record.epsilon <= 1.5
    assert record.delta == 2 * learner.privacy_.delta
    assert ["PrivateRanges"] == record.public["preprocessing"]


def test_one_budget_pays_for_ranges_and_refuses_a_second_time():
    budget = Budget(GDP(mu="3/20"))
    made(budget=budget).fit(table()[0])
    with pytest.raises(BudgetExceeded):
        made(budget=budget).fit(table()[0])


def test_without_records_to_see_the_public_range_stays():
    assert [(0.0, 10.0)] == made(columns=(0, 10), epsilon="1/100").fit(np.array([[3.0]])).columns_


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**9))
def test_bins_cover_the_public_range(low, length):
    edges = bin_edges((low, low + length))
    assert (edges[0], edges[-1]) == (low, low + length)
    assert (np.diff(edges) > 0).all()


@pytest.mark.parametrize("given", [{"columns": [["a"], ["b"], ["c"]]}, {"outside": "1/2"}, {"columns": {"age": (0, 1)}}])
def test_parameters_are_refused_before_anything_is_drawn(given):
    with recording() as log, pytest.raises(DpauditError):
        made(**given).fit(table(40)[0])
    assert [] == log
