"""A choice by level has the law of the exponential mechanism over all candidates, whatever their number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from dpaudit.releases import recording
from learners.choices.levels import Widths, choice_release, choose_level, counts_mechanism, trial, weigh
from mechanisms import ExponentialMechanism, source_from
from tests.support.sources import RecordingSource, TapeSource

COUNTS = counts_mechanism(epsilon=1, adjacency="replace_one")


def pair(count, place):
    return count, place


def chosen(multiplicities, mechanism=COUNTS, source=None):
    return choose_level(multiplicities, pair, mechanism, source, scores=list)


@pytest.mark.parametrize(
    ("multiplicities", "temperature"),
    [([3], Fraction(2)), ([1, 2], Fraction(2)), ([0, 1, 0, 0, 9], Fraction(1, 2)), ([1, 0, 1], Fraction(7))],
    ids=str,
)
def test_a_trial_proposes_each_candidate_with_its_exact_probability(every_tape, multiplicities, temperature):
    levels = weigh(multiplicities, temperature, precision=6)
    widths = Widths(spare=3, coin=1, step=1)
    found, left = every_tape(lambda tape: trial(levels, tape, widths))
    total = levels.sums[-1]
    width = total.bit_length() + widths.spare
    usable = Fraction((1 << width) // total, 1 << width)
    present = [count for count, number in enumerate(multiplicities) if number]
    for position, count in enumerate(present):
        for place in range(multiplicities[count]):
            with working_precision(200):
                true = (-ball(Fraction(count - present[0]) / temperature)).exp() * ball(usable * 2**6)
                lower = found.get((position, place), Fraction(0))
                assert lower == 0 or ball(lower) <= true
                assert true <= ball(lower + left)
    assert {None, *((position, place) for position, count in enumerate(present) for place in range(multiplicities[count]))} >= set(
        found
    )


def test_the_number_drawn_finds_the_level_and_the_place():
    levels = weigh([0, 4, 2**40], Fraction(2))
    width = levels.sums[-1].bit_length() + 128
    for position, place in [(0, 0), (0, 3), (1, 0), (1, 2**40 - 1)]:
        before = levels.sums[position - 1] if position else 0
        number = before + place * levels.weights[position]
        assert (position, place) == trial(levels, TapeSource(number << 64, width + 64))  # the coin reads zero, which accepts


def test_numbers_beyond_the_last_multiple_of_the_total_are_refused():
    levels = weigh([3], Fraction(2), precision=2)
    assert 12 == levels.sums[-1]
    assert trial(levels, TapeSource(60, 6), Widths(spare=2)) is None
    assert (0, 2) == trial(levels, TapeSource(59 << 64, 6 + 64), Widths(spare=2))


@given(
    multiplicities=st.lists(st.integers(0, 2**50) | st.just(0), min_size=1, max_size=300).filter(any),
    seed=st.integers(0, 2**32),
)
def test_what_is_chosen_exists(multiplicities, seed):
    count, place = chosen(multiplicities, source=source_from(np.random.default_rng(seed)))
    assert 0 <= place < multiplicities[count]


def test_frequencies_are_those_of_the_exponential_mechanism_on_the_candidates(law):
    """8,000 choices among nine candidates: no frequency is 7 standard deviations off, a false alarm below 1e-10."""
    multiplicities, source = [1, 3, 0, 5], source_from(np.random.default_rng(3))
    candidates = [(count, place) for count, number in enumerate(multiplicities) for place in range(number)]
    drawn = [chosen(multiplicities, source=source) for _ in range(8_000)]
    for candidate, share in zip(candidates, law([count for count, _ in candidates], COUNTS.temperature), strict=True):
        mean = 8_000 * float(share.mid())
        assert abs(drawn.count(candidate) - mean) < 7 * mean**0.5 + 7


@pytest.mark.parametrize("multiplicities", [[1], [0, 0, 7], [10**17]])
def test_one_level_is_always_the_one(multiplicities):
    assert len(multiplicities) - 1 == chosen(multiplicities)[0]


def test_the_release_log_holds_the_choice_and_its_price():
    with recording() as log:
        chosen([1, 2])
    assert [choice_release(COUNTS)] == log
    with recording() as direct:
        COUNTS.release([0, -1])
    assert direct == log


@pytest.mark.parametrize(("kind", "temperature"), [("replace_one", Fraction(2)), ("label", Fraction(2)), ("zero_out", Fraction(1))])
def test_only_where_counts_move_together_half_the_temperature_will_do(kind, temperature):
    assert temperature == counts_mechanism(epsilon=1, adjacency=kind).temperature


def test_bits_drawn_do_not_depend_on_the_level_chosen():
    asked = set()
    for seed in range(100):
        source = RecordingSource(source_from(np.random.default_rng(seed)))
        chosen([1, 5, 9], ExponentialMechanism(sensitivity=1, epsilon="1/100"), source)
        asked.add(tuple(width for width, _ in source.calls[:2]))
    assert 1 == len(asked)


@pytest.mark.parametrize(
    ("code", "multiplicities"),
    [
        ("DPA105", [[1]]),
        ("DPA105", [0.5]),
        ("DPA103", [1, -1]),
        ("DPA103", [2**60, 1]),
        ("DPA109", [0, 0]),
        ("DPA105", []),
    ],
)
def test_wrong_multiplicities_are_refused_before_a_bit_is_drawn(unasked, code, multiplicities):
    with recording() as log, pytest.raises(DpauditError) as caught:
        chosen(multiplicities, source=unasked)
    assert (code, []) == (caught.value.code, log)
