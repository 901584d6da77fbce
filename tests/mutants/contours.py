"""Checks of the second engine: moment functions along a line, what lies beyond it, and enclosures along lines that suit badly."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from flint import arb
from mpmath import mp, mpf

from dpaudit.accounting import explicit_pair
from dpaudit.accounting.engines.characteristic import SampledNormal, moments_of
from dpaudit.accounting.engines.contour import contour_along
from dpaudit.accounting.laws.distributions import DoubleExponential, Listed, Normal, Thinned
from dpaudit.exact import ball, working_precision

RATE = Fraction(1, 5)
PAIR = (("1/2", "1/3", "1/6"), ("1/6", "1/2", "1/3"))
LINES = [
    (theta, step, side)
    for theta, steps in ((Fraction(1, 2), (Fraction(1, 3), Fraction(2))), (Fraction(3), (Fraction(1, 2), Fraction(3))))
    for step in steps
    for side in (2, 5)
]


def log_ratio(x):
    """Logarithm of the likelihood ratio of a sampled normal output with mu = 1."""
    return mp.log(1 - mpf(1) / 5 + mp.exp(x - mpf(1) / 2) / 5)


@lru_cache(maxsize=256)
def moment(name, z):
    """Moments of finite losses under P, from densities and sums."""
    if name == "normal":
        return mp.exp(z * (1 + z) * mpf(4) / 18)
    if name == "laplace":  # the loss is that of scale 1 at distance 1
        between = mp.quad(lambda loss: mp.exp((loss - 1) / 2 + z * loss) / 4, [-1, 0, 1])
        return mp.exp(z) / 2 + mp.exp(-z - 1) / 2 + between
    if name == "pair":
        return sum(p * (p / q) ** z for p, q in ((mpf(1) / 2, mpf(1) / 6), (mpf(1) / 3, mpf(1) / 2), (mpf(1) / 6, mpf(1) / 3)))
    power = 1 + z if name == "removed" else -z
    return mp.quad(lambda x: mp.npdf(x) * mp.exp(power * log_ratio(x)), [-11, -6, -3, -1, 0, 1, 2, 4, 7, 11, 16])


DISTRIBUTIONS = {
    "normal": Normal(Fraction(4, 9)),
    "laplace": DoubleExponential(Fraction(1)),
    "pair": Listed(explicit_pair(*PAIR).parts[0][0]),
    "removed": Thinned(Normal(Fraction(1)), RATE, removing=True),
    "added": Thinned(Normal(Fraction(1)), RATE, removing=False),
}


def known(name, place=Fraction(80)):
    """The moment function of a law as the engine has it."""
    return moments_of(DISTRIBUTIONS[name], 3, greatest=Fraction(7), place=place, tail=200)[0]


def moments_along_a_line_are_those_of_the_law(exact):
    theta, step, side = Fraction(3, 2), Fraction(5, 4), 3
    with mp.workdps(25), working_precision(160):
        for name in DISTRIBUTIONS:
            law = known(name, Fraction(12))
            near(exact, law.at(theta), mp.re(moment(name, exact.number(theta))))
            values = law.grid(theta, step, side).entries()
            for index in (0, 4, 8):
                true = moment(name, mp.mpc(exact.number(theta), exact.number(step * index)))
                near(exact, values[index].real, mp.re(true))
                near(exact, values[index].imag, mp.im(true))


def near(exact, found, value):
    """Assert that a ball holds a value, up to the accuracy of quadrature, and is narrow."""
    low, high = exact.ball_of(found)
    assert low - mpf(10) ** -15 <= value <= high + mpf(10) ** -15
    assert high - low < mpf(10) ** -9


def a_coarse_quadrature_says_how_coarse_it_is(exact):
    """Few nodes, far apart, and cut where there is still mass: balls grow, and hold the moments all the same."""
    theta = Fraction(3, 2)
    with mp.workdps(25), working_precision(160):
        for name, removing in (("removed", True), ("added", False)):
            for step, first, last in ((Fraction(9, 10), -12, 12), (Fraction(1, 4), -24, 22), (Fraction(1, 4), -12, 18)):
                law = SampledNormal(Fraction(1), RATE, removing, step, first, last, Fraction(3, 2))
                for index, found in enumerate(law.grid(theta, Fraction(3, 4), 2).entries()):
                    true = moment(name, mp.mpc(exact.number(theta), mpf(3) * index / 4))
                    for part, value in ((found.real, mp.re(true)), (found.imag, mp.im(true))):
                        if part.is_finite():
                            low, high = exact.ball_of(part)
                            assert low - mpf(10) ** -15 <= value <= high + mpf(10) ** -15
                if (at := law.at(theta)).is_finite():
                    low, high = exact.ball_of(at)
                    assert low - mpf(10) ** -15 <= mp.re(moment(name, exact.number(theta))) <= high + mpf(10) ** -15


def no_moment_beyond_a_place_is_larger_than_stated(exact):
    with mp.workdps(20), working_precision(160):
        for name in DISTRIBUTIONS:
            law = known(name)
            for theta, place in ((Fraction(1, 2), Fraction(1)), (Fraction(2), Fraction(9))):
                bound = exact.ball_of(law.beyond(theta, place))[1]
                assert bound <= moment(name, exact.number(theta)) * (1 + mpf(10) ** -9)
                for height in (place, place + Fraction(7, 3)):
                    assert abs(moment(name, mp.mpc(exact.number(theta), exact.number(height)))) <= bound + mpf(10) ** -15


def truths(exact):
    """Laws with their counts, the mass of infinite losses, and delta of the composition."""

    def normal(mu):
        return lambda e: mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)

    def added(e):
        rest = 1 - mp.exp(e) * 4 / 5
        return rest * normal(mpf(1))(mp.log(mp.exp(e) / 5 / rest)) if rest > 0 else mpf(0)

    both = exact.products([exact.sides(PAIR)] * 2)
    return [
        ("normal", 3, normal(2 / mp.sqrt(3))),
        ("laplace", 1, lambda e: -mp.expm1((e - 1) / 2) if e < 1 else mpf(0)),
        ("pair", 2, lambda e: exact.gain(both, mp.exp(e))),
        ("removed", 1, lambda e: normal(mpf(1))(mp.log1p(mp.expm1(e) * 5)) / 5),
        ("added", 1, added),
    ]


def lines_hold_delta_however_badly_they_suit(exact):
    """Coarse steps give images, short lines leave much out: whatever the line, delta is inside."""
    with mp.workdps(25):
        for name, count, profile in truths(exact):
            for theta, step, side in LINES:
                orders = (theta / 3, theta * 3 / 2) if side != 5 else (Fraction(0), theta + Fraction(1, 3))
                line = contour_along([(known(name), count)], arb(0), theta=theta, step=step, side=side, orders=orders)
                for epsilon in (Fraction(1, 10), Fraction(1)):
                    found, true = line.delta(epsilon), profile(exact.number(epsilon))
                    assert exact.number(found.lower) <= true + mpf(10) ** -20
                    assert exact.number(found.upper) >= true - mpf(10) ** -20
        line = contour_along(
            [(known("normal"), 3)], arb(0), theta=Fraction(2), step=Fraction(1, 8), side=12, orders=(Fraction(1), Fraction(4))
        )
        exact.encloses(line.delta(Fraction(1)), truths(exact)[0][2](mpf(1)), width="1e-9")


def infinite_losses_are_added_along_a_line(exact):
    with mp.workdps(25), working_precision(160):
        line = contour_along(
            [(known("normal"), 3)],
            ball(Fraction(1, 100)),
            theta=Fraction(2),
            step=Fraction(1, 8),
            side=12,
            orders=(Fraction(1), Fraction(4)),
        )
        exact.encloses(line.delta(Fraction(1)), truths(exact)[0][2](mpf(1)) + mpf(1) / 100, width="1e-9")


CHECKS = [
    moments_along_a_line_are_those_of_the_law,
    a_coarse_quadrature_says_how_coarse_it_is,
    no_moment_beyond_a_place_is_larger_than_stated,
    lines_hold_delta_however_badly_they_suit,
    infinite_losses_are_added_along_a_line,
]
