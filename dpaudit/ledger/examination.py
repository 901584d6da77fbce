"""Examination: a verdict on any file; content that cannot be read is a problem in the verdict, never an exception."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.exact import instance_of
from dpaudit.ledger.accounts import Account
from dpaudit.ledger.entries import ChainHead, LedgerEntry, entry_from_row, printable
from dpaudit.ledger.places import is_server, open_store
from dpaudit.ledger.state import State, Storage
from dpaudit.ledger.store import Store
from dpaudit.ledger.verification import UNREAD, LedgerVerification, verify_entries


def verify_file(path: str | os.PathLike[str], *, head: ChainHead | str | None = None) -> LedgerVerification:
    """Check a ledger or an export of one, whatever the file holds.

    Args:
      path: of a file that is there, or text postgresql://USER@HOST/DATABASE.
      head: of an earlier receipt or copy; that entry must be there, unchanged.
    Returns:
      What was found. What cannot be read as a ledger or an export has a problem that says so.
    Raises:
      InvalidArgument: no file (DPA801), or no path or no head (DPA105).
    Source: docs/ledger.md, "What the chain shows".
    Example:
      >>> import tempfile
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     verify_file(folder).problems
      ('cannot be read: it is not a regular file',)
    """
    wanted = None if head is None else ChainHead.of(head)
    if is_server(path):
        return examine(open_store(path), wanted)
    place = Path(path if isinstance(path, str) else instance_of(path, os.PathLike, "path"))
    try:
        kind = place.stat()
    except FileNotFoundError:
        raise InvalidArgument("DPA801", f"there is no file {printable(place.name)}.") from None
    except (OSError, ValueError) as error:
        return _unread(type(error).__name__)
    if not stat.S_ISREG(kind.st_mode):  # a pipe would be waited for, a device may never end
        return _unread("it is not a regular file")
    try:
        # SQLite first: under POSIX a process that closes a file anywhere loses all its locks on it, those of SQLite included.
        return _verify_state(Store(place), wanted)
    except DpauditError as error:
        if not _is_no_database(error, kind.st_size):
            return _unread(error.message)
    except Exception as error:  # noqa: BLE001 - whatever the file holds, a verdict is given
        return _unread(type(error).__name__)
    items = list(_read_export(place))
    if all(isinstance(item, str) for item in items):
        return _unread("it holds no entry of a ledger")
    return verify_entries(items, head=wanted)


def examine(store: Storage, head: ChainHead | str | None) -> LedgerVerification:
    """Return the verdict on a ledger that could be opened."""
    wanted = None if head is None else ChainHead.of(head)
    try:
        return _verify_state(store, wanted)
    except DpauditError as error:
        return _unread(error.message)
    except Exception as error:  # noqa: BLE001 - whatever the file holds, a verdict is given
        return _unread(type(error).__name__)


def _unread(why: str) -> LedgerVerification:
    """Return the verdict on a file that cannot be read."""
    return LedgerVerification(0, None, (), (), (printable(f"{UNREAD}: {why}"),))


def _is_no_database(error: DpauditError, size: int) -> bool:
    """True if SQLite says that a file is not a database, as an export is not."""
    return size == 0 or getattr(error.__cause__, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB


def _verify_state(store: Storage, head: ChainHead | None) -> LedgerVerification:
    """Return the verdict on one state of a ledger."""

    def question(state: State, tables: Sequence[str], others: Sequence[str]) -> LedgerVerification:
        if tables:
            return _unread("; ".join([*tables, *others]))
        found, totals = list(others), dict[int, dict[str, str]]()
        accounts = list(state.examine_accounts())
        for account in accounts:
            if isinstance(account, Account):
                totals[account.number] = account.cap.written(account.spent)
            else:
                found.append(account.message)
        return verify_entries(
            _rows(state),
            head=head,
            totals=totals if len(totals) == len(accounts) else None,
            pending=state.open_charges(),
            keys=state.keys(),
            problems=found,
        )

    return store.examine(question)


def _rows(state: State) -> Iterator[LedgerEntry | str]:
    """Yield every entry, and a problem for each row that cannot be read."""
    for row in state.entry_rows():
        yield _read(lambda row=row: entry_from_row(row), f"entry {row[0]!r:.20} cannot be read")


def _read_export(path: Path) -> Iterator[LedgerEntry | str]:
    """Yield the entries of an export, and a problem for each line that is not an entry."""
    try:
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            for number, line in enumerate(file, start=1):
                yield _read(lambda line=line: LedgerEntry.from_dict(json.loads(line)), f"line {number} is not an entry of a ledger")
    except OSError as error:
        yield f"what follows cannot be read ({type(error).__name__})"


def _read(make: Any, problem: str) -> LedgerEntry | str:
    """Return an entry, or the problem where it cannot be made."""
    try:
        made: LedgerEntry = make()
    except Exception:  # noqa: BLE001 - whatever the file holds, a verdict is given
        return problem
    return made
