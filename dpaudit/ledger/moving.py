"""Moving a ledger between a file, a server and an export: the chain goes on, and what is left behind takes no more charges."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.ledger.entries import ChainHead, LedgerEntry, now, printable
from dpaudit.ledger.examination import verify_file
from dpaudit.ledger.places import fill_store, is_server, open_store
from dpaudit.ledger.state import Draft, State
from dpaudit.ledger.tables import VERSION
from dpaudit.ledger.verification import verify_ledger

_EXPORT: Final = ".jsonl"


def migrate(source: str | os.PathLike[str], target: str | os.PathLike[str], *, lost: bool = False) -> ChainHead:
    """Move a ledger to another place, where its chain goes on; at the old place it can only be read from then on.

    The old ledger is closed first. If the move fails after that, call it again with this target or another one: a closed ledger
    is moved as it is. Moved to two places by two calls, the budget would live twice; only anchors would show it.

    Args:
      source: a file, a server's address, or an export (.jsonl) whose last entry closed its ledger.
      target: a file that does not exist, a server without a ledger, or an export to be written, to be moved on from there.
      lost: True to go on from an export of a ledger that was not closed since it is lost; whatever it charged after the export is
        forgotten, and each verification says so.
    Returns:
      The newest entry at the target.
    Raises:
      LedgerFailure: the source is not intact (DPA805), or the target exists (DPA803); either cannot be used (DPA804).
      InvalidArgument: no ledger or export (DPA801), an export of a ledger that was not closed, or `lost` of one that is there
        (DPA106).
    Source: docs/ledger.md, "Moving a ledger".
    Example:
      >>> import tempfile
      >>> from dpaudit.ledger import Ledger
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     first = Ledger.create(f"{folder}/first.ledger")
      ...     _ = migrate(f"{folder}/first.ledger", f"{folder}/second.ledger")
      ...     [entry.kind for entry in Ledger(f"{folder}/second.ledger").entries()]
      ['ledger', 'moved', 'arrived']
    """
    _require_intact(source)
    _require_absent(target)
    if _is_export(source):
        entries = list(read_export(source))
        closed = entries[-1].kind == "moved"
        if closed == lost:
            raise InvalidArgument(
                "DPA106",
                "this export closed its ledger, and nothing is lost."
                if closed
                else "the ledger of this export may still be charged. Move the ledger itself, or say that it is lost.",
            )
    else:
        if lost:
            raise InvalidArgument("DPA106", "only an export can be what is left of a lost ledger.")
        store = open_store(source)
        if store.read(State.newest).kind != "moved":
            store.write(lambda _: [Draft("moved", {"to": "an export" if _is_export(target) else "another place"})], exact=True)
        entries, closed = store.read(lambda state: list(state.entries())), True
    if _is_export(target):
        write_export(target, entries)
        return entries[-1].head
    if VERSION not in {entry.body.get("format") for entry in entries}:  # an old ledger that was lost, and never changed since
        entries.append(LedgerEntry.after(entries[-1], "format", now(), {"format": VERSION}))
    return _settled(target, [*entries, LedgerEntry.after(entries[-1], "arrived", now(), {"closed": closed})])


def write_export(path: str | os.PathLike[str], entries: Iterable[LedgerEntry]) -> None:
    """Write entries as lines of JSON to a new file that only its owner may read."""
    try:
        with open(path, "x", encoding="utf-8", opener=_for_owner) as file:
            file.writelines(json.dumps(entry.to_dict(), sort_keys=True) + "\n" for entry in entries)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InvalidArgument("DPA503", f"{printable(Path(path).name)} cannot be written ({error.strerror}).") from error


def read_export(path: str | os.PathLike[str]) -> Iterator[LedgerEntry]:
    """Yield the entries of an export that was verified."""
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            yield LedgerEntry.from_dict(json.loads(line))


def _settled(target: str | os.PathLike[str], entries: list[LedgerEntry]) -> ChainHead:
    """Fill the target, and return its head."""
    problems = verify_ledger(entries).problems
    if problems:
        raise LedgerFailure("DPA805", f"the ledger would not be intact at its new place: {problems[0]}.")
    store = fill_store(target, entries)
    store.settle(entries[-1])
    return entries[-1].head


def _require_intact(source: str | os.PathLike[str]) -> None:
    """Refuse to move what is not as it was written (DPA805)."""
    problems = verify_file(source).problems
    if problems:
        raise LedgerFailure("DPA805", f"what is not intact is not moved: {problems[0]}. Restore a backup first.")


def _require_absent(target: str | os.PathLike[str]) -> None:
    """Refuse a target that is there (DPA803), before the source is closed."""
    if is_server(target):
        try:
            open_store(target).read(State.name)
        except InvalidArgument:
            return
    elif not Path(target).exists():
        return
    raise LedgerFailure("DPA803", "the target exists already, and a ledger is never overwritten. Choose another place.")


def _is_export(place: str | os.PathLike[str]) -> bool:
    """True for the path of an export."""
    return not is_server(place) and Path(place).suffix == _EXPORT


def _for_owner(path: str, flags: int) -> int:
    """Make a file that only its owner may read, whatever the umask."""
    return os.open(path, flags, 0o600)
