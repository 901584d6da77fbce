"""Labels become positions among public classes, compared exactly; a foreign one counts as the first class, without a word."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from dpaudit.errors import InvalidArgument
from learners.rows.labels import checked_classes, checked_labels, positions, read_classes


class Hostile:
    """A label whose every use raises."""

    def __hash__(self):
        raise RuntimeError("a private value")

    def __eq__(self, other):
        raise RuntimeError("a private value")


anything = st.one_of(st.integers(), st.floats(), st.text(max_size=3), st.none(), st.booleans(), st.binary(max_size=2),
                     st.lists(st.integers(), max_size=2), st.just(1j), st.builds(Hostile))  # fmt: skip


@given(labels=st.lists(anything, min_size=1, max_size=8), classes=st.sampled_from([[0, 1], ["a", "b", "c"], [-1.0, 0.5], [True]]))
def test_no_label_is_refused_and_each_has_its_place_whatever_stands_beside_it(labels, classes):
    public = checked_classes(classes)
    array = np.empty(len(labels), dtype=object)
    for index, label in enumerate(labels):
        array[index] = label
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = positions(array, public)
    for label, position in zip(labels, found.tolist(), strict=True):
        known = isinstance(label, (bool, int, float, str)) and label in classes
        assert (sorted(classes).index(label) if known else 0) == position


@pytest.mark.parametrize(
    ("labels", "classes", "expected"),
    [
        ([2**53 + 1, 2**53, 2**53 + 2], [2**53, 2**53 + 1], [1, 0, 0]),
        (np.array([2**63, 2**63 + 1], dtype=np.uint64), [2**63, 2**63 + 1], [0, 1]),
        (np.array([-1, 1], dtype=np.int64), np.array([2**63], dtype=np.uint64), [0, 0]),
        (np.array([2.0**53, 1.0]), [0, 2**53 + 1], [0, 0]),
        (np.array([1.0, 0.0, math.nan, math.inf]), [0, 1], [1, 0, 0, 0]),
        (np.array([True, False]), [0, 1], [1, 0]),
        (np.array(["b", "a", "ab"]), ["a", "b"], [1, 0, 0]),
        (np.array(["1", "0"]), [0, 1], [0, 0]),
        ([1, "1", np.int8(1), Fraction(1), np.str_("b")], [0, 1], [1, 0, 1, 1, 0]),
        (np.array([], dtype=int), [0, 1], []),
    ],
)
def test_labels_are_compared_exactly(labels, classes, expected):
    assert expected == positions(labels, checked_classes(classes)).tolist()


@pytest.mark.parametrize(
    ("classes", "code"),
    [
        ([], "DPA109"),
        ("ab", "DPA105"),
        (3, "DPA105"),
        ([0, "a"], "DPA105"),
        ([None, 1], "DPA105"),
        ([[0], [1]], "DPA105"),
        ([0, 0], "DPA103"),
        ([1, True], "DPA103"),
        ([0, math.nan], "DPA103"),
        ([0.5, 2**53 + 1], "DPA103"),
        ([0, 10**30], "DPA103"),
    ],
)
def test_classes_that_are_not_distinct_numbers_or_strings_are_refused(classes, code):
    with pytest.raises(InvalidArgument, match=code):
        checked_classes(classes)


def test_classes_are_kept_in_order():
    assert ["a", "b"] == checked_classes(np.array(["b", "a"], dtype=object)).tolist()
    assert [-1, 1] == checked_classes((1, -1)).tolist()
    assert [2**63 + 1] == checked_classes(np.array([2**63 + 1], dtype=np.uint64)).tolist()


def test_classes_are_read_from_labels_where_none_are_given():
    assert [0, 3] == read_classes(np.array([3, 0, 3])).tolist()
    assert ["no", "yes"] == read_classes(np.array(["yes", "no"], dtype=object)).tolist()
    assert [1.0] == read_classes([1.0, math.nan, math.inf, 1.0]).tolist()
    for unknown in ([0.5, 1.0], [1, "a"]):
        with pytest.raises(InvalidArgument, match="DPA602 Unknown label type"):
            read_classes(unknown)
    with pytest.raises(InvalidArgument, match="DPA109"):
        read_classes([math.nan, math.nan])


@pytest.mark.parametrize("labels", [None, 3, "label", np.zeros((2, 2)), np.zeros((1, 1, 1))])
def test_labels_of_another_shape_are_refused(labels):
    with pytest.raises(InvalidArgument, match="DPA105"):
        checked_labels(labels)


def test_a_column_of_labels_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert [1, 0] == checked_labels(np.array([[1], [0]])).tolist()
