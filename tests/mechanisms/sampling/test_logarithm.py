"""The logarithm from additions and multiplications keeps its promise, which its constants add up to."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, working_precision
from mechanisms.sampling.logarithm import LARGEST_SHIFT, LOG_ERROR, certlog, log_constants


def test_the_error_of_the_logarithm_is_what_its_constants_add_up_to():
    constants = log_constants()
    unit = Fraction(1, 2**53)
    with working_precision(256):
        high, low = Fraction(constants.high), Fraction(constants.low)
        assert 0 == (high * 2**22).denominator - 1
        assert abs(arb.const_log2() - ball(high + low)) < arb(2) ** -75
        largest = Fraction(0)
        for at, (inverse, logarithm) in enumerate(zip(constants.inverse.tolist(), constants.logarithm.tolist(), strict=True)):
            assert 1 == (Fraction(inverse) * 2**12).denominator
            assert abs(ball(Fraction(logarithm)) + ball(Fraction(inverse)).log()) <= arb(2) ** -54
            for end in (Fraction(2048 + at, 4096), Fraction(2049 + at, 4096)):
                largest = max(largest, abs(end * Fraction(inverse) - 1))
    assert largest < Fraction(1, 2700)
    rest = unit / 2**12 + Fraction(1, 2**65)  # rounding of the reduced argument
    series = largest**5 / 5 / (1 - largest) + 8 * unit * largest**2 + unit * largest  # cut off, inner steps, last step
    fixed = rest * 2 + series + Fraction(1, 2**54) + unit * Fraction(7, 10)  # table, sum of table and series
    # Per unit of the exponent: the low part of ln 2 and its two roundings; it is at least ln 2 of the result.
    exponent = Fraction(1, 2**75) + 2 * unit / 2**21
    assert fixed + unit * Fraction(7, 10) <= Fraction(LOG_ERROR)
    assert exponent * Fraction(3, 2) + unit * (1 + Fraction(1, 2**20)) <= Fraction(LOG_ERROR)


def test_the_logarithm_keeps_its_promise_near_every_kind_of_place():
    rng = np.random.default_rng(2)
    mantissa = np.concatenate(
        [rng.uniform(0.5, 1, 3000), 1 - rng.uniform(0, 2**-20, 500), 0.5 + np.arange(2048) / 4096, [0.5, np.nextafter(1, 0)]]
    )
    exponent = -rng.integers(0, 40, len(mantissa))
    exponent[::7], exponent[::11] = 0, 1
    exponent[:50] = -LARGEST_SHIFT + np.arange(50)
    values = certlog(mantissa, exponent)
    with working_precision(200):
        for each, place, value in zip(mantissa.tolist(), exponent.tolist(), values.tolist(), strict=True):
            expected = arb(each).log() + place * arb.const_log2()
            assert abs(ball(Fraction(value)) - expected) < LOG_ERROR * (1 + abs(expected))


@pytest.mark.parametrize(("mantissa", "exponent"), [(1.0, 0), (0.4999, 0), (math.nan, 0), (0.5, 2), (0.5, -LARGEST_SHIFT - 1)])
def test_the_logarithm_refuses_what_its_proof_does_not_cover(mantissa, exponent):
    with pytest.raises(InvalidArgument, match="DPA103"):
        certlog(np.array([mantissa]), np.array([exponent]))
