"""A dossier: the claims of published texts, each decided by witnesses that one run computes."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dpaudit.errors import origin_of
from dpaudit.exact import word
from dpaudit.own_packages import require_own
from dpaudit.results import EXIT_CODES

DOSSIERS: Final = {"papers": "proofs.papers:ITEMS"}
"""Where each dossier stands that can be named on the command line; loaded by name, as targets are."""


class Standing(StrEnum):
    """What the witnesses say of a claim as it was written."""

    HOLDS = "holds"
    OTHERWISE = "holds by another argument"
    PART = "holds in part"
    UNSHOWN = "does not follow"
    FAILS = "fails as written"
    UNDECIDED = "undecided"


MEANINGS: Final = {
    Standing.HOLDS: "every witness about the claim confirms it.",
    Standing.OTHERWISE: "the claim is confirmed, but a step of the argument that is printed for it is refuted.",
    Standing.PART: "witnesses confirm it under some conditions and refute it outside of them; the correction says which.",
    Standing.UNSHOWN: "a step of its argument is refuted; no witness refutes or confirms the claim itself.",
    Standing.FAILS: "a counterexample refutes it as it is written.",
    Standing.UNDECIDED: "a witness is missing, or contradicts what is written here about the claim.",
}

KINDS: Final = {
    "lemma": "a statement about numbers, asked again of z3 and cvc5, and of the kernel by a certificate",
    "model": "numbers, found by a solver and put back in, for which a printed inequality is false",
    "proof": "a claim of the proof graph, with every piece of its evidence looked at again",
    "enumeration": "all datasets, orders or outcomes of a small case, in exact arithmetic",
    "computation": "one quantity, computed in exact or ball arithmetic",
    "price": "a certified interval from the accountant",
    "attack": "a statistical audit of a runnable function",
    "test": "shipped code, run on chosen or random input",
}

ABOUT: Final = ("claim", "argument", "correction")


@dataclass(frozen=True)
class Span:
    """What a witness measured, as shares of a claimed epsilon or mu, so that 1 is the claim.

    Args:
      attack: at least this share is really spent; None where nothing was attacked.
      price: at most this share, certified; None where nothing was priced.
    """

    attack: float | None = None
    price: float | None = None


@dataclass(frozen=True)
class Witness:
    """One thing that a run found out.

    Args:
      kind: one of `KINDS`.
      about: "claim" as written, "argument" printed for it, or "correction".
      holds: whether what it is about stands, by this witness.
      says: what was found, in words and figures.
      name: of the lemma, target or function that was run, "" for none.
      span: what was measured against the claim, None for nothing.
    """

    kind: str
    about: str
    holds: bool
    says: str
    name: str = ""
    span: Span | None = None


@dataclass(frozen=True)
class Table:
    """Figures that are worth a plot: a caption, names of columns, and rows of numbers whose first is where the others stand."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Found:
    """What the decision on a claim came to.

    Args:
      says: one plain sentence with the figures of this run.
      number: the number that decides.
      witnesses: everything that was looked at.
      table: figures for a plot, None for none.
    """

    says: str
    number: str
    witnesses: tuple[Witness, ...]
    table: Table | None = None


@dataclass(frozen=True)
class Item:
    """A claim of a published text, and how it is decided.

    Args:
      key: its short name, unique in the dossier.
      paper: the text, as a short name.
      place: where in the text.
      promised: the claim, in one plain sentence.
      correction: what is true instead, or what has to be added; "" where nothing has to.
      code: where shipped code has it right, "path:name", at least one.
      expects: what the sentences here take for granted; another outcome makes the item undecided.
      decide: from the number of runs of every attack to what was found.
    """

    key: str
    paper: str
    place: str
    promised: str
    correction: str
    code: tuple[str, ...]
    expects: Standing
    decide: Callable[[int], Found]


@dataclass(frozen=True)
class Decided:
    """An item after its decision; the fields are those of `Item` and `Found`."""

    key: str
    paper: str
    place: str
    promised: str
    correction: str
    code: tuple[str, ...]
    standing: Standing
    says: str
    number: str
    witnesses: tuple[Witness, ...]
    table: Table | None = None


@dataclass(frozen=True)
class Dossier:
    """All decisions of a run; `seconds` of processor time by key stand outside the evidence.

    Args:
      name: of the dossier.
      runs: of every attack.
      items: the decisions, in order.
      seconds: processor time by key.
      version: of dpaudit.
    """

    name: str
    runs: int
    items: tuple[Decided, ...]
    seconds: tuple[tuple[str, float], ...] = ()
    version: str = ""

    @property
    def exit_code(self) -> int:
        """The process exit code: 1 where a claim fails as written, else 3 where one is undecided or there is none, else 0."""
        standings = {item.standing for item in self.items}
        if Standing.FAILS in standings:
            return EXIT_CODES["refuted"]
        return EXIT_CODES["inconclusive" if Standing.UNDECIDED in standings or not self.items else "survived"]


def items_of(name: str) -> tuple[Item, ...]:
    """The items of a dossier."""
    module, _, attribute = DOSSIERS[word(name, "a dossier", DOSSIERS)].partition(":")
    require_own(module)
    found: tuple[Item, ...] = getattr(importlib.import_module(module), attribute)
    return found


def decided(name: str, key: str, runs: int) -> tuple[Decided, float]:
    """Decide one item."""
    item = next(item for item in items_of(name) if item.key == key)
    started = time.process_time()
    try:
        found = item.decide(runs)
        standing = standing_of(found.witnesses)
    except Exception as error:  # noqa: BLE001 - an item that cannot be decided must not hide the others
        found, standing = Found(f"It could not be decided: {origin_of(error)}.", "", ()), Standing.UNDECIDED
    if standing is not item.expects and found.number:
        says = f"The witnesses say that it {standing}, where {item.expects} was expected. What they found stands below."
        found, standing = Found(says, found.number, found.witnesses, found.table), Standing.UNDECIDED
    told = (item.key, item.paper, item.place, item.promised, item.correction, item.code)
    return Decided(*told, standing, found.says, found.number, found.witnesses, found.table), time.process_time() - started


def standing_of(witnesses: Iterable[Witness]) -> Standing:
    """What witnesses together say of a claim."""
    told = {about: [one.holds for one in witnesses if one.about == about] for about in ABOUT}
    claim, argument = told["claim"], told["argument"]
    if not all(told["correction"]) or not (claim or argument):
        return Standing.UNDECIDED
    if not claim:
        return Standing.UNDECIDED if all(argument) else Standing.UNSHOWN
    if all(claim):
        return Standing.HOLDS if all(argument) else Standing.OTHERWISE
    return Standing.PART if any(claim) else Standing.FAILS
