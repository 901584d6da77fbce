"""Calibrated parameters meet their budget by the upper end, and the next smaller noise breaks it by the lower end."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import calibrate, compose, discrete_laplace, gaussian, laplace, zcdp
from dpaudit.errors import InvalidArgument, Unsupported


def counted(make):
    """A family of losses, and how often it was asked."""
    calls = []

    def asked(parameter):
        calls.append(parameter)
        return make(parameter)

    return asked, calls


@settings(max_examples=40)
@given(
    st.integers(1, 10**6),
    st.fractions("1/100", 20, max_denominator=100),
    st.integers(2, 300),
    st.sampled_from([Fraction(1), Fraction(3, 7)]),
)
def test_gaussian_noise_is_calibrated_from_both_sides(times, epsilon, digits, sensitivity):
    delta = Fraction(1, 10**digits)
    make, calls = counted(lambda sigma: times * gaussian(sigma=sigma, sensitivity=sensitivity))
    found = calibrate(make, epsilon=epsilon, delta=delta, low="1/1000", high=10**9)
    assert make(found.parameter).delta(epsilon=epsilon).upper <= delta
    assert make(found.parameter * (1 - Fraction(1, 10**6))).delta(epsilon=epsilon).lower > delta
    assert found.tight
    assert found.reached.upper <= delta < found.missed.lower
    assert len(calls) < 60


def test_the_calibrated_deviation_is_the_root_of_the_closed_form():
    found = calibrate(lambda sigma: gaussian(sigma=sigma), epsilon=1, delta="1e-5", low=1, high=100)
    with mpmath.workdps(30):
        phi = lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2  # noqa: E731
        root = mpmath.findroot(lambda s: phi(1 / (2 * s) - s) - mpmath.e * phi(-1 / (2 * s) - s) - mpmath.mpf(10) ** -5, 3.7)
    assert 0 <= float(found.parameter) / float(root) - 1 < 1e-6


def test_a_pure_budget_gives_the_exact_scale():
    found = calibrate(lambda scale: 5 * laplace(scale=scale), epsilon=2, delta=0, low="1/10", high=100)
    assert 0 <= found.parameter - Fraction(5, 2) < Fraction(5, 10**6)
    assert found.tight


def test_a_sensitivity_is_calibrated_upwards():
    found = calibrate(
        lambda sensitivity: gaussian(sigma=1, sensitivity=sensitivity),
        epsilon="1/2",
        delta="1e-5",
        low="1/1000",
        high=10,
        increasing=True,
    )
    assert found.parameter < found.beyond
    assert gaussian(sigma=1, sensitivity=found.parameter).delta(epsilon="1/2").upper <= Fraction(1, 10**5)
    assert gaussian(sigma=1, sensitivity=found.beyond).delta(epsilon="1/2").lower > Fraction(1, 10**5)


def test_where_only_an_upper_end_is_known_the_answer_says_so():
    found = calibrate(lambda noise: zcdp(1 / noise), epsilon=1, delta="1e-6", low=1, high=10**6)
    assert not found.tight
    assert zcdp(1 / found.parameter).delta(epsilon=1).upper <= Fraction(1, 10**6)
    assert zcdp(1 / found.beyond).delta(epsilon=1).upper > Fraction(1, 10**6)


def test_a_composition_is_calibrated():
    found = calibrate(
        lambda scale: compose(discrete_laplace(scale=scale), 10 * gaussian(sigma=scale)),
        epsilon=1,
        delta="1e-6",
        low=1,
        high=1000,
        precision="1e-3",
    )
    assert found.reached.upper <= Fraction(1, 10**6)


@pytest.mark.parametrize("precision", ["1e-12", "1e-6", "1/2"])
def test_the_two_parameters_are_as_close_as_asked(precision):
    found = calibrate(lambda sigma: gaussian(sigma=sigma), epsilon=1, delta="1e-6", low=1, high=10**6, precision=precision)
    assert Fraction(precision) == 1 - found.beyond / found.parameter
    assert found.tight


@pytest.mark.parametrize(
    ("changes", "kind", "code"),
    [
        ({"low": 10}, Unsupported, "met all over"),
        ({"high": 2}, Unsupported, "not met even"),
        ({"increasing": True}, Unsupported, "falls, so leave increasing out"),
        ({"low": 5, "high": 4}, InvalidArgument, "DPA103"),
        ({"low": 0}, InvalidArgument, "DPA104"),
        ({"epsilon": -1}, InvalidArgument, "DPA103"),
        ({"delta": 1}, InvalidArgument, "DPA103"),
        ({"precision": 0}, InvalidArgument, "DPA103"),
        ({"make": float}, InvalidArgument, "DPA105"),
        ({"epsilon": math.nan}, InvalidArgument, "DPA102"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, kind, code):
    usual = {"make": lambda sigma: gaussian(sigma=sigma), "epsilon": 1, "delta": "1e-6", "low": 1, "high": 100}
    arguments = {**usual, **changes}
    with pytest.raises(kind, match=code):
        calibrate(arguments.pop("make"), **arguments)


@pytest.mark.parametrize(
    ("make", "epsilon", "delta"),
    [(lambda sigma: 10**9 * gaussian(sigma=sigma), "1e3", "0.9"), (lambda scale: 10 * laplace(scale=scale), 1, "1e-6")],
)
def test_a_very_wide_range_is_searched_to_the_end(make, epsilon, delta):
    wide = calibrate(make, epsilon=epsilon, delta=delta, low="1e-30", high="1e60")
    narrow = calibrate(make, epsilon=epsilon, delta=delta, low="1e-3", high="1e6")
    assert wide.tight
    assert abs(wide.parameter / narrow.parameter - 1) <= Fraction(1, 10**6)


@pytest.mark.parametrize("increasing", [False, True])
def test_no_parameter_outside_the_range_is_ever_tried(increasing):
    """The answer lies within the precision of an end of the range, on either side."""
    make, calls = counted(lambda size: gaussian(sigma=size) if not increasing else gaussian(sigma=1, sensitivity=size))
    root = calibrate(make, epsilon=1, delta="1e-5", low="1/100", high=100, increasing=increasing).parameter
    for near in (root * (1 - Fraction(1, 10**4)), root * (1 - Fraction(3, 10**6))):
        for far in (root * (1 + Fraction(1, 10**4)), root * (1 + Fraction(1, 10**5))):
            calls.clear()
            found = calibrate(make, epsilon=1, delta="1e-5", low=near, high=far, increasing=increasing, precision="1/100")
            assert all(near <= call <= far for call in calls)
            assert near <= min(found.parameter, found.beyond) < max(found.parameter, found.beyond) <= far
            assert found.tight
