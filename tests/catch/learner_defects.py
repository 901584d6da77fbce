"""Learners that are broken by mistakes no audited paper makes, each with a sound twin that differs in one step."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, partial

import numpy as np

from dpaudit.claims import GDP, ApproxDP, Claim
from learners.boosting.plans import count_sensitivity
from learners.choices.levels import counts_mechanism
from learners.rows.labels import TARGET_UNIT
from learners.rows.rows import Rows
from learners.solvers.losses import Loss
from learners.solvers.minimum import minimum
from learners.solvers.slopes import UNIT, softmax_slopes
from learners.structure.ranges import narrow_ranges
from learners.targets import boosting, kernels, structure
from learners.targets.choices import ONE
from learners.targets.halfspaces import SIDES
from learners.targets.harness import make_target
from learners.targets.inside import mu_of
from learners.targets.linear import MOMENT_PAIR, PLAN, moment_triangle
from learners.targets.phased import LEADING, SECRET, KnownOrder
from mechanisms import GaussianMechanism, source_from
from proofs.papers.specimens.pairs import pair_up
from proofs.papers.specimens.passes import sample_unlogged
from proofs.papers.specimens.perturbation import CLAIM, add_noise
from proofs.papers.specimens.perturbation import UNIT as WEIGHT_UNIT

REPLACE = "replace_one"


def signed_sum(records, count, rng, *, moves):
    """The noisy sum of records with their signs along the first axis, in units of a record's norm, with noise for some moves."""
    noise = GaussianMechanism(sensitivity=moves * ONE, noise_multiplier=1, adjacency=REPLACE)
    total = sum((2 * label - 1) * features[0] for features, label in records)
    return noise.releases(np.array([total]), count, source_from(rng))[:, 0] / ONE


BARE = minimum(records=kernels.RECORDS, columns=2, ridge=kernels.RIDGE, loss=Loss("residual", 6))
"""Squares whose residuals are not cut in effect: no residual of this minimiser reaches 2**6 times the bound of the labels."""

FAR = tuple((side * kernels.ONE * 3 // 5, kernels.ONE * 4 // 5, -TARGET_UNIT) for side in (1, -1))
"""A record that the others' steep line misses by several times the largest label, on either side of it."""


@cache
def bare(record):
    """The least-squares minimiser of a record among others, short ones that all have the largest label."""
    return kernels.least_squares(record, (0, kernels.ONE // 10, TARGET_UNIT), BARE)


def sample_squares(record, count, rng):
    """A coordinate of it with noise for slopes of at most the bound of the labels."""
    paid = Fraction(BARE.sensitivity, 2**6)
    noise = GaussianMechanism(sensitivity=math.ceil(paid), noise_multiplier=1, adjacency=REPLACE)
    return noise.releases(bare(record), count, source_from(rng))[:, 0] / float(paid)


def sample_moment(records, count, rng, *, mechanism):
    """The first noisy diagonal entry of the second moment."""
    return mechanism.releases(np.array(moment_triangle(records)[:1]), count, source_from(rng))[:, 0]


WHOLE = GaussianMechanism(sensitivity=PLAN.moment.sensitivity, sigma=PLAN.moment.sensitivity, adjacency=REPLACE)
HALVED = GaussianMechanism(sensitivity=WHOLE.sensitivity / 2, sigma=WHOLE.sigma / 2, adjacency=REPLACE)

CLASSES = 10
BOUND = 2**12
CUT = GaussianMechanism(sensitivity=2 * UNIT * BOUND, noise_multiplier=1, adjacency=REPLACE)


def uncut_gradient(records):
    """The sum of features times residuals at weights of zero, as long as they are, in units where 1 / sqrt(2) is `UNIT`."""
    residuals = np.full((len(records), CLASSES), -(UNIT * 99) // (70 * CLASSES))
    residuals[np.arange(len(records)), [label for _, label in records]] += UNIT * 99 // 70
    return np.array([feature for feature, _ in records]) @ residuals


def cut_gradient(records):
    """The same with the slopes of a softmax loss, none of which is longer than the noise is for."""
    features, labels = np.array(records).T
    rows = Rows(features[:, np.newaxis].astype(np.int32), BOUND, Fraction(1, BOUND), labels)
    return rows.weighted_sum(softmax_slopes(np.zeros((len(records), CLASSES), dtype=np.int64), labels, 16))[0]


def sample_slopes(records, count, rng, *, gradient):
    """How far a noisy gradient pulls towards the first class and away from the others, in units of the noise."""
    noisy = CUT.releases(gradient(records), count, source_from(rng))
    return (noisy[:, 0] - noisy.mean(axis=1)) / int(CUT.sensitivity)


KNOWN = KnownOrder(SECRET.schedule)
CHOICE = counts_mechanism(epsilon=1, adjacency=REPLACE)
PASSES = 2
AS_GAUSSIAN = Fraction(5, 4)
"""Pure epsilon 1 is at least as private as a Gaussian mu of -2 times the normal quantile of 1 / (1 + e), which is 1.2318."""


def sample_chosen(data, count, rng, *, charged):
    """Of two noisy weights the one that errs less on the records: by the exponential mechanism if it is `charged`, else exactly."""
    source = source_from(rng)
    found = np.stack([KNOWN.sample_first_mean(data, count, rng) for _ in range(PASSES)], axis=1)
    feature, label = data[0]
    wrong = (found * feature * (2 * label - 1) <= 0).astype(np.int64)  # the other records are zero: wrong for every weight
    chosen = wrong.argmin(axis=1)
    if charged:
        for case in {tuple(row) for row in wrong.tolist()}:
            rows = np.flatnonzero((wrong == case).all(axis=1))
            chosen[rows] = CHOICE.releases([-each for each in case], len(rows), source)
    return found[np.arange(count), chosen]


def price(choice):
    """The claim of the first means of several passes and of a choice among them at a Gaussian mu."""
    total = math.isqrt(math.ceil((mu_of([SECRET.schedule.releases[0]] * PASSES) ** 2 + choice**2) * 4**30)) + 1
    return Claim(GDP(mu=Fraction(total, 2**30)), adjacency=REPLACE)


def minimiser(records):
    """The minimiser of a linear loss at a ridge of 1."""
    return sum(feature * (2 * label - 1) for feature, label in records) / len(records)


def sample_measured_norm(records, count, rng):
    """The minimiser with noise for the longest record that there is."""
    longest = Fraction(max(abs(feature) for feature, _ in records))
    return add_noise(minimiser(records), 2 * longest / len(records), count, rng)


def sample_given_norm(records, count, rng):
    """The minimiser with noise for the longest record that may be."""
    return add_noise(minimiser(records), Fraction(2, len(records)) + Fraction(1, WEIGHT_UNIT), count, rng)


def sample_uncharged_search(records, count, rng):
    """The best of twenty private fits by the loss on the records themselves: each is charged for, the choice is not."""
    exact, fits = minimiser(records), 20
    found = add_noise(exact, Fraction(2, len(records)), count * fits, rng).reshape(count, fits)
    return found[np.arange(count), np.abs(found - exact).argmin(axis=1)]


def sample_counts(records, count, rng, *, columns):
    """How far noisy counts of the bins of two columns go along with a record that moves, with noise for so many columns."""
    noise = GaussianMechanism(sensitivity=count_sensitivity(columns, 0, 2), noise_multiplier=1, adjacency=REPLACE)
    before, after, here = (boosting.private_sums(each)[0][:-2] for each in (*boosting.MOVED_PAIR, records))
    return noise.releases(here, count, source_from(rng)) @ (after - before) / float(noise.sigma) ** 2


def sample_clusters(records, count, rng, *, blocks):
    """How far noisy sums of two clusters go along with a record that changes its cluster, with noise for so many of them."""
    sensitivity = structure.CLUSTERS.sums.sensitivity * Fraction(blocks, 2)
    noise = GaussianMechanism(sensitivity=sensitivity, sigma=sensitivity, adjacency=REPLACE)
    before, after = map(structure.clusters, structure.SIDE_PAIR)
    noisy = noise.releases(structure.clusters(records), count, source_from(rng))
    return noisy @ (after - before) / float(structure.CLUSTERS.sums.sensitivity) ** 2


def sample_directions(records, count, rng, *, moves):
    """The noisy second moment of principal directions, with noise for a part of what one record moves it by."""
    whole = structure.PLAN.moment.sensitivity
    noise = GaussianMechanism(sensitivity=whole * moves / 2, sigma=whole * moves / 2, adjacency=REPLACE)
    before, after = map(structure.triangle, structure.TURN_PAIR)
    return noise.releases(structure.triangle(records), count, source_from(rng)) @ (after - before) / float(whole) ** 2


def sample_ranges(records, count, rng, *, paid):
    """The upper ends of the ranges of two columns, from noisy counts, or from the bins that records are in."""
    if paid:
        return structure.sample_ends(records, count, rng)[:, 1::2]
    ends = narrow_ranges(structure.bins(records) * 10**6, structure.RANGES, Fraction(1, 200))
    return np.tile(ends[:, 1], (count, 1))


SLOPES = (((BOUND, 0), (0, 0)), ((-BOUND, 0), (0, 0)))
NORMS = ((*((0.01, 1),) * 9, (0.01, 0)), (*((0.01, 1),) * 9, (1.0, 0)))
TURNED = (((1.0, 1), *((0.0, 1),) * 9), ((1.0, 0), *((0.0, 1),) * 9))

PAIRS = (
    pair_up(
        ("broken_halfspace_sum", "noise for one unit record where one leaves and another comes", partial(signed_sum, moves=1)),
        (
            "halfspace_sum",
            "a sum of unit records with noise for the one that leaves and the one that comes",
            partial(signed_sum, moves=2),
        ),
        Claim(GDP(mu=1), adjacency=REPLACE),
        SIDES,
        wrong="the sum moves by 2",
    ),
    (
        make_target(
            "broken_kernel_squares",
            "broken on purpose: least squares with noise for slopes that end at the bound of the labels",
            sample_squares,
            Claim(GDP(mu=1), adjacency=REPLACE, note="wrong: squared losses are as steep as residuals are large"),
            FAR,
        ),
        next(target for target in kernels.TARGETS if target.name == "kernel_ridge"),
    ),
    pair_up(
        (
            "broken_second_moment",
            "a second moment with noise for half of what one record moves it by",
            partial(sample_moment, mechanism=HALVED),
        ),
        (
            "whole_second_moment",
            "the same entry of a second moment with noise for all that one record moves it by",
            partial(sample_moment, mechanism=WHOLE),
        ),
        WHOLE.claim,
        MOMENT_PAIR,
        wrong="two outer products change",
    ),
    pair_up(
        (
            "broken_slopes",
            "residuals of ten classes that are not cut, with noise for such that are",
            partial(sample_slopes, gradient=uncut_gradient),
        ),
        ("cut_slopes", "residuals of ten classes that are cut", partial(sample_slopes, gradient=cut_gradient)),
        CUT.claim,
        SLOPES,
        wrong="a residual may be twice as long",
    ),
    (
        make_target(
            "broken_free_choice",
            "broken on purpose: the better of two noisy weights by its errors on the records, at no charge",
            partial(sample_unlogged, partial(sample_chosen, charged=False)),
            price(Fraction(0)),
            LEADING,
        ),
        make_target(
            "charged_choice",
            "the better of the two by the exponential mechanism, at its price",
            partial(sample_unlogged, partial(sample_chosen, charged=True)),
            price(AS_GAUSSIAN),
            LEADING,
        ),
    ),
    pair_up(
        ("broken_histograms", "one histogram a column, with noise for a single one", partial(sample_counts, columns=1)),
        ("joint_histograms", "one histogram a column, with noise for all of them", partial(sample_counts, columns=2)),
        Claim(GDP(mu=1), adjacency=REPLACE),
        boosting.MOVED_PAIR,
        wrong="a record is counted once in every column",
    ),
    pair_up(
        ("broken_clusters", "sums of clusters with noise for the one that a record enters", partial(sample_clusters, blocks=1)),
        ("whole_clusters", "sums of clusters with noise for the one it leaves as well", partial(sample_clusters, blocks=2)),
        Claim(GDP(mu=1), adjacency=REPLACE),
        structure.SIDE_PAIR,
        wrong="a record that changes its cluster moves two sums",
    ),
    pair_up(
        ("broken_directions", "a second moment with noise for half of its change", partial(sample_directions, moves=1)),
        ("whole_directions", "a second moment with noise for all of its change", partial(sample_directions, moves=2)),
        Claim(GDP(mu=1), adjacency=REPLACE),
        structure.TURN_PAIR,
        wrong="two outer products change",
    ),
    pair_up(
        ("broken_ranges", "ranges of columns from the bins that records are in, without noise", partial(sample_ranges, paid=False)),
        ("noisy_ranges", "ranges of columns from noisy counts", partial(sample_ranges, paid=True)),
        Claim(ApproxDP(epsilon=1, delta="1e-5"), adjacency=REPLACE),
        structure.MOVED_PAIR,
        wrong="one record far out is seen",
    ),
    pair_up(
        ("broken_measured_norm", "output perturbation for the largest norm that the records have", sample_measured_norm),
        ("given_norm", "noise for a public norm", sample_given_norm),
        CLAIM,
        NORMS,
        wrong="the amount of noise follows one record",
    ),
    pair_up(
        ("broken_search", "a search among twenty private fits that charges for one", sample_uncharged_search),
        ("single_fit", "one fit, and no search", sample_given_norm),
        CLAIM,
        TURNED,
        wrong="the choice reads the records as well, twenty times",
    ),
)
