"""Above threshold: sparse vector that stops at once, and the position it finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechanisms import AboveThreshold, SparseVector, source_from


def test_above_threshold_is_sparse_vector_that_stops_at_once():
    for changes in ({}, {"monotonic": True}, {"threshold_share": "1/5", "sensitivity": 3, "lattice": "3/2"}):
        single = AboveThreshold(**{"sensitivity": 1, "epsilon": 2, **changes})
        vector = SparseVector(**{"sensitivity": 1, "epsilon": 2, **changes})
        assert replace(vector._comparisons, record=single._comparisons.record) == single._comparisons
        assert single.threshold_share == vector.threshold_share


def test_above_threshold_finds_the_position_of_the_first_positive_answer():
    mechanism, values = AboveThreshold(sensitivity=1, epsilon=1), [0, 2, -1, 3]

    def source():
        return source_from(np.random.default_rng(23))

    answers = mechanism._comparisons.many(1, values, 1000, source())[0].tolist()
    expected = [row.index(1) if 1 in row else 4 for row in answers]
    assert expected == mechanism.releases(1, values, 1000, source()).tolist()
    assert {0, 1, 2, 3, 4} == set(expected)


def test_above_threshold_asks_in_order_and_says_when_nothing_was_above():
    mechanism = AboveThreshold(sensitivity=1, epsilon=50)
    assert 1 == mechanism.release(0, [-500, 500, 900])
    assert mechanism.release(0, [-500, -500]) is None
    assert 1 == mechanism.release(0, np.array([-500, 500]))
    assert [2, 2] == mechanism.releases(0, np.array([-500, -500]), 2).tolist()
