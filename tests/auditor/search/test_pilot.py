"""The pilot spends its runs on fewer and fewer pairs, and ends with the one that fresh runs speak for."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.plans import plan_of

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
    assert attack.plan == (plan_of(RUNS, 4).pilot, plan_of(RUNS, 4).betting, plan_of(RUNS, 4).bound)


@pytest.mark.parametrize("runs", [2_000, RUNS])
def test_workers_do_not_change_which_pairs_are_dropped(runs):
    with ThreadPoolExecutor(3) as threads:
        assert audit(target(), runs=runs, seed=3).results == audit(target(), runs=runs, seed=3, executor=threads).results


def test_the_search_gets_more_of_a_large_budget_but_never_for_a_single_pair():
    assert 10**6 > plan_of(10**7, 1).pilot
    assert 3 * 10**6 < plan_of(10**7, 16).pilot < 35 * 10**5
    assert np.isclose(plan_of(10**6, 1).pilot, plan_of(10**6, 16).pilot, rtol=1e-3)
