"""What the proofs of the margin learners rest on, and how much is lost where it is missing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2

from dpaudit.accounting import discrete_gaussian, gaussian
from dpaudit.errors import InvalidArgument
from learners.choices.arcs import choose_point
from learners.margins.erm import erm_plan, run
from learners.margins.margin_search import MarginSearch
from learners.margins.pure_margin import PureMarginClassifier
from learners.rows.ingest import to_rows
from learners.rows.rows import Rows
from learners.rows.signs import sign_map
from learners.solvers.phased import WEIGHT_BITS, rounded_mean, schedule
from learners.targets.choices import COUNTS, HALF_SIDE, law_of_points, rows_of
from mechanisms.sampling.random import source_from

# Orders: neighbours agree at every place but one.

COUNT, BOUND = 64, 2**16
PLAN = schedule(records=COUNT, columns=1, bound=BOUND, margin="1/2", noise_multiplier=4)


def moved(first, second):
    """Distance of the first means of two data sets in the order in which they stand, relative to the sensitivity."""
    means = []
    for features in (first, second):
        rows = Rows(np.array(features, dtype=np.int32)[:, np.newaxis], BOUND, Fraction(1, BOUND), np.ones(COUNT, dtype=np.int64))
        means.append(rounded_mean(rows, PLAN, PLAN.phases[0], np.arange(COUNT // 2), np.zeros(1)))
    return abs(int((means[0] - means[1])[0])) / float(PLAN.phases[0].release.sensitivity)


def test_a_loader_that_orders_or_repeats_records_by_content_makes_neighbours_differ_at_more_places_than_one():
    """Replacing one record moves a mean by 1 at most; where it stands twice by up to 2, where others stand by it by far more."""
    first = [BOUND, -BOUND] * (COUNT // 2)
    second = [-BOUND, *first[1:]]
    assert 0.9 < moved(first, second) <= 1
    repeated = [[records[0], records[0], *records[2:]] for records in (first, second)]
    assert 1 < moved(*repeated) <= 2
    by_likeness = [sorted(records, key=lambda record, like=records[0]: -record * like) for records in (first, second)]
    assert 5 < moved(*by_likeness)


def test_orders_of_the_learner_itself_do_not_follow_the_records():
    """Sorted or not, a fit takes a fresh order: the same records give another result, within what the noise allows."""
    rows = to_rows(np.ones((8, 1)), np.zeros(8, dtype=np.int64), feature_norm=1, lattice_bits=8)
    plan = erm_plan(records=8, columns=1, bound=rows.bound, margin="1/2", epsilon=1, delta="1e-3")
    assert run(rows, plan).tolist() != run(rows, plan).tolist()


# Lattices: rounding moves a mean by a step in each coordinate, and lattice noise needs a mean on the lattice.


@pytest.mark.parametrize("columns", [1, 3, 16])
def test_means_half_way_between_points_of_the_lattice_are_as_far_apart_as_the_root_of_the_columns(columns):
    plan = schedule(records=4, columns=columns, bound=2**10, margin="1/2", noise_multiplier=4)
    phase, half = plan.phases[0], plan.phases[0].lattice / 2
    zeros = Rows(np.zeros((4, columns), dtype=np.int32), 2**10, Fraction(1, 2**10), np.zeros(4, dtype=np.int64))
    ends = [
        rounded_mean(zeros, plan, phase, np.arange(2), np.full(columns, half * (1 + side * 2.0**-40))).tolist() for side in (-1, 1)
    ]
    assert [[0] * columns, [1] * columns] == ends
    assert rounded_mean(zeros, plan, phase, np.arange(2), np.full(columns, half)).tolist() in ends
    without = 2 * Fraction(phase.step.limit) * plan.norm / Fraction(phase.lattice)
    assert without + math.isqrt(columns - 1) + 1 <= phase.release.sensitivity


def profile(mu, epsilon):
    """The profile of the continuous Gaussian."""
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("sigma", "epsilon", "worst"), [("1/2", "48/5", 3.72), ("2", "204/100", 1.20), ("5", "805/1000", 1.03)])
def test_discrete_noise_is_not_worth_what_rounded_noise_is(sigma, epsilon, worst):
    """By how much its profile exceeds the continuous law's where that is 1e-6 and more; the rounded one's never does."""
    exact, rounded = (law(sigma=sigma, sensitivity=1, adjacency="replace_one") for law in (discrete_gaussian, gaussian))
    known = profile(1 / float(Fraction(sigma)), float(Fraction(epsilon)))
    assert 1e-6 < known
    assert worst == pytest.approx(float(exact.delta(epsilon=epsilon).lower) / known, rel=0.01)
    assert float(rounded.delta(epsilon=epsilon).upper) <= known * (1 + 1e-6)


# Scores: of clipped images, never of the records themselves.


def test_a_record_itself_scores_far_beyond_the_range_that_its_image_keeps_to():
    """4096 columns onto 64: along the weights taken back, a record of norm 1 has a margin of about the root of 64."""
    image = sign_map(dimension_in=4096, dimension_out=64, seed=0)
    weights = np.zeros(64)
    weights[0] = 1.0
    back = image.transpose(weights)
    record = back / np.linalg.norm(back)
    clip = Fraction(124, 100)
    rows = to_rows(record[np.newaxis], np.ones(1, dtype=np.int64), feature_norm=1, lattice_bits=16)
    images = image.apply(rows, clip=clip, lattice_bits=16)
    seen = float(images.margins(np.array([2**WEIGHT_BITS] + [0] * 63))[0]) / 2**WEIGHT_BITS * float(images.step)
    assert 7.9 < float(record @ back) < 8.1
    assert seen <= float(clip) < 2
    assert sum(int(step) ** 2 for step in images.steps[0]) <= images.bound**2


# Public maps and candidates: a map that is drawn again until it suits the records says something about them.


def test_a_map_that_is_drawn_until_it_suits_the_records_differs_between_neighbours():
    def suited(rows):
        """The first seed whose map stretches no record by more than a tenth: what this library offers no way to do."""
        for seed in range(10**4):
            images = sign_map(dimension_in=8, dimension_out=4, seed=seed).apply(rows, clip=4, lattice_bits=16)
            norms = np.linalg.norm(images.steps.astype(float), axis=1) * float(images.step)
            if np.all(np.abs(norms - 1) <= 0.1):
                return seed
        raise AssertionError("no map suits")

    rng = np.random.default_rng(0)
    features = rng.normal(size=(2, 8))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    other = features.copy()
    other[1] = rng.permutation(features[1]) * -1
    seeds = [suited(to_rows(each, np.zeros(2, dtype=np.int64), feature_norm=1, lattice_bits=16)) for each in (features, other)]
    assert seeds[0] != seeds[1]
    models = [
        PureMarginClassifier(epsilon=1, feature_norm=1, classes=[0, 1], dimension=4).fit(x, [0, 1]) for x in (features, other)
    ]
    assert models[0].plan_ == models[1].plan_


def test_points_of_the_square_are_chosen_with_their_exact_probabilities():
    """Chi-square of 6000 choices against the exact law, 31 degrees of freedom; a false alarm has probability 1e-9."""
    records = (((4096 // 2, 0), 1), ((0, 4096 // 2), 0), ((0, 1000), 1), ((-1000, 2), 0), ((17, -2000), 1))
    law = {point: float(share) for point, share in law_of_points(records).items()}
    rows, source = rows_of(records), source_from(np.random.default_rng(23))
    seen = dict.fromkeys(law, 0)
    for _ in range(6000):
        seen[tuple(choose_point(rows, COUNTS, source, half_side=HALF_SIDE).tolist())] += 1
    assert 8 * HALF_SIDE == len(seen)
    statistic = sum((count - 6000 * law[point]) ** 2 / (6000 * law[point]) for point, count in seen.items())
    assert statistic < chi2.isf(1e-9, 31)


# Budgets: a choice never takes all of epsilon.


@pytest.mark.parametrize("share", [1, "3/2", 0, -1])
def test_a_choice_that_would_leave_nothing_to_learn_with_is_refused(share):
    with pytest.raises(InvalidArgument, match="DPA103"):
        erm_plan(records=50, columns=2, bound=4, margin="1/2", epsilon=1, delta="1e-5", variant="permutation", choice_share=share)
    learner = PureMarginClassifier(epsilon=1, feature_norm=1, classes=[0, 1], cover="lattice", margin=1)
    with pytest.raises(InvalidArgument, match="DPA103"):
        MarginSearch(learner, margins=2, share=share).fit(np.ones((4, 2)), [0, 1, 0, 1])
