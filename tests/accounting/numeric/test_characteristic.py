"""Moment functions on the complex plane: closed forms, an adaptive quadrature, and every bound against what it bounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

from dpaudit.accounting import bounded_range, laplace
from dpaudit.accounting.engines.characteristic import Elementary, SampledNormal, moments_of
from dpaudit.accounting.engines.contour import BITS
from dpaudit.accounting.engines.tilted import parts_of
from dpaudit.accounting.laws.distributions import Normal, Thinned
from dpaudit.exact import working_precision


def quadrature(*, removing, mu_squared=Fraction(25, 16), rate=Fraction(1, 10), greatest=Fraction(6), place=Fraction(40)):
    """Moments of a sampled normal loss."""
    law = moments_of(Thinned(Normal(mu_squared), rate, removing=removing), 1, greatest=greatest, place=place, tail=1200)[0]
    assert isinstance(law, SampledNormal)
    return law


def integral(law, z):
    """The moment function by adaptive quadrature."""
    mu, rate = mp.sqrt(mpf(law.mu_squared.numerator) / law.mu_squared.denominator), mpf(law.rate.numerator) / law.rate.denominator
    power = z + 1 if law.removing else -z

    def term(x):
        return mp.npdf(x) * (1 - rate + rate * mp.exp(mu * x - mu * mu / 2)) ** power

    return mp.quad(term, [-14, -6, -3, *(k / mpf(2) for k in range(-4, 20)), 12, 16, 24])


@pytest.mark.parametrize("removing", [True, False])
def test_the_moments_of_sampled_gaussians_are_those_of_an_adaptive_quadrature(removing):
    with mp.workdps(25), working_precision(BITS):
        law = quadrature(removing=removing)
        values = law.grid(Fraction(3), Fraction(4), 2)
        for index, value in enumerate(values.entries()):
            exact = integral(law, mp.mpc(3, 4 * index))
            assert abs(complex(value) - complex(exact)) <= 1e-13 * float(law.at(Fraction(3)))
            assert float(value.real.rad()) <= 1e-20 * float(law.at(Fraction(3)))
        assert abs(float(law.at(Fraction(5))) - float(integral(law, mpf(5)).real)) <= 1e-13 * float(law.at(Fraction(5)))


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("coarse", [4, 5, 6])
def test_the_ball_of_a_coarse_quadrature_contains_the_fine_value(removing, coarse):
    """With steps that are too long the error is large, and so is the ball; with a short reach the tails count."""
    with working_precision(BITS):
        fine = quadrature(removing=removing)
        wide = replace(fine, step=fine.step * coarse, first=fine.first // coarse, last=fine.last // coarse)
        short = replace(fine, first=fine.first // coarse, last=fine.last // 2)
        for law in (wide, short):
            values, truths = (item.grid(Fraction(2), Fraction(3), 2).entries() for item in (law, fine))
            assert all(value.overlaps(truth) for value, truth in zip(values, truths, strict=True))
            assert law.at(Fraction(2)).overlaps(fine.at(Fraction(2)))
            off = max(float(abs(value.mid() - truth.mid()).upper()) for value, truth in zip(values, truths, strict=True))
            assert off > 1e-25
            assert off < max(float(value.real.rad()) for value in values) < 1


@pytest.mark.parametrize(
    ("removing", "order", "ends"), [(True, 2, (-9, 4)), (True, 2, (-2, 9)), (False, 2, (-9, 3)), (False, 10, (-3, 9))]
)
def test_terms_beyond_the_ends_are_below_their_bound(removing, order, ends):
    """One end is moved inward, where the terms begin to fall; what was cut off is then most of the bound."""
    with working_precision(BITS):
        whole = quadrature(removing=removing, mu_squared=Fraction(1), rate=Fraction(9, 10), greatest=Fraction(order))
        short = replace(whole, first=round(ends[0] / whole.step), last=round(ends[1] / whole.step))
        terms = [float((order * loss).exp() * mass) for loss, mass in whole._points]
        cut = sum(terms) - sum(terms[short.first - whole.first : short.last - whole.first + 1])
        bound = float(short._tails(Fraction(order)).upper())
    assert cut <= bound < 5 * cut


def test_a_bound_on_moments_counts_what_lies_beyond_the_nodes():
    with working_precision(BITS):
        whole = quadrature(removing=True, mu_squared=Fraction(1), rate=Fraction(9, 10))
        short = replace(whole, last=round(Fraction(16, 5) / whole.step))
        for place in (Fraction(1, 16), Fraction(1)):
            size = abs(whole.grid(Fraction(2), place, 2).entries()[1])
            assert float(size.lower()) <= float(short.beyond(Fraction(2), place).upper())


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("place", [0, Fraction(1, 4)])
def test_an_edge_of_the_strip_weighs_at_most_what_the_error_of_the_rule_takes(removing, place):
    law, z = quadrature(removing=removing, mu_squared=Fraction(1), rate=Fraction(1, 2)), complex(2, place)
    edge = 1j * float(law.strip) * (-1 if removing else 1)
    x = np.arange(-20, 30, 1 / 64)
    weights = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) / 64
    power = z + 1 if removing else -z
    there = (weights * abs((0.5 + 0.5 * np.exp(x + edge - 0.5)) ** power)).sum() * np.exp(abs(edge) ** 2 / 2)
    here = (weights * (0.5 + 0.5 * np.exp(x - 0.5)) ** power.real).sum()
    with working_precision(BITS):
        share = law._share(Fraction(2), Fraction(place), Fraction(0)) * (2 * arb.pi() * abs(edge) / float(law.step)).expm1() / 2
    assert there / here <= float(share) < 4 * there / here


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize(("mu_squared", "rate"), [("25/16", "1/10"), ("1/4", "1/100"), ("4", "4/5")])
def test_no_moment_beyond_a_place_exceeds_its_bound_and_the_bound_falls_like_the_moment(removing, mu_squared, rate):
    with working_precision(BITS):
        law = quadrature(removing=removing, mu_squared=Fraction(mu_squared), rate=Fraction(rate))
        theta, step = Fraction(2), Fraction(1, 2)
        sizes = [float(abs(value).upper()) for value in law.grid(theta, step, 9).entries()]
        whole = float(law.at(theta))
        for index in (1, 4, 20, 79):
            bound = float(law.beyond(theta, index * step).upper())
            assert max(sizes[index:]) <= bound <= whole * (1 + 1e-12)
        assert float(law.beyond(theta, Fraction(40)).upper()) < 0.99 * whole
        near = float(law.beyond(theta, step / 8).upper()) / whole
        assert 1 - near > 0.3 * (1 - float(abs(law.grid(theta, step / 8, 2).entries()[1]).upper()) / whole)


@pytest.mark.parametrize(
    ("loss", "atoms"), [(laplace("1/3"), 2), (bounded_range(2), 0), (bounded_range("1/10"), 0), (laplace(20), 2), (laplace(3), 2)]
)
def test_densities_fade_and_points_do_not(loss, atoms):
    with working_precision(BITS):
        law = moments_of(*parts_of(loss.composition, lower=False)[0], greatest=Fraction(4), place=Fraction(9), tail=1200)[0]
        assert isinstance(law, Elementary)
        assert len(law.points) == atoms
        sizes = [float(abs(value).upper()) for value in law.grid(Fraction(1), Fraction(1, 4), 30).entries()]
        for index in (1, 2, 8, 20, 100, 250, 400):
            assert max(sizes[index:]) <= float(law.beyond(Fraction(1), Fraction(index, 4)).upper())
        assert abs(float(law.at(Fraction(1))) - sizes[0]) <= 1e-12 * sizes[0]
        assert abs(1 - float(law.at(Fraction(0)))) <= 1e-30
