"""Persistent privacy budgets: durable, shared by programs, exact, and tamper-evident."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.ledger.book import Ledger as Ledger
    from dpaudit.ledger.entries import ChainHead as ChainHead
    from dpaudit.ledger.entries import LedgerEntry as LedgerEntry
    from dpaudit.ledger.entries import Receipt as Receipt
    from dpaudit.ledger.entries import Scope as Scope
    from dpaudit.ledger.examination import verify_file as verify_file
    from dpaudit.ledger.handle import LedgerBudget as LedgerBudget
    from dpaudit.ledger.verification import LedgerVerification as LedgerVerification
    from dpaudit.ledger.verification import verify_ledger as verify_ledger

_HOMES: Final = {
    "LedgerEntry": "entries",
    "ChainHead": "entries",
    "Ledger": "book",
    "LedgerBudget": "handle",
    "Receipt": "entries",
    "Scope": "entries",
    "LedgerVerification": "verification",
    "verify_ledger": "verification",
    "verify_file": "examination",
}

__all__ = [*sorted(_HOMES)]

__getattr__, __dir__ = lazily(__name__, _HOMES)
