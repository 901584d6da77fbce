"""Pairs of neighbouring datasets: given ones are checked, others are made or drawn, always the same ones."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpaudit import Adjacency, Claim, PureDP, Sensitivity, Target
from dpaudit.auditor.data.records import count_exchanged, extremes, is_dataset, same, without
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.pairs.drawing import MOST_DRAWN
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.auditor.pairs.relations import describe
from dpaudit.errors import InvalidArgument, Unsupported

ADD_REMOVE = Adjacency("add_remove")
REPLACE_ONE = Adjacency("replace_one")
RECORDS = st.one_of(
    st.integers(-5, 5),
    st.floats(),
    st.text(max_size=2),
    st.tuples(st.integers(0, 3), st.floats(0, 1)),
    st.dictionaries(st.text(max_size=1), st.integers(0, 3), max_size=2),
)


def target(adjacency="add_remove", **parts):
    return Target(run=lambda data, rng: 0, claim=Claim(PureDP(epsilon=1), adjacency=adjacency), **parts)


@given(data=st.lists(RECORDS, min_size=1, max_size=12), container=st.sampled_from([list, tuple]))
def test_every_pair_made_by_removal_is_a_pair_of_neighbours(data, container):
    pairs = candidate_pairs(target(data=container(data)))

    assert 1 <= len([pair for pair in pairs if not pair.is_part]) <= 8
    for pair in pairs:
        check_neighbours((pair.first, pair.second), ADD_REMOVE)
        assert len(pair.first) - 1 == len(pair.second)


@given(data=st.lists(RECORDS, min_size=2, max_size=12))
@example(data=[{"": 0, "0": 0}, {}, {"": 0, "0": 0}])
def test_every_pair_made_by_replacement_is_a_pair_of_neighbours_that_differ(data):
    if all(same(data[0], record) for record in data):
        with pytest.raises(Unsupported, match="DPA409"):
            candidate_pairs(target("replace_one", data=data))
        return
    for pair in candidate_pairs(target("replace_one", data=data)):
        check_neighbours((pair.first, pair.second), REPLACE_ONE)
        assert (1, 1) == count_exchanged(pair.first, pair.second)


@given(data=st.lists(RECORDS, min_size=3, max_size=8), places=st.sets(st.integers(0, 2), min_size=2))
def test_two_records_less_are_refused(data, places):
    fewer = [record for place, record in enumerate(data) if place not in places]

    with pytest.raises(InvalidArgument, match="DPA407"):
        check_neighbours((data, fewer), ADD_REMOVE)


@given(data=st.lists(RECORDS, min_size=1, max_size=8), record=RECORDS, place=st.integers(0, 8))
def test_one_record_more_is_a_neighbour_wherever_it_stands(data, record, place):
    check_neighbours((data, [*data[:place], record, *data[place:]]), ADD_REMOVE)


@given(data=st.lists(st.integers(), min_size=2, max_size=8))
def test_the_order_of_the_records_does_not_matter(data):
    check_neighbours((data, data[:0:-1]), ADD_REMOVE)
    check_neighbours((data, data[::-1]), REPLACE_ONE)


def test_a_replaced_record_is_refused_under_add_remove_and_the_other_way_round():
    with pytest.raises(InvalidArgument, match="DPA407"):
        candidate_pairs(target(neighbours=[([1, 2, 3], [1, 2, 4])]))
    with pytest.raises(InvalidArgument, match="DPA407"):
        candidate_pairs(target("replace_one", neighbours=[([1, 2, 3], [1, 2])]))


def test_the_refusal_names_counts_and_never_a_record():
    with pytest.raises(InvalidArgument) as refusal:
        check_neighbours((["alice", "bob", "carol"], ["alice"]), ADD_REMOVE)

    assert "2 records are only in the first dataset and 0 only in the second" in str(refusal.value)
    assert not any(name in str(refusal.value) for name in ("alice", "bob", "carol"))


def test_vectors_must_lie_within_the_ball():
    ball = Adjacency("norm_ball", norm="linf", radius=1)

    check_neighbours(([1, 1, 1], [2, 2, 0]), ball)
    with pytest.raises(InvalidArgument, match="DPA407"):
        check_neighbours(([1, 1, 1], [2, 2, 4]), ball)


@pytest.mark.parametrize(
    "pair", [(0, 1), ("one", "two"), ({"a": 1}, {"b": 2}), ((np.ones(3), np.ones(3)), (np.zeros(3), np.ones(3)))]
)
def test_inputs_that_are_not_plainly_records_are_taken_as_given(pair):
    check_neighbours(pair, ADD_REMOVE)


def test_arrays_are_compared_by_rows():
    table = np.arange(12.0).reshape(4, 3)

    check_neighbours((table, np.delete(table, 2, axis=0)), ADD_REMOVE)
    with pytest.raises(InvalidArgument, match="DPA407"):
        check_neighbours((table, table[:2]), ADD_REMOVE)


def test_candidates_are_the_first_the_last_and_the_extreme_records():
    places = [pair.difference for pair in candidate_pairs(target(data=[5, 9, 1, 6, 5])) if not pair.is_part]

    assert [f"record {place} removed, 5 -> 4 records" for place in (0, 4, 1, 2)] == places


def test_a_record_that_is_extreme_in_most_columns_comes_first():
    rows = [{"a": 0, "b": 5, "c": 2}, {"a": 9, "b": 9, "c": 9}, {"a": 1, "b": 0, "c": 0}]

    assert 1 == extremes(rows)[0][0]


def test_the_rarest_text_is_extreme():
    assert {(2, 0), (0, 2)} == set(extremes([{"colour": "red"}, {"colour": "red"}, {"colour": "blue"}]))


def test_the_declared_query_ranks_the_candidates():
    declared = Sensitivity(query=lambda data: sum(record[1] for record in data), bound=100)
    pairs = candidate_pairs(target(data=[(9, 0), (0, 1), (3, 50), (4, 2)], sensitivity=declared))

    assert "record 2 removed, 4 -> 3 records" == pairs[0].difference


def test_array_data_keep_their_type():
    pairs = candidate_pairs(target("replace_one", data=np.array([3.0, 1.0, 2.0])))

    assert all(isinstance(pair.second, np.ndarray) for pair in pairs)
    assert [3.0, 3.0, 2.0] in [pair.second.tolist() for pair in pairs]


def test_pairs_from_a_strategy_are_few_distinct_and_always_the_same():
    strategy = st.lists(st.integers(0, 9), min_size=1, max_size=4).map(lambda data: (data, data[1:]))
    first, second = (candidate_pairs(target(neighbours=strategy)) for _ in range(2))

    assert first == second
    assert 2 <= len(first) <= MOST_DRAWN
    assert len(first) == len({repr((pair.first, pair.second)) for pair in first})


@pytest.mark.parametrize(
    ("strategy", "code"),
    [(st.just((1, 1)), "DPA404"), (st.just(3), "DPA404"), (st.just(([1, 2, 3], [1])), "DPA407")],
)
def test_strategies_without_neighbours_are_refused(strategy, code):
    with pytest.raises(InvalidArgument, match=code):
        candidate_pairs(target(neighbours=strategy))


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({}, "DPA404"),
        ({"data": []}, "DPA109"),
        ({"data": "text"}, "DPA105"),
        ({"data": 7}, "DPA105"),
        ({"data": (np.ones((3, 2)), np.ones(3))}, "DPA105"),
        ({"data": [(1, 0), (2, 0)], "adjacency": "label"}, "DPA409"),
        ({"data": [{"a": 1}, {"a": 2}], "adjacency": "label"}, "DPA105"),
        ({"data": [1, 1], "adjacency": "replace_one"}, "DPA409"),
        ({"data": [0, 0], "adjacency": "zero_out"}, "DPA409"),
        ({"data": [{"id": 1}, {}], "adjacency": Adjacency("add_remove", unit="user:id")}, "DPA105"),
        ({"data": [[1], [2]], "adjacency": "edge"}, "DPA105"),
        ({"data": {}, "adjacency": "node"}, "DPA109"),
        ({"data": {0: []}, "adjacency": "edge"}, "DPA409"),
        ({"data": ["a"], "adjacency": Adjacency("norm_ball", norm="l1", radius=1)}, "DPA105"),
        ({"data": [], "adjacency": Adjacency("norm_ball", norm="l1", radius=1)}, "DPA109"),
    ],
)
def test_data_without_neighbours_are_refused_with_a_code(parts, code):
    with pytest.raises((InvalidArgument, Unsupported), match=code):
        candidate_pairs(target(**parts))


def test_a_single_record_has_the_empty_dataset_as_its_neighbour():
    assert [] == candidate_pairs(target(data=[4]))[0].second


@given(data=st.lists(RECORDS, min_size=1, max_size=6), place=st.integers(0, 5))
def test_a_description_never_shows_a_record(data, place):
    text = describe(data, without(data, {place % len(data)}))

    assert text.startswith(("record ", "records "))
    assert set("".join(part for part in text.split() if not part.isdigit())) <= set("recordsmvdiffnolywht->,0123456789")


def test_a_tuple_of_arrays_may_be_features_and_labels():
    assert not is_dataset((np.ones((3, 2)), np.ones(3)))
    assert is_dataset([np.ones(2), np.zeros(2)])
