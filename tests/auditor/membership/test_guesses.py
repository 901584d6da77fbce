"""Bounds from one run: equal to the optimum over every mechanism, of the size they state, and as published."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from guess_oracle import largest_probability
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dpaudit.auditor.membership import CanaryGuesses, canary_epsilon_bound, guesses_p_value
from dpaudit.auditor.statistics.bounds import epsilon_lower_bound
from dpaudit.errors import InvalidArgument
from dpaudit.results import Counts

SHAPES = [(m, r, v) for m in (1, 2, 3) for r in range(1, m + 1) for v in range(1, r + 1)]


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0.05), (0.5, 0.01), (1, 0.1), (1, 0), (2, 0.2)])
def test_the_bound_is_the_optimum_over_all_mechanisms(epsilon, delta):
    """No mechanism of the claim exceeds it, and one attains it: checked without any of the symmetries that its proof uses."""
    for canaries, guessed, correct in SHAPES:
        expected = largest_probability(canaries, guessed, correct, [(epsilon, delta)])
        found = guesses_p_value(CanaryGuesses(canaries=canaries, guessed=guessed, correct=correct), epsilon=epsilon, delta=delta)
        assert expected == pytest.approx(found, abs=2e-7), (canaries, guessed, correct)


def worst_law(canaries, correct, epsilon, delta):
    """Law of the right guesses under the mechanism that is tight at `correct`: binomial, raised from there on."""
    share = 1 / (1 + math.exp(-epsilon))
    numbers = np.arange(canaries + 1)
    law = binom.pmf(numbers, canaries, share)
    raised = np.where(numbers >= correct, law / law[correct], 0.0) * canaries * delta / correct
    return law * (1 - raised.sum()) + raised


def excess(law, epsilon):
    """delta(epsilon) of the mechanism that says t with probability law(right guesses) / (number of such t), both directions."""
    canaries = len(law) - 1
    each = [law[right] / math.comb(canaries, right) for right in range(canaries + 1)]
    ways = [math.comb(canaries - 1, others) for others in range(canaries)]
    odds = math.exp(epsilon)
    return sum(
        way * (max(0.0, each[i + 1] - odds * each[i]) + max(0.0, each[i] - odds * each[i + 1])) for i, way in enumerate(ways)
    )


@pytest.mark.parametrize(("canaries", "correct"), [(12, 9), (12, 12), (40, 32)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.001), (1.0, 0.003)])
def test_a_mechanism_with_many_canaries_attains_the_bound(canaries, correct, epsilon, delta):
    law = worst_law(canaries, correct, epsilon, delta)
    assert 1 == pytest.approx(law.sum())
    assert law.min() >= 0
    assert excess(law, epsilon) <= delta * (1 + 1e-9)
    found = guesses_p_value(CanaryGuesses(canaries=canaries, guessed=canaries, correct=correct), epsilon=epsilon, delta=delta)
    assert law[correct:].sum() == pytest.approx(found, rel=1e-9)


def sizes(p_value, canaries, epsilon, delta, level):
    """Probability of a p-value of at most `level`, under every mechanism that is tight somewhere."""
    small = np.array([p_value(right) <= level for right in range(canaries + 1)])
    laws = [worst_law(canaries, right, epsilon, delta) for right in range(canaries // 2, canaries + 1)]
    return [float(law @ small) for law in laws if law.min() >= 0]


@pytest.mark.parametrize("level", [0.3, 0.05, 0.01])
def test_the_size_is_at_most_alpha(level):
    canaries, epsilon, delta = 30, 1.0, 0.0005

    def p_value(right):
        return guesses_p_value(CanaryGuesses(canaries=canaries, guessed=canaries, correct=right), epsilon=epsilon, delta=delta)

    assert 0 < max(sizes(p_value, canaries, epsilon, delta, level)) <= level


@pytest.mark.parametrize("wrong", ["no delta", "no factor for the canaries"])
def test_negative_control_a_smaller_delta_term_breaks_the_size(wrong):
    canaries, epsilon, delta = 30, 1.0, 0.01
    share = 1 / (1 + math.exp(-epsilon))

    def p_value(right):
        tail = binom.sf(right - 1, canaries, share)
        if wrong == "no delta" or right == 0:
            return tail
        return tail + delta * tail * (1 - tail) / (right * binom.pmf(right, canaries, share))

    level = p_value(26)
    assert max(sizes(p_value, canaries, epsilon, delta, level)) > 1.2 * level


@pytest.mark.parametrize(("canaries", "expected"), [(100, 0.61), (1000, 0.88), (10**4, 0.96), (10**5, 0.99)])
def test_local_randomised_response_gives_the_published_bounds(canaries, expected):
    right = round(canaries / (1 + math.exp(-1)))
    guesses = CanaryGuesses(canaries=canaries, guessed=canaries, correct=right)
    assert expected == round(float(canary_epsilon_bound(guesses, delta=0, alpha="0.05")), 2)
    assert expected == pytest.approx(
        float(canary_epsilon_bound(guesses, delta=Fraction(1, 1000 * canaries), alpha="0.05")), abs=0.01
    )


@st.composite
def results(draw, most=60):
    canaries = draw(st.integers(1, most))
    guessed = draw(st.integers(1, canaries))
    return CanaryGuesses(canaries=canaries, guessed=guessed, correct=draw(st.integers(0, guessed)))


@given(guesses=results(), epsilon=st.sampled_from([0, "0.1", 1, 3]))
@settings(max_examples=40)
def test_without_delta_it_is_the_binomial_tail(guesses, epsilon):
    share = 1 / (1 + math.exp(-float(epsilon)))
    tail = binom.sf(guesses.correct - 1, guesses.guessed, share)
    assert tail == pytest.approx(guesses_p_value(guesses, epsilon=epsilon, delta=0), rel=1e-9)
    bound = epsilon_lower_bound(
        Counts(ones=guesses.correct, zeros=guesses.guessed - guesses.correct, runs=guesses.guessed), delta=0, alpha="0.05"
    )
    assert max(0, bound or 0) == canary_epsilon_bound(guesses, delta=0, alpha="0.05")


@given(guesses=results(), delta=st.sampled_from([0, "1e-6", "1e-4", "0.01"]), alpha=st.sampled_from(["0.3", "0.05", "1e-6"]))
@settings(max_examples=40)
def test_p_value_and_bound_tell_the_same_story(guesses, delta, alpha):
    bound = canary_epsilon_bound(guesses, delta=delta, alpha=alpha)
    assert bound >= 0
    assert guesses_p_value(guesses, epsilon=bound + Fraction(1, 10**6), delta=delta) > float(Fraction(alpha)) * (1 - 1e-9)
    if bound > 0:
        # Rounded down: the bound itself is still refuted.
        assert guesses_p_value(guesses, epsilon=bound, delta=delta) <= float(Fraction(alpha)) * (1 + 1e-14)


@given(guesses=results(), epsilons=st.lists(st.sampled_from([0, "0.2", 1, 2]), min_size=2, max_size=2))
@settings(max_examples=40)
def test_a_weaker_claim_or_fewer_right_guesses_never_lower_the_p_value(guesses, epsilons):
    small, large = sorted(map(Fraction, epsilons))
    for weak, strong in product(("1e-5", "0.01"), repeat=2):
        if Fraction(weak) >= Fraction(strong):
            low = guesses_p_value(guesses, epsilon=small, delta=strong)
            assert low <= guesses_p_value(guesses, epsilon=large, delta=weak) * (1 + 1e-12)
    if guesses.correct:
        fewer = CanaryGuesses(canaries=guesses.canaries, guessed=guesses.guessed, correct=guesses.correct - 1)
        assert guesses_p_value(guesses, epsilon=1, delta="0.001") <= guesses_p_value(fewer, epsilon=1, delta="0.001")


@pytest.mark.parametrize(
    ("canaries", "guessed", "correct"), [(0, 0, 0), (3, 0, 0), (3, 4, 1), (3, 2, 3), (3, 2, -1), (3.0, 2, 1), (True, 1, 1)]
)
def test_impossible_numbers_are_refused(canaries, guessed, correct):
    with pytest.raises(InvalidArgument, match=r"DPA10[35]"):
        CanaryGuesses(canaries=canaries, guessed=guessed, correct=correct)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (1, 1), (1, -1), (math.nan, 0), (1, math.inf)])
def test_impossible_claims_are_refused(epsilon, delta):
    with pytest.raises(InvalidArgument, match=r"DPA10[23]"):
        guesses_p_value(CanaryGuesses(canaries=2, guessed=2, correct=1), epsilon=epsilon, delta=delta)
