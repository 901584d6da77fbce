"""The auditor on the zoo: every broken specimen is refuted and no sound one is."""

from __future__ import annotations

import pytest

from dpaudit import audit
from dpaudit.catalogue import specimens
from dpaudit.results import Verdict

ALPHA = "0.001"
RUNS = 40_000
MORE_RUNS = {  # rare signals: one leak in a thousand, 1024 sparse values, an epsilon of 8, twenty noisy bits
    "rare_leak": 400_000,
    "coarse_laplace": 200_000,
    "gaussian_classical_beyond": 4_000_000,
    "one_time_rappor_one_hash": 80_000,
}
SLOW = {"rappor", "rappor_one_hash"}  # twenty noisy bits in two steps, e^0.1 claimed, e^0.3 true: takes some 200,000 runs
ZOO = [specimen for specimen in specimens(1) if specimen.name not in SLOW]


def names(broken):
    return [pytest.param(specimen, id=specimen.name) for specimen in ZOO if broken == specimen.broken]


@pytest.mark.parametrize("specimen", names(broken=True))
def test_a_broken_specimen_is_refuted(specimen):
    runs = MORE_RUNS.get(specimen.name, RUNS)
    (result,) = audit(specimen.target, alpha=ALPHA, runs=runs, seed=1).results
    assert Verdict.REFUTED == result.verdict
    bound = result.attack.bound.epsilon
    assert bound is None or bound <= specimen.truth.epsilon


@pytest.mark.parametrize("specimen", names(broken=False))
def test_a_sound_specimen_is_not_refuted(specimen, false_alarm_level):
    (result,) = audit(specimen.target, alpha=false_alarm_level, runs=6_000, seed=1).results
    assert result.verdict in {Verdict.CONSISTENT, Verdict.INCONCLUSIVE}
    bound = result.attack.bound.epsilon
    assert bound is None or bound <= specimen.truth.epsilon
