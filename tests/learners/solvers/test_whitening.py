"""Rows that vary alike: their bounds, that each depends on its record alone, and that weights are given back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import Adjacency
from learners.estimator import Public
from learners.rows.ingest import to_rows
from learners.solvers.newton import Axes
from learners.solvers.plans import default_plan
from learners.solvers.profile import Standard
from learners.solvers.whitening import REACH_BITS, whiten


def plan_of(records=1000, features=3):
    """The plan of two classes."""
    public = Public(records, features, 2, Fraction(1), Fraction(10), Fraction(1, 10**5), Adjacency.of("replace_one"))
    return default_plan(public)


def rows_of(features, plan):
    """Rows on the lattice of the plan."""
    labels = np.zeros(len(features), dtype=np.int64)
    return to_rows(np.asarray(features), labels, feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)


def standard_of(width=3, factor=1.0):
    """A profile that says nothing but how long rows are."""
    return replace(Standard.unread(width), factors=np.full(width, factor), known=True)


def axes_of(moment, floor=1e-6):
    """The axes of a second moment."""
    values, vectors = np.linalg.eigh(moment)
    return Axes(np.maximum(values, floor), vectors, 1.0)


def moment_of(rows, plan):
    """The second moment in units of the largest norm."""
    units = rows.steps / 2.0**plan.lattice_bits
    return units.T @ units


def correlated(count=1000, seed=0):
    """Records of which two columns vary together, away from zero."""
    random = np.random.default_rng(seed)
    return random.normal(size=(count, 3)) @ [[0.1, 0.09, 0], [0, 0.02, 0], [0, 0, 0.05]] + [0.2, 0.1, -0.1]


@given(st.integers(0, 2**32 - 1), st.integers(-6, 6), st.integers(-9, 3))
def test_no_row_is_longer_than_its_bound_whatever_was_released(seed, size, floor):
    random, plan = np.random.default_rng(seed), plan_of(records=4)
    noisy = random.normal(size=(4, 4)) * 10.0**size
    rows = rows_of(random.normal(size=(4, 3)), plan)
    made = whiten(standard_of(factor=2.0), rows, axes_of(noisy + noisy.T, 10.0**floor), plan)
    assert (rows.bound, made.far.step) == (made.short.bound, made.short.step)
    for each in (made.short, made.far):
        assert max(sum(int(step) ** 2 for step in row) for row in each.steps) <= each.bound**2
    assert made.far.bound < 2**REACH_BITS * rows.bound
    assert np.isfinite(made.back).all()


def test_a_row_depends_on_its_record_alone():
    plan = plan_of()
    features = correlated()
    rows = rows_of(features, plan)
    axes = axes_of(moment_of(rows, plan))
    whole = whiten(standard_of(), rows, axes, plan)
    for place in (0, 17, 999):
        alone = whiten(standard_of(), rows_of(features[[place]], plan), axes, plan)
        assert whole.short.steps[place].tolist() == alone.short.steps[0].tolist()
        assert whole.far.steps[place].tolist() == alone.far.steps[0].tolist()


def test_rows_vary_alike_in_every_direction_and_are_usually_as_long_as_the_bound():
    plan = plan_of()
    rows = rows_of(correlated(), plan)
    before = np.linalg.eigvalsh(np.cov(rows.steps[:, :-1].T))
    made = whiten(standard_of(), rows, axes_of(moment_of(rows, plan)), plan)
    units = made.far.steps[:, :-1] / 2.0**plan.lattice_bits
    even = before / (before + 0.2 * before.mean())
    assert np.allclose(even / even.sum(), np.linalg.eigvalsh(np.cov(units.T)), atol=0.01)
    assert even[-1] / even[0] < np.sqrt(before[-1] / before[0])
    assert 0.01 > np.abs(units.mean(axis=0)).max()
    assert 0.9 < np.sqrt(np.square(units).sum(axis=1).mean()) < 1.1


def test_weights_are_given_back_for_rows_as_they_came():
    plan = plan_of()
    rows = rows_of(correlated(), plan)
    made, weights = whiten(standard_of(), rows, axes_of(moment_of(rows, plan)), plan), np.array([0.7, -2.0, 1.5, 3.0])
    assert np.allclose(made.far.steps @ weights, rows.steps @ (made.back @ weights), atol=16)


def test_weights_of_records_and_labels_stay_with_their_records():
    plan = plan_of()
    rows = replace(rows_of(correlated(), plan), weights=np.arange(1000), labels=np.arange(1000) % 2)
    made = whiten(standard_of(), rows, axes_of(moment_of(rows, plan)), plan)
    for each in (made.short, made.far):
        assert each.weights is rows.weights
        assert each.labels is rows.labels
