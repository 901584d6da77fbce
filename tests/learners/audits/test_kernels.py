"""Kernel learners under audit: broken ones are refuted, what silence tells is certified, and those that are shipped stand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import ApproxDP, Claim, audit
from learners.kernels.charged_updates import UpdateRounds
from learners.targets.kernels import DELTA, NEAR_EDGE, RELATION, TARGETS, TOLD, UPDATES, silent_rounds
from mechanisms import source_from
from mechanisms.laws import DiscreteLaplace
from proofs.papers.specimens.kernels import PAIRS

RUNS = {"kernel_silence": 200_000, "kernel_span": 2_000}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_shipped_learner_is_not_refuted(target):
    assert "refuted" != audit(target, runs=RUNS.get(target.name, 20_000), alpha="1e-9", seed=1).results[0].verdict


def test_what_silence_tells_is_certified_far_above_the_price_of_the_updates():
    """An epsilon of 5.9 is refuted where five updates of 1/2 would cost 2.5; the exact law of the silent rounds has 9.8."""
    claim = Claim(ApproxDP(epsilon="5.9", delta=DELTA), adjacency=RELATION)
    silent, _ = PAIRS[0]
    target = replace(silent, claim=claim)
    assert Fraction(5, 2) == silent.claim.guarantee.epsilon
    assert "refuted" == audit(target, runs=4_000_000, alpha="1e-4", seed=1).results[0].verdict


def test_the_rounds_of_the_audit_are_those_of_a_run():
    """The mean number of silent rounds of real runs, within 6.2 standard errors of that of the fast ones."""
    scale, threshold = TOLD.release.parameter("scale"), int(TOLD.release.parameter("threshold"))
    rounds = UpdateRounds(DiscreteLaplace(scale), threshold, source_from(np.random.default_rng(2)), None)
    for distance in NEAR_EDGE:
        silent, updates = 0, 0
        while updates < 300 * UPDATES:
            updates += rounds.difference(distance) is not None
            silent += 1
        fast = silent_rounds(distance, 20_000, np.random.default_rng(3))
        assert fast.mean() == pytest.approx(silent / 300 - UPDATES, abs=6.2 * fast.std() / 300**0.5)
