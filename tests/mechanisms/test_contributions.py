"""Clipped rows: in the ball whatever they hold, the same whatever stands around them, summed without a rounding error."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpaudit.errors import DpauditError
from mechanisms import clip_and_sum, clip_rows, contributions
from mechanisms.steps import INTEGER_LIMIT

NORMS = ("l1", "l2", "linf")
all_norms = pytest.mark.parametrize("norm", NORMS)
shapes = st.tuples(st.integers(0, 6), st.integers(1, 40))
any_floats = arrays.arrays(np.float64, shapes, elements=st.floats())
any_rows = st.one_of(
    any_floats,
    arrays.arrays(np.float32, shapes, elements=st.floats(width=32)),
    arrays.arrays(np.float16, shapes),
    *(arrays.arrays(dtype, shapes) for dtype in (np.int8, np.uint8, np.int64, np.uint64)),
)
bounds = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6) | st.sampled_from([Fraction(2) ** -500, Fraction(2) ** 500])


def exact_norm_power(row, norm):
    """The norm of a row of integers, or its square for "l2"."""
    sizes = [abs(int(step)) for step in row]
    return {"l1": sum(sizes), "l2": sum(size**2 for size in sizes), "linf": max(sizes)}[norm]


@all_norms
@settings(max_examples=150)
@given(rows=any_rows, bound=bounds, bits=st.integers(1, 26))
def test_every_row_lies_in_the_ball_whatever_it_holds(norm, rows, bound, bits):
    steps = clip_rows(rows, norm_bound=bound, norm=norm, lattice_bits=bits)
    assert (rows.shape, np.int64) == (steps.shape, steps.dtype)
    for row in steps.tolist():
        assert exact_norm_power(row, norm) <= (4 if norm == "l2" else 2) ** bits


@all_norms
@given(rows=any_floats, extra=any_floats, data=st.data())
def test_a_row_has_the_same_steps_alone_and_among_others_in_every_memory_order(norm, rows, extra, data):
    assume(len(rows))
    options = {"norm_bound": "1/3", "norm": norm}
    whole = clip_rows(rows, **options)
    at = data.draw(st.integers(0, len(rows) - 1))
    assert whole[at].tolist() == clip_rows(rows[at : at + 1], **options)[0].tolist()
    others = np.resize(extra, (5, rows.shape[1]))
    assert whole.tolist() == clip_rows(np.concatenate([others, rows]), **options)[5:].tolist()
    assert whole.tolist() == clip_rows(np.asfortranarray(rows), **options).tolist()
    assert whole[::-1].tolist() == clip_rows(rows[::-1], **options).tolist()


@pytest.mark.parametrize("columns", [7, 1000, 70_001])
@all_norms
def test_the_size_of_the_chunks_changes_nothing(norm, columns, monkeypatch):
    rows = np.random.default_rng(columns).standard_normal((9, columns)) * 3
    rows[4, 3] = math.nan
    expected = clip_rows(rows, norm_bound=1, norm=norm)
    for chunk in (1, 3 * columns, 10**7):
        monkeypatch.setattr(contributions, "_CHUNK", chunk)
        assert np.array_equal(expected, clip_rows(rows, norm_bound=1, norm=norm))
        assert np.array_equal(expected.sum(axis=0), clip_and_sum(rows, norm_bound=1, norm=norm))


@all_norms
@given(rows=any_rows, bits=st.integers(1, 26))
def test_the_sum_is_the_sum_of_the_rows(norm, rows, bits):
    options = {"norm_bound": "7/5", "norm": norm, "lattice_bits": bits}
    assert clip_rows(rows, **options).sum(axis=0).tolist() == clip_and_sum(rows, **options).tolist()


def test_sums_are_flushed_before_floats_lose_a_unit(monkeypatch):
    monkeypatch.setattr(contributions, "_FLUSH_ROWS", 3)
    monkeypatch.setattr(contributions, "_CHUNK", 2)
    rows = np.random.default_rng(1).standard_normal((20, 2))
    assert clip_rows(rows, norm_bound=1).sum(axis=0).tolist() == clip_and_sum(rows, norm_bound=1).tolist()


@all_norms
@given(rows=arrays.arrays(np.float64, shapes, elements=st.floats(-1e6, 1e6)), bound=st.integers(1, 10**6), bits=st.integers(4, 26))
def test_steps_are_the_clipped_row_truncated_up_to_one_step(norm, rows, bound, bits):
    steps = clip_rows(rows, norm_bound=bound, norm=norm, lattice_bits=bits)
    for row, found in zip(rows, steps, strict=True):
        size = {"l1": np.abs(row).sum(), "l2": math.hypot(*row), "linf": np.abs(row).max()}[norm]
        wanted = row * (2.0**bits / max(bound, size))
        assert (np.abs(found) <= np.abs(wanted) * (1 + 1e-9) + 1e-9).all(), "longer than the clipped row"
        assert (np.abs(found - wanted) <= 1 + np.abs(wanted) * 2.0**-19).all()


@all_norms
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_row_that_is_not_finite_counts_as_zero_and_leaves_the_others_alone(norm, bad):
    rows = np.array([[1.0, 2.0], [bad, 1.0], [0.25, -0.5], [bad, bad]])
    steps = clip_rows(rows, norm_bound=2, norm=norm, lattice_bits=10)
    clean = clip_rows(rows[[0, 2]], norm_bound=2, norm=norm, lattice_bits=10)
    assert [clean[0].tolist(), [0, 0], clean[1].tolist(), [0, 0]] == steps.tolist()


@all_norms
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-160, 1e150, 1e200, 1.7e308])
def test_extreme_rows_keep_their_direction(norm, size):
    row = np.array([[3.0, -4.0, 0.0]]) / 4 * size
    bound = Fraction(2) ** -500
    ((x, y, z),) = clip_rows(row, norm_bound=bound, norm=norm, lattice_bits=20).tolist()
    if size < 1e-155:
        assert [0, 0, 0] == [x, y, z]
    else:
        share = {"l1": (3 / 7, -4 / 7), "l2": (3 / 5, -4 / 5), "linf": (3 / 4, -1)}[norm]
        assert [pytest.approx(part * 2**20, abs=3) for part in share] == [x, y]
        assert 0 == z


def test_tiny_rows_are_kept_where_the_bound_is_tiny():
    steps = clip_rows(np.full((1, 4), 2.0**-1000), norm_bound=Fraction(2) ** -500, lattice_bits=26)
    assert [[0, 0, 0, 0]] == steps.tolist()
    steps = clip_rows(np.array([[2.0**-510, 0.0]]), norm_bound=Fraction(2) ** -500, lattice_bits=26)
    assert [[2**16, 0]] == steps.tolist()


@pytest.mark.parametrize("bits", range(1, 27))
def test_rows_on_the_edge_of_the_ball_are_kept_and_rows_one_step_outside_are_not(bits):
    unit = 2.0**-bits
    edge = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, unit], [1.0 - unit, -unit]])
    steps = clip_rows(edge, norm_bound=1, lattice_bits=bits)
    assert [2**bits, 0] == steps[0].tolist()
    assert all(exact_norm_power(row, "l2") <= 4**bits for row in steps)
    assert (np.abs(steps - edge * 2**bits) <= 2 + 2**bits * 2.0**-19).all()


@all_norms
@given(steps=arrays.arrays(np.float64, st.tuples(st.just(1), st.integers(1, 30)), elements=st.integers(-(2**40), 2**40).map(float)))
@settings(max_examples=200)
def test_the_test_of_the_ball_is_exact_for_all_whole_numbers(norm, steps):
    for bits in (1, 13, 26):
        ball = contributions._ball(1, norm, bits)
        assert exact_norm_power(steps[0], norm) <= (4 if norm == "l2" else 2) ** bits or not ball.holds(steps)[0]
        assert exact_norm_power(steps[0], norm) > (4 if norm == "l2" else 2) ** bits or ball.holds(steps)[0]


@pytest.mark.parametrize("bits", [13, 26])
def test_the_test_of_the_ball_sees_a_single_step_at_its_edge(bits):
    ball = contributions._ball(1, "l2", bits)
    assert ball.holds(np.array([[2.0**bits, 0.0]]))[0]
    assert not ball.holds(np.array([[2.0**bits, 1.0]]))[0]
    assert not ball.holds(np.array([[math.nan, 0.0]]))[0]
    spread = np.full((1, 4**6), 2.0 ** (bits - 6))
    assert ball.holds(spread)[0]
    spread[0, 0] += 1
    assert not ball.holds(spread)[0]


class TooLong:
    """Floats that measure rows too short, so that the exact test has to refuse them."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, rows, ball):
        return rows, np.sqrt((rows * rows).sum(axis=1)) * self.factor, np.full(len(rows), ball.per_unit)


def test_a_row_that_floats_leave_too_long_is_shrunk_once_and_then_dropped(monkeypatch):
    rows = np.random.default_rng(3).standard_normal((50, 30)) * 100
    monkeypatch.setattr(contributions, "_measure", TooLong(1 - 2.0**-21))
    shrunk = clip_rows(rows, norm_bound=1)
    assert all(0 < exact_norm_power(row, "l2") <= 4**21 for row in shrunk)
    monkeypatch.setattr(contributions, "_measure", TooLong(1 - 2.0**-10))
    assert not clip_rows(rows, norm_bound=1).any()


def test_not_a_bit_of_a_norm_depends_on_the_other_rows():
    # A matrix product or a library's norm may add in another order when there are more rows, or when they lie elsewhere in memory.
    rows = np.random.default_rng(5).standard_normal((300, 4099))
    ball = contributions._ball(1, "l2", 26)
    _, sizes, _ = contributions._measure(rows, ball)
    for at in range(0, 300, 7):
        for some in (rows[at : at + 1], rows[at : at + 4], rows[at::-1], np.asfortranarray(rows[at : at + 9])):
            assert sizes[at] == contributions._measure(some, ball)[1][0]
    steps = clip_rows(rows, norm_bound=1, lattice_bits=26)
    assert all(np.array_equal(steps[at], clip_rows(rows[at : at + 1], norm_bound=1, lattice_bits=26)[0]) for at in range(0, 300, 7))


def test_input_is_not_changed():
    rows = np.array([[3.0, 1e300], [math.nan, 1.0]])
    before = rows.copy()
    clip_rows(rows, norm_bound=1)
    clip_and_sum(rows, norm_bound=1)
    np.testing.assert_array_equal(before, rows)


@pytest.mark.parametrize("call", [clip_rows, clip_and_sum])
@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA104", {"norm_bound": 0}),
        ("DPA102", {"norm_bound": math.nan}),
        ("DPA101", {"norm_bound": None}),
        ("DPA103", {"norm_bound": 2**501}),
        ("DPA103", {"norm": "l3"}),
        ("DPA103", {"lattice_bits": 0}),
        ("DPA103", {"lattice_bits": 27}),
        ("DPA105", {"lattice_bits": 21.0}),
        ("DPA105", {"rows": [[1.0]]}),
        ("DPA105", {"rows": np.ones(3)}),
        ("DPA105", {"rows": np.ones((2, 2), dtype=bool)}),
        ("DPA105", {"rows": np.ones((2, 2), dtype=complex)}),
        ("DPA105", {"rows": np.array([["secret"]])}),
        ("DPA109", {"rows": np.ones((2, 0))}),
        ("DPA108", {"rows": np.broadcast_to(1.0, (2**34 + 1, 1))}),
    ],
)
def test_bad_arguments_are_refused_by_type_and_shape_alone(call, code, changes):
    arguments = {"rows": np.ones((2, 2)), "norm_bound": 1, **changes}
    with pytest.raises(DpauditError, match=code) as caught:
        call(arguments.pop("rows"), **arguments)
    assert "secret" not in caught.value.message


def test_no_sum_that_is_accepted_is_too_large_for_its_noise():
    # Else a release would be refused for what the rows hold.
    assert contributions._MOST_ROWS * 2**contributions.LARGEST_LATTICE_BITS <= INTEGER_LIMIT
