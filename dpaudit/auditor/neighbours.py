"""Neighbouring datasets to attack: given ones, checked against the adjacency; drawn ones; ones made from records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from dpaudit.auditor.distance import change, distance_exceeds
from dpaudit.auditor.records import (
    Dataset,
    changed_places,
    copied,
    exchanged,
    extremes,
    fingerprint,
    is_dataset,
    replaced,
    same,
    without,
)
from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError, InvalidArgument, Unsupported
from dpaudit.exact import rational
from dpaudit.targets import Target

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

MOST_MADE: Final = 8
"""At most this many pairs are made from one dataset."""

MOST_DRAWN: Final = 16
"""At most this many pairs are drawn from a strategy."""

_MOST_RANKED: Final = 256
_MOST_NUMBERS: Final = 10_000_000

Edit: TypeAlias = tuple[Callable[[], Dataset], str]
"""How to make a neighbouring dataset, and what it changes; made only when it is needed, since datasets may be large."""

_ALLOWED: Final = {"add_remove": "one record more or less", "replace_one": "one record", "zero_out": "one record"}


@dataclass(frozen=True)
class Neighbours:
    """A candidate pair: label 0 stands for `first`, label 1 for `second`; `difference` tells them apart by position."""

    first: Any
    second: Any
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
      InvalidArgument: neither neighbours nor data (DPA404), given datasets that are no neighbours (DPA407), data that are
        no records (DPA105) or empty (DPA109).
      Unsupported: an adjacency for which neighbours cannot be made from records (DPA409).
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
        return _made(target, adjacency)
    pairs = target.neighbours if isinstance(target.neighbours, Sequence) else _drawn(target.neighbours)
    for position, pair in enumerate(pairs):
        check(pair, adjacency, f"pair {position}")
    return tuple(Neighbours(first, second, describe(first, second)) for first, second in pairs)


def check(pair: tuple[Any, Any], adjacency: Adjacency, name: str = "the pair") -> None:
    """Refuse a pair of datasets that differ by more than the adjacency allows.

    Args:
      pair: two datasets. Only sequences of records, and vectors for norm balls, are judged; other inputs are taken as given.
      adjacency: the relation that the claim speaks of.
      name: how the pair is called in an error message.
    Raises:
      InvalidArgument: they are no neighbours (DPA407).
    Source: docs/auditing.md, "Which neighbours".
    Example:
      >>> check(([1, 2, 3], [1, 3]), Adjacency("add_remove"))
    """
    first, second = pair
    if adjacency.unit != "record":
        return
    if adjacency.kind == "norm_ball":
        _check_ball(first, second, adjacency, name)
        return
    if adjacency.kind not in _ALLOWED or not (is_dataset(first) and is_dataset(second)):
        return
    _, taken, put = changed_places(first, second)
    found = (taken, put) if _fits(taken, put, adjacency) else exchanged(first, second)
    if found is None or _fits(*found, adjacency):
        return
    raise InvalidArgument(
        "DPA407",
        f"{name}: {found[0]} of {len(first)} records are missing from the second dataset and {found[1]} of {len(second)} from the "
        f"first, but {adjacency} allows {_ALLOWED[adjacency.kind]}. Give neighbours, or claim the adjacency that they have; "
        'for vectors of query answers claim Adjacency("norm_ball", norm=..., radius=...).',
    )


def describe(first: Any, second: Any) -> str:
    """How two datasets differ, by position and never by value."""
    if not (is_dataset(first) and is_dataset(second)):
        kinds = type(first).__name__, type(second).__name__
        return f"two inputs of type {kinds[0]}" if kinds[0] == kinds[1] else f"inputs of type {kinds[0]} and {kinds[1]}"
    start, taken, put = changed_places(first, second)
    sizes = f"{len(first)} -> {len(second)} records" if len(first) != len(second) else f"{len(first)} records"
    if (taken, put) == (0, 0):
        return f"no difference, {sizes}"
    if (taken, put) in {(1, 0), (0, 1), (1, 1)}:
        action = {(1, 0): "removed", (0, 1): "added", (1, 1): "replaced"}[taken, put]
        return f"record {start} {action}, {sizes}"
    return f"records {start} to {start + max(taken, put) - 1} differ, {sizes}"


def _fits(taken: int, put: int, adjacency: Adjacency) -> bool:
    """Whether taking out and putting in so many records stays within the adjacency."""
    if adjacency.kind == "add_remove":
        return taken + put <= 1
    return taken <= 1 and put <= 1 and taken == put


def _check_ball(first: Any, second: Any, adjacency: Adjacency, name: str) -> None:
    """Refuse vectors further apart than the radius of the ball."""
    radius = rational(adjacency.radius) if adjacency.radius is not None else Fraction(0)
    try:
        apart = distance_exceeds(first, second, adjacency.norm or "l1", radius)
    except DpauditError:
        return
    if apart:
        raise InvalidArgument("DPA407", f"{name}: the two vectors are further apart than {adjacency} allows. Give closer ones.")


def _drawn(strategy: SearchStrategy[tuple[Any, Any]]) -> tuple[tuple[Any, Any], ...]:
    """Distinct pairs from a Hypothesis strategy, the same whenever it is asked."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    drawn: list[tuple[Any, Any]] = []

    @seed(0)
    @settings(
        max_examples=4 * MOST_DRAWN, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def collect(pair: Any) -> None:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidArgument("DPA404", f"the strategy must draw pairs (first, second), got a {type(pair).__name__}.")
        if not same(*pair) and not any(same(pair, other) for other in drawn):
            drawn.append(pair)

    collect()
    if not drawn:
        raise InvalidArgument("DPA404", "the strategy draws only pairs of equal datasets. Draw neighbours that differ.")
    return tuple(drawn[:MOST_DRAWN])


def _made(target: Target, adjacency: Adjacency) -> tuple[Neighbours, ...]:
    """Pairs made from the records of one dataset."""
    data = target.data
    if not is_dataset(data):
        raise InvalidArgument(
            "DPA105",
            f"data= must be a list, tuple or array of records, got a {type(data).__name__}. For other inputs give neighbours=.",
        )
    if adjacency.kind not in {"add_remove", "replace_one"} or adjacency.unit != "record":
        raise Unsupported(
            "DPA409", f"neighbours under {adjacency} are not made from records. Give neighbours=[(first, second), ...]."
        )
    if len(data) == 0:
        raise InvalidArgument("DPA109", "data= holds no record, so it has no neighbour to make. Give at least one record.")
    edits = _removals(data) if adjacency.kind == "add_remove" else _replacements(data)
    if not edits:
        raise Unsupported("DPA409", "all records are equal, so replacing one by another changes nothing. Give neighbours=.")
    return tuple(Neighbours(data, edit(), difference) for edit, difference in _most_telling(target, edits)[:MOST_MADE])


def _removals(data: Dataset) -> list[Edit]:
    """Taking out one record: the first, the last, and each that is extreme in some column."""
    places = dict.fromkeys([0, len(data) - 1, *(place for place, _ in extremes(data))])
    sizes = f"{len(data)} -> {len(data) - 1} records"
    return [(partial(without, data, place), f"record {place} removed, {sizes}") for place in places]


def _replacements(data: Dataset) -> list[Edit]:
    """Replacing an extreme record by one at the opposite extreme, and the first by the last."""
    swaps = dict.fromkeys([*extremes(data), (0, len(data) - 1)])
    return [
        (partial(replaced, data, place, source), f"record {place} replaced by record {source}, {len(data)} records")
        for place, source in swaps
        if not same(data[place], data[source])
    ]


def _most_telling(target: Target, edits: list[Edit]) -> list[Edit]:
    """The edits in the order of what they move the declared query by; in their own order where none is declared."""
    if target.sensitivity is None:
        return edits
    query, data = target.sensitivity.query, target.data
    size = data.size if isinstance(data, np.ndarray) else len(data)
    ranked = edits[: max(MOST_MADE, min(_MOST_RANKED, _MOST_NUMBERS // size))]
    try:
        copy = copied(data)
        before = fingerprint(copy)
        start = query(copy)
        if fingerprint(copy) != before:
            return edits  # a query that changes its input would change the pairs
        moved = [change(start, query(edit())) for edit, _ in ranked]
    except Exception:  # noqa: BLE001 - a query that fails is reported by its own check, not here
        return edits
    return [ranked[place] for place in sorted(range(len(ranked)), key=lambda place: (-moved[place], place))]
