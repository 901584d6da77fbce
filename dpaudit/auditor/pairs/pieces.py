"""What the two sides of a pair of records share, record by record, and the pairs that keep some of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dpaudit.auditor.data.records import Dataset, is_dataset, is_labelled, same, take_records
from dpaudit.auditor.pairs.relations import Pair, Pieces


def record_pieces(first: Any, second: Any) -> Pieces:
    """The records of either dataset, where both have one only once; nothing of other inputs can be left out."""
    if is_labelled(first) and is_labelled(second) and len(first[1]) == len(second[1]):
        return label_pieces(first, second)
    if not (is_dataset(first) and is_dataset(second)):
        return 0, lambda _: (first, second), ()
    slots = align_records(first, second)

    def keeping(kept: Collection[int]) -> Pair:
        chosen = [slots[place] for place in kept]
        return (
            take_records(first, [one for one, _ in chosen if one is not None]),
            take_records(second, [other for _, other in chosen if other is not None]),
        )

    changed = [
        place for place, (one, other) in enumerate(slots) if one is None or other is None or not same(first[one], second[other])
    ]
    return len(slots), keeping, changed


def label_pieces(first: Any, second: Any) -> Pieces:
    """The records of inputs (features, labels)."""
    changed = [place for place in range(len(first[1])) if not same(first[1][place], second[1][place])]

    def keeping(kept: Collection[int]) -> Pair:
        before, after = (tuple(take_records(part, kept) for part in side) for side in (first, second))
        return before, after

    return len(first[1]), keeping, changed


def align_records(first: Dataset, second: Dataset) -> list[tuple[int | None, int | None]]:
    """Places that belong together: one to one, or None where a record of the longer dataset is not in the other."""
    if len(first) == len(second):
        return [(place, place) for place in range(len(first))]
    if len(first) < len(second):
        return [(one, other) for other, one in align_records(second, first)]
    slots: list[tuple[int | None, int | None]] = []
    place = 0
    for number in range(len(first)):
        found = place < len(second) and same(first[number], second[place])
        slots.append((number, place if found else None))
        place += found
    return slots
