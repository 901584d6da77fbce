"""The minimiser in whole numbers: no record moves it further than is said, whatever it holds, and some come close."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from learners.rows.rows import Rows
from learners.solvers.minimum import IMAGE_BITS, minimise, minimum
from learners.targets.kernels import AWAY, FOUND, ONE, weights_of

COUNT, WIDTH = 12, 3


def rows(steps, labels):
    return Rows(np.asarray(steps, dtype=np.int32), ONE, Fraction(1, ONE), np.asarray(labels, dtype=np.int64))


images = st.lists(st.integers(-ONE, ONE), min_size=WIDTH, max_size=WIDTH).map(
    lambda entries: [int(entry / max(1, math.hypot(*entries) / ONE * 1.001)) for entry in entries]
)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(images, st.integers(0, 1)), min_size=COUNT, max_size=COUNT),
    st.tuples(images, st.integers(0, 1)),
    st.sampled_from(["1/2", "1/10", "1/100"]),
)
def test_a_record_moves_the_weights_by_no_more_than_the_sensitivity(records, other, ridge):
    found = minimum(records=COUNT, columns=WIDTH, ridge=ridge)
    before, after = (minimise(rows(*zip(*data, strict=True)), found) for data in (records, [other, *records[1:]]))
    assert sum(gap**2 for gap in (before - after).tolist()) <= found.sensitivity**2
    assert max(sum(entry**2 for entry in weights.tolist()) for weights in (before, after)) <= found.largest**2


def test_a_pair_of_data_sets_moves_them_by_four_fifths_of_it():
    apart = (weights_of(AWAY[0]) - weights_of(AWAY[1])).tolist()
    assert 0.8 <= math.sqrt(sum(gap**2 for gap in apart)) / FOUND.sensitivity <= 1


@pytest.mark.parametrize("columns", [1, 10, 3000])
@pytest.mark.parametrize("ridge", ["1", "1/1000"])
def test_solver_and_rounding_add_a_few_hundredths_to_what_the_exact_minimiser_moves(columns, ridge):
    found = minimum(records=1000, columns=columns, ridge=ridge)
    exact = 2 / (1000 * Fraction(ridge)) * 2**found.weight_bits
    assert exact < found.sensitivity < exact * Fraction(102, 100) + 2


def test_the_norm_is_bounded_by_the_loss_at_zero_where_that_is_less_than_slope_over_ridge():
    for ridge, expected in ((Fraction(1, 100), math.sqrt(200 * math.log(2))), (Fraction(4), 0.25)):
        assert expected == pytest.approx(float(minimum(records=10, columns=2, ridge=ridge).longest), rel=1e-4)


def test_an_intercept_inside_the_kernel_does_not_jump():
    """Half and half, and one more: the constant of the kernel moves by the sensitivity at most, an intercept without ridge by 2."""
    found = minimum(records=101, columns=1, ridge="1/10")
    constant = [[ONE]] * 101
    before, after = (minimise(rows(constant, [1] * ones + [0] * (101 - ones)), found)[0] for ones in (51, 50))
    assert 0 < abs(int(before) - int(after)) <= found.sensitivity
    assert 2 > 5 * found.sensitivity / 2**found.weight_bits


def test_the_order_of_records_moves_nothing_but_what_the_solver_may():
    """In whole numbers all but always nothing; the certified radius is what is promised."""
    rng = np.random.default_rng(4)
    steps, labels = rng.integers(-ONE // 2, ONE // 2, size=(200, WIDTH)), rng.integers(0, 2, size=200)
    found, order = minimum(records=200, columns=WIDTH, ridge="1/20"), rng.permutation(200)
    apart = minimise(rows(steps, labels), found) - minimise(rows(steps[order], labels[order]), found)
    assert np.abs(apart).max() <= 1


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"ridge": 0}, "DPA104"), ({"ridge": "1e-30"}, "DPA108"), ({"records": 0}, "DPA103"), ({"loss": "hinge"}, "DPA103")],
)
def test_what_is_public_is_refused(changed, code):
    with pytest.raises(InvalidArgument, match=code):
        minimum(**({"records": 10, "columns": 3, "ridge": "1/10"} | changed))


def test_weights_stand_in_units_that_images_leave_room_for():
    found = minimum(records=10**7, columns=286, ridge="1/1000")
    assert found.largest << IMAGE_BITS < 2**62
