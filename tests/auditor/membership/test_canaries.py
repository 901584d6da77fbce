"""Canaries in one run and in many: right learners survive, each mistake is refuted, and evidence does not depend on workers."""

import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from operator import itemgetter

import numpy as np
import pytest

from dpaudit import Claim, PureDP, audit
from dpaudit.auditor import replay
from dpaudit.auditor.membership import (
    CanaryGuesses,
    GradientCanaries,
    GradientTraining,
    HookedLearner,
    TrainingHooks,
    audit_canaries,
    canary_target,
)
from dpaudit.errors import InvalidArgument, TargetFailure, Unsupported
from dpaudit.report import read_report, to_html, to_text, write_json
from dpaudit.results import Verdict
from examples.noisy_gradients import NoisyGradients

CANARIES = 800
FAULTS = {
    "halved noise": ({"noise": "1/2"}, 1),
    "missing clip": ({"clips": False}, 4),
    "sampled rarely, claimed; taken always": ({"rate": "1/4", "real_rate": 1}, 1),
}


def one_run(norm=1, runs=1, alpha="0.05", seed=5, **parts):
    model = NoisyGradients(**{"steps": 1, "noise_multiplier": 1, **parts})
    train = GradientTraining(model, np.zeros((10, CANARIES)), norm * np.eye(CANARIES))
    return audit_canaries(
        train,
        np.asarray,
        canaries=CANARIES,
        guessed=200,
        claim=model.claim,
        runs=runs,
        alpha=alpha,
        seed=seed,
        name="noisy gradients",
    )


def flip(included, rng):
    return included ^ (rng.random(len(included)) < 1 / (1 + np.e))


def same(model):
    return model


@pytest.mark.parametrize("fault", FAULTS)
def test_one_run_refutes_a_learner_with_a_mistake(fault):
    parts, norm = FAULTS[fault]
    found = one_run(norm, **parts)
    assert found.refuted
    assert "violated" == found.finding.status


@pytest.mark.parametrize("rate", [1, "1/4"])
def test_one_run_does_not_refute_a_right_learner(rate, false_alarm_level):
    found = one_run(norm=4, rate=rate, alpha=false_alarm_level)
    assert not found.refuted
    assert "holds" == found.finding.status


def test_more_runs_refute_more_clearly():
    assert one_run(noise="1/2", runs=2).p_value < one_run(noise="1/2").p_value


def test_randomised_response_for_each_canary_is_bounded_close_to_its_epsilon(false_alarm_level):
    found = audit_canaries(
        flip, same, canaries=10_000, guessed=10_000, claim=Claim(PureDP(epsilon=1)), alpha=false_alarm_level, seed=1
    )
    assert 0.8 < found.epsilon < 1
    assert not found.refuted


def ends_its_process(included, rng):
    os._exit(3)


def test_a_worker_that_dies_is_reported_with_its_remedy():
    with ProcessPoolExecutor(1) as workers, pytest.raises(TargetFailure, match="DPA408"):
        audit_canaries(ends_its_process, same, canaries=4, claim=Claim(PureDP(epsilon=1)), executor=workers)


@pytest.mark.parametrize("executor", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_the_finding_does_not_depend_on_the_executor(executor):
    options = {"canaries": 60, "claim": Claim(PureDP(epsilon=1)), "runs": 5, "seed": 3}
    with executor(2) as workers:
        assert audit_canaries(flip, same, **options) == audit_canaries(flip, same, executor=workers, **options)


def test_another_seed_draws_other_coins():
    options = {"canaries": 60, "guessed": 60, "claim": Claim(PureDP(epsilon=1))}
    assert 1 < len({audit_canaries(flip, same, seed=seed, **options).guesses.correct for seed in range(6)})


def test_every_run_has_coins_and_noise_of_its_own():
    seen = []

    def remember(included, rng):
        seen.append((included.tolist(), rng.random()))
        return included

    audit_canaries(remember, same, canaries=40, claim=Claim(PureDP(epsilon=1)), runs=3)
    assert 3 == len({tuple(coins) for coins, _ in seen}) == len({noise for _, noise in seen})


def test_highest_scores_are_guessed_in_and_lowest_out():
    seen = []

    def remember(included, rng):
        seen.append(included.copy())
        return np.where(included, np.arange(10.0), -np.arange(10.0))

    found = audit_canaries(remember, same, canaries=10, guessed=3, claim=Claim(PureDP(epsilon=1)))
    assert CanaryGuesses(canaries=10, guessed=3, correct=3) == found.guesses
    assert 1 == len(seen)


def test_a_learner_that_changes_the_inclusion_changes_nothing():
    def wipe(included, rng):
        model = included.astype(float)
        included[:] = False
        return model

    assert 20 == audit_canaries(wipe, same, canaries=100, guessed=20, claim=Claim(PureDP(epsilon=1))).guesses.correct


def test_equal_scores_are_no_evidence(false_alarm_level):
    claim = Claim(PureDP(epsilon=0))
    assert not audit_canaries(flip, np.zeros_like, canaries=500, claim=claim, alpha=false_alarm_level).refuted


@pytest.mark.parametrize("bad", [lambda model: model[:-1], lambda model: model * np.nan, lambda model: "text", lambda model: None])
def test_scores_that_are_not_one_number_for_each_canary_stop_the_audit(bad):
    with pytest.raises(TargetFailure, match="DPA405"):
        audit_canaries(flip, bad, canaries=8, claim=Claim(PureDP(epsilon=1)))


@pytest.mark.parametrize(
    "wrong", [{"canaries": 1}, {"guessed": 9}, {"guessed": 0}, {"runs": 0}, {"alpha": 0}, {"alpha": 1}, {"claim": 1}, {"seed": -1}]
)
def test_impossible_requests_are_refused_before_anything_is_trained(wrong):
    def never(included, rng):
        raise AssertionError

    with pytest.raises(InvalidArgument):
        audit_canaries(never, same, **{"canaries": 8, "claim": Claim(PureDP(epsilon=1)), **wrong})


@pytest.mark.parametrize("noise", [1, "1/2"])
def test_a_finding_is_a_report_that_can_be_written(noise, tmp_path):
    found = one_run(noise=noise)
    (result,) = found.report.results
    assert (Verdict.REFUTED if noise == "1/2" else Verdict.INCONCLUSIVE) == result.verdict
    assert {1: 3, "1/2": 1}[noise] == found.report.exit_code
    write_json(found.report, tmp_path / "report.json")
    assert found.report == read_report(tmp_path / "report.json")
    shown = [to_html(found.report)] if noise == 1 else [to_html(found.report), to_text(found.report)]
    for text in shown:
        assert "of 200 guesses about 800 canaries were right" in " ".join(text.split())


def many_runs(norm=1, **parts):
    model = NoisyGradients(**{"steps": 1, "noise_multiplier": 1, **parts})
    records = np.zeros((3, 2))
    canary = np.array([[float(norm), 0.0]])
    return canary_target(model.fit, itemgetter(0), without=records, including=np.concatenate([records, canary]), claim=model.claim)


@pytest.mark.parametrize("fault", FAULTS)
def test_many_runs_refute_a_learner_with_a_mistake_and_the_report_is_replayed(fault):
    parts, norm = FAULTS[fault]
    target = many_runs(norm, **parts)
    report = audit(target, alpha="0.001", runs=2000, seed=1)
    assert Verdict.REFUTED == report.results[0].verdict
    if fault == "missing clip":
        assert [True] == [one.same for one in replay(report, targets=[target])]


@pytest.mark.parametrize("rate", [1, "1/4"])
def test_many_runs_do_not_refute_a_right_learner(rate, false_alarm_level):
    (result,) = audit(many_runs(4, rate=rate), alpha=false_alarm_level, runs=2000, seed=1).results
    assert result.verdict in {Verdict.CONSISTENT, Verdict.INCONCLUSIVE}
    assert result.attack.pair.witness is None


def test_a_target_needs_two_functions():
    with pytest.raises(InvalidArgument, match="DPA404"):
        canary_target(None, float, without=[], including=[1], claim=Claim(PureDP(epsilon=1)))


def test_the_specimen_and_the_gradient_canaries_keep_the_protocols():
    hooks = GradientCanaries(np.eye(2), np.array([True, False]))
    assert isinstance(NoisyGradients(steps=1, noise_multiplier=1), HookedLearner)
    assert isinstance(hooks, TrainingHooks)


class Recorder:
    """Hooks that reverse the order, insert nothing and keep what they see."""

    def __init__(self):
        self.seen = []

    def order(self, step, records):
        return np.arange(records)[::-1]

    def gradients(self, step, parameters):
        return np.zeros((0, len(parameters)))

    def observe(self, step, released, parameters):
        self.seen.append((step, released.copy(), parameters.copy()))


def test_hooks_see_every_iterate_and_change_nothing_else():
    model, records = NoisyGradients(steps=3, noise_multiplier=1), np.arange(8.0).reshape(4, 2) / 8
    hooks = Recorder()
    final = model.fit(records, np.random.default_rng(0), hooks)
    assert [0, 1, 2] == [step for step, _, _ in hooks.seen]
    np.testing.assert_array_equal(final, hooks.seen[-1][2])
    np.testing.assert_allclose(final, model.fit(records, np.random.default_rng(0)), rtol=1e-12)


def test_a_fixed_order_decides_who_meets_which_coin():
    model, records = NoisyGradients(steps=1, noise_multiplier="1/1000000", rate="1/2"), np.eye(6)
    plain = model.fit(records, np.random.default_rng(2))
    turned = model.fit(records, np.random.default_rng(2), Recorder())
    np.testing.assert_allclose(plain[::-1], turned, atol=1e-5)
    assert np.abs(plain - turned).max() > 0.01


def test_canary_gradients_are_sampled_and_clipped_like_records():
    included = np.array([True, True, False])
    scores = GradientTraining(NoisyGradients(steps=1, noise_multiplier="1/1000000"), np.zeros((2, 3)), 5 * np.eye(3))
    np.testing.assert_allclose([5, 5, 0], scores(included, np.random.default_rng(0)), atol=1e-4)
    rare = NoisyGradients(steps=400, noise_multiplier="1/1000000", rate="1/4")
    taken = GradientTraining(rare, np.zeros((2, 3)), np.eye(3))(included, np.random.default_rng(0))
    assert 60 < taken[0] < 140
    assert 0 == pytest.approx(taken[2], abs=1e-3)


@pytest.mark.parametrize(
    ("directions", "included"), [(np.ones(3), [True] * 3), (np.eye(3), [True]), (np.eye(2) * np.nan, [True] * 2)]
)
def test_canaries_that_do_not_fit_are_refused(directions, included):
    with pytest.raises(InvalidArgument, match="DPA105"):
        GradientCanaries(directions, np.array(included))


@pytest.mark.parametrize(
    "parts", [{"steps": 0}, {"noise_multiplier": 0}, {"rate": 0}, {"rate": 2}, {"noise": -1}, {"real_rate": 0}]
)
def test_impossible_learners_are_refused(parts):
    with pytest.raises(InvalidArgument):
        NoisyGradients(**{"steps": 1, "noise_multiplier": 1, **parts})


def test_the_claim_of_the_specimen_is_its_price():
    exact = NoisyGradients(steps=4, noise_multiplier=3).claim.guarantee.mu
    assert Fraction(2, 3) == exact
    rounded = NoisyGradients(steps=2, noise_multiplier=1).claim.guarantee.mu
    assert 2 < rounded**2 < 2 + Fraction(1, 10**12)


def test_a_finding_is_repeated_by_the_same_call_and_its_report_is_not_replayed():
    found, again = one_run(noise="1/2"), one_run(noise="1/2")
    assert found == again
    assert 5 == found.report.settings.seed
    with pytest.raises(Unsupported, match="DPA506"):
        replay(found.report)
