"""Neighbours of tables of pandas, polars and Arrow: tables of the same type, columns and types, from the same edits as of rows."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpaudit import Adjacency, Claim, PureDP, Target, audit
from dpaudit.auditor.data.records import same
from dpaudit.auditor.data.tables import columns_of, rows_of, table_like
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.auditor.pairs.shrinking import smaller_pair
from dpaudit.errors import InvalidArgument

ROWS = [
    {
        "age": 20 + number,
        "pay": 7.5 * number,
        "town": "ABC"[number % 3],
        "on": dt.date(2024, 1, 1 + number),
        "label": number % 2,
    }
    for number in range(7)
]
PANDAS = pd.DataFrame(ROWS).astype({"town": "category", "age": "Int64"})
TABLES = [PANDAS, PANDAS.set_index(pd.Index(list("abcdefg"))), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS)]
NAMES = ["pandas", "labels", "polars", "arrow"]
KINDS = [
    "add_remove",
    "replace_one",
    "zero_out",
    "label",
    *(Adjacency(kind, unit="user:town") for kind in ("add_remove", "replace_one")),
]


def target(data, adjacency="add_remove", run=lambda data, rng: 0):
    return Target(run=run, claim=Claim(PureDP(epsilon=1), adjacency=adjacency), data=data)


@pytest.mark.parametrize("data", TABLES, ids=NAMES)
@pytest.mark.parametrize("adjacency", KINDS, ids=str)
def test_every_pair_is_of_tables_like_the_one_given_and_of_neighbours(data, adjacency):
    pairs = candidate_pairs(target(data, adjacency))

    assert len(pairs) > 4
    for pair in pairs:
        for side in (pair.first, pair.second):
            assert type(data) is type(side)
            assert columns_of(data) == columns_of(side)
        assert not same(pair.first, pair.second)
        check_neighbours((pair.first, pair.second), Adjacency.of(adjacency))


def test_labels_that_only_count_rows_are_counted_again_and_others_are_kept():
    first, second = (candidate_pairs(target(data))[0].second for data in TABLES[:2])

    assert list(range(6)) == first.index.tolist()
    assert list("bcdefg") == second.index.tolist()


def test_a_row_that_is_kept_keeps_what_rows_of_python_do_not_hold():
    data = pd.DataFrame({"x": np.array([1, 2, 3], dtype=np.uint8), "y": pd.array([1, None, 3], dtype="Int8")})
    rows = rows_of(data)

    made = table_like(data, rows, [rows[1], {"x": 9, "y": None}, rows[1]])

    assert [2, 9, 2] == made["x"].tolist()
    assert data.dtypes.tolist() == made.dtypes.tolist()
    assert made["y"].isna().all()
    assert same(made, pickle.loads(pickle.dumps(made)))


def test_given_tables_must_be_neighbours_and_alike():
    with pytest.raises(InvalidArgument, match="2 records are only in the first dataset and 0 only in the second"):
        check_neighbours((PANDAS, PANDAS.iloc[:5]), Adjacency.of("add_remove"))
    with pytest.raises(InvalidArgument, match="other columns"):
        check_neighbours((PANDAS, PANDAS.astype({"age": "int64"})), Adjacency.of("add_remove"))


def test_a_missing_value_of_pandas_is_equal_to_itself_alone():
    data = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64"), "t": pd.to_datetime(["2024-01-01", None, None])})

    check_neighbours((data, data.iloc[:2]), Adjacency.of("add_remove"))


@pytest.mark.parametrize("data", TABLES, ids=NAMES)
def test_a_sum_without_noise_on_few_rows_is_refuted_and_its_pair_made_smaller(data):
    def release(table, rng):
        total = float(np.clip(np.array(table["pay"], dtype=float), 0, 50).sum())
        return total + (0 if len(table) < 3 else rng.laplace(0, 50))

    (result,) = audit(target(data, run=release), runs=12_000, seed=3).results

    assert "refuted" == result.verdict.value


def test_a_pair_of_tables_is_made_smaller_row_by_row():
    big = target(PANDAS)
    pair = candidate_pairs(big)[0]

    found = smaller_pair(big, (pair.first, pair.second), lambda other: len(other[0]) > len(other[1]))

    assert (1, 0) == tuple(map(len, found))
    assert columns_of(PANDAS) == columns_of(found[0])


def test_a_missing_number_makes_floats_of_a_column_of_integers():
    frame = pd.DataFrame({"site": ["a", "b"], "visits": [3, 4]})
    rows = rows_of(frame)

    assert "float64" == str(table_like(frame, rows, [rows[0], {"site": "b", "visits": None}])["visits"].dtype)
    assert "int64" == str(table_like(frame, rows, [rows[0], {"site": "b", "visits": 9}])["visits"].dtype)
