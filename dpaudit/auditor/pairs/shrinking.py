"""Smaller pairs: what a strategy shrinks to, or what a pair made from data can do without, with values as simple as they get."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

import numpy as np

from dpaudit.auditor.data.records import Dataset, is_dataset, is_labelled, replace_records, same
from dpaudit.auditor.pairs.drawing import shrink_value
from dpaudit.auditor.pairs.relations import check, graph_of
from dpaudit.auditor.pairs.simplifying import Pair, align_records, simplify_pair
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.targets import Target

Parts: TypeAlias = tuple[int, Callable[[Collection[int]], Pair], Collection[int]]
"""How many parts a pair has, the pair that keeps some of them, and those in which its sides differ."""


def smaller_pair(target: Target, pair: Pair, refutes: Callable[[Pair], bool]) -> Pair | None:
    """The smallest pair found that still refutes, starting from one that was drawn or made for a target.

    A pair made from data first loses what it can do without, then its values are simplified.
    """
    adjacency = target.claim.relation
    if isinstance(target.neighbours, Sequence):
        return None
    if target.neighbours is not None:
        drawn: Pair | None = shrink_value(
            target.neighbours, lambda other: same(other, pair), lambda other: _allowed(other, adjacency) and refutes(other)
        )
        return drawn
    fewer = without_needless(pair, adjacency, refutes)
    found = simplify_pair(
        pair if fewer is None else fewer, adjacency, target.data, lambda other: _allowed(other, adjacency) and refutes(other)
    )
    return None if found is pair else found


def without_needless(pair: Pair, adjacency: Adjacency, refutes: Callable[[Pair], bool]) -> Pair | None:
    """The pair without the records, moved entries or nodes that it can do without; None where it needs them all."""
    count, keeping, changed = _parts(pair, adjacency)
    kept = fewest(count, changed, lambda places: refutes(keeping(places)))
    return keeping(kept) if len(kept) < count else None


def fewest(count: int, changed: Collection[int], wanted: Callable[[Collection[int]], bool]) -> list[int]:
    """Few of the places 0, 1, ... that are still wanted together: the changed ones alone, or what is left when halves go.

    Hypothesis drops one of so many choices at a time; leaving out halves, quarters and so on takes far fewer questions.
    """
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


def _allowed(pair: Any, adjacency: Adjacency) -> bool:
    """Whether the sides of a pair differ and are neighbours."""
    try:
        check(pair, adjacency)
    except InvalidArgument:
        return False
    return not same(*pair)


def _parts(pair: Pair, adjacency: Adjacency) -> Parts:
    """What may be left out of a pair made from data."""
    first, second = pair
    if adjacency.kind == "norm_ball":
        return _moves(first, second)
    if graph_of(first) is not None:
        return _nodes(first, second)
    if is_labelled(first):
        changed = [place for place in range(len(first[1])) if not same(first[1][place], second[1][place])]
        return (
            len(first[1]),
            lambda kept: ((_taken(first[0], kept), _taken(first[1], kept)), tuple(_taken(part, kept) for part in second)),
            changed,
        )
    slots = align_records(first, second)

    def keeping(kept: Collection[int]) -> Pair:
        chosen = [slots[place] for place in kept]
        return (
            _taken(first, [one for one, _ in chosen if one is not None]),
            _taken(second, [other for _, other in chosen if other is not None]),
        )

    changed = [
        place for place, (one, other) in enumerate(slots) if one is None or other is None or not same(first[one], second[other])
    ]
    return len(slots), keeping, changed


def _moves(first: Any, second: Any) -> Parts:
    """The entries of a vector that moved; without one the vector stays where it was there."""
    moved = [place for place in range(len(first)) if not same(first[place], second[place])] if is_dataset(first) else []
    return len(moved), lambda kept: (first, replace_records(first, {moved[place]: second[moved[place]] for place in kept})), ()


def _nodes(first: Any, second: Any) -> Parts:
    """The nodes of either graph."""
    nodes = list(dict.fromkeys([*first, *second]))

    def within(graph: Any, places: Collection[int]) -> dict[Any, Any]:
        left = {nodes[place] for place in places}
        return {node: type(ends)([end for end in ends if end in left]) for node, ends in graph.items() if node in left}

    changed = [place for place, node in enumerate(nodes) if first.get(node) != second.get(node)]
    return len(nodes), lambda kept: (within(first, kept), within(second, kept)), changed


def _taken(data: Dataset, places: Collection[int]) -> Dataset:
    """The records at some places, in order."""
    if isinstance(data, np.ndarray):
        return data[list(places)]
    records = [data[place] for place in places]
    return records if isinstance(data, list) else tuple(records)
