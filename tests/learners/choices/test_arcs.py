"""The implicit cover counts what counting its points one by one counts, and weighs points, not arcs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.releases import recording
from learners.choices.arcs import HALF_SIDE, arcs_of, border_point, choose_point
from learners.choices.levels import counts_mechanism
from mechanisms import source_from
from proofs.papers.specimens.catalogue import SPECIMENS

COUNTS = counts_mechanism(epsilon=1, adjacency="replace_one")
records = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 1)), min_size=1, max_size=6)


def one_by_one(signed, half_side):
    """Errors of every point of the square by its definition."""
    points = [border_point(index, half_side) for index in range(8 * half_side)]
    return [sum(int(point @ record) <= 0 for record in signed) for point in points]


@given(records=records, half_side=st.integers(1, 8))
def test_arcs_count_what_their_points_count(rows_from, records, half_side):
    labels = [label for *_, label in records]
    signed = np.array([(a, b) if label else (-a, -b) for a, b, label in records])
    arcs = arcs_of(rows_from([(a, b) for a, b, _ in records], labels), half_side)
    wanted = one_by_one(signed, half_side)
    assert wanted == np.repeat(arcs.counts, arcs.lengths).tolist()
    assert [wanted.count(count) for count in range(max(wanted) + 1)] == arcs.multiplicities().tolist()
    for count, number in enumerate(arcs.multiplicities().tolist()):
        points = [border_point(index, half_side).tolist() for index, each in enumerate(wanted) if each == count]
        assert points == [arcs.point(count, place).tolist() for place in range(number)]


@pytest.mark.parametrize(
    "signed",
    [[(0, 0)], [(0, 0)] * 3, [(1, 0)], [(0, -1)], [(2, 3), (2, 3)], [(1, 1), (-1, -1)], [(2**20, 1), (-(2**20), 1)]],
    ids=str,
)
def test_the_points_of_the_whole_square_are_all_there(rows_from, signed):
    arcs = arcs_of(rows_from(signed, bound=2**21))
    assert 8 * HALF_SIDE == int(arcs.multiplicities().sum()) == int(arcs.lengths.sum())
    for count, number in enumerate(arcs.multiplicities().tolist()):
        for place in {0, number // 2, number - 1} if number else ():
            point = arcs.point(count, place).tolist()
            assert max(map(abs, point)) == HALF_SIDE
            assert count == sum(point[0] * a + point[1] * b <= 0 for a, b in signed)


def test_a_zero_record_is_an_error_of_every_point(rows_from):
    assert [0, 0, 8 * HALF_SIDE] == arcs_of(rows_from([(0, 0), (0, 0)])).multiplicities().tolist()


def test_the_points_go_once_around_the_square():
    points = {tuple(border_point(index, 5).tolist()) for index in range(40)}
    assert 40 == len(points)
    assert {5} == {max(abs(a), abs(b)) for a, b in points}


def test_some_scores_are_those_of_the_same_points_whatever_the_records(rows_from):
    signed = np.array([(3, 1), (-2, 5), (1, -4)])
    arcs = arcs_of(rows_from(signed), 700)
    shown = arcs.some_scores()
    assert [-count for count in one_by_one(signed, 700)[:: 700 // 512]] == shown.tolist()
    assert len(shown) == len(arcs_of(rows_from([(0, 0)]), 700).some_scores())


def test_the_choice_has_few_errors_and_is_logged_once(rows_from):
    rows = rows_from([(5, 1)] * 300 + [(4, -3)] * 300)
    with recording() as log:
        chosen = choose_point(rows, COUNTS, source_from(np.random.default_rng(1)))
    assert 1 == len(log)
    assert min(chosen @ [5, 1], chosen @ [4, -3]) > 0


def test_arcs_of_equal_weight_are_refuted_and_points_of_equal_weight_are_not(largest_ratio):
    (specimen,) = (each for each in SPECIMENS if each.name == "broken_arrangement")
    (pair,) = specimen.neighbours
    assert 2.5 < largest_ratio(specimen.pmf, pair)


@pytest.mark.parametrize(("code", "steps", "bound"), [("DPA105", [(1, 2, 3)], 4), ("DPA108", [(1, 2)], 2**33)])
def test_what_does_not_fit_the_plane_is_refused(rows_from, code, steps, bound):
    with pytest.raises(InvalidArgument) as caught:
        arcs_of(rows_from(steps, bound=bound))
    assert code == caught.value.code
