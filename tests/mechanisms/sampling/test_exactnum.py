"""Certified comparisons: the lazily revealed uniform number never guesses, and exp keeps its proved error."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, ball_endpoints, working_precision
from mechanisms.sampling import exactnum
from mechanisms.sampling.exactnum import LazyUniform, certexp, certexp_one, exp_constants
from mechanisms.sampling.random import OsBitSource
from tests.support.sources import NeedBits, TapeSource

UNIT = Fraction(1, 2**53)


def exact_exp(x):
    """Ball around exp(-x) for a float x."""
    return (-ball(Fraction(x))).exp()


def relative_errors(points):
    """Relative errors of `certexp` at the points, rounded up."""
    values = certexp(np.array(points))
    with working_precision(160):
        return [
            float(abs(ball(Fraction(float(value))) / exact_exp(point) - 1).upper())
            for point, value in zip(points, values, strict=True)
        ]


def test_exp_keeps_its_error_at_all_sizes():
    rng = np.random.default_rng(20240611)
    step = math.log(2) / 2048
    ties = (rng.integers(0, 2_000_000, 3000) + 0.5) * step
    points = [
        *rng.uniform(0, 708, 6000),
        *rng.uniform(0, 1, 2000),
        *2.0 ** rng.uniform(-1074, 0, 2000),
        *ties[ties < 708],
        0.0,
        708.0,
        5e-324,
    ]
    assert max(relative_errors([float(point) for point in points])) < 2.0**-51


@given(st.floats(0, 708))
def test_exp_of_one_number_is_exp_of_an_array(x):
    assert certexp(np.array([x]))[0] == certexp_one(x)


def test_exp_of_a_part_is_the_same_part_of_exp():
    points = np.random.default_rng(4).uniform(0, 708, 1003)
    whole = certexp(points)
    assert all(np.array_equal(whole[start::7], certexp(points[start::7])) for start in range(7))


@pytest.mark.parametrize("x", [-1e-300, 708.1, math.nan, math.inf, -math.inf])
def test_exp_refuses_what_its_proof_does_not_cover(x):
    with pytest.raises(InvalidArgument, match="DPA103"):
        certexp(np.array([1.0, x]))


def test_exp_of_nothing_is_nothing():
    assert certexp(np.array([])).shape == (0,)


def test_every_table_entry_is_correctly_rounded():
    entries = exp_constants().entries
    with working_precision(400):
        for index, entry in enumerate(entries):
            truth = (-(arb.const_log2() * index) / len(entries)).exp()
            distance = abs(truth - arb(entry))
            for neighbour in (math.nextafter(entry, 0), math.nextafter(entry, 2)):
                assert distance <= abs(truth - arb(neighbour)), index


def test_the_constants_of_exp_are_what_the_proof_says():
    constants, size = exp_constants(), len(exp_constants().entries)
    with working_precision(400):
        step = arb.const_log2() / size
        for value, truth in (
            (constants.inverse, 1 / step),
            (constants.low, step - arb(constants.high)),
            (constants.third, arb(1) / 6),
        ):
            for neighbour in (math.nextafter(value, 0), math.nextafter(value, math.inf)):
                assert abs(truth - arb(value)) < abs(truth - arb(neighbour))
    assert (constants.high * 2**43).is_integer()
    assert constants.high * 2**43 < 2**32
    assert not constants.table.flags.writeable


def test_the_error_terms_of_exp_add_up_to_less_than_the_bound():
    # The terms (a) to (e) of docs/sampling.md, in exact arithmetic with the constants that ship.
    constants, size = exp_constants(), len(exp_constants().entries)
    largest = Fraction(exactnum.LARGEST_EXPONENT)
    with working_precision(400):
        step = ball_endpoints(arb.const_log2() / size)[1]
        rest_of_low = ball_endpoints(abs(arb.const_log2() / size - arb(constants.high) - arb(constants.low)))[1]
        low_error, inverse_error = rest_of_low, ball_endpoints(abs(1 / (arb.const_log2() / size) - arb(constants.inverse)))[1]
    wholes = largest / step + 1
    # (a) the reduced argument: y carries the error of the constant and of one product; adding 1.5 * 2**52 rounds to an integer.
    from_nearest = Fraction(1, 2) + largest * inverse_error + largest * Fraction(constants.inverse) * UNIT
    reduced = from_nearest * step
    # (b) its own error: one rounded difference, one rounded product, one more rounded difference, and the constant's error.
    first_difference = (reduced + wholes * Fraction(constants.low) * 2) * UNIT
    product = wholes * Fraction(constants.low) * UNIT
    second_difference = 2 * reduced * UNIT
    argument = first_difference + product + second_difference + wholes * low_error
    reduced += argument
    # (c) Horner's scheme, innermost step first, with the rounded 1/6.
    third = Fraction(constants.third)
    step_one = (reduced * third * UNIT + (Fraction(1, 2) + reduced * third) * UNIT) * (1 + UNIT) + reduced * UNIT / 6
    step_two = reduced * (step_one + UNIT) + (1 + reduced) * UNIT
    polynomial = reduced * (step_two + 2 * UNIT) + (1 + 2 * reduced) * UNIT
    # (d) the series ends after the third power.
    series = reduced**4 / 24 * (1 + 2 * reduced)
    # (e) the table and the last product; the shift of the exponent is exact.
    total = (polynomial + series + argument * (1 + 2 * reduced)) * (1 + 2 * reduced) + 2 * UNIT * (1 + 2 * reduced)
    assert float(total) < 2.0**-51
    assert wholes < 2**21
    assert (int(wholes) >> 11) <= 1021


def test_a_machine_that_fuses_or_flushes_is_refused(monkeypatch):
    class Rounding(float):
        """A float whose sums are rounded down."""

        def __add__(self, other):
            return math.nextafter(float(self) + float(other), 0)

    exactnum._require_ieee()
    monkeypatch.setattr(exactnum.np, "float64", Rounding)
    with pytest.raises(Unsupported, match="IEEE 754"):
        exactnum._require_ieee()


@given(st.fractions(0, 1, max_denominator=10**6), st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**64 - 1))
def test_a_lazy_comparison_that_answers_is_right(threshold, first, step, tape):
    uniform = LazyUniform(TapeSource(tape, 64), first, step)
    try:
        answer = uniform.less(lambda precision: ball(threshold))
    except NeedBits:
        return  # the tape is too short to say
    lowest, highest = Fraction(uniform.value, 2**uniform.bits), Fraction(uniform.value + 1, 2**uniform.bits)
    assert highest <= threshold if answer else lowest >= threshold
    assert uniform.value == tape >> (64 - uniform.bits)


@given(st.integers(1, 10), st.data())
def test_a_dyadic_threshold_needs_no_more_than_its_own_digits(digits, data):
    numerator, tape = data.draw(st.integers(0, 2**digits)), data.draw(st.integers(0, 2**digits - 1))
    uniform = LazyUniform(TapeSource(tape, digits), first_bits=digits)
    assert (tape < numerator) == uniform.less(lambda precision: ball(Fraction(numerator, 2**digits)))


@pytest.mark.parametrize("threshold", [Fraction(1, 3), Fraction(1, 2), Fraction(5, 7), Fraction(1, 1000), Fraction(0), Fraction(1)])
def test_the_coin_has_its_probability_exactly(threshold):
    heads, open_ = Fraction(0), [(0, 0)]
    unresolved = Fraction(1)
    while open_ and unresolved > Fraction(1, 2**20):
        length, value = open_.pop(0)
        try:
            answer = LazyUniform(TapeSource(value, length), 1, 1).less(lambda precision: ball(threshold))
        except NeedBits:
            open_ += [(length + 1, 2 * value), (length + 1, 2 * value + 1)]
            continue
        unresolved -= Fraction(1, 2**length)
        heads += Fraction(answer, 2**length)
    assert heads <= threshold <= heads + unresolved


@pytest.mark.parametrize(("probability", "expected"), [(-1, False), (0, False), (1, True), (2, True)])
def test_a_coin_that_is_no_coin_always_falls_the_same_way(probability, expected):
    assert all(LazyUniform(OsBitSource()).less(lambda precision: arb(probability)) is expected for _ in range(50))


def test_a_comparison_continues_from_digits_that_were_drawn_before():
    uniform = LazyUniform.begun(TapeSource(0b11, 2), 0b10, 2, 1)
    assert not uniform.less(lambda precision: ball(Fraction(11, 16)))
    assert (0b1011, 4) == (uniform.value, uniform.bits)


def test_balls_are_asked_for_at_a_precision_that_grows_with_the_digits():
    asked = []

    def threshold(precision):
        asked.append(precision)
        return arb(1) / 3

    assert not LazyUniform(TapeSource(0b01010110, 8), 2, 2).less(threshold)
    assert asked == sorted(asked)
    assert all(later > earlier for earlier, later in pairwise(asked))


def test_balls_that_do_not_shrink_are_refused():
    with pytest.raises(Unsupported, match="DPA202"):
        LazyUniform(OsBitSource()).less(lambda precision: arb(0.5, 0.5))


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (-1, 4)])
def test_a_lazy_number_without_digits_is_refused(sizes):
    with pytest.raises(InvalidArgument, match="DPA103"):
        LazyUniform(OsBitSource(), *sizes)
