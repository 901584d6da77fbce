"""A lower end from the event that one release loses much: exact for one release, below the truth for many, and never vacuous."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import Poisson, compose, explicit_pair, gaussian, laplace, pure_dp
from dpaudit.accounting.engines.jumps import largest_jump

WEIGHTS = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any)
PAIRS = st.tuples(WEIGHTS, WEIGHTS).map(lambda pair: explicit_pair(*([Fraction(one, sum(row)) for one in row] for row in pair)))


@given(pair=PAIRS, other=PAIRS, count=st.integers(1, 6), epsilon=st.fractions(0, 3, max_denominator=64))
def test_no_event_gives_more_than_delta_and_for_one_release_the_best_gives_it(pair, other, count, epsilon):
    for loss in (count * pair, compose(count * pair, other), (count * pair).sampled(Poisson("1/3"))):
        for direction, way in zip(loss.directions, (loss, loss.reversed()), strict=True):
            assert largest_jump(way.composition, epsilon).lower <= loss.delta(epsilon=epsilon, direction=direction).upper
    if epsilon:
        exact = pair.delta(epsilon=epsilon, direction="remove")
        assert float(largest_jump(pair.composition, epsilon).lower) == pytest.approx(float(exact.lower), rel=1e-12, abs=1e-30)


@pytest.mark.parametrize(
    "loss", [gaussian(sigma="1/2"), laplace(scale=2), gaussian(sigma="1/10").sampled(Poisson("1e-6")), pure_dp(2)]
)
def test_one_release_of_a_known_law_is_known_by_its_best_event(loss):
    exact = loss.delta(epsilon="1/4", direction="remove")
    assert float(largest_jump(loss.composition, Fraction(1, 4)).lower) == pytest.approx(float(exact.upper), rel=1e-9)


@pytest.mark.parametrize("sigma", ["1/2", "1/10"])
def test_rare_events_among_many_releases_are_seen_from_below(sigma):
    once = gaussian(sigma=sigma).sampled(Poisson("1e-6"))
    found = (1000 * once).delta(epsilon=1)
    assert 1000 * once.delta(epsilon=1).lower / 2 < found.lower <= found.upper
