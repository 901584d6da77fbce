"""Races are exact: their intervals hold what they stand for, and the places have the law of choices without replacement."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.exact import ball, working_precision
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import source_from
from mechanisms.selection.clocks import EXPONENTIAL, GUMBEL, intervals, minus_logarithm
from mechanisms.selection.coins import head_probabilities
from mechanisms.selection.race import SHIPPED, Runner, Tuning, _rates, order, race, races
from mechanisms.selection.scores import read_scores
from tests.support.sources import RecordingSource

NEVER = -math.inf
CLOCKS = [GUMBEL, EXPONENTIAL]


def peeling_law(shifts, places):
    """Balls around the probability of every order of the first places: exponential mechanisms on what is left."""
    weights = [(-ball(shift)).exp() for shift in shifts]
    law = {}
    for ranks in permutations(range(len(shifts)), places):
        mass, left = arb(1), sum(weights, start=arb(0))
        for index in ranks:
            mass, left = mass * weights[index] / left, left - weights[index]
        law[ranks] = mass
    return law


def flipping_law(shifts):
    """Ends of the probabilities of permute-and-flip."""
    best = min(shifts)
    found = head_probabilities(read_scores([best - shift for shift in shifts]), Fraction(1))
    return {(index,): ball(enclosure.lower).union(ball(enclosure.upper)) for index, enclosure in enumerate(found)}


def law_of(clock, shifts, places):
    """The law that a race must have."""
    return peeling_law(shifts, places) if clock is GUMBEL else flipping_law(shifts)


def assert_enclosed(found, rest, law):
    """Every mass found is at most the probability, and at most `rest` below it."""
    assert set(found) <= set(law)
    for outcome, truth in law.items():
        mass = found.get(outcome, Fraction(0))
        assert truth >= ball(mass)
        assert truth <= ball(mass + rest)


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
@pytest.mark.parametrize("bits", [1, 2, 5, 16])
def test_intervals_hold_the_quantiles_and_are_open_where_the_law_is(clock, bits):
    lower, upper = intervals(clock, bits)
    assert math.inf == upper[-1]
    assert (-math.inf if clock is GUMBEL else 0.0) == lower[0]
    words = range(2**bits) if bits < 16 else [0, 1, 2, 77, 2**15, 2**16 - 3, 2**16 - 2, 2**16 - 1]
    with working_precision(200):
        for word in words:
            assert word == 0 or arb(lower[word]) <= clock.quantile(word, bits) <= arb(lower[word]) + arb(2) ** -28
            last = word == 2**bits - 1
            assert last or arb(upper[word]) - arb(2) ** -28 <= clock.quantile(word + 1, bits) <= arb(upper[word])


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
@given(first=st.integers(0, 2**53 - 1) | st.sampled_from([0, 1, 2**53 - 1, 2**53 - 2]))
def test_floats_enclose_quantiles_at_every_depth(clock, first):
    lower, upper = clock.between(np.array([first]), 53)
    with working_precision(200):
        assert lower[0] == -math.inf or arb(lower[0]) <= clock.quantile(first, 53)
        assert upper[0] == math.inf or clock.quantile(first + 1, 53) <= arb(upper[0])


def test_a_library_with_a_wrong_logarithm_costs_only_width(monkeypatch):
    values = np.array([0.0, 2.0**-53, 0.25, 0.9, 1.0])
    monkeypatch.setattr(np, "log", lambda numbers: np.full(numbers.shape, -0.5))
    lower, upper = minus_logarithm(values)
    for least, value, most in zip(lower, values, upper, strict=True):
        assert least <= (-math.log(value) if value else math.inf) <= most


def cells(clock, shifts, places, rest):
    """Probability of each order, by cutting the cube of uniform numbers into cells until at most `rest` of it is undecided.

    The ends come from the floats that ship; a cell is cut across the candidate of least depth among those whose place is open.
    """
    size = len(shifts)
    values, depths = np.zeros((1, size), dtype=np.int64), np.zeros((1, size), dtype=np.int64)
    found: dict[tuple[int, ...], Fraction] = {}
    near = np.array([float(shift) for shift in shifts])
    open_mass = 1.0
    while open_mass > rest:
        shift = 53 - depths
        lower = clock.around((values << shift).reshape(-1), 53)[0].reshape(values.shape) - near * (1 + 2.0**-48)
        upper = clock.around(((values + 1) << shift).reshape(-1), 53)[1].reshape(values.shape) - near * (1 - 2.0**-48)
        ranks = np.argsort(-lower, axis=1, kind="stable")
        lows, ups = np.take_along_axis(lower, ranks, axis=1), np.take_along_axis(upper, ranks, axis=1)
        behind = np.maximum.accumulate(ups[:, ::-1], axis=1)[:, ::-1]
        doubtful = np.zeros(values.shape, dtype=bool)
        for rank in range(size):
            if rank < places and rank + 1 < size:
                doubtful[:, rank] |= behind[:, rank + 1] >= lows[:, rank] - 2.0**-45
            if rank:
                doubtful[:, rank] |= ups[:, rank] >= lows[:, min(rank, places) - 1] - 2.0**-45
        decided = ~doubtful.any(axis=1)
        for ranking, depth in zip(ranks[decided, :places].tolist(), depths[decided].sum(axis=1).tolist(), strict=True):
            found[tuple(ranking)] = found.get(tuple(ranking), Fraction(0)) + Fraction(1, 2**depth)
        values, depths, ranks, doubtful = values[~decided], depths[~decided], ranks[~decided], doubtful[~decided]
        depth_by_rank = np.where(doubtful, np.take_along_axis(depths, ranks, axis=1), 99)
        chosen = np.take_along_axis(ranks, depth_by_rank.argmin(axis=1)[:, None], axis=1)
        halves = np.zeros(values.shape, dtype=np.int64)
        np.put_along_axis(halves, chosen, 1, axis=1)
        depths = depths + halves
        values = values << halves
        values, depths = np.concatenate([values, values + halves]), np.concatenate([depths, depths])
        open_mass = float(np.exp2(-depths.sum(axis=1)).sum())
    return found, 1 - sum(found.values())


@pytest.mark.parametrize(
    ("clock", "shifts", "places", "resolution"),
    [
        (GUMBEL, [0, Fraction(1, 2)], 2, 2**12),
        (GUMBEL, [0, Fraction(1, 2), Fraction(3, 2)], 1, 2**12),
        (GUMBEL, [0, 0, Fraction(1, 3)], 2, 2**7),
        (EXPONENTIAL, [0, Fraction(1, 2)], 1, 2**12),
        (EXPONENTIAL, [0, Fraction(1, 2), Fraction(3, 2)], 1, 2**12),
        (EXPONENTIAL, [0, 0, 1, 1], 1, 2**7),
    ],
)
def test_all_uniform_numbers_together_give_the_law(clock, shifts, places, resolution):
    found, rest = cells(clock, shifts, places, Fraction(1, resolution))
    assert rest <= Fraction(1, resolution)
    with working_precision(160):
        assert_enclosed(found, rest, law_of(clock, [Fraction(shift) for shift in shifts], places))


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
@pytest.mark.parametrize(("shifts", "resolution"), [([0, Fraction(1, 2)], 2**7), ([0, Fraction(1, 2), Fraction(3, 2)], 2**4)])
def test_every_tape_of_bits_leads_to_the_order_of_its_law(outcomes, clock, shifts, resolution):
    kept = replace(clock, quantile=lru_cache(maxsize=None)(clock.quantile))

    def kernel(tape):
        return tuple(
            order([Runner(index, Fraction(shift), LazyUniform(tape, 1, 1), kept) for index, shift in enumerate(shifts)], 1)
        )

    found, rest = outcomes(kernel, unassigned=Fraction(1, resolution))
    with working_precision(160):
        assert_enclosed(found, rest, law_of(clock, [Fraction(shift) for shift in shifts], 1))


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
@pytest.mark.parametrize("run", ["one", "many"])
def test_the_kernel_with_words_of_two_bits_has_the_law(outcomes, clock, run):
    scores, tuning = read_scores([0, NEVER, -1]), Tuning(word_bits=2, more_bits=1, step=1)

    def kernel(tape):
        if run == "one":
            return tuple(race(scores, Fraction(1), clock, 1, tape, tuning))
        return tuple(races(scores, Fraction(1), clock, 1, 1, tape, tuning)[0].tolist())

    found, rest = outcomes(kernel, unassigned=Fraction(1, 2**4))
    with working_precision(160):
        law = {(2 * index,): mass for (index, *_), mass in law_of(clock, [Fraction(0), Fraction(1)], 1).items()}
        assert_enclosed(found, rest, law)


class Words:
    """A source that deals given first bits, and zeros after them, so that the uniform numbers are known."""

    secure = False

    def __init__(self, words, generator):
        self.words, self.generator = words, generator

    def uniform(self, bits, size):
        dealt, self.words = self.words, None
        if dealt is not None:
            return np.array(dealt, dtype=np.uint16)
        return self.generator.integers(0, 2**32, size).astype(np.uint32) if bits == 32 else np.zeros(size, dtype=np.uint64)

    def bits(self, count):
        return 0


TUNINGS = [SHIPPED, Tuning(word_bits=4, more_bits=2, step=3), Tuning(word_bits=8, more_bits=1, chunk=5, sample=2)]


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
@pytest.mark.parametrize("tuning", TUNINGS, ids=["shipped", "four bits", "chunks"])
@given(seed=st.integers(0, 10**9), levels=st.integers(1, 5), places=st.integers(1, 4))
def test_the_places_are_those_of_the_numbers_drawn(clock, tuning, seed, levels, places):
    generator = np.random.default_rng(seed)
    entries = (generator.integers(0, levels, 12) / 2).tolist()
    words = generator.permutation(2**tuning.word_bits)[:12].tolist()
    with working_precision(200):
        values = [
            clock.quantile(word, tuning.word_bits) + ball(Fraction(entry)) for word, entry in zip(words, entries, strict=True)
        ]
        true = sorted(range(12), key=lambda index: values[index].mid(), reverse=True)[:places]
    assert true == race(read_scores(entries), Fraction(1), clock, places, Words(words, generator), tuning)
    assert [true] == races(read_scores(entries), Fraction(1), clock, places, 1, Words(words, generator), tuning).tolist()


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
def test_the_greatest_of_many_is_found_wherever_it_stands_and_whatever_the_gaps(clock):
    size, generator = 5000, np.random.default_rng(3)
    tuning = Tuning(chunk=512, sample=64)
    for entries in (
        np.zeros(size),
        np.linspace(0, 50, size),
        generator.uniform(-1e300, 1e300, size),
        np.r_[np.zeros(size - 1), 1e9],
    ):
        words = generator.integers(0, 2**16, size)
        words[[7, size - 9]] = 2**16 - 1, 0
        with working_precision(1200):
            values = [
                clock.quantile(int(word), 16) + ball(Fraction(entry)) for word, entry in zip(words, entries.tolist(), strict=True)
            ]
            true = max(range(size), key=lambda index: values[index].mid())
        assert [true] == race(read_scores(entries), Fraction(1), clock, 1, Words(words, generator), tuning)


def test_noise_without_bound_can_carry_a_candidate_however_far_behind():
    behind = read_scores([0.0, -1e300, -(10**400)])
    words = Words([0, 2**16 - 1, 0], np.random.default_rng(1))
    kept = []
    original = Runner.__init__

    def counted(runner, index, *rest):
        kept.append(index)
        original(runner, index, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runner, "__init__", counted)
        patch.setattr(words, "uniform", first_ones(words))
        assert [0] == race(behind, Fraction(1), EXPONENTIAL, 1, words)
    assert {0, 1} <= set(kept)


def first_ones(words):
    """Bits that leave the last bin open in every way: ones instead of zeros after the first."""
    original = words.uniform

    def uniform(bits, size):
        return original(bits, size) if words.words is not None else np.full(size, 2**bits - 1, dtype=np.uint64)

    return uniform


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
def test_candidates_that_are_never_chosen_stay_behind(clock):
    scores, source = read_scores([NEVER, 0.0, NEVER, -800.0]), source_from(np.random.default_rng(5))
    assert {(1, 3)} == {tuple(race(scores, Fraction(1), clock, 2, source)) for _ in range(50)}
    assert [[1, 3]] * 50 == races(scores, Fraction(1), clock, 2, 50, source).tolist()


@given(temperature=st.fractions(min_value="1/1000", max_value=1000) | st.sampled_from([Fraction(2) ** 900, Fraction(2) ** -900]))
def test_rates_lie_so_far_on_both_sides_that_three_roundings_do_not_cross(temperature):
    low, high = _rates(temperature)
    assert Fraction(low) * (1 + Fraction(1, 2**53)) ** 2 < 1 / temperature < Fraction(high) * (1 - Fraction(1, 2**53)) ** 2


def test_bits_are_asked_for_by_number_of_candidates_alone():
    asked = []
    for entries in (np.zeros(3000), np.linspace(0, 90, 3000), np.r_[np.zeros(2999), 1000.0]):
        source = RecordingSource(source_from(np.random.default_rng(6)))
        race(read_scores(entries), Fraction(2), GUMBEL, 1, source)
        asked.append((source.calls[0][0], len(source.calls[0][1])))
    assert [(16, 3000)] * 3 == asked


@pytest.mark.parametrize("clock", CLOCKS, ids=lambda clock: clock.name)
@pytest.mark.parametrize("entries", [[0.0, -0.5, -1.5], [0, 0, 0, 0], [1e300, -1e300, 1e300]])
def test_races_have_the_law_of_their_clock(clock, entries, false_alarm_level):
    from scipy.stats import chisquare

    places = 2 if clock is GUMBEL else 1
    shifts = [Fraction(max(entries)) - Fraction(entry) for entry in entries]
    rows = races(read_scores(entries), Fraction(1), clock, places, 200_000, source_from(np.random.default_rng(7)))
    with working_precision(100):
        law = {ranks: float(mass.mid()) for ranks, mass in law_of(clock, shifts, places).items()}
    counts = dict.fromkeys(law, 0)
    for ranks, count in zip(*np.unique(rows, axis=0, return_counts=True), strict=True):
        counts[tuple(ranks.tolist())] += int(count)
    possible = [ranks for ranks, mass in law.items() if mass > 1e-9]
    assert 200_000 == sum(counts[ranks] for ranks in possible)
    if len(possible) > 1:
        expected = np.array([law[ranks] for ranks in possible])
        assert chisquare([counts[ranks] for ranks in possible], expected / expected.sum() * 200_000).pvalue > false_alarm_level
