"""Neighbours made from data under every adjacency, and the parts that a pair made so can do without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import Adjacency, Claim, PureDP, Sensitivity, Target
from dpaudit.auditor.data.records import same
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.pairs.kinds import check_neighbours, edits_of, operations_of
from dpaudit.auditor.pairs.shrinking import fewest, smaller_pair, without_needless

ROWS = [{"id": number % 3, "v": number, "label": number % 2} for number in range(9)]
TABLE = np.array([[1.0, 5.0, 0.0], [2.0, 4.0, 1.0], [3.0, 3.0, 1.0]])
GRAPH = {0: [1, 2], 1: [0], 2: [0, 3], 3: [2], 4: []}
MADE = [
    (ROWS, "zero_out"),
    (ROWS, "label"),
    (TABLE, "label"),
    (TABLE, "zero_out"),
    ((TABLE, np.array([0, 1, 1])), "label"),
    ((TABLE, ["a", "b", "b"]), "label"),
    ([1, 2, 3, 4], Adjacency("hamming", radius=3)),
    *((ROWS, Adjacency(kind, unit="user:id")) for kind in ("add_remove", "replace_one", "zero_out", "label")),
    (TABLE, Adjacency("replace_one", unit="user:2")),
    ([(1, "a"), (2, "b")], Adjacency("replace_one", unit="user:0")),
    *(
        (vector, Adjacency("norm_ball", norm=norm, radius=1))
        for norm in ("l1", "l2", "linf")
        for vector in (7, (1, 2, 2), np.ones(4))
    ),
    (GRAPH, "edge"),
    (GRAPH, "node"),
    ({0: (1,), 1: ()}, "edge"),
]


def target(data, adjacency, **parts):
    return Target(run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=1), adjacency=adjacency), data=data, **parts)


@pytest.mark.parametrize(("data", "adjacency"), MADE, ids=lambda value: str(value)[:30].replace("\n", " "))
def test_every_made_pair_is_a_pair_of_neighbours_that_differ_and_keeps_its_form(data, adjacency):
    pairs = candidate_pairs(target(data, adjacency))

    assert 1 <= len([pair for pair in pairs if not pair.is_part]) <= operations_of(Adjacency.of(adjacency), data).most
    for pair in pairs:
        check_neighbours((pair.first, pair.second), Adjacency.of(adjacency))
        assert not same(pair.first, pair.second)
        assert type(data) is type(pair.second)
    assert len(pairs) == len({repr((pair.first, pair.second)) for pair in pairs})


def test_a_whole_vector_stays_whole_where_the_radius_is():
    for norm in ("l1", "l2", "linf"):
        for make, _ in edits_of([3, 1, 2], Adjacency("norm_ball", norm=norm, radius=1)):
            assert all(isinstance(entry, int) for entry in make())
    assert 3.5 in edits_of([3, 1], Adjacency("norm_ball", norm="l1", radius="1/2"))[0][0]()


def test_a_vector_moves_all_at_once_against_each_other_and_alone():
    found = [make() for make, _ in edits_of([1] * 4, Adjacency("norm_ball", norm="linf", radius=1))]

    for expected in ([2] * 4, [0] * 4, [2, 2, 0, 0], [0, 2, 2, 2], [2, 0, 2, 0], [2, 2, 1, 1], [2, 1, 1, 1]):
        assert expected in found


def test_both_ends_of_an_edge_that_is_taken_out_forget_it():
    made, text = edits_of(GRAPH, Adjacency("edge"))[0]

    assert "edge between nodes 0 and 1 removed" == text
    assert {0: [2], 1: [], 2: [0, 3], 3: [2], 4: []} == made()


def test_the_largest_user_comes_first_and_keeps_the_key_under_other_adjacencies():
    rows = [(1, 5), (2, 6), (2, 7)]

    assert [(1, 5)] == edits_of(rows, Adjacency("add_remove", unit="user:0"))[0][0]()
    assert [(1, 5), (2, 0), (2, 0)] == edits_of(rows, Adjacency("zero_out", unit="user:0"))[0][0]()
    assert [(1, 5), (2, 5), (2, 5)] == edits_of(rows, Adjacency("replace_one", unit="user:0"))[0][0]()


def test_the_declared_query_ranks_moves_of_a_vector():
    declared = Sensitivity(query=lambda vector: vector[2], bound=1)
    first = candidate_pairs(target([1, 1, 1], Adjacency("norm_ball", norm="l1", radius=1), sensitivity=declared))[0]

    assert 1 == abs(first.second[2] - 1)


@given(count=st.integers(1, 400), needed=st.sets(st.integers(0, 399), min_size=1, max_size=4), changed=st.integers(0, 399))
def test_only_what_is_needed_is_left_after_few_questions(count, needed, changed):
    needed = {place % count for place in needed}
    asked = []

    def wanted(places):
        asked.append(places)
        return needed <= set(places)

    assert sorted(needed) == fewest(count, [changed % count], wanted)
    assert len(asked) <= 1 + 3 * (len(needed) + 1) * count.bit_length()


@pytest.mark.parametrize(
    ("data", "adjacency", "expected"),
    [
        (list(range(500)), "add_remove", ([0], [])),
        (np.arange(50.0), "replace_one", (np.array([0.0]), np.array([1.0]))),
        ((np.ones((40, 1)), list(range(40))), "label", ((np.ones((1, 1)), [0]), (np.ones((1, 1)), [1]))),
        (ROWS, Adjacency("add_remove", unit="user:id"), ([{"id": 0, "v": 0, "label": 0}], [])),
        ((5, 5, 5), Adjacency("norm_ball", norm="linf", radius=1), ((0, 0, 0), (0, 0, 1))),
        (GRAPH, "node", ({0: []}, {})),
        (GRAPH, "edge", ({0: [1], 1: [0]}, {0: [], 1: []})),
    ],
    ids=["records", "array", "labels", "users", "vector", "node", "edge"],
)
def test_a_made_pair_shrinks_to_its_change_where_every_change_refutes(data, adjacency, expected):
    made = target(data, adjacency)
    pair = candidate_pairs(made)[0]

    assert same(expected, smaller_pair(made, (pair.first, pair.second), lambda pair: not same(*pair)))


def test_a_pair_that_needs_all_its_records_stays_as_it_is():
    made = target([1, 2, 3], "add_remove")
    pair = candidate_pairs(made)[0]

    assert None is smaller_pair(made, (pair.first, pair.second), lambda smaller: False)


@pytest.mark.parametrize("pair", [({"a": 1}, {"a": 2}), (3, 4), ("first", "second")])
def test_of_inputs_that_are_no_datasets_nothing_is_left_out(pair):
    assert None is without_needless(pair, Adjacency("replace_one"), lambda smaller: True)


def test_given_pairs_are_left_as_they_are():
    given_pair = Target(run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=1)), neighbours=[([1, 2], [1])])

    assert None is smaller_pair(given_pair, ([1, 2], [1]), lambda pair: True)


def test_a_strategy_is_never_followed_to_what_are_no_neighbours():
    pairs = st.lists(st.integers(0, 9), min_size=3, max_size=6).map(lambda data: (data, data[1:] if data[0] > 4 else []))
    drawn = Target(run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=1)), neighbours=pairs.filter(lambda pair: pair[1] != []))
    start = candidate_pairs(drawn)[0]

    found = smaller_pair(drawn, (start.first, start.second), lambda pair: True)
    check_neighbours(found, Adjacency("add_remove"))
    assert ([5, 0, 0], [0, 0]) == found
