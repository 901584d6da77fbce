"""Candidate pairs of a target: given and checked against the adjacency, drawn from a strategy, or made from its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.auditor.pairs.drawing import draw_pairs
from dpaudit.auditor.pairs.kinds import check_neighbours, edits_of, operations_of
from dpaudit.auditor.pairs.parts import drop_duplicates
from dpaudit.auditor.pairs.relations import describe
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.targets import Sensitivity, Target


@dataclass(frozen=True)
class Neighbours:
    """A candidate pair, `first` for label 0 and `second` for label 1; `difference` says by position how they differ.

    `is_part` where neither side is the dataset that was given, but both are made of few or of tied records of it.
    """

    first: Any = field(repr=False)
    second: Any = field(repr=False)
    difference: str
    is_part: bool = False

    def side(self, label: int) -> Any:
        """Return the dataset of a label."""
        return self.second if label else self.first


def candidate_pairs(target: Target) -> tuple[Neighbours, ...]:
    """Pairs on which a target is attacked, the same in every process."""
    adjacency = target.claim.relation
    if target.neighbours is None:
        if target.data is None:
            raise InvalidArgument(
                "DPA404",
                f"target {target.name} has neither neighbours= nor data=. "
                "Give pairs, neighbours=[(first, second)], or one dataset, data=[...].",
            )
        return tuple(_made(target.data, adjacency, target.sensitivity))
    pairs = target.neighbours if isinstance(target.neighbours, Sequence) else draw_pairs(target.neighbours)
    for position, pair in enumerate(pairs):
        check_neighbours(pair, adjacency, f"pair {position}")
    return tuple(Neighbours(first, second, describe(first, second)) for first, second in pairs)


def _made(data: Any, adjacency: Adjacency, sensitivity: Sensitivity | None) -> Iterator[Neighbours]:
    """Pair a dataset with its neighbours, then few and tied records of it with theirs."""
    edited = [Neighbours(data, make(), difference) for make, difference in edits_of(data, adjacency, sensitivity)]
    yield from edited
    parts = operations_of(adjacency, data).parts(data, adjacency)
    for first, second, difference in drop_duplicates(parts, [(pair.first, pair.second) for pair in edited]):
        yield Neighbours(first, second, difference, is_part=True)
