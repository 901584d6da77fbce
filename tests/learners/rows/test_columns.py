"""Public columns: every cell has a bin by itself, whatever it holds, and tables have to be what was described."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from learners.rows.columns import Text, describe_columns, read_cells, read_columns

STRANGE = [None, float("nan"), float("inf"), -float("inf"), 1e308, -1e308, "a", b"b", (), [], {}, 2**70, np.float32(0.5), True]
cells = st.one_of(st.floats(), st.integers(), st.text(max_size=3), st.none(), st.sampled_from([0.0, -1.0, 1.0]))


def as_objects(values):
    """Cells in an array that admits anything."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


@given(st.lists(cells, min_size=1, max_size=6), st.integers(2, 40))
def test_the_bin_of_a_cell_does_not_depend_on_other_records(values, count):
    for column in describe_columns([(-1, 1), ["a", "b"]], 2):
        together = column.bins(as_objects(values), count).tolist()
        assert together == [column.bins(as_objects([value]), count)[0] for value in values]


def test_every_cell_has_a_bin_whatever_it_holds():
    numbers, words = describe_columns([(-1, 1), ["a", "b"]], 2)
    missing, first, last = 4, 0, 3
    expected = [*[missing] * 2, last, first, last, first, *[missing] * 5, last, last, last]
    assert expected == numbers.bins(as_objects(STRANGE), 4).tolist()
    assert [2] * 6 + [0] + [2] * 7 == words.bins(as_objects(STRANGE), 4).tolist()
    assert (5, 3) == (numbers.size(4), words.size(4))


def test_bins_are_equal_parts_of_a_range():
    (column,) = describe_columns([(0, 8)], 1)
    assert [0, 0, 1, 1, 2, 3, 3] == column.bins(np.array([-5.0, 1.9, 2.0, 3.9, 4.0, 7.9, 90.0]), 4).tolist()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_tables_are_read_by_name_in_whatever_order(library):
    table = library({"b": ["x", None, "y"], "a": [1.0, 2.0, None]})
    columns = read_columns({"a": (0, 4), "b": ["x", "y"]}, table)
    assert [[1, 2, 4], [0, 2, 1]] == [c.bins(part, 4).tolist() for c, part in zip(columns, read_cells(table, columns), strict=True)]


@pytest.mark.parametrize(
    ("given_columns", "code"),
    [
        ({"a": (0, 1)}, "DPA105"),
        ({"a": (0, 1), "b": ["x"], "c": (0, 1)}, "DPA105"),
        ({"a": (1, 0), "b": ["x"]}, "DPA103"),
        ({"a": (0, 1), "b": (0, 1)}, "DPA105"),
        ({"a": (0, 1), "b": []}, "DPA109"),
        ({"a": 3, "b": ["x"]}, "DPA105"),
        ([(0, 1)], "DPA103"),
        ("ab", "DPA105"),
    ],
)
def test_columns_that_are_not_those_of_the_table_are_refused(given_columns, code):
    table = pd.DataFrame({"a": [1.0], "b": ["secret"]})
    with pytest.raises(InvalidArgument, match=code) as refused:
        read_cells(table, read_columns(given_columns, table))
    assert "secret" not in str(refused.value)


def test_an_array_has_no_names_and_text_needs_buckets():
    with pytest.raises(InvalidArgument, match="DPA105"):
        read_columns({"a": (0, 1)}, np.zeros((2, 1)))
    with pytest.raises(InvalidArgument, match="DPA103"):
        Text(1)
