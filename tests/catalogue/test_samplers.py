"""What the laws of the test pairs do not show: sums without noise, moments of transforms, where a sparse vector stops."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.catalogue.additive import leaking
from dpaudit.catalogue.float_noise import box_muller, from_words, inversion, polar
from dpaudit.catalogue.noise import laplace
from dpaudit.catalogue.responses import truncated_law
from dpaudit.catalogue.sparse_vector import BELOW, SILENT, variants
from dpaudit.catalogue.sums import prefix_sums, smart_sums

ANSWERS = (3, -1, 4, 1, -5, 9, 2)
QUIET = {"threshold": 1, "threshold_scale": 0.0, "answer_scale": 0.0}


def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("sampler", [prefix_sums(0.0), smart_sums(0.0, 0.0)])
def test_running_sums_without_noise_are_exact(sampler):
    assert [np.cumsum(ANSWERS).tolist()] * 2 == sampler(ANSWERS, 2, rng()).tolist()


def test_a_block_ends_with_noise_of_its_own_and_starts_from_there():
    """Blocks of three: what comes later moves with the noise at the end of a block, and not with what was added within it."""
    sums = smart_sums(1.0, 0.0)(ANSWERS, 1000, rng())
    exact = np.cumsum(ANSWERS)
    assert [True, True] == [(sums[:, place] == exact[place]).all() for place in (2, 5)]
    assert [False] * 5 == [(sums[:, place] == exact[place]).any() for place in (0, 1, 3, 4, 6)]


@pytest.mark.parametrize(("transform", "bits"), [(inversion, 10), (box_muller, 8), (polar, 8)])
def test_a_transform_of_all_words_has_the_variance_of_its_noise(transform, bits):
    words = np.stack(np.meshgrid(*[np.arange(2**bits)] * 2), axis=-1).reshape(-1, 2)
    noise = transform(words, bits)
    assert (2 if transform is inversion else 1) == pytest.approx(np.nanmean(noise**2), rel=0.03)
    assert 0 == pytest.approx(np.nanmean(noise), abs=0.02)


def test_words_that_the_polar_method_rejects_are_drawn_again():
    noise = from_words(polar, 2, 5, 1.0)(0, 5000, rng())
    assert (5000, 2) == noise.shape
    assert np.isfinite(noise).all()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("svt1", [1, -1, -1, -1, -1, -1, -1]),
        ("svt3", [3, *[SILENT] * 6]),
        ("svt5", [1, 0, 1, 1, 0, 1, 1]),
        ("svt6", [1, 0, 1, 1, 0, 1, 1]),
        ("numerical_svt", [3, BELOW, 4, *[SILENT] * 4]),
    ],
)
def test_a_sparse_vector_without_noise_stops_after_its_cutoff(name, expected):
    variant = variants(Fraction(1))[name]
    quiet = replace(variant, **QUIET, shown=0.0 if variant.shown is not None else None)
    assert [expected] == quiet.sample(ANSWERS, 1, rng()).tolist()


class Scripted:
    """A generator whose exponential numbers count up from 1 and whose bytes repeat."""

    def standard_exponential(self, size):
        return 1.0 + np.arange(math.prod(np.atleast_1d(size))).reshape(size)

    def bytes(self, count):
        return bytes([0b10010111, 0b00000001, 0b11110000])[: min(count, 3)] * (1 + count // 3)


@pytest.mark.parametrize("size", [1, 7, (3, 5), (1000, 13)])
def test_every_laplace_number_has_a_sign_bit_of_its_own(size):
    noise = laplace(Scripted(), 2.0, size)
    signs = np.resize([-1, 1, 1, -1, 1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, 1, 1, 1, 1], noise.size)

    assert (2 * signs * (1 + np.arange(noise.size))).tolist() == noise.reshape(-1).tolist()
    assert np.zeros(size).shape == noise.shape


def test_a_leak_shows_the_number_itself_once_in_a_thousand_times(false_alarm_level):
    hits = int((leaking(1.0)(7, 200_000, rng()) == 7).sum())
    assert float(false_alarm_level) / 2 < min(binom.cdf(hits, 200_000, 1e-3), binom.sf(hits - 1, 200_000, 1e-3))


@pytest.mark.parametrize("exponent", [1, 3])
def test_the_truncated_geometric_law_is_one_and_moves_by_its_factor_only(exponent):
    laws = [truncated_law(exponent, value) for value in range(6)]
    assert {Fraction(1)} == {sum(law) for law in laws}
    steps = [abs(1 - a / b) for one, other in pairwise(laws) for a, b in zip(one, other, strict=True)]
    assert Fraction(1, 2**exponent) == max(steps)
