"""Queries of smartnoise-sql 1.0.10 over a table of SQLite, in which nothing was found; others take minutes each."""

# requires: smartnoise-sql==1.0.10

import sqlite3
import warnings

from _entry import show_table
from snsql import Privacy, from_connection

from dpaudit import Claim, PureDP
from dpaudit.interop import from_sql

COLUMNS = {"x": {"type": "float", "lower": 0.0, "upper": 1.0}, "g": {"type": "string"}}
METADATA = {"": {"main": {"T": {"rows": 10, "row_privacy": True, "censor_dims": False, **COLUMNS}}}}
FEWER, MORE = [(0.5, "a"), (0.25, "a")], [(0.5, "a"), (0.25, "a"), (1.0, "a")]
QUERIES = {"COUNT(*)": 1}


def release(connection: sqlite3.Connection, what: str) -> float:
    """Answer a query as the library does, epsilon 1 for each number it needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # dpaudit: ignore[DP304] counts of a table of three rows are audited, and spend no delta
        reader = from_connection(connection, privacy=Privacy(epsilon=1.0, delta=0.01), metadata=METADATA, engine="sqlite")
        told = reader.execute(f"SELECT {what} AS v FROM main.T")  # noqa: S608
    return float(told[1][0])


TARGETS = [
    from_sql(
        lambda connection, what=what: release(connection, what),
        claim=Claim(PureDP(epsilon=cost), adjacency="add_remove"),
        table="T",
        columns={"x": "REAL", "g": "TEXT"},
        neighbours=[(FEWER, MORE)],
        name=f"SELECT {what}",
        public_data=True,
        most_runs=2_000,
    )
    for what, cost in QUERIES.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
