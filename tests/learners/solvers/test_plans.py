"""The default rule: its releases meet the budget, are worth what they are charged, and follow from public quantities alone."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import calibrate, gaussian
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from learners.estimator import Public
from learners.rows.ingest import to_rows
from learners.solvers.plans import DIAGONAL, MOST_COLUMNS, OFF_DIAGONAL, default_plan, moment_sensitivity, noise_multiplier
from learners.solvers.slopes import UNIT

MOVES = {"replace_one": 2, "add_remove": 1, "zero_out": 1}


def public(*, records=1000, features=20, classes=2, epsilon="1", delta="1e-5", adjacency="replace_one"):
    return Public(records, features, classes, Fraction(1), Fraction(epsilon), Fraction(delta), Adjacency.of(adjacency))


@settings(max_examples=30, deadline=None)
@given(
    records=st.integers(1, 10**7),
    features=st.sampled_from([1, 30, MOST_COLUMNS - 1, MOST_COLUMNS, 10**6]),
    classes=st.sampled_from([2, 3, 20]),
    epsilon=st.sampled_from(["0.001", "0.1", "1", "10"]),
    adjacency=st.sampled_from(sorted(MOVES)),
)
def test_the_releases_together_cost_at_most_the_budget_and_not_much_less(records, features, classes, epsilon, adjacency):
    plan = default_plan(public(records=records, features=features, classes=classes, epsilon=epsilon, adjacency=adjacency))
    releases = plan.charges[0].releases
    spent = sum((release.sensitivity / release.parameter("sigma")) ** 2 for release in releases)
    exact = Fraction(math.isqrt(math.floor(spent * 10**24)) + 1, 10**12)
    delta = gaussian(sensitivity=exact, sigma=1, adjacency=adjacency).delta(epsilon=epsilon).upper
    assert delta <= Fraction("1e-5")
    assert delta >= Fraction("0.999e-5")


@given(st.integers(1, 2**20), st.sampled_from([1, 2]))
def test_the_sensitivity_of_the_triangle_is_the_least_whole_number_that_is_enough(bound, moves):
    sensitivity = moment_sensitivity(bound, moves)
    assert sensitivity**2 >= moves * DIAGONAL**2 * bound**4 > (sensitivity - 1) ** 2


def test_no_pair_of_rows_moves_the_triangle_by_more_than_its_sensitivity():
    bound = 5
    rows = [np.array(row) for row in itertools.product(range(-bound, bound + 1), repeat=2) if row[0] ** 2 + row[1] ** 2 <= bound**2]
    upper = np.triu_indices(2)
    times = np.where(upper[0] == upper[1], DIAGONAL, OFF_DIAGONAL)
    released = np.array([np.outer(row, row)[upper] * times for row in rows])
    moved = np.square(released[:, np.newaxis] - released).sum(axis=2).max()
    assert moved <= moment_sensitivity(bound, 2) ** 2
    assert moved > 0.9 * moment_sensitivity(bound, 2) ** 2
    assert np.square(released).sum(axis=1).max() <= moment_sensitivity(bound, 1) ** 2
    assert OFF_DIAGONAL**2 <= 2 * DIAGONAL**2


@pytest.mark.parametrize("adjacency", sorted(MOVES))
@pytest.mark.parametrize("features", [3, 5000])
def test_the_sensitivity_of_a_gradient_is_its_largest_slope_times_the_longest_row(adjacency, features):
    plan = default_plan(public(features=features, adjacency=adjacency))
    assert MOVES[adjacency] * UNIT * plan.bound == plan.gradient.sensitivity
    rows = to_rows(np.eye(1, features), np.array([0]), feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)
    assert rows.bound == plan.bound
    assert rows.steps.shape[1] == plan.gradient.dimension


def test_few_columns_take_a_second_moment_and_many_do_not():
    few, many = default_plan(public(features=MOST_COLUMNS - 1)), default_plan(public(features=MOST_COLUMNS))
    assert MOST_COLUMNS * (MOST_COLUMNS + 1) // 2 == few.moment.dimension
    assert many.moment is None
    assert default_plan(public(classes=3)).moment is None


def test_travel_grows_with_the_records_until_the_largest_pace():
    travels = [default_plan(public(features=10**5, records=records)).travel for records in (10, 10**3, 10**8, 10**9)]
    assert sorted(travels) == travels
    assert Fraction(40 * 64) == travels[2] == travels[3]


def test_there_is_no_intercept_where_the_null_record_is_all_zeros():
    assert 0 == default_plan(public(adjacency="zero_out")).intercept
    assert 512 == default_plan(public()).intercept


@pytest.mark.parametrize(
    ("given_values", "code"),
    [
        ({"delta": "0"}, "DPA103"),
        ({"records": 2**60}, "DPA108"),
        ({"features": 10**6, "epsilon": "1e-8", "delta": "1e-12"}, "DPA108"),
    ],
)
def test_what_no_plan_can_be_made_for_is_refused(given_values, code):
    with pytest.raises(InvalidArgument) as caught:
        default_plan(public(**given_values))
    assert code == caught.value.code


@pytest.mark.parametrize("epsilon", ["1/1000", "1", "30", "710", "800"])  # floats hold no exponential of the last two
def test_the_least_noise_is_found_from_floats_and_without(epsilon):
    found = noise_multiplier(Fraction(epsilon), Fraction(1, 10**5))
    search = calibrate(lambda sigma: gaussian(sigma=sigma), epsilon=epsilon, delta="1e-5", low="1e-9", high="1e9")
    assert math.isclose(search.parameter, found, rel_tol=1e-6)
    assert gaussian(sigma=found).delta(epsilon=epsilon).upper <= Fraction(1, 10**5)
