"""Draws of the noise laws against their probabilities: chi-square tests on fixed streams, rare paths forced to be common."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from mechanisms.laws import (
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Geometric,
    LawFromWeights,
    RoundedGaussian,
    Staircase,
    TruncatedLaw,
)
from mechanisms.sampling.cumulative import Words
from mechanisms.sampling.digits import DigitWords, digit_table, draw_geometric, draw_two_sided
from mechanisms.sampling.envelope import SHIPPED, Tuning, envelope_table
from mechanisms.sampling.kernel import draw, draw_one
from mechanisms.sampling.random import source_from

SCALES = ("1/2", 1, 10, "100/3", 10**3, 10**6, 2**40)
LAWS = [law for scale in SCALES for law in (DiscreteLaplace(scale), DiscreteGaussian(sigma=scale), RoundedGaussian(scale))] + [
    DiscreteGaussian(sigma_squared="10000/3")
]

FORCED = [
    (DiscreteLaplace(1), Tuning(cut=Fraction(1), prefix=1, step=1, slack=0.5)),
    (DiscreteLaplace(10), Tuning(cut=Fraction(1), prefix=4, step=1, cell_bits=10)),
    (DiscreteLaplace(1000), Tuning(cut=Fraction(1), prefix=2, step=2, slack=0.5, cell_bits=10)),
    (DiscreteGaussian(sigma=10), Tuning(cut=Fraction(1), prefix=1, step=1, slack=0.5, cell_bits=10)),
    (DiscreteGaussian(sigma=1000), Tuning(cut=Fraction(1), prefix=3, step=1, slack=0.5, cell_bits=10)),
    (RoundedGaussian(10), Tuning(cut=Fraction(1), prefix=2, step=2, slack=0.5, cell_bits=10)),
    (RoundedGaussian(100), Tuning(cut=Fraction(1), prefix=4, step=4, slack=0.5, cell_bits=10)),
]
"""Laws with a table that reaches one scale only, and with comparisons that mostly need balls."""


def _p_value(counts, expected):
    """Chance of counts at least this far from the expected ones."""
    from scipy.stats import chi2

    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(counts) - 1))


def edges_of(law, draws):
    """Left ends of bins, one integer or a sixteenth of the scale wide, as far out as ten draws are expected beyond."""
    width = max(1, round(float(law.width_squared) ** 0.5 / 16))
    reach = 1
    while law.tail((reach + 1) * width).lower * draws >= 10:
        reach += 1
    return np.array([place * width for place in range(-reach, reach + 1)], dtype=np.int64)


def p_value(law, drawn):
    """Chance of draws at least this far from the law: bins over its whole range, and for wide laws the lowest byte as well."""
    edges = edges_of(law, len(drawn))
    beyond = [Fraction(1), *(law.tail(int(edge), precision=64).lower for edge in edges), Fraction(0)]
    expected = np.array([float(first - second) for first, second in pairwise(beyond)]) * len(drawn)
    found = _p_value(np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=len(edges) + 1), expected)
    if law.width_squared < 2**30:
        return found
    low = _p_value(np.bincount(drawn & 255, minlength=256), np.full(256, len(drawn) / 256))
    return 1 - (1 - min(found, low)) ** 2


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_million_draws_follow_their_law(law, false_alarm_level):
    drawn = draw(envelope_table(law, SHIPPED), source_from(np.random.default_rng(101)), 10**6)
    assert p_value(law, drawn) > false_alarm_level


@pytest.mark.parametrize(("law", "tuning"), FORCED, ids=str)
def test_draws_through_the_rare_paths_follow_their_law(law, tuning, false_alarm_level, full_size):
    # Fewer draws keep the false-alarm level, since bins follow the number of draws, and see only larger errors.
    drawn = draw(envelope_table(law, tuning), source_from(np.random.default_rng(102)), 20_000 if full_size else 6_000)
    assert p_value(law, drawn) > false_alarm_level


@pytest.mark.parametrize("law", [DiscreteLaplace(10), DiscreteGaussian(sigma=1000), RoundedGaussian(2**40)], ids=str)
def test_draws_made_one_at_a_time_follow_their_law(law, false_alarm_level):
    table, source = envelope_table(law), source_from(np.random.default_rng(103))
    assert p_value(law, np.array([draw_one(table, source) for _ in range(100_000)])) > false_alarm_level


@pytest.mark.parametrize("law", [DiscreteLaplace(10), DiscreteGaussian(sigma=1000), RoundedGaussian(100)], ids=str)
def test_a_law_that_is_a_little_too_wide_is_noticed(law, false_alarm_level):
    # Positive control: the same statistic on draws of which one in a hundred is moved by a fifth of the scale.
    drawn = draw(envelope_table(law), source_from(np.random.default_rng(104)), 10**6)
    drawn[::50] += round(float(law.width_squared) ** 0.5 / 5)
    drawn[1::50] -= round(float(law.width_squared) ** 0.5 / 5)
    drawn[2::50] *= 2
    assert p_value(law, drawn) < false_alarm_level


def fixed_p_value(law, drawn, bins=64):
    """Chance of draws at least this far from the law, in bins between its own quantiles, each with ten draws expected or more."""
    edges, level = [], 0.0
    while (edge := quantile(law, level)) is not None:
        edges.append(edge)
        level = float(law.cdf(edge).upper) + max(1 / bins, 20 / len(drawn))
    below = [0.0, *(float(law.cdf(edge).lower) for edge in edges), 1.0]
    if (1.0 - below[-2]) * len(drawn) < 10:
        del edges[-1], below[-2]
    expected = np.array([second - first for first, second in pairwise(below)]) * len(drawn)
    counts = np.bincount(np.searchsorted(np.array(edges), drawn, side="left"), minlength=len(edges) + 1)
    return _p_value(counts[expected > 0], expected[expected > 0])


def quantile(law, level):
    """The least integer whose cumulative probability is a little above `level`, None where none is below 1 by enough."""
    if level > 0.9999:
        return None
    low, high = -1, 1
    while law.cdf(low).upper > level + 1e-4:
        low *= 2
    while law.cdf(high).upper <= level + 1e-4:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if law.cdf(middle).upper > level + 1e-4 else (middle + 1, high)
    return low


OTHERS = [
    Geometric("1/2"),
    Geometric(10),
    Geometric(10**6),
    Geometric(2**40),
    Staircase(sensitivity=1, epsilon="1/10"),
    Staircase(sensitivity=6, epsilon=1),
    Staircase(sensitivity=1000, epsilon=2),
    FiniteLaw({-9: 1, 0: 3, 4: "1/2", 10**15: 2}),
    TruncatedLaw(DiscreteGaussian(sigma=50), lower=-20, upper=90),
    TruncatedLaw(DiscreteGaussian(sigma=2), lower=10, upper=18),
    TruncatedLaw(DiscreteLaplace(10**5), lower=-(10**6), upper=10**4),
]


@pytest.mark.parametrize("law", OTHERS, ids=str)
def test_draws_of_the_other_laws_follow_them(law, false_alarm_level):
    drawn = law.sample(300_000, source=source_from(np.random.default_rng(105)))
    assert fixed_p_value(law, drawn) > false_alarm_level


SLOWER = [
    TruncatedLaw(DiscreteGaussian(sigma=10**5), lower=5 * 10**5, upper=6 * 10**5),
    TruncatedLaw(RoundedGaussian(10**9), lower=-5000, upper=3000),
    TruncatedLaw(Staircase(sensitivity=1000, epsilon=1), lower=50_000, upper=60_000),
    LawFromWeights(lambda k: (-arb(k) / 2).exp() / (1 + arb(k)), scale=2, decay="1/2"),
]


@pytest.mark.parametrize("number", range(len(SLOWER)))
def test_draws_by_balls_follow_their_law(number, false_alarm_level):
    drawn = SLOWER[number].sample(30_000, source=source_from(np.random.default_rng(106)))
    assert fixed_p_value(SLOWER[number], drawn) > false_alarm_level


@pytest.mark.parametrize("scale", [1, 10, 10**6])
def test_draws_with_fixed_work_follow_their_law(scale, false_alarm_level):
    law = DiscreteLaplace(scale)
    drawn = law.sample(300_000, source=source_from(np.random.default_rng(107)), fixed_work=True)
    assert fixed_p_value(law, drawn) > false_alarm_level


@pytest.mark.parametrize("scale", [2, 50])
def test_digits_through_the_rare_paths_follow_their_law(scale, false_alarm_level):
    words = Words(guide=1, prefix=2, step=1, reach=2)
    table = digit_table(scale, DigitWords(digit=2, top_scale=Fraction(1), words=words))
    for draw_from, law in ((draw_geometric, Geometric(scale)), (draw_two_sided, DiscreteLaplace(scale))):
        drawn = draw_from(table, source_from(np.random.default_rng(108)), 10_000)
        assert fixed_p_value(law, drawn) > false_alarm_level


def test_a_geometric_law_that_is_a_little_too_wide_is_noticed(false_alarm_level):
    # Positive control: every second draw is an eighth too large.
    law = Geometric(10**6)
    drawn = law.sample(300_000, source=source_from(np.random.default_rng(109)))
    drawn[::2] = drawn[::2] * 9 // 8
    assert fixed_p_value(law, drawn) < false_alarm_level
