"""Permute-and-flip by coins: every tape gives its law, which is also the one of a race and of the walk through a permutation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpaudit.exact import ball, ball_endpoints, working_precision
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import source_from
from mechanisms.selection.coins import Tuning, below, flip, head_probabilities
from mechanisms.selection.scores import read_scores
from tests.support.sources import RecordingSource, TapeSource

NEVER = -math.inf
CASES = [
    ([0, 0], Fraction(1)),
    ([3, 1, 2], Fraction(1)),
    ([0.5, NEVER, -0.25], Fraction(2, 3)),
    ([1e300, -1e300, 1e300], Fraction(5)),
    ([Fraction(1, 3), Fraction(1, 2), 0], Fraction(1, 10)),
]


def walking(entries, temperature):
    """Balls around the law, straight from the definition: every order, every stop."""
    scores = read_scores(entries)
    gaps = [scores.gap(index) for index in range(scores.size)]
    heads = [ball(0) if gap is None else (-ball(gap / temperature)).exp() for gap in gaps]
    law = [ball(0)] * scores.size
    orders = list(permutations(range(scores.size)))
    for walk in orders:
        passed = ball(1) / len(orders)
        for index in walk:
            law[index] += passed * heads[index]
            passed *= 1 - heads[index]
    return law


@pytest.mark.parametrize(
    ("entries", "temperature", "tuning"),
    [*((*case, Tuning(bits=1, step=1)) for case in CASES), *((*case, Tuning(bits=2, step=2)) for case in CASES[:2])],
    ids=str,
)
def test_every_tape_gives_its_law(outcomes, entries, temperature, tuning):
    found, rest = outcomes(lambda tape: flip(read_scores(entries), temperature, tape, tuning))
    assert rest <= Fraction(1, 2**12)
    with working_precision(200):
        for index, truth in enumerate(walking(entries, temperature)):
            mass = found.get(index, Fraction(0))
            assert mass == 0 or truth >= ball(mass)
            assert truth <= ball(mass + rest)


@given(
    entries=st.lists(st.integers(-30, 30) | st.just(NEVER) | st.floats(-5, 5), min_size=1, max_size=6),
    temperature=st.fractions(min_value="1/10", max_value=50, max_denominator=100),
)
def test_the_closed_form_is_the_law_of_the_walk(entries, temperature):
    assume(any(entry != NEVER for entry in entries))
    with working_precision(200):
        for enclosure, truth in zip(
            head_probabilities(read_scores(entries), temperature), walking(entries, temperature), strict=True
        ):
            low, high = ball_endpoints(truth)
            assert enclosure.lower <= high
            assert low <= enclosure.upper
            assert enclosure.width < Fraction(1, 2**180)


def test_arrays_and_single_numbers_flip_the_same_coins():
    generator = np.random.default_rng(1)
    entries = np.round(generator.uniform(-3, 0, 60), 1)
    for seed in range(200):
        few = flip(read_scores(entries), Fraction(1), source_from(np.random.default_rng(seed)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("mechanisms.selection.coins.FEW", 1)
            assert few == flip(read_scores(entries), Fraction(1), source_from(np.random.default_rng(seed)))


def test_every_candidate_flips_a_coin_whatever_the_scores():
    asked = []
    for entries in ([0.0] * 40, [0.0] + [-1e6] * 39, np.linspace(-9, 0, 40)):
        source = RecordingSource(source_from(np.random.default_rng(2)))
        flip(read_scores(entries), Fraction(1), source)
        asked.append((source.calls[0][0], len(source.calls[0][1])))
    assert [(62, 40)] * 3 == asked


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_a_place_is_uniform_below_any_count(outcomes, count):
    found, rest = outcomes(lambda tape: below(count, LazyUniform(tape, 2, 1)))
    assert set(range(count)) == set(found)
    assert all(mass <= Fraction(1, count) <= mass + rest for mass in found.values())


def test_a_place_needs_no_more_bits_than_it_must():
    tape = TapeSource(0b1111, 4)
    assert 2 == below(3, LazyUniform(tape, 3, 1))
    assert 1 == tape.remaining
