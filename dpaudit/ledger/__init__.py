"""Persistent privacy budgets: durable, shared by programs, exact, and tamper-evident."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.ledger.anchors import Anchor as Anchor
    from dpaudit.ledger.anchors import anchors_of as anchors_of
    from dpaudit.ledger.anchors import compare_with_anchors as compare_with_anchors
    from dpaudit.ledger.anchors import write_anchor as write_anchor
    from dpaudit.ledger.book import Ledger as Ledger
    from dpaudit.ledger.entries import ChainHead as ChainHead
    from dpaudit.ledger.entries import LedgerEntry as LedgerEntry
    from dpaudit.ledger.entries import Receipt as Receipt
    from dpaudit.ledger.entries import Scope as Scope
    from dpaudit.ledger.examination import verify_file as verify_file
    from dpaudit.ledger.handle import LedgerBudget as LedgerBudget
    from dpaudit.ledger.moving import migrate as migrate
    from dpaudit.ledger.overviews import overview as overview
    from dpaudit.ledger.verification import LedgerVerification as LedgerVerification
    from dpaudit.ledger.verification import verify_ledger as verify_ledger

_HOMES: Final = {
    "Anchor": "anchors",
    "anchors_of": "anchors",
    "compare_with_anchors": "anchors",
    "write_anchor": "anchors",
    "migrate": "moving",
    "overview": "overviews",
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
