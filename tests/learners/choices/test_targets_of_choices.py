"""Targets that choose: their exact laws keep their claims and broken twins do not, and samples follow the declared laws."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dpaudit import audit
from dpaudit.claims import PureDP
from learners.targets.choices import ANTIPODES, EXPONENTS, MARGINS, TARGETS
from proofs.papers.specimens.choices import PAIRS

BROKEN = [broken.name for broken, _ in PAIRS]
NAMED = {target.name: target for target in (*TARGETS, *(target for pair in PAIRS for target in pair))}
HONEST = [name for name in NAMED if name not in BROKEN]


def epsilon_of(target):
    assert isinstance(target.claim.guarantee, PureDP)
    return float(target.claim.guarantee.epsilon)


@pytest.mark.parametrize("name", HONEST)
def test_the_exact_law_keeps_the_claim(largest_ratio, name):
    target = NAMED[name]
    assert all(0 < largest_ratio(target.pmf, pair) < epsilon_of(target) for pair in target.neighbours)


@pytest.mark.parametrize(
    ("name", "realised"),
    [("pure_margin_choice", 0.98857), ("pure_margin_zeroed", 0.96956), ("broken_pure_margin", 2.0), ("broken_hinge_choice", 5.5)],
)
def test_what_is_realised_is_what_was_computed(largest_ratio, name, realised):
    """10 antipodal records realise .9886 of 1, twice the exponent doubles that, and a forgotten margin of 1/10 gives 11 / 2."""
    (pair,) = NAMED[name].neighbours
    assert realised == pytest.approx(largest_ratio(NAMED[name].pmf, pair), abs=1e-4)


@pytest.mark.parametrize("name", BROKEN)
def test_the_exact_law_of_a_broken_one_breaks_the_claim(largest_ratio, name):
    assert any(1.5 * epsilon_of(NAMED[name]) < largest_ratio(NAMED[name].pmf, pair) for pair in NAMED[name].neighbours)


@pytest.mark.parametrize("name", NAMED)
def test_samples_follow_the_declared_law(name):
    """600 samples: no frequency is 8 standard deviations off, a false alarm below 1e-13 for each of some 600 outputs."""
    target = NAMED[name]
    count = 600
    for data in target.neighbours[0]:
        drawn = target.sample(data, count, np.random.default_rng(17))
        seen = Counter(tuple(each) if np.ndim(each) else int(each) for each in drawn.tolist())
        law = {output: float(share) for output, share in target.pmf(data).items()}
        assert set(seen) <= set(law)
        assert 1 == sum(target.pmf(data).values())
        for output, share in law.items():
            assert abs(seen[output] - count * share) <= 8 * math.sqrt(count * share * (1 - share)) + 8


@pytest.mark.parametrize("name", ["arrangement_choice", "ramp_choice"])
def test_an_audit_finds_nothing_in_an_honest_one(name):
    (result,) = audit(NAMED[name], runs=2000, seed=1).results
    assert "refuted" != result.verdict
    assert [] == [each.name for each in result.properties if each.status == "violated"]


def test_the_sensitivities_of_the_margin_target_are_those_of_its_scores():
    assert len(EXPONENTS) == len(MARGINS.sensitivities)
    assert [[1, -1], [0, 0]] == ANTIPODES.weights.tolist()
