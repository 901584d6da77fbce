"""The smoothed hinge step is a contraction that never moves further than its limit; scores have the sensitivity they state."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from learners.choices.counts import ramps
from learners.solvers.hinge import HingeStep, hinges
from learners.solvers.phased import mean_of_iterates
from learners.targets.phased import kink

numbers = st.floats(-1, 1, allow_subnormal=False)
planes = st.lists(numbers, min_size=3, max_size=3).map(lambda values: np.array(values) / 2)


@given(planes, planes, planes, st.floats(0.01, 1), st.floats(0.01, 2))
def test_no_step_brings_two_points_further_apart(first, second, record, margin, pull):
    step = HingeStep(margin, pull, 0.3)
    moved = [point + step.length(float(point @ record)) * record for point in (first, second)]
    assert np.linalg.norm(moved[0] - moved[1]) <= np.linalg.norm(first - second) + 1e-14


def test_a_step_whose_size_times_the_curvature_exceeds_two_moves_points_apart():
    points = [np.array([0.1]), np.array([0.1 + 2.0**-20])]
    moved = [point + HingeStep(0.5, 2.5, 9.0).length(float(point[0])) for point in points]
    assert math.isclose(1.5 * 2.0**-20, abs(moved[0] - moved[1])[0], rel_tol=1e-6)


def test_a_product_of_exactly_two_is_accepted_and_anything_above_is_refused():
    HingeStep(0.5, 2.0, 0.25).require_contraction(Fraction(1))
    HingeStep(0.5, 8.0, 0.25).require_contraction(Fraction(1, 2))
    with pytest.raises(InvalidArgument, match="DPA103"):
        HingeStep(0.5, 2.0 + 2.0**-40, 0.25).require_contraction(Fraction(1))


@given(st.floats(0.01, 1), st.floats(0.01, 8), st.floats(0.001, 1), st.floats(-3, 3))
def test_a_length_is_between_zero_and_the_limit(margin, pull, limit, at):
    length = HingeStep(margin, pull, limit).length(at)
    assert 0 <= length <= limit
    assert (length == 0) == (at >= margin or pull * (margin - at) == 0)


def test_the_step_is_the_derivative_of_a_loss_between_the_hinge_loss_and_its_bias_below():
    margin, pull, limit = 0.25, 2.0, 0.125
    grid = np.linspace(-1, 1, 4001)
    slopes = np.array([HingeStep(margin, pull, limit).length(at) for at in grid]) / (limit * margin)
    smooth = np.concatenate([np.cumsum(((slopes[1:] + slopes[:-1]) / 2)[::-1])[::-1] * (grid[1] - grid[0]), [0.0]])
    hinge = np.maximum(0, 1 - grid / margin)
    assert np.all(smooth <= hinge + 1e-6)
    assert np.all(hinge <= smooth + limit / (2 * pull * margin) + 1e-6)


@pytest.mark.parametrize(("records", "margin", "apart"), [(26, 0.05, 1.63), (61, 0.02, 2.30), (121, 0.01, 3.13)])
def test_without_a_smooth_corner_one_record_moves_a_mean_by_more_than_two_steps(records, margin, apart):
    first, second, start, corner = kink(records, margin, 2**26)
    sharp, smooth = (HingeStep(corner, pull, 5e-6) for pull in (1e9, 2.0))
    moved = [mean_of_iterates(first, start, step) - mean_of_iterates(second, start, step) for step in (sharp, smooth)]
    parts = np.linalg.norm(moved, axis=1) / (2 * 5e-6 * (records - 1) / records)
    assert math.isclose(apart, parts[0], rel_tol=0.01)
    assert parts[1] <= 1


@given(st.integers(1, 50), st.integers(0, 6), st.integers(1, 200))
def test_hinge_scores_change_by_exactly_what_is_stated(margin, bits, largest):
    loss, change = hinges(margin=margin, bits=bits, largest=largest)
    values = loss(np.arange(-largest - 3, largest + 4))
    assert change == max(values) - min(values)
    true = min(Fraction(2 * largest, margin), 1 + Fraction(largest, margin)) * 2**bits
    assert abs(change - true) <= 1


@given(st.integers(1, 50), st.integers(0, 6))
def test_ramp_scores_have_their_ends_on_the_grid(margin, bits):
    values = ramps(margin=margin, bits=bits)(np.arange(-2 * margin, 2 * margin + 1))
    assert (0, 2**bits) == (min(values), max(values))


@pytest.mark.parametrize(("inverse", "right"), [(10, 11), (2, 3)])
def test_the_printed_sensitivity_of_the_hinge_score_spends_what_the_true_one_does_not(inverse, right):
    """Candidates e_1 and -e_1, ball and records of norm 1, one record that turns its label, epsilon 1/2 for the choice."""
    loss, change = hinges(margin=2**10, bits=10, largest=inverse * 2**10)
    assert right * 2**10 == change
    wrong, scores = 2**10, {label: loss(np.array([label, -label]) * inverse * 2**10) for label in (1, -1)}

    def spent(sensitivity):
        """Largest loss over gaps between the candidates that all other records make."""
        found = []
        for gap, (one, other) in itertools.product(range(-60, 61, 2), [(1, -1), (-1, 1)]):
            odds = [-(scores[label][0] - scores[label][1]) / (4 * sensitivity) + gap for label in (one, other)]
            found += [abs(math.log1p(math.exp(sign * odds[0])) - math.log1p(math.exp(sign * odds[1]))) for sign in (1, -1)]
        return max(found)

    assert math.isclose(0.5, spent(change), rel_tol=1e-9)
    assert math.isclose(0.5 * right, spent(wrong), rel_tol=1e-9)


@pytest.mark.parametrize("wrong", [{"margin": 0}, {"largest": 0}, {"bits": 62}, {"margin": 0.5}])
def test_scores_refuse_what_they_cannot_hold(wrong):
    with pytest.raises(InvalidArgument):
        hinges(**({"margin": 8, "bits": 4, "largest": 16} | wrong))
