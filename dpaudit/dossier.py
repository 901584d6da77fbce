"""A dossier: the claims of published texts, each decided by witnesses that one run computes."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Final

from dpaudit.errors import origin_of
from dpaudit.exact import word
from dpaudit.own_packages import require_own
from dpaudit.results import EXIT_CODES

DOSSIERS: Final = {"papers": "proofs.papers:ITEMS"}
"""Where each dossier stands that can be named on the command line; loaded by name, as targets are."""


class Kind(StrEnum):
    """What an item is: only the first kind is a claim of the text, and only it counts in the headline."""

    STATED = "stated by the paper"
    READING = "our reading"
    CODE = "about an implementation"


class Standing(StrEnum):
    """What the witnesses say of a claim, by the rules of `standing_of`."""

    HOLDS = "holds"
    POINTS = "holds at the points tried"
    OTHERWISE = "holds by another argument"
    CONDITION = "needs a condition"
    UNSHOWN = "does not follow"
    FAILS = "fails as written"
    UNDECIDED = "undecided"


MEANINGS: Final = {
    Standing.HOLDS: "a lemma, a proof, a closed form or a cover by intervals confirms it over its whole range.",
    Standing.POINTS: "it is confirmed at finitely many points, which are listed.",
    Standing.OTHERWISE: "it is confirmed over its whole range, but a step that is printed for it is refuted.",
    Standing.CONDITION: "it is not the paper's statement: it is true under the condition that is named, and refuted without it.",
    Standing.UNSHOWN: "a step of its printed argument is refuted; whether it is true is open.",
    Standing.FAILS: "a counterexample inside its own range refutes the very statement that is quoted.",
    Standing.UNDECIDED: "a witness is missing or has not the expected sign, or the figures are not those that are written here.",
}

KINDS: Final = {
    "lemma": "a statement about numbers, asked again of z3 and cvc5, and of the kernel by a certificate",
    "closed form": "an argument in words for the whole range, whose figures are computed and compared",
    "cover": "an inequality on a whole box, by interval arithmetic and subdivision",
    "proof": "a claim of the proof graph, with every piece of its evidence looked at again",
    "model": "numbers, found by a solver and put back in, for which an inequality is false",
    "enumeration": "all datasets, orders or outcomes of a small case, in exact arithmetic",
    "computation": "one quantity, computed in exact or ball arithmetic",
    "price": "a certified interval from the accountant",
    "attack": "a statistical audit of a runnable function",
    "test": "shipped code, run on chosen or random input",
}

UNIVERSAL: Final = frozenset({"lemma", "closed form", "cover", "proof"})
"""The kinds of witness that speak of a whole range; all others speak of the points that they looked at."""

ABOUT: Final = ("claim", "step", "repair", "shortcut")
"""What a witness is about: the claim, a step of its printed argument, the repair or shipped code, or a shortcut without it.

Only the first two decide a verdict; every one of them must have its expected sign.
"""


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
      about: one of `ABOUT`.
      holds: whether what it is about stands, by this witness.
      says: what was found, in words and figures.
      name: of the lemmas, target or function that was run, "" for none.
      span: what was measured against the claim, None for nothing.
      expects: the sign that the sentences of the item rest on; with another the item is undecided.
      where: the range or the points that it speaks of; a witness about a claim must have it.
      point: of a counterexample, the parameters by name, so that the item's own range can be asked whether it admits them.
    """

    kind: str
    about: str
    holds: bool
    says: str
    name: str = ""
    span: Span | None = None
    expects: bool = True
    where: str = ""
    point: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True)
class Repair:
    """The smallest change that makes a refuted statement or step true.

    Args:
      change: what to write instead.
      price: what it costs beside what is printed.
      theorem: whether the theorem that rests on it survives.
    """

    change: str
    price: str
    theorem: str


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
    """A claim of a text, or something that a reader or a program adds to it, and how it is decided.

    Args:
      key: its short name, unique in the dossier.
      paper: the text, as a short name.
      place: where in the text.
      quote: the text, word for word; " ... " stands where words or a formula are left out.
      kind: what of the three it is.
      promised: the claim, in one plain sentence.
      correction: what has to be added or is true instead; "" where nothing has to.
      code: where shipped code has it right, "path:name", at least one.
      expects: the verdict that the sentences here rest on; another outcome makes the item undecided.
      number: the figures that decide, which a run must find again.
      decide: from the number of runs of every attack to what was found.
      repair: of a refuted statement or step; None where nothing is refuted.
      admits: whether the claim's own range admits the parameters of a counterexample; None where none is expected.
    """

    key: str
    paper: str
    place: str
    quote: str
    kind: Kind
    promised: str
    correction: str
    code: tuple[str, ...]
    expects: Standing
    number: str
    decide: Callable[[int], Found]
    repair: Repair | None = None
    admits: Callable[[Mapping[str, Fraction]], bool] | None = None


@dataclass(frozen=True)
class Decided:
    """An item after its decision; the fields are those of `Item` and `Found`."""

    key: str
    paper: str
    place: str
    quote: str
    kind: Kind
    promised: str
    correction: str
    code: tuple[str, ...]
    standing: Standing
    says: str
    number: str
    witnesses: tuple[Witness, ...]
    repair: Repair | None = None
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
    return decided_item(item, runs), time.process_time() - started


def decided_item(item: Item, runs: int) -> Decided:
    """Decide an item; what contradicts the sentences or figures that it is written with leaves it undecided."""
    try:
        found = item.decide(runs)
        standing, says = standing_of(item.kind, found.witnesses, item.admits), found.says
    except Exception as error:  # noqa: BLE001 - an item that cannot be decided must not hide the others
        found = Found(f"It could not be decided: {origin_of(error)}.", "", ())
        standing, says = Standing.UNDECIDED, found.says
    if found.number and standing is not item.expects:
        says = f"The witnesses say that it {standing}, where {item.expects} was expected. What they found stands below."
        standing = Standing.UNDECIDED
    elif found.number and found.number != item.number:
        says = f"The run found {found.number} where {item.number} is written. What it found stands below."
        standing = Standing.UNDECIDED
    told = {field.name: getattr(item, field.name) for field in fields(Decided) if hasattr(item, field.name)}
    found_fields = {"says": says, "number": found.number, "witnesses": found.witnesses, "table": found.table}
    return Decided(**(told | found_fields), standing=standing)


def standing_of(
    kind: Kind, witnesses: Iterable[Witness], admits: Callable[[Mapping[str, Fraction]], bool] | None = None
) -> Standing:
    """Give the verdict on a claim by rule.

    A witness without its expected sign, or about the claim without a range, decides nothing. A stated claim fails by a
    counterexample whose parameters its own range admits; what is no statement of the text needs a condition instead. A refuted step
    leaves a claim by another argument where a universal witness confirms it, else it does not follow.
    """
    seen = tuple(witnesses)
    claim = [one for one in seen if one.about == "claim"]
    against = [one for one in claim if not one.holds]
    whole = any(one.holds and one.kind in UNIVERSAL for one in claim)
    shown = all(one.holds for one in seen if one.about == "step")
    if any(one.holds is not one.expects for one in seen) or not all(one.where for one in claim):
        return Standing.UNDECIDED
    if against and kind is not Kind.STATED:
        return Standing.CONDITION
    if against:
        inside = not whole and admits is not None and all(one.point and admits(dict(one.point)) for one in against)
        return Standing.FAILS if inside else Standing.UNDECIDED
    if not shown:
        return Standing.OTHERWISE if whole else Standing.UNSHOWN
    return Standing.UNDECIDED if not claim else Standing.HOLDS if whole else Standing.POINTS
