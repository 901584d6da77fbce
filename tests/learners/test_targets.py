"""Targets of the learners that are bundled: named once, reproducible, priced within their claims, survived by no attack."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit import audit
from dpaudit.claims import Claim
from learners.targets import TARGETS
from mechanisms.targets import TARGETS as OF_MECHANISMS

each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


def test_the_bundle_has_the_targets_that_the_documentation_names():
    expected = ["phased_first_mean", "pure_margin_choice", "pure_margin_zeroed", "ramp_choice"]
    expected += ["label_private_choice", "network_choice", "unequal_choice", "margin_choice"]
    assert expected == [target.name for target in TARGETS]
    assert not {target.name for target in OF_MECHANISMS} & set(expected)


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
    (result,) = audit(target, runs=1000, alpha="1e-9", seed=1).results
    assert result.verdict in {"consistent", "inconclusive"}
    assert "above" != result.price.status
    assert [] == [found.name for found in result.properties if found.status == "violated"]
