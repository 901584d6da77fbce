"""Exponential polynomials on intervals, against sums written out and quadrature of another library."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.exact import ball_endpoints, working_precision
from dpaudit.verifier.refuter.pieces import Function, Line, decay

SLOPES = st.sampled_from([fmpq(value) for value in (-2, -1, 0, 1, 2)])
STARTS = st.integers(-4, 4).map(fmpq)
LINES = st.lists(st.builds(Line, SLOPES, STARTS), max_size=2).map(tuple)
RATES = st.sampled_from([fmpq(1, 2), fmpq(1), fmpq(2)])


def contains(enclosure: arb, value: float, slack: float = 0) -> bool:
    """Whether a ball contains a number, up to the other side's own error."""
    low, high = (float(end) for end in ball_endpoints(enclosure))
    return low - slack <= value <= high + slack


def decaying(rate: fmpq, *, whole: bool, one_sided: bool = False) -> Function:
    """e^(-rate |x|)."""
    return decay(rate, arb(1), whole=whole, one_sided=one_sided)


def as_float(value: fmpq) -> float:
    """A fraction as a float."""
    return int(value.p) / int(value.q)


@settings(max_examples=40, deadline=None)
@given(lower=LINES, upper=LINES, rate=RATES, other=RATES, one_sided=st.booleans())
def test_sums_between_lines_are_those_of_all_their_terms(
    lower: tuple[Line, ...], upper: tuple[Line, ...], rate: fmpq, other: fmpq, *, one_sided: bool
) -> None:
    """Two lattice noises, one of them between lines in the other: the closed form is the sum of the masses."""
    with working_precision(160):
        between = decaying(rate, whole=True, one_sided=one_sided).between(lower, upper)
        found = between.times(decaying(other, whole=True)).total()
    mass = 0.0
    for outside in range(-70, 71):
        low = max([int(line(fmpq(outside)).ceil()) for line in lower] + [0 if one_sided else -70])
        high = min([int(line(fmpq(outside)).ceil()) for line in upper] + [71])
        mass += math.exp(-as_float(other) * abs(outside)) * sum(
            math.exp(-as_float(rate) * abs(inside)) for inside in range(low, high)
        )
    assert contains(found, mass, slack=1e-9)


@settings(max_examples=15, deadline=None)
@given(lower=LINES, upper=LINES, rate=RATES, point=st.integers(-20, 20).map(lambda step: fmpq(step, 3)))
def test_integrals_between_lines_agree_with_quadrature(
    lower: tuple[Line, ...], upper: tuple[Line, ...], rate: fmpq, point: fmpq
) -> None:
    """At any argument of the lines the function is the integral between them."""
    low = max((line(point) for line in lower), default=fmpq(-80))
    high = min((line(point) for line in upper), default=fmpq(80))
    wanted = 0.0
    if low < high:
        stops = sorted({low, high, *([fmpq(0)] if low < 0 < high else [])})
        wanted = mpmath.quad(lambda x: mpmath.exp(-as_float(rate) * abs(x)), [as_float(stop) for stop in stops])
    with working_precision(160):
        inner = decaying(rate, whole=False).between(lower, upper)
        # A narrow window around the point, divided by its width, would blur it; the terms are evaluated there instead.
        found = inner.within(point, None).pieces
        value = arb(0)
        if found and (found[0].low is None or found[0].low <= point):
            for (power, above, below), factor in found[0].terms.items():
                value += factor * arb(point**power) * arb(fmpq(above, below) * point).exp()
    assert contains(value, wanted, slack=1e-9)


def test_polynomials_appear_and_are_added_up() -> None:
    """A chain of three noises of one rate leads to powers; its sum is that of all triples."""
    with working_precision(160):
        noise = decaying(fmpq(1), whole=True, one_sided=True)
        inner = noise.between((Line(fmpq(1), fmpq(0)),), (Line(fmpq(1), fmpq(4)),))
        chain = inner.times(noise).between((), (Line(fmpq(1), fmpq(1)),)).times(noise).total()
    rows = range(40)
    wanted = sum(
        math.exp(-one - two - three) for one, two, three in product(rows, repeat=3) if one <= two < one + 4 and one <= three
    )
    assert contains(chain, wanted, slack=1e-9)


def test_a_function_without_decay_is_not_integrated() -> None:
    """An integral that does not converge is refused rather than wrong."""
    growing = Function(whole=False, pieces=decaying(fmpq(-1), whole=False, one_sided=True).pieces)
    with working_precision(96), pytest.raises(ArithmeticError, match="decay"):
        growing.total()
