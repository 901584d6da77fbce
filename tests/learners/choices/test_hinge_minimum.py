"""The least smoothed hinge loss is found within its tolerance on every dataset, and one record moves it by no more than is said."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from learners.choices.counts import signs
from learners.choices.hinge_minimum import Scale, _bounds, _on_lattice, least_hinge
from learners.rows.rows import Rows

ONE = 4096
TAU = 1 / 16
plane = st.lists(
    st.tuples(st.integers(-2896, 2896), st.integers(-2896, 2896), st.integers(0, 1)) | st.just((ONE, 0, 1)), min_size=1, max_size=9
)


def rows_of(records):
    steps = np.array([(a, b) for a, b, _ in records], dtype=np.int32)
    return Rows(steps, ONE, Fraction(1, ONE), np.array([label for *_, label in records]))


def objective(rows, exponent, weights):
    """What is minimised, by its definition, for many weights in columns."""
    short = np.maximum(2.0**-exponent - (rows.steps / ONE * signs(rows.labels)[:, np.newaxis]) @ weights, 0)
    width = 2 * TAU / 2**exponent
    inside = np.minimum(short, width)
    return 2.0**exponent * (inside**2 / (2 * width) + short - inside).mean(axis=0) + TAU * np.square(weights).sum(axis=0)


def disc(points=70):
    """Weights on a fine polar grid of the unit disc."""
    radius, angle = np.meshgrid(np.linspace(0, 1, points), np.linspace(0, 2 * np.pi, 4 * points))
    return np.array([(radius * np.cos(angle)).ravel(), (radius * np.sin(angle)).ravel()])


@settings(max_examples=60)
@given(records=plane, exponent=st.integers(0, 4))
def test_the_value_lies_within_its_tolerance_above_the_minimum(records, exponent):
    rows, scale = rows_of(records), Scale(len(records), exponent)
    value, grid = float(least_hinge(rows, scale)), objective(rows, exponent, disc())
    assert value <= grid.min() + float(scale.tolerance) + 1e-9
    # Within the disc the nearest point of the grid is less than 1 / 60 away, where the objective is steeper than that nowhere.
    assert grid.min() - value <= (2**exponent + 2 * TAU) / 60


@settings(max_examples=60)
@given(records=plane, exponent=st.integers(0, 6), seed=st.integers(0, 1000))
def test_both_ends_of_the_bracket_are_what_they_say(records, exponent, seed):
    rows, rng = rows_of(records), np.random.default_rng(seed)
    weights = rng.standard_normal(2)
    weights *= rng.choice([1.0, rng.random()]) * 0.999999 / np.linalg.norm(weights)
    value, below = _bounds(rows, signs(rows.labels), Scale(len(records), exponent), _on_lattice(weights))
    assert float(value) == pytest.approx(objective(rows, exponent, weights[:, np.newaxis])[0], abs=1e-9)
    assert below <= value
    assert float(below) <= objective(rows, exponent, disc(40)).min() + 1e-9


@settings(max_examples=60)
@given(
    records=plane,
    other=st.tuples(st.integers(-2896, 2896), st.integers(-2896, 2896), st.integers(0, 1)),
    exponent=st.integers(0, 5),
)
def test_one_record_moves_the_value_by_at_most_the_sensitivity(records, other, exponent):
    scale = Scale(len(records), exponent)
    values = [least_hinge(rows_of(each), scale) for each in (records, [*records[:-1], other])]
    assert abs(values[0] - values[1]) <= scale.sensitivity


@pytest.mark.parametrize("exponent", [0, 2, 3])
def test_the_worst_pair_comes_close_to_the_sensitivity(exponent):
    """All records but one lie at the margin in one direction; the last one lies as far out as it may and changes its side."""
    count = 40
    values = [
        least_hinge(rows_of([(ONE >> exponent, 0, 1)] * (count - 1) + [(ONE, 0, label)]), Scale(count, exponent))
        for label in (0, 1)
    ]
    share = (values[0] - values[1]) / Scale(count, exponent).sensitivity
    assert 0.8 < share <= 1


def test_the_least_loss_does_not_fall_when_the_margin_grows():
    rng = np.random.default_rng(5)
    records = [(*rng.integers(-2800, 2800, 2).tolist(), int(rng.integers(0, 2))) for _ in range(30)]
    values = [least_hinge(rows_of(records), Scale(30, exponent)) for exponent in range(6)]
    assert all(larger >= smaller - Scale(30, 5).tolerance for larger, smaller in pairwise(values))


def test_sparse_rows_finer_lattices_and_later_records_change_nothing():
    rng = np.random.default_rng(6)
    records = [(*rng.integers(-2800, 2800, 2).tolist(), int(rng.integers(0, 2))) for _ in range(12)]
    rows, scale = rows_of(records), Scale(9, 2)
    wanted = least_hinge(rows_of(records[:9]), scale)
    assert wanted == least_hinge(rows, scale)
    fine = Rows(sparse.csr_array(rows.steps * 2**8), 2**20, Fraction(1, 2**20), rows.labels)
    assert wanted == least_hinge(fine, scale)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_records_without_direction_have_the_loss_of_no_weights(count):
    value = least_hinge(rows_of([(0, 0, 1)] * count), Scale(count, 3))
    assert 1 - TAU <= value <= 1 - TAU + Scale(count, 3).tolerance
