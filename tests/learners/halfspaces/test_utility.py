"""What is certain of a halfspace: the margin that is kept, the columns that this needs, and bounds that hold where they speak."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from learners.estimator import Public
from learners.halfspaces.descent import descend, descent
from learners.halfspaces.utility import (
    HalfspaceBound,
    choice_bound,
    descent_bound,
    kept_margin,
    mean_hinge,
    needed_columns,
    projection_failure,
    sure_hinge,
)
from learners.rows.signs import sign_map
from learners.rows.unit import unit_images, unit_rows
from learners.solvers.phased import WEIGHT_BITS

BOUND = 2**20


def plan_of(records, columns, margin, epsilon=1, runs=1):
    high = math.floor(margin * (BOUND << WEIGHT_BITS))
    public = Public(records, columns, 2, Fraction(1), Fraction(epsilon), Fraction(1, 10**6), Adjacency("replace_one"))
    return descent(public, columns=columns, bound=BOUND, high=high, low=high // 10, runs=runs, choice_share=Fraction(1, 10))


@pytest.mark.parametrize("margin", [Fraction(1), Fraction(1, 5), Fraction(1, 100)])
def test_a_hundredth_of_the_margin_for_the_map_keeps_what_was_published(margin):
    """.98 gamma over 1 + gamma / 100, which is more than .96 gamma; a third keeps more than one half."""
    asked = {"columns_in": 1000, "columns": 100, "lattice_bits": 40}
    kept = kept_margin(margin, jl_fraction=Fraction(1, 100), **asked)
    assert float((margin - margin / 100) / (1 + margin / 100)) == pytest.approx(float(kept), rel=1e-6)
    assert 0.96 * margin < kept < margin
    assert margin / 2 <= kept_margin(margin, jl_fraction=Fraction(1, 3), **asked) + Fraction(1, 2**30)


def test_a_margin_that_the_lattice_takes_is_refused():
    with pytest.raises(InvalidArgument, match="DPA103 margin is lost"):
        kept_margin(Fraction(1, 2**18), columns_in=1000, columns=1000, jl_fraction=Fraction(1, 3), lattice_bits=20)


@given(st.integers(1, 10**6), st.fractions(min_value=Fraction(1, 50), max_value=Fraction(9, 10), max_denominator=99))
def test_columns_are_the_fewest_whose_failure_is_small_enough(records, distortion):
    columns = needed_columns(records=records, distortion=distortion, failure=Fraction(1, 80))
    failures = [projection_failure(records=records, columns=each, distortion=distortion) for each in (columns, columns - 2)]
    assert failures[0] <= 1 / 80 < failures[1] * (1 + 1e-6)


@pytest.mark.parametrize(("fraction", "columns"), [("1/100", 1.6e7), ("1/4", 2.7e4), ("1/2", 7.2e3)])
def test_columns_are_of_the_size_that_was_computed(fraction, columns):
    """Some 5 million with the published constant, 3 times less than its two-level argument asks for, 7000 with one half."""
    found = needed_columns(records=10**5, distortion=Fraction(fraction) / 5, failure=Fraction(1, 80))
    assert columns == pytest.approx(found, rel=0.2)


def test_as_many_columns_as_are_needed_keep_the_margins_of_records():
    """20 maps of 60 records with the margin exactly: with probability 0.95 none of them loses anything in all of them."""
    rng = np.random.default_rng(0)
    normal = np.eye(3000)[0]
    rows = rng.normal(size=(60, 3000))
    rows[:, 0] = 0
    labels = np.arange(60) % 2
    rows = 0.8**0.5 * rows / np.linalg.norm(rows, axis=1, keepdims=True) + np.outer(2 * labels - 1, 0.2**0.5 * normal)
    margin = Fraction(math.floor(0.2**0.5 * 1000), 1000)
    columns = needed_columns(records=60, distortion=margin / 2, failure=Fraction(1, 400))
    assert columns < 2000
    kept = kept_margin(margin, columns_in=3000, columns=columns, jl_fraction=Fraction(1, 2), lattice_bits=20)
    for seed in range(3):
        image = sign_map(dimension_in=3000, dimension_out=columns, seed=seed)
        best = image._sums(unit_rows(normal[np.newaxis], labels[:1]))[0]
        mapped = unit_images(rows, labels, image)
        margins = (mapped.steps @ (best / np.linalg.norm(best))) * (2 * labels - 1) / 2**20
        assert float(kept) <= margins.min()


@pytest.mark.parametrize(("epsilon", "runs"), [(1, 1), (4, 1), (1, 3)])
def test_the_mean_loss_of_runs_is_below_its_bound(epsilon, runs):
    """On records at the threshold, which is where the bound is largest."""
    plan = plan_of(2000, 5, Fraction(1, 2), epsilon, runs)
    features = np.zeros((2000, 5))
    features[:, 0], features[:, 1] = 0.6, 0.8
    features[1000:, 1] = -0.8
    labels = np.ones(2000, dtype=np.int64)
    rows = unit_rows(features, labels)
    found = []
    for _ in range(5):
        margins = rows.margins(descend(rows, plan))
        found.append(np.maximum(plan.high - margins, 0).mean() / (plan.high - plan.low))
    assert 0 <= np.mean(found) <= mean_hinge(plan)
    assert max(found) <= sure_hinge(plan, 1e-9)
    assert mean_hinge(plan) < sure_hinge(plan, 0.01) < sure_hinge(plan, 1e-9)


def test_the_bound_of_descent_is_what_the_formula_says():
    """sqrt(L^2 / T + 4 m L^2 / (n^2 mu^2)), and 2 sqrt(2) L sqrt(m) / (n mu) once there are enough steps."""
    plan = plan_of(5000, 200, Fraction(1, 5))
    slope, multiplier = 1 / (0.9 * 0.2), 4.22468
    wanted = math.sqrt(slope**2 / plan.steps + 4 * 200 * (slope * multiplier / 5000) ** 2)
    assert wanted == pytest.approx(mean_hinge(plan), rel=1e-3)


def test_bounds_say_when_they_say_nothing():
    few = descent_bound(plan_of(100, 10, Fraction(1, 5)), failure=0.05, unmapped=0.0)
    assert few.vacuous
    assert "vacuous" == str(few)
    void = descent_bound(plan_of(10**6, 10, Fraction(1, 5), 8), failure=0.05, unmapped=0.02)
    assert (math.inf, 1.0, True) == (void.alpha, void.failure, void.vacuous)
    assert str(void).startswith("void: ")
    several = descent_bound(plan_of(10**6, 2, Fraction(1), 8, runs=6), failure=0.05, unmapped=0.0)
    single = descent_bound(plan_of(10**6, 2, Fraction(1), 8), failure=0.05, unmapped=0.0)
    assert single.alpha < several.alpha < 0.15


def test_the_bound_of_a_choice_is_what_was_computed():
    """1134 records for 18,230 points to have a tenth of the records short at most, at a quarter of the probability."""
    bound = choice_bound(candidates=18230, records=1134, columns=3, epsilon=1, failure=0.05, unmapped=0.0)
    assert 0.1 / 4 == pytest.approx(bound.learned, rel=0.01)
    assert 0.1 < bound.alpha < 0.2
    assert HalfspaceBound(0.25, 0.5, 0.05).alpha == pytest.approx(0.25 + 0.25 + 0.25)
