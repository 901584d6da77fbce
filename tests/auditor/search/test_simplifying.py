"""Values of a pair made from data become simple without leaving what the data hold, and the pair stays one of neighbours."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import Adjacency, Claim, PureDP, Target
from dpaudit.auditor.data.records import same
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.pairs.kinds import check_neighbours, operations_of
from dpaudit.auditor.pairs.shrinking import smaller_pair
from dpaudit.auditor.pairs.simplifying import align_records

PEOPLE = [
    {"id": 9, "age": 41, "ill": True, "place": "Paris"},
    {"id": 9, "age": 90, "ill": False, "place": "Rome"},
    {"id": 7, "age": 18, "ill": True, "place": "Ulm"},
]


def shrunk(data, adjacency, wanted, place=0):
    target = Target(run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=1), adjacency=adjacency), data=data)
    pair = candidate_pairs(target)[place]
    return smaller_pair(target, (pair.first, pair.second), wanted)


@pytest.mark.parametrize(
    ("data", "adjacency", "expected"),
    [
        (PEOPLE, "add_remove", [{"id": 7, "age": 18, "ill": False, "place": "Ulm"}]),
        (PEOPLE, Adjacency("add_remove", unit="user:id"), [{"id": 9, "age": 18, "ill": False, "place": "Ulm"}]),
        ([(5, "b"), (-3, "a")], "add_remove", [(0, "a")]),
        (np.array([[5.5, 2.0], [9.0, 3.0]]), "add_remove", np.array([[5.5, 2.0]])),
        ([math.nan, 2.0, 7.0], "add_remove", [2.0]),
        ([-8, -2], "add_remove", [-2]),
    ],
    ids=["mappings", "user", "rows", "array", "nan", "negative"],
)
def test_values_become_the_simplest_of_their_field(data, adjacency, expected):
    first, second = shrunk(data, adjacency, lambda pair: not same(*pair))

    assert same(expected, max(first, second, key=len))
    assert 0 == min(len(first), len(second))
    assert type(data) is type(first)


def test_a_number_stops_at_the_value_from_which_on_the_claim_fails():
    first, second = shrunk([3, 500, -1000], "add_remove", lambda pair: abs(sum(pair[0]) - sum(pair[1])) >= 137, place=1)

    assert [-137] == max(first, second, key=len)


def simplify(pair, adjacency, data, wanted):
    return operations_of(adjacency, *pair).simplify(pair, adjacency, data, wanted)


def test_what_both_sides_share_stays_shared_and_the_null_record_stays_null():
    for adjacency in ("zero_out", "label", "replace_one", Adjacency("hamming", radius=2)):
        rows = [(4, 6, 1), (5, 9, 2), (2, 7, 3)]
        pair = shrunk(rows, adjacency, lambda pair: len(pair[0]) > 1 and not same(*pair))

        check_neighbours(pair, Adjacency.of(adjacency))
        if adjacency == "zero_out":
            assert (0, 0, 0) in pair[1]
        if adjacency == "label":
            assert [row[:-1] for row in pair[0]] == [row[:-1] for row in pair[1]]


@pytest.mark.parametrize("vector", [[40, -7, 3], np.array([40.5, -7.0, 3.0]), 12, (2.0**60, 1.0, 1.0)])
def test_a_vector_moves_towards_zero_with_its_neighbour(vector):
    adjacency = Adjacency("norm_ball", norm="linf", radius=1)
    free = shrunk(vector, adjacency, lambda pair: True)
    bound = shrunk(vector, adjacency, lambda pair: np.ravel(pair[0])[0] >= 10)

    check_neighbours(free, adjacency)
    check_neighbours(bound, adjacency)
    assert 0 == np.abs(np.ravel(free[0])).sum()
    assert 10 == np.ravel(bound[0])[0]
    assert 0 == np.abs(np.ravel(bound[0])[1:]).sum()


def test_vectors_with_values_that_are_no_numbers_stay_as_they_are():
    pair = ([math.nan, 1.0], [math.nan, 2.0])

    assert pair is simplify(pair, Adjacency("norm_ball", norm="l1", radius=1), pair[0], lambda other: True)


@pytest.mark.parametrize(
    ("pair", "adjacency", "asked"),
    [
        ((list(range(9, 900)), list(range(10, 900))), Adjacency("add_remove"), []),
        (([3] * 900, [3] * 899 + [4]), Adjacency("norm_ball", norm="l1", radius=1), [([0] * 900, [0] * 899 + [1])]),
    ],
    ids=["records", "vector"],
)
def test_of_many_values_only_a_vector_is_tried_at_once(pair, adjacency, asked):
    found = []

    assert pair is simplify(pair, adjacency, pair[0], found.append)
    assert asked == found


ROWS = st.lists(st.tuples(st.integers(-50, 50), st.booleans(), st.sampled_from(["", "a", "bb", "ccc"])), min_size=2, max_size=6)


@given(rows=ROWS, kind=st.sampled_from(["add_remove", "replace_one", "zero_out", "label"]), modulus=st.integers(1, 5))
def test_every_pair_that_is_asked_for_keeps_to_the_data_and_whatever_is_found_is_wanted(rows, kind, modulus):
    adjacency = Adjacency(kind)
    second = {
        "add_remove": rows[1:],
        "replace_one": [(rows[0][0] + 1, *rows[0][1:]), *rows[1:]],
        "zero_out": [(0, False, ""), *rows[1:]],
        "label": [(*rows[0][:-1], rows[0][-1] + "x"), *rows[1:]],
    }[kind]
    low, high = min(row[0] for row in [*rows, *second]), max(row[0] for row in [*rows, *second])
    asked = []

    def wanted(pair):
        asked.append(pair)
        return sum(row[0] for side in pair for row in side) % modulus == 0

    found = simplify((rows, second), adjacency, rows, wanted)

    assert len(asked) <= 400
    for pair in asked:
        assert all(min(low, 0) <= row[0] <= max(high, 0) for side in pair for row in side)
        assert all(row[2] in {old[2] for old in [*rows, *second]} for side in pair for row in side)
    assert found == (rows, second) or found in asked
    assert found == (rows, second) or wanted(found)
    if kind == "add_remove" and rows.count(rows[0]) == 1:
        check_neighbours(found, adjacency)


def test_places_that_belong_together_are_found_in_both_directions():
    assert [(0, 0), (1, None), (2, 1)] == align_records([5, 6, 7], [5, 7])
    assert [(0, 0), (None, 1), (1, 2)] == align_records([5, 7], [5, 6, 7])
    assert [(0, 0), (1, 1)] == align_records([5, 7], [5, 8])
