"""The pairs of few records that a function accepts: one that raises on all datasets below some size is not meant for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.claims import Adjacency

_SIZED = ("add_remove", "node")


def find_accepted_pairs(
    pairs: Sequence[Neighbours], adjacency: Adjacency, accepts: Callable[[Any], bool]
) -> tuple[tuple[int, ...], int]:
    """Return the places of the pairs that a function accepts, and the fewest records that it does.

    What a function makes of no records, or of one, is part of what it releases, so an exception there distinguishes datasets. But
    code for at least some records raises on all smaller datasets, as its user knows: pairs made of parts of the data are left out
    where the function raised on every dataset of their size, and on all smaller ones.
    """
    places = tuple(range(len(pairs)))
    parts = [pair for pair in pairs if pair.is_part]
    if adjacency.kind not in _SIZED or not parts:
        return places, 0
    sides = {id(side): side for pair in parts for side in (pair.first, pair.second)}
    taken = [len(side) for side in sides.values() if accepts(side)]
    least = min(taken, default=1 + max(map(len, sides.values())))
    kept = tuple(place for place in places if not pairs[place].is_part or len(pairs[place].second) >= least)
    return kept, least if len(kept) < len(pairs) else 0
