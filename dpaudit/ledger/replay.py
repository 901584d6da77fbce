"""Replay: totals recomputed from the entries of a ledger, one after the other, and the problem of each entry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from json import loads
from typing import Final

from dpaudit.accounting import PrivacyLoss
from dpaudit.accounting.budgets.filters import Amounts, Cap
from dpaudit.claims import ApproxDP, Guarantee
from dpaudit.exact import integer
from dpaudit.ledger.entries import KINDS, LedgerEntry, Scope, canonical
from dpaudit.ledger.losses import MOST_TIMES, describe_spending, is_compared, spending_from_dict
from dpaudit.ledger.plain import adjacency_from_dict, all_left, cap_of, excess
from dpaudit.ledger.tables import VERSIONS
from dpaudit.releases import Release

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_KEEPS_LOSSES: Final = 2
"""The first format whose charges keep their loss."""

_HAS_KEYS: Final = 3
"""The first format whose charges may have keys, and whose ledgers may be moved."""


@dataclass(frozen=True)
class _Owed:
    """The charge that the overrun after a commit must make: by number of budget, None for all that is left."""

    after: int
    beyond: Mapping[str, Amounts | None]
    format: int


@dataclass
class Replay:
    """The totals that follow from the entries read so far."""

    format: int = 0
    caps: dict[int, Cap] = field(default_factory=dict)
    scopes: dict[int, Scope] = field(default_factory=dict)
    spent: dict[int, Amounts] = field(default_factory=dict)
    open: dict[int, LedgerEntry] = field(default_factory=dict)
    owed: dict[int, _Owed] = field(default_factory=dict)
    overruns: list[int] = field(default_factory=list)
    elsewhere: list[int] = field(default_factory=list)
    unseen: list[int] = field(default_factory=list)
    uncompared: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)
    repeated: list[int] = field(default_factory=list)
    restored: list[int] = field(default_factory=list)
    moved: bool = False

    def read(self, entry: LedgerEntry) -> list[str]:
        """Read one entry and return its problems."""
        try:
            found = self._problem(entry)
        except Exception as error:  # noqa: BLE001 - whatever it holds, a verdict is given
            found = f"cannot be read ({type(error).__name__})"
        return [] if found is None else [f"entry {entry.number!r:.20} {found}"]

    def _problem(self, entry: LedgerEntry) -> str | None:
        """Return the problem of an entry, None where there is none."""
        if (entry.kind == "ledger") != (entry.number == 1) or entry.kind not in KINDS:
            return f"is of kind {entry.kind!r:.40}, which does not belong there"
        if not _TIME.fullmatch(entry.time):
            return "has no valid time"
        if entry.kind in {"repeat", "moved", "arrived"} and self.format < _HAS_KEYS:
            return "is of a kind that the format of the ledger does not have"
        was_moved, self.moved = self.moved, entry.kind == "moved"
        if was_moved != (entry.kind == "arrived") and (was_moved or entry.body["closed"]):
            return "was written where the ledger no longer was, or says that it had been moved"
        read = {
            "ledger": self._read_start,
            "format": self._read_start,
            "budget": self._read_budget,
            "spend": self._read_charge,
            "reserve": self._read_charge,
            "repeat": self._read_repeat,
            "commit": self._read_end,
            "cancel": self._read_end,
            "overrun": self._read_overrun,
            "moved": lambda _: None,
            "arrived": self._read_arrival,
        }
        return read[entry.kind](entry)

    def _read_start(self, entry: LedgerEntry) -> str | None:
        """Read the first entry, or one from which a newer format holds."""
        before, self.format = self.format, integer(entry.body["format"], "format")
        if self.format not in VERSIONS or self.format <= before:
            return "states an unknown or an older format"
        return None if entry.kind == "format" or isinstance(entry.body["name"], str) else "names no ledger"

    def _read_budget(self, entry: LedgerEntry) -> str | None:
        """Read a budget; its limits must not be larger than its guarantee allows."""
        scope, cap = Scope.of(entry.body["scope"]), cap_of(entry.body)
        if scope in self.scopes.values():
            return "opens a second budget for its scope"
        self.caps[entry.number], self.scopes[entry.number], self.spent[entry.number] = cap, scope, cap.nothing
        slack = cap.guarantee.delta - cap.limits[1] if isinstance(cap.guarantee, ApproxDP) else None  # type: ignore[operator]
        allowed = Cap.of(cap.guarantee, adjacency=cap.adjacency, slack=slack)
        return None if allowed.covers(cap.limits) else "allows more than its guarantee"

    def _read_charge(self, entry: LedgerEntry) -> str | None:
        """Read a charge; every budget of its scope must pay what its loss costs, and cover it."""
        body = entry.body
        scope, amounts = Scope.of(body["scope"]), body["amounts"]
        paying = {str(number) for number, other in self.scopes.items() if other.covers(scope)}
        self._move(amounts, sign=1)
        if entry.kind == "reserve":
            self.open[entry.number] = entry
        else:
            self.elsewhere.append(entry.number)
        repeats = "key" in body and self.keys.setdefault(str(body["key"]), entry.number) != entry.number
        if repeats or ("key" in body and self.format < _HAS_KEYS):
            return "has a key that another charge has, or that its format does not know"
        if not body["note"].isprintable() or not body["spending"].isprintable():
            return "has a text that cannot be printed"
        if paying != set(amounts):
            return "is not paid for by the budgets of its scope"
        over = [str(self.scopes[int(number)]) for number in amounts if not self.caps[int(number)].covers(self.spent[int(number)])]
        return f"passes the budget of {over[0]}" if over else self._price_problem(entry)

    def _price_problem(self, entry: LedgerEntry) -> str | None:
        """Return the problem of a charge that describes another loss than it keeps, or pays less than that costs."""
        body = entry.body
        if "loss" not in body and self.format < _KEEPS_LOSSES:
            self.taken.append(entry.number)
            return None
        loss = _loss_of(canonical(body["loss"]))
        times = integer(body["times"], "times", lower=0, upper=MOST_TIMES)
        if describe_spending(loss, times) != body["spending"]:
            return "describes another loss than it keeps"
        if entry.kind == "reserve" and body["compared"] is not is_compared(loss):
            return "states wrongly whether its releases are to be compared with it"
        for number, text in body["amounts"].items():
            cap = self.caps[int(number)]
            cost = cap.cost(loss, times=times)
            if any(paid < due for paid, due in zip(cap.read(text), cost, strict=True)):
                return "pays less than its loss costs"
        return None

    def _read_end(self, entry: LedgerEntry) -> str | None:
        """Read a commit or a cancellation of an open charge."""
        charge = self.open.pop(integer(entry.body["charge"], "charge"), None)
        if charge is None:
            return "ends a charge that is not open"
        if entry.kind == "cancel":
            self._move(charge.body["amounts"], sign=-1)
            return "gives back a charge that has a key" if "key" in charge.body else None
        ran = [Release.from_dict(values, adjacency_from_dict(values["adjacency"])) for values in entry.body["ran"]]
        if not charge.body["compared"]:
            self.uncompared.append(charge.number)
        elif not ran:
            self.unseen.append(charge.number)
        else:
            beyond = self._beyond(charge, ran)
            if beyond:
                self.owed[charge.number] = _Owed(entry.number, beyond, self.format)
        return None if all(release.secure for release in ran) else "released noise of an insecure source, which gives no privacy"

    def _beyond(self, charge: LedgerEntry, ran: Sequence[Release]) -> dict[str, Amounts | None]:
        """Return the excess of releases over a charge, by number of the budgets that it exceeds."""
        found = {}
        for number, text in charge.body["amounts"].items():
            cap = self.caps[int(number)]
            amounts = excess(cap, ran, cap.read(text))
            # Before losses were kept, what has no price took all that was left, and nothing was written where that was nothing.
            unwritten = self.format < _KEEPS_LOSSES and self.spent[int(number)] == cap.limits
            if (amounts is None and not unwritten) or (amounts is not None and any(amounts)):
                found[number] = amounts
        return found

    def _read_overrun(self, entry: LedgerEntry) -> str | None:
        """Read an overrun; it must follow its commit and charge exactly the excess that the commit shows."""
        number, amounts = integer(entry.body["charge"], "charge"), entry.body["amounts"]
        owed = self.owed.pop(number, None)
        before = dict(self.spent)
        self._move(amounts, sign=1)
        self.overruns.append(number)
        if owed is None or owed.after != entry.number - 1:
            return "charges for an excess that no commit before it shows"
        if set(amounts) != set(owed.beyond):
            return "charges other budgets than those that were passed"
        for budget, beyond in owed.beyond.items():
            cap, paid = self.caps[int(budget)], self.caps[int(budget)].read(amounts[budget])
            if beyond is None and owed.format < _KEEPS_LOSSES:
                continue
            if paid != (all_left(cap.limits, before[int(budget)], self._pending(budget)) if beyond is None else beyond):
                return "charges something else than what was released beyond its charge"
        return None

    def _read_repeat(self, entry: LedgerEntry) -> str | None:
        """Read the repetition of a charge; it must have a key, and its block must not have come to its end."""
        number = integer(entry.body["charge"], "charge")
        self.repeated.append(number)
        return None if number in self.keys.values() and (number in self.open or number in self.elsewhere) else "repeats no charge"

    def _read_arrival(self, entry: LedgerEntry) -> str | None:
        """Read the entry with which a ledger goes on at another place; what it came from may not have been closed."""
        if not entry.body["closed"]:
            self.restored.append(entry.number)
        return None if isinstance(entry.body["closed"], bool) else "does not say whether the ledger was closed before"

    def _pending(self, budget: str) -> list[Amounts]:
        """Return the amounts that open charges could still give back to a budget."""
        cap = self.caps[int(budget)]
        return [cap.read(charge.body["amounts"][budget]) for charge in self.open.values() if budget in charge.body["amounts"]]

    def _move(self, amounts: Mapping[str, Mapping[str, str]], *, sign: int) -> None:
        """Add amounts to totals, or take them back; all of them or, if one cannot be read, none."""
        after: dict[int, Amounts] = {}
        for number, text in amounts.items():
            cap = self.caps[int(number)]
            after[int(number)] = cap.after(self.spent[int(number)], tuple(sign * amount for amount in cap.read(text)))
        self.spent.update(after)

    def differing_totals(self, totals: Mapping[int, Mapping[str, str]]) -> list[str]:
        """Return the totals that differ from those of the file."""
        ours = {number: self.caps[number].written(spent) for number, spent in self.spent.items()}
        if set(ours) != set(totals):
            return ["the budgets of the file are not those of its entries"]
        return [
            f"the total of {self.scopes[number]} is not the sum of its entries"
            for number in ours
            if ours[number] != dict(totals[number])
        ]


@lru_cache(maxsize=1024)
def _loss_of(text: str) -> PrivacyLoss | Guarantee:
    """Read a loss from its JSON text; cached, since the charges of a ledger repeat a few losses."""
    return spending_from_dict(loads(text))
