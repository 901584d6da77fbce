"""Candidate pairs of a target: given ones, checked against the adjacency; drawn from a strategy; made from its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.auditor.pairs.drawing import drawn_pairs
from dpaudit.auditor.pairs.edits import edits_of
from dpaudit.auditor.pairs.parts import drop_duplicates, part_pairs
from dpaudit.auditor.pairs.relations import check, describe
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.targets import Sensitivity, Target


@dataclass(frozen=True)
class Neighbours:
    """A candidate pair: label 0 stands for `first`, label 1 for `second`; `difference` tells them apart by position.

    `is_part` where neither side is the dataset that was given, but both are made of few or of tied records of it.
    """

    first: Any = field(repr=False)
    second: Any = field(repr=False)
    difference: str
    is_part: bool = False

    def side(self, label: int) -> Any:
        """The dataset that a label stands for."""
        return self.second if label else self.first


def candidate_pairs(target: Target) -> tuple[Neighbours, ...]:
    """The pairs on which a target is attacked, the same in every process."""
    adjacency = target.claim.relation
    if target.neighbours is None:
        if target.data is None:
            raise InvalidArgument(
                "DPA404",
                f"target {target.name} has neither neighbours= nor data=. "
                "Give pairs, neighbours=[(first, second)], or one dataset, data=[...].",
            )
        return tuple(_made(target.data, adjacency, target.sensitivity))
    pairs = target.neighbours if isinstance(target.neighbours, Sequence) else drawn_pairs(target.neighbours)
    for position, pair in enumerate(pairs):
        check(pair, adjacency, f"pair {position}")
    return tuple(Neighbours(first, second, describe(first, second)) for first, second in pairs)


def _made(data: Any, adjacency: Adjacency, sensitivity: Sensitivity | None) -> Iterator[Neighbours]:
    """Neighbours of a dataset, then pairs of few and of tied records of it."""
    edited = [Neighbours(data, make(), difference) for make, difference in edits_of(data, adjacency, sensitivity)]
    yield from edited
    for first, second, difference in drop_duplicates(part_pairs(data, adjacency), [(pair.first, pair.second) for pair in edited]):
        yield Neighbours(first, second, difference, is_part=True)
