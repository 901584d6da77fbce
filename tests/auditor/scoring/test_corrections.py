"""Corrections by bin: what is noise vanishes, what is signal stays, and columns that agree share what they know."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.auditor.scoring.contrasts import raw_corrections, share_corrections, shrink_corrections


def noise(seed, rows, columns):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def test_labels_beyond_the_expected_ones_give_the_log_odds():
    deviation, variance = raw_corrections(np.array([300.0]), np.array([400.0]), np.array([200.0]))
    assert np.log(3) == pytest.approx(deviation[0], abs=0.01)
    assert 1 / 300.5 + 1 / 100.5 == variance[0]


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(0.01, 10))
@settings(deadline=None)
def test_shrinking_never_turns_a_sign_nor_enlarges(deviations, variance):
    deviation = np.array(deviations)
    result = shrink_corrections(deviation, np.full(len(deviation), variance))
    assert (np.abs(result) <= np.abs(deviation)).all()
    assert (result * deviation >= 0).all()


def test_deviations_no_larger_than_their_noise_vanish():
    assert [0.0, 0.0, 0.0] == shrink_corrections(np.array([0.9, -1.0, 0.8]), np.ones(3)).tolist()


def test_noise_in_many_columns_nearly_vanishes():
    deviation = noise(1, 20, 8)
    assert 0.05 > (share_corrections(deviation, np.ones((20, 8))) ** 2).mean()


def test_a_shape_that_all_columns_have_is_found_below_the_noise_of_each():
    shape = 0.7 * np.sign(np.arange(8) - 3.5)
    error = share_corrections(shape + noise(2, 20, 8), np.ones((20, 8))) - shape
    assert 0.15 > (error**2).mean()


def test_a_shape_with_either_sign_is_found_too():
    signs = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)[:, None]
    shape = 1.5 * signs * np.sign(np.arange(8) - 3.5)
    error = share_corrections(shape + noise(3, 20, 8), np.ones((20, 8))) - shape
    assert 0.5 > (error**2).mean()
