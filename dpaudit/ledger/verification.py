"""Verification: the chain of a ledger recomputed from its first entry, with every total and every price."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.accounting.filters import Amounts, Cap
from dpaudit.claims import ApproxDP
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.exact import instance_of
from dpaudit.ledger.entries import KINDS, Entry, Head, Scope
from dpaudit.ledger.plain import adjacency_from_dict, cap_of, excess
from dpaudit.releases import Release


@dataclass(frozen=True)
class Verification:
    """What was found in a ledger.

    Args:
      entries: how many there are.
      head: the newest; None in a ledger without entries.
      open_charges: entries that reserved and neither committed nor cancelled; they are spent.
      overruns: entries under which more was released than they had reserved; the difference was charged too.
      problems: what is wrong, in the order of the entries; empty where all is well.
    Source: docs/ledger.md, "What the chain shows".
    Example:
      >>> verify([]).problems
      ('there are no entries',)
    """

    entries: int
    head: Head | None
    open_charges: tuple[int, ...]
    overruns: tuple[int, ...]
    problems: tuple[str, ...]


def verify(
    entries: Iterable[Entry],
    *,
    head: Head | str | None = None,
    totals: Mapping[int, Mapping[str, str]] | None = None,
    pending: Collection[int] | None = None,
    damage: Sequence[str] = (),
) -> Verification:
    """Check the chain of hashes, what each entry says, and every total, from the first entry on.

    Args:
      entries: of a ledger or of its export, the oldest first.
      head: of an earlier receipt or copy; that entry must be there, unchanged.
      totals: what the ledger holds as spent, by number of budget; None where there is only an export.
      pending: what the ledger holds as open charges; None where there is only an export.
      damage: what SQLite says of the file.
    Returns:
      What was found.
    Raises:
      InvalidArgument: no head (DPA105).
    Source: docs/ledger.md, "What the chain shows".
    Example:
      >>> first = Entry.after(None, "ledger", "2026-01-01T00:00:00Z", {"name": "0f", "format": 1})
      >>> changed = Entry.after(None, "ledger", "2026-01-01T00:00:00Z", {"name": "0e", "format": 1})
      >>> verify([changed], head=first.head).problems
      ('entry 1 is not the one of the given head: the ledger was cut, changed or replaced',)
    """
    replay, last, wanted = _Replay(), None, None if head is None else Head.of(head)
    problems = [f"SQLite finds damage: {text}" for text in instance_of(damage, Sequence, "damage")]
    met = wanted is None
    for entry in _iterator(entries):
        if not instance_of(entry, Entry, "each of entries").follows(last):
            problems.append(f"entry {entry.number} does not continue the chain: it or the one before it was changed")
        problems += replay.read(entry)
        met = met or entry.head == wanted
        last = entry
    if last is None:
        problems.append("there are no entries")
    if not met and wanted is not None:
        problems.append(f"entry {wanted.number} is not the one of the given head: the ledger was cut, changed or replaced")
    if totals is not None:
        problems += replay.compared(instance_of(totals, Mapping, "totals"))
    if pending is not None and set(instance_of(pending, Collection, "pending")) != set(replay.open):
        problems.append("the open charges of the file are not those of its entries")
    problems += [f"entry {number} released more than it reserved, and that was never charged" for number in sorted(replay.owed)]
    number, newest = (0, None) if last is None else (last.number, last.head)
    return Verification(number, newest, tuple(sorted(replay.open)), tuple(replay.overruns), tuple(problems))


def _iterator(entries: Iterable[Entry]) -> Iterator[Entry]:
    """What goes through the entries, refused where nothing can."""
    try:
        return iter(entries)
    except TypeError as error:
        raise InvalidArgument("DPA105", f"entries must be entries one after the other, got a {type(entries).__name__}.") from error


@dataclass
class _Replay:
    """Totals as the entries give them."""

    caps: dict[int, Cap] = field(default_factory=dict)
    scopes: dict[int, Scope] = field(default_factory=dict)
    spent: dict[int, Amounts] = field(default_factory=dict)
    open: dict[int, Entry] = field(default_factory=dict)
    owed: set[int] = field(default_factory=set)
    overruns: list[int] = field(default_factory=list)

    def read(self, entry: Entry) -> list[str]:
        """Take in one entry; what is wrong with it."""
        try:
            found = self._problem(entry)
        except (DpauditError, ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            found = f"cannot be read ({type(error).__name__})"
        return [] if found is None else [f"entry {entry.number} {found}"]

    def _problem(self, entry: Entry) -> str | None:
        """What is wrong with an entry, None for nothing."""
        body = entry.body
        if (entry.kind == "ledger") != (entry.number == 1) or entry.kind not in KINDS:
            return f"is of kind {entry.kind!r}, which does not belong there"
        if entry.kind == "budget":
            return self._opened(entry)
        if entry.kind in {"spend", "reserve"}:
            return self._charged(entry)
        if entry.kind in {"commit", "cancel"}:
            charge = self.open.pop(body["charge"], None)
            if charge is None:
                return "ends a charge that is not open"
            if entry.kind == "cancel":
                self._move(charge.body["amounts"], sign=-1)
                return None
            self._ran(charge, body["ran"])
        if entry.kind == "overrun":
            self._move(body["amounts"], sign=1)
            self.owed.discard(body["charge"])
            self.overruns.append(body["charge"])
        return None

    def _opened(self, entry: Entry) -> str | None:
        """A budget: its limits must not be larger than its guarantee allows."""
        scope, cap = Scope.of(entry.body["scope"]), cap_of(entry.body)
        if scope in self.scopes.values():
            return "opens a second budget for its scope"
        self.caps[entry.number], self.scopes[entry.number], self.spent[entry.number] = cap, scope, cap.nothing
        slack = cap.guarantee.delta - cap.limits[1] if isinstance(cap.guarantee, ApproxDP) else None  # type: ignore[operator]
        allowed = Cap.of(cap.guarantee, adjacency=cap.adjacency, slack=slack)
        return None if allowed.covers(cap.limits) else "allows more than its guarantee"

    def _charged(self, entry: Entry) -> str | None:
        """A charge: every budget of its scope pays, and covers it."""
        scope, amounts = Scope.of(entry.body["scope"]), entry.body["amounts"]
        paying = {str(number) for number, other in self.scopes.items() if other.covers(scope)}
        self._move(amounts, sign=1)
        if entry.kind == "reserve":
            self.open[entry.number] = entry
        if paying != set(amounts):
            return "is not paid for by the budgets of its scope"
        over = [str(self.scopes[int(number)]) for number in amounts if not self.caps[int(number)].covers(self.spent[int(number)])]
        return f"passes the budget of {over[0]}" if over else None

    def _ran(self, charge: Entry, ran: Sequence[Mapping[str, Any]]) -> None:
        """What ran must cost what was reserved, or be followed by what it cost beyond."""
        for number, amounts in charge.body["amounts"].items():
            cap = self.caps[int(number)]
            releases = [Release.from_dict(values, adjacency_from_dict(values["adjacency"])) for values in ran]
            if charge.body["compared"] and excess(cap, releases, cap.read(amounts)) != cap.nothing:
                self.owed.add(charge.number)

    def _move(self, amounts: Mapping[str, Mapping[str, str]], *, sign: int) -> None:
        """Add amounts to totals, or take them back."""
        for number, text in amounts.items():
            cap = self.caps[int(number)]
            change = tuple(sign * amount for amount in cap.read(text))
            self.spent[int(number)] = cap.after(self.spent[int(number)], change)

    def compared(self, totals: Mapping[int, Mapping[str, str]]) -> list[str]:
        """Totals that differ from those of the file."""
        ours = {number: self.caps[number].written(spent) for number, spent in self.spent.items()}
        if set(ours) != set(totals):
            return ["the budgets of the file are not those of its entries"]
        return [
            f"the total of {self.scopes[number]} is not the sum of its entries"
            for number in ours
            if ours[number] != dict(totals[number])
        ]
