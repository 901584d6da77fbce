"""Public ranges: each entry is scaled by itself, into -1 to 1, and what is no range is refused by the column's place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dpaudit.claims import ApproxDP
from dpaudit.errors import DpauditError, InvalidArgument, Unsupported
from learners import Budget, PrivateClassifier, PublicSubspaceClassifier
from learners.rows.ranges import read_ranges

RANGES = [(0, 10), ("-1/2", "1/2"), (-1e6, 1e6)]


@given(st.lists(st.tuples(*[st.floats()] * 3), min_size=2, max_size=5))
def test_each_entry_is_scaled_by_itself_into_the_unit_range(records):
    read, table = read_ranges(RANGES, 3), np.array(records)
    found = read.scale(table)
    assert not np.any(np.abs(found) > 1)
    assert np.array_equal(np.isnan(found), np.isnan(table))
    assert np.array_equal(found[1:], read.scale(table[1:]), equal_nan=True)


def test_ends_become_minus_one_and_one():
    expected = [[-1.0] * 3, [0.0] * 3, [1.0] * 3, [1.0] * 3]
    table = np.array([[0, -0.5, -1e6], [5, 0, 0], [10, 0.5, 1e6], [11, 1, np.inf]])
    assert expected == read_ranges(RANGES, 3).scale(table).tolist()


@pytest.mark.parametrize(
    "given_ranges",
    [{"age": (0, 1)}, "01", [(0, 1)], [(0, 1)] * 4, [(0, 1), (0, 1), 3], [(0, 1), (0, 1), (1, 1)], [(0, 1)] * 2 + [(0, np.inf)]],
)
def test_what_is_no_range_for_each_column_is_refused(given_ranges):
    with pytest.raises(DpauditError, match=r"feature_ranges|column 2"):
        read_ranges(given_ranges, 3)


def problem(records=6000):
    """Columns of very different scales, far from zero; the small one decides."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(records, 3))
    labels = (rows[:, 0] + 0.3 * rows[:, 1] + 0.3 * random.normal(size=records) > 0).astype(int)
    return rows * [0.01, 1, 1000] + [1, 50, 5000], labels


def model(**parameters):
    """A classifier of three columns."""
    usual = {"epsilon": 1, "delta": "1e-5", "classes": [0, 1], "random_state": 0, "feature_norm": "3/2"}
    return PrivateClassifier(**{**usual, **parameters})


WIDE = [("0.96", "1.04"), (46, 54), (1000, 9000)]


def test_columns_of_very_different_scales_count_alike():
    rows, labels = problem()
    plain = model(feature_norm=8000).fit(rows, labels).score(rows, labels)
    fitted = model(feature_ranges=WIDE).fit(rows, labels)
    assert plain + 0.15 < fitted.score(rows, labels)
    assert fitted.score(rows, labels) > 0.85
    expected = rows @ fitted.coef_[0] + fitted.intercept_[0]
    inside = np.all(np.abs(read_ranges(WIDE, 3).scale(rows)) < 0.8, axis=1)
    assert expected[inside] == pytest.approx(fitted.decision_function(rows)[inside], abs=0.03)
    assert [["24/25", "26/25"], ["46", "54"], ["1000", "9000"]] == fitted.privacy_.to_dict()["public"]["feature_ranges"]


@pytest.mark.parametrize("changed", [{"adjacency": "zero_out"}, {"public_X": np.eye(3)}])
def test_ranges_are_refused_with_what_they_do_not_go_with(changed):
    with pytest.raises(DpauditError, match="ranges"):
        model(feature_ranges=WIDE, **changed).fit(*problem(40))


@pytest.mark.parametrize("adjacency", ["replace_one", "zero_out"])
def test_ranges_are_refused_for_images_in_a_public_span(adjacency):
    """Public records and the null record are not scaled, and a step would move further than its sensitivity says."""
    settings = {"epsilon": 5, "delta": "1e-6", "feature_norm": 1, "classes": [0, 1], "centred": False, "adjacency": adjacency}
    with pytest.raises(DpauditError, match="ranges"):
        PublicSubspaceClassifier(**settings, public_X=np.eye(3), feature_ranges=WIDE).fit(*problem(40))


@pytest.mark.parametrize("high", ["1e400", "1e-400"])
def test_ranges_beyond_floats_are_refused(high):
    with pytest.raises(InvalidArgument, match="DPA103"):
        read_ranges([(0, high)], 1)


def test_ranges_are_refused_for_a_sparse_matrix():
    rows, labels = problem(40)
    budget = Budget(ApproxDP(epsilon="5/4", delta="1e-5"))
    with pytest.raises(Unsupported, match="sparse"):
        model(feature_ranges=WIDE, budget=budget).fit(csr_array(rows), labels)
    model(feature_ranges=WIDE, budget=budget).fit(rows, labels)  # nothing was spent before
