"""Partition selection: the recursion of the paper, private and largest in balls, exact coins by enumeration, refusals."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import price_releases
from dpaudit.claims import ApproxDP
from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from dpaudit.releases import recording
from mechanisms import PartitionSelection, StabilityHistogram, source_from
from mechanisms.partition_selection import Rule, border, select_keys

RULES = [
    Rule(Fraction(1), Fraction(1, 10**6)),
    Rule(Fraction(1), Fraction(1, 100)),
    Rule(Fraction(1, 7), Fraction(1, 20)),
    Rule(Fraction(5), Fraction(1, 10)),
    Rule(Fraction(1, 3), Fraction(1, 2)),
    Rule(Fraction(2), Fraction(3, 4)),
    Rule(Fraction(1, 100), Fraction(1, 3)),
]

rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.epsilon}, {rule.delta}")


def choose(**changes):
    return PartitionSelection(**{"epsilon": 1, "delta": "1/100", **changes})


def source(seed=61):
    return source_from(np.random.default_rng(seed))


def recursion(rule, last):
    """Probabilities for 0 .. `last` people by the paper's recursion."""
    rise, fall, delta = ball(rule.epsilon).exp(), (-ball(rule.epsilon)).exp(), ball(rule.delta)
    probabilities = [arb(0)]
    for _ in range(last):
        before = probabilities[-1]
        probabilities.append((rise * before + delta).min(1 - fall * (1 - before - delta)).min(arb(1)))
    return probabilities


@rules
def test_probabilities_are_those_of_the_recursion(rule):
    with working_precision(512):
        for people, expected in enumerate(recursion(rule, rule.sure + 3)):
            if people:
                assert rule.probability(people).min(arb(1)).overlaps(expected)
                assert expected.rad() < arb(10) ** -60


@rules
def test_one_person_more_or_less_tells_no_more_than_epsilon_and_delta(rule):
    with working_precision(512):
        bound, slack = ball(rule.epsilon).exp(), ball(rule.delta) + ball(Fraction(1, 10**60))
        shown = [arb(0), *(rule.probability(people).min(arb(1)) for people in range(1, rule.sure + 3))]
        for one, more in pairwise(shown):
            for first, second in ((one, more), (more, one)):
                assert first <= bound * second + slack
                assert 1 - first <= bound * (1 - second) + slack


@rules
def test_a_larger_probability_for_any_number_of_people_would_tell_more(rule):
    with working_precision(512):
        bound, delta, more = ball(rule.epsilon).exp(), ball(rule.delta), ball(Fraction(1, 10**40))
        before = arb(0)
        for people in range(1, rule.turn + 10):
            larger = rule.probability(people).min(arb(1)) + more
            kept = larger <= 1 and larger <= bound * before + delta and 1 - before <= bound * (1 - larger) + delta
            assert not kept
            before = rule.probability(people).min(arb(1))


@rules
def test_keys_are_sure_from_the_stated_number_on_and_hardly_before(rule):
    with working_precision(512):
        assert rule.probability(rule.sure) >= 1
        assert rule.sure <= 2 or rule.probability(rule.sure - 2) < 1


def test_more_keys_are_selected_than_a_noisy_threshold_shows():
    optimal, noisy = choose(delta="1e-6"), StabilityHistogram(epsilon=1, delta="1e-6")
    ratio = math.exp(-1)
    with working_precision(128):
        for people in range(2, noisy.threshold):
            shown = ratio ** (noisy.threshold - people) / (1 + ratio)
            assert optimal._rule.probability(people) > shown * 1.0001


@pytest.mark.parametrize("bits", [1, 3, 6])
@pytest.mark.parametrize(
    ("rule", "people"), [(RULES[1], 1), (RULES[1], 4), (RULES[2], 5), (RULES[4], 1), (RULES[4], 2), (RULES[5], 1), (RULES[1], 99)]
)
def test_a_key_is_selected_with_exactly_its_probability(rule, people, bits, outcomes):
    found, left = outcomes(lambda tape: bool(select_keys(rule, np.array([people]), tape, bits=bits, step=1)[0]))
    with working_precision(200):
        true = rule.probability(people).min(arb(1))
        lower = ball(found.get(True, Fraction(0)))
        assert lower <= true or lower.overlaps(true)
        assert true <= lower + ball(left) or true.overlaps(lower + ball(left))


def test_keys_are_selected_independently(outcomes):
    rule, people = Rule(Fraction(1), Fraction(1, 4)), np.array([2, 1])
    found, left = outcomes(
        lambda tape: tuple(select_keys(rule, people, tape, bits=4, step=1).tolist()), unassigned=Fraction(1, 2**9)
    )
    with working_precision(200):
        first, second = rule.probability(2), rule.probability(1)
        expected = {
            (True, True): first * second,
            (True, False): first * (1 - second),
            (False, True): (1 - first) * second,
            (False, False): (1 - first) * (1 - second),
        }
        for outcome, true in expected.items():
            assert ball(found[outcome]) <= true <= ball(found[outcome] + left)


@pytest.mark.parametrize("bits", [8, 62])
@rules
def test_borders_are_floors_of_probabilities(rule, bits):
    with working_precision(2000):
        for people in range(1, rule.sure + 2):
            scaled = rule.probability(people).min(arb(1)) * 2**bits
            found = border(rule, people, bits)
            assert found <= scaled or scaled.contains(found)
            assert scaled < found + 1


def test_selections_follow_their_probabilities(false_alarm_level):
    from scipy.stats import binom

    mechanism, runs = choose(), 20_000
    values = [people for people in range(1, 9) for _ in range(people)]
    results = mechanism.releases(values, runs, source())
    with working_precision(100):
        for people in range(1, 9):
            found = sum(people in keys for keys in results)
            chance = float(mechanism._rule.probability(people).min(arb(1)))
            assert binom.cdf(found, runs, chance) > false_alarm_level
            assert binom.sf(found - 1, runs, chance) > false_alarm_level


def test_several_contributions_share_the_budget():
    assert Rule(Fraction(1, 3), Fraction(1, 300)) == choose(contributions=3)._rule
    assert Rule(Fraction(1, 6), Fraction(1, 600)) == choose(contributions=3, adjacency="replace_one")._rule


def test_selected_keys_come_in_their_public_order_and_strays_count_nowhere():
    assert [-3, 2, "10", "a"] == choose().release(["a", 2, "10", -3, None, math.nan, [1]] * 500)
    assert [] == choose().release([])
    assert [["a"], ["a"]] == choose(contributions=2).releases(["a", "a"] * 300, 2, source(), people=[n // 2 for n in range(600)])


def test_a_person_with_many_records_is_one_person():
    assert [[]] * 50 == choose(delta="1e-9", contributions=2).releases(["a"] * 5000, 50, source(), people=["me"] * 5000)


@given(people=st.lists(st.integers(1, 10**9), min_size=1, max_size=5))
def test_any_number_of_people_is_decided(people):
    rule = Rule(Fraction(1, 10), Fraction(1, 10**9))
    result = select_keys(rule, np.array(people), source())
    assert all(result[place] for place, number in enumerate(people) if number >= rule.sure)


def test_the_log_shows_nothing_of_the_data_and_prices_a_release_at_its_promise():
    mechanism = choose(epsilon="3/2", delta="1e-6", contributions=2)
    with recording() as log:
        mechanism.release(["a", "b"], people=[1, 2])
        mechanism.releases([], 3, source(), people=[])
    assert [(1, 1, True), (1, 3, False)] == [(release.dimension, release.count, release.secure) for release in log]
    assert log[0].parameters == log[1].parameters
    cost = price_releases(log[:1])
    assert Fraction(3, 2) == cost.epsilon(delta="1e-6").upper
    assert Fraction(1, 10**6) == cost.delta(epsilon="3/2").upper
    assert ApproxDP(epsilon="3/2", delta="1e-6") == mechanism.claim.guarantee
    assert cost.delta(epsilon=1).upper == mechanism.loss.delta(epsilon=1).upper


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("DPA105", {"values": "abc"}),
        ("DPA105", {"values": [1], "people": [1, 2]}),
        ("DPA105", {"values": [1], "count": 1.0}),
        ("DPA103", {"values": [1], "count": 0}),
        ("DPA103", {"values": [1], "count": 2**32 + 1}),
    ],
)
def test_bad_input_is_refused_before_bits_are_drawn_or_anything_is_logged(code, arguments, unasked):
    with recording() as log, pytest.raises(DpauditError, match=code):
        choose().releases(**{"count": 1, "source": unasked, **arguments})
    assert [] == log


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA104", {"epsilon": 0}),
        ("DPA103", {"epsilon": Fraction(1, 2**65)}),
        ("DPA103", {"delta": 0}),
        ("DPA103", {"delta": 1}),
        ("DPA103", {"contributions": 0}),
        ("DPA105", {"contributions": "2"}),
        ("DPA103", {"adjacency": "label"}),
    ],
)
def test_bad_parameters_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        choose(**changes)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2**64), Fraction(1, 1000), 700, 2**64])
@pytest.mark.parametrize("delta", ["1e-300", "1e-9", "1/2", "999/1000"])
def test_extreme_budgets_work(epsilon, delta):
    mechanism = choose(epsilon=epsilon, delta=delta)
    assert mechanism.release([1], source()) in ([], [1])
    assert [1] == choose(epsilon=epsilon, delta="999/1000").release([1, 1])


def test_a_mechanism_is_a_value_that_can_be_pickled_and_built_from_its_description():
    mechanism = choose(epsilon="2/3", contributions=3)
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    text = mechanism.to_dict()
    assert "PartitionSelection" == text.pop("mechanism")
    assert mechanism == PartitionSelection(**{**text, "contributions": int(text["contributions"])})
    assert "selection of keys" in mechanism.describe()
