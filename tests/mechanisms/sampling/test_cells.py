"""Cells of the continuous laws: their weights and the places inside them add up to the law itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.exact import ball, working_precision
from mechanisms.sampling.cells import GaussianCells, LaplaceCells
from mechanisms.sampling.envelope import envelope_table

families = pytest.mark.parametrize("family", [LaplaceCells, GaussianCells])
scales = st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(10, 3), Fraction(2**20), Fraction(2**46, 3)])
places = st.fractions(Fraction(-1, 2), Fraction(1, 2), max_denominator=1000)


def distribution(family, scale, place):
    """P(noise < place), from the law's textbook formula."""
    if family is GaussianCells:
        return (-ball(place) / ball(2 * scale**2).sqrt()).erfc() / 2
    half = ball(-abs(place) / scale).exp() / 2
    return half if place <= 0 else 1 - half


def near(one, other, bits=100):
    """Whether two balls are narrow and meet."""
    return abs(one - other) < arb((1, -bits))


@families
@given(scales, st.integers(-8, 8), st.integers(0, 4), places)
@settings(max_examples=60)
def test_cell_and_place_together_have_the_continuous_law(family, scale, scales_away, steps, place):
    cells = family(scale)
    k = scales_away * max(1, int(scale)) + steps
    half = Fraction(1, 2)
    with working_precision(2000):
        mass = distribution(family, scale, k + half) - distribution(family, scale, k - half)
        centre = distribution(family, scale, half) - distribution(family, scale, -half)
        assert near(mass / centre, cells.weight(k))
        within = distribution(family, scale, k + place) - distribution(family, scale, k - half)
        assert near(within / mass, cells.below(k, place))


@families
@given(scales, st.integers(-(2**20), 2**20), places)
@settings(max_examples=60)
def test_places_are_distributed_alike_on_both_sides_and_from_end_to_end(family, scale, k, place):
    cells = family(scale)
    with working_precision(200):
        assert near(cells.below(k, place), 1 - cells.below(-k, -place))
        assert near(cells.below(k, Fraction(-1, 2)), arb(0))
        assert near(cells.below(k, Fraction(1, 2)), arb(1))


@families
@given(st.sampled_from([Fraction(1), Fraction(10, 3), Fraction(100), Fraction(2**46, 3)]), st.integers(-9, 9), places)
@settings(max_examples=60)
def test_a_place_is_nearly_uniform(family, scale, scales_away, place):
    # |F(t) - (t + 1/2)| <= (e^L - 1) / 2 <= L with the slope L of the log density, as the kernel's margin assumes.
    cells, k = family(scale), int(scales_away * scale)
    slope = cells.steepness(abs(k) + 1)
    with working_precision(200):
        assert abs(cells.below(k, place) - ball(place + Fraction(1, 2))) <= ball(min(slope, Fraction(1)))


@families
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(5), Fraction(1000, 7), Fraction(2**45)])
def test_weights_fall_and_their_decay_is_what_is_said(family, scale):
    cells = family(scale)
    with working_precision(160):
        reach = [int(scale * Fraction(step, 4)) + 1 for step in range(40)]
        assert all(cells.weight(k + 1) < cells.weight(k) for k in [0, *reach])
        for k in reach:
            rate = ball(cells.decay(k))
            assert all(cells.weight(k + j) < cells.weight(k) * (-rate * j).exp() * (1 + arb((1, -100))) for j in (1, 2, 7))


@families
@pytest.mark.parametrize("scale", [Fraction(70), Fraction(1000, 7), Fraction(10**6), Fraction(2**46, 3)])
def test_the_float_formula_is_as_near_as_it_says(family, scale):
    cells = family(scale)
    table = envelope_table(cells)
    ks = [0, 1, 2, *(int(scale * step / 4) for step in range(1, 36))]
    values = table.estimate.of(np.array([k / 2**table.shift for k in ks]))
    with working_precision(200):
        for k, value in zip(ks, values.tolist(), strict=True):
            assert abs(ball(Fraction(value)) / cells.weight(k) - 1) < table.estimate.slack + 2.0**-44


def test_narrow_laws_have_no_float_formula():
    assert float("inf") == LaplaceCells(Fraction(1, 3)).estimate(1, 1).slack
