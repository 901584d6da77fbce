"""Rounds of boosting: what one record moves, what is released, and that shapes follow from that alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import compose
from dpaudit.claims import Adjacency
from dpaudit.releases import recording
from learners.boosting import rounds
from learners.boosting.boosting import PrivateBoostingClassifier
from learners.boosting.losses import class_loss, square_loss
from learners.boosting.plans import boosting_plan
from learners.boosting.rounds import boost, count_records, one_hot, slope_rows
from learners.estimator import Public
from learners.rows.columns import describe_columns
from learners.solvers.label_scale import LABEL_BINS, bin_targets
from learners.solvers.slopes import UNIT
from mechanisms.sampling.random import source_from

SIZE = 5
COLUMNS = 3
record = st.tuples(st.lists(st.integers(0, SIZE - 1), min_size=COLUMNS, max_size=COLUMNS), st.integers(0, 2))


def plan_of(adjacency="replace_one", classes=3, epsilon=1, *, regression=False):
    public = Public(100, COLUMNS, classes, Fraction(1), Fraction(epsilon), Fraction(1, 10**5), Adjacency.of(adjacency))
    kinds = LABEL_BINS if regression else classes
    return boosting_plan(public, describe_columns((-1, 1), COLUMNS), SIZE - 1, kinds, regression=regression)


def rows_of(records):
    bins, labels = zip(*records, strict=True)
    return one_hot(np.array(bins), [SIZE] * COLUMNS, np.array(labels))


def length(values):
    return sum(int(each) ** 2 for each in np.ravel(values))


@given(st.lists(record, min_size=1, max_size=3), record, record)
def test_one_record_moves_the_counts_by_no_more_than_their_sensitivity(rest, first, second):
    for adjacency, others in (("replace_one", [second, *rest]), ("add_remove", rest)):
        plan = plan_of(adjacency)
        counts = [count_records(rows, rows.labels, plan) for rows in (rows_of([first, *rest]), rows_of(others))]
        assert length(counts[0] - counts[1]) <= plan.counts.sensitivity**2


def test_the_worst_pair_moves_the_counts_by_all_of_it():
    plan = plan_of()
    rows = [rows_of([([bin_] * COLUMNS, bin_)]) for bin_ in (0, 1)]
    moved = np.subtract(*(count_records(each, each.labels, plan) for each in rows))
    assert plan.counts.sensitivity == math.isqrt(length(moved) - 1) + 1


@given(
    st.lists(record, min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=SIZE * COLUMNS, max_size=SIZE * COLUMNS),
    st.floats(1, COLUMNS),
)
def test_no_row_of_slopes_is_longer_than_its_bound(records, usual, room):
    sums, entry = slope_rows(rows_of(records), np.array(usual), room, COLUMNS)
    steps = sums.steps.toarray().astype(object)
    assert all(sum(each**2 for each in row) <= sums.bound**2 for row in steps.tolist())
    assert 4096 == sums.bound
    assert steps[:, :-1].max(initial=0) <= entry
    assert not steps[:, :-1][:, np.array(usual)].any()


@given(record, record, st.lists(st.integers(-(2**18), 2**18), min_size=SIZE * COLUMNS * 3, max_size=SIZE * COLUMNS * 3))
def test_one_record_moves_a_round_by_no_more_than_its_sensitivity(first, second, weights):
    plan, found = plan_of(), []
    loss = class_loss(np.array([10.0, 20, 5]), 1.0)
    for each in (first, second):
        rows = rows_of([each])
        slopes = loss.slopes(rows.margins(np.array(weights).reshape(-1, 3)), rows.labels, 16)
        sums, _ = slope_rows(rows, np.zeros(SIZE * COLUMNS, dtype=bool), COLUMNS, COLUMNS)
        found.append((sums.weighted_sum(slopes), slopes.sum(axis=0)))
    assert length(found[0][0] - found[1][0]) <= plan.gradient.sensitivity**2
    assert length(found[0][1] - found[1][1]) <= plan.level.sensitivity**2


@given(
    st.lists(st.floats(-50, 50), min_size=LABEL_BINS, max_size=LABEL_BINS),
    st.lists(st.tuples(st.integers(-(2**30), 2**30), st.integers(-4096, 4096)), min_size=1, max_size=20),
)
def test_no_slope_of_a_regressor_is_longer_than_the_unit(counts, pairs):
    margins, labels = np.array(pairs, dtype=np.int64).T
    slopes = square_loss(np.array(counts), 1.0).slopes(margins, labels, 16)
    assert np.abs(slopes).max() <= UNIT
    assert ((bin_targets(labels) >= 0) & (bin_targets(labels) < LABEL_BINS)).all()


@pytest.mark.parametrize("adjacency", ["replace_one", "add_remove"])
def test_the_releases_together_cost_at_most_the_budget_and_not_much_less(adjacency):
    plan = plan_of(adjacency)
    spent = compose(*(charge.loss for charge in plan.charges)).epsilon(delta="1e-5").upper
    assert 0.999 <= spent <= 1


def boosted(seed=0, count=60, *, regression=False):
    rng = np.random.default_rng(1)
    plan = plan_of(regression=regression, classes=2 if regression else 3)
    labels = rng.integers(-4096, 4097, count) if regression else rng.integers(0, 3, count)
    rows = one_hot(rng.integers(0, SIZE, (count, COLUMNS)), [SIZE] * COLUMNS, labels)
    kinds = bin_targets(labels) if regression else labels
    loss = square_loss if regression else class_loss
    with recording() as log:
        shapes = boost(
            rows, kinds, plan, [True] * COLUMNS, loss, lambda shapes, _: shapes, source_from(np.random.default_rng(seed))
        )
    return plan, shapes, list(log)


@pytest.mark.parametrize("regression", [False, True])
def test_exactly_what_was_planned_is_released(regression):
    plan, shapes, log = boosted(regression=regression)
    planned = [release for charge in plan.charges for release in charge.releases]
    assert [(each.kind, each.parameters, each.sensitivity, each.dimension) for each in planned] == [
        (each.kind, each.parameters, each.sensitivity, each.dimension) for each in log
    ]
    assert (SIZE * COLUMNS,) == shapes.counts.shape


def test_shapes_depend_on_what_was_released_alone(monkeypatch):
    """If every release is replaced by the same numbers, other records give the same shapes."""
    found = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        fixed = np.random.default_rng(9)
        plan = plan_of(classes=2)

        class Fixed:
            def release(self, value, _source, fixed=fixed):
                return np.rint(fixed.normal(size=value.shape) * 1e5).astype(np.int64)

        monkeypatch.setattr(type(plan), "noise", lambda _self, _release: Fixed())
        labels = rng.integers(0, 2, 30)
        rows = one_hot(rng.integers(0, SIZE, (30, COLUMNS)), [SIZE] * COLUMNS, labels)
        found.append(boost(rows, labels, plan, [True] * COLUMNS, class_loss, lambda shapes, _: shapes, None))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    np.testing.assert_array_equal(found[0].counts, found[1].counts)


def test_order_of_the_records_changes_no_bit():
    rng = np.random.default_rng(3)
    features, labels, order = rng.uniform(-1, 1, (200, 2)), rng.integers(0, 2, 200), rng.permutation(200)
    model = PrivateBoostingClassifier(epsilon=1, delta="1e-5", columns=(-1, 1), classes=[0, 1], random_state=4)
    weights = [model.fit(features[kept], labels[kept]).weights_ for kept in (slice(None), order)]
    np.testing.assert_array_equal(*weights)


def test_a_usual_bin_costs_no_length_and_room_follows_the_counts():
    present = np.array([90.0, 10, 50, 50, 100, 0])
    usual, room = rounds._usual_bins(present, [slice(0, 2), slice(2, 4), slice(4, 6)])
    assert [True, False, True, False, True, False] == usual.tolist()
    assert 1 <= room <= 3
