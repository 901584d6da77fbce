"""A composition: a multiset of privacy loss laws under one adjacency, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dpaudit.accounting.model.law import Law
from dpaudit.claims import Adjacency
from dpaudit.exact import integer

_MOST_RELEASES: Final = 10**1000
"""More of one kind are refused: Python does not print such numbers."""


@dataclass(frozen=True)
class Composition:
    """The laws of everything released, each with how often it is used, and the adjacency that all of them are about.

    Engines read compositions and answer questions about them; `PrivacyLoss` is what users hold.
    """

    parts: tuple[tuple[Law, int], ...]
    adjacency: Adjacency

    def describe(self) -> str:
        """Return one line with every law, its exact parameters and how often it is used."""
        terms = [law.describe() if count == 1 else f"{count} * {law.describe()}" for law, count in self.parts]
        return terms[0] if len(terms) == 1 else f"compose({', '.join(terms)})"

    def reversed(self) -> Composition:
        """Return the same releases with the two neighbouring datasets exchanged."""
        return merge_parts(((law.reversed(), count) for law, count in self.parts), self.adjacency)

    def __mul__(self, times: int) -> Composition:
        """Return `times` such releases; `times` may be 0."""
        copies = integer(times, "number of releases", lower=0, upper=_MOST_RELEASES)
        return merge_parts(((law, count * copies) for law, count in self.parts), self.adjacency)


def merge_parts(parts: Iterable[tuple[Law, int]], adjacency: Adjacency) -> Composition:
    """Return the composition of all parts, equal laws merged, in an order that does not depend on how they were given."""
    counts: Counter[Law] = Counter()
    for law, count in parts:
        counts[law] += count
    ordered = sorted(((law, count) for law, count in counts.items() if count), key=lambda part: _place(part[0]))
    return Composition(tuple(ordered), adjacency)


def _place(law: Law) -> str:
    """Return the text by which laws are ordered, the same in every process."""
    try:
        return repr(law)
    except ValueError:  # Python does not print integers of thousands of digits
        return law.describe()
