"""The parts of a ledger: entries in a hash chain, scopes, heads and receipts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, Self

from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.exact import instance_of

KINDS: Final = ("ledger", "format", "budget", "spend", "reserve", "repeat", "commit", "cancel", "overrun", "moved", "arrived")
"""The kinds of entries; docs/ledger.md explains each."""

LONGEST_NOTE: Final = 200
"""Letters of a note at most."""

RESTORE: Final = "Find the first change with `dpaudit ledger verify` and restore a backup."
"""What to do with a ledger that was changed."""

MOVED: Final = "this ledger was moved, and what is here is only to be read. Use the place it was moved to."
"""What to do where a ledger once was."""

_LONGEST_NAME: Final = 100
_DIGEST: Final = hashlib.sha256().digest_size


@dataclass(frozen=True, order=True)
class Scope:
    """The purpose of a budget: a dataset, the unit that is protected, and perhaps one use of the data.

    A budget without a purpose covers every purpose of its dataset and unit; a budget with one covers that purpose only.

    Args:
      dataset: name of the data, such as "survey-2026".
      unit: what neighbouring datasets differ by, in words, such as "person" or "household".
      purpose: a use of the data, such as "dashboard"; None for all of them together.
    Raises:
      InvalidArgument: a part that is empty, longer than 100 letters, not printable, or holds a slash (DPA105).
    Source: docs/ledger.md, "Scopes".
    Example:
      >>> Scope.of("survey/person").covers(Scope.of("survey/person/dashboard"))
      True
    """

    dataset: str
    unit: str
    purpose: str | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be written as text and read back."""
        for part in (self.dataset, self.unit, *(() if self.purpose is None else (self.purpose,))):
            if not (
                isinstance(part, str)
                and 0 < len(part) <= _LONGEST_NAME
                and part.isprintable()
                and "/" not in part
                and part.strip() == part
            ):
                raise InvalidArgument(
                    "DPA105",
                    f"the parts of a scope are printable text of 1 to {_LONGEST_NAME} letters without slashes or outer spaces. "
                    "Write dataset/unit or dataset/unit/purpose.",
                )

    @classmethod
    def of(cls, value: Scope | str) -> Scope:
        """A scope from its text: dataset/unit, or dataset/unit/purpose."""
        if isinstance(value, Scope):
            return value
        parts = value.split("/") if isinstance(value, str) else []
        if not 2 <= len(parts) <= 3:
            raise InvalidArgument("DPA105", "a scope is written dataset/unit or dataset/unit/purpose.")
        return cls(*parts)

    def covers(self, other: Scope) -> bool:
        """True if a budget of this scope pays for what happens in the other."""
        instance_of(other, Scope, "the other scope")
        return (self.dataset, self.unit) == (other.dataset, other.unit) and self.purpose in {None, other.purpose}

    @property
    def key(self) -> tuple[str, str, str]:
        """The scope as a database keeps it; an empty purpose stands for all."""
        return self.dataset, self.unit, self.purpose or ""

    def __str__(self) -> str:
        """The scope as it is written."""
        return "/".join(part for part in (self.dataset, self.unit, self.purpose) if part is not None)


@dataclass(frozen=True)
class ChainHead:
    """The newest entry of a ledger at some time; a copy shows later whether anything before it was changed or cut off.

    Args:
      number: of the entry.
      digest: its hash in hexadecimal digits, 64 of them.
    Raises:
      InvalidArgument: not a number and a hash (DPA105).
    Source: docs/ledger.md, "What the chain shows".
    Example:
      >>> str(ChainHead.of("3:" + "0f" * 32))[:8]
      '3:0f0f0f'
    """

    number: int
    digest: str

    @classmethod
    def of(cls, value: ChainHead | str) -> ChainHead:
        """A head from its text, NUMBER:HASH."""
        if isinstance(value, ChainHead):
            return value
        number, _, digest = instance_of(value, str, "head").partition(":")
        if not (
            number.isascii()
            and number.isdigit()
            and len(number) < 18  # SQLite holds integers of 63 bits
            and len(digest) == 2 * _DIGEST
            and set(digest) <= set("0123456789abcdef")
        ):
            raise InvalidArgument("DPA105", "a head is written NUMBER:HASH, as receipts and `dpaudit ledger show` print it.")
        return cls(int(number), digest)

    def __str__(self) -> str:
        """The head as it is written."""
        return f"{self.number}:{self.digest}"


@dataclass(frozen=True)
class LedgerEntry:
    """One line of a ledger, never changed: its number, what it says, when it was written, and the hash that ends the chain there.

    Args:
      number: 1 for the first entry, which names the ledger.
      kind: one of `KINDS`.
      time: in UTC, ISO 8601 to the second; informative, no rule depends on it.
      body: what the kind asks for; exact numbers are text.
      digest: SHA-256 of the hash before it and of everything above.
    Source: docs/ledger.md, "Entries".
    Example:
      >>> first = LedgerEntry.after(None, "ledger", "2026-01-01T00:00:00Z", {"name": "census"})
      >>> first.follows(None), LedgerEntry.after(first, "spend", first.time, {}).follows(None)
      (True, False)
    """

    number: int
    kind: str
    time: str
    body: Mapping[str, Any]
    digest: bytes

    @classmethod
    def after(cls, head: LedgerEntry | None, kind: str, time: str, body: Mapping[str, Any]) -> LedgerEntry:
        """The entry that continues the chain."""
        number, before = (1, None) if head is None else (head.number + 1, head.digest)
        return cls(number, kind, time, MappingProxyType(dict(body)), _digest(before, number, kind, time, body))

    def follows(self, head: LedgerEntry | None) -> bool:
        """True if this entry continues the chain from that one, unchanged."""
        number = 1 if head is None else head.number + 1
        return self.number == number and self.continues(None if head is None else head.digest)

    def continues(self, before: bytes | None) -> bool:
        """True if the hash is that of this content after the hash before it, None for the first entry."""
        return self.digest == _digest(before, self.number, self.kind, self.time, self.body)

    @property
    def head(self) -> ChainHead:
        """The number and hash that a receipt keeps."""
        return ChainHead(self.number, self.digest.hex())

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {"number": self.number, "kind": self.kind, "time": self.time, "body": dict(self.body), "hash": self.digest.hex()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """An entry as `to_dict` gives it; KeyError, TypeError or ValueError for anything else."""
        if set(values) != {"number", "kind", "time", "body", "hash"}:
            raise ValueError("an entry has a number, kind, time, body and hash")
        texts = (values["kind"], values["time"])
        if (
            type(values["number"]) is not int
            or not all(isinstance(text, str) for text in texts)
            or not isinstance(values["body"], dict)
        ):
            raise TypeError("an entry has an integer, two texts and a body")
        return cls(values["number"], *texts, MappingProxyType(values["body"]), bytes.fromhex(values["hash"]))


@dataclass(frozen=True)
class Receipt:
    """The receipt of a charge: the entry, the amounts, what is left, and the head at that time.

    Args:
      ledger: identity of the ledger.
      entry: number of the entry that charged.
      scope: what was charged.
      spending: what for, in words of the accounting.
      amounts: by the scope of each budget that paid: exact text by the name of its currency.
      remaining: by the scope of each of these budgets: what may still be spent.
      head: the newest entry of its time: the charge itself, or the one that says that it is repeated.
      repeated: True if an earlier attempt under the same key had paid, and this one paid nothing.
    Source: docs/ledger.md, "Charges".
    Example:
      >>> Receipt("c0ffee", 2, Scope.of("a/b"), "laplace(scale=1)", {}, {}, ChainHead(2, "00" * 32)).to_dict()["scope"]
      'a/b'
    """

    ledger: str
    entry: int
    scope: Scope
    spending: str
    amounts: Mapping[str, Mapping[str, str]]
    remaining: Mapping[str, Mapping[str, str]]
    head: ChainHead
    repeated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The receipt as plain data."""
        return {
            "ledger": self.ledger,
            "entry": self.entry,
            "scope": str(self.scope),
            "spending": self.spending,
            "amounts": {scope: dict(amounts) for scope, amounts in self.amounts.items()},
            "remaining": {scope: dict(amounts) for scope, amounts in self.remaining.items()},
            "head": str(self.head),
            "repeated": self.repeated,
        }


def entry_from_row(row: tuple[Any, ...]) -> LedgerEntry:
    """Read an entry from its row; DPA805 for any other row."""
    number, kind, moment, body, digest = row
    try:
        content = json.loads(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise LedgerFailure("DPA805", f"entry {number!r:.20} cannot be read. {RESTORE}") from error
    known = (type(number), type(kind), type(moment), type(content), type(digest))
    if known != (int, str, str, dict, bytes):
        raise LedgerFailure("DPA805", f"entry {number!r:.20} cannot be read. {RESTORE}")
    return LedgerEntry(number, kind, moment, MappingProxyType(content), digest)


def now() -> str:
    """Return the time as entries keep it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def require_here(newest: LedgerEntry | None) -> None:
    """Refuse a change of a ledger that was moved elsewhere (DPA814): two that live on would spend the budget twice."""
    if newest is not None and newest.kind == "moved":
        raise LedgerFailure("DPA814", MOVED)


def printable(text: str) -> str:
    """The text with an escape for each character that a terminal would obey instead of show, line ends included."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text)


def canonical(value: object) -> str:
    """JSON of which there is one text for each value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _digest(before: bytes | None, number: int, kind: str, time: str, body: Mapping[str, Any]) -> bytes:
    """The hash of an entry, which depends on all before it."""
    return hashlib.sha256((before or bytes(_DIGEST)) + canonical([number, kind, time, dict(body)]).encode("ascii")).digest()
