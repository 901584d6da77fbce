"""Every law and scheme: upper ends fall and are convex in e^epsilon, and no sample is worse than the whole."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from dpaudit.accounting import (
    CyclicPoisson,
    MinSeparation,
    Poisson,
    RandomAllocation,
    RandomOrder,
    SampledWithReplacement,
    Shuffle,
    Tree,
    TruncatedPoisson,
    WithoutReplacement,
    approx_dp,
    best_of_negative_binomial_runs,
    best_of_poisson_runs,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gaussian_mixture,
    gdp,
    laplace,
    matrix_mechanism,
    mixture,
    noisy_max,
    permute_and_flip,
    prefix_root,
    pure_dp,
    randomized_response,
    rdp,
    sparse_vector,
    staircase,
    toeplitz,
    update_charged,
    zcdp,
)
from dpaudit.exact import ball, ball_endpoints, working_precision

PLACES = [Fraction(place) for place in ("0", "1/8", "1/3", "3/4", "3/2", "3")]
NARROW = Fraction(1, 500)  # Relative room for ends of different engines, each at most half as wide
ROUGH = Fraction(1, 20)  # The same where only moments are known, and chords end at fixed places
PAIR = explicit_pair(["1/2", "1/3", "1/6"], ["1/8", "3/8", "1/2"], adjacency="zero_out")
SWAPPED = gaussian(sigma=1, adjacency="replace_one")
BANDS = toeplitz(prefix_root(bands=3), steps=7)
LAWS = {
    "approx_dp": approx_dp(1, delta="1/50"),
    "best of negative binomial": best_of_negative_binomial_runs(gaussian(sigma=4), shape=1, stop="1/10"),
    "best of poisson": best_of_poisson_runs(gaussian(sigma=4), mean=5),
    "bounded_range": bounded_range(1),
    "discrete_gaussian": discrete_gaussian(sigma=2),
    "discrete_laplace": discrete_laplace(scale=2, sensitivity=3),
    "explicit_pair": PAIR,
    "gaussian": gaussian(sigma=1),
    "gaussian_mixture": gaussian_mixture(sigma=1, sensitivities=[0, 1, 3], weights=["1/2", "3/10", "1/5"]),
    "gdp": gdp("3/2"),
    "laplace": laplace(scale=1),
    "matrix": matrix_mechanism(BANDS, noise_multiplier=2, participation=MinSeparation(2, participations=3)),
    "mixture": mixture([("1/3", laplace(scale=1)), ("2/3", gaussian(sigma=1))]),
    "noisy_max": noisy_max(1),
    "permute_and_flip": permute_and_flip(1),
    "pure_dp": pure_dp(1),
    "randomized_response": randomized_response(1, categories=4),
    "rdp": rdp({2: "1/4", 8: 1}),
    "sparse_vector": sparse_vector(1),
    "staircase": staircase(1, step=3, width=2),
    "tree": matrix_mechanism(Tree(6), noise_multiplier=2, participation=MinSeparation(2, participations=2)),
    "update_charged": update_charged(scale=40, threshold=2000, updates=10),
    "zcdp": zcdp("1/4"),
}
SAMPLES = {
    "poisson laplace": (laplace(scale=1).sampled(Poisson("1/3")), laplace(scale=1)),
    "poisson gaussian": (gaussian(sigma=1).sampled(Poisson("1/50")), gaussian(sigma=1)),
    "rare": (gaussian(sigma="7/2").sampled(Poisson("1/1000")), gaussian(sigma="7/2")),
    "group": (gaussian(sigma=2).sampled(Poisson("1/10")).group(removed=2, added=1), gaussian(sigma=2).group(3)),
    "user": (gaussian(sigma=2).sampled(Poisson("1/10")).user(records=3), gaussian(sigma=2).group(3)),
    "replace-one": (gaussian(sigma=1).sampled(Poisson("1/10")).under("replace_one"), gaussian(sigma=1).under("replace_one")),
    "truncated": (gaussian(sigma=2).sampled(TruncatedPoisson(rate="1/20", cap=8, records=100)), gaussian(sigma=2).group(2)),
    "together": (compose(pure_dp("1/2"), gaussian(sigma=2)).sampled(Poisson("1/5"), together=True), None),
    "without replacement": (SWAPPED.sampled(WithoutReplacement(size=3, of=10)), SWAPPED),
    "with replacement": (SWAPPED.sampled(SampledWithReplacement(size=3, of=20)), None),
    "allocation": (PAIR.sampled(RandomAllocation(3)), PAIR),
    "gaussian allocation": (gaussian(sigma=1, adjacency="zero_out").sampled(RandomAllocation(2)), None),
    "order": (SWAPPED.sampled(RandomOrder(records=10, batches=(4, 3))), SWAPPED),
    "shuffle": (randomized_response(1, categories=2).sampled(Shuffle(reports=20)), None),
    "bands": (
        matrix_mechanism(BANDS, noise_multiplier=1, participation=CyclicPoisson(rate="1/4", bands=3)),
        matrix_mechanism(BANDS, noise_multiplier=1, participation=MinSeparation(3, participations=3)),
    ),
}


def chord(near, middle, far):
    """The share of the first of three epsilons in the chord over the second, at or below it, and at or above."""
    with working_precision(192):
        a, b, c = (ball(place).exp() for place in (near, middle, far))
        return ball_endpoints((c - b) / (c - a))


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("name", [*LAWS, *SAMPLES])
def test_upper_ends_fall_and_are_convex(name, times):
    loss = times * (LAWS[name] if name in LAWS else SAMPLES[name][0])
    found = loss.curve(PLACES)
    for near, far in pairwise(found):
        assert near.lower <= near.upper
        assert far.upper <= near.upper
    for index in range(1, len(PLACES) - 1):
        share = chord(*PLACES[index - 1 : index + 2])[1]
        first, here, last = found[index - 1 : index + 2]
        above = share * first.upper + (1 - share) * last.upper
        assert here.lower <= above
        assert here.upper <= above * (1 + (ROUGH if name.startswith("best of") else NARROW)) + Fraction(1, 10**30)


@pytest.mark.parametrize("name", [name for name, (_, whole) in SAMPLES.items() if whole is not None])
def test_no_sample_is_reported_worse_than_the_whole(name):
    sampled, whole = SAMPLES[name]
    for place in PLACES[::2]:
        assert sampled.delta(epsilon=place).upper <= whole.delta(epsilon=place).upper
