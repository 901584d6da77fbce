"""Contributions on a lattice: exact, within public bounds whatever the value, so that sensitivities hold."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import DpauditError
from mechanisms import clamp_to_lattice

lattices = st.fractions(min_value="1/1000", max_value=50, max_denominator=1000)
floats = st.floats(width=64) | st.floats(min_value=-1e3, max_value=1e3)
rules = st.sampled_from(["nearest", "toward_zero"])
anything = floats | st.integers() | st.fractions() | st.decimals() | st.none() | st.text() | st.booleans() | st.lists(st.integers())


def expected_step(value, low, high, lattice, rule):
    """The definition, in fractions."""
    if isinstance(value, float) and math.isnan(value):
        return min(max(low, 0), high)
    if isinstance(value, float) and math.isinf(value):
        return high if value > 0 else low
    steps = min(max(Fraction(value) / lattice, Fraction(low)), Fraction(high))
    return round(steps) if rule == "nearest" else math.trunc(steps)


@given(
    values=st.lists(floats, max_size=8),
    lattice=lattices,
    low=st.integers(-90, 90),
    span=st.integers(0, 90),
    rule=rules,
    whole=st.booleans(),
)
def test_floats_and_integers_are_clamped_and_rounded_as_their_exact_values_are(values, lattice, low, span, rule, whole):
    entries = [int(value) if math.isfinite(value) and abs(value) < 2**62 else 0 for value in values] if whole else values
    array = np.array(entries, dtype=np.int64 if whole else np.float64)
    bounds = {"lower": low * lattice, "upper": (low + span) * lattice, "lattice": lattice, "rounding": rule}
    expected = [expected_step(value, low, low + span, lattice, rule) for value in entries]
    assert expected == clamp_to_lattice(array, **bounds).tolist()
    assert expected == clamp_to_lattice(entries, **bounds).tolist()


@given(steps=st.lists(st.integers(-500, 500), min_size=1), lattice=lattices, rule=rules)
def test_values_at_and_beside_a_border_of_rounding_are_rounded_exactly(steps, lattice, rule):
    near = [float(step * lattice / 2) for step in steps]
    values = [*near, *(math.nextafter(value, math.inf) for value in near), *(math.nextafter(value, -math.inf) for value in near)]
    expected = [expected_step(value, -600, 600, lattice, rule) for value in values]
    assert (
        expected
        == clamp_to_lattice(np.array(values), lower=-600 * lattice, upper=600 * lattice, lattice=lattice, rounding=rule).tolist()
    )


@given(values=st.lists(anything), low=st.integers(-20, 20), span=st.integers(0, 20))
def test_no_private_value_raises_an_error_or_leaves_the_range(values, low, span):
    steps = clamp_to_lattice(values, lower=low, upper=low + span)
    assert len(values) == steps.size
    assert all(low <= step <= low + span for step in steps.tolist())


@given(values=st.lists(anything, min_size=1), low=st.integers(-20, 20), span=st.integers(0, 20), other=anything, data=st.data())
def test_one_person_moves_the_sum_by_no_more_than_the_bounds_allow(values, low, span, other, data):
    position = data.draw(st.integers(0, len(values) - 1))
    total = clamp_to_lattice(values, lower=low, upper=low + span).sum()
    removed = clamp_to_lattice(values[:position] + values[position + 1 :], lower=low, upper=low + span).sum()
    replaced = clamp_to_lattice([*values[:position], other, *values[position + 1 :]], lower=low, upper=low + span).sum()
    assert abs(total - removed) <= max(abs(low), abs(low + span))
    assert abs(total - replaced) <= span


@pytest.mark.parametrize(
    "values",
    [
        np.array([1 + 2j]),
        np.array(["7"]),
        np.array(["2024-02-29"], dtype="datetime64[D]"),
        np.array([None], dtype=object),
        [float("nan")],
        [Decimal("sNaN")],
        ["7"],
    ],
)
def test_what_is_no_number_counts_as_the_number_of_the_range_nearest_to_zero(values):
    assert [5] == clamp_to_lattice(values, lower=5, upper=9).tolist()
    assert [0] == clamp_to_lattice(values, lower=-3, upper=9).tolist()


@pytest.mark.parametrize(
    ("value", "step"),
    [
        (Decimal("1e999999999"), 9),
        (Decimal("-1e999999999"), -3),
        (Decimal("1e-999999999"), 0),
        (Decimal("0e999999999"), 0),
        (10**400, 9),
        (True, 1),
        (np.float32(2.5), 2),
        (np.longdouble("2.75"), 3),
        (np.uint64(2**64 - 1), 9),
    ],
)
def test_numbers_of_every_size_and_type_are_read(value, step):
    assert [step] == clamp_to_lattice([value], lower=-3, upper=9).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int64", "uint64", "longdouble", "object"])
def test_the_type_of_the_array_does_not_matter(dtype):
    array = np.array([0, 3, 100], dtype=dtype)
    assert [0, 6, 18] == clamp_to_lattice(array, lower=0, upper=9, lattice="1/2").tolist()


def test_the_shape_is_kept_and_the_input_unchanged():
    array = np.array([[0.26, 100.0], [np.nan, -7.0]])
    before = array.copy()
    assert [[1, 20], [0, -4]] == clamp_to_lattice(array, lower=-1, upper=5, lattice="1/4").tolist()
    np.testing.assert_array_equal(before, array)


def test_nobody_at_all_gives_an_empty_array():
    assert (0,) == clamp_to_lattice([], lower=0, upper=1).shape


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("DPA103", {"lower": 2, "upper": 1}),
        ("DPA107", {"lower": "1/3", "upper": 1}),
        ("DPA107", {"lower": 0, "upper": "1/3"}),
        ("DPA104", {"lower": 0, "upper": 1, "lattice": 0}),
        ("DPA104", {"lower": 0, "upper": 1, "lattice": -1}),
        ("DPA102", {"lower": 0, "upper": float("inf")}),
        ("DPA102", {"lower": float("nan"), "upper": 1}),
        ("DPA101", {"lower": None, "upper": 1}),
        ("DPA103", {"lower": 0, "upper": 1, "rounding": "up"}),
        ("DPA108", {"lower": 0, "upper": 1, "lattice": Fraction(1, 2**62)}),
    ],
)
def test_public_parameters_are_refused(code, arguments):
    with pytest.raises(DpauditError, match=code):
        clamp_to_lattice([1.0], **arguments)


@pytest.mark.parametrize("values", [7, 1.5, "17", None])
def test_a_single_value_is_no_collection(values):
    with pytest.raises(DpauditError, match="DPA105"):
        clamp_to_lattice(values, lower=0, upper=1)
