"""Releases of a kernel's function: all coordinates at once, or point by point along new directions alone."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.releases import recording
from learners import GaussianProcessRelease
from learners.kernels.spaces import Gaussian, Polynomial
from learners.kernels.span import SLACK, SpanTeller
from learners.solvers.minimum import IMAGE_BITS

ONE = 2**IMAGE_BITS
QUARTERS = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]])


def release(**changed):
    return GaussianProcessRelease(
        **({"epsilon": 4, "delta": "1e-6", "feature_norm": 1, "classes": [0, 1], "random_state": 5} | changed)
    )


@pytest.mark.parametrize("kernel", [None, Polynomial(2), Gaussian(width="1/2", frequencies=50)])
def test_what_no_line_separates_is_learned(kernel):
    model = release(kernel=kernel).fit(np.tile(QUARTERS, (500, 1)), [1, 0, 1, 0] * 500)
    assert [1, 0, 1, 0] == model.predict(QUARTERS).tolist()
    assert model.weights_.dtype == np.int64


def test_one_release_spends_the_budget_and_says_so():
    with recording() as log:
        model = release().fit(np.tile(QUARTERS, (50, 1)), [1, 0, 1, 0] * 50)
    (entry,) = log
    assert (10, model.plan_.minimum.sensitivity) == (entry.dimension, entry.sensitivity)
    assert 3.99 < float(model.privacy_.epsilon) <= 4


def test_a_point_that_was_asked_is_not_read_again_and_answers_alike():
    run = release(random_state=None).open(np.tile(QUARTERS, (50, 1)), [1, 0, 1, 0] * 50, values=4)
    first = run.ask([0.3, 0.1])
    again = run.ask([0.3, 0.1])
    assert (True, False, 3) == (first.read, again.read, run.left)
    assert float(first.value) == pytest.approx(float(again.value), rel=1e-6)
    assert again.value == run.guess([0.3, 0.1])


def test_any_number_of_points_is_answered_from_as_many_values_as_there_are_features():
    run = release(kernel=Polynomial(2)).open(np.tile(QUARTERS, (50, 1)), [1, 0, 1, 0] * 50, values=1000)
    points = np.random.default_rng(2).normal(size=(300, 2)) / 2
    run.predict(points)
    assert 1000 - 6 <= run.left < 1000


def answered(weights, noise, points, tolerance=1e-3):
    run = SpanTeller(np.array(weights), np.array(noise), 0, tolerance)
    return run, [run.answer(np.array(point)) for point in points]


@pytest.mark.parametrize("angle", [0, 1e-8, 1e-6, 5e-4])
def test_nearly_equal_points_are_not_told_apart_without_noise(angle):
    """A float Cholesky factor would show the difference of the two values as it is."""
    points = [[ONE, 0], [round(ONE * math.cos(angle)), round(ONE * math.sin(angle))]]
    for side in (1, -1):
        run, answers = answered([0, side * 10**6], [7, 9], points)
        assert [True, False] == [answer.read for answer in answers]
        assert float(answers[1].value) == pytest.approx(float(answers[0].value))
        assert 1 == run.left


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(1, 12), st.sampled_from([1e-3, 1e-5, 0.3]))
def test_the_directions_that_are_read_are_orthonormal_within_the_slack(seed, width, asked, tolerance):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(asked, width))
    points[asked // 2 :] = points[: asked - asked // 2] + 1e-4 * rng.normal(size=(asked - asked // 2, width))
    points = (points / np.linalg.norm(points, axis=1, keepdims=True) * ONE).astype(np.int64)
    run, _ = answered([1] * width, [0] * asked, points, tolerance)
    products = [[abs(int(one @ other)) for other in run._directions] for one in run._directions]
    assert max(map(sum, products)) <= (1 + SLACK) * ONE**2
    assert run._sums == list(map(sum, products))
    assert len(run._directions) == asked - run.left


def test_what_would_break_the_slack_is_not_read(monkeypatch):
    monkeypatch.setattr("learners.kernels.span.SLACK", Fraction(1, 10**12))
    run, answers = answered([5, 5], [0, 0], [[ONE * 3 // 5, ONE * 4 // 5 + 1], [ONE, 1]])
    assert [False, False] == [answer.read for answer in answers] or run.left < 2
    assert all(answer.value == 0 for answer in answers if not answer.read and run.left == 2)


def test_values_lie_on_the_grid_that_noise_was_drawn_on():
    run, answers = answered([3, -2], [11, 13], [[ONE, 0], [0, ONE]])
    assert [Fraction(3 * ONE + 13, ONE), Fraction(-2 * ONE + 11, ONE)] == [answer.value for answer in answers]
    assert 0 == run.left


def test_without_values_left_a_run_answers_from_what_it_has():
    run, answers = answered([3, -2], [0], [[ONE, 0], [0, ONE], [ONE // 2, ONE // 2]])
    assert [3, 0, Fraction(3, 2)] == [answer.value for answer in answers]
    assert run.open


@pytest.mark.parametrize(
    ("changed", "code"), [({"values": 0}, "DPA103"), ({"tolerance": 0}, "DPA103"), ({"tolerance": 1}, "DPA103")]
)
def test_what_is_public_is_refused(changed, code):
    with pytest.raises(InvalidArgument, match=code):
        release().open(QUARTERS, [1, 0, 1, 0], **changed)


def test_pure_budgets_are_refused():
    with pytest.raises(InvalidArgument, match="DPA103"):
        release(delta=0).fit(QUARTERS, [1, 0, 1, 0])
