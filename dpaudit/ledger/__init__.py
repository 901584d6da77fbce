"""A privacy budget that outlives the process: durable, shared by programs, exact, and impossible to change unseen."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dpaudit.ledger.book import Ledger as Ledger
    from dpaudit.ledger.entries import Entry as Entry
    from dpaudit.ledger.entries import Head as Head
    from dpaudit.ledger.entries import Receipt as Receipt
    from dpaudit.ledger.entries import Scope as Scope
    from dpaudit.ledger.handle import LedgerBudget as LedgerBudget
    from dpaudit.ledger.verification import Verification as Verification
    from dpaudit.ledger.verification import verify as verify

_HOMES: Final = {
    "Entry": "entries",
    "Head": "entries",
    "Ledger": "book",
    "LedgerBudget": "handle",
    "Receipt": "entries",
    "Scope": "entries",
    "Verification": "verification",
    "verify": "verification",
}

__all__ = [*sorted(_HOMES)]


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dpaudit.ledger' has no attribute {name!r}")
    value = getattr(import_module(f"dpaudit.ledger.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, loaded or not."""
    return sorted(__all__)
