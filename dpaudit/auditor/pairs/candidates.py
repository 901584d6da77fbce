"""Candidate pairs of a target: given and checked against the adjacency, drawn from a strategy, or made from its data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dpaudit.auditor.data.named import NOTHING, values_named
from dpaudit.auditor.data.records import dataset_like, fingerprint, is_dataset, records_of
from dpaudit.auditor.data.tables import is_table
from dpaudit.auditor.pairs.drawing import draw_pairs
from dpaudit.auditor.pairs.kinds import check_neighbours, edits_of, operations_of
from dpaudit.auditor.pairs.parts import drop_duplicates
from dpaudit.auditor.pairs.relations import describe
from dpaudit.auditor.pairs.searched import MOST_RECORDS, Draft, Scope, search_nothing
from dpaudit.auditor.pairs.walks import count_walks
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.targets import Sensitivity, Target


@dataclass(frozen=True)
class Neighbours:
    """A candidate pair, `first` for label 0 and `second` for label 1; `difference` says by position how they differ.

    `is_part` where neither side is the dataset that was given, but both are made of few or of tied records of it. `family` names
    the kind of the datasets where they are only searched among, `labels` say what is unlike the data about them, and pairs of one
    `way` that follow each other share a dataset.
    """

    first: Any = field(repr=False)
    second: Any = field(repr=False)
    difference: str
    is_part: bool = False
    family: str = ""
    labels: frozenset[str] = frozenset()
    way: int | None = None

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
                "Give pairs of datasets that differ in one record, neighbours=[(first, second)], or one dataset, data=[...].",
            )
        return tuple(_made(target.data, adjacency, target.sensitivity))
    pairs = target.neighbours if isinstance(target.neighbours, Sequence) else draw_pairs(target.neighbours)
    for position, pair in enumerate(pairs):
        check_neighbours(pair, adjacency, f"pair {position}")
    return tuple(Neighbours(first, second, describe(first, second)) for first, second in pairs)


def is_searchable(target: Target) -> bool:
    """True if a target gives records among which datasets can be searched."""
    data, adjacency = target.data, target.claim.relation
    return (is_dataset(data) or is_table(data)) and operations_of(adjacency, data).search is not search_nothing


def searched_pairs(target: Target, known: Sequence[Neighbours], most: int) -> tuple[Neighbours, ...]:
    """Pairs of datasets that do not stand in the data, at most so many before the ways, the same in every process.

    Values are made up only where nothing declared says which there may be: a query, a proof or a law of the output may be for some.
    """
    adjacency, data = target.claim.relation, target.data
    if not is_searchable(target):
        return ()
    own = records_of(data)
    beyond = target.sensitivity is None and target.pmf is None and not target.proof
    # A function may do something else at a value that its source names, and nowhere near.
    scope = Scope(beyond, values_named(target.function) if beyond else NOTHING, count_walks(most))
    pairs = _finished(data, own, operations_of(adjacency, data).search(own, adjacency, scope))
    return tuple(_distinct(pairs, known, most))


def _finished(data: Any, own: list[Any], drafts: Iterator[Draft]) -> Iterator[Neighbours]:
    """Make datasets of drafts, one for all that share their records; values that no column can hold are left out."""
    # The records are kept, so that no other gets the address of one.
    made: dict[tuple[int, ...], tuple[list[Any], Any]] = {tuple(map(id, own)): (own, data)}

    def dataset(rows: list[Any]) -> Any:
        key = tuple(map(id, rows))
        if key not in made:
            made[key] = rows, dataset_like(data, own, rows)
        return made[key][1]

    for draft in drafts:
        sides: list[Any] = []
        with suppress(Exception):  # whatever a library says of a value that its column does not hold
            sides = [dataset(draft.first), dataset(draft.second)]
        if not sides:
            continue
        first, second = sides
        text = f"{_change(draft)}, {', '.join(filter(None, (draft.family, draft.words)))}"
        yield Neighbours(first, second, text, is_part=True, family=draft.family, labels=draft.labels, way=draft.way)


def _change(draft: Draft) -> str:
    """Say which record the second dataset lacks, has more, or has another one for; records are compared as objects."""
    sizes = len(draft.first), len(draft.second)
    pairs = zip(draft.first, draft.second, strict=False)
    place = next((place for place, (one, other) in enumerate(pairs) if one is not other), min(sizes))
    if sizes[0] == sizes[1]:
        return f"record {place} replaced, {sizes[0]} records"
    return f"record {place} {'removed' if sizes[0] > sizes[1] else 'added'}, {sizes[0]} -> {sizes[1]} records"


def _distinct(pairs: Iterator[Neighbours], known: Sequence[Neighbours], most: int) -> Iterator[Neighbours]:
    """Keep the pairs that differ from the known ones and from each other, at most so many; one of each kind, and steps of ways."""
    prints: dict[int, Any] = {}

    def print_of(data: Any) -> Any:
        if id(data) not in prints:
            # Of large datasets those are the same that are one object.
            prints[id(data)] = (fingerprint(data) if len(data) <= MOST_RECORDS else None) or id(data)
        return prints[id(data)]

    seen = {(print_of(pair.first), print_of(pair.second)) for pair in known}
    count, alive, kinds = 0, [], set[str]()
    for pair in pairs:
        alive.append(pair)  # so that no other dataset gets the address of one
        if pair.way is not None:
            yield pair
            continue
        key = print_of(pair.first), print_of(pair.second)
        if (count < most or pair.labels - kinds) and key not in seen and key[0] != key[1]:
            seen.add(key)
            kinds |= pair.labels
            count += 1
            yield pair


def _made(data: Any, adjacency: Adjacency, sensitivity: Sensitivity | None) -> Iterator[Neighbours]:
    """Pair a dataset with its neighbours, then few and tied records of it with theirs."""
    edited = [Neighbours(data, make(), difference) for make, difference in edits_of(data, adjacency, sensitivity)]
    yield from edited
    parts = operations_of(adjacency, data).parts(data, adjacency)
    for first, second, difference in drop_duplicates(parts, [(pair.first, pair.second) for pair in edited]):
        yield Neighbours(first, second, difference, is_part=True)
