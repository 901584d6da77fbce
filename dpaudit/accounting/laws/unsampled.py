"""The laws of releases whose hidden choice of records is published: they lose at least as much."""

from __future__ import annotations

from dpaudit.accounting.laws.allocation import Allocated
from dpaudit.accounting.laws.between import dominating_laws
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Law


def published_laws(composition: Composition) -> Composition | None:
    """Return the composition with every law that dominates its samples in their place; None where nothing is sampled."""
    # Given the choice, a release is the base pair or a pair of equal laws; delta is jointly convex, and that of equal laws is the
    # least there is. docs/engines.md, the last step, has the proof.
    above = dominating_laws(composition)
    found = merge_parts([(_base(law), count) for law, count in above.parts], above.adjacency)
    return None if found == above else found


def _base(law: Law) -> Law:
    """The law of a release on the records that it was meant for."""
    while True:
        match law:
            case Sampled() | Allocated():
                law = law.law
            case Swapped() if law.law.reversed() == law.law:
                law = law.law
            case _:
                return law
