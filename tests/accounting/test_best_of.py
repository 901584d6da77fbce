"""The best of a random number of runs: its moments against exact laws of small mechanisms, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import Adjacency
from dpaudit.accounting import (
    best_of_negative_binomial_runs,
    best_of_poisson_runs,
    gaussian,
    price_releases,
    pure_dp,
    randomized_response,
    zcdp,
)
from dpaudit.accounting.laws.best_of import BestOf, BestOfPoisson, expected_runs
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import working_precision
from dpaudit.releases import Release

SHAPES = st.sampled_from([Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])


@lru_cache
def runs(shape, stop, most=600):
    """Masses of the number of runs, from its definition."""
    masses, mass = [], 1.0
    for count in range(1, most):
        mass *= (1 - stop) * ((count - 1 + shape) / count if count > 1 or shape else 1.0)
        masses.append(mass)
    total = math.fsum(masses)
    return [mass / total for mass in masses]


def best_law(outputs, masses):
    """Law of the best output: the k-th power of the distribution function, mixed."""

    def below(place):
        return math.fsum(mass * min(1.0, place) ** count for count, mass in enumerate(masses, 1))

    reached, law = 0.0, []
    for mass in outputs:
        law.append(below(reached + mass) - below(reached))
        reached += mass
    return law


@given(
    shape=SHAPES,
    stop=st.sampled_from([Fraction(1, 20), Fraction(1, 3), Fraction(9, 10)]),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(1)]),
    order=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7), Fraction(40)]),
    swapped=st.booleans(),
)
def test_moments_are_above_those_of_the_best_of_randomized_responses(shape, stop, epsilon, order, swapped):
    masses = runs(float(shape), float(stop))
    likely = 1 / (1 + math.exp(-float(epsilon)))
    pair = [best_law(outputs, masses) for outputs in ((likely, 1 - likely), (1 - likely, likely))]
    above, under = pair[::-1] if swapped else pair
    power = float(order)
    exact = math.log(math.fsum(one ** (1 + power) * other**-power for one, other in zip(above, under, strict=True)))
    rho = randomized_response(epsilon=epsilon).zcdp().upper
    with working_precision(64):
        assert exact <= float(BestOf(Fraction(rho), shape, stop).log_moment(order).upper()) + 1e-9
    worst = max(abs(math.log(one / other)) for one, other in zip(above, under, strict=True))
    assert worst <= float((2 + shape) * epsilon) + 1e-9


@given(
    mean=st.sampled_from([Fraction(1, 2), Fraction(5), Fraction(30)]),
    mu=st.sampled_from([Fraction(1, 10), Fraction(1)]),
    order=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7), Fraction(40)]),
    swapped=st.booleans(),
)
def test_moments_are_above_those_of_the_best_of_a_poisson_number_of_gaussian_cells(mean, mu, order, swapped):
    """A normal number, told by which of eight cells it lies in; the last is the best."""
    weights = [math.exp(-float(mean) + count * math.log(mean) - math.lgamma(count + 1)) for count in range(1, 150)]
    masses = [weight / math.fsum(weights) for weight in weights]
    ends = [-math.inf, -2, -1, -0.5, 0, 0.5, 1, 2, math.inf]
    laws = []
    for shift in (0.0, float(mu)):
        under = [math.erfc((shift - end) / math.sqrt(2)) / 2 for end in ends]
        laws.append(best_law([after - before for before, after in pairwise(under)], masses))
    above, below = laws[::-1] if swapped else laws
    power = float(order)
    exact = math.log(math.fsum(other * (one / other) ** (1 + power) for one, other in zip(above, below, strict=True)))
    with working_precision(64):
        assert exact <= float(BestOfPoisson(mu, mean).log_moment(order).upper()) + 1e-6


def test_a_poisson_number_of_runs_is_cheaper_than_a_geometric_one_that_misses_a_candidate_as_seldom():
    """One of four candidates is missed once in ten: with geometric 27 runs are expected for that, with Poisson 9.2."""
    geometric, poisson = Fraction(1, 27), Fraction(921, 100)
    assert 0.1 == pytest.approx(float((1 / (1 - (1 - geometric) * Fraction(3, 4)) - 1) / (1 / geometric - 1)), rel=0.02)
    assert 0.1 == pytest.approx(math.exp(-float(poisson) / 4), rel=0.01)
    prices = [
        best_of_negative_binomial_runs(gaussian(sigma=9), shape=1, stop=geometric).epsilon(delta="1e-5").upper,
        best_of_poisson_runs(gaussian(sigma=9), mean=poisson).epsilon(delta="1e-5").upper,
    ]
    assert prices[1] < prices[0] * Fraction(4, 5)


def test_the_pure_price_is_approached_by_rare_good_outputs():
    masses, epsilon, rare = runs(1.0, 1e-4, most=10**5), 1.0, 1e-7
    pair = [(1 - mass, mass) for mass in (rare * math.exp(epsilon), rare)]
    best = [best_law(outputs, masses)[1] for outputs in pair]
    assert 0.99 < math.log(best[0] / best[1]) <= 1.0
    dull = 1e-6
    laws = [best_law((1 - dull * factor, dull * factor), masses)[0] for factor in (1.0, math.exp(epsilon))]
    assert 0 < math.log(laws[0] / laws[1]) <= 3.0


@given(shape=SHAPES, stop=st.sampled_from([Fraction(1, 20), Fraction(1, 3)]))
def test_the_expected_number_of_runs_is_that_of_the_law(shape, stop):
    exact = math.fsum(count * mass for count, mass in enumerate(runs(float(shape), float(stop)), 1))
    with working_precision(64):
        assert abs(exact - float(expected_runs(shape, stop))) < 1e-6 * exact


def test_a_search_costs_a_few_runs_however_many_there_are():
    few, many = (
        best_of_negative_binomial_runs(pure_dp(epsilon=1), shape=0, stop=stop).epsilon(delta=0).upper for stop in ("1/2", "1e-9")
    )
    assert (2, 2) == (few, many)
    one = gaussian(sigma=10).epsilon(delta="1e-6").upper
    some, more = (
        best_of_negative_binomial_runs(gaussian(sigma=10), shape=1, stop=stop).epsilon(delta="1e-6") for stop in ("1/10", "1/1000")
    )
    assert (0, True) == (some.lower, one < some.upper < more.upper < 4 * one)


def test_a_release_is_priced_as_the_law_says():
    relation = Adjacency.of("replace_one")
    kinds = {"epsilon": pure_dp(epsilon="1/2"), "rho": zcdp("1/2")}
    for name, loss in kinds.items():
        parameters = tuple(sorted({name: Fraction(1, 2), "shape": Fraction(1), "stop": Fraction(1, 10)}.items()))
        found = price_releases([Release("best_of_runs", parameters, Fraction(1), relation)])
        expected = best_of_negative_binomial_runs(loss, shape=1, stop="1/10")
        assert expected.epsilon(delta="1e-6") == found.epsilon(delta="1e-6")
        assert relation == found.adjacency


def test_a_release_of_poisson_runs_is_priced_as_the_law_says_and_others_are_refused():
    parameters = (("mean", Fraction(7)), ("mu", Fraction(1, 5)))
    found = price_releases([Release("best_of_runs", parameters, Fraction(1), Adjacency.of("replace_one"))])
    assert best_of_poisson_runs(gaussian(sigma=5), mean=7).epsilon(delta="1e-6") == found.epsilon(delta="1e-6")
    for mean, code in ((0, "DPA104"), (1001, "DPA103"), ("x", "DPA101")):
        with pytest.raises(InvalidArgument, match=code):
            best_of_poisson_runs(gaussian(sigma=5), mean=mean)
    with pytest.raises(Unsupported, match="DPA202"):
        best_of_poisson_runs(zcdp("1/2"), mean=7)


@pytest.mark.parametrize(
    ("shape", "stop", "code"),
    [(-1, "1/2", "DPA103"), ("x", "1/2", "DPA101"), (1, 0, "DPA103"), (1, 1, "DPA103"), (2**21, "1/2", "DPA103")],
)
def test_parameters_of_the_number_of_runs_are_refused_out_of_their_ranges(shape, stop, code):
    with pytest.raises(InvalidArgument, match=code):
        best_of_negative_binomial_runs(pure_dp(epsilon=1), shape=shape, stop=stop)
