"""What all kernel classifiers share: scikit-learn's own checks, public parameters, private values, images of bounded norm."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from dpaudit.errors import InvalidArgument, Unsupported
from learners import GaussianProcessRelease, NonInteractiveKernelClassifier, SemiInteractiveKernelClassifier
from learners.kernels.spaces import Gaussian, Polynomial
from learners.solvers.minimum import IMAGE_BITS

KINDS = [
    (GaussianProcessRelease, {}),
    (SemiInteractiveKernelClassifier, {"point_count": 20}),
    (NonInteractiveKernelClassifier, {"point_count": 20, "rounds": 1}),
]
every = pytest.mark.parametrize(("kind", "options"), KINDS, ids=lambda each: getattr(each, "__name__", ""))
USUAL = {"epsilon": 1, "delta": "1e-5", "feature_norm": 1, "ridge": "1/10"}


@every
def test_scikit_learn_finds_nothing_wrong(kind, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(kind(**USUAL, **options), on_fail=None, on_skip=None)
    assert [] == [result["check_name"] for result in results if result["status"] in ("failed", "xfail")]


@every
@pytest.mark.parametrize(
    ("changed", "error", "code"),
    [
        ({"ridge": 0}, InvalidArgument, "DPA104"),
        ({"kernel": Polynomial(0)}, InvalidArgument, "DPA103"),
        ({"kernel": Gaussian(width=0)}, InvalidArgument, "DPA104"),
        ({"classes": [0, 1, 2]}, InvalidArgument, "DPA103"),
        ({"adjacency": "zero_out"}, Unsupported, "DPA604"),
    ],
)
def test_what_is_public_is_refused(kind, options, changed, error, code):
    with pytest.raises(error, match=code):
        kind(**{**USUAL, **options, **changed}).fit(np.eye(3), [0, 1, 0])


hostile = st.sampled_from([0.0, 1.0, -1e300, 1e-200, 5e-324, math.nan, math.inf, -math.inf, 0.3])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(hostile, min_size=2, max_size=2), min_size=4, max_size=4), st.sampled_from(KINDS))
def test_no_private_value_is_refused_or_warned_of_or_longer_than_one(records, chosen):
    kind, options = chosen
    model = kind(**USUAL, **options, classes=[0, 1], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(records, [0, 1, "?", None])
    steps = model.plan_.space.images(records).steps
    assert max(sum(entry**2 for entry in row) for row in steps.tolist()) <= 4**IMAGE_BITS


@every
def test_the_record_says_what_kernel_it_was_and_recomputes(kind, options):
    model = kind(**USUAL, **options, classes=[0, 1], kernel=Polynomial(2, 3)).fit(np.tile(np.eye(2), (20, 1)), [0, 1] * 20)
    said = model.privacy_.public
    assert ("Polynomial(degree=2, constant=3, columns=None, seed=0)", "1/10") == (said["kernel"], said["ridge"])
    assert model.privacy_.recompute().upper <= model.privacy_.epsilon <= 1
    assert model.privacy_.secure
