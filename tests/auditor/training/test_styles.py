"""Loops in many styles, each with one mistake and without it."""

import sys
from pathlib import Path

import pytest

from dpaudit.auditor.training import TrainingClaim, audit_loop

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
from dpsgd_styles import BATCH, CLIP, FIXED, NOISE, PAIRS, RATE, RECORDS, STEPS, people


def audit(name, *, broken):
    sampling = "fixed" if name in FIXED else "poisson"
    claim = TrainingClaim(
        noise_multiplier=NOISE, clip=CLIP, rate=str(RATE), steps=STEPS, records=RECORDS, divisor=BATCH, sampling=sampling
    )
    found = audit_loop(lambda rows, watch: PAIRS[name](rows, watch, broken=broken), claim, people())
    return {check.name for check in found if check.status == "violated"}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_a_mistake_is_found_and_the_loop_without_it_is_not_flagged(name):
    assert audit(name, broken=True)
    assert set() == audit(name, broken=False)
