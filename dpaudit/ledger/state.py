"""One state of a ledger and one change to it, as both kinds of storage give and take them: an SQLite file, a PostgreSQL server."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from dpaudit.errors import DpauditError, LedgerFailure
from dpaudit.ledger.accounts import Account, read_account
from dpaudit.ledger.entries import LedgerEntry, Scope, entry_from_row

_ENTRY: Final = "SELECT number, kind, time, body, hash FROM entry"
_BUDGET: Final = (
    "SELECT b.number, b.dataset, b.unit, b.purpose, b.spent, e.number, e.kind, e.time, e.body, e.hash, {before} "
    "FROM budget b LEFT JOIN entry e ON e.number = b.number"
)

_FIRST: Final = -(2**63)
"""Below every number that a database holds; a changed ledger may have entries before the first."""

Rows = Callable[[str, Sequence[object]], Iterator[tuple[Any, ...]]]
"""Asks a database: rows by a statement, with ? for each value."""

Found = TypeVar("Found")


@dataclass(frozen=True)
class Draft:
    """An entry that is to be written: its kind and its content; the storage gives it a number, a time and a hash."""

    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """The entries that a change wrote, and by number the totals of the budgets that they moved."""

    entries: tuple[LedgerEntry, ...]
    spent: Mapping[int, Mapping[str, str]]


class State:
    """Everything that a ledger holds at one moment.

    Args:
      rows: asks the database.
      before: SQL of the hash before the entry `b.number`.
      pending: SQL of the numbers and bodies of all open charges.
      stream: asks for many rows, one after the other; as `rows` unless given.
      has_keys: False for a ledger whose format knows no keys.
    """

    def __init__(self, rows: Rows, before: str, pending: str, *, stream: Rows | None = None, has_keys: bool = True) -> None:
        self._rows, self._budget, self._pending = rows, _BUDGET.format(before=before), pending
        self._stream, self._has_keys = stream or rows, has_keys

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows at once: a statement that is left half read holds a lock as long as an error keeps its frame."""
        return list(self._rows(statement, values))

    def accounts(self, scope: Scope | None = None) -> list[Account]:
        """Return the budgets that pay for a scope, or all; DPA805 for one that was changed."""
        found = []
        for account in self.examine_accounts(scope):
            if isinstance(account, DpauditError):
                raise account
            found.append(account)
        return found

    def accounts_of(self, numbers: Sequence[int]) -> list[Account]:
        """Return the budgets of these numbers."""
        marks = ", ".join("?" * len(numbers)) or "NULL"
        return [read_account(row) for row in self._all(f"{self._budget} WHERE b.number IN ({marks}) ORDER BY b.number", *numbers)]

    def examine_accounts(self, scope: Scope | None = None) -> Iterator[Account | LedgerFailure]:
        """Yield the budgets that pay for a scope, or all, with the error in place of one that was changed."""
        where, values = "", tuple[str, ...]()
        if scope is not None:
            where = " WHERE b.dataset = ? AND b.unit = ? AND b.purpose IN ('', ?)"
            values = (scope.dataset, scope.unit, scope.purpose or "")
        for row in self._all(f"{self._budget}{where} ORDER BY b.number", *values):
            try:
                yield read_account(row)
            except LedgerFailure as error:
                yield error

    def newest(self) -> LedgerEntry:
        """Return the last entry; a ledger has at least its first."""
        for row in self._all(f"{_ENTRY} ORDER BY number DESC LIMIT 1"):
            return entry_from_row(row)
        raise LedgerFailure("DPA805", "the ledger has no entries. Find out what emptied it and restore a backup.")

    def entry(self, number: int) -> LedgerEntry | None:
        """Return one entry by its number, None where there is none."""
        for row in self._all(f"{_ENTRY} WHERE number = ?", number):
            return entry_from_row(row)
        return None

    def entry_rows(self, after: int = _FIRST) -> Iterator[tuple[Any, ...]]:
        """Yield the row of every entry after that number, the oldest first."""
        return self._stream(f"{_ENTRY} WHERE number > ? ORDER BY number", (after,))

    def entries(self, after: int = _FIRST) -> Iterator[LedgerEntry]:
        """Yield every entry after that number, the oldest first."""
        return map(entry_from_row, self.entry_rows(after))

    def open_charges(self) -> list[int]:
        """Return the numbers of entries that reserved and neither committed nor cancelled."""
        return [number for (number,) in self._all("SELECT number FROM open_charge ORDER BY number")]

    def is_open(self, number: int) -> bool:
        """True if that entry reserved and neither committed nor cancelled."""
        return bool(self._all("SELECT number FROM open_charge WHERE number = ?", number))

    def pending(self, budget: int, *, but: int) -> list[dict[str, str]]:
        """Return the amounts that open charges, but for one, could still give back to a budget."""
        bodies = [json.loads(body) for number, body in self._all(self._pending) if number != but]
        return [body["amounts"][str(budget)] for body in bodies if str(budget) in body["amounts"]]

    def keys(self) -> dict[str, int]:
        """Return the entry of each idempotency key."""
        return dict(self._all("SELECT key, number FROM keyed")) if self._has_keys else {}

    def charge_of(self, key: str) -> LedgerEntry | None:
        """Return the charge that was made under an idempotency key, None where there is none."""
        for (number,) in self._all("SELECT number FROM keyed WHERE key = ?", key):
            return self.entry(number)
        return None

    def name(self) -> str:
        """Return the identity of the ledger."""
        first = self.entry(1)
        if first is None or not isinstance(first.body.get("name"), str):
            raise LedgerFailure("DPA805", "the ledger has no first entry. Find out what changed it and restore a backup.")
        return str(first.body["name"])


class Storage(Protocol):
    """The place of a ledger. Whatever fails, a change is either there as a whole and survives a loss of power, or not at all."""

    @property
    def place(self) -> str:
        """The place for messages: no password, nothing that a terminal obeys."""

    def read(self, question: Callable[[State], Found]) -> Found:
        """Answer a question from one state, whatever others write meanwhile."""

    def write(self, plan: Callable[[State], Sequence[Draft]], *, exact: bool = False) -> Written:
        """Write what a plan asks for, all of it or, after an error, none; it is durable when this returns.

        The plan may be made several times, and each time sees a state that no earlier one is newer than. Budgets are checked
        when its entries are written; what else it reads may have changed by then, unless it is `exact`.
        """

    def examine(self, question: Callable[[State, Sequence[str], Sequence[str]], Found]) -> Found:
        """Answer a question from one state, with what is wrong with the tables, and what else is wrong."""

    def settle(self, head: LedgerEntry) -> None:
        """Wait until an entry that was read is durable, so that its hash may be kept elsewhere."""

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the ledger to a new file."""

    def grant(self, role: str, may: str, scope: tuple[str, str, str]) -> list[str]:
        """Give a role a right, and return the statements that were run."""
