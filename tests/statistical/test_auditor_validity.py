"""Validity of the auditor's statistics: sizes by exact enumeration, wrong variants that must fail, and the bets at the boundary."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.auditor.betting.bankroll import Bankroll, LabelBettor
from dpaudit.auditor.events.ranking import rank_events
from dpaudit.auditor.statistics.bounds import (
    ClaimPoint,
    clopper_pearson_lower,
    epsilon_lower_bound,
    p_value,
    profile_lower_bounds,
)
from dpaudit.results import Counts

FALSE_ALARM = 1e-9
"""How often each simulated test may fail by chance."""

RUNS = 40
ALPHA = 0.05
BOUNDARY = [0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9]
"""Values of Q(S); the worst pair that keeps the claim has P(S) = e^epsilon Q(S) + delta."""


def outcomes(runs=RUNS):
    return [Counts(ones, zeros, runs) for ones in range(runs + 1) for zeros in range(runs + 1 - ones)]


def probabilities(counts, one, zero):
    """Trinomial law of the counts when a run is a hit of label 1 (0) with probability `one` (`zero`)."""
    ones, zeros = (np.array([getattr(count, name) for count in counts]) for name in ("ones", "zeros"))
    hits, mass = ones + zeros, one + zero
    return binom.pmf(hits, counts[0].runs, mass) * binom.pmf(ones, hits, one / mass if mass else 0.5)


def worst_size(rejects, epsilon, delta, runs=RUNS):
    """Largest rejection probability over pairs on the boundary of the claim, summed over every outcome."""
    counts = outcomes(runs)
    rejected = np.array([rejects(count) for count in counts])
    sizes = [
        float(probabilities(counts, (math.exp(epsilon) * rare + delta) / 2, rare / 2) @ rejected)
        for rare in BOUNDARY
        if math.exp(epsilon) * rare + delta <= 1
    ]
    return max(sizes)


def exceeds(bound, epsilon):
    return bound is not None and bound >= epsilon


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 2.0])
def test_the_pure_bound_and_its_p_value_keep_their_size(epsilon):
    size = worst_size(lambda count: exceeds(epsilon_lower_bound(count, delta=0, alpha=ALPHA), epsilon), epsilon, 0.0)
    # Some outcome must reject, or the test would be empty.
    assert 1e-6 < size <= ALPHA
    point = ClaimPoint(epsilon, 0)
    for level in (0.3, ALPHA, 0.001):
        assert worst_size(lambda count, level=level: p_value(count, point=point) <= level, epsilon, 0.0) <= level


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (0.1, 0.01), (1.0, 0.05), (1.0, 0.2)])
def test_the_mass_corrected_bound_and_its_p_value_keep_their_size(epsilon, delta):
    size = worst_size(lambda count: exceeds(epsilon_lower_bound(count, delta=delta, alpha=ALPHA), epsilon), epsilon, delta)
    assert 1e-6 < size <= ALPHA
    point = ClaimPoint(epsilon, delta)
    values = {count: p_value(count, point=point) for count in outcomes(24)}
    for level in (0.5, 0.1, 0.001):
        assert worst_size(lambda count, level=level: values[count] <= level, epsilon, delta, runs=24) <= level


@pytest.mark.parametrize(("one", "zero"), [(0.6, 0.2), (0.3, 0.05), (0.9, 0.9), (0.2, 0.0), (0.5, 0.4)])
def test_all_points_of_the_attacked_profile_hold_together(one, zero):
    epsilons = [0.0, 0.2, 0.5, 1.0, 2.0, 5.0]
    truth = np.array([max(0.0, one - math.exp(epsilon) * zero) for epsilon in epsilons])
    counts = outcomes()
    for level in (0.5, ALPHA):
        wrong = np.array([bool((np.array(profile_lower_bounds(count, epsilons, level)) > truth + 1e-12).any()) for count in counts])
        assert float(probabilities(counts, one / 2, zero / 2) @ wrong) <= level


def test_subtracting_delta_from_theta_fails_as_it_must():
    """Wrong: it bounds P - delta (P + Q) instead of P - delta."""
    epsilon, delta = 0.1, 0.3

    def rejects(count):
        theta = float(clopper_pearson_lower(count.ones, count.ones + count.zeros, ALPHA))
        return theta > delta and math.log((theta - delta) / (1 - theta)) >= epsilon

    assert worst_size(rejects, epsilon, delta, runs=80) > 0.5


def test_plugging_in_the_observed_mass_fails_as_it_must():
    """Wrong: the mass is estimated from the same runs and not bounded."""
    epsilon, delta = 0.1, 0.5

    def rejects(count):
        hits = count.ones + count.zeros
        theta = float(clopper_pearson_lower(count.ones, hits, ALPHA))
        spared = delta * count.runs / (2 * hits) if hits else 1.0
        return theta > spared and math.log((theta - spared) / (1 - theta)) >= epsilon

    assert worst_size(rejects, epsilon, delta, runs=80) > ALPHA


def test_choosing_hits_until_it_looks_significant_fails_as_it_must():
    """Wrong: the event follows past labels, so the number of hits is a stopping time in disguise."""
    epsilon, hits = 1.0, 300
    sigma = math.exp(epsilon) / (1 + math.exp(epsilon))
    law, stopped = np.array([1.0]), 0.0
    for seen in range(1, hits + 1):
        law = np.append(law * (1 - sigma), 0.0) + np.append(0.0, law * sigma)
        significant = binom.sf(np.arange(seen + 1) - 1, seen, sigma) <= ALPHA
        stopped += float(law[significant].sum())
        law[significant] = 0.0
    assert stopped > 2 * ALPHA


def test_swapping_counts_so_that_the_larger_comes_first_fails_as_it_must():
    """Wrong: the direction is chosen on the counts that are tested."""
    counts = outcomes()
    point = ClaimPoint(0, 0)
    rejected = [p_value(Counts(max(c.ones, c.zeros), min(c.ones, c.zeros), c.runs), point=point) <= ALPHA for c in counts]
    assert float(probabilities(counts, 0.45, 0.45) @ np.array(rejected)) > ALPHA


def laplace_at_the_boundary(stream, runs):
    labels = stream.integers(0, 2, runs).astype(np.uint8)
    return (stream.laplace(0, 1, runs) + labels)[:, None], labels


def response_at_the_boundary(stream, runs):
    """The extreme pair of (1, 0.05): one output tells the label, the others are randomised response."""
    labels = stream.integers(0, 2, runs).astype(np.uint8)
    flipped = stream.random(runs) >= math.e / (1 + math.e)
    told = stream.random(runs) < 0.05
    return np.where(told, 2.0 + labels, labels ^ flipped)[:, None], labels


@pytest.mark.parametrize(
    ("runs_of", "point"),
    [(laplace_at_the_boundary, ClaimPoint(1, 0)), (response_at_the_boundary, ClaimPoint(1, "0.05"))],
    ids=["laplace", "response"],
)
def test_a_true_claim_is_refuted_no_more_often_than_alpha_allows_at_any_time(runs_of, point, full_size):
    # Shorter audits keep the number of seeds, and with it the error probability of this test.
    seeds, runs = 400, 20_000 if full_size else 5_000
    rejections = 0
    for seed in range(seeds):
        increments = LabelBettor(point).observe(*runs_of(np.random.default_rng([20, seed]), runs))
        rejections += bool(np.cumsum(increments).max() >= math.log(1 / ALPHA))
    assert rejections <= binom.isf(FALSE_ALARM, seeds, ALPHA)


def test_a_bankroll_with_events_from_its_own_pilot_keeps_alpha():
    seeds, point, rejections = 60, ClaimPoint(1, 0), 0
    for seed in range(seeds):
        stream = np.random.default_rng([21, seed])
        bankroll = Bankroll(point)
        best, pilots = -math.inf, []
        for pair in (0, 1):
            bankroll.open(pair, 0.5)
            pilots.append(laplace_at_the_boundary(stream, 1500))
            best = max(best, float(bankroll.observe(pair, *pilots[pair]).max()))
        events = rank_events(*pilots[1], point=point, final_runs=5000, alpha=ALPHA)
        bankroll.concentrate(1, events)
        best = max(best, float(bankroll.observe(1, *laplace_at_the_boundary(stream, 5000)).max()))
        rejections += best >= math.log(1 / ALPHA)
    assert rejections <= binom.isf(FALSE_ALARM, seeds, ALPHA)


def test_an_event_from_the_pilot_and_one_bound_on_fresh_runs_keep_alpha():
    seeds, wrong = 100, 0
    for seed in range(seeds):
        stream = np.random.default_rng([22, seed])
        pilot = laplace_at_the_boundary(stream, 1000)
        best = rank_events(*pilot, point=ClaimPoint(1, 0), final_runs=9000, alpha=ALPHA)[0]
        features, labels = laplace_at_the_boundary(stream, 9000)
        hit = labels[best.event.hits(features)]
        ones, zeros = int(hit.sum()), len(hit) - int(hit.sum())
        counts = Counts(zeros, ones, 9000) if best.reverse else Counts(ones, zeros, 9000)
        wrong += exceeds(epsilon_lower_bound(counts, delta=0, alpha=ALPHA), 1)
    assert wrong <= binom.isf(FALSE_ALARM, seeds, ALPHA)
