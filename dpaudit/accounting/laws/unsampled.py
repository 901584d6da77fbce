"""The laws of releases whose hidden choice of records is published: they lose at least as much."""

from __future__ import annotations

from functools import lru_cache

from dpaudit.accounting.laws.allocation import Allocated
from dpaudit.accounting.laws.between import dominating_laws
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.laws.without_replacement import Swapped
from dpaudit.accounting.model.composition import Composition, merge_parts
from dpaudit.accounting.model.law import Law


@lru_cache(maxsize=64)
def published_laws(composition: Composition) -> tuple[Composition, ...]:
    """Return compositions the worst of which dominates: every law in the place of its samples; none where nothing is sampled."""
    # Given the choice, a release is the base pair or a pair of equal laws; delta is jointly convex, and that of equal laws is the
    # least there is. docs/engines.md, the last step, has the proof.
    above = dominating_laws(composition)
    found = merge_parts([(_base(law), count) for law, count in above.parts], above.adjacency)
    if found == above:
        return ()
    # The law of a sample without replacement is above both directions of its base, which is replaced one way in all releases.
    either = any(isinstance(law, Swapped) and law.law.reversed() != law.law for law, _ in above.parts)
    return (found, found.reversed()) if either else (found,)


def _base(law: Law) -> Law:
    """The law of a release on the records that it was meant for."""
    while True:
        match law:
            case Sampled() | Allocated() | Swapped():
                law = law.law
            case _:
                return law
