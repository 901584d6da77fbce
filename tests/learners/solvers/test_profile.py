"""The profile of rows: what one record moves, that standard rows keep their bound, and that weights are given back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import Adjacency
from learners.estimator import Public
from learners.rows.ingest import to_rows
from learners.solvers.gradient import WEIGHT_BITS, solve
from learners.solvers.plans import default_plan, profile_sensitivity
from learners.solvers.profile import Standard, sum_profile
from mechanisms.sampling.random import source_from

SHORT = 4
UNIT = 2**SHORT
entry = st.floats(-1, 1)
record = st.tuples(st.lists(entry, min_size=2, max_size=2), st.integers(0, 1), st.integers(0, 4096))


def rows_of(records, bits=SHORT, constant=8, *, weighted=False):
    """Rows of records, which are features, label and weight."""
    features = np.array([features for features, _, _ in records]).reshape(-1, 2)
    labels = np.array([label for _, label, _ in records], dtype=np.int64)
    rows = to_rows(features, labels, feature_norm=1, lattice_bits=bits, intercept=constant)
    return replace(rows, weights=np.array([weight for _, _, weight in records], dtype=np.int64)) if weighted else rows


def length(values):
    """Squared length, exactly."""
    return sum(int(each) ** 2 for each in np.ravel(values))


def plan_of(records=5000, features=3, epsilon=10, **options):
    """The plan of two classes."""
    public = Public(records, features, 2, Fraction(1), Fraction(epsilon), Fraction(1, 10**5), Adjacency.of("replace_one"))
    return default_plan(public, **options)


@given(st.lists(record, max_size=2), record, record, st.booleans())
def test_one_record_moves_the_profile_by_no_more_than_its_sensitivity(rest, first, second, weighted):
    for others, moves in ([[second, *rest], 2], [rest, 1]):
        sums = [sum_profile(rows_of(each, weighted=weighted), SHORT, weighted=weighted) for each in ([first, *rest], others)]
        assert length(sums[0] - sums[1]) <= profile_sensitivity(SHORT, moves, weighted=weighted) ** 2


@pytest.mark.parametrize("weighted", [False, True])
def test_records_of_other_columns_and_labels_move_it_by_all_of_that(weighted):
    ends = [([1.0, 0.0], 1, 4096)], [([0.0, 1.0], 0, 0)]
    sums = [sum_profile(rows_of(each, weighted=weighted), SHORT, weighted=weighted) for each in ends]
    assert length(sums[0] - sums[1]) >= 0.99 * profile_sensitivity(SHORT, 2, weighted=weighted) ** 2


@given(st.lists(record, min_size=1, max_size=3), st.lists(st.integers(-(2**40), 2**40), min_size=7, max_size=7))
def test_no_standard_row_is_longer_than_its_bound_whatever_was_released(records, noisy):
    plan = plan_of(records=10, features=2, epsilon=1000)
    rows = rows_of(records, plan.lattice_bits, plan.intercept)
    made = Standard.unread(2).refine(np.array(noisy), plan).refine(np.array(noisy[::-1]), plan).apply(rows, plan)
    assert made.bound == rows.bound
    assert max(map(length, made.steps)) <= made.bound**2
    assert made.labels is rows.labels


def test_a_standard_row_depends_on_its_record_alone():
    plan, random = plan_of(records=50, features=2), np.random.default_rng(0)
    records = [(row.tolist(), 0, 0) for row in random.normal(size=(50, 2)) / 3]
    standard = Standard(np.array([100.0, -50.0]), np.array([2.0, 0.5]), np.ones(2))
    whole = standard.apply(rows_of(records, plan.lattice_bits, plan.intercept), plan).steps
    for place in (0, 17, 49):
        alone = standard.apply(rows_of([records[place]], plan.lattice_bits, plan.intercept), plan).steps
        assert alone[0].tolist() == whole[place].tolist()


def test_weights_of_standard_rows_are_given_back_for_rows_as_they_came():
    plan, random = plan_of(features=2), np.random.default_rng(1)
    rows = rows_of([(row.tolist(), 0, 0) for row in random.normal(size=(40, 2)) / 8], plan.lattice_bits, plan.intercept)
    standard, weights = Standard(np.array([100.0, -50.0]), np.array([1.5, 0.5]), np.ones(2)), np.array([0.7, -2.0, 3.0])
    scores = standard.apply(rows, plan).steps @ weights
    assert np.allclose(scores, rows.steps @ standard.undo(weights, plan), atol=8)


def test_where_noise_hides_the_columns_rows_stay_as_they_are():
    plan = plan_of(records=4, features=2, epsilon=1)
    standard = Standard.unread(2).refine(np.zeros(7, dtype=np.int64), plan)
    assert ([0, 0], [1, 1], 0.5) == (standard.centre.tolist(), standard.factors.tolist(), standard.share)


def test_columns_far_from_the_middle_of_their_range_cost_no_accuracy():
    random = np.random.default_rng(2)
    features = np.column_stack([random.normal(size=(5000, 2)) / 40, np.full(5000, 0.9)])
    labels = (features[:, 0] > 0).astype(np.int64)
    plan = plan_of(epsilon=2)
    rows = to_rows(features, labels, feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)
    found = [solve(rows, plan, source_from(np.random.default_rng(seed))) for seed in range(3)]
    assert 0.9 < min(np.mean((rows.margins(weights) > 0) == labels) for weights in found)
    assert np.median([abs(weights).max() for weights in found]) < 2 ** (WEIGHT_BITS + 8)
    assert np.median([abs(weights[2] / weights[0]) for weights in found]) < 0.5  # the one that has one value


def test_rare_categories_are_scaled_less_than_their_deviation():
    plan, random = plan_of(records=20_000, features=3, epsilon=100), np.random.default_rng(4)
    features = np.column_stack([random.normal(size=20_000) / 5, random.random((20_000, 2)) < [0.5, 0.01]]) * [1, 0.5, 0.5]
    rows = to_rows(features, np.zeros(20_000, dtype=np.int64), feature_norm=1, lattice_bits=12, intercept=plan.intercept)
    scales = Standard.unread(3).refine(sum_profile(rows, 12), plan).factors * features.std(axis=0)
    assert np.allclose(scales[:2] / scales[0], 1, atol=0.05)  # as both vary alike
    assert 0.1 < scales[2] / scales[0] < 0.35


def test_a_second_profile_sees_columns_that_the_first_one_hid():
    plan, random = plan_of(records=20_000, features=3, epsilon=3), np.random.default_rng(5)
    wide = random.normal(size=(20_000, 2)) / 500 + [0.3, -0.4]
    features = np.column_stack([wide, random.choice([-0.5, 0.5], size=20_000)])
    rows = to_rows(features, np.zeros(20_000, dtype=np.int64), feature_norm=1, lattice_bits=12, intercept=plan.intercept)
    deviations, standard, made = np.array([1 / 500, 1 / 500, 0.5]), Standard.unread(3), rows
    parts = []
    for _ in range(2):
        standard = standard.refine(sum_profile(made, 12), plan)
        made = standard.apply(rows, plan)
        parts.append(standard.factors * deviations)
    assert 0.2 > max(parts[0][:2] / parts[0][2])
    assert 0.5 < min(parts[1][:2] / parts[1][2])


def test_where_all_columns_are_small_beside_noise_rows_are_centred_and_scaled_alike():
    plan, random = plan_of(records=20_000, features=3, epsilon=Fraction(1, 2)), np.random.default_rng(6)
    features = random.normal(size=(20_000, 3)) / 200 + [0.3, -0.4, 0.5]
    rows = to_rows(features, np.zeros(20_000, dtype=np.int64), feature_norm=1, lattice_bits=12, intercept=plan.intercept)
    standard = Standard.unread(3).refine(sum_profile(rows, 12), plan)
    assert not standard.known
    assert 1 == len(set(standard.factors))
    assert 2 < standard.factors[0] < 200 / np.sqrt(3)  # longer, but not so long that most are clipped
    assert np.allclose(features.mean(axis=0) * 2**12, standard.centre, rtol=0.05)


def test_shares_of_all_profiles_count_alike():
    plan = plan_of(records=1000, features=1, epsilon=100)
    standard = Standard.unread(1)
    for share in (0.2, 0.3):
        standard = standard.refine(np.array([0, 0, 0, int(share * (2000 << 2 * plan.lattice_bits))]), plan)
    assert 0.25 == pytest.approx(standard.share)
    assert 2 == standard.profiles == plan.profiles
