"""Distances of what releases read: counts by key, scores of possible candidates, and whatever cannot be compared."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.checks.values import METRICS, least_distance, read_further
from dpaudit.interop.noting import KIND
from dpaudit.releases import DISTRIBUTIONS

NEVER = -math.inf
VECTORS = st.integers(1, 5).flatmap(lambda size: st.tuples(*[st.lists(st.integers(-9, 9), min_size=size, max_size=size)] * 2))


def test_every_kind_of_release_has_a_metric():
    """Noise of other libraries, which has a sensitivity and no price, too."""
    assert {*DISTRIBUTIONS, KIND} == set(METRICS)


@pytest.mark.parametrize(
    ("first", "second", "metric", "distance"),
    [
        ({"a": 3}, {"b": 1}, "l1", 4),
        ({}, {}, "l1", 0),
        ([NEVER, 2, 5], [NEVER, 3, 5], "linf", 1),
        (np.array([1.5, NEVER]), np.array([0.5, NEVER]), "linf", 1),
        ([3, 0], [0, 4], "l2", 5),
        ([1, 2, 3], [1, 0, 0], "hamming", 2),
        (Fraction(1, 3), 1, "l1", Fraction(2, 3)),
    ],
)
def test_a_distance_is_exact(first, second, metric, distance):
    assert distance == least_distance(first, second, metric)
    assert not read_further(first, second, metric, Fraction(distance))
    assert distance == 0 or read_further(first, second, metric, distance - Fraction(1, 100))


def test_a_candidate_that_one_dataset_forbids_is_further_than_any_bound():
    assert read_further([NEVER, 2], [1, 2], "linf", Fraction(10**9))
    assert read_further([1, 2], [1, 2, 3], "l1", Fraction(10**9))


@pytest.mark.parametrize(("first", "second"), [("text", "other"), (math.nan, 1.0), (None, [1])])
def test_what_cannot_be_compared_is_no_finding(first, second):
    assert not read_further(first, second, "l1", Fraction(0))
    assert 0 == least_distance(first, second, "l1")


@given(VECTORS)
def test_a_euclidean_distance_is_never_overstated(vectors):
    found = least_distance(*vectors, "l2")
    true = sum((one - other) ** 2 for one, other in zip(*vectors, strict=True))

    assert found**2 <= true
    assert true <= (found + Fraction(1, 2**63)) ** 2
