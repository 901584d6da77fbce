"""Bins: a search and comparisons find the same ones, whatever stands in the column."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.statistics import binning
from dpaudit.auditor.statistics.binning import assign_bins

VALUES = st.lists(st.one_of(st.floats(width=16), st.sampled_from([-1.0, 0.0, 1.0, math.inf, math.nan])), max_size=40)
CUTS = st.lists(st.floats(-5, 5).map(lambda value: round(value, 1)), max_size=12, unique=True).map(sorted)


@given(values=VALUES, cuts=CUTS)
def test_few_values_and_many_are_binned_alike(values, cuts):
    values, cuts = np.array(values, dtype=np.float64), np.array(cuts, dtype=np.float64)
    many = np.tile(values, 1 + 16 * len(cuts))
    told = [sum(not value < cut for cut in cuts) for value in values]

    assert told == assign_bins(values, cuts).tolist()
    assert told == assign_bins(many, cuts)[: len(values)].tolist()


@pytest.mark.parametrize("size", [1, 700, 2 * 2**14 + 1])
def test_bins_of_whole_blocks_and_of_their_rest_are_counted(size):
    stream = np.random.default_rng([7, size])
    values, cuts = stream.normal(size=size), np.array([-0.5, 0.0, 0.1])
    assert np.array_equal(np.searchsorted(cuts, values, side="right"), assign_bins(values, cuts))
    assert binning.label_counts(assign_bins(values, cuts), np.zeros(size, dtype=np.uint8), 4)[:, 0].sum() == size
