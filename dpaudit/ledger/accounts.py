"""Accounts: the current state of each budget of a ledger, the effect of a charge on it, and its row in the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.budgets.filters import Amounts, Cap
from dpaudit.claims import Guarantee
from dpaudit.errors import LedgerFailure, LedgerRefusal
from dpaudit.ledger.entries import LedgerEntry, Scope
from dpaudit.ledger.plain import cap_of
from dpaudit.ledger.store import entry_from_row

ALL: Final = "SELECT number, dataset, unit, purpose, spent FROM budget"
_COVERING: Final = f"{ALL} WHERE dataset = ? AND unit = ? AND purpose IN ('', ?)"


@dataclass(frozen=True)
class Account:
    """The current state of one budget: its entry, its scope, what it allows and what was spent."""

    number: int
    scope: Scope
    cap: Cap
    spent: Amounts

    @property
    def left(self) -> Amounts:
        """The amounts that may still be spent; negative where more was released than reserved."""
        return tuple(limit - spent for limit, spent in zip(self.cap.limits, self.spent, strict=True))

    @property
    def remaining(self) -> dict[str, str]:
        """The amounts that may still be spent, exact text by the name of the currency."""
        return self.cap.written(self.left)


def accounts_of(connection: sqlite3.Connection, scope: Scope | None) -> list[Account]:
    """Return the budgets that pay for a scope, or all."""
    if scope is None:
        rows = connection.execute(f"{ALL} ORDER BY number").fetchall()
    else:
        rows = connection.execute(f"{_COVERING} ORDER BY number", (scope.dataset, scope.unit, scope.purpose or "")).fetchall()
    return [account_from_row(connection, row) for row in rows]


def account_from_row(connection: sqlite3.Connection, row: tuple[Any, ...]) -> Account:
    """Read one budget from its row and its entry; DPA805 where either was changed."""
    number, dataset, unit, purpose, spent = row
    try:
        scope = Scope(dataset, unit, purpose or None)
        rows = connection.execute("SELECT * FROM entry WHERE number IN (?, ?) ORDER BY number", (number - 1, number)).fetchall()
        cap = _cap(number, scope, tuple(rows))
        return Account(number, scope, cap, cap.read(json.loads(spent)))
    except (LedgerFailure, sqlite3.Error):
        raise
    except Exception as error:  # whatever the file holds there
        raise _changed(number, "cannot be read") from error


@lru_cache(maxsize=256)
def _cap(number: int, scope: Scope, rows: tuple[tuple[Any, ...], ...]) -> Cap:
    """Read the cap of a budget from its entry, whose hash is checked against the entry before; cached, as every charge asks."""
    before, opened = map(entry_from_row, rows)
    if not opened.follows(before):
        raise _changed(number, "is not the one that was opened: its entry, or the one before, was changed")
    if (opened.number, opened.kind, opened.body["scope"]) != (number, "budget", str(scope)):
        raise _changed(number, "was never opened for its scope")
    return cap_of(opened.body)


def _changed(number: object, what: str) -> LedgerFailure:
    """Return the error for a budget that is not what the ledger wrote."""
    return LedgerFailure(
        "DPA805", f"budget {number!r:.20} {what}. Find the first change with `dpaudit ledger verify` and restore a backup."
    )


def charge_accounts(
    accounts: Sequence[Account], scope: Scope, spending: PrivacyLoss | Guarantee, times: int
) -> tuple[list[Account], dict[str, dict[str, str]]]:
    """Compute accounts after a charge, and its amounts by number of budget; refused where one does not cover it."""
    if not accounts:
        raise LedgerRefusal(
            "DPA811", f"no budget covers {scope}, so nothing may be spent on it. Open one with `dpaudit ledger init`."
        )
    after, amounts = [], {}
    for account in accounts:
        cost = account.cap.cost(spending, times=times)
        total = account.cap.after(account.spent, cost)
        if not account.cap.covers(total):
            raise LedgerRefusal("DPA810", f"{account.scope}: {account.cap.refusal(total)}")
        after.append(replace(account, spent=total))
        amounts[str(account.number)] = account.cap.written(cost)
    return after, amounts


def shares_over_time(account: Account, entries: Iterable[LedgerEntry]) -> list[tuple[int, float]]:
    """Return the share of a budget that is spent after each entry that changed it, of the currency of which most is spent."""
    key, spent, charged = str(account.number), account.cap.nothing, dict[int, Amounts]()
    found = [(account.number, 0.0)]
    for entry in entries:
        amounts = entry.body.get("amounts", {})
        if entry.kind == "cancel" and entry.body["charge"] in charged:
            spent = account.cap.after(spent, tuple(-amount for amount in charged[entry.body["charge"]]))
        elif key in amounts:
            charged[entry.number] = account.cap.read(amounts[key])
            spent = account.cap.after(spent, charged[entry.number])
        else:
            continue
        shares = [amount / limit for amount, limit in zip(spent, account.cap.limits, strict=True) if limit]
        found.append((entry.number, float(max(shares, default=0))))
    return found


def move(connection: sqlite3.Connection, amounts: Mapping[str, Mapping[str, str]], *, sign: int) -> None:
    """Add amounts to totals, or take them back."""
    moved = []
    for account in accounts_of(connection, None):
        if str(account.number) in amounts:
            change = tuple(sign * amount for amount in account.cap.read(dict(amounts[str(account.number)])))
            moved.append(replace(account, spent=account.cap.after(account.spent, change)))
    keep(connection, moved)


def keep(connection: sqlite3.Connection, accounts: Sequence[Account]) -> None:
    """Write totals."""
    connection.executemany(
        "UPDATE budget SET spent = ? WHERE number = ?", [(amounts_text(one.cap, one.spent), one.number) for one in accounts]
    )


def amounts_text(cap: Cap, amounts: Amounts) -> str:
    """Return amounts as text for the file."""
    return json.dumps(cap.written(amounts), sort_keys=True)
