"""The pairs of few records that tell something of a function that raises on all datasets below some size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.claims import Adjacency

_SIZED = ("add_remove", "node")


def find_accepted_pairs(
    pairs: Sequence[Neighbours], adjacency: Adjacency, accepts: Callable[[Any], bool], *, with_step: bool = False
) -> tuple[tuple[int, ...], int]:
    """Return the places of the pairs to attack, and the fewest records that a function accepts where some are left out.

    What a function makes of no records, or of one, is part of what it releases, so an exception there distinguishes datasets. Where
    it raises on all datasets below some size, pairs made of parts of the data that lie below it tell nothing and are left out: with
    the step to that size, but where records come and go and it is asked for.
    """
    places = tuple(range(len(pairs)))
    parts = [pair for pair in pairs if pair.is_part]
    if adjacency.kind not in _SIZED or not parts:
        return places, 0
    sides = {id(side): side for pair in parts for side in (pair.first, pair.second)}
    taken = [len(side) for side in sides.values() if accepts(side)]
    least = min(taken, default=1 + max(map(len, sides.values())))
    least_second = least - (with_step and adjacency.kind == "add_remove")
    kept = tuple(place for place in places if not pairs[place].is_part or len(pairs[place].second) >= least_second)
    return kept, least if len(kept) < len(pairs) else 0
