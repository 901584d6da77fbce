"""The price of a release log and the loss that a claim allows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpaudit.accounting import (
    PrivacyLoss,
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    gdp,
    laplace,
    loss_of_claim,
    price_releases,
    pure_dp,
    randomized_response,
    rdp,
    update_charged,
    zcdp,
)
from dpaudit.claims import GDP, RDP, ZCDP, Adjacency, ApproxDP, Claim, Curve, PrivacyProfile, PureDP
from dpaudit.releases import Release, note, recording

ADD_REMOVE = Adjacency("add_remove")


def release(kind, *, sensitivity=1, dimension=1, count=1, **parameters):
    exact = tuple(sorted((name, Fraction(value)) for name, value in parameters.items()))
    return Release(kind, exact, Fraction(sensitivity), ADD_REMOVE, dimension, count)


EXACTLY_PRICED = [
    (release("discrete_laplace", scale=6, lattice=1, sensitivity=3), discrete_laplace(6, sensitivity=3)),
    (release("discrete_laplace", scale=2, lattice="1/4", sensitivity=1), discrete_laplace(8, sensitivity=4)),
    (release("discrete_laplace", scale=2, lattice=1, count=5), 5 * discrete_laplace(2)),
    (
        release("discrete_gaussian", sigma_squared=4, lattice="1/2", sensitivity=1),
        discrete_gaussian(sigma_squared=16, sensitivity=2),
    ),
    (release("discrete_gaussian", sigma_squared=9, lattice=1, count=3), 3 * discrete_gaussian(3)),
    (
        release("randomized_response", epsilon=1, categories=4, dimension=100),
        randomized_response(1, categories=4, adjacency="add_remove"),
    ),
    (release("exponential_mechanism", temperature=4, monotonic=0), bounded_range("1/2")),
    (release("exponential_mechanism", temperature=4, monotonic=1), bounded_range("1/4")),
    (release("exponential_mechanism", temperature=4, monotonic=1, sensitivity=2), bounded_range("1/2")),
    (
        release("update_charged", scale=90, lattice="1/2", sensitivity="9/4", threshold=400, updates=3),
        update_charged(scale=90, lattice="1/2", sensitivity=2, threshold=400, updates=3),
    ),
]


@pytest.mark.parametrize(("entry", "loss"), EXACTLY_PRICED)
def test_a_release_is_priced_as_its_law(entry, loss):
    assert loss == price_releases([entry])


@pytest.mark.parametrize(
    ("entry", "upper"),
    [
        (release("discrete_laplace", scale=2, lattice=1, sensitivity=3, dimension=4), pure_dp("3/2")),
        (release("rounded_gaussian", sigma=2, lattice=1), gaussian(2)),
        (release("rounded_gaussian", sigma="1/2", lattice="1/1024", sensitivity=3, dimension=50), gaussian("1/2", sensitivity=3)),
        (release("rounded_gaussian", sigma=40, lattice=1, count=9), 9 * gaussian(40)),
        (release("discrete_gaussian", sigma_squared=9, lattice=1, sensitivity=2, dimension=3), zcdp("2/9")),
    ],
)
def test_a_release_without_an_exact_law_is_priced_from_above_and_from_below(entry, upper):
    for epsilon in ("0", "1/3", "2"):
        found = price_releases([entry]).delta(epsilon=epsilon)
        assert upper.delta(epsilon=epsilon).upper == found.upper
        assert 0 < found.lower <= found.upper or 0 == found.upper
    assert price_releases([entry]).epsilon(delta="1e-6").upper == upper.epsilon(delta="1e-6").upper


def test_the_price_of_many_rounded_gaussians_stays_informative_from_below():
    found = price_releases([release("rounded_gaussian", sigma=100, lattice=1, count=1000)]).epsilon(delta="1e-6")
    assert found.lower >= found.upper * Fraction(7, 10)


def test_a_sensitivity_below_one_lattice_step_moves_nothing():
    found = price_releases([release("discrete_laplace", scale=2, lattice=1, sensitivity="1/2")])
    assert 0 == found.delta(epsilon=0).upper


def test_a_log_is_priced_as_the_composition_of_its_entries():
    log = [release("discrete_laplace", scale=2, lattice=1), release("discrete_gaussian", sigma_squared=9, lattice=1, count=2)]
    assert compose(discrete_laplace(2), 2 * discrete_gaussian(3)) == price_releases(log) == price_releases(log[::-1])


def test_what_a_block_records_can_be_priced():
    with recording() as log:
        note(release("discrete_laplace", scale=2, lattice=1))
    assert discrete_laplace(2) == price_releases(log)


def test_the_adjacency_of_the_log_is_that_of_the_price():
    entry = Release("randomized_response", (("categories", Fraction(2)), ("epsilon", Fraction(1))), Fraction(1), Adjacency("label"))
    assert Adjacency("label") == price_releases([entry]).adjacency


@pytest.mark.parametrize(
    ("guarantee", "loss"),
    [
        (PureDP(1), pure_dp(1)),
        (PureDP(0), pure_dp(0)),
        (ApproxDP(1, "1e-6"), approx_dp(1, delta="1e-6")),
        (ZCDP("1/2"), zcdp("1/2")),
        (RDP({2: "1/2", 8: 3}), rdp({2: "1/2", 8: 3})),
        (GDP("1/10"), gdp("1/10")),
        (GDP(0), gdp(0)),
        (Curve(gaussian(2)), gaussian(2)),
    ],
)
def test_a_claim_allows_what_its_guarantee_allows(guarantee, loss):
    assert loss == loss_of_claim(Claim(guarantee))


def test_an_approximate_guarantee_allows_its_delta_at_its_epsilon():
    loss = loss_of_claim(Claim(ApproxDP("1/2", "1e-9"), adjacency="replace_one"))
    assert Adjacency("replace_one") == loss.adjacency
    assert Fraction(1, 10**9) == loss.delta(epsilon="1/2").upper
    assert Fraction(1, 2) == loss.epsilon(delta="1e-9").upper


def test_every_loss_fits_the_protocol_that_claims_ask_for():
    for loss in (gaussian(1), price_releases([EXACTLY_PRICED[0][0]]), compose(laplace(1), zcdp(1))):
        assert isinstance(loss, PrivacyProfile)
        assert isinstance(loss, PrivacyLoss)
        assert 1 == len({loss, 1 * loss})


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (gaussian(sigma=2), "gaussian(sigma=2, sensitivity=1)"),
        (gaussian("1/2", sensitivity="0.25"), "gaussian(sigma=1/2, sensitivity=1/4)"),
        (7 * laplace(3), "7 * laplace(scale=3, sensitivity=1)"),
        (discrete_laplace(3, sensitivity=2), "discrete_laplace(scale=3, sensitivity=2)"),
        (discrete_gaussian(3), "discrete_gaussian(sigma_squared=9, sensitivity=1)"),
        (randomized_response(1, categories=3), "randomized_response(epsilon=1, categories=3)"),
        (approx_dp(1, delta="1e-6"), "approx_dp(epsilon=1, delta=1e-06)"),
        (rdp({2: 1}), "rdp({2: 1})"),
        (compose(gaussian(1), 2 * pure_dp(1)), "compose(gaussian(sigma=1, sensitivity=1), 2 * pure_dp(epsilon=1))"),
        (0 * gaussian(1), "compose()"),
    ],
)
def test_a_loss_describes_itself(loss, text):
    assert text == loss.describe()
    assert f"{text} under {loss.adjacency}" == str(loss)
    assert f"<PrivacyLoss {text} under {loss.adjacency}>" == repr(loss)
