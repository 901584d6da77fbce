"""The tables of a ledger file, and how a given file differs from them."""

from __future__ import annotations

import sqlite3
from typing import Final

APPLICATION: Final = 0x4450_4C31
"""Marks an SQLite file as a ledger."""

VERSION: Final = 3
"""Of new ledgers: charges may have keys, and a ledger may be moved; from 2 on, charges keep the loss that was priced."""

VERSIONS: Final = (1, 2, VERSION)
"""That this program reads; the first change brings a ledger to the newest."""

_TABLES: Final = {
    "entry": """CREATE TABLE entry (
        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, time TEXT NOT NULL, body TEXT NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT""",
    "budget": """CREATE TABLE budget (
        number INTEGER PRIMARY KEY REFERENCES entry, dataset TEXT NOT NULL, unit TEXT NOT NULL, purpose TEXT NOT NULL,
        spent TEXT NOT NULL, UNIQUE (dataset, unit, purpose)
    ) STRICT""",
    "open_charge": "CREATE TABLE open_charge (number INTEGER PRIMARY KEY REFERENCES entry) STRICT",
}
_KEYED: Final = {
    "keyed": "CREATE TABLE keyed (key TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE REFERENCES entry) STRICT, WITHOUT ROWID"
}

KEYED_SINCE: Final = 3
"""The first version that has this table."""

_TRIGGERS: Final = {
    "no_change": "CREATE TRIGGER no_change BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "no_removal": "CREATE TRIGGER no_removal BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END",
}
_INDEXES: Final = {
    ("index", "sqlite_autoindex_budget_1", "budget", None),
    ("index", "sqlite_autoindex_keyed_2", "keyed", None),
}

# A rollback journal, not a write-ahead log: that can corrupt files under several writers before SQLite 3.51.3, and needs shared
# memory that network disks lack. EXTRA also syncs the folder, so that a journal that is gone stays gone after a loss of power.
SETTINGS: Final = ("journal_mode = TRUNCATE", "synchronous = EXTRA", "foreign_keys = ON", "trusted_schema = OFF")


def make_tables(connection: sqlite3.Connection) -> None:
    """Make them, inside a transaction."""
    for statement in (*_TABLES.values(), *_TRIGGERS.values()):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    upgrade_tables(connection, 0)


def upgrade_tables(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables of an older ledger to the newest version, inside a transaction."""
    if version < KEYED_SINCE:
        for statement in _KEYED.values():
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def differences(connection: sqlite3.Connection) -> tuple[list[str], list[str]]:
    """Return why a file cannot be read as a ledger, and its other differences, without quoting names from the file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    texts = {**_TABLES, **(_KEYED if version >= KEYED_SINCE else {})}
    expected = {
        *(("table", name, name, text) for name, text in texts.items()),
        *(("trigger", name, "entry", text) for name, text in _TRIGGERS.items()),
        *_INDEXES,
    }
    found = set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall())
    tables = [f"the table {name} is missing or another" for name, text in texts.items() if ("table", name, name, text) not in found]
    others = [
        f"the trigger {name} is missing or another, so that entries could be changed"
        for name, text in _TRIGGERS.items()
        if ("trigger", name, "entry", text) not in found
    ]
    foreign = sorted(str(kind) for kind, name, *_ in found - expected if name not in {*texts, *_TRIGGERS})
    if foreign:
        kinds = ", ".join(kind if kind in {"table", "trigger", "view", "index"} else "something" for kind in foreign)
        others.append(f"the file holds objects that no ledger has: {kinds}")
    return tables, others
