"""Smaller pairs: what a strategy shrinks to, or what is left of a pair made from data, with values as simple as possible."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dpaudit.auditor.data.records import same
from dpaudit.auditor.pairs.drawing import shrink_value
from dpaudit.auditor.pairs.kinds import check_neighbours, operations_of
from dpaudit.auditor.pairs.relations import Pair
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.targets import Target


def smaller_pair(target: Target, pair: Pair, refutes: Callable[[Pair], bool]) -> Pair | None:
    """The smallest pair found that still refutes, starting from one that was drawn or made for a target.

    A pair made from data first loses what it can do without, then its values are simplified.
    """
    adjacency = target.claim.relation
    if isinstance(target.neighbours, Sequence):
        return None

    def still_refutes(other: Pair) -> bool:
        return _are_neighbours(other, adjacency) and refutes(other)

    if target.neighbours is not None:
        drawn: Pair | None = shrink_value(target.neighbours, lambda other: same(other, pair), still_refutes)
        return drawn
    fewer = without_needless(pair, adjacency, refutes) or pair
    found = operations_of(adjacency, *pair).simplify(fewer, adjacency, target.data, still_refutes)
    return None if found is pair else found


def without_needless(pair: Pair, adjacency: Adjacency, refutes: Callable[[Pair], bool]) -> Pair | None:
    """Return the pair without the records, moved entries or nodes that it can do without; None where it needs them all."""
    count, keeping, changed = operations_of(adjacency, *pair).pieces(*pair)
    kept = fewest(count, changed, lambda places: refutes(keeping(places)))
    return keeping(kept) if len(kept) < count else None


def fewest(count: int, changed: Collection[int], wanted: Callable[[Collection[int]], bool]) -> list[int]:
    """Few of the places 0, 1, ... that are still wanted together: the changed ones alone, or what is left when halves go."""
    # Hypothesis drops one of so many choices at a time; leaving out halves, quarters and so on takes far fewer questions.
    kept = list(range(count))
    if 0 < len(changed) < count and wanted(sorted(changed)):
        kept = sorted(changed)
    size = (len(kept) + 1) // 2
    while size and len(kept) > 1:
        place = 0
        while place < len(kept):
            fewer = kept[:place] + kept[place + size :]
            if fewer and wanted(fewer):
                kept = fewer
            else:
                place += size
        size //= 2
    return kept


def _are_neighbours(pair: Pair, adjacency: Adjacency) -> bool:
    """True if the sides of a pair differ and are neighbours."""
    try:
        check_neighbours(pair, adjacency)
    except InvalidArgument:
        return False
    return not same(*pair)
