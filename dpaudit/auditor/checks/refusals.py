"""Which pairs of few records a function takes: one that raises on every dataset so small says that it is not meant for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.claims import Adjacency

_SIZED = ("add_remove", "node")


def find_accepted_pairs(
    pairs: Sequence[Neighbours], adjacency: Adjacency, takes: Callable[[Any], bool]
) -> tuple[tuple[int, ...], int]:
    """The places of the pairs that a function takes, and the fewest records that it does.

    What a function makes of no records, or of one, is part of what it releases, so that an exception there tells datasets apart.
    But code that is written for at least some records raises on all smaller datasets, and whoever runs it knows. Pairs that were
    made of parts of the data are left out where the function raised on every dataset of their size, and on all smaller ones.
    """
    places = tuple(range(len(pairs)))
    parts = [pair for pair in pairs if pair.is_part]
    if adjacency.kind not in _SIZED or not parts:
        return places, 0
    sides = {id(side): side for pair in parts for side in (pair.first, pair.second)}
    taken = [len(side) for side in sides.values() if takes(side)]
    least = min(taken, default=1 + max(map(len, sides.values())))
    kept = tuple(place for place in places if not pairs[place].is_part or len(pairs[place].second) >= least)
    return kept, least if len(kept) < len(pairs) else 0
