"""Any output becomes a row of finite numbers, and no row depends on another output."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.reading.features import MAX_ITEMS, fit_features
from dpaudit.auditor.reading.outputs import Failure, stable_code

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
)
OUTPUTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.sets(st.integers(), max_size=3),
    ),
    max_leaves=8,
)


class Opaque:
    """An object without anything to look at."""

    __slots__ = ()


class Hostile:
    """An object that raises whatever one asks of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


@given(first=st.lists(OUTPUTS, min_size=1, max_size=5), later=st.lists(OUTPUTS, max_size=5))
def test_every_feature_of_every_output_is_finite(first, later):
    matrix = fit_features(first).matrix([*first, *later])

    assert np.isfinite(matrix).all()


@given(first=st.lists(OUTPUTS, min_size=1, max_size=4), later=st.lists(OUTPUTS, min_size=1, max_size=6))
def test_a_row_does_not_depend_on_the_other_outputs(first, later):
    features = fit_features(first)
    together = features.matrix(later)

    for place, output in enumerate(later):
        assert together[place].tolist() == features.matrix([output])[0].tolist()


@given(values=st.lists(st.floats(), min_size=1, max_size=20))
def test_an_array_of_numbers_and_a_list_of_them_have_the_same_features(values):
    features = fit_features([0.5, 1.5])

    assert features.matrix(values).tolist() == features.matrix(np.array(values)).tolist()


@given(rows=st.lists(st.lists(st.floats(allow_infinity=False), min_size=3, max_size=3), min_size=1, max_size=6))
def test_an_array_of_rows_and_a_list_of_arrays_have_the_same_features(rows):
    features = fit_features([np.zeros(3)])

    assert features.matrix([np.array(row) for row in rows]).tolist() == features.matrix(np.array(rows)).tolist()


def test_a_number_has_a_value_a_parity_and_a_kind():
    features = fit_features([1.5])

    assert ("value", "parity", "kind") == features.names
    assert [[2.0, 0.0, 0.0], [3.0, 1.0, 0.0], [2.5, 0.5, 0.0]] == features.matrix([2.0, 3.0, 2.5]).tolist()


def test_nan_and_both_infinities_are_three_kinds_of_their_own():
    features = fit_features([1.5])
    kinds = features.matrix([1.0, math.nan, math.inf, -math.inf])[:, 2]

    assert 4 == len(set(kinds.tolist()))
    assert 0.0 == kinds[0]


def test_an_exception_is_an_output_with_a_kind_of_its_own():
    features = fit_features([1.5, Failure("raised ValueError")])
    kinds = features.matrix([1.0, Failure("raised ValueError"), Failure("raised KeyError")])[:, features.names.index("kind")]

    assert [0.0, 1.0, 1000.0 + stable_code("raised KeyError")] == kinds.tolist()


def test_ragged_lists_get_items_differences_sum_largest_and_length():
    features = fit_features([[1.0], [1.0, 2.0, 4.0]])
    row = dict(zip(features.names, features.matrix([[5.0, 7.0]])[0].tolist(), strict=True))

    assert {
        "item 0": 5.0,
        "item 1": 7.0,
        "item 2": 0.0,
        "sum": 12.0,
        "largest": 7.0,
        "position of largest": 1.0,
        "length": 2.0,
    } == {name: row[name] for name in ("item 0", "item 1", "item 2", "sum", "largest", "position of largest", "length")}
    assert 2.0 == row["item 1 - item 0"]


def test_long_outputs_are_summed_in_blocks_that_lose_nothing():
    features = fit_features([np.zeros(1000)])
    matrix = features.matrix(np.arange(2000.0).reshape(2, 1000))
    blocks = [place for place, name in enumerate(features.names) if name.startswith("items")]

    assert MAX_ITEMS == len(blocks)
    assert [sum(range(1000)), sum(range(1000, 2000))] == matrix[:, blocks].sum(axis=1).tolist()


def test_a_missing_key_changes_the_kind():
    features = fit_features([{"a": 1.0, "b": 2.0}])
    kinds = features.matrix([{"a": 1.0, "b": 2.0}, {"a": 1.0}])[:, features.names.index("kind")]

    assert 0.0 == kinds[0]
    assert 0.0 != kinds[1]


def test_keys_appear_in_names_only_where_they_may_be_shown():
    assert "item number 0" in fit_features([{"alice": 1.0, "bob": 2.0}]).names
    assert "item 'alice'" in fit_features([{"alice": 1.0, "bob": 2.0}], show_keys=True).names


def test_texts_are_told_apart_by_a_code_that_is_the_same_in_every_process():
    features = fit_features(["red", "blue"])

    assert 3391310933 == stable_code("a")
    assert [float(stable_code("red")), float(stable_code("blue"))] == features.matrix(["red", "blue"])[:, 0].tolist()


@pytest.mark.parametrize(
    "make", [Opaque, Hostile, lambda: object, lambda: np.array(["x"], dtype=object), lambda: np.datetime64("now")]
)
def test_strange_objects_have_features_too(make):
    features, strange = fit_features([1.5]), make()

    assert 1 == len(features.matrix([strange]))
    assert 0.0 != features.matrix([strange])[0, features.names.index("kind")]


def test_a_failing_or_infinite_score_does_not_reach_the_matrix():
    features = fit_features([1.0, 2.0], score=True)
    scores = {1.0: math.nan, 2.0: math.inf, 3.0: 5.0}
    column = features.matrix([1.0, 2.0, 3.0, 4.0], lambda output: scores[output])[:, features.names.index("score")]

    assert [0.0, 1e290, 5.0, 0.0] == column.tolist()


def test_a_map_survives_the_way_to_a_worker():
    features = fit_features([[1.0, 2.0], [3.0]])

    assert features == pickle.loads(pickle.dumps(features))


def test_huge_integers_are_cut_instead_of_overflowing():
    features = fit_features([1, 2])

    assert 1e290 == features.matrix([10**400])[0, 0]


def test_differences_are_those_of_neighbouring_items():
    features = fit_features([[1.0, 2.0, 4.0]])
    row = dict(zip(features.names, features.matrix([[3.0, 8.0, 6.0]])[0].tolist(), strict=True))

    assert [5.0, -2.0] == [row["item 1 - item 0"], row["item 2 - item 1"]]


@pytest.mark.parametrize("other", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_hides_no_large_number_beside_it(other):
    features = fit_features([1.5])

    assert [1e290, -1e290] == features.matrix(np.array([other, 1e300, -1e300]))[1:, 0].tolist()


def test_bits_of_plain_numbers_are_columns_where_they_are_asked_for():
    features = fit_features([1.5, 2.5], bits=True)
    assert ("value", "parity", "exponent", "lowest bit", "last 8 bits", "kind") == features.names
    rows = features.matrix([1.0, 0.75, 0.0, -(1 + 2.0**-52)])[:, 2:5]
    assert [[1.0, 1.0, 0.0], [0.0, -1.0, 0.0], [-1100.0, 1100.0, 0.0], [1.0, -51.0, 1.0]] == rows.tolist()
    assert "exponent" not in fit_features([1, 2], bits=True).names


def test_groups_say_what_follows_from_the_items():
    assert (0, 0, 0, 1, 1, 2, 2, 2, 3) == fit_features([[1.0, 2.0, 4.0]]).groups
    assert (0, 3, 4) == fit_features([1.5]).groups
    assert (0, 0, 2, 2, 2, 3, 4) == fit_features([[1.0], [1.0, {"a": 2.0}]]).groups[:7]


@pytest.mark.parametrize("outputs", [[[1.0, 2.0, 4.0], [3.0, 1.0, 1.0]], [1.5, -2.25], [{"a": 1.0}, [1.0, 2.0]]])
def test_columns_that_are_asked_for_are_as_in_the_full_matrix(outputs):
    features = fit_features(outputs, bits=True)
    full = features.matrix(outputs)
    for column in range(len(features.names)):
        assert full[:, column].tolist() == features.matrix(outputs, columns=(column,))[:, column].tolist()
