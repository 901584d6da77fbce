"""Rare losses: a lower end from the event that one release loses much, an upper end from moments at one tilt, and both."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import Poisson, compose, explicit_pair, gaussian, laplace, pure_dp
from dpaudit.accounting.engines.jumps import largest_jump
from dpaudit.accounting.engines.tilts import tilted_end
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt

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


@given(pair=PAIRS, other=PAIRS, count=st.integers(1, 6), epsilon=st.fractions(0, 3, max_denominator=64))
def test_moments_at_one_tilt_give_no_less_than_delta(pair, other, count, epsilon):
    for loss in (count * pair, compose(count * pair, other), (count * pair).sampled(Poisson("1/3"))):
        for direction, way in zip(loss.directions, (loss, loss.reversed()), strict=True):
            bound = tilted_end(way.composition, DeltaAt(epsilon))
            assert bound is None or bound.upper >= loss.delta(epsilon=epsilon, direction=direction).lower


def test_moments_of_a_normal_loss_give_their_closed_form():
    """delta <= (t/(1 + t))^t/(1 + t) e^(t (1 + t) mu^2/2 - t e), here with mu = 1 at e = 5, whose best t is near 4.4."""
    found = float(tilted_end(gaussian(sigma=1).composition, DeltaAt(Fraction(5))).upper)
    best = min((t / (1 + t)) ** t / (1 + t) * math.exp(t * (1 + t) / 2 - 5 * t) for t in (place / 100 for place in range(300, 600)))
    assert best <= found < best * 1.003
    limit = tilted_end(gaussian(sigma=1).composition, EpsilonAt(Fraction(found).limit_denominator(10**12))).upper
    assert float(limit) == pytest.approx(5, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "most"), [("1/20", "0.004"), ("1/5", "9e-5"), (1, "2e-13")])
def test_a_million_samples_at_a_rate_of_one_in_a_million_have_a_price(epsilon, most):
    found = (10**6 * gaussian(sigma=1).sampled(Poisson("1e-6"))).delta(epsilon=epsilon)
    assert found.lower < found.upper < Fraction(most)


def test_what_a_lattice_says_beyond_its_best_epsilons_counts():
    found = (50 * gaussian(sigma="3.53").sampled(Poisson("0.001"))).delta(epsilon="1/20")
    assert found.upper < Fraction("1e-11")
    near = (8 * gaussian(sigma="1166/367").sampled(Poisson("10/833"))).delta(epsilon="1/1000")
    assert near.lower <= Fraction("0.0038927105529798") <= near.upper < near.lower * Fraction(1001, 1000)
