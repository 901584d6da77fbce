"""The certified largest eigenvalue: never below the true one, close to it, and never beyond the trace."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from learners.kernels import spectrum
from learners.kernels.spectrum import largest_eigenvalue, public_points
from learners.rows.rows import Rows

ONE = 2**20


def points(steps):
    return Rows(np.asarray(steps, dtype=np.int32), ONE, Fraction(1, ONE), np.zeros(len(steps), dtype=np.int64))


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
def test_no_eigenvalue_exceeds_the_bound(count, width, seed):
    """bound - K is positive semidefinite: all coefficients of its characteristic polynomial alternate, exactly."""
    steps = np.random.default_rng(seed).integers(-ONE // 3, ONE // 3, size=(count, width))
    bound = largest_eigenvalue(points(steps))
    exact = [[int(one @ other) for other in steps] for one in steps]
    scaled = [
        [fmpq(bound.numerator, bound.denominator) * (row == column) - fmpq(entry, ONE**2) for column, entry in enumerate(line)]
        for row, line in enumerate(exact)
    ]
    coefficients = fmpq_mat(scaled).charpoly().coeffs()[::-1]
    assert all(coefficient * (-1) ** place >= 0 for place, coefficient in enumerate(coefficients))


def test_the_bound_is_close():
    steps = np.random.default_rng(1).integers(-ONE // 20, ONE // 20, size=(300, 40))
    true = np.linalg.eigvalsh((steps / ONE).T @ (steps / ONE))[-1]
    assert true <= float(largest_eigenvalue(points(steps))) <= true * 1.01


@pytest.mark.parametrize("steps", [np.zeros((3, 2)), np.eye(4) * ONE, np.full((50, 1), ONE)])
def test_equal_and_vanishing_points_have_a_bound(steps):
    true = np.linalg.eigvalsh((steps / ONE) @ (steps / ONE).T)[-1]
    assert true <= float(largest_eigenvalue(points(steps))) <= len(steps)


def test_where_floats_factor_nothing_the_trace_is_left(monkeypatch):
    monkeypatch.setattr(spectrum, "_positive_definite", lambda _: False)
    assert 3 == largest_eigenvalue(points(np.eye(3) * ONE))


def test_too_many_points_in_too_many_columns_are_bounded_by_the_trace(monkeypatch):
    monkeypatch.setattr(spectrum, "_LARGEST_SIDE", 2)
    assert 3 == largest_eigenvalue(points(np.eye(3) * ONE))


def test_public_points_lie_on_the_sphere_and_are_those_of_their_seed():
    first = public_points(4, 20, "5/2", 3)
    assert np.allclose(2.5, np.linalg.norm(first, axis=1))
    assert (first == public_points(4, 20, "5/2", 3)).all()
    assert (first != public_points(4, 20, "5/2", 4)).any()
