"""Laws between others: a release of unknown law, and the laws that dominate a composition or are dominated by it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Bracketed, Law, LossValue


@dataclass(frozen=True)
class Between:
    """At most the loss of `upper`, at least that of `lower` (None: nothing known); `name` says what is meant, `ground` why."""

    name: str
    upper: Law
    lower: Law | None
    ground: str

    def describe(self) -> str:
        return self.name

    def reversed(self) -> Between:
        return Between(self.name, self.upper.reversed(), None if self.lower is None else self.lower.reversed(), self.ground)

    def greatest_loss(self) -> LossValue | None:
        return self.upper.greatest_loss()

    def infinity_mass(self) -> Fraction:
        return self.upper.infinity_mass()

    def log_moment(self, order: Fraction) -> arb | None:
        return self.upper.log_moment(order)

    def bracket(self) -> tuple[Law, Law | None]:
        return self.upper, self.lower

    def bracket_source(self) -> str:
        return self.ground


@lru_cache(maxsize=64)
def dominating_laws(composition: Composition) -> Composition:
    """Return the composition with every law replaced by one that dominates it, its own or that of its bracket."""
    return merge_parts([(end_of(law, 0) or law, count) for law, count in composition.parts], composition.adjacency)


@lru_cache(maxsize=64)
def dominated_laws(composition: Composition) -> Composition:
    """The same with laws that the worst mechanism is certain to lose at least; parts of which none is known are left out."""
    ends = [(end_of(law, 1), count) for law, count in composition.parts]
    known = [(law.below() if isinstance(law, BoundedRange) else law, count) for law, count in ends if law is not None]
    return merge_parts(known, composition.adjacency)


@lru_cache(maxsize=64)
def are_pairs_above(composition: Composition) -> bool:
    """True if every law above is one pair, whose moments say no more than its distribution; a class may have better moments."""
    above = dominating_laws(composition)
    return dominated_laws(above) == above


def law_below(law: Law) -> Law | None:
    """One law that the worst mechanism of a class loses at least, a law itself where it is one; None where none is known."""
    end = end_of(law, 1)
    return end.below() if isinstance(end, BoundedRange) else end


def end_of(law: Law, side: int) -> Law | None:
    """The law above (0) or below (1) a class of mechanisms, which may be a class in its turn; None where there is none."""
    while isinstance(law, Bracketed) and (end := law.bracket()[side]) != law:
        if end is None:
            return None
        law = end
    return law
