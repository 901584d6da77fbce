"""Candidate pairs of a target: given ones, checked against the adjacency; drawn from a strategy; made from its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.auditor.search.drawing import drawn_pairs
from dpaudit.auditor.search.edits import edits_of
from dpaudit.auditor.search.relations import check, describe
from dpaudit.errors import InvalidArgument
from dpaudit.targets import Target


@dataclass(frozen=True)
class Neighbours:
    """A candidate pair: label 0 stands for `first`, label 1 for `second`; `difference` tells them apart by position."""

    first: Any = field(repr=False)
    second: Any = field(repr=False)
    difference: str

    def side(self, label: int) -> Any:
        """The dataset that a label stands for."""
        return self.second if label else self.first


def candidate_pairs(target: Target) -> tuple[Neighbours, ...]:
    """The pairs on which a target is attacked, the same in every process.

    Args:
      target: its neighbours are given pairs or a Hypothesis strategy, or are made from its data and its claim's adjacency.
    Returns:
      At least one pair, in a fixed order.
    Raises:
      InvalidArgument: neither neighbours nor data (DPA404), given datasets that are no neighbours (DPA407), data of a form that
        has no neighbours of this adjacency (DPA105) or empty (DPA109).
      Unsupported: nothing in the data can be changed under the adjacency (DPA409).
    Source: docs/auditing.md, "Which neighbours".
    Example:
      >>> from dpaudit import Claim, PureDP
      >>> target = Target(run=lambda data, rng: len(data), claim=Claim(PureDP(epsilon=1)), data=[3, 1])
      >>> [pair.difference for pair in candidate_pairs(target)]
      ['record 0 removed, 2 -> 1 records', 'record 1 removed, 2 -> 1 records']
    """
    adjacency = target.claim.relation
    if target.neighbours is None:
        if target.data is None:
            raise InvalidArgument("DPA404", f"target {target.name} has neither neighbours= nor data=. Give one of them.")
        edits = edits_of(target.data, adjacency, target.sensitivity)
        return tuple(Neighbours(target.data, make(), difference) for make, difference in edits)
    pairs = target.neighbours if isinstance(target.neighbours, Sequence) else drawn_pairs(target.neighbours)
    for position, pair in enumerate(pairs):
        check(pair, adjacency, f"pair {position}")
    return tuple(Neighbours(first, second, describe(first, second)) for first, second in pairs)
