"""Composed masses are within their stated errors, and the errors are those of the theorems, term by term."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpaudit.accounting.engines.cells import Raster
from dpaudit.accounting.engines.convolution import convolve_laws
from dpaudit.accounting.engines.lattice import Lattice
from dpaudit.accounting.model.transform import error_constant

UNIT = 2.0**-53


def lattice(index, upper, lower, count):
    """A law given by its masses."""
    raster = Raster(Fraction(1, 8), Fraction(0), tuple(index))
    upper, lower = np.array(upper, dtype=float), np.array(lower, dtype=float)
    return Lattice(count, raster, np.array(index, dtype=np.int64), upper, lower, Fraction(0), arb(0), arb(0))


def exact_power(index, masses, count):
    """The convolution power by repeated products of Fractions."""
    total = {0: Fraction(1)}
    for _ in range(count):
        grown = {}
        for place, mass in total.items():
            for step, other in zip(index, masses, strict=True):
                grown[place + step] = grown.get(place + step, Fraction(0)) + mass * Fraction(other)
        total = grown
    return total


@pytest.mark.parametrize("seed", range(6))
def test_masses_are_within_the_stated_error_and_on_their_side(seed):
    generator = np.random.default_rng(seed)
    index = sorted(generator.choice(np.arange(-9, 30), size=6, replace=False).tolist())
    upper = generator.dirichlet(np.ones(6))
    lower, count = upper * generator.uniform(0.9, 1, 6), int(generator.integers(2, 8))
    first = int(generator.integers(-60, 10))
    found = convolve_laws([lattice(index, upper, lower, count)], first, 512)
    for masses, known, error in ((upper, found.upper, found.upper_error), (lower, found.lower, found.lower_error)):
        exact = np.zeros(512)
        for place, mass in exact_power(index, masses.tolist(), count).items():
            exact[(place - first) % 512] += float(mass)
        room = error + 1e-16 + 40 * count * 2.0**-48 * exact.max()
        assert np.abs(known - exact).max() <= room
        assert error < 1e-12


@pytest.mark.parametrize("count", [1, 10, 1000, 10**6, 10**9])
def test_the_error_counts_every_use_of_every_transform_and_every_product(count):
    """For a law without spread no frequency decays, so that the bound of the theorem is met with all its terms."""
    size = 1024
    found = convolve_laws([lattice([0], [1.0], [1.0], count)], 0, size)
    once = 2 * (error_constant(size) + 4 * UNIT)
    expected = count * once + 5**0.5 * UNIT * count + 2 * (error_constant(size) + 4 * UNIT)
    assert expected <= found.upper_error <= 1.1 * expected + 1e-3 * (count == 10**9)
    assert expected <= found.lower_error <= 1.1 * expected + 1e-3 * (count == 10**9)


def test_frequencies_that_are_set_to_nothing_are_as_small_as_proved():
    """Six uses of a law that is almost uniform: the middle frequencies vanish, and the masses still agree."""
    size, count = 256, 4000
    found = convolve_laws([lattice([0, 1], [0.5, 0.5], [0.5, 0.5], count)], 0, size)
    exact = np.zeros(size)
    term = Fraction(1, 2**count)
    for place in range(count + 1):
        exact[place % size] += float(term)
        term = term * (count - place) / (place + 1)
    assert np.abs(found.upper - exact).max() <= found.upper_error + 2.0**-40
    assert found.upper_error < 1e-9


def test_masses_are_folded_outward():
    law = lattice([0, 64, 128, 200], [0.25] * 4, [0.25] * 4, 1)
    upper, lower = law.folded(64)
    assert 0.75 < upper[0] <= 0.75 * (1 + 2.0**-40)
    assert 0.75 > lower[0] >= 0.75 * (1 - 2.0**-40)
    assert upper[8] > 0.25 > lower[8]
