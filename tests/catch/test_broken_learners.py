"""Every learner that is broken on purpose is refuted, and its sound twin is not."""

from __future__ import annotations

import pytest
from learner_defects import PAIRS as DEFECTS

from dpaudit import audit
from proofs.papers.specimens.catalogue import PAIRS as SPECIMENS

PAIRS = (*SPECIMENS, *DEFECTS)
RUNS = {"broken_arrangement": 2000, "arrangement_choice": 2000, "broken_kernel_silence": 100_000, "kernel_span": 2000}


def verdict(target):
    (result,) = audit(target, runs=RUNS.get(target.name, 20_000), alpha="1e-6", seed=1).results
    return result


@pytest.mark.parametrize("target", [broken for broken, _ in PAIRS], ids=lambda target: target.name)
def test_a_broken_learner_is_refuted(target):
    assert "refuted" == verdict(target).verdict


@pytest.mark.parametrize("target", [sound for _, sound in PAIRS], ids=lambda target: target.name)
def test_its_sound_twin_is_not(target):
    result = verdict(target)
    assert result.verdict in {"consistent", "inconclusive"}
    assert [] == [found.name for found in result.properties if found.status == "violated"]


def test_a_broken_learner_says_so_and_names_differ():
    assert all(broken.name.startswith("broken_") and "on purpose" in broken.description for broken, _ in PAIRS)
    assert len({target.name for pair in PAIRS for target in pair}) == 2 * len(PAIRS)
