"""Geometric draws by digits: which digits there are, how they are put together, and that the work does not depend on the draw."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteLaplace, Geometric
from mechanisms.sampling import digits
from mechanisms.sampling.cumulative import Words
from mechanisms.sampling.digits import (
    DigitWords,
    GeometricDigit,
    digit_table,
    draw_geometric,
    draw_one_geometric,
    draw_one_two_sided,
    draw_two_sided,
)
from mechanisms.sampling.random import OsBitSource, source_from
from tests.support.sources import RecordingSource, TapeSource


@settings(max_examples=60)
@given(st.fractions(Fraction(1, 50), 2**60, max_denominator=1000), st.integers(0, 2**20))
def test_the_probabilities_of_the_digits_multiply_to_that_of_the_number(scale, k):
    table = digit_table(scale)
    with working_precision(300):
        product = ball(1)
        for place, digit in enumerate(table.digits):
            law = digit.law
            value = k >> (8 * place) if law.size is None else (k >> (8 * place)) & 255
            (upto,) = law.cumulative(value, value)
            below = next(iter(law.cumulative(value - 1, value - 1))) if value else 0
            product *= upto - below
        assert product.overlaps(Geometric(scale).probability(k))
        assert product.rad() < ball(Fraction(1, 2**200))


@pytest.mark.parametrize(
    ("scale", "expected"), [("1/2", 1), (1, 1), (24, 1), (25, 2), (6144, 2), (6145, 3), (2**40, 6), (2**512, 65)]
)
def test_there_are_as_few_digits_as_the_top_scale_allows(scale, expected):
    table = digit_table(Fraction(scale))
    assert expected == len(table.digits)
    assert [256] * (expected - 1) + [None] == [digit.law.size for digit in table.digits]
    assert 8 * (expected - 1) == table.shift


def test_digits_are_put_together_from_the_lowest_on():
    # All uniform numbers 0.10..., low digits 4 bits wide: the draw is made of the medians of the digits' laws.
    tuning = DigitWords(digit=4, top_scale=Fraction(2), words=Words(guide=1, prefix=3, step=8))
    table = digit_table(100, tuning)
    medians = []
    for digit in table.digits:
        law, place = digit.law, 0
        while float(next(iter(law.cumulative(place, place)))) <= 0.5:
            place += 1
            if law.size is not None and place == law.size - 1:
                break
        medians.append(place)
    tape = 0
    for _ in table.digits:
        tape = tape << 3 | 0b100
    drawn = draw_one_geometric(table, TapeSource(tape << 4096 | 1 << 4090, 3 * len(table.digits) + 4096))
    assert medians == [drawn >> (4 * place) & 15 for place in range(len(medians) - 1)] + [drawn >> (4 * (len(medians) - 1))]


@pytest.mark.parametrize("scale", ["1/3", 1, 10, "100/3", 10**3, 10**6, 2**40])
@pytest.mark.parametrize("draw", [draw_geometric, draw_two_sided])
def test_draws_have_the_spread_of_their_law(scale, draw):
    law = Geometric(scale) if draw is draw_geometric else DiscreteLaplace(scale)
    drawn = draw(digit_table(Fraction(scale)), source_from(np.random.default_rng(3)), 40_000)
    assert np.int64 == drawn.dtype
    square = float(law.variance().upper)
    mean = 0.0 if draw is draw_two_sided else 1 / math.expm1(1 / float(Fraction(scale)))
    # Five standard errors; the fourth central moment of a geometric law is at most 9 variance^2 + variance.
    assert abs(drawn.mean() - mean) < 5 * math.sqrt(square / 40_000)
    assert abs(drawn.var() / square - 1) < 5 * math.sqrt((9 + 1 / square) / 40_000)


@pytest.mark.parametrize("scale", [10, 10**6, 2**40])
def test_every_draw_takes_the_same_look_ups(scale):
    table = digit_table(scale)
    source = RecordingSource(OsBitSource())
    draw_two_sided(table, source, 20_000)
    whole = [bits for bits, words in source.calls if len(words) == 20_000]
    assert [16] * (len(table.digits) + 1) == whole
    for _ in range(50):
        source = RecordingSource(OsBitSource())
        draw_one_two_sided(table, source)
        assert [63 * (len(table.digits) + 1)] == [bits for bits, _ in source.calls]


@pytest.mark.parametrize("draw", [draw_one_geometric, draw_one_two_sided])
def test_one_draw_is_a_python_integer(draw):
    drawn = [draw(digit_table(2**70), OsBitSource()) for _ in range(200)]
    assert {int} == {type(k) for k in drawn}
    assert max(abs(k) for k in drawn) > 2**66
    assert {0, 1} == {k & 1 for k in drawn}


def test_a_two_sided_draw_has_both_signs_and_zeros():
    drawn = draw_two_sided(digit_table(1), source_from(np.random.default_rng(1)), 10_000)
    zero, one = float(DiscreteLaplace(1).pmf(0).upper), float(DiscreteLaplace(1).pmf(1).upper)
    for value, expected in ((0, zero), (1, one), (-1, one)):
        assert abs((drawn == value).mean() - expected) < 5 * math.sqrt(expected / 10_000)


@pytest.mark.parametrize("scale", [2**70, 2**200])
@pytest.mark.parametrize("draw", [draw_geometric, draw_two_sided])
def test_wide_draws_are_python_integers_and_narrow_ones_an_error(scale, draw):
    table = digit_table(scale)
    drawn = draw(table, OsBitSource(), 300, wide=True)
    assert {int} == {type(k) for k in drawn.tolist()}
    assert 0.5 < sum(abs(k) for k in drawn.tolist()) / 300 / scale < 2
    with pytest.raises(Unsupported, match=r"DPA108.*wide=True"):
        draw(table, OsBitSource(), 300)


def test_the_largest_draw_that_fits_is_given_and_the_next_one_refused(monkeypatch):
    table = digit_table(2**56)
    limit = 2**62 >> table.shift

    def given(top):
        """Every lower digit the largest, the top one as stated."""
        monkeypatch.setattr(
            digits, "draw_places", lambda digit, source, n: np.full(n, top if digit.law.size is None else 255, dtype=np.int64)
        )
        return draw_geometric(table, OsBitSource(), 2).tolist()

    assert [2**62 - 1] * 2 == given(limit - 1)
    with pytest.raises(Unsupported, match="DPA108"):
        given(limit)


@pytest.mark.parametrize("sizes", [{"digit": 0}, {"digit": 13}, {"top_scale": Fraction(0)}])
def test_sizes_that_no_digit_has_are_refused(sizes):
    with pytest.raises(InvalidArgument, match="DPA103"):
        DigitWords(**sizes)


def test_a_digit_that_goes_on_has_no_largest_value():
    assert GeometricDigit(Fraction(1), None).highest is None
    assert 255 == GeometricDigit(Fraction(1), 256).highest
