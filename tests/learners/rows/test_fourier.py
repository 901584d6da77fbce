"""Fourier features: exact phases, a table that cannot exceed its norm, and inner products close to the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpaudit.errors import InvalidArgument
from learners.rows.fourier import (
    DrawnFrequencies,
    FourierMap,
    GaussianKernel,
    LaplacianKernel,
    fastfood_map,
    fourier_map,
    pairwise_error,
)
from learners.rows.ingest import to_rows
from learners.rows.rows import Rows

WIDTH = 12


def rows_of(features, bits=16):
    features = np.asarray(features, dtype=float)
    return to_rows(features, np.zeros(len(features), dtype=np.int64), feature_norm=2, lattice_bits=bits)


@pytest.fixture(scope="module")
def features():
    values = np.random.default_rng(8).standard_normal((60, WIDTH))
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def products(made, features):
    """Inner products of images in units of the kernel."""
    steps = made.apply(rows_of(features), lattice_bits=20).steps.astype(float) / 2.0**20
    return steps @ steps.T


def gaussian(features, width):
    return np.exp(-np.square(features[:, np.newaxis] - features).sum(axis=2) / (2 * width**2))


def laplacian(features, width):
    return np.exp(-np.abs(features[:, np.newaxis] - features).sum(axis=2) / width)


def given_frequencies(columns, count, seed):
    """Frequencies of the kernel (1 + cos(x - y)) / 2 of the first column."""
    drawn = np.zeros((columns, count))
    drawn[0] = np.arange(count) % 2
    return drawn + 0 * seed


@pytest.mark.parametrize(
    ("kernel", "exact"),
    [(GaussianKernel("1/2"), gaussian), (GaussianKernel(2), gaussian), (LaplacianKernel(3), laplacian)],
    ids=["narrow", "wide", "laplacian"],
)
def test_inner_products_are_the_kernel_within_the_certified_error(kernel, exact, features):
    """All 1770 pairs at once: with the error for beta = 1e-9 this fails for one seed in 10**9."""
    made = fourier_map(dimension_in=WIDTH, frequencies=6000, kernel=kernel, seed=2)
    allowed = pairwise_error(records=60, frequencies=6000, beta="1e-9") + 1e-3
    far = products(made, features) - exact(features, float(kernel.width))
    assert np.abs(far).max() <= allowed
    # A bias, such as that of another width, would show in the mean over pairs long before.
    assert abs(far[np.triu_indices(60, 1)].mean()) < 8 * math.sqrt(1 / 6000)


def test_fastfood_gives_the_gaussian_kernel_as_well(features):
    """Mean over maps: unbiased up to the lengths' approximation; false alarms as for a mean of 200 independent blocks."""
    exact = gaussian(features, 0.5)
    total = sum(products(fastfood_map(dimension_in=WIDTH, frequencies=160, width="1/2", seed=seed), features) for seed in range(20))
    far = total / 20 - exact
    assert np.abs(np.diag(far)).max() < 1e-3
    assert np.abs(far).max() <= math.sqrt(2 * math.log(2 * 1770 / 1e-9) / 200)
    assert abs(far[np.triu_indices(60, 1)].mean()) < 8 * math.sqrt(1 / 3200)


def test_a_kernel_of_ones_own_is_what_its_frequencies_say(features):
    made = fourier_map(dimension_in=WIDTH, frequencies=100, kernel=given_frequencies, seed=0)
    wanted = (1 + np.cos(features[:, np.newaxis, 0] - features[:, 0])) / 2
    np.testing.assert_allclose(products(made, features), wanted, atol=1e-3)


@pytest.mark.parametrize("given", [np.zeros((WIDTH, 9)), np.zeros(10), np.full((WIDTH, 10), np.inf), np.full((WIDTH, 10), np.nan)])
def test_frequencies_of_another_shape_or_not_finite_are_refused(given, features):
    made = fourier_map(dimension_in=WIDTH, frequencies=10, kernel=lambda *_: given, seed=0)
    with pytest.raises(InvalidArgument, match="DPA105"):
        made.apply(rows_of(features))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e30])
def test_phases_are_exact_sums_modulo_a_turn(scale):
    """The frequencies' lattice, read off unit vectors, and Python's integers give the same phases, bit for bit."""
    rng = np.random.default_rng(3)
    steps = rng.integers(-(2**16) // 4, 2**16 // 4, (50, WIDTH)).astype(np.int32)
    drawn = DrawnFrequencies(WIDTH, 30, lambda columns, count, _: scale * np.random.default_rng(4).normal(size=(columns, count)), 0)
    phases = drawn.phases(Fraction(1, 2**16), 2**16)
    labels = np.zeros(50, dtype=np.int64)
    units = phases(Rows(np.eye(WIDTH, dtype=np.int32), 2**16, Fraction(1, 2**16), labels[:WIDTH])).astype(object)
    wanted = (steps.astype(object) @ units) % 2**64
    assert wanted.tolist() == phases(Rows(steps, 2**16, Fraction(1, 2**16), labels)).astype(object).tolist()
    turns = scale * np.random.default_rng(4).normal(size=(WIDTH, 30)) / 2**16 / math.tau
    off = (turns - units.astype(float) / 2.0**64 + 0.5) % 1 - 0.5
    assert scale > 1e20 or np.abs(off).max() < 2.0**-33 + scale * 1e-15


@dataclass(frozen=True)
class EveryPhase:
    """Phases that are the parts of a turn, one a record, for every frequency."""

    count: int
    dimension_in: int = 1

    def phases(self, _step, _bound):
        return lambda rows: np.repeat(rows.steps.astype(np.uint64) << np.uint64(50), self.count, axis=1)


def test_fastfood_phases_are_exact_sums_modulo_a_turn():
    """The map is linear modulo a turn, although its products overflow."""
    made = fastfood_map(dimension_in=WIDTH, frequencies=40, width="1/100", seed=1).frequencies
    phases = made.phases(Fraction(1, 2**16), 2**16)
    steps = np.random.default_rng(5).integers(-(2**16), 2**16, (20, WIDTH)).astype(np.int32)
    labels = np.zeros(20, dtype=np.int64)
    units = phases(Rows(np.eye(WIDTH, dtype=np.int32), 1, Fraction(1, 2**16), labels[:WIDTH])).astype(object)
    assert 2**64 < np.abs(steps.astype(object) @ units).max()
    assert ((steps.astype(object) @ units) % 2**64).tolist() == phases(Rows(steps, 2**18, Fraction(1), labels)).astype(
        object
    ).tolist()


@pytest.mark.parametrize("count", [1, 3, 7, 100])
@pytest.mark.parametrize("bits", [1, 8, 26])
def test_no_phase_makes_an_image_longer_than_its_share(count, bits):
    """All parts of a turn: cosine and sine of a frequency never exceed 4**bits / count together, and come close to it."""

    every = EveryPhase(count)
    rows = Rows(np.arange(2**14, dtype=np.int32)[:, np.newaxis], 2**14, Fraction(1), np.zeros(2**14, dtype=np.int64))
    part = (
        FourierMap(every).apply(rows, lattice_bits=bits).steps[:, [0, count]]
        if count > 1
        else FourierMap(every).apply(rows, lattice_bits=bits).steps
    )
    sizes = np.square(part.astype(np.int64)).sum(axis=1)
    assert sizes.max() * count <= 4**bits
    amplitude = 2.0**bits / math.sqrt(count)
    turn = 2 * np.pi * (np.arange(2**14) + 0.5) / 2**14
    assert np.abs(part - np.stack([np.cos(turn), np.sin(turn)], axis=1) * amplitude).max() <= 1 + 1e-6


def test_frequencies_follow_their_laws():
    """Kolmogorov and Smirnov at 1e-9 each, on fixed seeds."""
    normal, cauchy = GaussianKernel("1/3")(20, 1000, 5).ravel(), LaplacianKernel("1/3")(20, 1000, 5).ravel()
    assert stats.kstest(normal / 3, "norm").pvalue > 1e-9
    assert stats.kstest(cauchy / 3, "cauchy").pvalue > 1e-9


def test_the_certified_error_is_that_of_hoeffding():
    assert pytest.approx(math.sqrt(2 * math.log(100**2 / 0.05) / 1000)) == pairwise_error(
        records=100, frequencies=1000, beta="0.05"
    )
    with pytest.raises(InvalidArgument, match="DPA103"):
        pairwise_error(records=100, frequencies=1000, beta=1)


@pytest.mark.parametrize("wrong", [{"dimension_in": 0}, {"frequencies": 0}, {"seed": -1}])
def test_public_numbers_that_are_none_are_refused(wrong):
    for make, extra in ((fourier_map, {"kernel": GaussianKernel(1)}), (fastfood_map, {"width": 1})):
        with pytest.raises(InvalidArgument, match="DPA103"):
            make(**{"dimension_in": 3, "frequencies": 2, "seed": 0, **extra, **wrong})
    for kernel in (GaussianKernel, LaplacianKernel):
        with pytest.raises(InvalidArgument, match="DPA104"):
            kernel(0)
    with pytest.raises(InvalidArgument, match="DPA104"):
        fastfood_map(dimension_in=3, frequencies=2, seed=0, width=0)
