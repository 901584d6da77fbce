"""Checks of laws on a lattice: distribution functions, masses of cells, upper and lower laws, each against the definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from flint import arb
from mpmath import mp, mpf

from dpaudit.accounting import explicit_pair
from dpaudit.accounting.engines import cells as cells_module
from dpaudit.accounting.engines.cells import Raster, cells_of
from dpaudit.accounting.engines.fusion import _join_passes, fuse_halves
from dpaudit.accounting.engines.lattice import lattice_of
from dpaudit.accounting.laws.discrete_gaussian import RoundedGaussian
from dpaudit.accounting.laws.distributions import DoubleExponential, Listed, Normal, Thinned, WorstOfRange
from dpaudit.accounting.laws.stepped import Stepped
from dpaudit.exact import ball, working_precision

STEP = Fraction(1, 8)
TILT = Fraction(3, 2)


def listed(p, q):
    """A pair as a distribution."""
    return Listed(explicit_pair(p, q).parts[0][0])


def law_at(name, place):
    """P and Q mass above a loss, from the definition of the outputs."""
    if name == "normal":  # outputs N(2/3, 1) against N(0, 1)
        edge = place / (mpf(2) / 3) + mpf(1) / 3
        return 1 - mp.ncdf(edge - mpf(2) / 3), 1 - mp.ncdf(edge)
    if name == "sampled normal":  # the mixture of them, a fifth of the first
        grown = mp.exp(place) - mpf(4) / 5
        edge = mp.log(5 * grown) / (mpf(2) / 3) + mpf(1) / 3 if grown > 0 else -mp.inf
        q_mass = 1 - mp.ncdf(edge)
        return (1 - mp.ncdf(edge - mpf(2) / 3)) / 5 + q_mass * 4 / 5, q_mass
    edge = (place + mpf(3) / 2) / 2 if name == "laplace" else None  # centres 0 and 3/2, scale 1: the loss 2x - 3/2 between them
    return mp.exp(edge - mpf(3) / 2) / -2 + 1, mp.exp(-edge) / 2


LAWS = {
    "normal": Normal(Fraction(4, 9)),
    "sampled normal": Thinned(Normal(Fraction(4, 9)), Fraction(1, 5), removing=True),
    "laplace": DoubleExponential(Fraction(3, 2)),
}


def distribution_functions_are_those_of_the_outputs(exact):
    """Tails of the diffuse part; Laplace noise has a point at each end besides."""
    with mp.workdps(30), working_precision(110):
        for name, law in LAWS.items():
            points = law.points(100).finite
            for place in (Fraction(-1, 9), Fraction(1, 7), Fraction(4, 3)):
                sides = law.sides([ball(place)])[0]
                above = [sum((point[side] for point in points if point[0] > ball(place)), arb(0)) for side in (1, 2)]
                below = [sum((point[side] for point in points if point[0] < ball(place)), arb(0)) for side in (1, 2)]
                expected = law_at(name, exact.number(place))
                for side in (0, 1):
                    for found, value in (
                        (sides[2 * side + 1] + above[side], expected[side]),
                        (sides[2 * side] + below[side], 1 - expected[side]),
                    ):
                        low, high = exact.ball_of(found)
                        assert low - mpf(10) ** -24 <= value <= high + mpf(10) ** -24
        for place in (mpf(-1) / 9, mpf(1), mpf(2)):
            sides = WorstOfRange(Fraction(2)).sides([ball(exact.rational(place))])[0]

            def profile(epsilon):
                return (mp.e - mp.exp(epsilon / 2)) ** 2 / (mp.exp(2) - 1)

            slope = mp.diff(profile, place)
            for found, value in ((sides.p_above, profile(place) - slope), (sides.q_above, -slope * mp.exp(-place))):
                low, high = exact.ball_of(found)
                assert low - mpf(10) ** -9 <= value <= high + mpf(10) ** -9


def points_of_samples_have_the_losses_of_their_masses():
    """Removing and adding, with outputs that only one dataset gives: every point's ratio is e^loss, and no mass is lost."""
    base = listed(("1/8", "5/8", "1/4", "0"), ("0", "1/4", "1/2", "1/4"))
    with working_precision(110):
        for removing in (True, False):
            points = Thinned(base, Fraction(1, 3), removing=removing).points(100)
            assert all((loss.exp() * q_mass - p_mass).contains(0) for loss, p_mass, q_mass in points.finite)
            for side, alone in ((1, points.p_infinity), (2, points.q_only)):
                assert (sum((point[side] for point in points.finite), arb(0)) + alone).contains(1)


def losses_that_rise_with_an_integer_step_at_its_outputs(exact):
    """Masses from the first output whose loss is not below a place, between two outputs and at both sides of one."""
    with mp.workdps(40), working_precision(130):
        for law, weight in (
            (
                RoundedGaussian(Fraction(5, 2), 3),
                lambda k: mp.ncdf((mpf(1) / 2 - abs(k)) * 2 / 5) - mp.ncdf((-mpf(1) / 2 - abs(k)) * 2 / 5),
            ),
        ):
            both = exact.on_integers(weight, 3, 45)
            losses = [mp.log(p / q) for p, q in both[25:60]]
            places = [
                losses[4] + mpf(10) ** -12,
                losses[4] - mpf(10) ** -12,
                (losses[15] + losses[16]) / 2,
                losses[22] + mpf(1) / 50,
            ]
            for place in places:
                sides = Stepped(law).sides([ball(exact.rational(place))])[0]
                expected = [sum(pair[side] for pair in both if mp.log(pair[0] / pair[1]) >= place) for side in (0, 1)]
                for side in (0, 1):
                    for found, value in ((sides[2 * side + 1], expected[side]), (sides[2 * side], 1 - expected[side])):
                        low, high = exact.ball_of(found)
                        assert low - mpf(10) ** -25 <= value <= high + mpf(10) ** -25
                        assert high - low < mpf(10) ** -20


def doubles_are_on_the_safe_side_of_their_balls(exact):
    with mp.workdps(40), working_precision(100):
        for middle in (Fraction(1, 3), Fraction(10**30 + 1, 7), Fraction(1, 3**200)):
            for radius in (Fraction(0), Fraction(1, 10**12), Fraction(1, 10)):
                value = ball(middle * (1 - radius)).union(ball(middle * (1 + radius)))
                assert Fraction(cells_module._at_most(value)) <= middle * (1 - radius)
                assert Fraction(cells_module._at_least(value)) >= middle * (1 + radius)


RATIONAL = {
    "pair": ((("1/2", "1/3", "1/6"), ("1/6", "1/3", "1/2")), (-12, -6, 0, 3, 6, 12)),
    "revealing pair": ((("1/8", "1/2", "3/8"), ("0", "1/4", "3/4")), (-9, -2, 1, 4, 8)),
    "cut above": ((("1/2", "1/3", "1/6"), ("1/6", "1/3", "1/2")), (-12, -3, 2, 5)),
    "cut below": ((("1/2", "1/3", "1/6"), ("1/6", "1/3", "1/2")), (-5, 1, 4, 12)),
}


def lattice_laws_stand_above_and_below_the_true_one(exact):
    """Hockey-stick divergences at and between all places, and below 1, of masses that are untilted exactly."""
    for law, both, ends in rational_laws(exact):
        raster = Raster(STEP, Fraction(1, 50), ends)
        built = lattice_of(law, 1, raster, tilt=TILT, log_scale=Fraction(0), tail=200)
        assert built is not None
        with mp.workdps(50):
            places = [exact.number(raster.place(end)) for end in ends]
            upper, lower = untilted(exact, built, built.upper, places), untilted(exact, built, built.lower, places)
            infinite = exact.ball_of(built.upper_infinity)[1], exact.ball_of(built.lower_infinity)[0]
            for at in sorted({place + move for place in places for move in (mpf(-1) / 10**9, 0, mpf(1) / 30)} | {mpf(-20)}):
                growth = mp.exp(at)
                true = exact.gain(both, growth)
                assert infinite[0] + divergence(upper, growth) >= true * (1 - mpf(10) ** -30)
                if not built.spread:
                    assert infinite[1] + divergence(lower, growth) <= true * (1 + mpf(10) ** -30)
            assert infinite[0] + sum(mass for _, mass in upper) <= 1 + mpf(10) ** -13
            assert sum(mass for _, mass in lower) >= mpf(1) / 4


def rational_laws(exact):
    """Pairs, and pairs with one-sided outputs under sampling: the law, its outcomes, and where its cells end."""
    for pair, ends in RATIONAL.values():
        yield listed(*pair), exact.products([exact.sides(pair)]), ends
    rate, (p, q) = Fraction(2, 3), exact.sides((("1/8", "5/8", "1/4", "0"), ("0", "1/4", "1/2", "1/4")))
    mixed = tuple(rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True))
    yield Thinned(listed(p, q), rate, removing=True), exact.products([(mixed, q)]), (-11, -8, -3, 2, 7)
    yield Thinned(listed(q, p), rate, removing=False), exact.products([(q, mixed)]), (-9, -3, 2, 7, 12)


def untilted(exact, built, masses, places):
    """Places and masses of a law on the lattice."""
    scale = exact.number(built.log_scale)
    return [
        (place, mpf(mass) * mp.exp(scale - exact.number(TILT) * place)) for place, mass in zip(places, masses.tolist(), strict=True)
    ]


def divergence(law, growth):
    """Sum of the positive parts of P - growth Q over finite losses."""
    return sum(max(mpf(0), mass * (1 - growth * mp.exp(-place))) for place, mass in law)


def no_place_of_a_lower_law_lacks_mass(exact):
    """Half cells kept or moved, put together again in fifty digits: every place has P mass enough for its loss."""
    for name, law in LAWS.items():
        ends = tuple(range(-10, 0, 2)) + tuple(range(13)) if name != "laplace" else (-13, *range(-12, 13, 2), 13)
        raster = Raster(STEP, Fraction(1, 50), ends)
        with working_precision(150):
            halves = cells_of(law, raster, TILT, Fraction(0), 200).halves
        kept, moved = _join_passes(halves)
        assert (kept + moved <= 1 + 2.0**-50).all()
        assert moved.max() > 0.3
        with mp.workdps(50):
            balance = [mpf(0)] * len(ends)
            size = [mpf(0)] * len(ends)
            for cell, (left, right) in enumerate(pairwise(ends)):
                cuts = [exact.number(raster.place(Fraction(end))) for end in (left, Fraction(left + right, 2), right)]
                for half in (0, 1):
                    masses = [
                        above - beyond for above, beyond in zip(tails(name, cuts[half]), tails(name, cuts[half + 1]), strict=True)
                    ]
                    for end, part in ((cell, kept[cell, half]), (cell + 1, moved[cell, half])):
                        growth = mp.exp(cuts[0] if end == cell else cuts[2])
                        balance[end] += mpf(float(part)) * (masses[0] - growth * masses[1])
                        size[end] += mpf(float(part)) * abs(masses[0] - growth * masses[1])
            assert all(value >= -whole * mpf(10) ** -25 for value, whole in zip(balance, size, strict=True))
        mass = fuse_halves(halves).sum()
        assert 0 < mass < (halves.kept * kept).sum() + (halves.moved * moved).sum()


def tails(name, place):
    """Tails of a law with its points, which lie at 3/2 and -3/2 for Laplace noise."""
    if name == "laplace" and abs(place) >= mpf(3) / 2:
        return (mpf(0), mpf(0)) if place >= mpf(3) / 2 else (mpf(1), mpf(1))
    return law_at(name, place)


CHECKS = [
    points_of_samples_have_the_losses_of_their_masses,
    distribution_functions_are_those_of_the_outputs,
    losses_that_rise_with_an_integer_step_at_its_outputs,
    doubles_are_on_the_safe_side_of_their_balls,
    lattice_laws_stand_above_and_below_the_true_one,
    no_place_of_a_lower_law_lacks_mass,
]
