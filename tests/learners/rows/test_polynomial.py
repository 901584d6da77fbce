"""Monomials and sketches of them: inner products are the polynomial kernel, norms are what a constant makes them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpaudit.errors import InvalidArgument
from learners.rows.images import dense
from learners.rows.ingest import to_rows
from learners.rows.polynomial import kernel_norm, polynomial_map
from learners.rows.rows import Rows
from learners.rows.sketch import _convolved, sketch_map

kernels = pytest.mark.parametrize(("degree", "constant"), [(1, 0), (1, 2), (2, 0), (2, 1), (3, "1/3"), (4, 1)])


@pytest.fixture(scope="module")
def rows():
    features = np.random.default_rng(3).standard_normal((30, 5)) / 3
    return to_rows(features, np.zeros(30, dtype=np.int64), feature_norm=1, lattice_bits=16)


def kernel(rows, degree, constant):
    values = dense(rows, float) * float(rows.step)
    return (values @ values.T + float(Fraction(constant))) ** degree


@kernels
def test_inner_products_of_monomials_are_the_kernel(degree, constant, rows):
    made = polynomial_map(dimension_in=5, degree=degree, constant=constant)
    assert math.comb(5 + degree - (constant == 0), degree) == made.dimension_out
    values = made.apply(rows, lattice_bits=26)
    images = values.steps * float(values.step)
    np.testing.assert_allclose(images @ images.T, kernel(rows, degree, constant), atol=1e-5)


def test_the_norm_with_a_constant_is_larger_than_the_power_of_the_norm():
    assert 8 <= kernel_norm(Fraction(1), 3, Fraction(1)) ** 2 < 8 + Fraction(1, 2**50)  # 2.83, where the power of the norm is 1
    assert Fraction(8) == kernel_norm(Fraction(2), 3, Fraction(0))
    assert Fraction(0) == kernel_norm(Fraction(0), 3, Fraction(0))


def test_a_record_at_the_bound_has_an_image_at_the_bound():
    """Clipped to 1, the power of its norm without the constant, it would lose all but a third."""
    full = Rows(np.array([[2**16, 0]], dtype=np.int32), 2**16, Fraction(1, 2**16), np.array([0]))
    images = polynomial_map(dimension_in=2, degree=3).apply(full, lattice_bits=20)
    assert 2.828 < math.sqrt(sum(int(step) ** 2 for step in images.steps[0])) * float(images.step) <= math.sqrt(8)


@pytest.mark.parametrize("kind", ["monomials", "sketch"])
def test_zero_stays_zero_without_a_constant_only(kind):
    zero = Rows(np.zeros((1, 4), dtype=np.int32), 2**16, Fraction(1, 2**16), np.array([0]))
    for constant in (0, 1):
        shape = {"dimension_in": 4, "degree": 2, "constant": constant}
        made = polynomial_map(**shape) if kind == "monomials" else sketch_map(dimension_out=8, seed=0, **shape)
        assert (constant == 1) == bool(made.apply(zero).steps.any())


@pytest.mark.parametrize("constant", [0, 1])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_sketches_are_sums_over_monomials_by_place_and_sign(degree, constant):
    """The definition: the monomial x_i x_j x_k adds, with the product of its signs, to the place that is the sum of its places."""
    made = sketch_map(dimension_in=3, dimension_out=7, degree=degree, constant=constant, seed=9)
    record = [5, -3, 2, 16 * constant]
    places, signs = zip(*((part.indices, part.data) for part in (_joined(*made._sketch(at)) for at in range(degree))), strict=True)
    wanted = [0] * 7
    for picks in product(range(4), repeat=degree):
        place = sum(int(places[at][pick]) for at, pick in enumerate(picks)) % 7
        wanted[place] += math.prod(int(signs[at][pick]) * record[pick] for at, pick in enumerate(picks))
    rows = Rows(np.array([record[:3]], dtype=np.int32), 16, Fraction(1, 16), np.array([0]))
    step = Fraction(1, 16**degree)  # a step of the image is the unit of its whole numbers
    assert wanted == made.apply(rows, clip=step * 2**26, lattice_bits=26).steps[0].tolist()


def _joined(matrix, last):
    """Places and signs of all columns, the constant's included."""
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([matrix, csr_array(last[np.newaxis])]))


def test_convolutions_are_exact_where_floats_would_not_be():
    left, right = [2**40 + 1, 0, 1], [2**40 - 1, 1, 0]
    assert [float(2**80 - 1 + 1), float(2**40 + 1), float(2**40 - 1)] == _convolved((left, right)).tolist()


def test_inner_products_of_sketches_are_the_kernel_on_average(rows):
    """40 sketches of 64 columns; the variance of a product is below 3^degree |x|^4 / columns, so Chebyshev's 8 deviations."""
    total = np.zeros((30, 30))
    for seed in range(40):
        images = sketch_map(dimension_in=5, dimension_out=64, degree=2, seed=seed).apply(rows, clip=64, lattice_bits=26)
        values = images.steps * float(images.step)
        total += values @ values.T
    exact = kernel(rows, 2, 1)
    spread = np.sqrt(9 * np.outer(np.diag(exact), np.diag(exact)) / 64 / 40)
    assert (np.abs(total / 40 - exact) < 8 * spread).all()


def test_some_sketches_are_longer_than_their_kernel_and_are_clipped(rows):
    """No bound but the clip: unclipped, a sketch of one of these is 1.4 times as long as the kernel allows."""
    made = sketch_map(dimension_in=5, dimension_out=2, degree=2, seed=1)
    limit = made.image_norm(Fraction(1))
    free, kept = made.apply(rows, clip=10 * limit, lattice_bits=20), made.apply(rows, lattice_bits=20)
    squares = [max(sum(int(step) ** 2 for step in row) for row in images.steps) * images.step**2 for images in (free, kept)]
    assert squares[0] > 2 * limit**2
    assert squares[1] <= limit**2


@pytest.mark.parametrize("wrong", [{"dimension_in": 0}, {"degree": 0}, {"degree": 9}, {"constant": -1}])
def test_public_numbers_that_are_none_are_refused(wrong):
    shape = {"dimension_in": 3, "degree": 2, "constant": 1, **wrong}
    with pytest.raises(InvalidArgument, match="DPA103"):
        polynomial_map(**shape)
    with pytest.raises(InvalidArgument, match="DPA103"):
        sketch_map(dimension_out=4, seed=0, **shape)


def test_more_monomials_than_a_million_are_refused():
    with pytest.raises(InvalidArgument, match=r"DPA103.*sketch_map"):
        polynomial_map(dimension_in=2000, degree=2)
