"""Many draws from one score vector: every mass stands in the columns once, and a trial has exactly its probabilities."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.exact import ball, working_precision
from mechanisms.sampling.random import source_from
from mechanisms.selection.repeated import Tuning, alias_table, columns, draw_many, trials
from mechanisms.selection.scores import read_scores
from tests.support.sources import RecordingSource, TapeSource

NEVER = -math.inf
CASES = [
    ([0, 0, 0], Fraction(1)),
    ([3, 1, 2], Fraction(1)),
    ([0.5, NEVER, -1.25], Fraction(2, 3)),
    ([1e300, -1e300, 1e300], Fraction(5)),
    ([Fraction(1, 3), Fraction(1, 2), 0], Fraction(1, 10)),
    ([7], Fraction(2)),
]


def small(**sizes):
    """A tuning with which much is left over, and decided a bit at a time."""
    return Tuning(**{"bits": 5, "slack": 0.05, "rest": 5, "step": 1, **sizes})


def held(own, other, height):
    """What each candidate has in all columns together."""
    masses = [0] * own.size
    for column, (mass, owner) in enumerate(zip(own.tolist(), other.tolist(), strict=True)):
        assert 0 <= mass <= height
        masses[column] += mass
        masses[owner] += height - mass
    return masses


@given(
    parts=st.lists(st.integers(0, 2**40) | st.just(0) | st.integers(0, 9), min_size=1, max_size=40).filter(any),
    bits=st.sampled_from([7, 44, 62]),
)
def test_every_mass_stands_in_the_columns_once(parts, bits):
    shares = [part * 2**bits // sum(parts) for part in parts]
    masses = np.array([*shares, 2**bits - sum(shares)], dtype=np.int64)
    own, other = columns(masses, bits)
    assert masses.tolist() == held(own, other, 2**bits // own.size)[: masses.size]


def test_equal_masses_fill_their_own_columns():
    own, other = columns(np.array([16, 16, 16, 16]), 6)
    assert [16] * 4 == own.tolist()
    assert [0, 1, 2, 3] == other.tolist()


@pytest.mark.parametrize(
    ("entries", "temperature"), [*CASES, ([0.0] + [-40.0] * 3000, Fraction(1)), (list(range(500)), Fraction(7))]
)
@pytest.mark.parametrize("tuning", [Tuning(), small(bits=20, slack=0.01, rest=20)])
def test_sure_parts_stay_below_their_weights_and_bounds_above(entries, temperature, tuning):
    table = alias_table(read_scores(entries), temperature, tuning)
    assert 2**tuning.bits == int(table.sure.sum()) + table.left
    assert 0 <= int(table.spare.sum()) <= table.left
    for index in {0, 1, len(entries) // 2, len(entries) - 1} & set(range(len(entries))):
        gap = table.scores.gap(index)
        with working_precision(300):
            true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * ball(table.unit)
            assert int(table.sure[index]) == 0 or true >= int(table.sure[index])
            assert true <= int(table.sure[index] + table.spare[index])


def test_shipped_tables_leave_next_to_nothing_over():
    for entries in ([0.0] * 1000, [0.0] + [-1e6] * 999, np.linspace(0, 50, 1000)):
        assert alias_table(read_scores(entries), Fraction(1)).left < 2 ** (62 - 31)


@pytest.mark.parametrize(
    ("entries", "temperature", "tuning"),
    [
        *((*CASES[index], small()) for index in (0, 1, 3, 5)),
        (*CASES[0], small(bits=4, slack=0.2, step=2)),
        ([0, -1], Fraction(1), small(bits=4)),
    ],
    ids=str,
)
def test_a_trial_returns_each_candidate_with_exactly_its_probability(outcomes, entries, temperature, tuning):
    table = alias_table(read_scores(entries), temperature, tuning)
    found, rest = outcomes(lambda tape: next(iter(trials(table, 1, tape).tolist()), None))
    assert rest <= Fraction(1, 2**12)
    for index in range(len(entries)):
        gap = table.scores.gap(index)
        with working_precision(200):
            true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * ball(table.unit / 2**tuning.bits)
            mass = found.get(index, Fraction(0))
            assert mass == 0 or ball(mass) <= true
            assert true <= ball(mass + rest)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_what_is_left_over_is_settled_in_its_own_place(seed, sizes):
    table = alias_table(read_scores([0.0, -0.5, -2.0]), Fraction(1), small(bits=8, rest=8))
    source = RecordingSource(source_from(np.random.default_rng(seed)))
    for size in sizes:
        source.calls.clear()
        drawn = trials(table, size, source).tolist()
        (_, words), *later = source.calls
        tape = iter(later)
        expected = [single(table, word, tape) for word in words]
        assert [index for index in expected if index >= 0] == drawn
        assert [] == list(tape)


def single(table, word, later):
    """One trial in plain numbers, which takes further bits from the record."""
    column, place = word >> table.height, word & (2**table.height - 1)
    index = column if place < table.own[column] else int(table.other[column])
    if index < table.scores.size:
        return index
    pieces = []
    while not pieces or settled(table, pieces) is None:
        pieces.append(next(later))
    return settled(table, pieces)


def settled(table, pieces):
    """What the rest gives for these recorded bits; None while they do not suffice, -1 where nothing is drawn."""
    value = length = 0
    for bits, (number,) in pieces:
        value, length = value << bits | number, length + bits
    tape = TapeSource(value, length)
    try:
        from mechanisms.selection.repeated import _rest

        return _rest(table, tape)
    except Exception as error:
        if type(error).__name__ != "NeedBits":
            raise
        return None


def test_draws_are_as_many_as_asked_for_although_trials_are_refused():
    table = alias_table(read_scores([0.0, -0.5, -3.0, -9.0]), Fraction(1), small(slack=0.3))
    draws = draw_many(table, 5000, source_from(np.random.default_rng(1)))
    assert (5000,) == draws.shape
    assert np.int64 == draws.dtype
    assert {0, 1, 2, 3} >= set(draws.tolist())


def test_the_same_number_of_bits_is_drawn_whatever_the_scores():
    spent = []
    for entries in ([0.0] * 50, [0.0] + [-1e9] * 49, np.linspace(0, 30, 50), [NEVER] * 49 + [3.0]):
        source = RecordingSource(source_from(np.random.default_rng(2)))
        draw_many(alias_table(read_scores(entries), Fraction(1)), 100_000, source)
        spent.append([(bits, len(numbers)) for bits, numbers in source.calls])
    assert [spent[0]] * 4 == spent
