"""Permute-and-flip: its law by two kernels, what it costs and what it does not promise, refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from dpaudit.releases import recording
from mechanisms import ExponentialMechanism, PermuteAndFlip
from mechanisms.sampling.random import source_from
from mechanisms.selection import coins

NEVER = -math.inf


def source(seed):
    """A stream of fixed bits."""
    return source_from(np.random.default_rng(seed))


def assert_follows(draws, probabilities, level):
    """Chi-square test of indices against probabilities; what is impossible must not occur."""
    from scipy.stats import chisquare

    counts, possible = np.bincount(draws, minlength=len(probabilities)), np.array(probabilities) > 1e-9
    assert 0 == counts[~possible].sum()
    if possible.sum() > 1:
        expected = np.array(probabilities)[possible]
        assert chisquare(counts[possible], expected / expected.sum() * len(draws)).pvalue > level


@pytest.mark.parametrize(
    "entries", [[0], [0, 1, 2], [0.0, -0.5, NEVER, -1.5], [2**62, 2**62 - 1, -(2**62)], [Fraction(1, 3), 0, 0.25]]
)
def test_single_and_repeated_choices_and_races_follow_the_law(entries, false_alarm_level, monkeypatch):
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=2)
    law = [float(enclosure.lower) for enclosure in mechanism.probabilities(entries)]
    bits = source(1)
    assert_follows([mechanism.release(entries, bits) for _ in range(4000)], law, false_alarm_level)
    assert_follows(mechanism.releases(entries, 100_000, bits), law, false_alarm_level)
    monkeypatch.setattr(coins, "_COINS", 0)
    assert_follows([mechanism.release(entries, bits) for _ in range(2000)], law, false_alarm_level)


def test_two_candidates_have_the_probabilities_of_the_formula():
    low, high = PermuteAndFlip(sensitivity=1, epsilon=2).probabilities([0, 1])
    with working_precision(300):
        truth = (-ball(1)).exp() / 2
        assert ball(low.lower) <= truth <= ball(low.upper)
        assert ball(high.lower) <= 1 - truth <= ball(high.upper)


@pytest.mark.parametrize("monotonic", [False, True])
def test_every_probability_moves_by_at_most_a_factor_e_to_the_epsilon(monotonic):
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=1, monotonic=monotonic)
    law = {scores: mechanism.probabilities(list(scores)) for scores in product(range(3), repeat=3)}
    shifts = [shift for shift in product((-1, 0, 1), repeat=3) if not monotonic or min(shift) >= 0]
    pairs = [(one, tuple(map(sum, zip(one, shift, strict=True)))) for one in law for shift in shifts]
    worst = Fraction(0)
    for one, other in pairs:
        if other in law:
            ratios = [ratio for p, q in zip(law[one], law[other], strict=True) for ratio in (p.upper / q.lower, q.upper / p.lower)]
            worst = max(worst, *ratios)
    with working_precision(128):
        assert ball(worst) <= ball(1).exp() + ball(Fraction(1, 2**100))
        assert ball(worst) >= (ball(Fraction(9, 10))).exp() or not monotonic


def divergence_over_order(chances, others, order):
    """Renyi divergence of that order over the order, as a float."""
    return math.log(sum(p**order * q ** (1 - order) for p, q in zip(chances, others, strict=True))) / (order - 1) / order


def test_the_zcdp_bound_of_bounded_range_does_not_hold():
    for epsilon in (1, 2):
        mechanism = PermuteAndFlip(sensitivity=1, epsilon=epsilon)
        one, other = ([float(p.lower) for p in mechanism.probabilities(scores)] for scores in ([0, 1], [1, 0]))
        assert divergence_over_order(one, other, 1.001) > 1.5 * epsilon**2 / 8
        exponential = [math.exp(epsilon / 2) / (1 + math.exp(epsilon / 2))]
        exponential.append(1 - exponential[0])
        assert divergence_over_order(exponential, exponential[::-1], 1.001) < epsilon**2 / 8


@given(
    entries=st.lists(st.integers(-5, 5) | st.just(NEVER), min_size=1, max_size=6),
    epsilon=st.fractions(min_value="1/10", max_value=10, max_denominator=20),
)
def test_the_expected_score_is_at_least_that_of_the_exponential_mechanism(entries, epsilon):
    assume(any(entry != NEVER for entry in entries))
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=epsilon)
    possible = [index for index, entry in enumerate(entries) if entry != NEVER]
    weights = {index: math.exp(float((entries[index] - max(entries)) / mechanism.temperature)) for index in possible}
    law = mechanism.probabilities(entries)
    ours = sum(float(law[index].lower) * entries[index] for index in possible)
    theirs = sum(weights[index] * entries[index] for index in possible) / sum(weights.values())
    assert ours >= theirs - 1e-9


@pytest.mark.parametrize(("monotonic", "temperature"), [(False, Fraction(6)), (True, Fraction(3))])
def test_the_log_holds_what_was_done_and_its_price_is_the_mechanisms_loss(monotonic, temperature):
    mechanism = PermuteAndFlip(sensitivity="3/2", epsilon="1/2", monotonic=monotonic, adjacency="replace_one")
    assert temperature == mechanism.temperature
    with recording() as log:
        mechanism.release([1, 2, 3])
        mechanism.releases([1, 2, 3], 5, source(1))
    assert [("permute_and_flip", 1, True), ("permute_and_flip", 5, False)] == [(r.kind, r.count, r.secure) for r in log]
    assert {(("monotonic", Fraction(int(monotonic))), ("temperature", temperature))} == {release.parameters for release in log}
    for epsilon in ("0", "1/4", "1/2"):
        assert mechanism.loss.delta(epsilon=epsilon) == price_releases(log[:1]).delta(epsilon=epsilon)
    assert Fraction(1, 2) == mechanism.loss.epsilon(delta=0).upper == mechanism.claim.guarantee.epsilon


def test_the_loss_lies_between_exchanged_scores_and_the_pure_promise():
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=2)
    one, other = mechanism.probabilities([1, 0])[0].lower, mechanism.probabilities([0, 1])[0].upper
    delta = mechanism.loss.delta(epsilon=1)
    with working_precision(128):
        attained = ball(one) - ball(1).exp() * ball(other)
        assert ball(delta.lower) <= attained + ball(Fraction(1, 2**60))
        assert ball(delta.upper) >= attained
    assert delta.lower > ExponentialMechanism(sensitivity=1, epsilon=2).loss.delta(epsilon=1).upper
    assert Fraction(0) == mechanism.loss.delta(epsilon=2).upper


@pytest.mark.parametrize(
    ("code", "entries"),
    [
        ("DPA109", []),
        ("DPA109", [NEVER]),
        ("DPA102", [1.0, math.nan]),
        ("DPA102", [1, math.inf]),
        ("DPA105", "12"),
        ("DPA101", [True]),
    ],
)
def test_bad_scores_are_refused_before_bits_are_drawn_or_anything_is_logged(code, entries, unasked):
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=1)
    calls = (
        lambda: mechanism.release(entries, unasked),
        lambda: mechanism.releases(entries, 3, unasked),
        lambda: mechanism.probabilities(entries),
    )
    with recording() as log:
        for call in calls:
            with pytest.raises(DpauditError, match=code):
                call()
    assert [] == log


@pytest.mark.parametrize("count", [0, -1, 2**32 + 1, 1.5, True, "3"])
def test_bad_counts_are_refused(count, unasked):
    with pytest.raises(DpauditError, match=r"DPA10[35]"):
        PermuteAndFlip(sensitivity=1, epsilon=1).releases([1, 2], count, unasked)


def test_probabilities_of_very_many_candidates_are_refused():
    with pytest.raises(DpauditError, match="DPA103"):
        PermuteAndFlip(sensitivity=1, epsilon=1).probabilities([0] * 101)


@pytest.mark.parametrize("arguments", [{"sensitivity": 0, "epsilon": 1}, {"sensitivity": 1, "epsilon": "1e-300"}])
def test_bad_parameters_are_refused(arguments):
    with pytest.raises(DpauditError, match=r"DPA10[34]"):
        PermuteAndFlip(**arguments)


def test_a_mechanism_is_a_value_and_can_be_built_from_its_description():
    mechanism = PermuteAndFlip(sensitivity="1/3", epsilon=0.1)
    text = mechanism.to_dict()
    assert "PermuteAndFlip" == text.pop("mechanism")
    assert "False" == text.pop("monotonic")
    assert mechanism == PermuteAndFlip(**text)
    assert "epsilon about 0.1" in mechanism.describe()
