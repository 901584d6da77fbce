"""Sums of rows are exact in whichever way they are computed, and refused where 64 bits might not hold them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dpaudit.errors import InvalidArgument
from learners.rows import rows as rows_module
from learners.rows.rows import Rows


def made(steps, bound=2**20, *, csr=False):
    steps = np.asarray(steps, dtype=np.int32)
    labels = np.zeros(len(steps), dtype=np.int64)
    return Rows(sparse.csr_array(steps) if csr else steps, bound, Fraction(1), labels)


def exact_product(left, right):
    """Matrix product in Python's own integers."""
    return (np.array(left, dtype=object) @ np.array(right, dtype=object)).tolist()


stored = pytest.mark.parametrize("csr", [False, True], ids=["array", "csr"])
# Weights and slopes whose sums fit floats, those that need int64, and those in between that are summed in runs.
sizes = pytest.mark.parametrize("bits", [3, 20, 31, 36, 40])


@pytest.fixture
def steps(request):
    rng = np.random.default_rng(7)
    dense = rng.integers(-(2**17), 2**17, size=(23, 6))
    return np.where(rng.random(dense.shape) < 0.4, 0, dense)


@stored
@sizes
@pytest.mark.parametrize("shape", [(6,), (6, 3)])
def test_margins_are_exact(steps, csr, bits, shape):
    weights = np.random.default_rng(bits).integers(-(2**bits), 2**bits, size=shape)
    assert exact_product(steps, weights) == made(steps, csr=csr).margins(weights).tolist()


@stored
@sizes
@pytest.mark.parametrize("shape", [(23,), (23, 3)])
def test_weighted_sums_are_exact(steps, csr, bits, shape):
    slopes = np.random.default_rng(bits).integers(-(2 ** (bits - 3)), 2 ** (bits - 3), size=shape)
    assert exact_product(steps.T, slopes) == made(steps, csr=csr).weighted_sum(slopes).tolist()


@stored
@pytest.mark.parametrize("bound", [2**20, 2**25, 2**27, 2**29])
def test_second_moments_are_exact(steps, csr, bound):
    assert exact_product(steps.T, steps) == made(steps, bound, csr=csr).second_moment().tolist()


@stored
@pytest.mark.parametrize(("count", "largest"), [(1, 2**26), (3, 2**26), (2, 1)])
def test_rows_at_the_bound_are_summed_without_losing_a_unit(csr, count, largest):
    """Sums of odd numbers beyond 2**53 are where floats would round."""
    steps = np.full((count, 2), largest - 1)
    rows = made(steps, 2**27, csr=csr)
    for weight in (2**26 - 1, 2**27 + 1, 2**33 + 1):
        weights = np.array([weight, 1 - weight])
        assert exact_product(steps, weights) == rows.margins(weights).tolist()
        slopes = np.full(count, weight)
        assert exact_product(steps.T, slopes) == rows.weighted_sum(slopes).tolist()


@stored
def test_many_weights_are_as_large_as_their_norm(csr):
    steps, weights = np.full((2, 16), 2**22 - 1), np.full(16, 2**28 + 1)
    weights[0] += 1
    assert exact_product(steps, weights) == made(steps, 2**24, csr=csr).margins(weights).tolist()
    assert exact_product(steps, -weights[:, np.newaxis]) == made(steps, 2**24, csr=csr).margins(-weights[:, np.newaxis]).tolist()


@given(data=st.data())
def test_order_runs_and_storage_change_nothing(data):
    count, width = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 5))
    entries = st.integers(-(2**13), 2**13)
    steps = np.array(data.draw(st.lists(st.lists(entries, min_size=width, max_size=width), min_size=count, max_size=count)))
    slopes = np.array(data.draw(st.lists(st.integers(-(2**12), 2**12), min_size=count, max_size=count)))
    order = np.array(data.draw(st.permutations(range(count))))
    wanted = made(steps).weighted_sum(slopes).tolist()
    assert wanted == made(steps[order]).weighted_sum(slopes[order]).tolist()
    assert wanted == made(steps[order], csr=True).weighted_sum(slopes[order]).tolist()
    assert made(steps).margins(np.arange(width))[order].tolist() == made(steps[order], csr=True).margins(np.arange(width)).tolist()


def test_short_runs_give_the_same_sums(steps, monkeypatch):
    slopes = np.arange(23) * 1000
    wanted = made(steps).weighted_sum(slopes).tolist()
    monkeypatch.setattr(rows_module, "_FLOATS_HOLD", 2**20 * 22_000 * 3)
    assert wanted == made(steps).weighted_sum(slopes).tolist()
    assert wanted == made(steps, csr=True).weighted_sum(slopes).tolist()


@stored
def test_sums_that_64_bits_might_not_hold_are_refused(csr):
    rows = made([[1, 0], [0, 1]], 2**31, csr=csr)
    for refused in (
        lambda: rows.margins(np.array([2**32, 0])),
        lambda: rows.weighted_sum(np.array([2**31, 0])),
        lambda: rows.weighted_sum(np.array([-(2**31), 0])),
        lambda: made(np.ones((3, 1)), 2**31, csr=csr).second_moment(),
    ):
        with pytest.raises(InvalidArgument, match="DPA108"):
            refused()
    assert [2**31, 0] == rows.margins(np.array([2**31, 0])).tolist()
    assert [2**31 - 1, 0] == rows.weighted_sum(np.array([2**31 - 1, 0])).tolist()
    assert [[0, 0], [0, 0]] == made([[0, 0]], csr=csr).second_moment().tolist()
