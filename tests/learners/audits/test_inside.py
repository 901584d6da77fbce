"""Learners of noisy sums seen from inside: the audit sees what a fit releases, which is nearly all that the claim allows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpaudit.releases import recording
from learners.targets.inside import Inside, mu_of, plan_fit, read_rows, transcript
from learners.targets.phased import LEADING, known_order_targets
from learners.targets.sums import PAIRS, inside_targets, models
from mechanisms.sampling.random import source_from

NAMES = tuple(PAIRS)


def samples(target, count):
    found = (target.sample(data, count, np.random.default_rng(7 + place)) for place, data in enumerate(target.neighbours[0]))
    return sorted(found, key=np.mean)


@pytest.mark.parametrize("name", NAMES)
def test_from_inside_eight_tenths_of_the_claim_are_certified_and_no_more_than_all_of_it(certified, name):
    target = next(target for target in inside_targets(3) if target.name == name)
    assert 0.8 <= certified(*samples(target, 200_000)) / float(target.claim.guarantee.mu) <= 1


def test_nine_tenths_are_certified_of_descent_in_a_known_order(certified):
    target = known_order_targets(3)[0]
    assert 0.9 <= certified(*samples(target, 200_000)) / float(target.claim.guarantee.mu) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_the_log_of_a_run_is_what_a_fit_would_log(name):
    model, pair = models(1)[name], PAIRS[name]
    plan = plan_fit(model, pair[0])
    with recording() as log:
        Inside(model, pair).sample(pair[0], 1, np.random.default_rng(0))
    releases = [release for release in log for _ in range(release.count)]
    wanted = [release for charge in plan.charges for release in charge.releases]
    assert [(each.kind, each.parameters, each.sensitivity, each.dimension) for each in wanted] == [
        (each.kind, each.parameters, each.sensitivity, each.dimension) for each in releases
    ]
    assert mu_of(wanted) == Inside(model, pair).claim.guarantee.mu


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_uses_nearly_all_of_the_sensitivities(name):
    share = Inside(models(1)[name], PAIRS[name]).share
    assert (0.99 if name == "softmax_releases" else 0.94) < share <= 1


def test_no_other_angle_moves_all_releases_much_farther():
    """Shares of 6 and 91 %, distances (1 - c^2) and (1 - c) / 2 for signed records at cosine c: little is left beside c = -.9."""
    cosines = np.linspace(-1, 1, 2001)
    used = 0.06 * (1 - cosines**2) + 0.91 * (1 - cosines) / 2
    share = Inside(models(1)["quasi_newton_releases"], PAIRS["quasi_newton_releases"]).share
    assert math.sqrt(used.max()) - 0.02 < share < math.sqrt(used.max() + 0.03)


def test_sums_at_zero_are_those_of_a_fit():
    model, pair = models(1)["kernel_releases"], PAIRS["kernel_releases"]
    plan = plan_fit(model, pair[0])
    seen = transcript(read_rows(model, pair[0], plan), plan.inner, source_from(np.random.default_rng(1)))
    assert [value.tolist() for value, _ in seen[:3]] == [value.tolist() for value in Inside(model, pair)._sums_of(pair[0])]


def test_an_audit_of_a_secret_order_logs_nothing_that_every_record_would_pay_for():
    for target in known_order_targets(1)[1:]:
        with recording() as log:
            target.sample(LEADING[0], 2, np.random.default_rng(0))
        assert [] == log
