"""Accounts: the current state of each budget of a ledger, the effect of a charge on it, and its row in the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.budgets.filters import Amounts, Cap
from dpaudit.claims import Guarantee
from dpaudit.errors import LedgerFailure, LedgerRefusal
from dpaudit.ledger.entries import LedgerEntry, Scope, entry_from_row
from dpaudit.ledger.plain import cap_of


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

    def after(self, amounts: Mapping[str, str], *, sign: int = 1) -> Account:
        """Return the account after amounts are charged, or given back."""
        change = tuple(sign * amount for amount in self.cap.read(dict(amounts)))
        return replace(self, spent=self.cap.after(self.spent, change))


def read_account(row: tuple[Any, ...]) -> Account:
    """Read one budget from its row, with the row of its entry and the hash before that; DPA805 where one of them was changed."""
    number, dataset, unit, purpose, spent, *rest = row
    try:
        scope = Scope(dataset, unit, purpose or None)
        cap = _cap(number, scope, tuple(rest))
        return Account(number, scope, cap, cap.read(json.loads(spent)))
    except LedgerFailure:
        raise
    except Exception as error:  # whatever the database holds there
        raise _changed(number, "cannot be read") from error


@lru_cache(maxsize=256)
def _cap(number: int, scope: Scope, row: tuple[Any, ...]) -> Cap:
    """Read the cap of a budget from its entry, whose hash is checked against the one before; cached, as every charge asks."""
    *opening, before = row
    opened = entry_from_row(tuple(opening))
    if not opened.continues(before):
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
) -> dict[str, dict[str, str]]:
    """Compute the amounts of a charge by number of budget; refused where one does not cover it."""
    if not accounts:
        raise LedgerRefusal(
            "DPA811", f"no budget covers {scope}, so nothing may be spent on it. Open one with `dpaudit ledger init`."
        )
    amounts = {}
    for account in accounts:
        cost = account.cap.cost(spending, times=times)
        total = account.cap.after(account.spent, cost)
        if not account.cap.covers(total):
            raise LedgerRefusal("DPA810", f"{account.scope}: {account.cap.refusal(total)}")
        amounts[str(account.number)] = account.cap.written(cost)
    return amounts


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
