"""Draws of the noise laws against their probabilities: chi-square tests on fixed streams, rare paths forced to be common."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
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
def test_draws_through_the_rare_paths_follow_their_law(law, tuning, false_alarm_level):
    drawn = draw(envelope_table(law, tuning), source_from(np.random.default_rng(102)), 20_000)
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
