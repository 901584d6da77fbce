"""Dense signs: exact sums, the transpose, and norms that are kept as often as the theorem says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse, stats

from dpaudit.errors import InvalidArgument
from learners.rows import signs as signs_module
from learners.rows.rows import Rows
from learners.rows.signs import sign_map


def rows_of(steps, bound):
    steps = np.asarray(steps, dtype=np.int32)
    return Rows(steps, bound, Fraction(1), np.zeros(len(steps), dtype=np.int64))


def matrix(made):
    """S, from the images of unit vectors."""
    return np.rint(made.transpose(np.eye(made.dimension_out)).T * math.sqrt(made.dimension_out)).astype(np.int64)


@pytest.mark.parametrize("csr", [False, True], ids=["array", "csr"])
def test_images_are_signed_sums_over_the_root_of_the_columns(csr, monkeypatch):
    monkeypatch.setattr(signs_module, "_RUN", 4)  # three runs
    made = sign_map(dimension_in=10, dimension_out=4, seed=2)
    steps = np.random.default_rng(1).integers(-(2**20), 2**20, (30, 10))
    rows = rows_of(steps, 2**22)
    if csr:
        rows = Rows(sparse.csr_array(rows.steps), rows.bound, rows.step, rows.labels)
    assert {-1, 1} == set(matrix(made).ravel().tolist())
    wanted = steps @ matrix(made).T  # twice the image
    clip = 2**26  # a step of the image is 1: half the sum, truncated toward zero
    assert np.trunc(wanted / 2).astype(int).tolist() == made.apply(rows, clip=clip, lattice_bits=26).steps.tolist()


def test_the_transpose_is_the_transpose():
    made, rng = sign_map(dimension_in=9, dimension_out=5, seed=3), np.random.default_rng(2)
    record, weights = rng.integers(-1000, 1000, 9), rng.standard_normal((5, 2))
    image = made.apply(rows_of([record], 3000), lattice_bits=26)
    np.testing.assert_allclose(record @ made.transpose(weights), image.steps[0] @ weights * float(image.step), atol=1e-3)
    np.testing.assert_allclose(made.transpose(weights)[:, 1], made.transpose(weights[:, 1]), rtol=1e-12)


@pytest.mark.parametrize("vector", [[1] * 32, [1] + [0] * 31, [3, 4] * 16], ids=["flat", "one", "mixed"])
def test_norms_are_distorted_no_more_often_than_the_tails_allow(vector):
    """P(|Sx|^2 / k >= (1 + t) |x|^2) <= exp(-k (t^2/4 - t^3/6)), and below as well; 300 maps, false alarms below 1e-9 each."""
    columns, distortion, maps = 48, 0.5, 300
    tail = math.exp(-columns * (distortion**2 / 4 - distortion**3 / 6))
    allowed = stats.binom.isf(1e-9, maps, tail)
    scaled = 1000 * np.array(vector)
    ratios = []
    for seed in range(maps):
        image = sign_map(dimension_in=32, dimension_out=columns, seed=seed).apply(rows_of([scaled], 2**17), lattice_bits=26)
        ratios.append(float(np.square(image.steps.astype(np.int64)).sum() * image.step**2) / float(scaled @ scaled))
    assert sum(ratio >= 1 + distortion for ratio in ratios) <= allowed
    assert sum(ratio <= 1 - distortion for ratio in ratios) <= allowed
    # Chebyshev: the variance of a ratio is below 2 / k.
    assert abs(np.mean(ratios) - 1) < 8 * math.sqrt(2 / columns / maps)


@pytest.mark.parametrize("wrong", [{"dimension_in": 0}, {"dimension_out": 0}, {"seed": -1}, {"dimension_out": 1.5}])
def test_public_numbers_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidArgument, match="DPA10"):
        sign_map(**{"dimension_in": 3, "dimension_out": 2, "seed": 0, **wrong})
