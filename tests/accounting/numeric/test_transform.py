"""The transform keeps its proved error, and the powers and products that are made of it keep theirs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import Poisson, laplace
from dpaudit.accounting.engines import tilted
from dpaudit.accounting.engines.tilted import tilted_lattice
from dpaudit.accounting.model import transform as module
from dpaudit.accounting.model.composition import DeltaAt
from dpaudit.accounting.model.transform import error_constant, inverse, is_standard, roots, transform
from dpaudit.exact import working_precision

UNIT = 2.0**-53


def exact_transform(real, imaginary, frequency):
    """The defining sum in ball arithmetic."""
    size = len(real)
    total = acb(0)
    for place, (one, other) in enumerate(zip(real.tolist(), imaginary.tolist(), strict=True)):
        angle = fmpq(-2 * (place * frequency % size), size)
        total += acb(arb(one), arb(other)) * acb(arb.cos_pi_fmpq(angle), arb.sin_pi_fmpq(angle))
    return total


def distance(value, real, imaginary):
    return float(abs(value - acb(arb(real), arb(imaginary))).upper())


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("kind", ["spread", "spiky", "tiny"])
def test_every_output_is_within_the_proved_error(bits, kind):
    size, generator = 1 << bits, np.random.default_rng(bits)
    real, imaginary = generator.random(size), generator.random(size)
    if kind == "spiky":
        real, imaginary = real**30, imaginary**30
    if kind == "tiny":
        real, imaginary = real * 2.0**-900, imaginary * 2.0**-900
    found = transform((real, imaginary))
    allowed = error_constant(size) * float(real.sum() + imaginary.sum()) * (1 + 1e-12)
    with working_precision(128):
        for frequency in range(0, size, max(1, size // 16)):
            truth = exact_transform(real, imaginary, frequency)
            assert distance(truth, found[0][frequency], found[1][frequency]) <= allowed


@pytest.mark.parametrize("bits", [11, 14, 15, 17])
def test_long_transforms_agree_with_the_defining_sum_where_it_is_looked_at(bits):
    size, generator = 1 << bits, np.random.default_rng(bits)
    real, imaginary = generator.random(size), generator.random(size)
    found = transform((real, imaginary))
    exact = np.fft.fft(real + 1j * imaginary)
    assert np.abs(found[0] + 1j * found[1] - exact).max() <= error_constant(size) * (real.sum() + imaginary.sum())


def test_the_error_constant_is_that_of_the_theorem():
    assert [43.5, 49.4, 53.4, 55.4] == [pytest.approx(error_constant(1 << bits) / UNIT, abs=0.06) for bits in (14, 17, 18, 20)]
    assert all(error_constant(1 << bits) < error_constant(2 << bits) for bits in range(2, 21))


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_the_inverse_undoes_the_transform(bits, seed):
    size, generator = 1 << bits, np.random.default_rng(seed)
    values = generator.random(size), generator.random(size)
    found = inverse(transform(values))
    allowed = 3 * error_constant(size) * (values[0].sum() + values[1].sum())
    assert np.abs(found[0] - values[0]).max() <= allowed
    assert np.abs(found[1] - values[1]).max() <= allowed


@pytest.mark.parametrize("size", [4, 64, 1024])
def test_roots_are_the_nearest_doubles(size):
    cosines, sines = roots(size)
    with working_precision(128):
        for index in range(0, size, max(1, size // 64)):
            angle = fmpq(2 * index, size)
            assert abs(arb(cosines[index]) - arb.cos_pi_fmpq(angle)) <= arb(2) ** -54
            assert abs(arb(sines[index]) + arb.sin_pi_fmpq(angle)) <= arb(2) ** -54


def test_the_transform_does_not_depend_on_how_much_is_worked_on_at_a_time(monkeypatch):
    generator = np.random.default_rng(5)
    values = generator.random(4096), generator.random(4096)
    whole = transform(values)
    for chunk in (64, 1 << 10, 1 << 20):
        monkeypatch.setattr(module, "CHUNK", chunk)
        found = transform(values)
        assert np.array_equal(whole[0], found[0])
        assert np.array_equal(whole[1], found[1])


def test_the_unit_of_rounding_is_that_of_doubles():
    assert Fraction(1, 2**53) == Fraction(UNIT) == module.UNIT
    assert 1.0 == 1.0 + UNIT < 1.0 + 3 * UNIT
    assert is_standard()


def test_without_standard_arithmetic_the_engine_does_not_answer(monkeypatch):
    loss, question = 3 * laplace(1).sampled(Poisson("1/10")), DeltaAt(Fraction(1, 10))
    narrow = tilted_lattice(loss.composition, question)
    monkeypatch.setattr(tilted, "is_standard", lambda: False)
    bounds = tilted_lattice(loss.composition, question)
    assert bounds.lower <= narrow.lower <= narrow.upper <= bounds.upper
    assert narrow.width < bounds.width
