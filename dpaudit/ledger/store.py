"""The file of a ledger: SQLite, one durable transaction per change, append-only entries."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.exact import instance_of
from dpaudit.ledger.entries import RESTORE, LedgerEntry, Scope, canonical, entry_from_row, now, printable, require_here
from dpaudit.ledger.plain import cap_of
from dpaudit.ledger.state import Draft, Found, State, Written
from dpaudit.ledger.tables import APPLICATION, KEYED_SINCE, SETTINGS, VERSION, VERSIONS, differences, make_tables, upgrade_tables

_OLDEST_SQLITE: Final = (3, 37, 0)
_PATIENCE: Final = 60.0
"""Seconds for which a program waits for the others."""

_TURN: Final = 0.1
"""Seconds of this wait that pass inside SQLite, which no signal interrupts."""

_SIDE_FILES: Final = ("-journal", "-wal", "-shm")

_BEFORE: Final = "(SELECT p.hash FROM entry p WHERE p.number = b.number - 1)"
_PENDING: Final = "SELECT number, body FROM entry WHERE number IN (SELECT number FROM open_charge)"


class Store:
    """Connections to one file, one for each thread and process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Remember the path; the file is opened when it is needed."""
        self.path = Path(path if isinstance(path, str) else instance_of(path, os.PathLike, "path"))
        self._local = threading.local()

    @property
    def place(self) -> str:
        """The name of the file, for messages."""
        return printable(self.path.name)

    @classmethod
    def fill(cls, path: str | os.PathLike[str], entries: Iterable[LedgerEntry]) -> Store:
        """Make a file of a whole chain of entries, which only its owner may read; DPA803 where there is a file already."""
        store = cls(path)
        make_file(store.path, "DPA803", "a ledger is never overwritten")

        def filled(connection: sqlite3.Connection) -> None:
            make_tables(connection)
            filling = Filling(connection)
            for entry in entries:
                filling.take(entry)

        try:
            store._transaction("BEGIN EXCLUSIVE", filled, new=True)
        except BaseException:
            with suppress(OSError):  # it holds nothing, and is in the way of the next attempt
                store.path.unlink()
            raise
        return store

    def write(self, plan: Callable[[State], Sequence[Draft]], *, exact: bool = False) -> Written:  # noqa: ARG002 - always exact
        """Make one change: all of it is on the disk afterwards, or none of it after an error."""

        def checked(connection: sqlite3.Connection) -> Written:
            self._require_tables(connection, for_writing=True)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            filling = Filling(connection)
            require_here(filling.last)
            if version != VERSION:
                upgrade_tables(connection, version)
                filling.append("format", {"format": VERSION})
            return filling.write(plan(_state(connection)))

        return self._transaction("BEGIN IMMEDIATE", checked)

    def read(self, question: Callable[[State], Found]) -> Found:
        """Read one state of the file, whatever others write meanwhile."""

        def checked(connection: sqlite3.Connection) -> Found:
            self._require_tables(connection, for_writing=False)
            return question(_state(connection))

        return self._transaction("BEGIN", checked)

    def examine(self, question: Callable[[State, Sequence[str], Sequence[str]], Found]) -> Found:
        """Read one state of the file without refusing it for its tables, but with their differences and other damage."""

        def checked(connection: sqlite3.Connection) -> Found:
            tables, others = differences(connection)
            if not tables:  # a view in place of a table may have no end
                others += self._damage(connection)
            return question(_state(connection), tables, others)

        return self._transaction("BEGIN", checked)

    def settle(self, head: LedgerEntry) -> None:
        """Return at once: what can be read of a file is durable."""

    def _damage(self, connection: sqlite3.Connection) -> list[str]:
        """Return what SQLite finds wrong; it stops after eight findings, as a broken file may hold one in every row."""
        found = [f"SQLite finds damage: {text}" for (text,) in connection.execute("PRAGMA integrity_check(8)") if text != "ok"]
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if self.path.stat().st_size < pages * size:  # SQLite reads zeros where the file ends
            found.append("the file is shorter than it was")
        return found

    def _transaction(self, begin: str, task: Callable[[sqlite3.Connection], Found], *, new: bool = False) -> Found:
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

    def grant(self, role: str, may: str, scope: tuple[str, str, str]) -> list[str]:  # noqa: ARG002 - of a server
        """Refuse: who may read and write a file is a matter of the file system."""
        raise LedgerFailure("DPA804", f"{self.place} is a file, which has no roles. Use the rights of the file system.")

    def _require_tables(self, connection: sqlite3.Connection, *, for_writing: bool) -> None:
        """DPA805 where the tables, or for a change anything beside them, are not those of a ledger; looks when they changed."""
        cookie = (connection.execute("PRAGMA schema_version").fetchone()[0], for_writing)
        if getattr(self._local, "checked", None) == cookie:
            return
        tables, others = differences(connection)
        if tables or (for_writing and others):
            raise LedgerFailure("DPA805", f"{self.place}: {'; '.join([*tables, *others])}. {RESTORE}")
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


class Filling:
    """Writes entries and all that follows from them, inside a transaction that writes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        row = connection.execute("SELECT number, kind, time, body, hash FROM entry ORDER BY number DESC LIMIT 1").fetchone()
        self.last = None if row is None else entry_from_row(row)

    def write(self, drafts: Sequence[Draft]) -> Written:
        """Append entries; return them, and the totals that they changed."""
        entries = tuple(self.append(draft.kind, draft.body) for draft in drafts)
        moved = [int(number) for entry in entries for number in entry.body.get("amounts", {})]
        return Written(entries, {one.number: one.cap.written(one.spent) for one in _state(self._connection).accounts_of(moved)})

    def append(self, kind: str, body: Mapping[str, Any]) -> LedgerEntry:
        """Add an entry to the chain, at this time."""
        entry = LedgerEntry.after(self.last, kind, now(), body)
        self.take(entry)
        return entry

    def take(self, entry: LedgerEntry) -> None:
        """Add an entry that continues the chain already."""
        row = (entry.number, entry.kind, entry.time, canonical(dict(entry.body)), entry.digest)
        self._connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", row)
        self._follow(entry)
        self.last = entry

    def _follow(self, entry: LedgerEntry) -> None:
        """Do what an entry says: open a budget or a charge, end a charge, move totals."""
        run, body = self._connection.execute, entry.body
        match entry.kind:
            case "budget":
                scope, cap = Scope.of(body["scope"]), cap_of(body)
                nothing = json.dumps(cap.written(cap.nothing), sort_keys=True)
                run("INSERT INTO budget VALUES (?, ?, ?, ?, ?)", (entry.number, *scope.key, nothing))
            case "spend" | "reserve":
                self._move(body["amounts"], sign=1)
                if entry.kind == "reserve":
                    run("INSERT INTO open_charge VALUES (?)", (entry.number,))
                if "key" in body:
                    run("INSERT INTO keyed VALUES (?, ?)", (body["key"], entry.number))
            case "commit" | "cancel":
                run("DELETE FROM open_charge WHERE number = ?", (body["charge"],))
                if entry.kind == "cancel":
                    self._move(self._amounts(body["charge"]), sign=-1)
            case "overrun":
                self._move(body["amounts"], sign=1)

    def _amounts(self, number: int) -> Mapping[str, Mapping[str, str]]:
        """Return the amounts of a charge."""
        charge = _state(self._connection).entry(number)
        if charge is None:
            raise LedgerFailure("DPA805", f"entry {number} is missing. {RESTORE}")
        return charge.body["amounts"]  # type: ignore[no-any-return]

    def _move(self, amounts: Mapping[str, Mapping[str, str]], *, sign: int) -> None:
        """Add amounts to totals, or take them back."""
        for account in _state(self._connection).accounts_of([int(number) for number in amounts]):
            after = account.after(amounts[str(account.number)], sign=sign)
            spent = json.dumps(after.cap.written(after.spent), sort_keys=True)
            self._connection.execute("UPDATE budget SET spent = ? WHERE number = ?", (spent, account.number))


def _state(connection: sqlite3.Connection) -> State:
    """The state that a transaction sees."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return State(connection.execute, _BEFORE, _PENDING, has_keys=version >= KEYED_SINCE)


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
    return LedgerFailure("DPA805", f"{name} is not a ledger, or damaged; SQLite says: {said}. {RESTORE}")
