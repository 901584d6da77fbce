"""The whole audit: verdicts, refusals, and honest answers about targets that misbehave."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, PureDP, Sensitivity, Target, audit
from dpaudit.accounting import gaussian
from dpaudit.auditor.independence import INDEPENDENT
from dpaudit.auditor.prices import SAME_NOISE
from dpaudit.auditor.properties import SENSITIVITY
from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure
from dpaudit.releases import Release, note
from dpaudit.results import Verdict

PURE = Claim(PureDP(epsilon=1))


def laplace(scale):
    return lambda data, n, rng: data + rng.laplace(scale=scale, size=n)


def normal(sigma):
    return lambda data, n, rng: data + rng.normal(scale=sigma, size=n)


def result_of(target, runs=20_000, **options):
    return audit(target, runs=runs, seed=7, **options).results[0]


def status_of(result, name):
    return {check.name: check.status for check in result.properties}[name]


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


def test_a_target_that_always_raises_has_failed_and_its_message_stays_hidden():
    def broken(data, rng):
        raise ValueError("alice is 31 years old")

    result = result_of(pair_target(run=broken))

    assert Verdict.FAILED == result.verdict
    assert "DPA405" in result.failure
    assert "ValueError at test_audit.py:" in result.failure
    assert "alice" not in result.failure + result.summary


def test_a_target_that_raises_on_one_dataset_only_is_refuted():
    def fragile(data, rng):
        if data:
            raise ValueError
        return rng.laplace()

    result = result_of(pair_target(run=fragile))

    assert Verdict.REFUTED == result.verdict
    assert "violated" == status_of(result, "outputs have the same form on both datasets")


def test_a_sample_function_that_raises_on_one_dataset_only_is_refuted():
    def fragile(data, n, rng):
        if data:
            raise ValueError
        return rng.laplace(size=n)

    assert Verdict.REFUTED == result_of(pair_target(sample=fragile)).verdict


def test_a_rare_exception_as_likely_on_both_datasets_is_no_finding():
    def rarely(data, rng):
        if rng.random() < 0.01:
            raise ValueError
        return data + rng.laplace()

    assert Verdict.REFUTED != result_of(pair_target(run=rarely)).verdict


def test_a_sample_function_that_fails_now_and_then_is_not_judged():
    def rarely(data, n, rng):
        if (rng.random(n) < 0.001).any():
            raise ValueError
        return data + rng.laplace(size=n)

    result = result_of(pair_target(sample=rarely))

    assert Verdict.FAILED == result.verdict
    assert "Give run=" in result.failure


def test_a_sample_function_that_cannot_give_several_outputs_has_failed():
    result = result_of(pair_target(sample=lambda data, n, rng: [data + rng.laplace()]))

    assert Verdict.FAILED == result.verdict
    assert "another number of outputs" in result.failure


@pytest.mark.parametrize("leak", [math.nan, math.inf, None, "text", [1.0], (), {"a": 1}])
def test_another_kind_of_output_on_one_dataset_is_refuted(leak):
    def shape(data, rng):
        return leak if data else rng.laplace()

    assert Verdict.REFUTED == result_of(pair_target(run=shape)).verdict


def test_another_length_on_one_dataset_is_refuted():
    def ragged(data, rng):
        return rng.laplace(size=2 + data)

    assert Verdict.REFUTED == result_of(pair_target(run=ragged)).verdict


def test_random_lengths_that_do_not_depend_on_the_data_are_no_finding():
    def ragged(data, rng):
        return (rng.laplace(size=int(rng.integers(1, 4))) + 0.2 * data).tolist()

    assert Verdict.REFUTED != result_of(pair_target(run=ragged)).verdict


def test_a_constant_output_is_inconclusive():
    result = result_of(pair_target(run=lambda data, rng: 42))

    assert Verdict.INCONCLUSIVE == result.verdict
    assert "no output differed" in result.summary


def test_a_deterministic_output_that_differs_is_refuted():
    result = result_of(pair_target(run=lambda data, rng: data))

    assert Verdict.REFUTED == result.verdict
    assert "violated" == status_of(result, "output is random or does not depend on the data")


def test_dependent_runs_are_reported_and_not_judged():
    def shared(data, n, rng):
        return np.full(n, data + rng.laplace())

    result = result_of(pair_target(sample=shared))

    assert Verdict.INCONCLUSIVE == result.verdict
    assert "violated" == status_of(result, INDEPENDENT)
    assert not result.rejected_in_family


@pytest.mark.parametrize(("scale", "verdict"), [(1.1, Verdict.CONSISTENT), (0.4, Verdict.REFUTED)])
def test_a_function_that_changes_its_dataset_gets_copies(scale, verdict):
    def emptying(data, rng):
        total = sum(data.pop() for _ in range(len(data)))
        return total + rng.laplace(scale=scale)

    first, second = [1, 0, 1], [1, 0]
    result = result_of(pair_target(run=emptying, neighbours=[(first, second)]), runs=20_000)

    assert "violated" == status_of(result, "input is left unchanged")
    assert verdict == result.verdict
    assert ([1, 0, 1], [1, 0]) == (first, second)


def test_a_query_that_changes_its_dataset_does_not_change_the_pairs():
    def emptying(data):
        return sum(data.pop() for _ in range(len(data)))

    target = Target(
        run=lambda data, rng: sum(data) + rng.laplace(scale=7),
        claim=PURE,
        data=[5, 1, 3],
        sensitivity=Sensitivity(query=emptying, bound=5),
    )
    result = result_of(target, runs=2_000)

    assert "holds" == status_of(result, SENSITIVITY)
    assert "record 0 removed, 3 -> 2 records" == audit(target, runs=2_000).results[0].attack.pair.difference


def test_randomness_of_its_own_is_reported():
    generator = np.random.default_rng()
    result = result_of(pair_target(run=lambda data, rng: data + generator.laplace()), runs=1_000)

    assert "violated" == status_of(result, "a run repeats from its seed")


def test_a_false_sensitivity_is_refuted_without_statistics():
    declared = Sensitivity(query=lambda data: 2 * data, bound=1)
    result = result_of(pair_target(sample=laplace(100), sensitivity=declared), runs=1_000)

    assert Verdict.REFUTED == result.verdict
    assert not result.rejected_in_family
    assert "declared sensitivity is false" in result.summary


def release(scale):
    return Release("discrete_laplace", (("lattice", Fraction(1)), ("scale", Fraction(scale))), Fraction(1), Adjacency("add_remove"))


@pytest.mark.parametrize(("scale", "status"), [(1, "within"), (2, "within"), ("1/2", "above")])
def test_the_price_is_that_of_the_logged_releases(scale, status):
    def logged(data, rng):
        note(release(scale))
        return data + rng.laplace()

    result = result_of(pair_target(run=logged), runs=50_000)

    assert status == result.price.status
    assert 1 / Fraction(scale) == result.price.value.upper
    assert (Verdict.INCONCLUSIVE if status == "above" else Verdict.CONSISTENT) == result.verdict
    assert all(point.price is not None for point in result.profile)


def test_noise_that_depends_on_the_data_has_no_price_and_is_not_consistent():
    def adaptive(data, rng):
        note(release(1 + data))
        return data + rng.laplace()

    result = result_of(pair_target(run=adaptive), runs=50_000)

    assert "unpriced" == result.price.status
    assert "violated" == status_of(result, SAME_NOISE)
    assert Verdict.INCONCLUSIVE == result.verdict


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


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"alpha": 0}, "DPA103"),
        ({"alpha": 1}, "DPA103"),
        ({"alpha": math.nan}, "DPA102"),
        ({"alpha": "x"}, "DPA101"),
        ({"runs": 100}, "DPA103"),
        ({"runs": 1e6}, "DPA105"),
        ({"runs": True}, "DPA105"),
        ({"runs": 1000, "seconds": 5}, "DPA106"),
        ({"seconds": 0}, "DPA104"),
        ({"seconds": math.inf}, "DPA102"),
        ({"seed": -1}, "DPA103"),
        ({"seed": 1.5}, "DPA105"),
        ({"power_target": 1}, "DPA103"),
        ({"family": "fisher"}, "DPA103"),
        ({"executor": 4}, "DPA105"),
        ({"progress": 4}, "DPA105"),
        ({"data": "people.csv"}, "DPA105"),
    ],
)
def test_bad_options_are_refused_before_any_run(options, code):
    def never(data, rng):
        raise AssertionError

    with pytest.raises(InvalidArgument, match=code):
        audit(pair_target(run=never), **options)


@pytest.mark.parametrize(
    ("targets", "code"),
    [([], "DPA109"), (7, "DPA105"), ([7], "DPA105"), ("no such target", "DPA401"), ("nowhere:TARGET", "DPA401"), (None, "DPA105")],
)
def test_what_is_no_target_is_refused(targets, code):
    with pytest.raises((InvalidArgument, TargetFailure), match=code):
        audit(targets)


def test_one_bad_target_stops_the_audit_before_the_good_one_runs():
    def never(data, rng):
        raise AssertionError

    with pytest.raises(DpauditError, match="DPA407"):
        audit([pair_target(run=never), pair_target(run=never, neighbours=[([1, 2, 3], [1])])], runs=1000)


def test_too_many_pairs_for_the_runs_are_refused():
    with pytest.raises(InvalidArgument, match="64 are needed"):
        audit(pair_target(sample=laplace(1), neighbours=[(0, step) for step in range(20)]), runs=1000)


def test_a_csv_file_replaces_the_data_of_a_named_target(tmp_path):
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(str(age) for age in range(20, 60)) + "\n")
    (tmp_path / "count.py").write_text(
        "from dpaudit import Claim, PureDP, Target\n"
        "def count(data, rng):\n    return len(data) + rng.laplace(scale=0.3)\n"
        "target = Target(run=count, claim=Claim(PureDP(epsilon=1)), data=[1])\n"
    )
    report = audit(f"{tmp_path / 'count.py'}:target", runs=5_000, data=str(tmp_path / "people.csv"))

    assert Verdict.REFUTED == report.results[0].verdict
    assert "40 -> 39 records" in report.results[0].attack.pair.difference
    assert str(tmp_path / "people.csv") == report.settings.data


def test_targets_of_one_name_are_told_apart():
    target = Target(run=lambda data, rng: data + rng.laplace(), claim=Claim(PureDP(epsilon=2)), neighbours=[(0, 1)], name="twin")
    report = audit([target, target], runs=2000, seed=3)
    assert ["twin", "twin (2)"] == [result.name for result in report.results]
    assert {"twin", "twin (2)", "total"} == {name for name, _ in report.seconds}
