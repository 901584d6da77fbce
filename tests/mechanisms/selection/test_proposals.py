"""Integer proposals dominate the true weights, and a trial returns each candidate with exactly its probability."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpaudit.exact import ball, working_precision
from mechanisms.selection.proposals import (
    CHUNK,
    CLAMP,
    FEW,
    STEPS,
    SURE_ACCEPTANCE,
    Widths,
    few_weights,
    finest_precision,
    propose,
    staircase,
    table,
    trial,
)
from mechanisms.selection.scores import read_scores
from tests.support.sources import TapeSource

NEVER = -math.inf
finite = st.floats(allow_nan=False, allow_infinity=False)
score_lists = (
    st.lists(finite | st.just(NEVER), min_size=1, max_size=12)
    | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=12)
    | st.lists(st.fractions() | st.integers() | finite, min_size=1, max_size=12)
    | st.lists(st.integers(-200, 200), min_size=1, max_size=12)
)
temperatures = st.fractions(min_value="1/1000", max_value=1000, max_denominator=1000) | st.sampled_from(
    [Fraction(2) ** 900, Fraction(2) ** -900, Fraction(1, 3)]
)


@pytest.mark.parametrize("precision", [6, 31, 32, 50, 62])
def test_the_table_holds_powers_of_two_rounded_up(precision):
    entries = table(precision)
    assert CLAMP + 1 == entries.size
    for index in (0, 1, 2, 100, STEPS // 2, STEPS - 1, STEPS, 5 * STEPS // 2, CLAMP - 1, CLAMP):
        entry, power = int(entries[index]), Fraction(2) ** (precision * STEPS - index)
        assert (entry - 1) ** STEPS < power <= entry**STEPS


def test_the_table_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        table(40)[0] = 0


@given(entries=score_lists, temperature=temperatures, precision=st.sampled_from([6, 20, 32, 42, 58]))
def test_every_proposal_dominates_its_weight_and_is_accepted_often_enough(entries, temperature, precision):
    assume(any(entry != NEVER for entry in entries))
    scores = read_scores(entries)
    weights = staircase(scores.gaps(0, scores.size), temperature, precision).tolist()
    assert all(1 <= weight <= 2**precision for weight in weights)
    for index, weight in enumerate(weights):
        gap = scores.gap(index)
        with working_precision(2000):
            true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * 2**precision
            assert true <= weight
            assert weight == 1 or true >= (weight - 1) * ball(Fraction(SURE_ACCEPTANCE))


@given(halvings=st.integers(1, CLAMP), bits=st.integers(40, 53), above=st.booleans())
def test_a_proposal_dominates_its_weight_just_before_and_after_a_step_of_the_staircase(halvings, bits, above):
    with working_precision(300):
        edge = ball(halvings) * ball(2).log() / STEPS * (1 + ball(Fraction(1 if above else -1, 2**bits)))
        gap = float(edge.mid())
        weight = int(staircase(np.array([gap]), Fraction(1), 62)[0])
        assert (-ball(Fraction(gap))).exp() * 2**62 <= weight


@given(entries=score_lists, temperature=temperatures, precision=st.sampled_from([3, 30, 58]))
def test_single_numbers_and_arrays_give_the_same_weights(entries, temperature, precision):
    assume(any(entry != NEVER for entry in entries))
    scores = read_scores(entries)
    assert few_weights(scores, temperature, precision) == staircase(scores.gaps(0, scores.size), temperature, precision).tolist()


def test_equal_scores_have_equal_weights_wherever_they_stand():
    scores = np.full(100_003, 1.1)
    scores[77] = 5.3
    weights = staircase(read_scores(scores).gaps(0, scores.size), Fraction(1, 7), 45)
    assert 1 == np.unique(np.delete(weights, 77)).size


@pytest.mark.parametrize("size", [1, 2, 3, 1024, 1025, 2**20, 2**30])
def test_the_weights_of_all_candidates_sum_to_less_than_the_largest_integer(size):
    assert size * 2 ** finest_precision(size) < 2**63
    assert 30 <= finest_precision(size)


def test_a_candidate_however_far_behind_keeps_a_weight():
    assert [1, 1] == staircase(np.array([math.inf, 1e300]), Fraction(1), 62).tolist()


@pytest.mark.parametrize(
    ("entries", "temperature"),
    [
        ([0, 0, 0], Fraction(1)),
        ([3, 1, 2], Fraction(1)),
        ([0.5, NEVER, -1.25, 0.25, 0.0], Fraction(2, 3)),
        ([1e300, -1e300, 1e300], Fraction(5)),
        ([Fraction(1, 3), Fraction(1, 2), 0], Fraction(1, 10)),
    ],
)
def test_a_trial_chooses_each_candidate_with_its_exact_probability(entries, temperature, outcomes):
    proposal = propose(read_scores(entries), temperature, 6)
    widths = Widths(index=9, coin=1, step=1)
    found, unassigned = outcomes(lambda tape: trial(proposal, tape, widths))
    assert unassigned <= Fraction(1, 2**12)
    assert set(found) <= {None, *range(len(entries))}
    usable = Fraction(2**9 // proposal.total, 2**9)
    for index in range(len(entries)):
        gap = proposal.scores.gap(index)
        with working_precision(200):
            true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * ball(usable * 2**6)
            lower = found.get(index, Fraction(0))
            assert lower == 0 or ball(lower) <= true
            assert true <= ball(lower + unassigned)


@pytest.mark.parametrize("size", [5, FEW, FEW + 1, CHUNK, CHUNK + 1, 70_000])
def test_the_number_drawn_finds_its_candidate_in_whichever_group(size):
    scores = read_scores(np.arange(size) % 7)
    proposal = propose(scores, Fraction(3), finest_precision(size))
    running = np.cumsum(staircase(scores.gaps(0, size), Fraction(3), finest_precision(size)))
    assert int(running[-1]) == proposal.total
    for index in {0, 1, 4, size // 2, size - 2, size - 1}:
        for place in (int(running[index]) - 1, int(running[index - 1]) if index else 0):
            tape = TapeSource(place << 64, 192 + 64)  # the coin reads zero, which accepts
            assert index == trial(proposal, tape)


def test_numbers_beyond_the_last_multiple_of_the_total_are_refused():
    proposal = propose(read_scores([0, 0, 0]), Fraction(1), 6)
    widths = Widths(index=9, coin=1, step=1)
    beyond = 512 // proposal.total * proposal.total
    assert trial(proposal, TapeSource(beyond, 9), widths) is None
    assert 2 == trial(proposal, TapeSource((beyond - 1) << 1, 10), widths)
