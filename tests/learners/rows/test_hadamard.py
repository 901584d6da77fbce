"""Hadamard transforms: exact butterflies, rotations, the transpose, and norms that are kept as often as the theorem says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg, stats

from dpaudit.errors import InvalidArgument
from learners.rows.hadamard import hadamard_map, hadamard_transform
from learners.rows.rows import Rows


def rows_of(steps, bound):
    steps = np.asarray(steps, dtype=np.int32)
    return Rows(steps, bound, Fraction(1), np.zeros(len(steps), dtype=np.int64))


@pytest.mark.parametrize("width", [1, 2, 8, 64])
def test_butterflies_are_the_hadamard_matrix(width):
    values = np.random.default_rng(0).integers(-(2**50), 2**50, (3, width))
    assert (values @ linalg.hadamard(width).astype(np.int64)).tolist() == hadamard_transform(values.copy()).tolist()


def test_sums_of_large_entries_lose_no_unit():
    values = np.full((1, 1024), 2**40 - 1)
    assert [1024 * (2**40 - 1), *[0] * 1023] == hadamard_transform(values)[0].tolist()


def test_an_image_is_a_part_of_a_signed_rotation():
    steps = np.random.default_rng(1).integers(-(2**16), 2**16, (20, 11))
    made = hadamard_map(dimension_in=11, dimension_out=4, seed=5)
    rows = np.rint(made.transpose(np.eye(4)).T * 2).astype(np.int64)
    assert {-1, 1} == set(rows.ravel().tolist())
    assert (
        np.trunc(steps @ rows.T / 2).astype(int).tolist()
        == made.apply(rows_of(steps, 2**19), clip=2**26, lattice_bits=26).steps.tolist()
    )


def test_keeping_every_coordinate_keeps_every_norm():
    steps = np.random.default_rng(2).integers(-(2**16), 2**16, (20, 16))
    made = hadamard_map(dimension_in=16, dimension_out=16, seed=5)
    turned = made.transpose(np.eye(16))
    np.testing.assert_allclose(np.eye(16), turned @ turned.T, atol=1e-12)
    image = made.apply(rows_of(steps, 2**18), lattice_bits=26)
    norms = np.square(image.steps.astype(np.int64)).sum(axis=1) * float(image.step) ** 2
    np.testing.assert_allclose(np.square(steps).sum(axis=1), norms, rtol=1e-6)


def test_the_transpose_is_the_transpose():
    made, rng = hadamard_map(dimension_in=9, dimension_out=5, seed=3), np.random.default_rng(2)
    record, weights = rng.integers(-1000, 1000, 9), rng.standard_normal((5, 2))
    image = made.apply(rows_of([record], 3000), lattice_bits=26)
    np.testing.assert_allclose(record @ made.transpose(weights), image.steps[0] @ weights * float(image.step), atol=1e-3)
    np.testing.assert_array_equal(made.transpose(weights)[:, 1], made.transpose(weights[:, 1]))


@pytest.mark.parametrize("kind", ["one", "flat", "normal"])
def test_norms_are_distorted_no_more_often_than_the_bound_allows(kind):
    """k = 2 B (1 + t/3) log(4/b) / t^2 with B = 2 log(4 d'/b) fails with probability b at most; 60 maps, false alarms 1e-9."""
    width, distortion, failure, maps = 4096, 0.5, 0.1, 60
    spread = 2 * math.log(4 * width / failure)
    columns = math.ceil(2 * spread * (1 + distortion / 3) * math.log(4 / failure) / distortion**2)
    assert columns < width
    vectors = {"one": np.eye(width)[7], "flat": np.ones(width), "normal": np.random.default_rng(0).standard_normal(width)}
    vector = np.rint(vectors[kind] / np.abs(vectors[kind]).max() * 10**4).astype(np.int64)
    outside = 0
    for seed in range(maps):
        image = hadamard_map(dimension_in=width, dimension_out=columns, seed=seed).apply(rows_of([vector], 2**20), lattice_bits=26)
        ratio = float(np.square(image.steps.astype(np.int64)).sum() * image.step**2) / float(vector @ vector)
        outside += abs(ratio - 1) > distortion
    assert outside <= stats.binom.isf(1e-9, maps, failure)


@pytest.mark.parametrize("wrong", [{"dimension_in": 0}, {"dimension_out": 5}, {"dimension_out": 0}, {"seed": -1}])
def test_public_numbers_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidArgument, match="DPA103"):
        hadamard_map(**{"dimension_in": 3, "dimension_out": 2, "seed": 0, **wrong})
