"""The packing: distances that are certainly enough, its size in whole numbers, the bound, and learners that meet it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpaudit.errors import InvalidArgument
from learners.choices.counts import Listed, errors, totals
from learners.halfspaces.packing import (
    Packing,
    error_rate,
    implied_epsilon,
    near_plane,
    packing_size,
    random_packing,
    records_needed,
)
from learners.rows.unit import unit_rows


def entropy(share):
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)


def test_codewords_at_a_tenth_are_too_near_and_at_a_quarter_far_enough():
    """The published distance of 1/10 lets the bisector of two normal vectors fit both halfspaces; 1/4 is certain at c = 1/1000."""
    margin = 1e5**-0.5
    bisector = math.cos(math.acos(0.8) / 2)
    assert 0.0927 == pytest.approx(error_rate(cosine=bisector, dimension=100, margin=margin), abs=5e-5)
    assert 0.0926 == pytest.approx(error_rate(cosine=bisector, dimension=1000, margin=1e6**-0.5), abs=5e-5)
    for distance, certain in ((10, False), (14, False), (15, True), (25, True)):
        code = np.ones((2, 100), dtype=np.int8)
        code[1, :distance] = -1
        packing = Packing(code, Fraction(1, 317))
        assert (Fraction(distance, 100), certain) == (packing.distance, packing.disjoint)
    near = Packing(np.vstack([np.ones(100), np.where(np.arange(100) < 10, -1, 1)]).astype(np.int8), Fraction(1, 317))
    middle = near.normals.sum(axis=0)
    assert near.fits(middle, 0)
    assert near.fits(middle, 1)


def test_the_share_near_a_plane_is_what_was_computed():
    assert 0.0252 == pytest.approx(float(near_plane(dimension=1000, margin=Fraction(1, 1000)).upper), abs=1e-4)
    assert near_plane(dimension=3, margin="1/7").contains("1/7")
    assert 0.0853 == pytest.approx(float(near_plane(dimension=11470, margin="1/1000").lower), abs=1e-4)


@pytest.mark.parametrize(("cosine", "margin"), [(0.9, 0.05), (0.2, 0.1), (-0.5, 0.02), (1.0, 0.1)])
def test_an_error_rate_is_that_of_records(cosine, margin):
    """20000 records in ten dimensions: five standard deviations are 0.018 at most."""
    packing = Packing(np.array([[1] * 10, [-1] * 10], dtype=np.int8), Fraction(margin))
    rng = np.random.default_rng(0)
    rows, labels = packing.sample(0, 20000, rng)
    normal = packing.normals[0]
    across = np.zeros(10)
    across[:2] = 0.5**0.5, -(0.5**0.5)
    weights = cosine * normal + (1 - cosine**2) ** 0.5 * across
    assert np.abs(rows @ normal).min() >= margin
    assert np.allclose(1, np.linalg.norm(rows, axis=1))
    assert ((rows @ normal > 0) == labels).all()
    assert np.mean((rows @ weights > 0) != labels) == pytest.approx(
        error_rate(cosine=cosine, dimension=10, margin=margin), abs=0.018
    )


@pytest.mark.parametrize("dimension", [4, 6, 8])
def test_a_greedy_code_has_as_many_words_as_are_promised(dimension):
    """Words are taken as long as one is left: all pairs are certainly far enough apart, and there are at least so many."""
    margin = Fraction(1, 10**6)
    size = packing_size(dimension=dimension, margin=margin)
    words: list[np.ndarray] = []
    for word in product([-1, 1], repeat=dimension):
        tried = np.array([*words, word], dtype=np.int8)
        if len(tried) == 1 or Packing(tried, margin).disjoint:
            words.append(np.array(word, dtype=np.int8))
    assert 2 <= size <= len(words)


def test_the_size_is_at_least_what_the_entropy_says():
    """K >= 2^((1 - h) d) at the distance where (1 - 2 rho) is the cosine of what has to be disagreed on."""
    for dimension, margin in ((100, Fraction(1, 100)), (1000, Fraction(1, 1000)), (11470, Fraction(1, 1000))):
        near = float(near_plane(dimension=dimension, margin=margin).upper)
        distance = (1 - math.cos(math.pi * (0.2 + 1.8 * near))) / 2
        assert (1 - entropy(distance)) * dimension <= math.log2(packing_size(dimension=dimension, margin=margin))
    assert 1 == packing_size(dimension=100, margin="1/2")
    assert 0 == records_needed(dimension=100, margin="1/2", epsilon=1)


@pytest.mark.parametrize("gamma", [100, 300, 1000])
def test_the_bound_grows_as_the_square_of_the_inverse_margin(gamma):
    """At d = .01147 / gamma^2: at least ln 9 + .00117 / gamma^2, over epsilon."""
    found = records_needed(dimension=int(0.01147 * gamma**2), margin=Fraction(1, gamma), epsilon="1/2")
    assert 2 * (math.log(9) + 0.00117 * gamma**2) <= float(found) <= 2 * (math.log(9) + 0.0013 * gamma**2 + 3)


def test_what_success_implies_is_the_bound_turned_around():
    packing = random_packing(dimension=200, size=256, margin=Fraction(1, 447))
    assert packing.disjoint
    needed = math.log(9 * 255) / 3
    assert needed == pytest.approx(float(implied_epsilon(size=256, success="9/10", records=3)))
    assert Fraction(0) == implied_epsilon(size=256, success="1/1000", records=3)


def test_the_exponential_mechanism_over_the_code_keeps_the_bound_on_every_dataset():
    """Its law is finite: on records of one halfspace the chances of all are at most 1 together, each at least .9 e^(-n epsilon)."""
    packing = random_packing(dimension=60, size=64, margin=Fraction(1, 245))
    assert packing.disjoint
    rng = np.random.default_rng(1)
    candidates = Listed(packing.code.T.astype(np.int64))

    def law(records, place, epsilon):
        counts = totals(unit_rows(*packing.sample(place, records, rng)), candidates, errors())
        weights = np.exp(-epsilon / 2 * (counts - counts.min()))
        return weights / weights.sum()

    floor = [law(4, 0, 1.0) for _ in range(30)]
    assert all(0.999 < found.sum() < 1.001 for found in floor)
    assert min(float(found.min()) for found in floor) >= math.exp(-4) / 64
    success = {records: np.mean([law(records, place, 1.0)[place] for place in range(64)]) for records in (4, 80)}
    assert success[4] < 0.9 < success[80]
    assert math.log(9 * 63) > 4
    for records, chance in success.items():
        assert implied_epsilon(size=64, success=Fraction(float(chance)), records=records) <= 1


def test_a_learner_that_beats_the_bound_is_not_what_it_claims():
    """With 6 records at epsilon 12 the right one is chosen nearly always: no learner with epsilon 1 does that."""
    packing = random_packing(dimension=60, size=64, margin=Fraction(1, 245))
    rng = np.random.default_rng(2)
    candidates = Listed(packing.code.T.astype(np.int64))
    chances = []
    for place in range(64):
        counts = totals(unit_rows(*packing.sample(place, 6, rng)), candidates, errors())
        weights = np.exp(-6.0 * counts)
        chances.append(weights[place] / weights.sum())
    implied = implied_epsilon(size=64, success=Fraction(float(np.mean(chances))) * Fraction(9, 10), records=6)
    assert 0.6 < float(implied) <= 12
    assert implied * 6 > math.log(63) * 0.8


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: random_packing(dimension=1, size=4, margin="1/9"),
        lambda: random_packing(dimension=9, size=1, margin="1/9"),
        lambda: random_packing(dimension=9, size=4, margin=1),
        lambda: near_plane(dimension=9, margin=0),
        lambda: packing_size(dimension=2**15, margin="1/9"),
        lambda: records_needed(dimension=9, margin="1/9", epsilon=1, success=1),
        lambda: implied_epsilon(size=1, success="1/2", records=3),
        lambda: implied_epsilon(size=9, success="1/2", records=0),
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(InvalidArgument, match="DPA103"):
        wrong()
