"""Records become whole numbers one by one, dense and sparse alike, whatever they hold; only types and shapes are refused."""

from __future__ import annotations

import math
import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from dpaudit.errors import InvalidArgument
from learners.rows import ingest
from learners.rows.ingest import checked_features, to_rows

shapes = st.tuples(st.integers(1, 6), st.integers(1, 40))
mostly_zero = st.just(0.0) | st.floats() | st.floats(-2, 2)
any_features = st.one_of(
    arrays.arrays(np.float64, shapes, elements=st.floats()),
    arrays.arrays(np.float64, shapes, elements=mostly_zero),
    arrays.arrays(np.float32, shapes, elements=st.floats(width=32)),
    *(arrays.arrays(dtype, shapes) for dtype in (np.bool_, np.int8, np.uint8, np.int64, np.uint64, np.float16)),
)
bounds = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6)


def rows_of(features, **options):
    checked = checked_features(features)
    return to_rows(checked, np.zeros(checked.shape[0], dtype=np.int64), **{"feature_norm": 1, **options})


def dense_steps(rows):
    return rows.steps if isinstance(rows.steps, np.ndarray) else rows.steps.toarray()


@given(features=any_features, bound=bounds, bits=st.integers(1, 26), intercept=st.sampled_from([0, 1, 5, 2**20]))
def test_no_row_is_longer_than_the_bound_and_the_constant_stands_in_each(features, bound, bits, intercept):
    rows = rows_of(features, feature_norm=bound, lattice_bits=bits, intercept=intercept)
    assert (np.int32, bound / 2**bits) == (rows.steps.dtype, rows.step)
    assert rows.bound**2 >= 4**bits + intercept**2 > (rows.bound - 1) ** 2
    for record in dense_steps(rows).tolist():
        assert sum(step**2 for step in record[: features.shape[1]]) <= 4**bits
        assert record[features.shape[1] :] == ([intercept] if intercept else [])


@given(features=any_features, bits=st.integers(1, 26), intercept=st.sampled_from([0, 3]), data=st.data())
def test_arrays_and_sparse_matrices_give_the_same_whole_numbers(features, bits, intercept, data):
    """Every format, with explicit zeros, duplicates and indices out of order, none of which the caller's matrix loses."""
    options = {"lattice_bits": bits, "intercept": intercept}
    wanted = rows_of(features, **options).steps.tolist()
    form = data.draw(st.sampled_from(["csr", "csc", "coo", "lil", "bsr"]))
    assume(features.dtype != np.float16)
    assert wanted == dense_steps(rows_of(sparse.csr_array(features).asformat(form), **options)).tolist()
    count, width = features.shape
    order = np.array(data.draw(st.permutations(range(width))))
    twice = np.concatenate([order, order[:1]])  # the first column is given twice, the second time as an explicit zero
    values = np.concatenate([features[:, order], np.zeros((count, 1), dtype=features.dtype)], axis=1)
    shuffled = sparse.csr_matrix((values.ravel(), np.tile(twice, count), np.arange(count + 1) * (width + 1)), shape=(count, width))
    before = [part.tobytes() for part in (shuffled.data, shuffled.indices, shuffled.indptr)]
    assert wanted == dense_steps(rows_of(shuffled, **options)).tolist()
    assert before == [part.tobytes() for part in (shuffled.data, shuffled.indices, shuffled.indptr)]


@pytest.mark.parametrize("csr", [False, True], ids=["array", "csr"])
@given(features=any_features, extra=any_features, data=st.data())
def test_what_becomes_of_a_record_depends_on_that_record_alone(csr, features, extra, data):
    def form(rows):
        return sparse.csr_array(rows) if csr else rows

    assume(features.dtype != np.float16)
    whole = dense_steps(rows_of(form(features)))
    at = data.draw(st.integers(0, len(features) - 1))
    assert whole[at].tolist() == dense_steps(rows_of(form(features[at : at + 1])))[0].tolist()
    with np.errstate(all="ignore"):
        others = np.resize(extra.astype(features.dtype), (3, features.shape[1]))
    among = dense_steps(rows_of(form(np.concatenate([others, features, others]))))
    assert whole.tolist() == among[3:-3].tolist()
    assert whole[::-1].tolist() == dense_steps(rows_of(form(features[::-1]))).tolist()
    assert whole.tolist() == dense_steps(rows_of(form(np.asfortranarray(features)))).tolist()


@given(data=st.data())
def test_the_row_that_is_clipped_has_a_width_of_its_own(data):
    """Norms in floats depend on the width that they are summed over, in a last bit that no sample of rows would show."""
    width = data.draw(st.integers(1, 40))
    features = data.draw(arrays.arrays(np.float64, (4, width), elements=st.sampled_from([0.0, 1.0, -1.0])))
    full = np.ones((3, width))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest, "clip_rows", lambda rows, **_: np.full(rows.shape, rows.shape[1]))
        alone = [rows_of(features[at : at + 1]).steps[0].tolist() for at in range(4)]
        mixed = np.concatenate([full, features])
        explicit = sparse.csr_array((mixed.ravel(), np.tile(np.arange(width), 7), np.arange(8) * width), shape=mixed.shape)
        for form in (features, mixed, sparse.csr_array(mixed), explicit):
            assert alone == dense_steps(rows_of(form))[-4:].tolist()
        assert rows_of(full).steps.tolist() == rows_of(mixed).steps[:3].tolist()


@pytest.mark.parametrize("density", [0.0, 0.1, 0.7, 1.0])
def test_the_size_of_the_pieces_changes_nothing(density, monkeypatch):
    rng = np.random.default_rng(3)
    features = rng.standard_normal((40, 37)) * (rng.random((40, 37)) < density)
    features[5] = rng.standard_normal(37)
    wanted = rows_of(features).steps.tolist()
    for chunk in (1, 100, 10**6):
        monkeypatch.setattr(ingest, "_CHUNK", chunk)
        assert wanted == rows_of(features).steps.tolist()
        assert wanted == rows_of(sparse.csr_array(features)).steps.toarray().tolist()


@pytest.mark.parametrize("csr", [False, True], ids=["array", "csr"])
@pytest.mark.parametrize(
    "record",
    [
        [math.nan, 1, 0], [math.inf, 1, 0], [-math.inf, math.inf, 0], [1e-200, 1e-200, 0], [5e-324, 0, 0], [1e300, -1e300, 1],
        [0, 0, 0], [4096, 0, 0], [2.0**60, 1, 1], [-0.0, 0.5, 0], [1.7976931348623157e308] * 3,
    ],
)  # fmt: skip
def test_broken_and_extreme_records_are_mapped_in_place_without_a_word(csr, record):
    features = np.array([[0.25, 0.5, -0.125], record, [0.5, 0.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steps = dense_steps(rows_of(sparse.csr_array(features) if csr else features, lattice_bits=10)).tolist()
    assert [[256, 512, -128], [512, 0, 0]] == [steps[0], steps[2]]
    assert sum(step**2 for step in steps[1]) <= 4**10
    if not np.isfinite(record).all():
        assert [0, 0, 0] == steps[1]
    if record[0] == 4096:
        assert steps[1][0] >= 1023


@given(
    record=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=2), other=st.sampled_from([1, 0.5, 2**63, 10**30, None])
)
def test_an_integer_counts_as_its_nearest_float_whatever_dtype_the_other_records_bring(record, other):
    options = {"feature_norm": 2**63, "lattice_bits": 26}
    wanted = rows_of(np.array([[float(value) for value in record]]), **options).steps[0].tolist()
    assert wanted == rows_of(np.array([record], dtype=np.int64), **options).steps[0].tolist()
    assert wanted == rows_of([record, [other, 1]], **options).steps[0].tolist()
    assert sum(step**2 for step in wanted) <= 4**26


def test_the_largest_integers_are_clipped_to_the_bound_on_their_own_side():
    features = np.array([[2**63 - 1, 0], [-(2**63), 0]])
    assert [[2**20, 0], [-(2**20), 0]] == rows_of(features).steps.tolist()
    assert [[2**20, 0]] == rows_of(np.array([[2**64 - 1, 0]], dtype=np.uint64)).steps.tolist()


def test_objects_are_read_one_by_one_and_count_as_nan_where_they_are_no_numbers():
    class Liar:
        def __float__(self):
            raise RuntimeError("a private value")

    numbers = [[Fraction(1, 2), Decimal("0.25"), True], [np.float32(0.5), 0, np.int8(-1)]]
    for broken in ("0.5", b"1", None, {"a": 1}, 1j, Liar(), 10**400, [1.0], math.nan):
        row = np.empty((1, 3), dtype=object)
        row[0, :] = [0.5, 0, 0]
        row[0, 1] = broken
        features = np.concatenate([np.array(numbers, dtype=object), row])
        with pytest.warns(DataConversionWarning, match="X is an array of objects"):
            read = checked_features(features)
        assert np.float64 == read.dtype
        steps = rows_of(read, feature_norm=2, lattice_bits=3).steps.tolist()
        assert [[2, 1, 4], [2, 0, -4], [0, 0, 0]] == steps


def test_lists_are_tables_of_objects_where_they_hold_more_than_numbers():
    assert [[2, 4], [0, 0], [-2, 0]] == rows_of([[0.5, 1], [1, "b"], [-0.5, 0]], feature_norm=2, lattice_bits=3).steps.tolist()
    assert [[4, 0]] == rows_of([[True, False]], feature_norm=2, lattice_bits=3).steps.tolist()


@pytest.mark.parametrize(
    ("features", "code"),
    [
        (np.zeros(3), "DPA105"),
        (np.zeros((2, 2, 2)), "DPA105"),
        (np.float64(3), "DPA105"),
        (np.array([["a", "b"]]), "DPA105"),
        (np.array([[1j, 2]]), "DPA105"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "DPA105"),
        (sparse.csr_array(np.array([[1j, 2]])), "DPA105"),
        ([[1, 2], [3]], "DPA105"),
        ("text", "DPA105"),
        (None, "DPA105"),
        (np.zeros((0, 3)), "DPA109"),
        (np.zeros((3, 0)), "DPA109"),
        (sparse.csr_array((0, 3)), "DPA109"),
    ],
)
def test_types_and_shapes_are_refused(features, code):
    with pytest.raises(InvalidArgument, match=code):
        checked_features(features)


def test_a_sparse_matrix_with_places_outside_it_is_refused():
    broken = sparse.csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    broken.indices[1] = 7
    with pytest.raises(InvalidArgument, match="DPA105"):
        checked_features(broken)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"feature_norm": 0}, "DPA104"),
        ({"feature_norm": math.inf}, "DPA102"),
        ({"feature_norm": "long"}, "DPA101"),
        ({"feature_norm": Fraction(2) ** 501}, "DPA103"),
        ({"lattice_bits": 0}, "DPA103"),
        ({"lattice_bits": 27}, "DPA103"),
        ({"lattice_bits": 3.0}, "DPA105"),
        ({"intercept": -1}, "DPA103"),
        ({"intercept": 2**26 + 1}, "DPA103"),
        ({"intercept": 0.5}, "DPA105"),
    ],
)
def test_public_parameters_are_refused(options, code):
    for features in (np.ones((2, 2)), np.zeros((2, 2)), sparse.csr_array((2, 2))):
        with pytest.raises(InvalidArgument, match=code):
            rows_of(features, **options)


def test_a_wide_sparse_matrix_is_never_made_dense():
    count, width, each = 400, 2**20, 250
    rng = np.random.default_rng(5)
    indices = np.sort(rng.integers(0, width, (count, each)), axis=1).ravel()
    features = sparse.csr_array((np.full(count * each, 0.1), indices, np.arange(count + 1) * each), shape=(count, width))
    tracemalloc.start()
    rows = rows_of(features, intercept=7)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(rows.steps, sparse.csr_array)
    assert (count, width + 1) == rows.steps.shape
    assert [7] * count == rows.steps[:, [width]].toarray().ravel().tolist()
    assert peak < 40 * features.nnz + 2**24, "a dense copy would hold 2**28 entries"
