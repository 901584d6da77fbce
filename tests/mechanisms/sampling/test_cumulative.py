"""Inversion of a cumulative function: certified thresholds, draws in their own places, and no draw that the table cannot hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, FiniteLaw
from mechanisms.laws.truncated import RangeLaw
from mechanisms.sampling import cumulative
from mechanisms.sampling.cumulative import SHIPPED_WORDS, Words, cumulative_table, draw_place, draw_places, place_of
from mechanisms.sampling.digits import GeometricDigit, LaplaceSign
from mechanisms.sampling.exactnum import LazyUniform
from mechanisms.sampling.random import OsBitSource, source_from
from tests.support.sources import RecordingSource, TapeSource

LAWS = [
    FiniteLaw([3, 1, 2]),
    FiniteLaw([1] * 1000),
    GeometricDigit(Fraction(1, 5), None),
    GeometricDigit(Fraction(1, 40), 256),
    LaplaceSign(Fraction(7)),
    RangeLaw(DiscreteGaussian(sigma=4), -9, 20),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("words", [SHIPPED_WORDS, Words(guide=3, prefix=7, step=1, reach=5)], ids=["shipped", "small"])
def test_thresholds_lie_on_both_sides_of_the_cumulative_function(law, words):
    table = cumulative_table(law, words)
    with working_precision(200):
        truths = list(law.cumulative(law.lowest, law.lowest + len(table.below) - 1))
        for below, beyond, truth in zip(table.below.tolist(), table.beyond.tolist(), truths, strict=True):
            assert not ball(Fraction(below, 2**words.prefix)) > truth
            assert not ball(Fraction(beyond, 2**words.prefix)) < truth
            assert beyond - below <= 1


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_the_guide_gives_what_the_thresholds_say(law):
    words = Words(guide=6, prefix=12, step=1, reach=5)
    table = cumulative_table(law, words)
    rest = words.prefix - words.guide
    for first, place in enumerate(table.guide.tolist()):
        numbers = np.arange(first << rest, (first + 1) << rest, dtype=np.uint64)
        low = set(np.searchsorted(table.beyond, numbers, side="right").tolist())
        high = set(np.searchsorted(table.below, numbers, side="right").tolist())
        beyond = {len(table.below)} if table.is_open else set()
        decided = len(low | high) == 1 and not low & beyond
        assert decided == (place >= 0)
        assert not decided or {place} == low


def replayed(law, calls, words, n):
    """The draws that recorded bits stand for, by comparing each uniform number with the cumulative function in order."""
    calls, result = list(calls), []
    bits, first = calls.pop(0)
    assert words.guide == bits
    table = cumulative_table(law, words)
    open_ = [at for at, digits in enumerate(first) if table.guide[digits] < 0]
    rest = dict(zip(open_, calls.pop(0)[1], strict=True)) if open_ else {}
    more = iter(calls)
    for at, digits in enumerate(first):
        if at not in rest:
            value, width = Fraction(2 * digits + 1, 2 ** (words.guide + 1)), words.guide
        else:
            number = digits << (words.prefix - words.guide) | rest[at]
            low = int(np.searchsorted(table.beyond, np.uint64(number), side="right"))
            high = int(np.searchsorted(table.below, np.uint64(number), side="right"))
            width = words.prefix
            while low != high or (table.is_open and low == len(table.below)):
                bits, (extra,) = next(more)
                number, width = number << bits | extra, width + bits
                with working_precision(width + 64):
                    place = 0
                    while not decided(law, place, number, width):
                        place += 1
                    if decided(law, place, number, width) != "open":
                        low = high = place
                        break
            value = Fraction(2 * number + 1, 2 ** (width + 1))
        with working_precision(width + 64):
            place = 0
            while decided(law, place, int(value * 2**width), width) is False:
                place += 1
        result.append(place)
    assert [] == list(more)
    return result[:n]


def decided(law, place, number, width):
    """Whether a uniform number that starts with these digits is below F(place): True, False, or "open"."""
    if law.highest is not None and place >= law.highest - law.lowest:
        return True
    truth = next(iter(law.cumulative(law.lowest + place, law.lowest + place)))
    if ball(Fraction(number + 1, 2**width)) <= truth:
        return True
    return False if ball(Fraction(number, 2**width)) >= truth else "open"


@pytest.mark.parametrize("law", [LAWS[0], LAWS[4], LAWS[5]], ids=lambda law: type(law).__name__)
def test_draws_stand_in_the_order_of_their_bits(law):
    words = Words(guide=3, prefix=6, step=4, reach=5)
    source = RecordingSource(source_from(np.random.default_rng(5)))
    drawn = draw_places(cumulative_table(law, words), source, 60)
    assert replayed(law, source.calls, words, 60) == drawn.tolist()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_batch_is_the_same_as_its_draws_one_at_a_time(law):
    words = Words(guide=4, prefix=9, step=3, reach=8)
    table = cumulative_table(law, words)
    source = RecordingSource(source_from(np.random.default_rng(6)))
    drawn = draw_places(table, source, 400).tolist()
    calls = iter(source.calls)
    _, first = next(calls)
    open_ = [at for at, digits in enumerate(first) if table.guide[digits] < 0]
    rest = dict(zip(open_, next(calls)[1], strict=True)) if open_ else {}
    extra = [(bits, number) for bits, (number,) in calls]
    for at, digits in enumerate(first):
        number = digits << 5 | rest.get(at, 0)
        tape, length = 0, 0
        for bits, piece in extra:
            tape, length = tape << bits | piece, length + bits
        source = TapeSource(tape, length)
        assert drawn[at] == place_of(table, source, number)
        used = (length - source.remaining) // 3
        extra = extra[used:]
    assert [] == extra


def test_a_draw_takes_little_more_than_the_bits_of_the_guide():
    source = RecordingSource(OsBitSource())
    draw_places(cumulative_table(FiniteLaw([1, 2, 3, 4])), source, 10_000)
    assert sum(bits * len(words) for bits, words in source.calls) < 10_000 * 16.2


@pytest.mark.parametrize("n", [0, 1, 65_536, 65_537, 150_000])
def test_as_many_draws_come_as_are_asked_for(n):
    drawn = draw_places(cumulative_table(GeometricDigit(Fraction(1, 5), None)), OsBitSource(), n)
    assert (n,) == drawn.shape
    assert np.int64 == drawn.dtype
    assert n == 0 or drawn.min() >= 0


def test_a_law_with_one_value_always_gives_it():
    table = cumulative_table(FiniteLaw({5: 3}))
    assert [0, 0, 0] == draw_places(table, OsBitSource(), 3).tolist()
    assert 0 == draw_place(table, OsBitSource())


@settings(max_examples=60)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any), st.integers(0, 2**63 - 1))
def test_a_scalar_draw_inverts_the_exact_sums(weights, digits):
    law = FiniteLaw(weights)
    drawn = place_of(cumulative_table(law), TapeSource(0, 0), digits) if exact_threshold(law, digits) else None
    number = Fraction(digits, 2**63)
    expected = next(at for at, _ in enumerate(law.values) if law.cdf(law.values[at]).lower > number)
    assert drawn in {None, expected}


def exact_threshold(law, digits):
    """Whether these digits decide the draw without further bits."""
    table = cumulative_table(law)
    word = np.uint64(digits)
    return table.beyond.searchsorted(word, side="right") == table.below.searchsorted(word, side="right")


def test_draws_beyond_the_table_are_found_by_doubling():
    words = Words(guide=2, prefix=4, step=8, reach=1)
    table = cumulative_table(GeometricDigit(Fraction(1, 3), None), words)
    assert len(table.below) < 10
    # All ones: the uniform number lies between 1 - 2**-44 and 1 - 2**-52, so the draw between 3 * 44 ln 2 and 3 * 52 ln 2.
    drawn = place_of(table, TapeSource(2**40 - 1 << 8, 48), 15)
    assert 91 <= drawn <= 109


def test_a_draw_beyond_int64_is_an_error(monkeypatch):
    monkeypatch.setattr(cumulative, "LARGEST", 20)
    table = cumulative_table(GeometricDigit(Fraction(1, 3), None), Words(guide=2, prefix=4, step=8, reach=1))
    with pytest.raises(Unsupported, match=r"DPA108.*wide=True"):
        draw_places(table, TapeSource(2**60 - 1 << 8, 68), 1)


def test_a_law_that_fills_no_table_is_refused():
    with pytest.raises(Unsupported, match="DPA202"):
        cumulative_table(GeometricDigit(Fraction(1, 2**40), None))


def test_bits_left_over_from_the_guide_are_fresh(monkeypatch):
    # The number that goes to balls is that of the prefix; more of its digits come from the source, none from the guide.
    begun = []
    original = LazyUniform.begun.__func__

    def watched(cls, source, value, bits, step=64):
        begun.append((value, bits))
        return original(cls, source, value, bits, step)

    monkeypatch.setattr(LazyUniform, "begun", classmethod(watched))
    table = cumulative_table(FiniteLaw([1, 2]), Words(guide=1, prefix=2, step=1))
    assert [1] == draw_places(table, TapeSource(0b0111, 4), 1).tolist()
    assert [(1, 2)] == begun


@pytest.mark.parametrize(
    "sizes", [{"guide": 0}, {"guide": 17}, {"prefix": 15}, {"prefix": 64}, {"step": 0}, {"reach": 0}, {"reach": 64}]
)
def test_sizes_that_no_table_has_are_refused(sizes):
    with pytest.raises(InvalidArgument, match="DPA103"):
        Words(**sizes)


def test_tables_cannot_be_changed_and_equal_laws_share_one():
    table = cumulative_table(FiniteLaw([1, 2]))
    assert table is cumulative_table(FiniteLaw({0: 2, 1: 4}))
    for array in (table.below, table.beyond, table.guide):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


class Vague:
    """A law whose balls are so wide that they prove little."""

    lowest, highest = 0, 3

    def __hash__(self):
        return 1

    def cumulative(self, first, last):
        return (arb(k + 1) / 4 + arb(0, 2.5 * 2.0**-10) for k in range(first, last + 1))


def test_wide_balls_cost_certainty_never_order():
    table = cumulative_table(Vague(), Words(guide=2, prefix=10, step=2**12))
    assert [253, 509, 765] == table.below.tolist()
    assert [259, 515, 771] == table.beyond.tolist()
    assert 1 == place_of(table, TapeSource(0, 0), 300)
    with pytest.raises(Unsupported, match="DPA202"):
        place_of(table, OsBitSource(), 256)
