"""What the proofs take as given of numpy: every entry gets what Python computes, as long as it fits, at 8 bits for all numbers."""

from __future__ import annotations

import itertools
import operator

import numpy as np
import pytest

BYTES = {np.uint8: range(256), np.int8: range(-128, 128)}
EDGES = {
    np.uint64: [0, 1, 2, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1],
    np.int64: [-(2**63), -(2**62), -(2**53) - 1, -1, 0, 1, 2**53 + 1, 2**62, 2**63 - 1],
}
OPERATIONS = [
    operator.add, operator.sub, operator.mul, operator.and_, operator.lt, operator.le, operator.gt, operator.ge, operator.ne,
]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", [*BYTES, *EDGES])
def test_an_operation_is_that_of_python_on_every_entry_where_it_fits(operation, dtype):
    numbers = BYTES.get(dtype) or EDGES[dtype]
    pairs = np.array(list(itertools.product(numbers, numbers)), dtype=dtype)
    found = operation(pairs[:, 0], pairs[:, 1])
    wanted = [operation(one, other) for one, other in itertools.product(numbers, numbers)]
    limits = np.iinfo(dtype)
    assert [(place, value) for place, value in enumerate(wanted) if limits.min <= value <= limits.max] == [
        (place, int(found[place])) for place, value in enumerate(wanted) if limits.min <= value <= limits.max
    ]


@pytest.mark.parametrize("dtype", [*BYTES, *EDGES])
def test_words_are_moved_by_fewer_places_than_they_have_and_divided_as_python_does(dtype):
    numbers, width = BYTES.get(dtype) or EDGES[dtype], np.iinfo(dtype).bits
    array = np.array(list(numbers), dtype=dtype)
    for places in range(width):
        assert [one >> places for one in numbers] == (array >> dtype(places)).tolist()
        fitting = [(one << places) == int(moved) for one, moved in zip(numbers, array << dtype(places), strict=True)]
        assert [np.iinfo(dtype).min <= one << places <= np.iinfo(dtype).max for one in numbers] == fitting
    for unit in {abs(one) for one in numbers if 0 < one < np.iinfo(dtype).max}:
        quotients, rests = np.divmod(array, dtype(unit))
        assert [divmod(one, unit) for one in numbers] == list(zip(quotients.tolist(), rests.tolist(), strict=True))


def test_places_of_a_mask_are_different_and_in_order_and_entries_stay_with_their_places():
    for pattern in itertools.product([False, True], repeat=6):
        mask, values = np.array(pattern), np.arange(10, 16)
        places = np.flatnonzero(mask)
        assert [place for place, is_there in enumerate(pattern) if is_there] == places.tolist()
        assert [value for value, is_there in zip(range(10, 16), pattern, strict=True) if is_there] == values[mask].tolist()
        assert values[places].tolist() == values.take(places).tolist() == values[mask].tolist()
        changed = values.copy()
        changed[places] = -values[places]
        assert [-value if is_there else value for value, is_there in zip(range(10, 16), pattern, strict=True)] == changed.tolist()
        for first in range(6):
            assert sum(place < first for place in places.tolist()) == np.searchsorted(places, first)


def test_runs_of_equal_numbers_follow_each_other():
    for lengths in itertools.product(range(3), repeat=4):
        counts, values = np.array(lengths), np.arange(4) * 7
        run = np.repeat(values, counts)
        assert [value for value, length in zip(values.tolist(), lengths, strict=True) for _ in range(length)] == run.tolist()
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        assert [place for length in lengths for place in range(length)] == inside.tolist()


def test_numbers_are_sorted_grouped_and_counted_as_python_does():
    for entries in itertools.product(range(3), repeat=5):
        array = np.array(entries, dtype=np.int64)
        order = np.argsort(array)
        assert [*range(5)] == sorted(order.tolist())
        assert sorted(entries) == array[order].tolist() == np.sort(array).tolist()
        begins = np.flatnonzero(np.diff(array[order], prepend=-1))
        different = sorted({*entries})
        assert [entries.index(one) for one in different] == np.minimum.reduceat(order, begins).tolist()
        assert [entries.count(one) for one in different] == np.diff(begins, append=5).tolist()
        found, numbers = np.unique(array, return_inverse=True)
        assert (different, [*entries]) == (found.tolist(), found[numbers].tolist())
        assert [entries.count(one) for one in range(4)] == np.bincount(array, minlength=4).tolist()
        assert [one in (0, 2) for one in entries] == np.isin(array, [0, 2]).tolist()
        assert [min(max(one, 1), 2) for one in entries] == np.clip(array, 1, 2).tolist()


def test_whole_numbers_below_2_to_53_and_powers_of_two_are_exact_in_float64():
    whole = [*range(-300, 300), *(sign * (2**53 - step) for sign in (-1, 1) for step in range(1, 50))]
    for shift in (0, 1, 52, 999, 1000):
        scaled = np.ldexp(np.array(whole, dtype=np.int64).astype(np.float64), -shift)
        back = np.ldexp(scaled, shift)
        assert whole == back.astype(np.int64).tolist()
        assert [(number * 2 ** (1000 - shift)) for number in whole] == [
            top * 2**1000 // bottom for top, bottom in map(float.as_integer_ratio, scaled.tolist())
        ]


def test_numbers_are_counted_against_entries_in_order_and_running_ends_are_those_of_all_before():
    for entries in itertools.product(range(4), repeat=4):
        array = np.array(entries, dtype=np.uint64)
        assert [max(entries[: place + 1]) for place in range(4)] == np.maximum.accumulate(array).tolist()
        assert [min(entries[place:]) for place in range(4)] == np.minimum.accumulate(array[::-1])[::-1].tolist()
        ordered = np.sort(array)
        counted = np.searchsorted(ordered, np.arange(5, dtype=np.uint64), side="right")
        assert [sum(entry <= number for entry in entries) for number in range(5)] == counted.tolist()
