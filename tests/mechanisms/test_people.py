"""Records of people: bounded contributions against a plain loop, equality of keys, records that hold anything, columns."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError
from mechanisms.people import keys_of, limit_contributions, places_of, read_entries, read_people, units


class Hostile:
    """An entry that raises an error wherever it is looked at."""

    def __hash__(self):
        raise RuntimeError("seventeen")

    def __eq__(self, other):
        raise RuntimeError("seventeen")


ODD = st.sampled_from([None, math.nan, [1], {}, object, 1.5, Decimal("sNaN"), b"a", (1, [2]), ...]) | st.builds(Hostile)
entries = st.lists(st.integers(-3, 3) | st.sampled_from("abc") | ODD | st.booleans(), max_size=30)


def plain_bounded(places, people, contributions):
    """What each person adds, in the plainest way."""
    own = {}
    for place, person in zip(places, people, strict=True):
        mine = own.setdefault(person, [])
        if person >= 0 and place >= 0 and place not in mine and len(mine) < contributions:
            mine.append(place)
    return sorted(place for mine in own.values() for place in mine)


@given(rows=st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 3)), max_size=40), contributions=st.integers(1, 6))
def test_each_person_adds_the_first_different_places_of_the_own_records(rows, contributions):
    where, who = (np.array([row[side] for row in rows], dtype=np.int64) for side in (0, 1))
    assert plain_bounded(where.tolist(), who.tolist(), contributions) == sorted(
        limit_contributions(where, who, contributions).tolist()
    )


@given(
    rows=st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3)), max_size=30),
    contributions=st.integers(1, 3),
    person=st.integers(0, 3),
)
def test_without_a_person_at_most_the_contributions_are_missing_and_nothing_else_changes(rows, contributions, person):
    def counts(rows):
        where, who = (np.array([row[side] for row in rows], dtype=np.int64) for side in (0, 1))
        return np.bincount(limit_contributions(where, who, contributions), minlength=5)

    less = counts(rows) - counts([row for row in rows if row[1] != person])
    assert set(less.tolist()) <= {0, 1}
    assert less.sum() <= contributions


def test_without_people_every_record_counts():
    assert [2, 0, 2] == limit_contributions(np.array([2, -1, 0, 2]), None, 1).tolist()


@given(entries=entries)
def test_places_are_those_of_a_dictionary_and_nothing_raises(entries):
    table = {0: 0, "a": 1, 2: 2, "b": 3}

    def place(entry):
        return next((where for key, where in table.items() if isinstance(entry, (int, str)) and key == entry), -1)

    assert [place(entry) for entry in entries] == places_of(entries, table).tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool", "float64", "object", "U5"])
@pytest.mark.parametrize(
    "table", [{3: 0, 0: 1, 1: 2}, {3: 0, 2**40: 1, 1: 2}, {"1": 0, 1: 1}, {"1": 0, "True": 1}, {2**70: 0, 1: 1}]
)
def test_places_of_arrays_are_those_of_their_entries(dtype, table):
    array = np.array([0, 1, 1, 3, 100], dtype=dtype)
    assert places_of(array.tolist(), table).tolist() == places_of(array, table).tolist()
    assert places_of(array[:0], table).size == 0


@pytest.mark.parametrize("key", [2**63 - 1, -(2**63)])
def test_places_at_the_ends_of_the_integers_are_found(key):
    array = np.array([key, 0, 2**63 - 1, -(2**63)])
    assert [int(entry == key) - 1 for entry in array.tolist()] == places_of(array, {key: 0}).tolist()


@given(entries=entries, order=st.randoms(use_true_random=False))
def test_keys_are_plain_ints_and_strings_whatever_order_the_records_come_in(entries, order):
    numbers, keys = keys_of(entries)
    assert all(type(key) in {int, str} for key in keys)
    found = [keys[number] if number >= 0 else None for number in numbers.tolist()]
    expected = [int(entry) if isinstance(entry, int) else entry if isinstance(entry, str) else None for entry in entries]
    assert expected == found
    shuffled = list(entries)
    order.shuffle(shuffled)
    assert set(keys) == set(keys_of(shuffled)[1])


@pytest.mark.parametrize("array", [np.array([3, 1, 3]), np.array(["x", "y", "x"]), np.array([1.5, 2.0]), np.array([True, False])])
def test_keys_of_arrays_are_those_of_their_entries(array):
    numbers, keys = keys_of(array)
    same, listed = keys_of(array.tolist())
    assert set(keys) == set(listed)
    assert [None if n < 0 else keys[n] for n in numbers] == [None if n < 0 else listed[n] for n in same]


@given(people=st.lists(st.integers(0, 3) | st.sampled_from("ab") | ODD, max_size=20))
def test_people_are_numbered_by_equality_and_records_without_a_person_count_nowhere(people):
    numbers = read_people(people, len(people), 2)
    known = [(person, number) for person, number in zip(people, numbers.tolist(), strict=True) if isinstance(person, (int, str))]
    assert all(number >= 0 for _, number in known)
    for (one, first), (another, second) in itertools.combinations(known, 2):
        assert (one == another) == (first == second)
    assert all(-1 == number for person, number in zip(people, numbers, strict=True) if person is None or type(person) is Hostile)


@pytest.mark.parametrize("people", [[None, None], [math.nan, np.float64("nan")], [[1], {}], [Hostile(), Decimal("sNaN")]])
def test_a_record_without_a_person_counts_nowhere(people):
    first, second, third = read_people([*people, "a"], 3, 1).tolist()
    assert (-1, -1) == (first, second)
    assert third >= 0


def test_people_of_arrays_are_numbered_like_their_entries():
    assert [1, 0, 1] == read_people(np.array([7, 3, 7]), 3, 1).tolist()
    assert [0, -1, 0, 2] == read_people(np.array([2.5, math.nan, 2.5, 1.0]), 4, 1).tolist()
    assert [0, 1, 0] == read_people(np.array(["x", "y", "x"]), 3, 1).tolist()


def test_one_record_a_person_needs_no_column_of_people():
    assert read_people(None, 3, 1) is None
    with pytest.raises(DpauditError, match="DPA106"):
        read_people(None, 3, 2)


@pytest.mark.parametrize(("people", "records"), [([1, 2], 3), (5, 1), ("ab", 2), (np.zeros((2, 2)), 2)])
def test_columns_that_do_not_fit_are_refused(people, records):
    with pytest.raises(DpauditError, match="DPA105"):
        read_people(people, records, 1)


@pytest.mark.parametrize("column", ["abc", b"abc", 7, None, np.zeros((2, 2)), np.array(3)])
def test_what_is_no_column_is_refused(column):
    with pytest.raises(DpauditError, match="DPA105"):
        read_entries(column, "values")


def test_columns_may_be_any_iterable():
    assert [0, 1, 2] == read_entries(iter(range(3)), "values")
    assert [Fraction(1, 2)] == read_entries((Fraction(1, 2),), "values")


def test_people_are_counted_under_two_relations_only():
    assert (1, 2) == (units(Adjacency("add_remove")), units(Adjacency("replace_one")))
    assert 1 == units(Adjacency("add_remove", unit="user:name"))
    for other in (Adjacency("label"), Adjacency("zero_out"), Adjacency("norm_ball", norm="l1", radius=1)):
        with pytest.raises(DpauditError, match="DPA103"):
            units(other)
