"""Queries over tables as targets: SQLite itself, a stand-in for DuckDB, and frames as datasets."""

from __future__ import annotations

import random
import sqlite3
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dpaudit import Adjacency, ApproxDP, Claim, PureDP, audit
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.interop import from_sql

COLUMNS = {"person": "INTEGER", "town": "TEXT"}
CLAIM = Claim(PureDP(epsilon=1))
FEW = [(1, "Zug"), (2, "Chur")]


def noise(scale):
    return random.choice((-1, 1)) * random.expovariate(1 / scale)  # noqa: S311 - a query of a user's


def noisy_count(connection):
    return connection.execute("SELECT COUNT(*) FROM people").fetchone()[0] + noise(1)


def towns(connection):
    rows = connection.execute("SELECT town, COUNT(*) FROM people GROUP BY town ORDER BY town").fetchall()
    return [(town, number + noise(1)) for town, number in rows]


def target(release, **others):
    return from_sql(release, claim=CLAIM, table="people", columns=COLUMNS, **others)


def run(release, data, **others):
    made = target(release, data=data, **others)
    return made.run(made.data, np.random.default_rng(1))


def rows_of(connection):
    return connection.execute("SELECT * FROM people").fetchall()


@pytest.mark.parametrize(
    "data",
    [
        FEW,
        [list(row) for row in FEW],
        pd.DataFrame(FEW, columns=list(COLUMNS)),
        pd.DataFrame([row[::-1] for row in FEW], columns=list(COLUMNS)[::-1]),
    ],
)
def test_rows_and_frames_are_tables_with_plain_values(data):
    assert run(rows_of, data) == FEW


def test_an_empty_table_is_a_table():
    assert run(rows_of, []) == []


def test_runs_see_nothing_of_each_other_and_repeat_from_their_seed():
    def fill(connection):
        connection.execute("INSERT INTO people VALUES (3, 'Bern')")
        return noisy_count(connection)

    made = target(fill, data=FEW)
    first, again, other = (made.run(FEW, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert 2 == len(FEW)


def test_groups_that_occur_are_refuted_and_a_count_is_not():
    pair = [(FEW, [*FEW, (3, "Bern")])]
    broken, sound = (audit(target(one, neighbours=pair), runs=2_000, seed=1).results[0] for one in (towns, noisy_count))
    assert "refuted" == str(broken.verdict)
    assert "refuted" != str(sound.verdict)
    assert broken.source[0].endswith("test_tables.py")


def test_frames_of_persons_with_several_rows_are_audited():
    frame = pd.DataFrame([(1, "Zug"), (1, "Chur"), (2, "Zug")], columns=list(COLUMNS))
    claim = Claim(ApproxDP(1, "0.5"), adjacency=Adjacency("add_remove", unit="user:person"))
    made = from_sql(noisy_count, claim=claim, table="people", columns=COLUMNS, data=frame)
    assert "refuted" != str(audit(made, runs=500, seed=1).results[0].verdict)


def test_duckdb_is_opened_in_memory_where_it_is_there(monkeypatch):
    opened = []
    monkeypatch.setitem(sys.modules, "duckdb", SimpleNamespace(connect=lambda path: opened.append(path) or sqlite3.connect(path)))
    assert run(rows_of, FEW, database="duckdb") == FEW
    assert [":memory:"] == opened
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(Unsupported, match="DPA205 duckdb is not installed"):
        run(rows_of, FEW, database="duckdb")


def test_names_are_quoted_and_a_schema_stays_one():
    made = from_sql(
        lambda connection: connection.execute('SELECT "a ""b" FROM main."odd name"').fetchall(),
        claim=CLAIM, table="main.odd name", columns={'a "b': "INTEGER"}, data=[(5,)],
    )  # fmt: skip
    assert [(5,)] == made.run(made.data, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"release": 3}, "DPA105"),
        ({"columns": {}}, "DPA105"),
        ({"columns": ["person"]}, "DPA105"),
        ({"columns": {"person": "INTEGER); DROP TABLE people; --"}}, "DPA105"),
        ({"database": "oracle"}, "DPA103"),
    ],
)
def test_what_makes_no_table_is_refused(given, code):
    release = given.pop("release", rows_of)
    with pytest.raises(InvalidArgument, match=code):
        from_sql(release, **{"claim": CLAIM, "table": "people", "columns": COLUMNS, "data": FEW, **given})
