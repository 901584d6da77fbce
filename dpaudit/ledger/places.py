"""Where ledgers are: a path is an SQLite file, postgresql://... a server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from dpaudit.errors import InvalidArgument
from dpaudit.extras import require
from dpaudit.ledger.entries import LedgerEntry
from dpaudit.ledger.state import Storage
from dpaudit.ledger.store import Store

_SCHEMES: Final = ("postgresql://", "postgres://")


def open_store(place: str | os.PathLike[str]) -> Storage:
    """Return the storage at a place, which is opened when it is needed."""
    if is_server(place):
        require("postgres")
        from dpaudit.ledger.postgres import PostgresStore

        return PostgresStore(str(place))
    return Store(place)


def fill_store(place: str | os.PathLike[str], entries: Iterable[LedgerEntry]) -> Storage:
    """Make a ledger of a whole chain of entries; DPA803 where there is one already."""
    if is_server(place):
        require("postgres")
        from dpaudit.ledger.postgres import PostgresStore

        return PostgresStore.fill(str(place), entries)
    return Store.fill(place, entries)


def is_server(place: str | os.PathLike[str]) -> bool:
    """True for the address of a server; DPA801 for one of another kind, whose text may hold a password."""
    if not isinstance(place, str) or place.startswith(_SCHEMES):
        return isinstance(place, str)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", place)
    if scheme:
        raise InvalidArgument(
            "DPA801", f"a ledger is the path of a file or postgresql://USER@HOST/DATABASE, got an address of {scheme[1][:20]}."
        )
    return False
