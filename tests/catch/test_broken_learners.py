"""Every learner that is broken on purpose is refuted, and its correct twin is not."""

from __future__ import annotations

import pytest

from dpaudit import audit
from proofs.papers.specimens.catalogue import SPECIMENS, TWINS

RUNS = {"broken_arrangement": 2000, "arrangement_choice": 2000, "broken_kernel_silence": 100_000, "kernel_span": 2000}


def verdict(target):
    (result,) = audit(target, runs=RUNS.get(target.name, 20_000), alpha="1e-6", seed=1).results
    return result


@pytest.mark.parametrize("target", SPECIMENS, ids=lambda target: target.name)
def test_a_broken_learner_is_refuted(target):
    assert "refuted" == verdict(target).verdict


@pytest.mark.parametrize("target", TWINS.values(), ids=lambda target: target.name)
def test_its_correct_twin_is_not(target):
    result = verdict(target)
    assert result.verdict in {"consistent", "inconclusive"}
    assert [] == [found.name for found in result.properties if found.status == "violated"]


def test_every_one_has_a_twin_and_says_that_it_is_broken():
    assert sorted(target.name for target in SPECIMENS) == sorted(TWINS)
    assert all(target.name.startswith("broken_") and "on purpose" in target.description for target in SPECIMENS)
    assert len({target.name for target in (*SPECIMENS, *TWINS.values())}) == 2 * len(SPECIMENS)
