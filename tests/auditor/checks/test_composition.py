"""Composition laws of the accountant on random trees, what recorded spends add up to, and attacks that stay below the price."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.accounting import Filter, Poisson, compose, discrete_laplace, gaussian, price_releases, pure_dp, randomized_response
from dpaudit.auditor.checks.prices import check_spending
from dpaudit.auditor.checks.replay import check_replay
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.errors import BudgetExceeded
from dpaudit.releases import recording
from mechanisms import ExponentialMechanism, LaplaceMechanism, RandomizedResponse, source_from

SCALES = st.integers(1, 4)
LEAVES = st.one_of(
    SCALES.map(lambda scale: discrete_laplace(scale=scale)),
    SCALES.map(lambda scale: randomized_response(epsilon=Fraction(1, scale), adjacency="add_remove")),
    SCALES.map(lambda scale: pure_dp(epsilon=Fraction(1, 2 * scale))),
    SCALES.map(lambda scale: gaussian(sigma=scale)),
)
TREES = st.recursive(
    LEAVES,
    lambda parts: st.one_of(st.tuples(parts, parts).map(lambda pair: compose(*pair)), parts.map(lambda part: 2 * part)),
    max_leaves=3,
)
EPSILONS = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)])
MOST_RELEASES = 12
FEW = settings(max_examples=12, deadline=None)


@FEW
@given(first=TREES, second=TREES, epsilon=EPSILONS)
def test_a_composition_costs_at_least_its_dearest_part_in_any_order(first, second, epsilon):
    both, turned = compose(first, second).delta(epsilon=epsilon), compose(second, first).delta(epsilon=epsilon)

    assert both.upper >= max(part.delta(epsilon=epsilon).lower for part in (first, second))
    assert both.lower <= turned.upper
    assert turned.lower <= both.upper


@FEW
@given(first=TREES, second=TREES, epsilon=EPSILONS)
def test_a_composition_costs_at_most_the_sum_of_its_parts(first, second, epsilon):
    deltas = [part.delta(epsilon=epsilon).upper for part in (first, second)]

    assert compose(first, second).delta(epsilon=2 * epsilon).lower <= sum(deltas)


@FEW
@given(tree=TREES, epsilon=EPSILONS)
def test_repetition_is_composition_once_is_nothing_new_and_delta_falls_as_epsilon_grows(tree, epsilon):
    one, two, four = tree.delta(epsilon=epsilon), (2 * tree).delta(epsilon=epsilon), (4 * tree).delta(epsilon=epsilon)
    nested, again = (2 * (2 * tree)).delta(epsilon=epsilon), compose(tree, tree).delta(epsilon=epsilon)

    assert (one.lower, one.upper) == ((1 * tree).delta(epsilon=epsilon).lower, (1 * tree).delta(epsilon=epsilon).upper)
    assert nested.lower <= four.upper
    assert four.lower <= nested.upper
    assert again.lower <= two.upper
    assert two.lower <= again.upper
    assert tree.delta(epsilon=epsilon + 1).lower <= one.upper


@FEW
@given(leaf=LEAVES, epsilon=EPSILONS)
def test_taking_a_random_part_of_the_records_never_costs_more(leaf, epsilon):
    assert leaf.sampled(Poisson("1/4")).delta(epsilon=epsilon).lower <= leaf.delta(epsilon=epsilon).upper


@FEW
@given(shares=st.lists(st.fractions(Fraction(1, 50), 1, max_denominator=50), min_size=1, max_size=5))
def test_what_a_run_spends_is_exactly_the_sum_of_its_shares(shares):
    def run(rows, rng):
        source = source_from(rng)
        return [LaplaceMechanism(sensitivity=1, epsilon=share).release(len(rows), source) for share in shares]

    def status(claimed):
        target = Target(run=run, claim=Claim(PureDP(epsilon=claimed)), neighbours=[([1], [])])
        return check_spending(target, candidate_pairs(target)[0]).property.status

    assert "holds" == status(sum(shares))
    assert "violated" == status(sum(shares) * Fraction(999, 1000))


def adaptively(spend):
    """Releases whose epsilons follow from earlier outputs, each asked of `spend` first, until it refuses one."""

    def run(rows, rng):
        source, shown, spending = source_from(rng), [], spend()
        for _ in range(MOST_RELEASES):
            share = Fraction(1, 2 + abs(shown[-1]) % 3) if shown else Fraction(1, 4)
            try:
                spending(share)
            except BudgetExceeded:
                break
            shown.append(LaplaceMechanism(sensitivity=1, epsilon=share).release(len(rows), source))
        return shown

    return Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [])], name="adaptive")


def of_a_filter():
    budget = Filter(PureDP(epsilon=1))
    return lambda share: budget.spend(PureDP(epsilon=share))


def of_a_filter_that_forgets():
    return lambda share: Filter(PureDP(epsilon=1)).spend(PureDP(epsilon=share))


def test_adaptive_composition_stops_at_the_filter_and_replayed_spends_agree():
    stopping, careless = adaptively(of_a_filter), adaptively(of_a_filter_that_forgets)
    for seed in range(20):
        with recording() as log:
            outputs = stopping.run([1], np.random.default_rng(seed))
        replayed = Filter(PureDP(epsilon=1))
        for release in log:
            replayed.spend(price_releases([release]))

        assert len(outputs) == len(log) < MOST_RELEASES
        assert replayed.spent["epsilon"] == price_releases(log).epsilon(delta=0).upper <= 1
        assert not replayed.admits(PureDP(epsilon=1))

    for target, status in ((stopping, "holds"), (careless, "violated")):
        assert status == check_spending(target, candidate_pairs(target)[0]).property.status
        assert {"holds"} == {found.property.status for found in check_replay(target, candidate_pairs(target))}
    assert "epsilon is at least" in check_spending(careless, candidate_pairs(careless)[0]).property.detail


def test_a_function_that_spends_too_much_in_some_runs_only_is_found():
    def run(rows, rng):
        source = source_from(rng)
        first = LaplaceMechanism(sensitivity=1, epsilon="1/2").release(len(rows), source)
        return first, [LaplaceMechanism(sensitivity=1, epsilon="1/2").release(len(rows), source) for _ in range(1 + (first > 3))]

    target = Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [])])
    found = check_spending(target, candidate_pairs(target)[0]).property

    assert ("violated", "epsilon is at least 1.5, over 3 releases") == (found.status, found.detail)


SCORES = ([0, 1, 0], [1, 0, 1])


@pytest.mark.parametrize(
    ("mechanism", "inputs"),
    [
        (LaplaceMechanism(sensitivity=1, epsilon=1), (3, 4)),
        (RandomizedResponse(epsilon=1), (0, 1)),
        (ExponentialMechanism(sensitivity=1, epsilon=1), SCORES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_attack_on_a_mechanism_used_twice_gets_above_its_certified_price(mechanism, inputs):
    def run(side, rng):
        source = source_from(rng)
        return mechanism.release(inputs[side], source), mechanism.release(inputs[side], source)

    # Wrong with probability at most 1e-9 for each mechanism.
    target = Target(run=run, claim=replace(mechanism.claim, guarantee=PureDP(epsilon=1)), neighbours=[(0, 1)])
    result = audit(target, runs=3000, alpha="1e-9", seed=3).results[0]
    with recording() as log:
        mechanism.release(inputs[0])
        mechanism.release(inputs[0])

    found = result.attack.bound.epsilon
    assert found is None or found <= price_releases(log).epsilon(delta=0).upper
