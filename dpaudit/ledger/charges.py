"""A charge to a ledger: reserved before anything is released, then committed or cancelled; what ran beyond it is charged too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.laws.allocation import Allocated
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.random_order import Ordered
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.claims import Guarantee
from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.exact import integer
from dpaudit.ledger.accounts import accounts_of, charged, keep, move
from dpaudit.ledger.entries import LONGEST_NOTE, Receipt, Scope
from dpaudit.ledger.plain import excess, release_to_dict
from dpaudit.ledger.store import Store, append, entry_of
from dpaudit.releases import Release


class Charge:
    """A charge whose releases are being made; `receipt` says what was reserved."""

    def __init__(self, store: Store, receipt: Receipt, log: Sequence[Release]) -> None:
        self.receipt = receipt
        self.cancelled = False
        self._store, self._log = store, log

    def cancel(self) -> None:
        """Give the reservation back: nothing was released and nothing will be.

        Returns:
          Nothing; the amounts are as if nothing had been reserved.
        Raises:
          LedgerFailure: a release was logged inside the block, so that there is something to pay for, or the charge was cancelled
            before (DPA806), or the file cannot be used (DPA804, DPA805).
        Source: docs/ledger.md, "Charges".
        Example:
          >>> import tempfile
          >>> from dpaudit import PureDP
          >>> from dpaudit.ledger import Ledger
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     ledger = Ledger.create(f"{folder}/budget.ledger")
          ...     _ = ledger.open_budget("survey/person", PureDP(epsilon=1))
          ...     with ledger.charge(PureDP(epsilon=1), scope="survey/person/report") as charge:
          ...         charge.cancel()
          ...     ledger.remaining("survey/person")
          {'survey/person': {'epsilon': '1'}}
        """
        if self._log:
            raise LedgerFailure("DPA806", "noise was drawn under this charge; what was released stays paid for.")
        _settle(self._store, self.receipt.entry, "cancel", {})
        self.cancelled = True


def reserve(store: Store, ledger: str, kind: str, spending: Any, scope: Scope | str, times: int, note: str) -> Receipt:
    """One durable charge to the ledger of that name, of the kind "reserve" or "spend"."""
    place, loss = Scope.of(scope), asked(spending)
    if not (isinstance(note, str) and len(note) <= LONGEST_NOTE and note.isprintable()):
        got = f"{len(note)} letters, or some that cannot be printed" if isinstance(note, str) else f"a {type(note).__name__}"
        raise InvalidArgument("DPA105", f"note must be printable text of at most {LONGEST_NOTE} letters, got {got}.")
    with store.writing() as connection:
        after, amounts = charged(accounts_of(connection, place), place, loss, times)
        text = _described(loss, times)
        body = {"scope": str(place), "spending": text, "amounts": amounts, "note": note}
        entry = append(connection, kind, body if kind == "spend" else {**body, "compared": not _amplified(loss)})
        keep(connection, after)
        if kind == "reserve":
            connection.execute("INSERT INTO open_charge VALUES (?)", (entry.number,))
    paid = {str(account.scope): amounts[str(account.number)] for account in after}
    left = {str(account.scope): account.remaining for account in after}
    return Receipt(ledger, entry.number, place, text, paid, left, entry.head)


def commit(store: Store, receipt: Receipt, log: Sequence[Release]) -> None:
    """Write down what ran; charge what was not reserved, and say so."""
    over = _overrun(store, receipt, log)
    _settle(store, receipt.entry, "commit", {"ran": [release_to_dict(release) for release in log]}, over)
    if over:
        raise LedgerFailure(
            "DPA807",
            f"what was released under entry {receipt.entry} costs more than was reserved; the difference was charged as well. "
            "Reserve the loss of everything that the block releases.",
        )


def asked(spending: Any) -> PrivacyLoss | Guarantee:
    """A loss or a guarantee; a mechanism or a record has a loss."""
    loss = spending if isinstance(spending, (PrivacyLoss, Guarantee)) else getattr(spending, "loss", None)
    if not isinstance(loss, (PrivacyLoss, Guarantee)):
        kind = type(spending).__name__
        raise InvalidArgument("DPA105", f"a budget is spent by a privacy loss, a guarantee or a mechanism, got a {kind}.")
    return loss


def _overrun(store: Store, receipt: Receipt, log: Sequence[Release]) -> dict[str, dict[str, str]]:
    """By number of budget: what ran beyond what was reserved; all that is left where what ran has no price."""
    with store.reading() as connection:
        accounts, reserved = accounts_of(connection, receipt.scope), entry_of(connection, receipt.entry)
    if reserved is None or not reserved.body["compared"]:
        return {}
    over = {}
    for account in accounts:
        amounts = reserved.body["amounts"].get(str(account.number))
        beyond = account.cap.nothing if amounts is None else excess(account.cap, log, account.cap.read(amounts))
        beyond = account.left if beyond is None else beyond
        if any(beyond):
            over[str(account.number)] = account.cap.written(beyond)
    return over


def _settle(
    store: Store, number: int, kind: str, body: Mapping[str, Any], over: Mapping[str, Mapping[str, str]] | None = None
) -> None:
    """End an open charge."""
    with store.writing() as connection:
        if not connection.execute("DELETE FROM open_charge WHERE number = ?", (number,)).rowcount:
            raise LedgerFailure("DPA806", f"entry {number} is no open charge; it was committed or cancelled before.")
        append(connection, kind, {"charge": number, **body})
        reserved = entry_of(connection, number)
        if kind == "cancel" and reserved is not None:
            move(connection, reserved.body["amounts"], sign=-1)
        if over:
            append(connection, "overrun", {"charge": number, "amounts": over})
            move(connection, over, sign=1)


def _amplified(loss: PrivacyLoss | Guarantee) -> bool:
    """Whether the loss counts on chance beside the noise, of which a release log knows nothing."""
    chance = (Allocated, Between, Ordered, Sampled, Swapped)
    return isinstance(loss, PrivacyLoss) and any(isinstance(law, chance) for law, _ in loss.parts)


def _described(loss: PrivacyLoss | Guarantee, times: int) -> str:
    """What was charged, in words of the accounting."""
    text = loss.describe() if isinstance(loss, PrivacyLoss) else str(loss)
    count = integer(times, "times", lower=0)
    return text if count == 1 else f"{count} * {text}"
