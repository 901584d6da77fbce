"""Truncated laws on long ranges: every way of drawing them, how their weights are mirrored, and which ranges are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from dpaudit.errors import InvalidArgument, Unsupported
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, FiniteLaw, Geometric, RoundedGaussian, Staircase, TruncatedLaw
from mechanisms.laws.law import Sampler
from mechanisms.laws.mirrored import Mirrored
from mechanisms.laws.truncated import kept_sampler
from mechanisms.sampling.random import source_from

LONG = [
    (DiscreteGaussian(sigma=10**5), -(10**5), 2 * 10**5),
    (DiscreteGaussian(sigma=10**5), 5 * 10**5, 6 * 10**5),
    (DiscreteGaussian(sigma=2**40), -(2**20), 2**21),
    (DiscreteLaplace(10**5), -6 * 10**5, -5 * 10**5),
    (RoundedGaussian(10**9), -5000, 3000),
    (Staircase(sensitivity=1000, epsilon=1), 50_000, 60_000),
    (Geometric(1000), 50_000, 60_000),
    (DiscreteLaplace(2**80), -5000, 3000),
    (Geometric(1000), 50_000, 500_000),
    (DiscreteGaussian(sigma=10**5), 5 * 10**5, 5 * 10**6),
]


@pytest.mark.parametrize(("law", "lower", "upper"), LONG, ids=str)
def test_long_ranges_are_sampled_wherever_they_lie(law, lower, upper):
    truncated = TruncatedLaw(law, lower=lower, upper=upper)
    drawn = truncated.sample(4000, source=source_from(np.random.default_rng(8)))
    assert lower <= drawn.min() <= drawn.max() <= upper
    for cut in (lower + (upper - lower) // 50, lower + (upper - lower) // 4, (lower + upper) // 2, upper - (upper - lower) // 9):
        expected = float(truncated.cdf(cut).upper)
        assert abs((drawn <= cut).mean() - expected) < 7 * math.sqrt(max(expected * (1 - expected), 1e-3) / 4000)
    assert lower <= truncated.sample() <= upper


@pytest.mark.parametrize(("law", "lower", "upper"), LONG, ids=str)
def test_a_mirrored_range_falls_as_its_sampler_relies_on(law, lower, upper):
    mirrored = Mirrored.of(law, lower, upper)
    start = min(mirrored.limit + 1, int(mirrored.cut * mirrored.width))
    for place in (start, start + 7, mirrored.limit, mirrored.limit + 1) if hasattr(law, "decay") else (mirrored.limit + 1,):
        for j in (0, 1, 2, 9, 1000, mirrored.limit):
            bound = (
                mirrored.weight(place) * (-arb(1) * j * mirrored.decay(place).numerator / mirrored.decay(place).denominator).exp()
            )
            assert not mirrored.weight(place + j) > bound
    for k in (0, 1, 5, mirrored.limit - 1, mirrored.limit, mirrored.limit + 3):
        assert not mirrored.weight(k + 1) > mirrored.weight(k)
        assert mirrored.weight(k) == mirrored.weight(-k) or mirrored.weight(k).overlaps(mirrored.weight(-k))


class Given:
    """A sampler whose draws are the numbers 0, 1, 2, ... in turn, and how many were asked for at once."""

    def __init__(self):
        self.next, self.asked = 0, []

    def many(self, source, n, wide):
        self.asked.append(n)
        self.next += n
        return np.arange(self.next - n, self.next) % 10


@pytest.mark.parametrize("wide", [False, True])
def test_kept_draws_are_those_of_the_range_in_their_order(wide):
    given = Given()
    drawn = kept_sampler(Sampler(given.many, None, 0), lambda drawn: drawn - 2, 0.9, 1, 4).many(None, 11, wide)
    assert [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3] == drawn.tolist()
    assert given.asked[0] == int(11 / 0.9) + 3 + 8
    assert (object if wide else np.int64) == drawn.dtype


def test_truncating_twice_is_truncating_once():
    inner = TruncatedLaw(DiscreteGaussian(sigma=9), lower=-20, upper=7)
    assert TruncatedLaw(DiscreteGaussian(sigma=9), lower=-3, upper=7) == TruncatedLaw(inner, lower=-3, upper=50)


@pytest.mark.parametrize(
    ("law", "lower", "upper", "code"),
    [
        (DiscreteLaplace(1), 3, 2, "DPA103"),
        (DiscreteLaplace(1), 0.5, 2, "DPA105"),
        (Geometric(1), -9, -1, "DPA103"),
        (FiniteLaw({0: 1, 9: 1}), 2, 7, "DPA103"),
        ("laplace", 0, 1, "DPA105"),
    ],
)
def test_what_is_no_range_of_a_law_is_refused(law, lower, upper, code):
    with pytest.raises(InvalidArgument, match=code):
        TruncatedLaw(law, lower=lower, upper=upper)


def test_an_unlikely_range_that_no_kernel_reaches_is_refused():
    law = TruncatedLaw(Staircase(sensitivity=100, epsilon=1), lower=10_000, upper=10_000_000)
    with pytest.raises(Unsupported, match="DPA202"):
        law.sample(1)
