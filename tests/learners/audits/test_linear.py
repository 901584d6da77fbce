"""Linear classifiers seen from inside: what they release tells neighbours apart nearly as well as claimed, and no better."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import audit
from dpaudit.releases import recording
from learners.solvers.gradient import solve
from learners.solvers.slopes import UNIT, logistic_slopes
from learners.targets.linear import (
    MOMENT_PAIR,
    OUTSIDE,
    PLAN,
    SIDE_PAIR,
    TARGETS,
    WIDE,
    moment_triangle,
    rows_of,
    sample_fits,
    transcript,
)
from mechanisms.sampling.random import source_from

ONE = 2**PLAN.lattice_bits
NAMED = {target.name: target for target in TARGETS}

angles = st.floats(0, 2 * math.pi)


@st.composite
def records(draw):
    """A record at the norm bound, within a step, with a label."""
    angle = draw(angles)
    return (int(ONE * math.cos(angle)), int(ONE * math.sin(angle))), draw(st.integers(0, 1))


@given(records(), records(), records())
def test_one_record_moves_the_second_moment_by_no_more_than_its_sensitivity(first, second, other):
    moved = np.subtract(moment_triangle([first, other]), moment_triangle([second, other])).tolist()
    assert sum(each**2 for each in moved) <= PLAN.moment.sensitivity**2
    assert PLAN.moment.sensitivity == math.isqrt(50 * PLAN.bound**4 - 1) + 1


@given(records(), records(), st.lists(st.integers(-(2**20), 2**20), min_size=3, max_size=3))
def test_one_record_moves_a_gradient_by_no_more_than_its_sensitivity(first, second, weights):
    gradients = []
    for record in (first, second):
        rows = rows_of([record], PLAN)
        slopes = logistic_slopes(rows.margins(np.array(weights)), rows.labels, PLAN.lattice_bits + 16)
        gradients.append(rows.weighted_sum(slopes))
    assert sum(each**2 for each in (gradients[0] - gradients[1]).tolist()) <= PLAN.gradient.sensitivity**2
    assert PLAN.gradient.sensitivity == 2 * UNIT * PLAN.bound


def test_the_pairs_move_the_first_sums_as_far_as_is_possible():
    moved = np.subtract(*(moment_triangle(data) for data in MOMENT_PAIR)).tolist()
    assert 0.999 < math.sqrt(sum(each**2 for each in moved)) / PLAN.moment.sensitivity <= 1
    sums = [transcript(rows_of(data, WIDE), WIDE, noisy=False)[0][0] for data in SIDE_PAIR]
    assert 0.999 < math.sqrt(sum(each**2 for each in (sums[0] - sums[1]).tolist())) / WIDE.gradient.sensitivity <= 1


def test_a_watched_fit_is_the_fit():
    rows = rows_of(MOMENT_PAIR[0], PLAN)
    with recording() as log:
        weights = solve(rows, PLAN, source_from(np.random.default_rng(5)))
    with recording() as watched:
        seen = transcript(rows, PLAN, source_from(np.random.default_rng(5)))
    assert log == watched
    assert [(7,), (6,), *[(3,)] * PLAN.steps] == [noisy.shape for _, noisy in seen]
    assert weights.shape == (3,)
    with recording() as silent:
        transcript(rows, PLAN, noisy=False)
    assert [] == list(silent)


@pytest.mark.parametrize("name", NAMED)
def test_from_inside_eight_tenths_of_the_claim_are_certified_and_no_more_than_all_of_it(certified, name):
    target = NAMED[name]
    first, second = (
        target.sample(data, 400_000, np.random.default_rng(7 + place)) for place, data in enumerate(target.neighbours[0])
    )
    found = certified(*sorted((first, second), key=np.mean))
    assert 0.8 <= found / float(target.claim.guarantee.mu) <= 1


def test_many_fits_at_once_are_as_independent_as_one_by_one():
    """The correlation of neighbouring fits is below 6 / sqrt(n) but with probability 2e-9."""
    values = sample_fits(SIDE_PAIR[0], 20_000, np.random.default_rng(3))
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 6 / math.sqrt(len(values))


def test_the_claim_is_what_the_plan_charges():
    for name, releases in (
        ("linear_first_releases", (PLAN.moment, PLAN.gradient)),
        ("linear_all_gradients", (WIDE.gradient,) * 8),
    ):
        squares = sum((each.sensitivity / each.parameter("sigma")) ** 2 for each in releases)
        mu = NAMED[name].claim.guarantee.mu
        assert squares <= mu**2 < squares + Fraction(1, 2**28)


def test_from_outside_nothing_is_refuted():
    """An audit of a sound target with alpha 1e-9."""
    assert "refuted" != audit(OUTSIDE, runs=1000, alpha="1e-9", seed=1).results[0].verdict
