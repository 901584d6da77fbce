"""The certified price of the release log, set against what the claim allows."""

from fractions import Fraction

import pytest

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, PureDP
from dpaudit.accounting import gaussian, price_releases
from dpaudit.auditor.checks.prices import check_same_noise, price_of
from dpaudit.auditor.verdict.profiles import profile_of
from dpaudit.claims import Adjacency
from dpaudit.releases import Release

LATTICE = ("lattice", Fraction(1, 1024))
EPSILONS = tuple(Fraction(place, 4) for place in range(13))


def normal(sigma, count=1):
    return Release("rounded_gaussian", (LATTICE, ("sigma", Fraction(sigma))), Fraction(1), Adjacency("add_remove"), count=count)


def laplace(scale):
    return Release("discrete_laplace", (("lattice", Fraction(1)), ("scale", Fraction(scale))), Fraction(1), Adjacency("add_remove"))


def logs(*releases):
    return (releases, releases), (releases, releases)


@pytest.mark.parametrize(
    ("guarantee", "release", "status", "quantity"),
    [
        (PureDP(epsilon="1/2"), laplace(2), "within", "epsilon"),
        (PureDP(epsilon="0.49"), laplace(2), "above", "epsilon"),
        (PureDP(epsilon=10), normal(4), "above", "epsilon"),
        (ApproxDP(epsilon=1, delta="1e-5"), normal(4), "within", "epsilon at delta = 0.00001"),
        (ApproxDP(epsilon=1, delta="1e-5"), normal(3), "above", "epsilon at delta = 0.00001"),
        (GDP(mu=1), normal(1), "within", "mu"),
        (GDP(mu=1), normal(2, count=4), "within", "mu"),
        (GDP(mu=1), normal("1/2"), "above", None),
        (ZCDP(rho="1/2"), normal(1), "within", "rho"),
        (ZCDP(rho="1/2"), normal("1/2"), "above", None),
        (RDP({2: 1, 8: 4}), normal(1), "within", "Renyi divergence of order 8"),
        (RDP({2: 1}), normal("1/4"), "above", None),
        (Curve(gaussian(sigma=1)), normal(1), "within", None),
        (Curve(gaussian(sigma=2)), normal(1), "above", None),
        (GDP(mu=1), laplace(2), "undecided", None),
    ],
)
def test_releases_are_within_or_above_what_is_claimed(guarantee, release, status, quantity):
    price = price_of(Claim(guarantee), logs(release), EPSILONS)

    assert status == price.status
    assert quantity in (None, price.quantity)
    assert len(price.why) >= 1
    assert 1 == len(price.releases)


def test_an_interval_around_the_true_mu_is_shown():
    price = price_of(Claim(GDP(mu=2)), logs(normal(1)), EPSILONS)

    assert 1 - Fraction(1, 10**4) < price.value.lower <= price.value.upper == 1


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ((((), ()), ((), ())), "no mechanism"),
        (logs(Release("wiggle", (), Fraction(1), Adjacency("add_remove"))), "wiggle"),
        (
            logs(Release("discrete_laplace", (LATTICE, ("scale", Fraction(2))), Fraction(1), Adjacency("replace_one"))),
            "replace_one",
        ),
        ((((laplace(1),), (laplace(1),)), ((laplace(2),), (laplace(2),))), "the two datasets"),
        ((((laplace(1),), ()), ((laplace(1),), (laplace(1),))), "two runs on one dataset"),
    ],
)
def test_what_cannot_be_priced_says_why(found, reason):
    price = price_of(Claim(PureDP(epsilon=1)), found, EPSILONS)

    assert "unpriced" == price.status
    assert price.value is None
    assert reason in price.why[0]


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ((((), ()), ((), ())), "not applicable"),
        (logs(laplace(1)), "holds"),
        ((((laplace(1),), (laplace(1),)), ((laplace(2),), (laplace(2),))), "violated"),
        ((((laplace(1),), ()), ((laplace(1),), (laplace(1),))), "not applicable"),
    ],
)
def test_noise_must_not_depend_on_the_data(found, status):
    assert status == check_same_noise(found).status


@pytest.mark.parametrize("count", [1, 3])
def test_of_several_rounded_gaussians_a_profile_shows_the_upper_end_alone(count):
    loss = price_releases([normal(4)] * count)
    claim, epsilons = Claim(GDP(mu=2)), (Fraction(0), Fraction(1))
    shown = [point.price for point in profile_of(claim, loss, None, epsilons)]
    upper = [loss.dominating().delta(epsilon=epsilon).floats()[1] for epsilon in epsilons]
    assert upper == pytest.approx([high for _, high in shown], rel=1e-9)
    assert [count == 1] * 2 == [low > 0 for low, _ in shown]
