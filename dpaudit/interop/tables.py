"""Queries over tables of a database, SmartNoise SQL among them, as audit targets: every run gets a database of its own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from dpaudit.claims import Claim
from dpaudit.errors import InvalidArgument
from dpaudit.exact import kind_of, word
from dpaudit.interop.functions import seeded_target
from dpaudit.interop.libraries import library
from dpaudit.targets import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

DATABASES: Final = ("sqlite", "duckdb")
_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_ ,()]*")


def from_sql(
    release: Callable[[Any], Any],
    *,
    claim: Claim,
    table: str,
    columns: Mapping[str, str],
    database: str = "sqlite",
    **others: Any,
) -> Target:
    """A function that queries a table of a database as an audit target.

    Args:
      release: function of an open connection, which queries the table and returns what is released: rows, a number, or a frame.
      claim: what it promises about the rows of the table.
      table: name of the table.
      columns: SQL type of each column by its name, in the order of the values of a row.
      database: "sqlite", or "duckdb" where that is installed; it is held in memory.
      others: what else a Target takes: `neighbours` or `data`, as lists of rows or as data frames with these columns, and others.
    Returns:
      A Target. Every run makes the table in a new database, so no run sees what another one wrote. Global generators are seeded as
      in `from_function`.
    Raises:
      InvalidArgument: not a function, no columns or a type that is none (DPA105), another database (DPA103), or what a Target
        refuses (DPA404).
      Unsupported: DuckDB is not installed (DPA205), from runs.
    Source: docs/adapters.md, "Tables and SmartNoise SQL".
    Example:
      >>> import numpy as np
      >>> from dpaudit import Claim, PureDP
      >>> def count(connection):
      ...     return connection.execute("SELECT COUNT(*) FROM people").fetchone()[0]
      >>> target = from_sql(count, claim=Claim(PureDP(epsilon=1)), table="people", columns={"age": "INTEGER"}, data=[(3,), (4,)])
      >>> target.run(target.data, np.random.default_rng(1))
      2
    """
    if not callable(release):
        raise InvalidArgument("DPA105", f"a function of a connection is expected, got {kind_of(release)}.")
    word(database, "database", DATABASES)
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidArgument("DPA105", f'columns must be SQL types by name, such as {{"age": "INTEGER"}}, got {kind_of(columns)}.')
    for name, kind in columns.items():
        if not isinstance(name, str) or not isinstance(kind, str) or not _TYPE.fullmatch(kind):
            raise InvalidArgument("DPA105", f"the SQL type of column {name!r} must be a word such as INTEGER or TEXT.")
    names = list(columns)
    made = f"CREATE TABLE {_quoted(table)} ({', '.join(f'{_quoted(name)} {kind}' for name, kind in columns.items())})"
    filled = f"INSERT INTO {_quoted(table)} VALUES ({', '.join('?' for _ in names)})"  # noqa: S608 - values are bound

    def run(data: Any) -> Any:
        with closing(_connect(database)) as connection:
            connection.execute(made)
            if rows := list(_rows(data, names)):
                connection.executemany(filled, rows)
            connection.commit()
            return release(connection)

    return seeded_target(run, release, claim=claim, **others)


def _connect(database: str) -> Any:
    """Open an empty database in memory."""
    return sqlite3.connect(":memory:") if database == "sqlite" else library("duckdb").connect(":memory:")


def _quoted(name: str) -> str:
    """Return a name as SQL has it, with a schema before a dot."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def _rows(data: Any, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a list, or of a frame of pandas or polars, as plain values."""
    if hasattr(data, "iter_rows"):
        data = data.select(names).rows()
    elif hasattr(data, "itertuples"):
        data = data[list(names)].itertuples(index=False, name=None)
    for row in data:
        yield tuple(one.item() if hasattr(one, "item") else one for one in row)
