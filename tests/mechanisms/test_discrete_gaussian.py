"""Discrete Gaussian mechanism: three ways to say the noise, its zCDP claim, its exact price for a number, its bound for arrays."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from mechanisms import DiscreteGaussian, DiscreteGaussianMechanism, InsecureSeededSourceForTestsOnly

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

positives = st.fractions(min_value="1/50", max_value=50, max_denominator=50)


def made(**changes):
    return DiscreteGaussianMechanism(**{"sensitivity": 1, "sigma": 2, **changes})


@given(sensitivity=positives, rho=positives, lattice=st.integers(1, 9))
def test_the_three_ways_to_give_the_noise_agree(sensitivity, rho, lattice):
    step = sensitivity / lattice
    mechanism = made(sensitivity=sensitivity, sigma=None, rho=rho, lattice=step)
    assert rho == mechanism.rho == mechanism.claim.guarantee.rho
    assert mechanism == made(sensitivity=sensitivity, sigma=None, sigma_squared=mechanism.sigma_squared, lattice=step)
    squared = made(sensitivity=sensitivity, sigma=rho, lattice=step)
    assert rho**2 == squared.sigma_squared
    assert squared == made(sensitivity=sensitivity, sigma=None, rho=sensitivity**2 / (2 * rho**2), lattice=step)


def test_reports_follow_the_law_on_the_lattice(false_alarm_level):
    released = made(sigma=None, sigma_squared="5/16", lattice="1/4").releases("3/4", 100_000, InsecureSeededSourceForTestsOnly(61))
    steps, law = (released * 4 - 3).astype(int), DiscreteGaussian(sigma_squared=5)
    expected = np.array([float(law.pmf(k).lower) for k in range(-7, 8)])
    counts = np.bincount(np.clip(steps, -8, 8) + 8, minlength=17)
    tail = float(law.tail(8).lower)
    expected = np.array([tail, *expected, tail])
    assert chisquare(counts, 100_000 * expected / expected.sum()).pvalue > false_alarm_level


@pytest.mark.parametrize("order", [1.5, 2, 8, 40])
@pytest.mark.parametrize(("sensitivity", "sigma"), [(1, "1/2"), (1, 2), (3, 2), (2, "1/3")])
def test_the_claim_bounds_every_renyi_divergence(order, sensitivity, sigma):
    mechanism = made(sensitivity=sensitivity, sigma=sigma)
    with mpmath.workdps(60):
        width = mpmath.mpf(mechanism.sigma_squared.numerator) / mechanism.sigma_squared.denominator

        def weight(k):
            return mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * width))

        reach = 60 + 60 * sensitivity * int(order)
        whole = sum(weight(k) for k in range(-reach, reach + 1))
        moment = sum(weight(k - sensitivity) ** order * weight(k) ** (1 - order) for k in range(-reach, reach + 1)) / whole
        divergence = mpmath.log(moment) / (order - 1)
        assert divergence <= order * mpmath.mpf(mechanism.rho.numerator) / mechanism.rho.denominator * (1 + mpmath.mpf(10) ** -50)


def test_the_log_prices_releases_as_the_mechanism_does():
    mechanism = made(sensitivity="5/2", lattice="1/2", adjacency="replace_one")
    with recording() as log:
        mechanism.release(1)
        mechanism.releases(1, 3, InsecureSeededSourceForTestsOnly(1))
        mechanism.release(np.array([[1.0, 2.0]]))
    assert [(1, 1, True), (1, 3, False), (2, 1, True)] == [(release.dimension, release.count, release.secure) for release in log]
    for release in log:
        assert "discrete_gaussian" == release.kind
        assert (("lattice", Fraction(1, 2)), ("sigma_squared", Fraction(4))) == release.parameters
        assert (Fraction(5, 2), mechanism.adjacency) == (release.sensitivity, release.adjacency)
    for epsilon in ("0", "1/2", "2"):
        assert mechanism.loss.delta(epsilon=epsilon) == price_releases(log[:1]).delta(epsilon=epsilon)
        vector = mechanism.loss_at("5/2", dimension=2)
        assert vector.delta(epsilon=epsilon).upper == price_releases(log[2:]).delta(epsilon=epsilon).upper
        assert mechanism.loss.delta(epsilon=epsilon).upper <= vector.delta(epsilon=epsilon).upper
    assert mechanism.claim.relation == mechanism.loss.adjacency == vector.adjacency


def test_an_array_costs_no_more_than_its_zcdp_bound():
    # Two coordinates moved by (1, 1) under L2 sensitivity 3/2: the divergences of the coordinates add up.
    mechanism, law = made(sensitivity="3/2", sigma=2), DiscreteGaussian(sigma=2)
    masses = np.array([float(law.pmf(k).lower) for k in range(-40, 41)])
    moved, still = np.outer(np.roll(masses, 1), np.roll(masses, 1)), np.outer(masses, masses)
    for epsilon in (0.0, 0.5, 1.0):
        true = np.maximum(moved - math.exp(epsilon) * still, 0).sum()
        assert true <= float(mechanism.loss_at("3/2", dimension=2).delta(epsilon=epsilon).upper) + 1e-12


def test_a_number_moves_by_whole_steps_only():
    assert made(sensitivity="7/4").loss.describe() == made(sensitivity=1).loss.describe()
    assert made().loss_at(2).delta(epsilon=1).lower > made().loss_at("3/2").delta(epsilon=1).upper


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA106", {"rho": 1}),
        ("DPA106", {"sigma_squared": 1}),
        ("DPA106", {"sigma": None}),
        ("DPA106", {"sigma": None, "sigma_squared": 1, "rho": 1}),
        ("DPA104", {"sigma": 0}),
        ("DPA104", {"sigma": None, "rho": 0}),
        ("DPA104", {"sigma": None, "sigma_squared": -1}),
        ("DPA102", {"sigma": None, "rho": math.inf}),
        ("DPA101", {"sigma": True}),
        ("DPA103", {"sigma": 2**513}),
        ("DPA104", {"sensitivity": 0}),
        ("DPA107", {"sensitivity": "1/2"}),
        ("DPA104", {"lattice": 0}),
        ("DPA103", {"adjacency": "nearby"}),
    ],
)
def test_bad_parameters_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        made(**changes)


@pytest.mark.parametrize(
    ("code", "distance", "dimension"),
    [("DPA104", 0, 1), ("DPA107", "1/2", 1), ("DPA107", "1/2", 2), ("DPA103", 1, 0), ("DPA105", 1, 1.0), ("DPA101", None, 1)],
)
def test_distances_that_values_cannot_have_are_refused(code, distance, dimension):
    with pytest.raises(DpauditError, match=code):
        made().loss_at(distance, dimension=dimension)


def test_a_mechanism_is_a_value_and_can_be_built_from_its_description():
    mechanism = made(sensitivity="3/4", sigma=None, sigma_squared="7/3", lattice="1/4")
    mechanism.release(1)
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    text = mechanism.to_dict()
    assert "DiscreteGaussianMechanism" == text.pop("mechanism")
    assert mechanism == DiscreteGaussianMechanism(**text)
    assert "7/3" in mechanism.describe()
