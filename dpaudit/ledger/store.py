"""The file of a ledger: SQLite, one durable transaction per change, append-only entries."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.exact import instance_of
from dpaudit.ledger.entries import LedgerEntry, canonical, printable
from dpaudit.ledger.tables import APPLICATION, SETTINGS, VERSION, VERSIONS, differences, make_tables

_OLDEST_SQLITE: Final = (3, 37, 0)
_PATIENCE: Final = 60.0
"""Seconds for which a program waits for the others."""

_TURN: Final = 0.1
"""Seconds of this wait that pass inside SQLite, which no signal interrupts."""

_RESTORE: Final = "Find the first change with `dpaudit ledger verify` and restore a backup."
_SIDE_FILES: Final = ("-journal", "-wal", "-shm")

_Found = TypeVar("_Found")


class Store:
    """Connections to one file, one for each thread and process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Remember the path; the file is opened when it is needed."""
        self.path = Path(path if isinstance(path, str) else instance_of(path, os.PathLike, "path"))
        self._local = threading.local()

    @classmethod
    def create(cls, path: str | os.PathLike[str], body: dict[str, Any]) -> Store:
        """Create a file that only its owner may read, with its first entry; DPA803 where there is a file already."""
        store = cls(path)
        make_file(store.path, "DPA803", "a ledger is never overwritten")

        def filled(connection: sqlite3.Connection) -> None:
            make_tables(connection)
            append(connection, "ledger", body)

        store._transaction("BEGIN EXCLUSIVE", filled, new=True)
        return store

    def write(self, change: Callable[[sqlite3.Connection], _Found]) -> _Found:
        """Make one change: all of it is on the disk afterwards, or none of it after an error."""

        def checked(connection: sqlite3.Connection) -> _Found:
            self._require_tables(connection, for_writing=True)
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                append(connection, "format", {"format": VERSION})
                connection.execute(f"PRAGMA user_version = {VERSION}")
            return change(connection)

        return self._transaction("BEGIN IMMEDIATE", checked)

    def read(self, question: Callable[[sqlite3.Connection], _Found]) -> _Found:
        """Read one state of the file, whatever others write meanwhile."""

        def checked(connection: sqlite3.Connection) -> _Found:
            self._require_tables(connection, for_writing=False)
            return question(connection)

        return self._transaction("BEGIN", checked)

    def examine(self, question: Callable[[sqlite3.Connection], _Found]) -> _Found:
        """Read one state of the file without the check of its tables, for callers that check them."""
        return self._transaction("BEGIN", question)

    def _transaction(self, begin: str, task: Callable[[sqlite3.Connection], _Found], *, new: bool = False) -> _Found:
        """Run a task in its own transaction, which is closed however the task ends."""
        try:
            connection = self._connected(new=new)
            # One function with two nested ends, not a context manager: a signal that arrives between the entry of a manager and its
            # block, or in the first end, would leave the transaction open and lock out all other programs.
            try:
                try:
                    _begin(connection, begin)
                    found = task(connection)
                    _patiently(lambda: connection.execute("COMMIT"))
                finally:
                    connection.rollback()
            finally:
                connection.rollback()
        except (sqlite3.Error, OverflowError) as error:  # a number that SQLite cannot hold
            raise _failure(self.path, error) from error
        return found

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the file as it is now, for its owner only; DPA803 where there is a file already."""
        target = Path(path)
        make_file(target, "DPA803", "a ledger is never overwritten")
        try:
            connection = self._connected()
            _patiently(lambda: connection.execute("VACUUM INTO ?", (str(target),)))
        except BaseException as error:
            with suppress(OSError):
                target.unlink()
            if isinstance(error, sqlite3.Error):
                raise _failure(self.path, error) from error
            raise

    def _require_tables(self, connection: sqlite3.Connection, *, for_writing: bool) -> None:
        """DPA805 where the tables, or for a change anything beside them, are not those of a ledger; looks when they changed."""
        cookie = (connection.execute("PRAGMA schema_version").fetchone()[0], for_writing)
        if getattr(self._local, "checked", None) == cookie:
            return
        tables, others = differences(connection)
        if tables or (for_writing and others):
            raise LedgerFailure("DPA805", f"{self._name}: {'; '.join([*tables, *others])}. {_RESTORE}")
        self._local.checked = cookie

    def _connected(self, *, new: bool = False) -> sqlite3.Connection:
        """The connection of this thread in this process; one that was made before a fork is left to the parent.

        A connection that is in a transaction is in use by a frame below this one, which a signal handler interrupted, and is left
        to it; if there is no such frame it dies here, and what it held is free.
        """
        here = (os.getpid(), threading.get_ident())
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None or self._local.here != here or connection.in_transaction:
            connection = None
            self._local.connection = self._local.checked = None
            self._local.connection, self._local.here = _connection(self.path, new=new), here
        return self._local.connection  # type: ignore[no-any-return]

    @property
    def _name(self) -> str:
        """The name of the file, for messages."""
        return printable(self.path.name)

    def __getstate__(self) -> dict[str, Any]:
        """Return the path; connections cannot cross processes."""
        return {"path": self.path.absolute()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the same file when it is needed."""
        self.__init__(state["path"])  # type: ignore[misc]


def make_file(path: Path, code: str, why: str) -> None:
    """Create an empty file that only its owner may read, whatever the umask; refused where there is one already."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise LedgerFailure(code, f"{printable(path.name)} already exists, and {why}. Choose another path.") from None
    except (OSError, ValueError) as error:
        raise LedgerFailure(
            code, f"{printable(path.name)} cannot be created ({type(error).__name__}). Choose a folder that may be written."
        ) from error


def append(connection: sqlite3.Connection, kind: str, body: dict[str, Any]) -> LedgerEntry:
    """Add an entry to the chain, inside a transaction that writes."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entry = LedgerEntry.after(last_entry(connection), kind, moment, body)
    connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", (entry.number, kind, moment, canonical(body), entry.digest))
    return entry


def last_entry(connection: sqlite3.Connection) -> LedgerEntry | None:
    """Return the newest entry, None in an empty ledger."""
    row = connection.execute("SELECT * FROM entry ORDER BY number DESC LIMIT 1").fetchone()
    return None if row is None else entry_from_row(row)


def entry_of(connection: sqlite3.Connection, number: int) -> LedgerEntry | None:
    """Return one entry by its number, None where there is none."""
    row = connection.execute("SELECT * FROM entry WHERE number = ?", (number,)).fetchone()
    return None if row is None else entry_from_row(row)


def entries(connection: sqlite3.Connection, after: int = 0) -> Iterator[LedgerEntry]:
    """Yield every entry after that number, the oldest first."""
    for row in connection.execute("SELECT * FROM entry WHERE number > ? ORDER BY number", (after,)):
        yield entry_from_row(row)


def open_charges(connection: sqlite3.Connection) -> list[int]:
    """Return the numbers of entries that reserved and neither committed nor cancelled."""
    return [number for (number,) in connection.execute("SELECT number FROM open_charge ORDER BY number")]


def entry_from_row(row: tuple[Any, ...]) -> LedgerEntry:
    """Read an entry from its row; DPA805 for any other row."""
    number, kind, moment, body, digest = row
    try:
        content = json.loads(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise LedgerFailure("DPA805", f"entry {number!r:.20} cannot be read. {_RESTORE}") from error
    known = (type(number), type(kind), type(moment), type(content), type(digest))
    if known != (int, str, str, dict, bytes):
        raise LedgerFailure("DPA805", f"entry {number!r:.20} cannot be read. {_RESTORE}")
    return LedgerEntry(number, kind, moment, MappingProxyType(content), digest)


def _begin(connection: sqlite3.Connection, begin: str) -> None:
    """Begin a transaction and take its lock at once, so that nothing after it has to wait before the end."""

    def attempt() -> None:
        connection.rollback()
        connection.execute(begin)
        connection.execute("PRAGMA schema_version").fetchone()

    _patiently(attempt)


def _patiently(attempt: Callable[[], object]) -> None:
    """Retry until the file is free, in short waits between which Python can handle a signal."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            attempt()
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() >= end:
                raise
            time.sleep(0.001)  # SQLite gives up without waiting where it sees that waiting would not help
        else:
            return


def _connection(path: Path, *, new: bool) -> sqlite3.Connection:
    """Open a file and check that it is a ledger, unless it is being made."""
    name = printable(path.name)
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise LedgerFailure(
            "DPA804",
            f"ledgers need SQLite 3.37 or newer, this Python has {sqlite3.sqlite_version}. Use a Python with a newer SQLite.",
        )
    try:
        there = path.is_file()
    except (OSError, ValueError):  # no name of a file, on this system
        there = False
    if not there:
        raise InvalidArgument("DPA801", f"there is no ledger {name}. Make one with `dpaudit ledger init`.")
    _narrow_side_files(path)
    connection = sqlite3.connect(path, timeout=min(_TURN, _PATIENCE), isolation_level=None, check_same_thread=False)
    # Bytes that are not UTF-8 are kept, so that their entry differs from its hash; a decoding error would not name the entry.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    if not new:
        marks: list[int] = []
        _patiently(lambda: marks.append(connection.execute("PRAGMA application_id").fetchone()[0]))
        _patiently(lambda: marks.append(connection.execute("PRAGMA user_version").fetchone()[0]))
        if marks[0] != APPLICATION:
            raise InvalidArgument("DPA801", f"{name} is not a ledger. Make one with `dpaudit ledger init`.")
        if marks[1] not in VERSIONS:
            raise InvalidArgument("DPA801", f"{name} is a ledger of version {marks[1]}, this program knows {VERSIONS}.")
    for setting in SETTINGS:
        _patiently(lambda setting=setting: connection.execute(f"PRAGMA {setting}"))  # type: ignore[misc]
    return connection


def _narrow_side_files(path: Path) -> None:
    """Restrict the files beside a ledger to the mode of the ledger; SQLite keeps the mode of one that is there."""
    allowed = stat.S_IMODE(path.stat().st_mode)
    for end in _SIDE_FILES:
        beside = path.with_name(path.name + end)
        with suppress(OSError):
            found = beside.lstat().st_mode
            if stat.S_ISREG(found) and stat.S_IMODE(found) & ~allowed:
                beside.chmod(stat.S_IMODE(found) & allowed)


def _is_busy(error: sqlite3.Error) -> bool:
    """True if other programs hold the file; the higher bits of the code hold more exact codes."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _failure(path: Path, error: sqlite3.Error | OverflowError) -> LedgerFailure:
    """Return an error of SQLite as one of the ledger."""
    name, said = printable(path.name), printable(str(error))
    if isinstance(error, sqlite3.OperationalError):
        reason = f"other programs kept it for {_PATIENCE:.0f} seconds" if _is_busy(error) else f"SQLite says: {said}"
        return LedgerFailure("DPA804", f"{name} cannot be used: {reason}. Nothing was changed.")
    return LedgerFailure("DPA805", f"{name} is not a ledger, or damaged; SQLite says: {said}. {_RESTORE}")
