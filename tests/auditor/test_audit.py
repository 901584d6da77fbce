"""The whole audit: verdicts, budgets, the error probability, and what a result holds."""

import time
from fractions import Fraction

import pytest

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, PureDP, Target, audit
from dpaudit.accounting import gaussian
from dpaudit.results import Verdict

PURE = Claim(PureDP(epsilon=1))


def laplace(scale):
    return lambda data, n, rng: data + rng.laplace(scale=scale, size=n)


def normal(sigma):
    return lambda data, n, rng: data + rng.normal(scale=sigma, size=n)


def result_of(target, runs=20_000, **options):
    return audit(target, runs=runs, seed=7, **options).results[0]


def pair_target(claim=PURE, neighbours=((0, 1),), **parts):
    return Target(claim=claim, neighbours=list(neighbours), **parts)


def test_half_the_noise_is_refuted_with_a_bound_above_the_claim():
    result = result_of(pair_target(sample=laplace(0.5)))

    assert Verdict.REFUTED == result.verdict
    assert 1 < result.attack.bound.epsilon <= 2
    assert result.attack.sequential.stopped_at <= 2000
    assert result.rejected_in_family
    assert "epsilon is at least 1." in result.summary


def test_enough_noise_is_consistent_and_says_what_would_have_been_found():
    result = result_of(pair_target(sample=laplace(1)), runs=200_000)

    assert Verdict.CONSISTENT == result.verdict
    assert 1 < result.attack.power.factor <= 1.25
    assert "would have been found with probability 0.9" in result.summary
    assert "private" not in result.summary


def test_few_runs_are_inconclusive_instead_of_consistent():
    result = result_of(pair_target(sample=laplace(1)), runs=600)

    assert Verdict.INCONCLUSIVE == result.verdict


@pytest.mark.parametrize(
    ("claim", "sigma", "verdict"),
    [
        (Claim(GDP(mu=1)), 0.6, Verdict.REFUTED),
        (Claim(GDP(mu=1)), 1.0, Verdict.CONSISTENT),
        (Claim(ZCDP(rho="1/2")), 0.4, Verdict.REFUTED),
        (Claim(RDP({2: 1, 8: 4})), 0.3, Verdict.REFUTED),
        (Claim(Curve(gaussian(sigma=1))), 0.6, Verdict.REFUTED),
        (Claim(ApproxDP(epsilon=1, delta="0.01")), 0.8, Verdict.REFUTED),
    ],
)
def test_every_kind_of_claim_is_attacked_at_a_point_of_its_curve(claim, sigma, verdict):
    result = result_of(pair_target(claim, sample=normal(sigma)), runs=100_000)

    assert verdict == result.verdict
    assert result.claim.tested_epsilon > 0
    assert result.claim.tested_delta > 0


def test_the_runs_that_were_asked_for_are_not_exceeded():
    for runs in (500, 5_000, 50_000):
        attack = result_of(pair_target(sample=laplace(1)), runs=runs).attack

        assert runs - 40 <= attack.runs <= runs


def test_every_call_of_the_target_is_counted():
    calls = []

    def counting(data, rng):
        calls.append(data)
        return data + rng.laplace()

    result = result_of(pair_target(run=counting), runs=3_000)

    assert len(calls) == result.attack.runs


def test_a_time_budget_becomes_runs_and_is_kept():
    report = audit(pair_target(sample=laplace(1)), seconds="1.5", seed=1)
    attack = report.results[0].attack

    assert 0 == report.settings.runs
    assert sum(attack.plan) <= attack.runs + 40
    assert attack.runs > 10_000
    assert dict(report.seconds)["total"] < 15


def test_a_slow_target_does_not_break_its_time_budget():
    def slow(data, rng):
        time.sleep(0.002)
        return data + rng.laplace()

    report = audit(pair_target(run=slow), seconds=1)

    assert Verdict.INCONCLUSIVE == report.results[0].verdict
    assert dict(report.seconds)["total"] < 5


def test_the_pair_that_shows_the_violation_is_found_among_others():
    pairs = [(0, 0.1), (0, 0.2), (0, 3), (0, 0)]
    result = result_of(pair_target(sample=laplace(1), neighbours=pairs))

    assert Verdict.REFUTED == result.verdict
    assert 2 == result.attack.pair.index
    assert 4 == result.attack.pairs_tried


def test_the_error_probability_is_shared_by_all_claims():
    targets = [pair_target(sample=laplace(1), name=f"target {place}") for place in range(4)]
    report = audit(targets, runs=2_000, alpha="0.04")

    assert {Fraction(1, 100)} == {result.attack.alpha for result in report.results}
    assert {1 - Fraction(1, 200)} == {result.attack.bound.confidence for result in report.results}
    assert ["target 0", "target 1", "target 2", "target 3"] == [result.name for result in report.results]


def test_targets_have_streams_of_their_own():
    targets = [pair_target(sample=laplace(1), name=name) for name in ("one", "two")]
    first, second = audit(targets, runs=2_000).results

    assert first.attack.bound.counts != second.attack.bound.counts


def test_the_profile_holds_claim_and_attack_on_one_axis():
    result = result_of(pair_target(sample=laplace(0.5)))
    epsilons = [point.epsilon for point in result.profile]

    assert sorted(epsilons) == epsilons
    assert 25 == len(epsilons)
    assert any(point.attack > point.claimed for point in result.profile)


def test_witnesses_are_shown_for_public_data_only():
    for public in (False, True):
        target = pair_target(sample=laplace(0.5), public_data=public)
        witness = result_of(target, runs=2_000).attack.pair.witness

        assert (("0", "1") if public else None) == witness


def test_progress_is_told_from_the_checks_to_the_end():
    heard = []
    audit(pair_target(sample=laplace(1)), runs=5_000, progress=heard.append)

    assert ["checks", "pilot", "betting", "bound", "done"] == list(dict.fromkeys(progress.stage for progress in heard))
    assert sorted(heard, key=lambda progress: progress.fraction) == heard
    assert 1.0 == heard[-1].fraction


def test_the_path_of_the_wealth_is_thinned_and_ends_where_the_bets_ended():
    sequential = result_of(pair_target(sample=laplace(1)), runs=50_000).attack.sequential

    assert len(sequential.path) <= 200
    assert (0, sequential.runs) == (sequential.path[0].run, sequential.path[-1].run)
    assert sequential.log10_wealth == sequential.path[-1].log10_wealth


def test_a_result_tells_its_lower_bound_and_power_itself():
    result = result_of(pair_target(sample=laplace(0.5)), runs=2_000)

    assert result.attack.bound == result.lower_bound
    assert result.attack.power == result.power
