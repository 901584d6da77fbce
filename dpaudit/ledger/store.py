"""The file of a ledger: SQLite, one durable transaction a change, entries that are only ever added."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.exact import instance_of
from dpaudit.ledger.entries import Entry, canonical

APPLICATION: Final = 0x4450_4C31
"""Marks an SQLite file as a ledger."""

VERSION: Final = 1
"""Of the tables."""

_OLDEST_SQLITE: Final = (3, 37, 0)
_PATIENCE: Final = 60.0
"""Seconds for which a writer waits for the others."""

_RESTORE: Final = "Find out with `dpaudit ledger verify` since when, and go on from a copy."

_TABLES: Final = (
    """CREATE TABLE entry (
        number INTEGER PRIMARY KEY, kind TEXT NOT NULL, time TEXT NOT NULL, body TEXT NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT""",
    "CREATE TRIGGER no_change BEFORE UPDATE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "CREATE TRIGGER no_removal BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END",
    """CREATE TABLE budget (
        number INTEGER PRIMARY KEY REFERENCES entry, dataset TEXT NOT NULL, unit TEXT NOT NULL, purpose TEXT NOT NULL,
        spent TEXT NOT NULL, UNIQUE (dataset, unit, purpose)
    ) STRICT""",
    "CREATE TABLE open_charge (number INTEGER PRIMARY KEY REFERENCES entry) STRICT",
)
# A rollback journal, not a write-ahead log: that can corrupt files under several writers before SQLite 3.51.3, and needs shared
# memory that network disks lack. EXTRA also syncs the folder, so that a journal that is gone stays gone after a loss of power.
SETTINGS: Final = ("journal_mode = TRUNCATE", "synchronous = EXTRA", "foreign_keys = ON", "trusted_schema = OFF")


class Store:
    """Connections to one file, one for each thread and process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Remember the path; the file is opened when it is needed."""
        self.path = Path(path if isinstance(path, str) else instance_of(path, os.PathLike, "path"))
        self._local = threading.local()

    @classmethod
    def create(cls, path: str | os.PathLike[str], body: dict[str, Any]) -> Store:
        """A new file that only its owner may read, with its first entry; DPA803 where there is a file already."""
        store = cls(path)
        try:
            os.close(os.open(store.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise LedgerFailure("DPA803", f"{store.path.name} exists already; a ledger is never written over.") from None
        except OSError as error:
            raise LedgerFailure("DPA803", f"{store.path.name} cannot be made ({type(error).__name__}).") from error
        with _failures(store.path):
            connection = store._connected(new=True)
            connection.execute("BEGIN EXCLUSIVE")
            for statement in _TABLES:
                connection.execute(statement)
            append(connection, "ledger", body)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        return store

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One change: all of it is on the disk when the block ends, or none of it after an error."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the file, whatever others write meanwhile."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """A transaction that ends with the block."""
        with _failures(self.path):
            connection = self._connected()
            connection.execute(begin)
        try:
            with _failures(self.path):
                yield connection
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def backup(self, path: str | os.PathLike[str]) -> None:
        """A copy of the file as it is now; DPA803 where there is a file already."""
        if Path(path).exists():
            raise LedgerFailure("DPA803", f"{Path(path).name} exists already; a ledger is never written over.")
        with _failures(self.path):
            self._connected().execute("VACUUM INTO ?", (str(path),))

    def _connected(self, *, new: bool = False) -> sqlite3.Connection:
        """The connection of this thread in this process; one that was made before a fork is left to the parent."""
        here = (os.getpid(), threading.get_ident())
        if getattr(self._local, "here", None) != here:
            self._local.connection, self._local.here = _connection(self.path, new=new), here
        connection: sqlite3.Connection = self._local.connection
        return connection

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs."""
        return {"path": self.path.absolute()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the same file when it is needed."""
        self.__init__(state["path"])  # type: ignore[misc]


def append(connection: sqlite3.Connection, kind: str, body: dict[str, Any]) -> Entry:
    """Add an entry to the chain, inside a transaction that writes."""
    time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entry = Entry.after(last_entry(connection), kind, time, body)
    connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", (entry.number, kind, time, canonical(body), entry.digest))
    return entry


def last_entry(connection: sqlite3.Connection) -> Entry | None:
    """The newest entry."""
    row = connection.execute("SELECT * FROM entry ORDER BY number DESC LIMIT 1").fetchone()
    return None if row is None else _entry(row)


def entry_of(connection: sqlite3.Connection, number: int) -> Entry | None:
    """One entry."""
    row = connection.execute("SELECT * FROM entry WHERE number = ?", (number,)).fetchone()
    return None if row is None else _entry(row)


def entries(connection: sqlite3.Connection, after: int = 0) -> Iterator[Entry]:
    """Every entry after that number, the oldest first."""
    for row in connection.execute("SELECT * FROM entry WHERE number > ? ORDER BY number", (after,)):
        yield _entry(row)


def _entry(row: tuple[int, str, str, str, bytes]) -> Entry:
    """An entry from its row."""
    number, kind, time, body, digest = row
    try:
        return Entry(number, kind, time, MappingProxyType(json.loads(body)), digest)
    except (TypeError, ValueError) as error:
        raise LedgerFailure("DPA805", f"entry {number} cannot be read. {_RESTORE}") from error


def _connection(path: Path, *, new: bool) -> sqlite3.Connection:
    """An open file, checked to be a ledger unless it is being made."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise LedgerFailure("DPA804", f"ledgers need SQLite 3.37 or newer, this Python has {sqlite3.sqlite_version}.")
    try:
        there = path.is_file()
    except (OSError, ValueError):  # no name of a file, on this system
        there = False
    if not there:
        raise InvalidArgument("DPA801", f"there is no ledger {path.name}. Make one with `dpaudit ledger init`.")
    connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    if not new:
        marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if marks[0] != APPLICATION:
            raise InvalidArgument("DPA801", f"{path.name} is no ledger.")
        if marks[1] != VERSION:
            raise InvalidArgument("DPA801", f"{path.name} is a ledger of version {marks[1]}, this program knows {VERSION}.")
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    return connection


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    """Errors of SQLite as errors of the ledger."""
    try:
        yield
    except sqlite3.OperationalError as error:
        busy = "locked" in str(error) or "busy" in str(error)
        reason = f"other programs kept it for {_PATIENCE:.0f} seconds" if busy else f"SQLite says: {error}"
        raise LedgerFailure("DPA804", f"{path.name} cannot be used: {reason}. Nothing was changed.") from error
    except sqlite3.DatabaseError as error:
        raise LedgerFailure("DPA805", f"{path.name} is no ledger, or damaged; SQLite says: {error}. {_RESTORE}") from error
