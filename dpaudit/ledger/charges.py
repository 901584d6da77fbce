"""A charge to a ledger: reserved before anything is released, then committed or cancelled; what ran beyond it is charged too."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.budgets.filters import Amounts
from dpaudit.claims import Guarantee
from dpaudit.errors import DpauditError, InvalidArgument, LedgerFailure
from dpaudit.exact import integer
from dpaudit.ledger.accounts import Account, charge_accounts
from dpaudit.ledger.entries import LONGEST_NOTE, LedgerEntry, Receipt, Scope
from dpaudit.ledger.losses import MOST_TIMES, describe_spending, is_compared, write_loss
from dpaudit.ledger.plain import all_left, excess, release_to_dict
from dpaudit.ledger.state import Draft, State, Storage
from dpaudit.releases import Release, Tally


class Charge:
    """A charge whose releases are being made; `receipt` says what was reserved."""

    def __init__(self, store: Storage, receipt: Receipt, tally: Tally, *, has_key: bool) -> None:
        self.receipt, self._has_key = receipt, has_key
        self.cancelled = False
        self._store, self._tally = store, tally

    def cancel(self) -> None:
        """Give the reservation back: nothing was released and nothing will be."""
        if self._has_key:  # before the tally is closed, so that the block can still end as any other
            raise _keeps_key(self.receipt.entry)
        if not self._tally.close_if_empty():
            raise LedgerFailure(
                "DPA806", "this charge cannot be cancelled: noise was drawn under it, and what was released stays paid for."
            )
        _settle(self._store, self.receipt.entry, "cancel", {})
        self.cancelled = True


def reserve(
    store: Storage, ledger: str, kind: str, spending: Any, scope: Scope | str, times: int, note: str, key: str | None
) -> Receipt:
    """Write one durable charge to the ledger of that name, of the kind "reserve" or "spend"; one key is charged once."""
    place, loss = Scope.of(scope), requested_loss(spending)
    _require_text(note, "note", shortest=0)
    count = integer(times, "times", lower=0, upper=MOST_TIMES)
    text = describe_spending(loss, count)
    body: dict[str, Any] = {"scope": str(place), "spending": text, "loss": write_loss(loss), "times": count, "note": note}
    if kind == "reserve":
        body["compared"] = is_compared(loss)
    if key is not None:
        body["key"] = _require_text(key, "key", shortest=1)
    accounts: list[Account] = []
    earlier: LedgerEntry | None = None

    def plan(state: State) -> list[Draft]:
        nonlocal accounts, earlier
        accounts = state.accounts(place)
        earlier = None if key is None else state.charge_of(key)
        if earlier is not None:
            _require_repeatable(state, earlier, kind, body)
            return [Draft("repeat", {"charge": earlier.number})]
        return [Draft(kind, {**body, "amounts": charge_accounts(accounts, place, loss, count)})]

    written = store.write(plan)
    (entry,) = written.entries
    charge = entry if earlier is None or entry.kind != "repeat" else earlier
    paying = [account for account in accounts if str(account.number) in charge.body["amounts"]]
    paid = {str(account.scope): charge.body["amounts"][str(account.number)] for account in paying}
    now = [replace(one, spent=one.cap.read(written.spent.get(one.number, one.cap.written(one.spent)))) for one in paying]
    left = {str(account.scope): account.remaining for account in now}
    return Receipt(ledger, charge.number, place, text, paid, left, entry.head, repeated=charge is not entry)


def _require_text(text: str, name: str, *, shortest: int) -> str:
    """Refuse what is no printable text of a line (DPA105)."""
    if not (isinstance(text, str) and shortest <= len(text) <= LONGEST_NOTE and text.isprintable()):
        got = f"{len(text)} letters, or some that cannot be printed" if isinstance(text, str) else f"a {type(text).__name__}"
        least = "at least 1 and " if shortest else ""
        raise InvalidArgument("DPA105", f"{name} must be printable text of {least}at most {LONGEST_NOTE} letters, got {got}.")
    return text


def _require_repeatable(state: State, earlier: LedgerEntry, kind: str, body: Mapping[str, Any]) -> None:
    """Refuse a second charge under one key that is another charge, or whose block has come to its end (DPA815)."""
    same = (name for name in ("scope", "spending", "loss", "times", "key"))
    if earlier.kind != kind or any(earlier.body.get(name) != body[name] for name in same):
        raise LedgerFailure(
            "DPA815", f"entry {earlier.number} used this key for another charge. Nothing was spent; give each release its own key."
        )
    if kind == "reserve" and not state.is_open(earlier.number):
        raise LedgerFailure(
            "DPA815",
            f"the charge of this key, entry {earlier.number}, has ended: its release was made. Nothing was spent; use the result "
            "of that run, or another key for another release.",
        )


def settle_after_error(store: Storage, receipt: Receipt, tally: Tally) -> None:
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


def commit(store: Storage, receipt: Receipt, ran: Sequence[Release], *, only_beyond: bool = False) -> bool:
    """End an open charge, or do so only if what ran exceeds it; charge the excess, and return whether there is one."""
    accounts, reserved = store.read(lambda state: (state.accounts(receipt.scope), state.entry(receipt.entry)))
    beyond: dict[str, Amounts | None] = {}
    if reserved is not None and reserved.body["compared"]:
        for account in accounts:
            amounts = reserved.body["amounts"].get(str(account.number))
            if amounts is not None:
                beyond[str(account.number)] = excess(account.cap, ran, account.cap.read(amounts))
    over = _is_over(beyond)
    if over or not only_beyond:
        _settle(store, receipt.entry, "commit", {"ran": [release_to_dict(release) for release in ran]}, beyond)
    return over


def _is_over(beyond: Mapping[str, Amounts | None]) -> bool:
    """True if a budget has to pay more than was reserved; None is a release without a price."""
    return any(amounts is None or any(amounts) for amounts in beyond.values())


def _settle(
    store: Storage, number: int, kind: str, body: Mapping[str, Any], beyond: Mapping[str, Amounts | None] = MappingProxyType({})
) -> None:
    """End an open charge; charge what was released beyond it, and all that is left where that has no price (None)."""

    def plan(state: State) -> list[Draft]:
        if not state.is_open(number):
            raise LedgerFailure("DPA806", f"entry {number} is not an open charge: it was committed or cancelled before.")
        reserved = state.entry(number)
        if kind == "cancel" and reserved is not None and "key" in reserved.body:
            raise _keeps_key(number)
        drafts, over = [Draft(kind, {"charge": number, **body})], _over(state, number, beyond)
        return [*drafts, Draft("overrun", {"charge": number, "amounts": over})] if over else drafts

    store.write(plan, exact=_is_over(beyond))


def _keeps_key(number: int) -> LedgerFailure:
    """Return the error for a charge with a key that is to be given back."""
    return LedgerFailure(
        "DPA806", f"entry {number} has a key and stays spent: under it another attempt may have released something."
    )


def _over(state: State, number: int, beyond: Mapping[str, Amounts | None]) -> dict[str, dict[str, str]]:
    """Return, by number of budget, the charge beyond a reservation; the entry states it even where nothing is left to charge."""
    over = {}
    for account in state.accounts_of([int(budget) for budget, amounts in beyond.items() if amounts is None or any(amounts)]):
        amounts = beyond[str(account.number)]
        if amounts is None:
            pending = [account.cap.read(other) for other in state.pending(account.number, but=number)]
            amounts = all_left(account.cap.limits, account.spent, pending)
        over[str(account.number)] = account.cap.written(amounts)
    return over
