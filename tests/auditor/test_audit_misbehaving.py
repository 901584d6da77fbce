"""The whole audit of targets that raise, change their data, vary in form or lie about themselves: honest answers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Sensitivity, Target, audit
from dpaudit.auditor.checks.independence import INDEPENDENT
from dpaudit.auditor.checks.prices import SAME_NOISE
from dpaudit.auditor.checks.query_laws import SENSITIVITY
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
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


def test_a_target_that_always_raises_has_failed_and_its_message_stays_hidden():
    def broken(data, rng):
        raise ValueError("alice is 31 years old")

    result = result_of(pair_target(run=broken))

    assert Verdict.FAILED == result.verdict
    assert "DPA405" in result.failure
    assert "ValueError at test_audit_misbehaving.py:" in result.failure
    assert "alice" not in result.failure + result.summary


def test_a_target_that_raises_on_one_dataset_only_is_refuted():
    def fragile(data, rng):
        if data:
            raise ValueError
        return rng.laplace()

    result = result_of(pair_target(run=fragile))

    assert Verdict.REFUTED == result.verdict
    assert "violated" == status_of(result, "outputs have the same form on both datasets")


def test_errors_of_ours_that_differ_in_their_codes_are_different_outputs():
    def refusing(data, rng):
        if rng.random() < 0.5:
            raise InvalidArgument("DPA103" if data else "DPA105", "")
        return 0.0

    result = result_of(pair_target(run=refusing))

    assert Verdict.REFUTED == result.verdict
    assert "kind" in result.attack.event


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


@pytest.mark.parametrize(("scale", "verdict"), [(1.1, Verdict.INCONCLUSIVE), (0.4, Verdict.REFUTED)])
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
    assert "record 0 removed, 3 -> 2 records" == candidate_pairs(target)[0].difference


def test_randomness_of_its_own_is_reported():
    generator = np.random.default_rng()
    result = result_of(pair_target(run=lambda data, rng: data + generator.laplace()), runs=1_000)

    assert "note" == status_of(result, "a run repeats from its seed")


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
