"""The map of public records: what becomes of a record depends on it alone, within the clip, and on its part in the span."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dpaudit.errors import InvalidArgument
from learners.public_data.subspace import RECORD_BITS, public_rows, public_subspace
from learners.rows.ingest import checked_features, to_rows

STEP = Fraction(1, 2**RECORD_BITS)
numbers = st.floats(allow_nan=True, allow_infinity=True)
records = st.lists(st.tuples(*[numbers] * 4), min_size=1, max_size=6)
axes = st.sets(st.integers(0, 3), min_size=1, max_size=3).map(sorted)


def random_public(seed=0, count=12, width=4):
    """Public records in general position."""
    return np.random.default_rng(seed).normal(size=(count, width)) * [1, 0.5, 0.25, 0.125]


def rows_of(features):
    """Private records on the lattice."""
    return to_rows(checked_features(np.asarray(features)), np.zeros(len(features), dtype=np.int64), feature_norm=1, lattice_bits=16)


def images(public_X, features, **parameters):  # noqa: N803 - as the estimators name it
    """Steps of images of private records."""
    made = public_subspace(public_X, columns=4, feature_norm=1, **parameters)
    return made.apply(rows_of(features), lattice_bits=12).steps


@given(records, st.booleans(), st.sampled_from(["1/4", 1, 3]), st.sampled_from([0, "1/2", 1]))
def test_no_image_is_longer_than_the_clip_whatever_the_record_holds(features, centred, reach, whitening):
    found = images(random_public(), features, centred=centred, reach=reach, whitening=whitening)
    assert all(sum(int(step) ** 2 for step in row) <= 4**12 for row in found)


@given(records, st.integers(0, 5), st.tuples(*[numbers] * 4))
def test_an_image_depends_on_its_record_alone(features, place, other):
    place %= len(features)
    changed = [other if row == place else record for row, record in enumerate(features)]
    first, second = images(random_public(), features), images(random_public(), changed)
    assert np.array_equal(np.delete(first, place, axis=0), np.delete(second, place, axis=0))
    assert np.array_equal(first[place], images(random_public(), [features[place]])[0])


@given(st.lists(st.tuples(*[st.floats(-0.4, 0.4)] * 4), min_size=1, max_size=4), axes, st.floats(-0.3, 0.3))
def test_what_is_orthogonal_to_public_axes_changes_no_image(features, used, shift):
    public = np.eye(4)[used]
    moved = np.array(features)
    moved[:, [axis for axis in range(4) if axis not in used]] += shift
    expected = images(public, features, centred=False, reach=3)
    assert np.array_equal(expected, images(public, moved, centred=False, reach=3))


@given(st.integers(0, 50), st.floats(-0.3, 0.3))
def test_what_is_orthogonal_to_public_records_changes_an_image_by_no_more_than_a_step_or_two(seed, shift):
    public = random_public(seed, count=2)
    across = np.linalg.svd(public)[2][-1]
    record = np.random.default_rng(seed).normal(size=4) / 8
    first, second = (images(public, [each], centred=False, reach=3) for each in (record, record + shift * across))
    assert np.abs(first - second).max() <= 2


@given(st.permutations(range(12)), st.integers(0, 11))
@settings(max_examples=30)
def test_order_and_copies_of_public_records_leave_the_span_alone(order, copied):
    public = random_public()[:, :3] @ np.random.default_rng(3).normal(size=(3, 4)) / 4
    spans = []
    for given_rows in (public, public[list(order)], np.vstack([public, public[copied]])):
        made = public_subspace(given_rows, columns=4, feature_norm=1, centred=False)
        basis = np.linalg.qr(made.basis / 2.0**20)[0]
        spans.append(basis @ basis.T)
    assert 3 == round(np.trace(spans[0]))
    assert np.abs(spans[0] - spans[1]).max() < 1e-5
    assert np.abs(spans[0] - spans[2]).max() < 1e-5


def test_the_leading_directions_are_those_of_singular_values():
    public = random_public(count=40)
    made = public_subspace(public, columns=4, feature_norm=3, dimension=2)
    expected = np.linalg.svd(public - public.mean(axis=0))[2][:2]
    assert np.abs(np.abs(np.diag(expected @ made.basis / 2.0**20)) - 1).max() < 1e-3
    wide = public_subspace(public.T @ public, columns=4, feature_norm=100, centred=False)  # as many records as columns
    assert 4 == wide.dimension_out


def test_whitening_evens_out_the_scales_of_public_images():
    public = random_public(count=400) / 8
    for power, ratio in ((0, 8.0), ("1/2", math.sqrt(8)), (1, 1.0)):
        made = public_subspace(public, columns=4, feature_norm=1, whitening=power, reach=9)
        spread = made.exact(public_rows(public, 4, 1)).std(axis=0)
        assert ratio == pytest.approx(spread[0] / spread[-1], rel=0.2)


def test_half_of_the_public_images_are_longer_than_a_reach_of_one():
    public = random_public(count=101)
    made = public_subspace(public, columns=4, feature_norm=9, reach=1)
    norms = np.linalg.norm(made.exact(public_rows(public, 4, 9)) * float(made.step) / 2.0**20, axis=1)
    assert 50 == int((norms > float(made.clip)).sum())


def test_dense_and_sparse_records_and_public_records_agree():
    public, private = random_public(), random_public(1)
    public[np.abs(public) < 0.2] = 0
    public[:, 3] = 0
    private[np.abs(private) < 0.2] = 0
    expected = images(public, private)
    made = public_subspace(csr_array(public), columns=4, feature_norm=1)
    sparse = to_rows(checked_features(csr_array(private)), np.zeros(12, dtype=np.int64), feature_norm=1, lattice_bits=16)
    assert np.array_equal(expected, made.apply(sparse, lattice_bits=12).steps)
    assert np.array_equal(expected, made.apply(rows_of(private), lattice_bits=12).steps)


@pytest.mark.parametrize(
    ("public", "code"),
    [
        (np.zeros((0, 4)), "DPA109"),
        (np.zeros((3, 4)), "DPA109"),
        (np.ones((3, 4)), "DPA109"),
        (np.ones((3, 5)), "DPA105"),
        ("text", "DPA105"),
    ],
)
def test_public_records_that_show_nothing_are_refused(public, code):
    with pytest.raises(InvalidArgument) as caught:
        public_subspace(public, columns=4, feature_norm=1)
    assert code == caught.value.code


@pytest.mark.parametrize(
    "changed", [{"dimension": 0}, {"dimension": 2.5}, {"centred": 1}, {"whitening": 2}, {"reach": 0}, {"reach": "x"}]
)
def test_parameters_out_of_range_are_refused(changed):
    with pytest.raises(InvalidArgument):
        public_subspace(random_public(), columns=4, feature_norm=1, **changed)


def test_rows_of_another_lattice_or_width_are_refused():
    made = public_subspace(random_public(), columns=4, feature_norm=1)
    other = to_rows(np.ones((1, 4)), np.zeros(1, dtype=np.int64), feature_norm=2, lattice_bits=16)
    with pytest.raises(InvalidArgument, match="DPA103"):
        made.apply(other, lattice_bits=12)
    with pytest.raises(InvalidArgument, match="DPA105"):
        made.apply(rows_of(np.ones((1, 3))), lattice_bits=12)


def test_exact_images_are_products_of_whole_numbers():
    made = public_subspace(random_public(), columns=4, feature_norm=1)
    rows = rows_of(random_public(5))
    expected = [
        [
            sum(int(a) * int(b) for a, b in zip(row, column, strict=True)) - int(c)
            for column, c in zip(made.basis.T, made.offset, strict=True)
        ]
        for row in rows.steps
    ]
    assert expected == made.exact(rows).tolist()
