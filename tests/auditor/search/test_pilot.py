"""The pilot spends its runs on fewer and fewer pairs, and ends with the one that fresh runs speak for."""

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.attack.pilot import _estimate_promise
from dpaudit.auditor.attack.plans import plan_of
from dpaudit.auditor.checks.properties import runs_of_checks
from dpaudit.auditor.events.ranking import RankedEvent, Threshold, expected_bound
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.statistics.bounds import ClaimPoint

RUNS = 350_000
SHIFTS = (0.1, 0.2, 1.0, 0.3)


def telling(data, n, rng):
    return data + rng.laplace(size=n)


def target(seen=None):
    def sample(data, n, rng):
        if seen is not None and data > 0:
            seen[data] += n
        return telling(data, n, rng)

    pairs = [(0.0, shift) for shift in SHIFTS]
    return Target(sample=sample, claim=Claim(PureDP(epsilon="3/2")), neighbours=pairs, name="telling")


def test_the_telling_pair_is_chosen_and_gets_most_runs_of_the_pilot():
    seen = Counter()
    attack = audit(target(seen), runs=RUNS, seed=1).results[0].attack

    assert 2 == attack.pair.index == attack.seed_path[1]
    assert seen[1.0] > 5 * max(seen[0.1], seen[0.2], seen[0.3])
    plan = plan_of(RUNS, 4, runs_of_checks(candidate_pairs(target())))
    assert attack.plan == (plan.pilot, plan.betting, plan.bound)


def half(ones, zeros, misses):
    """Rows of one column: hits by label, and runs that miss the event."""
    values = np.repeat([1.0, 0.0], [ones + zeros, misses])[:, None]
    return values, np.concatenate([np.ones(ones), np.zeros(zeros), np.arange(misses) % 2]).astype(np.uint8)


@pytest.mark.parametrize(("reverse", "shown"), [(False, math.log(1500.5 / 500.5)), (True, 0.0)])
def test_a_pair_is_judged_by_what_half_of_its_runs_predicts_and_the_other_half_shows(reverse, shown):
    (before, labels), (after, others) = half(500, 1500, 3000), half(1500, 500, 3000)
    best = RankedEvent(Threshold(0, 0.5, at_most=False), reverse, predicted=0.3, mass=0.4, theta=0.7)
    asked = []

    def rank(rows, runs):
        asked.append((rows[1].tolist(), runs))
        return (best, replace(best, predicted=9.0)) if len(asked) % 2 else ()

    rows = np.concatenate([before, after]), np.concatenate([labels, others])

    assert 0.3 + shown / 2 == pytest.approx(_estimate_promise(rows, rank, 0.0))
    assert [(labels.tolist(), 10_000), (others.tolist(), 10_000)] == asked
    assert 0.3 == _estimate_promise(rows, rank, 0.9)
    assert 0.0 == _estimate_promise(rows, lambda rows, runs: (), 0.0)


def test_few_runs_are_judged_by_their_prediction_alone():
    rows = half(10, 30, 60)
    best = RankedEvent(Threshold(0, 0.5, at_most=False), reverse=True, predicted=0.3, mass=0.4, theta=0.7)

    assert 0.3 == _estimate_promise(rows, lambda rows, runs: (best,) if (len(rows[1]), runs) == (100, 100) else (), 0.0)


def test_where_the_pair_is_decided_a_rare_event_that_other_runs_show_is_worth_more_than_a_broad_harmless_one():
    rare, broad = half(80, 20, 1900), half(650, 350, 1000)
    best = RankedEvent(Threshold(0, 0.5, at_most=False), reverse=False, predicted=0.3, mass=0.05, theta=0.8)
    bound_of = partial(expected_bound, point=ClaimPoint(1, 0), final_runs=100_000, alpha=0.0005)

    def promise(rows):
        order = np.random.default_rng(1).permutation(len(rows[1]))
        return _estimate_promise((rows[0][order], rows[1][order]), lambda *_: (best,), 0.0, bound_of)

    assert promise(broad) < 0.7
    assert 1.0 < promise(rare) < math.log(4)


@pytest.mark.parametrize("runs", [2_000, RUNS])
def test_workers_do_not_change_which_pairs_are_dropped(runs):
    with ThreadPoolExecutor(3) as threads:
        assert audit(target(), runs=runs, seed=3).results == audit(target(), runs=runs, seed=3, executor=threads).results


def test_the_search_gets_more_of_a_large_budget_but_never_for_a_single_pair():
    assert 10**6 > plan_of(10**7, 1).pilot
    assert 3 * 10**6 < plan_of(10**7, 16).pilot < 35 * 10**5
    assert np.isclose(plan_of(10**6, 1).pilot, plan_of(10**6, 16).pilot, rtol=1e-3)
