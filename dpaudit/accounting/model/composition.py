"""A composition of laws, as plain data: what it loses at worst, and the two questions that engines answer about it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, Literal, TypeAlias

from flint import arb

from dpaudit.accounting.model.law import Law, LossValue, sum_of_losses
from dpaudit.claims import Adjacency
from dpaudit.exact import Enclosure, Reason, ball, integer, working_precision

_MOST_RELEASES: Final = 10**1000  # More of one kind are refused: Python does not print such numbers


@dataclass(frozen=True)
class Composition:
    """The laws of everything released, each with how often it is used, and the adjacency that all of them are about."""

    # Engines read compositions and answer questions about them; `PrivacyLoss` is what users hold.
    parts: tuple[tuple[Law, int], ...]
    adjacency: Adjacency

    # Engines look compositions up in what they remember, several times for each question.
    @cached_property
    def _hash(self) -> int:
        """Hash of the fields."""
        return hash((self.parts, self.adjacency))

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is remembered: hashes of texts are different in every process."""
        return {"parts": self.parts, "adjacency": self.adjacency}

    @cached_property
    def _backward(self) -> Composition:
        """The same releases with the two neighbouring datasets exchanged."""
        return merge_parts(((law.reversed(), count) for law, count in self.parts), self.adjacency)

    def describe(self) -> str:
        """Return one line with every law, its exact parameters and how often it is used."""
        terms = [law.describe() if count == 1 else f"{count} * {law.describe()}" for law, count in self.parts]
        return terms[0] if len(terms) == 1 else f"compose({', '.join(terms)})"

    def reversed(self) -> Composition:
        """Return the same releases with the two neighbouring datasets exchanged."""
        return self._backward

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


@dataclass(frozen=True)
class DeltaAt:
    """The smallest delta at `epsilon`, in nats, at least 0."""

    epsilon: Fraction


@dataclass(frozen=True)
class EpsilonAt:
    """The smallest epsilon at `delta`, in [0, 1)."""

    delta: Fraction


Question: TypeAlias = DeltaAt | EpsilonAt
Ends: TypeAlias = Literal["both", "lower", "upper"]  # The ends of an answer that are wanted; the other one may be trivial

NARROW: Final = Fraction(1, 1000)  # Relative width from which on an answer is not looked at again


def is_narrow(answer: Enclosure, width: Fraction = NARROW) -> bool:
    """True if an answer is good enough as it is."""
    if isinstance(answer.upper, float):
        return answer.lower == answer.upper
    return answer.upper - answer.lower <= answer.upper * width


LONGEST_POWER: Final = 1 << 14  # Powers of rationals with more bits than this are enclosed in a ball


@lru_cache(maxsize=256)
def greatest_loss(composition: Composition) -> LossValue | None:
    """Sum of the greatest finite losses, None when one of them is unbounded: the suprema of independent losses add."""
    values = []
    for law, count in composition.parts:
        value = law.greatest_loss()
        if value is None:
            return None
        values.append((value, count))
    return sum_of_losses(values)


def epsilon_of_greatest_loss(limit: Enclosure, greatest: LossValue | None) -> Enclosure:
    """Epsilon where delta is the probability of an infinite loss: the sum of the greatest finite losses."""
    least, most = (math.inf, math.inf) if greatest is None else greatest.ends()
    return Enclosure(max(least, Fraction(0)), max(most, Fraction(0)), Reason("sum of the greatest finite losses", (limit.reason,)))


@lru_cache(maxsize=256)
def infinite_loss(composition: Composition) -> Enclosure:
    """Probability that some loss is infinite, 1 - product of (1 - mass)^count: delta never falls below it."""
    masses = [(law.infinity_mass(), count) for law, count in composition.parts]
    reason = Reason("probability of an infinite loss, 1 - product of (1 - mass)^count")
    if not any(mass for mass, _ in masses):
        return Enclosure.point(0, Reason("no output has infinite loss"))
    if sum(count * mass.denominator.bit_length() for mass, count in masses) <= LONGEST_POWER:
        safe = Fraction(1)
        for mass, count in masses:
            safe *= (1 - mass) ** count
        return Enclosure.point(1 - safe, reason)
    with working_precision(256):
        if any(mass == 1 for mass, _ in masses):
            return Enclosure.point(1, reason)
        logarithm = sum(((-ball(mass)).log1p() * count for mass, count in masses), arb(0))
        return Enclosure.from_ball(-logarithm.expm1(), reason, lowest=Fraction(0), highest=Fraction(1))
