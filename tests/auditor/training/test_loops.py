"""Every broken loop of the list is found by the check that is about its mistake, and its sound twin by none."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.accounting import compose
from dpaudit.auditor.membership import DPSGD, audit_scores
from dpaudit.auditor.training import TrainingClaim, audit_loop, audit_training, compare_trainings
from dpaudit.errors import AdjacencyMismatch, InvalidArgument, TargetFailure

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
from dpsgd_loops import ACCEPT, BATCH, NETWORK, NOISE, RECORDS, SOUND, STEPS, TUNE, clip_rows, records

LOOPS = TUNE | ACCEPT


def told(sampling="poisson", **changed):
    stated = {"noise_multiplier": NOISE, "clip": "1/2", "rate": "1/10", "steps": STEPS, "records": RECORDS, "divisor": BATCH}
    return TrainingClaim(**stated | {"sampling": sampling} | changed)


def names_violated(loop, sampling, seed=1):
    """Names of the checks that a loop fails, those of neighbours and of single examples among them."""

    def train(rows, watch):
        watch.check_examples(lambda some: loop.gradients(loop.start(), some), rows[:6])
        loop(rows, watch, seed)

    found = audit_loop(train, told(sampling), records())
    assert all(check.remedy and check.detail for check in found if check.status == "violated")
    return {check.name for check in found if check.status == "violated"}


@pytest.mark.parametrize("name", LOOPS)
def test_a_broken_loop_is_found_and_its_sound_twin_is_not_flagged(name):
    broken, twin, expected, sampling = LOOPS[name]
    assert expected & names_violated(broken, sampling)
    assert set() == names_violated(twin, sampling)


def test_sound_loops_are_flagged_by_no_seed():
    """Each check errs with probability at most 1e-9, so that twenty loops err with less than 1e-6."""
    for seed in range(10):
        for loop in (SOUND, NETWORK):
            with audit_training(told()) as watch:
                loop(records(), watch, seed)
            assert () == watch.violations


@pytest.mark.campaign
def test_every_broken_loop_is_found_with_other_seeds_too():
    for seed in range(2, 5):
        for broken, twin, expected, sampling in LOOPS.values():
            assert expected & names_violated(broken, sampling, seed)
            assert set() == names_violated(twin, sampling, seed)


def test_the_price_of_what_was_seen_stands_beside_the_one_that_was_told():
    broken = LOOPS["noise_without_the_clip"][0]
    for loop, dearer in ((SOUND, False), (broken, True), (LOOPS["shuffled_epochs"][0], True)):
        with audit_training(told()) as watch:
            loop(records(), watch)
        price = watch.price(delta="1e-5")
        assert dearer == (price["seen"].lower > price["told"].upper)
    with audit_training(told()) as watch:
        LOOPS["unclipped"][0](records(), watch)
    assert watch.price(delta="1e-5")["seen"] is None


def test_gradients_of_layers_are_read_as_one_and_other_clippings_by_what_they_keep():
    """Clipped layer by layer: as a whole no gradient exceeds the clip, which only `clipped=` shows."""
    rng, claim = np.random.default_rng(1), told(rate=1, records=3, steps=120, clip=1, divisor=3)
    with audit_training(claim) as flat, audit_training(claim) as by_layer:
        for _ in range(120):
            layers = [4 + rng.normal(size=(3, 2, 2)), 4 + rng.normal(size=(3, 5))]
            kept = [clip_rows(part.reshape(3, -1), clip) for part, clip in zip(layers, (0.95, 0.1), strict=True)]
            sums = [part.sum(axis=0) + rng.normal(size=part.shape[1]) for part in kept]
            flat.step(batch=[0, 1, 2], gradients=layers, noisy_sum=sums)
            by_layer.step(batch=[0, 1, 2], gradients=layers, noisy_sum=sums, clipped=kept)
    assert ["clipping"] == [check.name for check in flat.violations]
    assert () == by_layer.violations


def test_a_clipped_gradient_that_is_too_long_is_named_with_its_step():
    with audit_training(told(rate=1, records=2, steps=1, divisor=2)) as watch:
        watch.step(batch=[0, 1], gradients=np.eye(2), noisy_sum=np.ones(2), clipped=np.eye(2), divisor=2)
    assert ("clipping", 0) in [(check.name, check.step) for check in watch.violations]


def test_what_was_not_given_is_not_judged():
    with audit_training(told(rate=1, records=2, steps=1, divisor=2)) as watch:
        watch.step(batch=[0, 1], gradients=np.zeros((2, 3)), noisy_sum=[0.6, -0.4, 0.1])
    assert {"clipping", "noise", "fresh noise", "divisor", "clip", "update", "separate examples"} == {
        check.name for check in watch.checks if check.status == "not judged"
    }


def test_a_watch_without_steps_judges_nothing():
    with audit_training(told()) as watch:
        pass
    assert ["not judged"] == [check.status for check in watch.checks]
    assert "not judged" == compare_trainings(watch, watch).status


@pytest.mark.parametrize(
    "step",
    [
        {"batch": [0, RECORDS], "gradients": np.zeros((2, 3)), "noisy_sum": np.zeros(3)},
        {"batch": [0.5], "gradients": np.zeros((1, 3)), "noisy_sum": np.zeros(3)},
        {"batch": [0, 1], "gradients": np.zeros((1, 3)), "noisy_sum": np.zeros(3)},
        {"batch": [0], "gradients": np.zeros((1, 3)), "noisy_sum": np.zeros(4)},
        {"batch": [0], "gradients": np.full((1, 3), np.nan), "noisy_sum": np.zeros(3)},
        {"batch": [0], "gradients": "text", "noisy_sum": np.zeros(3)},
    ],
)
def test_a_step_that_does_not_fit_is_refused(step):
    with audit_training(told()) as watch, pytest.raises(InvalidArgument) as refusal:
        watch.step(**step)
    assert "DPA105" == refusal.value.code


def test_gradient_canaries_are_scored_in_every_step_and_show_missing_noise():
    """Two hundred Dirac canaries in one training without records; half the noise that was told."""
    rng, canaries = np.random.default_rng(8), np.eye(200)
    inside = rng.random(200) < 0.5
    with audit_training(told(rate=1, records=200, steps=4, clip=1, divisor=200), canaries=canaries) as watch:
        for _ in range(4):
            members = np.flatnonzero(inside)
            total = canaries[members].sum(axis=0) + NOISE / 2 * rng.normal(size=200)
            watch.step(batch=members, gradients=canaries[members], noisy_sum=total)
    found = audit_scores(watch.scores, inside, delta="1e-5")
    assert (4, 200) == watch.scores.shape
    assert found.within(DPSGD(rate=1, steps=4)).noise_multiplier < NOISE


def test_a_loop_that_raises_is_the_loops_failure_and_shows_no_value():
    def train(rows, watch):
        raise ValueError(f"secret {rows}")

    with pytest.raises(TargetFailure) as failure:
        audit_loop(train, told(), records())
    assert "secret" not in failure.value.message
    with pytest.raises(InvalidArgument):
        audit_loop(train, told(), records(10))


def test_batches_of_a_fixed_size_are_priced_for_a_replaced_record():
    fixed = told("fixed").loss
    with pytest.raises(AdjacencyMismatch):
        compose(fixed, told().loss)
    assert fixed.epsilon(delta="1e-5").lower > told().loss.epsilon(delta="1e-5").upper


@pytest.mark.parametrize("sampling", ["poisson", "fixed"])
def test_the_law_of_batches_is_not_flagged_at_its_own_level(sampling):
    """Small levels cannot be simulated, so the tails themselves: of a true law few are below a tenth."""
    from dpaudit.auditor.training.batches import _fixed_laws, _poisson_laws

    rng, runs, small = np.random.default_rng(2), 80, []
    for _ in range(runs):
        if sampling == "poisson":
            batches = [np.flatnonzero(rng.random(60) < 0.2) for _ in range(12)]
            tails = [tail for tail, _, _ in _poisson_laws(batches, 60, 0.2)]
        else:
            batches = [rng.permutation(60)[:12] for _ in range(12)]
            tails = [tail for tail, _, place in _fixed_laws(batches, 60, 0.2) if place is None]
        small.append([tail <= 0.1 for tail in tails])
    for count in np.sum(small, axis=0):
        assert binom.sf(count - 1, runs, 0.1) > 1e-9


def test_batches_whose_size_is_rounded_are_not_flagged():
    from dpaudit.auditor.training.batches import _fixed_laws

    rng = np.random.default_rng(2)
    batches = [rng.permutation(15)[:2] for _ in range(2000)]
    assert all(tail > 1e-9 for tail, _, place in _fixed_laws(batches, 15, 0.1) if place is None)


def test_loops_that_tell_no_public_number_are_not_called_alike():
    with audit_training(told()) as one, audit_training(told()) as other:
        for watch in (one, other):
            watch.step(batch=[0, 1], gradients=np.eye(2), noisy_sum=np.ones(2))
    assert "not judged" == compare_trainings(one, other).status


def test_neighbours_are_compared_number_by_number():
    loop = replace(SOUND, divisor=lambda batch, count: float(count))
    with audit_training(told()) as one, audit_training(told(records=RECORDS - 1)) as other:
        loop(records(), one)
        loop(records()[:-1], other)
    assert ("violated", "divisor differs between neighbours", 0) == (
        (found := compare_trainings(one, other)).status,
        found.detail,
        found.step,
    )
