"""What counts as a neighbour under each adjacency, and that a difference which is too large is refused without showing it."""

import numpy as np
import pytest

from dpaudit import Adjacency
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.auditor.pairs.relations import describe
from dpaudit.errors import InvalidArgument

ROWS = [{"id": 1, "v": 5}, {"id": 1, "v": 6}, {"id": 2, "v": 7}]
USERS = {kind: Adjacency(kind, unit="user:id") for kind in ("add_remove", "replace_one", "zero_out", "label")}
GRAPH = {"a": ["b", "c"], "b": ["a"], "c": ["a"]}
TABLE = (np.ones((3, 2)), np.array([0, 1, 1]))


def other_labels(*labels):
    return TABLE[0], np.array(labels)


@pytest.mark.parametrize(
    ("first", "second", "adjacency"),
    [
        (ROWS, ROWS[2:], USERS["add_remove"]),
        (ROWS, [{"id": 1, "v": 0}, *ROWS[2:]], USERS["replace_one"]),
        ([(1, 5), (2, 6)], [(1, 5)], Adjacency("add_remove", unit="user:0")),
        ([(1, 5), (2, 6)], [(1, 5), (2, 9)], Adjacency("label")),
        ([{"v": 1, "label": 0}], [{"v": 1, "label": 1}], Adjacency("label")),
        (TABLE, other_labels(1, 1, 1), Adjacency("label")),
        ([1, 2, 3], [7, 2, 8], Adjacency("hamming", radius=2)),
        (GRAPH, {"a": ["c"], "b": [], "c": ["a"]}, Adjacency("edge")),
        (GRAPH, {"b": [], "c": []}, Adjacency("node")),
        (GRAPH, {**GRAPH, "d": []}, Adjacency("node")),
        ([1, 2], [1.5, 2.5], Adjacency("norm_ball", norm="l1", radius=1)),
        (3, 4, Adjacency("norm_ball", norm="l2", radius=1)),
    ],
)
def test_neighbours_are_accepted_in_both_orders(first, second, adjacency):
    check_neighbours((first, second), adjacency)
    check_neighbours((second, first), adjacency)


@pytest.mark.parametrize(
    ("first", "second", "adjacency"),
    [
        (ROWS, [], USERS["add_remove"]),
        (ROWS, ROWS[1:], USERS["add_remove"]),
        (ROWS, ROWS[2:], USERS["replace_one"]),
        (ROWS, [{"id": 1, "v": 0}, {"id": 2, "v": 0}], USERS["replace_one"]),
        ([(1, 5), (2, 6)], [(1, 5), (3, 9)], Adjacency("label")),
        (TABLE, other_labels(1, 0, 1), Adjacency("label")),
        (TABLE, (np.zeros((3, 2)), TABLE[1]), Adjacency("label")),
        ([1, 2, 3], [7, 8, 9], Adjacency("hamming", radius=2)),
        ([1, 2, 3], [1, 2], Adjacency("hamming", radius=2)),
        (GRAPH, {"a": [], "b": [], "c": []}, Adjacency("edge")),
        (GRAPH, {"a": ["b"], "b": ["a"]}, Adjacency("edge")),
        (GRAPH, {"a": []}, Adjacency("node")),
        (GRAPH, {"a": [], "b": []}, Adjacency("node")),
        ([1, 2], [1.5, 2.75], Adjacency("norm_ball", norm="l1", radius=1)),
    ],
)
def test_what_differs_by_more_is_refused(first, second, adjacency):
    with pytest.raises(InvalidArgument, match="DPA407"):
        check_neighbours((first, second), adjacency)


def test_the_order_of_records_is_no_difference_for_users_either():
    check_neighbours((ROWS, ROWS[::-1]), USERS["replace_one"])


@pytest.mark.parametrize("kind", ["edge", "node"])
def test_what_is_no_graph_is_taken_as_given(kind):
    check_neighbours(([1], [2, 3]), Adjacency(kind))
    check_neighbours(({"a": ["elsewhere"]}, {}), Adjacency(kind))


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (TABLE, other_labels(1, 1, 1), "label 0 replaced, 3 labels"),
        (GRAPH, {"b": [], "c": []}, "graphs of 3 nodes with 4 links and of 2 nodes with 0 links"),
        ("secret", 3, "inputs of type str and int"),
    ],
)
def test_a_description_counts_and_never_shows(first, second, text):
    assert text == describe(first, second)
