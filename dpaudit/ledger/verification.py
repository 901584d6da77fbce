"""Verification: the chain of a ledger recomputed from its first entry, with every total and every price."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dpaudit.errors import InvalidArgument
from dpaudit.exact import instance_of
from dpaudit.ledger.entries import ChainHead, LedgerEntry, printable
from dpaudit.ledger.replay import Replay

UNREAD: Final = "cannot be read"
"""The first words of the only problem of a file that is neither a ledger nor an export."""


@dataclass(frozen=True)
class LedgerVerification:
    """The verdict on a ledger.

    Args:
      entries: how many there are.
      head: the newest; None in a ledger without entries.
      open_charges: entries that reserved and neither committed nor cancelled; they are spent.
      overruns: entries under which more was released than they had reserved; the difference was charged too.
      problems: what is wrong, in the order of the entries; empty where all is well.
      elsewhere: charges whose releases were to be made elsewhere; what ran is not known here.
      unseen: charges whose block ended and whose release log is empty: nothing ran, or it ran where the log does not see it.
      uncompared: charges that count on sampling or a random order, so that what ran was not compared with them.
      taken: charges of an old ledger that keep no loss, whose amounts were taken as they are written.
      repeated: charges whose block began again under their key; what an attempt before showed to anybody is not paid for.
      restored: entries with which the ledger goes on from a copy of one that was not closed; later charges there are unknown.
    Source: docs/ledger.md, "What the chain shows".
    Example:
      >>> verify_ledger([]).problems
      ('there are no entries',)
    """

    entries: int
    head: ChainHead | None
    open_charges: tuple[int, ...]
    overruns: tuple[int, ...]
    problems: tuple[str, ...]
    elsewhere: tuple[int, ...] = ()
    unseen: tuple[int, ...] = ()
    uncompared: tuple[int, ...] = ()
    taken: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    restored: tuple[int, ...] = ()

    @property
    def is_read(self) -> bool:
        """True if there was a ledger to verify; where there was none, the first problem says why."""
        return not (self.problems and self.problems[0].startswith(UNREAD))


def verify_ledger(
    entries: Iterable[LedgerEntry],
    *,
    head: ChainHead | str | None = None,
    totals: Mapping[int, Mapping[str, str]] | None = None,
    pending: Collection[int] | None = None,
    damage: Sequence[str] = (),
) -> LedgerVerification:
    """Verify the hash chain, the content of each entry, and every total, from the first entry on.

    Args:
      entries: of a ledger or of its export, the oldest first.
      head: of an earlier receipt or copy; that entry must be there, unchanged.
      totals: what the ledger holds as spent, by number of budget; None where there is only an export.
      pending: what the ledger holds as open charges; None where there is only an export.
      damage: what SQLite says of the file.
    Returns:
      The verdict.
    Raises:
      InvalidArgument: no head (DPA105).
    Source: docs/ledger.md, "What the chain shows".
    Example:
      >>> first = LedgerEntry.after(None, "ledger", "2026-01-01T00:00:00Z", {"name": "0f", "format": 1})
      >>> changed = LedgerEntry.after(None, "ledger", "2026-01-01T00:00:00Z", {"name": "0e", "format": 1})
      >>> verify_ledger([changed], head=first.head).problems
      ('entry 1 is not the one of the given head: the ledger was cut, changed or replaced',)
    """
    instance_of(damage, Sequence, "damage")
    pending = None if pending is None else instance_of(pending, Collection, "pending")
    totals = None if totals is None else instance_of(totals, Mapping, "totals")
    items = (instance_of(entry, LedgerEntry, "each of entries") for entry in _iterator(entries))
    known = [f"SQLite finds damage: {text}" for text in damage]
    return verify_entries(items, head=head, totals=totals, pending=pending, problems=known)


def verify_entries(
    items: Iterable[LedgerEntry | str],
    *,
    head: ChainHead | str | None,
    totals: Mapping[int, Mapping[str, str]] | None = None,
    pending: Collection[object] | None = None,
    keys: Mapping[str, object] | None = None,
    problems: Sequence[str] = (),
) -> LedgerVerification:
    """Verify entries, or problems in place of those that cannot be read; problems known before come first."""
    replay, last, wanted = Replay(), None, None if head is None else ChainHead.of(head)
    found, met, count = [*problems], wanted is None, 0
    for entry in items:
        count += 1
        if isinstance(entry, str):
            found.append(entry)
            last = None
            continue
        if not _continues(entry, last):
            found.append(f"entry {entry.number!r:.20} does not continue the chain: it or the one before it was changed")
        found += replay.read(entry)
        met = met or entry.head == wanted
        last = entry
    if not count:
        found.append("there are no entries")
    if not met and wanted is not None:
        found.append(f"entry {wanted.number} is not the one of the given head: the ledger was cut, changed or replaced")
    if totals is not None:
        found += replay.differing_totals(totals)
    if pending is not None and set(map(repr, pending)) != set(map(repr, replay.open)):
        found.append("the open charges of the file are not those of its entries")
    if keys is not None and dict(keys) != replay.keys:
        found.append("the keys of the file are not those of its entries")
    found += [f"entry {number} released more than it reserved, and that was never charged" for number in sorted(replay.owed)]
    number, newest = (count, None) if last is None else (last.number, last.head)
    return LedgerVerification(
        number,
        newest,
        tuple(sorted(replay.open)),
        tuple(replay.overruns),
        tuple(map(printable, found)),
        tuple(replay.elsewhere),
        tuple(replay.unseen),
        tuple(replay.uncompared),
        tuple(replay.taken),
        tuple(replay.repeated),
        tuple(replay.restored),
    )


def _iterator(entries: Iterable[LedgerEntry]) -> Iterator[LedgerEntry]:
    """Return an iterator over the entries, refused where there is none."""
    try:
        return iter(entries)
    except TypeError as error:
        raise InvalidArgument("DPA105", f"entries must be an iterable of LedgerEntry, got a {type(entries).__name__}.") from error


def _continues(entry: LedgerEntry, last: LedgerEntry | None) -> bool:
    """True if an entry follows the one before it; False for one whose hash cannot be computed."""
    try:
        return entry.follows(last)
    except Exception:  # noqa: BLE001 - whatever it holds, a verdict is given
        return False
