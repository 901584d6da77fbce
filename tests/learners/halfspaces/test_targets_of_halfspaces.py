"""Targets on halfspaces: exact laws keep their claims, samples follow them, and runs are watched sum by sum."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dpaudit import audit
from learners.halfspaces.descent import active_sum
from learners.targets.halfspaces import PLAN, SIDES, TARGETS, net_counts, transcript, wide_rows
from proofs.papers.specimens.halfspaces import PAIRS, RANGE

NAMED = {target.name: target for target in (*TARGETS, *(target for pair in PAIRS for target in pair))}


def largest_ratio(target, pair):
    first, second = map(target.pmf, pair)
    return max(abs(math.log(first[key] / second[key])) for key in first)


def test_the_net_of_the_circle_loses_nearly_what_it_claims_and_never_more():
    target = NAMED["halfspace_net"]
    assert [0.9884, 0.6199] == [pytest.approx(largest_ratio(target, pair), abs=1e-4) for pair in target.neighbours]
    moved = [np.abs(np.subtract(*map(net_counts, pair))).max() for pair in target.neighbours]
    assert [1, 1] == moved


def test_a_hinge_choice_with_a_sensitivity_of_one_loses_its_range_times_what_it_claims():
    assert 12.7 == pytest.approx(RANGE / 2**10, abs=0.02)
    broken, sound = NAMED["broken_halfspace_hinge"], NAMED["halfspace_hinge"]
    assert 12 <= largest_ratio(broken, broken.neighbours[0]) / 0.5 < 12.75
    assert largest_ratio(sound, sound.neighbours[0]) < 0.5


@pytest.mark.parametrize("name", ["halfspace_net", "halfspace_hinge"])
def test_samples_follow_the_declared_law(name):
    """600 samples: no frequency is 8 standard deviations off, a false alarm below 1e-13 for each output."""
    target = NAMED[name]
    for data in target.neighbours[0]:
        seen = Counter(target.sample(data, 600, np.random.default_rng(17)).tolist())
        for output, share in target.pmf(data).items():
            assert abs(seen[output] - 600 * share) <= 8 * math.sqrt(600 * share * (1 - share)) + 8


@pytest.mark.parametrize("side", [0, 1])
def test_every_sum_of_a_run_moves_by_two_records_at_most_at_the_weights_it_is_made_at(side):
    """The transcript of a run: sums are those of the record, or nothing, and noise is all that is added to them."""
    seen = transcript(wide_rows(SIDES[side]), PLAN, np.random.default_rng(1))
    assert PLAN.steps == len(seen)
    sums = {tuple(value[:2].tolist()) for value, _ in seen}
    assert sums <= {((2 * (1 - side) - 1) * 4096, 0), (0, 0)}
    noise = np.concatenate([noisy - value for value, noisy in seen])
    # 20 * 64 draws: 9 standard deviations of a mean square, a false alarm below 1e-12.
    assert float(np.square(noise / float(PLAN.release.parameter("sigma"))).mean()) == pytest.approx(1, abs=0.36)


def test_a_run_on_one_record_is_active_in_nearly_all_of_its_sums():
    """Or else the target would not be the worst case that it is made to be."""
    runs = [transcript(wide_rows(SIDES[0]), PLAN, np.random.default_rng(seed)) for seed in range(20)]
    active = [value.any() for run in runs for value, _ in run]
    assert 0.95 < np.mean(active)
    assert active_sum(wide_rows(SIDES[0]), np.array([1]), np.zeros(64, dtype=np.int64), 1).any()


def test_the_log_alone_says_that_a_choice_was_not_paid_for():
    """The samples say so too; those of the twin do not."""
    (result,) = audit(NAMED["broken_halfspace_unpaid_choice"], runs=20000, seed=1).results
    assert ("refuted", "above") == (result.verdict, result.price.status)
