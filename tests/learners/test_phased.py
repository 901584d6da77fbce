"""Phased descent releases what its schedule says, from disjoint records, with noise for steps, drift and lattice."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import ndtr

from dpaudit.accounting import gaussian
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.releases import recording
from learners.rows.ingest import to_rows
from learners.rows.rows import Rows
from learners.solvers import phased
from learners.solvers.hinge import HingeStep
from learners.solvers.orders import random_order, random_places
from learners.solvers.phased import (
    WEIGHT_BITS,
    batches,
    mean_of_iterates,
    noisy_means,
    on_ball,
    phased_sgd,
    schedule,
)
from learners.targets.phased import COUNT, LEADING, SECRET, TARGETS, KnownOrder
from mechanisms import GaussianMechanism
from mechanisms.sampling.random import source_from

DRIFT = Fraction(1, 2**53)


def plan_for(rows, *, noise_multiplier=4, margin="1/4", adjacency="replace_one"):
    count, columns = rows.steps.shape
    return schedule(
        records=count, columns=columns, bound=rows.bound, margin=margin, noise_multiplier=noise_multiplier, adjacency=adjacency
    )


def some_rows(count, columns, seed=1):
    rng = np.random.default_rng(seed)
    return to_rows(rng.standard_normal((count, columns)), rng.integers(0, 2, count), feature_norm=1, lattice_bits=12)


@given(st.integers(1, 5000))
def test_phases_halve_until_one_record_is_left_over(count):
    sizes = batches(count)
    assert len(sizes) == count.bit_length() - 1
    assert sum(sizes) < count
    assert all(size == count // 2**index for index, size in enumerate(sizes, start=1))


@given(
    records=st.integers(2, 10**6),
    columns=st.integers(1, 2048),
    bound=st.integers(2, 2**21),
    margin=st.fractions("1/1000", 1),
    multiplier=st.fractions("1/10", 100),
    adjacency=st.sampled_from(["replace_one", "zero_out"]),
)
def test_the_sensitivity_covers_steps_drift_and_lattice(records, columns, bound, margin, multiplier, adjacency):
    try:
        plan = schedule(
            records=records, columns=columns, bound=bound, margin=margin, noise_multiplier=multiplier, adjacency=adjacency
        )
    except InvalidArgument as error:
        assert error.code == "DPA108"  # noqa: PT017 - only the largest may be refused
        return
    first = plan.phases[0].step
    drift = (4 * columns + 16) * DRIFT * (1 + Fraction(first.limit) * plan.norm)
    moves = 2 if adjacency == "replace_one" else 1
    assert Fraction(1, 2) < plan.norm <= 1
    for index, phase in enumerate(plan.phases):
        assert Fraction(phase.step.pull) * plan.norm**2 <= 2
        assert Fraction(first.limit) / 4**index == Fraction(phase.step.limit)
        lattice = Fraction(phase.lattice)
        steps = moves * Fraction(phase.step.limit) * plan.norm + 2 * phase.records * drift
        needed = steps / lattice + phase.records * Fraction(math.isqrt(columns - 1) + 1)
        assert needed <= phase.release.sensitivity < needed + 1
        assert multiplier == phase.release.parameter("sigma") / phase.release.sensitivity
        assert 1 / lattice < 2**62


def test_a_steeper_schedule_cannot_be_made():
    plan = schedule(records=8, columns=2, bound=2**10, margin="1/4", noise_multiplier=4)
    assert Fraction(2) == Fraction(plan.phases[0].step.pull)
    steeper = replace(plan.phases[0], step=replace(plan.phases[0].step, pull=2.0 + 2.0**-40))
    with pytest.raises(InvalidArgument, match="DPA103"):
        replace(plan, phases=(steeper, *plan.phases[1:]))


def test_what_needs_more_than_64_bits_is_refused():
    with pytest.raises(InvalidArgument, match="DPA108"):
        schedule(records=2**31, columns=2**20, bound=2**20, margin="1/4", noise_multiplier=10**4)


def test_adding_and_removing_records_is_refused():
    with pytest.raises(Unsupported, match="DPA604"):
        schedule(records=8, columns=2, bound=4, margin="1/4", noise_multiplier=4, adjacency="add_remove")


def exact_mean(records, start, step, bits=200):
    """The recursion in `bits` bits."""
    with mpmath.workprec(bits):
        iterate, total = [mpmath.mpf(value) for value in start], [mpmath.mpf(0)] * len(start)
        for record in records:
            total = [one + other for one, other in zip(total, iterate, strict=True)]
            margin = mpmath.fdot(iterate, record.tolist())
            length = min(max(step.pull * (step.margin - margin), 0), step.limit)
            iterate = [value + length * float(entry) for value, entry in zip(iterate, record, strict=True)]
            norm = mpmath.sqrt(mpmath.fdot(iterate, iterate))
            iterate = [value / max(1, norm) for value in iterate]
        return np.array([float(value / len(records)) for value in total], dtype=float)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 8), st.floats(0.01, 1), st.sampled_from([1e-4, 0.05, 2.0]))
def test_floats_stay_within_the_drift_of_exact_arithmetic(seed, count, columns, margin, limit):
    rng = np.random.default_rng(seed)
    records = rng.standard_normal((count, columns))
    records /= np.linalg.norm(records, axis=1, keepdims=True) * (1 + 1e-12)
    start = rng.standard_normal(columns)
    start /= np.linalg.norm(start) * (1 + 1e-12)
    step = HingeStep(margin, 2.0, limit)
    found = mean_of_iterates(records, start, step)
    allowed = count * float((4 * columns + 16) * DRIFT) * (1 + limit)
    assert np.linalg.norm(found - exact_mean(records, start, step)) <= allowed


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(0, 39), st.floats(0.01, 1), st.sampled_from([1e-3, 0.05, 1.0]))
def test_one_record_moves_a_mean_by_no_more_than_its_place_allows(seed, count, place, margin, limit):
    rng = np.random.default_rng(seed)
    place %= count
    first = rng.standard_normal((count, 3))
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = first.copy()
    second[place] = -first[place] if seed % 2 else rng.permutation(first[place])
    start = rng.standard_normal(3)
    start /= np.linalg.norm(start)
    step = HingeStep(margin, 2.0, limit)
    distance = np.linalg.norm(mean_of_iterates(first, start, step) - mean_of_iterates(second, start, step))
    share = (count - 1 - place) / count
    assert distance <= share * (2 * limit + 2 * count * float((4 * 3 + 16) * DRIFT) * (1 + limit))


def test_the_last_record_of_a_phase_is_not_seen_at_all():
    rows = some_rows(2, 3)
    turned = replace(rows, labels=1 - rows.labels)
    plan = plan_for(rows)
    means = [next(noisy_means(one, plan, np.arange(2), source_from(np.random.default_rng(4)))) for one in (rows, turned)]
    assert means[0].tolist() == means[1].tolist()


def test_phases_take_disjoint_records_in_the_given_order(monkeypatch):
    rows, seen = some_rows(100, 3), []
    monkeypatch.setattr(phased, "_signed", lambda rows, places, unit: seen.append(places.tolist()) or iter(()))
    order = random_order(100)
    list(noisy_means(rows, plan_for(rows), order))
    assert order[: sum(batches(100))].tolist() == [place for places in seen for place in places]


def test_releases_are_those_of_the_schedule():
    rows = some_rows(50, 4)
    plan = plan_for(rows, adjacency="zero_out")
    with recording() as log:
        phased_sgd(rows, plan, random_order(50))
    assert list(plan.releases) == list(log)


def test_a_release_is_noise_on_the_nearest_point_of_the_lattice():
    rows = some_rows(64, 3)
    plan = plan_for(rows, noise_multiplier="1/1000000")
    released = next(noisy_means(rows, plan, np.arange(64)))
    signed = rows.steps[:32] * ((2 * rows.labels[:32] - 1) * plan.unit)[:, np.newaxis]
    mean = mean_of_iterates(signed, np.zeros(3), plan.phases[0].step)
    assert np.rint(mean / plan.phases[0].lattice).tolist() == released.tolist()


def test_a_mean_off_the_lattice_would_be_refused_by_the_mechanism():
    with pytest.raises(InvalidArgument, match="DPA107"):
        GaussianMechanism(sensitivity=5, sigma=5, adjacency="replace_one").release(np.array([0.5, 1.0]))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_released_weights_are_in_the_ball_exactly(values):
    weights = on_ball(np.array(values))
    assert sum(int(weight) ** 2 for weight in weights) <= 4**WEIGHT_BITS


def test_weights_outside_the_ball_are_brought_to_its_border():
    weights = on_ball(np.array([3e9, -4e9, 0.0]))
    size = sum(int(weight) ** 2 for weight in weights)
    assert 4**WEIGHT_BITS * (1 - 2.0**-28) < size <= 4**WEIGHT_BITS


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("value", [0, 1])
def test_few_and_equal_and_zero_records_are_learned_from(count, value):
    rows = to_rows(np.full((count, 2), float(value)), np.zeros(count, dtype=np.int64), feature_norm=1, lattice_bits=4)
    weights = phased_sgd(rows, plan_for(rows), random_order(count))
    assert (2,) == weights.shape
    assert count > 1 or not weights.any()


def test_sparse_and_dense_rows_give_the_same_weights():
    rows = some_rows(40, 5)
    other = replace(rows, steps=sparse.csr_array(rows.steps))
    plan = plan_for(rows)
    found = [phased_sgd(one, plan, np.arange(40), source_from(np.random.default_rng(1))) for one in (rows, other)]
    assert found[0].tolist() == found[1].tolist()


def test_rows_that_a_plan_was_not_made_for_are_refused_before_any_release():
    rows = some_rows(10, 2)
    plan = plan_for(rows)
    for wrong in (replace(rows, bound=rows.bound + 1), some_rows(9, 2), some_rows(10, 3)):
        with recording() as log, pytest.raises(InvalidArgument, match="DPA103"):
            noisy_means(wrong, plan, np.arange(10))
        assert [] == list(log)
    with pytest.raises(InvalidArgument, match="DPA103"):
        noisy_means(rows, plan, np.arange(3))


class Words:
    """A bit source of given words."""

    secure = False

    def __init__(self, *words):
        self.words = list(words)

    def uniform(self, bits, size):
        taken, self.words = self.words[:size], self.words[size:]
        assert all(word < 2**bits for word in taken)
        return np.array(taken, dtype=np.uint64)

    def bits(self, count):
        raise AssertionError(count)


def test_equal_words_are_drawn_again():
    assert [2, 0, 1] == random_order(3, Words(7, 1, 7, 5, 9, 2)).tolist()


def test_words_that_are_too_large_are_drawn_again():
    assert [4, 3, 0] == random_places(3, 5, Words(4, 5, 0, 7, 3)).tolist()


def test_orders_are_never_the_same_twice():
    assert random_order(100).tolist() != random_order(100).tolist()
    assert random_places(100, 100).tolist() != random_places(100, 100).tolist()


def test_every_permutation_is_as_likely():
    source = source_from(np.random.default_rng(5))
    counts = {}
    for _ in range(6000):
        order = tuple(random_order(3, source).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert 6 == len(counts)
    # The chi-square tail with 5 degrees of freedom beyond 50 is 1.4e-9.
    assert sum((seen - 1000) ** 2 / 1000 for seen in counts.values()) < 52


# What the leading record costs in the order in which the records stand, and in a secret one.


def least_epsilon(profile, delta=1e-6):
    return brentq(lambda epsilon: profile(epsilon) - delta, 0, 20, xtol=1e-9)


@pytest.mark.parametrize(("c", "spent"), [(8.45, 0.966), (2.387, 3.86)])
def test_a_known_order_and_the_leading_record_spend_nearly_all_that_is_claimed(c, spent):
    mu = 2 / c * math.sqrt(15 / 16)
    closed = least_epsilon(lambda epsilon: ndtr(-epsilon / mu + mu / 2) - math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2))
    assert math.isclose(spent, closed, abs_tol=0.005)
    priced = gaussian(sigma=Fraction(1 / mu), adjacency="replace_one").epsilon(delta="1e-6").upper
    assert math.isclose(closed, float(priced), rel_tol=1e-4)


@pytest.mark.parametrize(("c", "spent"), [(7.19, 0.30), (2.08, 1.18)])
def test_a_secret_order_hides_most_of_the_leading_record(c, spent):
    """The exact pair: means at plus and minus u 4^-(i-1) for place u of phase i, against the noise of all phases."""
    count = 10**4
    means, chances = [np.zeros(1)], [np.array([1 - sum(batches(count)) / count])]
    for index, size in enumerate(batches(count)):
        means.append(np.arange(size)[::-1] / size / 4**index)
        chances.append(np.full(size, 1 / count))
    grid = np.linspace(0, 1, 257)
    weights, _ = np.histogram(np.concatenate(means), bins=np.append(grid - 1 / 512, 2), weights=np.concatenate(chances))
    noise = c * math.sqrt(16 / 15)
    cells = np.linspace(-9 * noise, 9 * noise, 4001)

    def masses(sign):
        return np.diff(weights @ ndtr((cells[np.newaxis] - sign * grid[:, np.newaxis]) / noise))

    plus, minus = masses(1), masses(-1)
    found = least_epsilon(lambda epsilon: np.maximum(plus - math.exp(epsilon) * minus, 0).sum())
    assert math.isclose(spent, found, rel_tol=0.05)


def test_the_bundled_pair_moves_the_iterates_by_what_the_analysis_says():
    """Means of 10,000 releases for each label; each is normal, so that 6.5 standard errors are exceeded with probability 8e-11."""
    known = KnownOrder(SECRET.schedule)
    phase = known.schedule.phases[0]
    deviation = float(phase.release.parameter("sigma")) * phase.lattice
    found = [known.sample_first_mean(data, 10**4, np.random.default_rng(3 + index)).mean() for index, data in enumerate(LEADING)]
    moved = 2 * phase.step.limit * float(known.schedule.norm) * (COUNT // 2 - 1) / (COUNT // 2)
    assert abs(found[0] - found[1] - moved) <= 6.5 * deviation * math.sqrt(2 / 10**4)


def test_targets_give_as_many_outputs_as_asked_for():
    rng = np.random.default_rng(1)
    for target in TARGETS:
        assert 3 == len(target.sample(LEADING[0], 3, rng))
    assert KnownOrder(SECRET.schedule).sample_weights(LEADING[0], 2, rng).dtype == np.float64


def test_rows_with_a_bound_that_is_no_power_of_two_are_brought_below_one():
    rows = Rows(np.array([[3, 4]] * 4, dtype=np.int32), 5, Fraction(1, 5), np.zeros(4, dtype=np.int64))
    plan = plan_for(rows)
    assert (0.125, Fraction(5, 8)) == (plan.unit, plan.norm)
