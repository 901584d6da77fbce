"""The laws that dominate those of a composition, and the laws that they dominate."""

from __future__ import annotations

from dpaudit.accounting.laws.bounded_range import BoundedRange
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Bracketed, Law


def dominating_laws(composition: Composition) -> Composition:
    """Return the composition with every law replaced by one that dominates it, its own or that of its bracket."""
    return merge_parts([(end_of(law, 0) or law, count) for law, count in composition.parts], composition.adjacency)


def dominated_laws(composition: Composition) -> Composition:
    """The same with laws that the worst mechanism is certain to lose at least; parts of which none is known are left out."""
    ends = [(end_of(law, 1), count) for law, count in composition.parts]
    known = [(law.below() if isinstance(law, BoundedRange) else law, count) for law, count in ends if law is not None]
    return merge_parts(known, composition.adjacency)


def end_of(law: Law, side: int) -> Law | None:
    """The law above (0) or below (1) a class of mechanisms, which may be a class in its turn; None where there is none."""
    while isinstance(law, Bracketed) and (end := law.bracket()[side]) != law:
        if end is None:
            return None
        law = end
    return law
