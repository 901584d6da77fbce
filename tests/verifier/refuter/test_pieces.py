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


@pytest.mark.parametrize("point", [fmpq(0), fmpq(1), fmpq(-3, 2), fmpq(7)])
def test_two_laplace_draws_have_the_density_of_their_sum(point: fmpq) -> None:
    laplace = decay(fmpq(1), arb(fmpq(1, 2)), whole=False, one_sided=False)
    below = laplace.convolved(laplace).within(point, point + fmpq(1, 1000)).total() * 1000
    size = abs(as_float(point) + 0.0005)
    assert contains(below, (1 + size) * math.exp(-size) / 4, slack=1e-6)


@settings(max_examples=15, deadline=None)
@given(
    rates=st.tuples(RATES, RATES),
    factor=st.sampled_from([fmpq(-2), fmpq(-1, 3), fmpq(1), fmpq(3, 2)]),
    cut=st.sampled_from([None, fmpq(-1), fmpq(1, 2)]),
    low=st.integers(-3, 3).map(fmpq),
    one_sided=st.booleans(),
)
def test_the_sum_of_two_draws_agrees_with_quadrature(
    rates: tuple[fmpq, fmpq], factor: fmpq, cut: fmpq | None, low: fmpq, *, one_sided: bool
) -> None:
    """One draw, perhaps cut, and a multiple of another: the probability of an interval of their sum."""
    one = decaying(rates[0], whole=False).within(cut, None)
    two = decaying(rates[1], whole=False, one_sided=one_sided)
    with working_precision(160):
        found = one.convolved(two.stretched(factor)).within(low, low + 2).total()

    def inside(value: mpmath.mpf) -> mpmath.mpf:
        """The weight of the first draw from what the interval leaves it."""
        ends = [as_float(low) - as_float(factor) * value, as_float(low) + 2 - as_float(factor) * value]
        ends = [max(end, -mpmath.inf if cut is None else as_float(cut)) for end in ends]

        def sums(end: mpmath.mpf) -> mpmath.mpf:
            rate = as_float(rates[0])
            return mpmath.exp(rate * end) / rate if end < 0 else (2 - mpmath.exp(-rate * end)) / rate

        return (sums(ends[1]) - sums(ends[0])) * mpmath.exp(-as_float(rates[1]) * abs(value))

    kinks = sorted({0.0, *((as_float(low) + step) / as_float(factor) for step in (0, 2))})
    kinks += [] if cut is None else [(as_float(low) + step - as_float(cut)) / as_float(factor) for step in (0, 2)]
    ends = sorted({*kinks, 40.0, *([] if one_sided else [-40.0])})
    expected = mpmath.quad(inside, [end for end in ends if not one_sided or end >= 0])
    assert contains(found, float(expected), slack=1e-6)


def test_the_order_of_summands_does_not_matter() -> None:
    """Folded densities have powers, on either side."""
    one, two = decaying(fmpq(1), whole=False), decaying(fmpq(2), whole=False, one_sided=True)
    folded = one.convolved(one).convolved(two)
    for low in (fmpq(-3), fmpq(0), fmpq(5, 2)):
        masses = [found.within(low, low + 1).total() for found in (folded.convolved(one), one.convolved(folded))]
        assert contains(masses[0], float(ball_endpoints(masses[1])[0]), slack=1e-9)
