"""Pairs for every adjacency: neighbours that differ, drawn alike everywhere, shrinking together to the least counterexample."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from dpaudit import Adjacency
from dpaudit.auditor import boundary_values, neighbours
from dpaudit.auditor.data.records import count_exchanged, same
from dpaudit.auditor.pairs.drawing import draw_pairs, shrink_value
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.errors import InvalidArgument

RECORDS = st.fixed_dictionaries({"v": st.integers(0, 3), "label": st.booleans()})
DRAWN = [
    ("add_remove", float),
    ("replace_one", "int8"),
    ("zero_out", RECORDS),
    ("label", RECORDS),
    ("label", st.tuples(st.integers(0, 3), st.booleans())),
    (Adjacency("hamming", radius=3), int),
    *((Adjacency(kind, unit="user:id"), RECORDS) for kind in ("add_remove", "replace_one", "zero_out", "label")),
    *((Adjacency("norm_ball", norm=norm, radius="1/2"), float) for norm in ("l1", "l2", "linf")),
    *((Adjacency("norm_ball", norm=norm, radius=2), int) for norm in ("l1", "l2", "linf")),
    ("edge", st.integers(0, 9)),
    ("node", st.text(max_size=2)),
]
FIXED = settings(derandomize=True, database=None, max_examples=1000, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("adjacency", "rows"), DRAWN, ids=lambda value: str(value)[:40])
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_pair_is_a_pair_of_neighbours_that_differ(adjacency, rows, data):
    first, second = data.draw(neighbours(rows, adjacency, max_size=5, mode=data.draw(st.sampled_from(["boundary", "plain"]))))

    check_neighbours((first, second), Adjacency.of(adjacency))
    assert not same(first, second)
    assert max(len(first), len(second)) <= 5


@settings(max_examples=40, deadline=None)
@given(pair=neighbours(st.integers(0, 3), "replace_one", reorder=True))
def test_a_reordered_pair_still_has_at_most_one_other_record(pair):
    assert count_exchanged(*pair) in {(0, 0), (1, 1)}


@settings(max_examples=40, deadline=None)
@given(pair=neighbours("int16", Adjacency("norm_ball", norm="l2", radius=3)))
def test_whole_vectors_stay_whole(pair):
    assert all(isinstance(entry, int) for side in pair for entry in side)
    assert 1 == sum(one != other for one, other in zip(*pair, strict=True))


@pytest.mark.parametrize(
    ("strategy", "wrong", "size"),
    [
        (neighbours("int8"), lambda pair: abs(int(np.sum(pair[0], dtype=np.int8)) - int(np.sum(pair[1], dtype=np.int8))) > 128, 3),
        (neighbours(int), lambda pair: any(abs(sum(side)) >= 2**63 for side in pair), 3),
        (neighbours(float), lambda pair: any(math.isnan(min(max(v, 0), 1)) for side in pair for v in side), 1),
        (neighbours(float), lambda pair: len(pair[0]) * len(pair[1]) == 0, 1),
    ],
    ids=["int8", "wrap", "nan", "empty"],
)
def test_what_goes_wrong_at_the_edges_is_found_and_shrunk(strategy, wrong, size):
    first, second = find(strategy, wrong, settings=FIXED)

    assert max(len(first), len(second)) <= size


@pytest.mark.parametrize("kind", [bool, int, float, str, "int8", "uint16", "float32", "bool"])
def test_boundary_values_are_of_their_kind(kind):
    pairs = draw_pairs(st.tuples(boundary_values(kind), st.just("another")))

    for value, _ in pairs:
        assert isinstance(value, kind if isinstance(kind, type) else (bool, int, float))


def test_limits_clip_bounds_and_values_beside_them_are_drawn():
    for value in (127, -128, 101, 99, -1):
        assert value == find(boundary_values("int8", bounds=(0, 100)), lambda drawn, value=value: drawn == value, settings=FIXED)
    beside = float(np.nextafter(np.float32(0.3), np.float32(1)))
    assert beside == find(boundary_values("float32", bounds=(0, 0.3)), lambda drawn: drawn == beside, settings=FIXED)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: neighbours(int, "nearby"), "DPA103"),
        (lambda: neighbours(int, mode="wild"), "DPA103"),
        (lambda: neighbours(int, max_size=0), "DPA103"),
        (lambda: neighbours(3), "DPA105"),
        (lambda: neighbours("complex64"), "DPA103"),
        (lambda: neighbours("longdouble"), "DPA103"),
        (lambda: boundary_values(str, bounds=(0, 1)), "DPA106"),
        (lambda: draw_pairs(neighbours(int, Adjacency("add_remove", unit="user:id"))), "DPA105"),
        (lambda: draw_pairs(neighbours(str, Adjacency("norm_ball", norm="l1", radius=1))), "DPA105"),
    ],
)
def test_strategies_that_make_no_sense_are_refused(call, code):
    with pytest.raises(InvalidArgument, match=code):
        call()


def test_what_is_drawn_does_not_depend_on_the_modules_that_are_loaded():
    code = (
        "from hypothesis import strategies as st\nfrom dpaudit.auditor.pairs.drawing import draw_pairs\n"
        "print(draw_pairs(st.tuples(st.lists(st.integers()), st.text())))"
    )
    expected = repr(draw_pairs(st.tuples(st.lists(st.integers()), st.text())))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert expected == ran.stdout.strip()


def test_shrinking_starts_from_the_value_that_was_drawn_and_asks_in_a_fixed_order():
    strategy = st.lists(st.integers(0, 99), max_size=12)
    start = max((pair[0] for pair in draw_pairs(st.tuples(strategy, st.just("other")))), key=len)
    asked = []

    def wanted(values):
        asked[-1].append(list(values))
        return sum(values) >= 20

    found = []
    for _ in range(2):
        asked.append([])
        found.append(shrink_value(strategy, lambda values: values == start, wanted))
    assert [20] == found[0] == found[1]
    assert asked[0] == asked[1]
    assert start not in asked[0]


def test_nothing_is_shrunk_to_where_nothing_simpler_is_wanted():
    strategy = st.integers(0, 9)

    assert None is shrink_value(strategy, lambda value: value == 5, lambda value: False)
    assert None is shrink_value(strategy, lambda value: value == 77, lambda value: True)
