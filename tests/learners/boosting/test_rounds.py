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
from learners.boosting.amounts import Amounts
from learners.boosting.boosting import PrivateBoostingClassifier
from learners.boosting.forms import FORM_STEPS, Form, likely_counts, planned_length, row_lengths, sum_slopes
from learners.boosting.losses import class_loss, square_loss
from learners.boosting.plans import BITS, boosting_plan
from learners.boosting.rounds import boost, count_records, one_hot
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


counted = st.lists(st.floats(-1e6, 1e6), min_size=SIZE * COLUMNS, max_size=SIZE * COLUMNS)


def forms_of(counts, total=100.0, deviation=30.0):
    """Forms of two ranges and of categories, and what is likely by these counts."""
    parts = np.split(np.array(counts), COLUMNS)
    likely = [likely_counts(part, total, deviation, span=place < 2) for place, part in enumerate(parts)]
    return [*(Form.of_range(part, 3) for part in likely[:2]), Form.of_categories(likely[2])], likely


@given(record, counted, st.floats(1, 1e7), st.floats(1e-3, 1e6))
def test_no_row_of_slopes_is_longer_than_its_bound(first, counts, total, deviation):
    forms, likely = forms_of(counts, total, deviation)
    rows = rows_of([first])
    moved = sum_slopes(rows, forms, row_lengths(rows, forms, planned_length(forms, likely)), np.array([UNIT]))
    assert length(moved) <= (UNIT << BITS) ** 2


@given(record, record, counted, st.lists(st.integers(-(2**18), 2**18), min_size=SIZE * COLUMNS * 3, max_size=SIZE * COLUMNS * 3))
def test_one_record_moves_a_round_by_no_more_than_its_sensitivity(first, second, counts, weights):
    plan, found = plan_of(), []
    loss = class_loss(np.array([10.0, 20, 5]), 1.0)
    forms, likely = forms_of(counts)
    for each in (first, second):
        rows = rows_of([each])
        slopes = loss.slopes(rows.margins(np.array(weights).reshape(-1, 3)), rows.labels, 16)
        lengths = row_lengths(rows, forms, planned_length(forms, likely))
        found.append((sum_slopes(rows, forms, lengths, slopes), slopes.sum(axis=0)))
    assert length(found[0][0] - found[1][0]) <= plan.gradient.sensitivity**2
    assert length(found[0][1] - found[1][1]) <= plan.level.sensitivity**2


def test_long_rows_are_as_long_as_noise_covers():
    forms, _ = forms_of([20.0] * SIZE * COLUMNS)
    rows = rows_of([([0, SIZE - 2, 0], 0)])
    moved = sum_slopes(rows, forms, row_lengths(rows, forms, 2**20), np.array([UNIT]))
    assert length(moved) > 0.99 * (UNIT << BITS) ** 2


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
        shapes = boost(rows, kinds, plan, [True] * COLUMNS, loss, None, source_from(np.random.default_rng(seed)))
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
        found.append(boost(rows, labels, plan, [True] * COLUMNS, class_loss, None, None))
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
    np.testing.assert_array_equal(found[0].counts, found[1].counts)


def test_order_of_the_records_changes_no_bit():
    rng = np.random.default_rng(3)
    features, labels, order = rng.uniform(-1, 1, (200, 2)), rng.integers(0, 2, 200), rng.permutation(200)
    model = PrivateBoostingClassifier(epsilon=1, delta="1e-5", columns=(-1, 1), classes=[0, 1], random_state=4)
    weights = [model.fit(features[kept], labels[kept]).weights_ for kept in (slice(None), order)]
    np.testing.assert_array_equal(*weights)


def test_a_usual_category_costs_nothing_and_a_range_of_one_part_little():
    usual, even = (Form.of_categories(np.array(counts)) for counts in ([90.0, 10, 1], [10.0, 10, 10, 10]))
    assert [0, 256, 256] == usual.table.tolist()
    assert [256] * 4 == even.table.tolist()
    heaped = Form.of_range(np.array([1.0, 97, 1, 1, 0.1]), 3)
    assert heaped.squares[1] < 0.01 * heaped.squares[0]


def test_counts_are_believed_as_far_as_their_noise_allows():
    counts = np.array([70.0, 20, 5, 5, 0])
    for span in (True, False):
        np.testing.assert_allclose(likely_counts(counts, 100.0, 1e-3, span=span), np.maximum(counts, 100 * 0.02 * 0.02), atol=0.6)
        hidden = likely_counts(counts, 100.0, 1e6, span=span)
        np.testing.assert_allclose(hidden[:-1], hidden[0], rtol=1e-3)
        assert hidden[-1] < 0.1 * hidden[0]


def test_pulls_change_with_amounts_as_the_bends_say():
    counts = np.array([10.0, 40, 30, 20, 2])
    for form in (Form.of_range(counts, 3), Form.of_categories(counts[:4])):
        held = np.eye(len(form.bends))
        own = counts[: len(form.table)]
        pulls = form.pulls(form.sums(own[:, np.newaxis] * form.shape(held)) / FORM_STEPS)
        np.testing.assert_allclose(pulls, np.diag(form.bends), atol=1e-9)
        np.testing.assert_allclose(form.shape(form.amounts(form.shape(held))), form.shape(held), atol=1e-9)


def test_columns_that_pull_by_noise_alone_lose_their_strength():
    rng = np.random.default_rng(1)
    bends, best = np.full((8, 1), 50.0), np.array([[2.0, -1, 1, 1, 0, 0, 0, 0]]).T
    amounts = Amounts.none(bends, [4, 4], 20.0, 16)
    for done in range(16):
        amounts = amounts.after(bends * (best - amounts.held) + 20 * rng.normal(size=(8, 1)), min(0.4, 2 / (done + 1)))
    assert np.abs(amounts.held - best).max() < 0.35
    assert amounts.strengths[0, 0] > 2 * amounts.strengths[1, 0]
