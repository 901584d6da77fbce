"""Gaussian and Laplace noise on one sample: the closed form beside a quadrature, and its distribution beside its profile."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb
from mpmath import exp, linspace, log, mp, mpf, ncdf, quad

from dpaudit.accounting import Poisson, compose, gaussian, laplace
from dpaudit.errors import Unsupported
from dpaudit.exact import ball, working_precision


def number(value):
    return mpf(Fraction(value).numerator) / Fraction(value).denominator


def normal_profile(mu, epsilon):
    return ncdf(mu / 2 - epsilon / mu) - exp(epsilon) * ncdf(-mu / 2 - epsilon / mu)


def composed_profile(mu, end, epsilon):
    """The mean of the normal profile over the loss of Laplace noise: two points and a density between them."""
    between = quad(lambda x: normal_profile(mu, epsilon - end * (2 * x - 1)) * exp(-end * (1 - x)) * end / 2, linspace(0, 1, 9))
    return normal_profile(mu, epsilon - end) / 2 + exp(-end) / 2 * normal_profile(mu, epsilon + end) + between


@pytest.mark.parametrize(
    ("sigma", "scale", "rate", "epsilon"),
    [
        ("2", "3", "1/10", "1/10"),
        ("1/2", "1/3", "1/3", "3"),
        ("5", "1/10", "1/20", "1/2"),
        ("1", "40", "1", "1"),
        ("1", "1", "1/4", "0"),
    ],
)
def test_both_directions_are_those_of_the_quadrature(sigma, scale, rate, epsilon):
    releases = compose(gaussian(sigma=sigma), laplace(scale=scale))
    loss = releases.sampled(Poisson(rate), together=True)
    with mp.workdps(25):
        mu, end, q, e = 1 / number(sigma), 1 / number(scale), number(rate), number(epsilon)
        odds = 1 - (1 - q) * exp(e)
        truths = {
            "remove": q * composed_profile(mu, end, log(1 + (exp(e) - 1) / q)),
            "add": odds * composed_profile(mu, end, log(q * exp(e) / odds)) if odds > 0 else mpf(0),
        }
        for direction, truth in truths.items():
            found = loss.delta(epsilon=epsilon, direction=direction)
            assert number(found.lower) <= truth * (1 + mpf(10) ** -15)
            assert truth * (1 - mpf(10) ** -15) <= number(found.upper)
            assert found.width <= found.upper / 10**9


def test_the_distribution_is_the_slope_of_the_profile():
    ((law, _),) = compose(gaussian(sigma=2), laplace(scale=3)).sampled(Poisson(1), together=True).parts or (())
    with working_precision(200):
        for place in (Fraction(-2), Fraction(-1, 10), Fraction(0), Fraction(1, 3), Fraction(4)):
            step, sides = arb(2) ** -50, law.sides([ball(place)])[0]
            assert (sides.p_below + sides.p_above - 1).contains(0)
            assert (sides.q_below + sides.q_above - 1).contains(0)
            low, high = (law.profile(ball(place) + sign * step) for sign in (-1, 1))
            slope = (low - high) / (2 * step)
            assert abs(slope / ball(place).exp() - sides.q_above) < arb(2) ** -40
            assert abs(law.profile(ball(place)) + slope - sides.p_above) < arb(2) ** -40


def test_many_samples_lie_between_parts_and_the_whole():
    releases = compose(gaussian(sigma=2), laplace(scale=3))
    found = (5 * releases.sampled(Poisson("1/10"), together=True)).delta(epsilon="1/2", direction="remove")
    assert (5 * gaussian(sigma=2).sampled(Poisson("1/10"))).delta(epsilon="1/2").lower <= found.lower
    assert found.upper <= (5 * releases).delta(epsilon="1/2").upper
    assert found.width <= found.upper / 1000


def test_other_products_are_refused_by_name():
    with pytest.raises(Unsupported, match=r"DPA202 no closed form is known for one sample that .*laplace\(scale=2"):
        compose(gaussian(sigma=1), laplace(scale=1), laplace(scale=2)).sampled(Poisson("1/2"), together=True)
