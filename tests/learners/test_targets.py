"""Targets of the learners that are bundled: named once, reproducible, priced within their claims, survived by no attack."""

from __future__ import annotations

import numpy as np
import pytest

import learners
from dpaudit import audit
from dpaudit.claims import Claim
from learners import papers
from learners.estimator import PrivateEstimator
from learners.targets import TARGETS, outside
from mechanisms.targets import TARGETS as OF_MECHANISMS

each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def test_the_bundle_has_the_targets_that_the_documentation_names():
    expected = {"linear_first_releases", "linear_all_gradients", "quasi_newton_releases", "softmax_releases", "kernel_releases"}
    expected |= {"polynomial_releases", "phased_first_mean", "phased_fixed_order", "phased_secret_order", "pure_margin_choice"}
    expected |= {"pure_margin_zeroed", "ramp_choice", "arrangement_choice", "label_private_choice", "network_choice"}
    expected |= {"unequal_choice", "margin_choice", *outside.models(1)}
    names = [target.name for target in TARGETS]
    assert expected <= set(names)
    assert len(names) == len(set(names))
    assert not {target.name for target in OF_MECHANISMS} & set(names)


def test_every_estimator_of_the_margin_paper_is_seen_from_outside():
    known = {**papers.HOMES, **learners._HOMES}
    homes = {name for name, home in known.items() if home.startswith("margins.") or name == "PrivateClassifier"}
    classes = {name for name in homes if isinstance(kind := getattr(learners, name), type) and issubclass(kind, PrivateEstimator)}
    assert classes == {type(model).__name__ for model, _ in outside.models(1).values()}


@each_target
def test_a_target_gives_the_same_for_the_same_generator(target):
    for data in target.neighbours[0]:
        outputs = [np.asarray(target.sample(data, 20, np.random.default_rng(5))) for _ in range(2)]
        assert 20 == len(outputs[0])
        np.testing.assert_array_equal(*outputs)


@each_target
def test_a_target_says_what_it_asks(target):
    assert target.description
    assert target.source is not None
    assert isinstance(target.claim, Claim)


@each_target
def test_an_audit_finds_nothing(target):
    """Each with alpha 1e-9."""
    (result,) = audit(target, runs=500, alpha="1e-9", seed=1).results
    assert result.verdict in {"consistent", "inconclusive"}
    assert "above" != result.price.status
    assert [] == [found.name for found in result.properties if found.status == "violated"]
