"""A charge to a ledger: reserved before anything is released, then committed or cancelled; what ran beyond it is charged too."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.budgets.filters import Amounts
from dpaudit.claims import Guarantee
from dpaudit.errors import DpauditError, InvalidArgument, LedgerFailure
from dpaudit.exact import integer
from dpaudit.ledger.accounts import Account, accounts_of, charge_accounts, keep, move
from dpaudit.ledger.entries import LONGEST_NOTE, LedgerEntry, Receipt, Scope
from dpaudit.ledger.losses import MOST_TIMES, describe_spending, is_compared, write_loss
from dpaudit.ledger.plain import all_left, excess, release_to_dict
from dpaudit.ledger.store import Store, append, entry_of, open_charges
from dpaudit.releases import Release, Tally


class Charge:
    """A charge whose releases are being made; `receipt` says what was reserved."""

    def __init__(self, store: Store, receipt: Receipt, tally: Tally) -> None:
        self.receipt = receipt
        self.cancelled = False
        self._store, self._tally = store, tally

    def cancel(self) -> None:
        """Give the reservation back: nothing was released and nothing will be."""
        if not self._tally.close_if_empty():
            raise LedgerFailure(
                "DPA806", "this charge cannot be cancelled: noise was drawn under it, and what was released stays paid for."
            )
        _settle(self._store, self.receipt.entry, "cancel", {})
        self.cancelled = True


def reserve(store: Store, ledger: str, kind: str, spending: Any, scope: Scope | str, times: int, note: str) -> Receipt:
    """Write one durable charge to the ledger of that name, of the kind "reserve" or "spend"."""
    place, loss = Scope.of(scope), requested_loss(spending)
    if not (isinstance(note, str) and len(note) <= LONGEST_NOTE and note.isprintable()):
        got = f"{len(note)} letters, or some that cannot be printed" if isinstance(note, str) else f"a {type(note).__name__}"
        raise InvalidArgument("DPA105", f"note must be printable text of at most {LONGEST_NOTE} letters, got {got}.")
    count = integer(times, "times", lower=0, upper=MOST_TIMES)
    text = describe_spending(loss, count)
    said = {"scope": str(place), "spending": text, "loss": write_loss(loss), "times": count, "note": note}
    body = said if kind == "spend" else {**said, "compared": is_compared(loss)}

    def change(connection: sqlite3.Connection) -> tuple[LedgerEntry, list[Account], dict[str, dict[str, str]]]:
        after, amounts = charge_accounts(accounts_of(connection, place), place, loss, count)
        entry = append(connection, kind, {**body, "amounts": amounts})
        keep(connection, after)
        if kind == "reserve":
            connection.execute("INSERT INTO open_charge VALUES (?)", (entry.number,))
        return entry, after, amounts

    entry, after, amounts = store.write(change)
    paid = {str(account.scope): amounts[str(account.number)] for account in after}
    left = {str(account.scope): account.remaining for account in after}
    return Receipt(ledger, entry.number, place, text, paid, left, entry.head)


def settle_after_error(store: Store, receipt: Receipt, tally: Tally) -> None:
    """Charge what an interrupted block released beyond its reservation; where there is nothing beyond, the charge stays open."""
    ran, error = tally.close(), sys.exception()
    if not ran or tally.process != os.getpid():
        return
    remark = ""
    try:
        if commit(store, receipt, ran, only_beyond=True):
            remark = f"What was released under entry {receipt.entry} costs more than was reserved, and was charged (DPA807)."
    except DpauditError as failure:
        if failure.code != "DPA806":  # the error came after the charge had ended
            remark = f"What was released under entry {receipt.entry} could not be compared with its charge: {failure}"
    if remark and error is not None:
        error.add_note(remark)


def requested_loss(spending: Any) -> PrivacyLoss | Guarantee:
    """Return the loss or guarantee that is to be charged; a mechanism or a record has a loss."""
    loss = spending if isinstance(spending, (PrivacyLoss, Guarantee)) else getattr(spending, "loss", None)
    if not isinstance(loss, (PrivacyLoss, Guarantee)):
        kind = type(spending).__name__
        raise InvalidArgument(
            "DPA105", f"spending must be a privacy loss, a guarantee, or an object that has a `loss`, got a {kind}."
        )
    return loss


def commit(store: Store, receipt: Receipt, ran: Sequence[Release], *, only_beyond: bool = False) -> bool:
    """End an open charge, or do so only if what ran exceeds it; charge the excess, and return whether there is one."""
    accounts, reserved = store.read(
        lambda connection: (accounts_of(connection, receipt.scope), entry_of(connection, receipt.entry))
    )
    beyond: dict[str, Amounts | None] = {}
    if reserved is not None and reserved.body["compared"]:
        for account in accounts:
            amounts = reserved.body["amounts"].get(str(account.number))
            if amounts is not None:
                beyond[str(account.number)] = excess(account.cap, ran, account.cap.read(amounts))
    over = any(amounts is None or any(amounts) for amounts in beyond.values())
    if over or not only_beyond:
        _settle(store, receipt.entry, "commit", {"ran": [release_to_dict(release) for release in ran]}, beyond)
    return over


def _settle(
    store: Store, number: int, kind: str, body: Mapping[str, Any], beyond: Mapping[str, Amounts | None] | None = None
) -> None:
    """End an open charge; charge what was released beyond it, and all that is left where that has no price (None)."""

    def change(connection: sqlite3.Connection) -> None:
        if not connection.execute("DELETE FROM open_charge WHERE number = ?", (number,)).rowcount:
            raise LedgerFailure("DPA806", f"entry {number} is not an open charge: it was committed or cancelled before.")
        append(connection, kind, {"charge": number, **body})
        reserved = entry_of(connection, number)
        if kind == "cancel" and reserved is not None:
            move(connection, reserved.body["amounts"], sign=-1)
        over = _over(connection, beyond or {})
        if over:
            append(connection, "overrun", {"charge": number, "amounts": over})
            move(connection, over, sign=1)

    store.write(change)


def _over(connection: sqlite3.Connection, beyond: Mapping[str, Amounts | None]) -> dict[str, dict[str, str]]:
    """Return, by number of budget, the charge beyond a reservation; the entry states it even where nothing is left to charge."""
    over = {}
    for account in accounts_of(connection, None):
        amounts = beyond.get(str(account.number), account.cap.nothing)
        if amounts is None or any(amounts):
            if amounts is None:
                amounts = all_left(account.cap.limits, account.spent, _pending(connection, account))
            over[str(account.number)] = account.cap.written(amounts)
    return over


def _pending(connection: sqlite3.Connection, account: Account) -> list[Amounts]:
    """Return the amounts that open charges could still give back to a budget."""
    found = []
    for number in open_charges(connection):
        reserved = entry_of(connection, number)
        amounts = None if reserved is None else reserved.body["amounts"].get(str(account.number))
        if amounts is not None:
            found.append(account.cap.read(amounts))
    return found
