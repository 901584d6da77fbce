"""Binary formats: ranks count their numbers in order, rounding finds the nearest, and float64 is the format of Python floats."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from mechanisms.sampling.float_format import FLOAT64, FloatFormat

finite = st.floats(allow_nan=False, allow_infinity=False)
formats = st.builds(FloatFormat, st.integers(2, 6), st.integers(-8, 3))


def bits_of(value):
    """The rank of a float64 as the processor keeps it: its bits read as an integer, with the sign in front."""
    pattern = struct.unpack("<q", struct.pack("<d", abs(value)))[0]
    return -pattern if value < 0 else pattern


@given(finite)
def test_the_rank_of_a_float_is_its_bit_pattern(value):
    assert bits_of(value) == FLOAT64.rank(Fraction(value))
    assert Fraction(value) == FLOAT64.number(bits_of(value))


@given(st.fractions() | finite.map(Fraction), st.integers(-1100, 900))
def test_rounding_to_float64_is_what_python_does(value, exponent):
    value *= Fraction(2) ** exponent
    if abs(value) < 2**1023:
        assert float(value) == float(FLOAT64.number(FLOAT64.rank(value)))


@given(formats, st.integers(-200, 200))
def test_ranks_and_numbers_stand_one_to_one(form, rank):
    number = form.number(rank)
    assert rank == form.rank(number)
    assert number == -form.number(-rank)
    assert number < form.middle(rank) < form.number(rank + 1)
    digits = abs(number) / Fraction(2) ** form.smallest_exponent
    assert 1 == digits.denominator
    spare = max(0, int(digits).bit_length() - form.precision)
    assert 0 == int(digits) % 2**spare


@given(formats, st.fractions(-40, 40, max_denominator=10**4))
def test_the_nearest_number_is_nearest(form, value):
    rank = form.rank(value)
    assert form.middle(rank - 1) <= value <= form.middle(rank)


@given(formats, st.integers(-200, 200))
def test_a_tie_goes_to_the_even_rank(form, rank):
    assert form.rank(form.middle(rank)) in {rank, rank + 1}
    assert 0 == form.rank(form.middle(rank)) % 2


@given(st.lists(st.tuples(finite, finite), max_size=5))
def test_sums_of_float64_are_those_of_the_processor(pairs):
    with np.errstate(over="ignore"):
        expected = [first + second for first, second in pairs]
        assert expected == [FLOAT64.sum_one(first, second) for first, second in pairs]
        first, second = (np.array([pair[side] for pair in pairs], dtype=np.float64) for side in (0, 1))
        assert expected == FLOAT64.sum_many(first, second).tolist()


@given(formats, st.integers(-60, 60), st.integers(-60, 60))
def test_sums_of_a_small_format_are_rounded_once(form, first, second):
    one, other = form.number(first), form.number(second)
    nearest = float(form.number(form.rank(one + other)))
    assert nearest == form.sum_one(float(one), float(other))
    assert [nearest] == form.sum_many(np.array([float(one)]), np.array([float(other)])).tolist()


@pytest.mark.parametrize(("value", "rank"), [(0.0, 0), (-0.0, 0), (5e-324, 1), (2.0**-1022, 2**52), (math.nextafter(1, 0), None)])
def test_the_ends_of_float64(value, rank):
    expected = bits_of(value) if rank is None else rank
    assert expected == FLOAT64.rank(Fraction(value))


@pytest.mark.parametrize(("precision", "exponent"), [(1, 0), (54, 0), (3, -1075), (3, 901)])
def test_formats_that_float64_cannot_hold_are_refused(precision, exponent):
    with pytest.raises(InvalidArgument, match="DPA103"):
        FloatFormat(precision, exponent)
