"""Loops in many styles, each with one mistake and without it."""

import re
import sys
from pathlib import Path

import pytest

from dpaudit.auditor.training import TrainingClaim, audit_loop

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
import dpsgd_further
import written_loops
from dpsgd_styles import BATCH, CLIP, FIXED, NOISE, PAIRS, RATE, RECORDS, STEPS, people

EVERY = PAIRS | dpsgd_further.PAIRS


def violations(name, *, broken):
    sampling = "fixed" if name in FIXED else "poisson"
    claim = TrainingClaim(
        noise_multiplier=NOISE, clip=CLIP, rate=str(RATE), steps=STEPS, records=RECORDS, divisor=BATCH, sampling=sampling
    )
    found = audit_loop(lambda rows, watch: EVERY[name](rows, watch, broken=broken), claim, people())
    return [check for check in found if check.status == "violated"]


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_mistake_is_found_with_its_line_and_the_loop_without_it_is_not_flagged(name):
    found = violations(name, broken=True)
    assert found
    assert all(re.match(r"dpsgd_\w+\.py:\d+: .", check.where) for check in found)
    assert [] == violations(name, broken=False)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("squared_norm_in_the_clip", "factor = np.minimum(1.0, CLIP / np.maximum(sq if broken else np.sqrt(sq), 1e-12))"),
        ("unfinished_micro_batch_is_dropped", "drawn = drawn[: len(drawn) // size * size]"),
        ("noise_in_antithetic_pairs", "z = -last"),
        ("rate_of_what_is_left_after_validation", "idx = train[rng.random(len(train)) < q]"),
    ],
)
def test_the_lines_that_are_named_hold_the_mistake(name, line):
    source = Path(dpsgd_further.__file__).read_text().splitlines()
    named = {number for check in violations(name, broken=True) for number in map(int, re.findall(r"\b\d+\b", check.where))}
    assert line in {source[number - 1].strip() for number in named if number <= len(source)}


@pytest.mark.parametrize("name", sorted(written_loops.LOOPS))
def test_a_whole_loop_is_found_with_the_line_of_its_mistake_and_its_sound_twin_is_not_flagged(name, tmp_path):
    found, lines = written_loops.run(name, tmp_path, broken=True)
    assert found
    named = {number for check in found for number in map(int, re.findall(r"(?<=:)\d+(?=:)|(?<=[s,] )\d+(?=[,)])", check.where))}
    assert lines & named
    assert [] == written_loops.run(name, tmp_path, broken=False)[0]
