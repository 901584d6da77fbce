"""Values at public points: what is released is on a grid, what is made of it a function of that, each noise what it says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.releases import recording
from learners import SemiInteractiveKernelClassifier
from learners.solvers.minimum import IMAGE_BITS
from learners.targets.kernels import AWAY, VALUES, weights_of

QUARTERS = np.array([[0.6, 0.6], [-0.6, 0.6], [-0.6, -0.6], [0.6, -0.6]])
MANY = np.tile(QUARTERS, (500, 1)), [1, 0, 1, 0] * 500


def classifier(**changed):
    usual = {"epsilon": 4, "delta": "1e-6", "feature_norm": 1, "classes": [0, 1], "random_state": 5, "point_count": 40}
    return SemiInteractiveKernelClassifier(**(usual | changed))


@pytest.mark.parametrize(("noise", "epsilon"), [("spectral", 4), ("independent", 10), ("literal", 2000)])
def test_what_no_line_separates_is_learned_at_a_price_that_is_kept(noise, epsilon):
    with recording() as log:
        model = classifier(noise=noise, epsilon=epsilon).fit(*MANY)
    assert [1, 0, 1, 0] == model.predict(QUARTERS).tolist()
    assert model.privacy_.recompute().upper <= model.privacy_.epsilon <= epsilon
    assert (40 if noise == "literal" else 1) == len(log)


def test_the_noise_of_each_kind_is_the_papers_or_less():
    """Laplace noise of the paper is far above what its price needs; the largest eigenvalue needs less than independent points."""
    literal, independent, spectral = (classifier(noise=noise).fit(*MANY) for noise in ("literal", "independent", "spectral"))
    (entry, *_) = literal.privacy_.charges[0].releases
    expected = math.sqrt(8 * 40 * math.log(10**6)) / 4
    assert expected == pytest.approx(float(entry.parameter("scale") / entry.sensitivity), rel=1e-3)
    assert float(literal.privacy_.epsilon) < 3 < float(spectral.privacy_.epsilon)
    assert spectral.plan_.telling.release.sensitivity < independent.plan_.telling.release.sensitivity


def test_the_weights_are_made_of_the_released_values_alone():
    model = classifier().fit(*MANY)
    assert (model.weights_ == model.plan_.telling.fitted(model.values_)).all()
    assert model.values_.dtype == np.int64


@settings(max_examples=30)
@given(st.integers(-(2**30), 2**30), st.integers(-(2**30), 2**30))
def test_values_of_weights_within_the_sensitivity_are_within_what_is_declared(first, second):
    """In L2 over all points, with every value rounded."""
    scale = VALUES.found.sensitivity / max(1.0, math.hypot(first, second))
    weights = np.array([12345, 678910])
    moved = weights + np.array([int(first * scale), int(second * scale)])
    apart = (VALUES.values(weights) - VALUES.values(moved)).tolist()
    assert sum(gap**2 for gap in apart) <= VALUES.release.sensitivity**2


def test_a_pair_of_data_sets_moves_the_values_by_most_of_what_is_declared():
    apart = (VALUES.values(weights_of(AWAY[0])) - VALUES.values(weights_of(AWAY[1]))).tolist()
    assert 0.7 <= math.sqrt(sum(gap**2 for gap in apart)) / VALUES.release.sensitivity <= 1


def test_the_weights_are_no_longer_than_a_minimiser_can_be():
    model = classifier(epsilon="1/1000", noise="literal").fit(*MANY)
    assert np.sqrt(np.square(model.weights_ / 2.0**model.plan_.minimum.weight_bits).sum()) <= 100 * (1 + 1e-6)
    model = classifier(epsilon="1/1000").fit(*MANY)
    longest = float(model.plan_.minimum.longest)
    assert np.sqrt(np.square(model.weights_ / 2.0**model.plan_.minimum.weight_bits).sum()) <= longest * (1 + 1e-6)


def test_points_may_be_given_and_may_be_one_that_is_repeated():
    model = classifier(points=np.tile(QUARTERS[:1], (30, 1))).fit(*MANY)
    assert (30,) == model.values_.shape
    assert 1 == model.predict(QUARTERS[:1])[0]
    step = Fraction(1 << model.plan_.telling.shift, 1 << (model.plan_.minimum.weight_bits + IMAGE_BITS))
    private = model.plan_.telling.values(np.zeros_like(model.weights_))
    assert 0 == np.abs(private).max()
    assert 0 < step < Fraction(1, 1000)


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"noise": "none"}, "DPA103"), ({"point_count": 0}, "DPA103"), ({"delta": 0}, "DPA103"), ({"points": "all"}, "DPA105")],
)
def test_what_is_public_is_refused(changed, code):
    with recording() as log, pytest.raises(InvalidArgument, match=code):
        classifier(**changed).fit(*MANY)
    assert [] == list(log)
