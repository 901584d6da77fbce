"""Stability histogram: certified thresholds, the exact output laws of small neighbours, broken variants, order, refusals."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import price_releases
from dpaudit.claims import ApproxDP
from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from dpaudit.releases import Release, recording
from mechanisms import DiscreteLaplace, StabilityHistogram, source_from
from mechanisms.stability_histogram import count_keys

HIDDEN = None
"""The outcome of a key that is not released."""


def stable(**changes):
    return StabilityHistogram(**{"epsilon": 1, "delta": "1/100", **changes})


def source(seed=51):
    return source_from(np.random.default_rng(seed))


def tail(scale, k):
    """P[X >= k] of the discrete Laplace law for k >= 1, by its own formula."""
    ratio = (-ball(1 / Fraction(scale))).exp()
    return ratio**k / (1 + ratio)


def mass(scale, k):
    ratio = (-ball(1 / Fraction(scale))).exp()
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def key_law(scale, threshold, count, reach):
    """Odds of what is released of one key; noisy counts from `reach` up are one outcome."""
    if count == 0:
        return {HIDDEN: arb(1)}
    odds = {noisy: mass(scale, noisy - count) for noisy in range(threshold, reach)}
    odds[reach] = tail(scale, reach - count)
    return odds | {HIDDEN: 1 - sum(odds.values(), start=arb(0))}


def excess(scale, threshold, counts, others, epsilon):
    """Largest of P(S) - e^epsilon Q(S) over all events, for keys that `counts` and `others` people have."""
    reach = threshold + 12
    laws = [[key_law(scale, threshold, count, reach) for count in side] for side in (counts, others)]
    total, bound = arb(0), ball(epsilon).exp()
    for outcome in itertools.product([HIDDEN, *range(threshold, reach + 1)], repeat=len(counts)):
        first, second = (
            math.prod((law.get(part, arb(0)) for law, part in zip(side, outcome, strict=True)), start=arb(1)) for side in laws
        )
        total += (first - bound * second).max(arb(0))
    return total


MECHANISMS = [stable(), stable(epsilon=3, delta="1/20"), stable(epsilon="1/4", delta="3/10"), stable(delta="9/10", epsilon="1/10")]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: f"{mechanism.epsilon}, {mechanism.delta}")
def test_one_key_tells_no_more_than_epsilon_and_delta_of_a_person_more_or_less(mechanism):
    with working_precision(128):
        for count in range(mechanism.threshold + 4):
            for counts, others in (((count,), (count + 1,)), ((count + 1,), (count,))):
                found = excess(mechanism.scale, mechanism.threshold, counts, others, mechanism.epsilon)
                assert found <= ball(mechanism.delta) + ball(Fraction(1, 10**30))


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_two_keys_tell_no_more_than_epsilon_and_delta_of_any_change_of_one_person(adjacency):
    mechanism = stable(epsilon=2, delta="1/10", contributions=1 if adjacency == "replace_one" else 2, adjacency=adjacency)
    assert 1 == mechanism.scale
    moves = [(1, -1), (-1, 1), (1, 0)] if adjacency == "replace_one" else [(1, 1), (-1, -1), (1, 0), (0, -1)]
    with working_precision(128):
        for counts in itertools.product((0, 1, 2, 4), repeat=2):
            for move in moves:
                others = tuple(count + step for count, step in zip(counts, move, strict=True))
                if min(others) >= 0:
                    found = excess(mechanism.scale, mechanism.threshold, counts, others, mechanism.epsilon)
                    assert found <= ball(mechanism.delta) + ball(Fraction(1, 10**30))


def allowed(scale, delta, contributions, shift):
    """Whether the stability theorem allows noise that reaches `shift` to show a key of one person."""
    with working_precision(4096):
        reached = tail(scale, shift)
        shown = 1 - (1 - reached) ** contributions
        return bool(shown <= ball(delta)) and bool(reached <= -((-ball(1 / scale)).expm1()))


@given(
    epsilon=st.fractions(min_value="1/1000", max_value=50, max_denominator=1000),
    delta=st.sampled_from(["1e-300", "1e-12", "1e-6", "1/100", "1/2", "99/100"]),
    contributions=st.integers(1, 40),
    adjacency=st.sampled_from(["add_remove", "replace_one"]),
)
def test_the_threshold_is_the_least_that_the_theorem_allows(epsilon, delta, contributions, adjacency):
    mechanism = stable(epsilon=epsilon, delta=delta, contributions=contributions, adjacency=adjacency)
    moves = contributions * (2 if adjacency == "replace_one" else 1)
    assert moves / epsilon == mechanism.scale
    shift = mechanism.threshold - 1
    assert allowed(mechanism.scale, Fraction(delta), contributions, shift)
    assert 1 == shift or not allowed(mechanism.scale, Fraction(delta), contributions, shift - 1)


def test_the_tail_of_the_law_that_samples_is_the_tail_that_was_certified():
    mechanism = stable(epsilon="2/3", delta="1e-9")
    law = DiscreteLaplace(mechanism.scale)
    assert law.tail(mechanism.threshold - 1).upper <= mechanism.delta < law.tail(mechanism.threshold - 2).lower


def test_broken_twin_with_a_threshold_one_too_low():
    mechanism = stable(delta="1/1000")
    with working_precision(128):
        found = excess(mechanism.scale, mechanism.threshold - 1, (1,), (0,), mechanism.epsilon)
        assert found > ball(mechanism.delta) * ball(Fraction(3, 2))


def test_broken_twin_that_shows_every_key_that_somebody_has():
    with working_precision(128):
        assert excess(Fraction(1), -20, (1,), (0,), 1) > ball(Fraction(99, 100))


def test_broken_twin_whose_threshold_is_that_of_one_contribution():
    one, two = stable(delta="1/100"), stable(delta="1/100", contributions=2)
    with working_precision(128):
        assert excess(two.scale, one.threshold, (1, 1), (0, 0), 1) > ball(Fraction(5, 100))
        assert excess(one.scale, two.threshold, (20, 20), (21, 21), 1) > ball(Fraction(1, 100))


def test_a_release_is_the_counts_plus_draws_of_the_law_cut_at_the_threshold():
    mechanism = stable(epsilon="1/3", delta="1/5")
    values = ["b"] * 7 + [3] * 9 + ["a"] * 2
    noise = DiscreteLaplace(3).sample(60, source=source()).reshape(20, 3)
    expected = [{key: count + int(step) for key, count, step in zip((3, "a", "b"), (9, 2, 7), row, strict=True)} for row in noise]
    shown = [{key: count for key, count in counts.items() if count >= mechanism.threshold} for counts in expected]
    assert shown == mechanism.releases(values, 20, source())
    assert shown[0] == mechanism.release(values, source())
    assert {1, 2, 3} == {len(counts) for counts in shown}
    assert any(mechanism.threshold in counts.values() for counts in shown)


def test_a_key_of_one_person_is_shown_as_often_as_certified(false_alarm_level):
    from scipy.stats import binom

    mechanism, runs = stable(delta="1/50"), 20_000
    shown = sum(bool(result) for result in mechanism.releases(["me"], runs, source()))
    chance = float(DiscreteLaplace(mechanism.scale).tail(mechanism.threshold - 1).upper)
    assert binom.cdf(shown, runs, chance) > false_alarm_level
    assert binom.sf(shown - 1, runs, chance) > false_alarm_level


@given(
    rows=st.lists(st.tuples(st.sampled_from([1, True, 1.0, "1", "b", 0, None, -5]), st.integers(0, 4)), max_size=20),
    order=st.randoms(use_true_random=False),
)
def test_keys_and_their_order_do_not_depend_on_the_order_of_people(rows, order):
    people = list({person for _, person in rows})
    order.shuffle(people)
    shuffled = [row for person in people for row in rows if row[1] == person]
    expected, counts = count_keys([key for key, _ in rows], [person for _, person in rows], 2)
    found, same = count_keys([key for key, _ in shuffled], [person for _, person in shuffled], 2)
    assert expected == found
    assert list(map(type, expected)) == list(map(type, found))
    assert counts.tolist() == same.tolist()
    assert sorted(expected, key=lambda key: (isinstance(key, str), key)) == expected


def test_released_keys_come_in_their_public_order():
    assert [-3, 2, 10, "10", "a", "b"] == list(stable().release(["b", 10, "a", 2, "10", -3] * 500))


@given(rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30), contributions=st.integers(1, 3))
def test_a_person_counts_for_at_most_the_contributions_and_once_a_key(rows, contributions):
    keys, counts = count_keys([key for key, _ in rows], [person for _, person in rows], contributions)
    fewer, less = count_keys([key for key, person in rows if person], [person for _, person in rows if person], contributions)
    before, after = dict(zip(keys, counts.tolist(), strict=True)), dict(zip(fewer, less.tolist(), strict=True))
    lost = [before[key] - after.get(key, 0) for key in keys]
    assert set(lost) <= {0, 1}
    assert sum(lost) <= contributions
    assert set(fewer) <= set(keys)
    assert all(count >= 1 for count in before.values())


@pytest.mark.parametrize("values", [[], [None, [1], math.nan, 2.5], np.array([]), np.array([1.5])])
def test_nothing_is_released_where_nobody_has_a_key(values):
    with recording() as log:
        assert {} == stable().release(values, source())
    assert 1 == len(log)


def test_the_log_shows_nothing_of_the_data_and_prices_a_release_at_its_promise():
    mechanism = stable(epsilon="3/2", delta="1e-6", contributions=2, adjacency="replace_one")
    with recording() as log:
        mechanism.release(["a", "b"], people=[1, 2])
        mechanism.releases([], 3, source(), people=[])
    assert [(1, 1, True), (1, 3, False)] == [(release.dimension, release.count, release.secure) for release in log]
    assert log[0].parameters == log[1].parameters
    assert sorted(log[0].parameters) == list(log[0].parameters)
    cost = price_releases(log[:1])
    assert Fraction(149, 100) < cost.epsilon(delta="1e-6").upper <= Fraction(3, 2)
    assert cost.delta(epsilon="3/2").upper <= mechanism.delta
    assert cost.delta(epsilon="3/2").upper > mechanism.delta / 3
    assert ApproxDP(epsilon="3/2", delta="1e-6") == mechanism.claim.guarantee
    assert mechanism.loss.delta(epsilon="3/2").upper >= cost.delta(epsilon="3/2").upper


@pytest.mark.parametrize("contributions", [1, 2])
def test_the_price_has_the_chance_that_noise_shows_what_only_one_person_has(contributions):
    mechanism = stable(delta="1e-4", contributions=contributions)
    with recording() as log:
        mechanism.release([], people=[])
    shown = DiscreteLaplace(mechanism.scale).tail(mechanism.threshold - 1)
    lower, upper = (1 - (1 - end) ** contributions for end in (shown.lower, shown.upper))
    found = price_releases(log).delta(epsilon=1).upper
    assert lower <= found <= upper + Fraction(1, 10**15)


def test_a_logged_threshold_that_the_theorem_does_not_allow_has_no_price():
    parameters = (("contributions", Fraction(1)), ("scale", Fraction(3)), ("threshold", Fraction(1)))
    with pytest.raises(DpauditError, match="DPA202"):
        price_releases([Release("stability_histogram", parameters, Fraction(1), stable().adjacency)])


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
        stable().releases(**{"count": 1, "source": unasked, **arguments})
    assert [] == log


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA104", {"epsilon": 0}),
        ("DPA103", {"delta": 0}),
        ("DPA103", {"delta": 1}),
        ("DPA102", {"delta": math.nan}),
        ("DPA103", {"contributions": 0}),
        ("DPA105", {"contributions": True}),
        ("DPA103", {"adjacency": "label"}),
        ("DPA108", {"epsilon": Fraction(1, 2**57)}),
    ],
)
def test_bad_parameters_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        stable(**changes)


def test_several_contributions_need_to_know_the_people(unasked):
    with pytest.raises(DpauditError, match="DPA106"):
        stable(contributions=2).release(["a"], unasked)


def test_a_mechanism_is_a_value_that_can_be_pickled_and_built_from_its_description():
    mechanism = stable(epsilon="2/3", contributions=3)
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    text = mechanism.to_dict()
    assert "StabilityHistogram" == text.pop("mechanism")
    assert mechanism == StabilityHistogram(**{**text, "contributions": int(text["contributions"])})
    assert str(mechanism.threshold) in mechanism.describe()
