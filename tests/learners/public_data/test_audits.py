"""Learners with public records under audit: sound ones survive, and a leak into the public path is found."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from dpaudit import audit
from dpaudit.auditor.membership import refute_by_accuracy, tracing_target
from dpaudit.claims import ApproxDP, Claim
from learners.public_data.subspace import public_rows, public_subspace
from learners.targets.public_data import TARGETS
from mechanisms import GaussianMechanism, source_from
from proofs.papers.specimens.public_data import PAIRS

MECHANISM = GaussianMechanism(sensitivity=2**13, noise_multiplier=10, adjacency="replace_one")
CLAIM = Claim(ApproxDP(epsilon=MECHANISM.loss.epsilon(delta="1e-5").upper, delta="1e-5"), adjacency="replace_one")


@cache
def axes(dimension):
    """The map of public records along all axes."""
    return public_subspace(np.eye, columns=dimension, feature_norm=1, centred=False, reach=1)


def private_mean(rows, rng):
    """The mean of signs through the map, with noise."""
    length, used = math.sqrt(rows.shape[1]), axes(rows.shape[1])
    images = used.apply(public_rows(rows / length, rows.shape[1], 1), lattice_bits=12)
    total = MECHANISM.release(images.weighted_sum(np.ones(len(rows), dtype=np.int64)), source_from(rng))
    return used.basis @ (total * (float(images.step) * length / len(rows) / 2.0**20))


@pytest.mark.parametrize("target", [*(sound for _, sound in PAIRS), *TARGETS], ids=lambda target: target.name)
def test_a_sound_learner_survives(target):
    """Each with alpha 1e-9."""
    (result,) = audit(target, runs=600, alpha="1e-9", seed=1).results
    assert result.verdict in {"consistent", "inconclusive"}
    assert "above" != result.price.status
    assert [] == [found.name for found in result.properties if found.status == "violated"]


def test_a_private_mean_through_the_map_is_not_traced():
    target = tracing_target(private_mean, records=6, dimension=60, claim=CLAIM)
    assert "refuted" != audit(target, runs=500, alpha="1e-9", seed=1).results[0].verdict


def test_private_rows_in_the_public_path_are_too_accurate():
    known = {"dimension": 400, "private": 20, "public": 1, "claim": CLAIM}
    sound = refute_by_accuracy(lambda rows, _public, rng: private_mean(rows, rng), **known, runs=50, alpha="1e-9")
    assert sound.floor > 0
    assert not sound.refuted
    leaky = refute_by_accuracy(lambda rows, public, _rng: np.vstack([rows, public]).mean(axis=0), **known, runs=3000, alpha="1e-3")
    assert leaky.refuted
