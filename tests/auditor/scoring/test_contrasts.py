"""Contrasts: they give the bins back, noise moves them as much as they say, and what noise explains is taken out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.auditor.scoring.contrasts import plateaus, posterior_contrasts, tree_of


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 10)), min_size=1, max_size=20))
@settings(deadline=None)
def test_bins_are_the_sum_of_their_contrasts(bins):
    values, precisions = np.array(bins).T
    tree = tree_of(precisions)
    assert values.tolist() == pytest.approx(tree.values(tree.contrasts(values)).tolist(), abs=1e-9)


def test_rows_are_analysed_each_on_its_own():
    stream = np.random.default_rng(1)
    values, precisions = stream.normal(size=(3, 11)), stream.uniform(0.5, 2, (3, 11))
    together = tree_of(precisions).contrasts(values)
    alone = [tree_of(precision).contrasts(value).tolist() for value, precision in zip(values, precisions, strict=True)]
    assert alone == together.tolist()


def test_contrasts_of_noise_are_independent_and_have_the_stated_variance():
    stream = np.random.default_rng(2)
    precisions = stream.uniform(0.5, 2, 11)
    tree = tree_of(precisions)
    known = np.isfinite(tree.variances())
    # Exactly: the linear map of independent bins has a diagonal covariance.
    linear = np.stack([tree.contrasts(unit) for unit in np.eye(11)])[:, known]
    covariance = linear.T @ (linear / precisions[:, None])
    assert 11 == known.sum()
    assert np.diag(tree.variances()[known]) == pytest.approx(covariance, abs=1e-12)


def test_a_step_is_kept_sharp_and_the_rest_is_flat():
    stream = np.random.default_rng(3)
    step = np.where(np.arange(64) < 32, -1.0, 1.0)
    found = plateaus(step + stream.normal(0, 0.3, 64), np.full(64, 0.09))
    assert 0.1 * 0.09 > ((found - step) ** 2).mean()
    assert 1.8 < found[32] - found[31]


def test_noise_alone_nearly_vanishes_and_likelihood_says_so():
    noise = np.random.default_rng(4).normal(size=(20, 16))
    assert 0.02 > (plateaus(noise, np.ones((20, 16))) ** 2).mean()
    tree = tree_of(np.ones(16))
    quiet, loud = (posterior_contrasts(tree, tree.contrasts(factor * noise[0]))[2] for factor in (1, 5))
    assert quiet > loud


def test_what_cannot_be_seen_stays_unknown_and_moves_nothing():
    tree = tree_of(np.array([1.0, 1.0, 1.0]))
    mean, variance, _ = posterior_contrasts(tree, tree.contrasts(np.array([1.0, 2.0, 3.0])))
    hidden = ~np.isfinite(tree.variances())
    assert 1 == hidden.sum()
    assert [0.0, 0.0] == [float(mean[hidden][0]), float(variance[hidden][0])]
