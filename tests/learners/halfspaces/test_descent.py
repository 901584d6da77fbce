"""Noisy descent: what one record can move, what copies of it do at the threshold, order and storage, price and steps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.releases import recording
from learners.choices.counts import signs
from learners.estimator import Public
from learners.halfspaces.descent import FEWEST_STEPS, MOST_STEPS, active_sum, descend, descent
from learners.halfspaces.literal import MOST_RECORDS, descend_literally, hinge_scores, literal_descent
from learners.record import PrivacyRecord
from learners.rows.rows import Rows
from learners.rows.unit import unit_rows
from learners.solvers.phased import WEIGHT_BITS
from mechanisms.sampling.random import source_from

BOUND = 2**20
REPLACE = Adjacency("replace_one")
LITERAL_TENTH = (96 * BOUND // 1000 << WEIGHT_BITS, BOUND // 100 << WEIGHT_BITS)
"""Where the published hinge loss of a margin of 1/10 ends and is 1."""

units = arrays.arrays(np.float64, st.tuples(st.integers(2, 6), st.just(3)), elements=st.floats(-1, 1, width=32))


def public(records=50, epsilon="1", delta="1e-6"):
    return Public(records, 3, 2, Fraction(1), Fraction(epsilon), Fraction(delta), REPLACE)


def plan_of(given_public, columns=3, runs=1, margin=0.1):
    high = int(margin * BOUND) << WEIGHT_BITS
    return descent(given_public, columns=columns, bound=BOUND, high=high, low=high // 10, runs=runs, choice_share=Fraction(1, 10))


def literal_of(given_public):
    return literal_descent(given_public, columns=3, bound=BOUND, high=1 << 49, low=1 << 46, failure=Fraction(1, 20))


def source(seed=0):
    return source_from(np.random.default_rng(seed))


@given(units, st.lists(st.booleans(), min_size=7, max_size=7), st.integers(-(2**30), 2**30), st.integers(0, 5))
def test_a_record_that_is_replaced_moves_a_sum_by_two_at_most(features, sides, weight, place):
    """In squared Python integers, at any weights and any threshold."""
    labels = np.array(sides[: len(features)], dtype=np.int64)
    other, turned = features.copy(), labels.copy()
    other[place % len(features)] = -features[0][::-1]
    turned[place % len(features)] = sides[-1]
    weights, high = np.array([weight, 2**29, -(2**28)]), weight << 17
    sums = [
        active_sum(unit_rows(rows, kinds), signs(kinds), weights, high).tolist()
        for rows, kinds in ((features, labels), (other, turned))
    ]
    assert sum((first - second) ** 2 for first, second in zip(*sums, strict=True)) <= (2 * BOUND) ** 2


def test_the_distance_of_two_is_reached():
    rows = [unit_rows(np.array([[3.0, 4.0]]), np.array([label])) for label in (0, 1)]
    sums = [active_sum(each, signs(each.labels), np.zeros(2, dtype=np.int64), 1) for each in rows]
    assert 1.999 * BOUND < np.linalg.norm(sums[1] - sums[0]) <= 2 * BOUND


@pytest.mark.parametrize("more", [0, 1])
def test_copies_of_a_record_on_the_threshold_are_all_active_or_none_is(more):
    """A float product may differ from copy to copy with their number; whole numbers do not."""
    features = np.random.default_rng(3).normal(size=(1, 200))
    alone = unit_rows(features, np.array([1]))
    weights = np.round(features[0] / np.linalg.norm(features) * 2**30).astype(np.int64)
    high = int(alone.margins(weights)[0]) + more
    for count in (*range(1, 40), 99, 500, 999, 1000):
        rows = unit_rows(np.repeat(features, count, axis=0), np.ones(count, dtype=np.int64))
        found = active_sum(rows, signs(rows.labels), weights, high)
        assert (more * count * np.asarray(alone.steps[0], dtype=np.int64)).tolist() == found.tolist()


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(30)), st.booleans())
def test_order_and_storage_of_the_records_change_nothing_under_the_same_noise(order, fortran):
    rng = np.random.default_rng(4)
    features, labels = rng.normal(size=(30, 3)), rng.integers(0, 2, size=30)
    plan, places = plan_of(public(30), runs=2), np.array(order)
    moved = np.asfortranarray(features[places]) if fortran else features[places]
    found = [
        descend(unit_rows(rows, kinds), plan, source()).tolist() for rows, kinds in ((features, labels), (moved, labels[places]))
    ]
    assert found[0] == found[1]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 10**6),
    st.fractions(min_value=Fraction(1, 20), max_value=8, max_denominator=100),
    st.integers(3, 9),
    st.integers(1, 6),
    st.integers(1, 400),
)
def test_a_plan_costs_what_may_be_spent_at_most(records, epsilon, digits, runs, columns):
    delta = Fraction(1, 10**digits)
    plan = plan_of(Public(records, columns, 2, Fraction(1), epsilon, delta, REPLACE), columns, runs)
    record = PrivacyRecord.of(plan.charges, adjacency="replace_one", delta=delta, public={})
    assert record.epsilon <= epsilon
    if runs == 1:
        assert float(epsilon) * 0.999 < float(record.epsilon)
    assert FEWEST_STEPS <= plan.steps <= MOST_STEPS
    assert Fraction(2 * BOUND) == plan.release.sensitivity


@pytest.mark.parametrize("runs", [1, 3])
def test_what_is_released_is_what_was_planned(runs):
    plan = plan_of(public(20), runs=runs)
    rows = unit_rows(np.random.default_rng(5).normal(size=(20, 3)), np.arange(20) % 2)
    with recording() as log:
        descend(rows, plan)
    assert [release for charge in plan.charges for release in charge.releases] == list(log)
    assert plan.steps * runs + (runs > 1) == len(log)


@pytest.mark.parametrize(("records", "columns", "steps"), [(20000, 200, 200), (1000, 200, 71), (300, 200, 20), (1, 1, 20)])
def test_steps_follow_public_numbers(records, columns, steps):
    assert steps == plan_of(public(records), columns).steps


def test_the_literal_plan_has_the_published_numbers_at_twice_the_sensitivity():
    plan = literal_of(public(100))
    assert (6, 9999) == (plan.runs, plan.steps)
    assert 12 * (32 * np.log(6e8) * np.log(6e6)) ** 0.5 == pytest.approx(plan.deviation, rel=1e-9)
    assert Fraction(2 * BOUND) == plan.release.sensitivity
    assert Fraction(1, 2) == plan.choice.epsilon
    assert plan.steps == sum(batch.count for batch in plan.batches)


@pytest.mark.parametrize("records", [1, 2, 30, 120])
def test_the_literal_plan_stays_within_its_budget_with_the_choice_inside(records):
    """The runs cost a small part of the half that is theirs: the published noise is some thirty times what they need."""
    plan = literal_of(public(records))
    record = PrivacyRecord.of(plan.charges, adjacency="replace_one", delta="1e-6", public={})
    assert 0.5 < float(record.epsilon) < 0.6


def test_a_literal_run_releases_what_was_planned_and_stays_in_the_ball():
    plan = literal_of(public(70))
    rows = unit_rows(np.random.default_rng(5).normal(size=(70, 3)), np.arange(70) % 2)
    with recording() as log:
        weights = descend_literally(rows, plan)
    assert [release for charge in plan.charges for release in charge.releases] == list(log)
    assert sum(entry * entry for entry in weights.tolist()) <= 4**WEIGHT_BITS


@pytest.mark.parametrize(
    "wrong", [public(MOST_RECORDS + 1), public(epsilon="1.01"), public(delta="0")], ids=["records", "epsilon", "delta"]
)
def test_the_literal_plan_refuses_what_its_proof_is_not_for(wrong):
    with pytest.raises(InvalidArgument, match="DPA103 faithful=True"):
        literal_of(wrong)


@given(st.integers(-(2**50) * 2, 2**50 * 2), st.integers(-(2**50) * 2, 2**50 * 2))
def test_a_hinge_score_moves_by_its_range_at_most(first, second):
    loss, change = hinge_scores(high=LITERAL_TENTH[0], low=LITERAL_TENTH[1], largest=BOUND << WEIGHT_BITS)
    scores = loss(np.array([first, second], dtype=np.int64)).tolist()
    assert abs(scores[0] - scores[1]) <= change
    assert all(0 <= score <= change for score in scores)
    assert all((score >= 2**10) == (margin <= LITERAL_TENTH[1]) for score, margin in zip(scores, (first, second), strict=True))
    assert 12.74 == pytest.approx(change / 2**10, abs=0.01)


@pytest.mark.parametrize("made", [lambda: (descend, plan_of(public(2))), lambda: (descend_literally, literal_of(public(2)))])
def test_longer_rows_than_the_noise_is_for_are_refused_before_anything_is_released(made):
    run, plan = made()
    rows = Rows(np.zeros((2, 3), dtype=np.int32), 2 * BOUND, Fraction(1), np.zeros(2, dtype=np.int64))
    with recording() as log, pytest.raises(InvalidArgument, match="DPA103 rows may have"):
        run(rows, plan)
    assert [] == list(log)
