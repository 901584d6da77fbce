"""Checks of the lattice engine: transforms, powers, windows and integers, each in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

from dpaudit.accounting import compose, explicit_pair, gaussian, laplace
from dpaudit.accounting.engines.cells import Raster
from dpaudit.accounting.engines.convolution import convolve_laws
from dpaudit.accounting.engines.evaluation import Evaluated
from dpaudit.accounting.engines.lattice import Lattice, log_moments, powers
from dpaudit.accounting.engines.plan import Plan
from dpaudit.accounting.engines.tilted import lattice_for, tilted_lattice
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.model.composition import DeltaAt
from dpaudit.accounting.model.transform import error_constant, inverse, roots, transform
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.exact import ball
from tests.reference.integer_convolution import finite_part

STEP = Fraction(1, 8)
TILT = Fraction(3, 2)
UNIT = Fraction(1, 2**53)


def mixed_compositions_are_means_over_one_of_their_losses(exact):
    """Gaussian releases next to Laplace noise: their profile, averaged over the Laplace loss; each end from its own law."""

    def mean(mu_squared, epsilon):
        mu = mp.sqrt(mu_squared)

        def profile(at):
            return mp.ncdf(mu / 2 - at / mu) - mp.exp(at) * mp.ncdf(-mu / 2 - at / mu)

        inside = mp.quad(lambda loss: mp.exp((loss - 1) / 2) / 4 * profile(epsilon - loss), [-1, 0, 1])
        return profile(epsilon - 1) / 2 + profile(epsilon + 1) / (2 * mp.e) + inside

    between = one_release(
        Between("between", Gaussian(Fraction(1), "above"), Gaussian(Fraction(1, 2), "below"), "stated"), "add_remove"
    )
    with mp.workdps(20):
        expected = mean(mpf(2), 2)
        exact.encloses(
            lattice_for(compose(2 * gaussian(1), laplace(1)).composition, epsilon=Fraction(2)).delta(Fraction(2)),
            expected,
            width="2e-3",
        )
        found = tilted_lattice(compose(2 * between, laplace(1)).composition, DeltaAt(Fraction(2)))
        assert expected <= exact.number(found.upper) <= expected * mpf("1.002")
        below = mean(mpf(1) / 2, 2)
        assert below * mpf("0.9") <= exact.number(found.lower) <= below


def lattice(index, upper, lower, count, *, offset=0, infinity=(0, 0)):
    """A law given by its tilted masses."""
    return Lattice(
        count=count,
        raster=Raster(STEP, Fraction(offset), tuple(index)),
        index=np.array(index, dtype=np.int64),
        upper=np.array(upper, dtype=float),
        lower=np.array(lower, dtype=float),
        log_scale=Fraction(0),
        spread=Fraction(0),
        upper_infinity=ball(Fraction(infinity[0])),
        lower_infinity=ball(Fraction(infinity[1])),
    )


def power(index, masses, count):
    """Tilted masses of many uses by repeated products of fractions."""
    total = {0: Fraction(1)}
    for _ in range(count):
        grown = {}
        for place, mass in total.items():
            for move, other in zip(index, masses, strict=True):
                grown[place + move] = grown.get(place + move, Fraction(0)) + mass * Fraction(other)
        total = grown
    return total


def masses_are_folded_outward():
    index = [0, 64, 128, 200, 256]
    upper, lower = lattice(index, [0.1] * 5, [0.1] * 5, 1).folded(64)
    tenth = Fraction(0.1)
    for place, times in ((0, 4), (8, 1)):
        assert times * tenth * (1 - Fraction(1, 2**44)) < Fraction(float(lower[place])) < times * tenth
        assert times * tenth < Fraction(float(upper[place])) < times * tenth * (1 + Fraction(1, 2**44))


def powers_and_moments_are_those_of_balls(exact):
    with mp.workdps(40):
        for step, count in ((Fraction(-1, 7), 700), (Fraction(1, 10**5), 3000)):
            index = np.array([0, 1, 37, count // 2, count - 1])
            for at, value in zip(index.tolist(), powers(step, count)(index).tolist(), strict=True):
                assert abs(mpf(value) / mp.exp(exact.number(step * at)) - 1) < mpf(2) ** -51
        law = lattice([-6, -1, 2, 9], [0.4, 0.3, 0.2, 0.1], [0.6, 0.1, 0.1, 0.05], 7, offset="1/50")
        for further in (Fraction(5, 3), Fraction(-9, 4)):
            for upper, masses in ((True, law.upper), (False, law.lower)):
                terms = (
                    mpf(mass) * mp.exp(exact.number(further * law.raster.place(int(at))))
                    for at, mass in zip(law.index, masses, strict=True)
                )
                expected = 7 * mp.log(sum(terms))
                low, high = exact.ball_of(log_moments([law], further)[0 if upper else 1])
                assert high >= expected
                assert low <= expected + mpf(10) ** -11
        # Weights at the far end of a wide law are less than all doubles until they are moved to its middle.
        far = lattice([0, 8000], [0.0, 1.0], [0.0, 1.0], 1)
        for rate in (Fraction(-3, 4), Fraction(-1)):
            assert all(exact.ball_of(bound)[1] >= exact.number(rate * 1000) for bound in log_moments([far], rate))


def transforms_are_within_their_error_of_the_sum(exact):
    rng = np.random.default_rng(5)
    with mp.workdps(30):
        for size in (4, 8, 32, 64, 512):
            real, imaginary = rng.normal(size=size), rng.normal(size=size) * 1e-3
            found, whole = transform((real, imaginary)), float(np.abs(real + 1j * imaginary).sum())
            for frequency in range(0, size, max(1, size // 13)):
                turns = [mp.expjpi(mpf(-2 * n * frequency) / size) for n in range(size)]
                expected = sum(turn * mp.mpc(a, b) for turn, a, b in zip(turns, real.tolist(), imaginary.tolist(), strict=True))
                error = abs(mp.mpc(float(found[0][frequency]), float(found[1][frequency])) - expected)
                assert error <= error_constant(size) * whole
            back = inverse(found)
            assert np.abs(back[0] - real).max() + np.abs(back[1] - imaginary).max() < 1e-13
        cosines, sines = roots(64)
        for index in range(64):
            root = mp.expjpi(mpf(-2 * index) / 64)
            assert float(root.real) == float(cosines[index])
            assert float(root.imag) == float(sines[index])


def the_error_constant_is_not_below_that_of_the_theorem():
    """Additions, passes with tabulated roots, and one product with a product of two of them; square roots rounded down."""
    table, five = Fraction(70710678, 10**8) * UNIT, Fraction(2236067977, 10**9)
    once = five * UNIT * (1 + table) + table
    twice = 2 * table + table**2 + five * UNIT * (1 + table) ** 2
    middle = five * UNIT * (1 + twice) + twice
    for bits in (4, 9, 14, 20, 21):
        passes = (bits // 2 + 1) // 2 + (bits - bits // 2 + 1) // 2
        expected = (1 + UNIT) ** bits * (1 + once) ** passes * (1 + middle) - 1
        assert expected <= Fraction(error_constant(1 << bits)) <= expected * Fraction(1001, 1000)


def composed_masses_are_within_their_error():
    rng = np.random.default_rng(3)
    for count, first in ((3, -7), (7, 100), (12, -200)):
        index = sorted(rng.choice(np.arange(-9, 30), size=6, replace=False).tolist())
        upper = rng.dirichlet(np.ones(6))
        lower = upper * rng.uniform(0.9, 1, 6)
        found = convolve_laws([lattice(index, upper, lower, count)], first, 256)
        for masses, known, error in ((upper, found.upper, found.upper_error), (lower, found.lower, found.lower_error)):
            exactly = np.zeros(256)
            for place, mass in power(index, masses.tolist(), count).items():
                exactly[(place - first) % 256] += float(mass)
            assert np.abs(known - exactly).max() <= error + 1e-16 + 40 * count * 2.0**-48 * exactly.max()
            assert error < 1e-12
    count, term, exactly = 4000, Fraction(1, 2**4000), np.zeros(256)
    for place in range(count + 1):
        exactly[place % 256] += float(term)
        term = term * (count - place) / (place + 1)
    found = convolve_laws([lattice([0, 1], [0.5, 0.5], [0.5, 0.5], count)], 0, 256)
    assert np.abs(found.upper - exactly).max() <= found.upper_error + 2.0**-40
    assert found.upper_error < 1e-9


def the_error_counts_every_use_and_every_product():
    """For a law without spread no frequency decays, so that the theorem on powers is met with all its terms."""
    for count in (1, 10, 10**4, 10**6):
        found = convolve_laws([lattice([0], [1.0], [1.0], count)], 0, 256)
        once = 2 * (Fraction(error_constant(256)) + 4 * UNIT)
        expected = count * once + Fraction(2236, 1000) * UNIT * count + once
        for error in (found.upper_error, found.lower_error):
            assert expected <= Fraction(error) <= expected * Fraction(11, 10)


WINDOWS = [(-70, 256), (-30, 64), (-5, 32), (10, 32), (-8, 16), (0, 16), (-2, 8), (6, 8)]
SHAPES = [
    ([-6, -1, 0, 3, 8], [0.1, 0.2, 0.3, 0.2, 0.2], [0.3, 0.2, 0.2, 0.1, 0.1], 4, (Fraction(1, 500), Fraction(1, 1000))),
    ([-3, 0, 2], [0.2, 0.5, 0.3], [0.2, 0.5, 0.25], 5, (0, 0)),
    ([0, 3, 12], [0.5, 0.3, 0.2], [0.5, 0.3, 0.2], 4, (0, 0)),
    ([-9, -8, 4], [0.01, 0.01, 0.98], [0.9, 0.05, 0.02], 3, (0, 0)),
]


def windows_lose_and_wrap_no_more_than_is_added(exact):
    """Masses of a composition that leave the window or come round into it, against all of them in fractions."""
    answered = 0
    for index, upper, lower, count, infinity in SHAPES:
        law = lattice(index, upper, lower, count, offset="1/50", infinity=infinity)
        whole = [power(index, masses, count) for masses in (upper, lower)]
        for tilt, epsilons in ((TILT, ("1/5", "1")), (Fraction(1, 8), ("0", "3/2")), (Fraction(6), ("5/2",))):
            for first, size in WINDOWS:
                plan = plan_of(law, tilt, first, size)
                for epsilon in map(Fraction, epsilons):
                    found = Evaluated(plan, (law,)).delta(epsilon)
                    with mp.workdps(40):
                        ends = [weighted(exact, masses, tilt, epsilon, count) for masses in whole]
                        truth = [1 - (1 - exact.number(inf)) ** count + end for inf, end in zip(infinity, ends, strict=True)]
                        assert exact.number(found.upper) >= min(truth[0], 1) * (1 - mpf(10) ** -30)
                        assert exact.number(found.lower) <= truth[1] * (1 + mpf(10) ** -30)
                        if size == 256:
                            answered += 1
                            assert exact.number(found.upper) <= truth[0] * (1 + mpf(10) ** -6) + mpf(10) ** -12
                            assert exact.number(found.lower) >= truth[1] * (1 - mpf(10) ** -6) - mpf(10) ** -12
    assert answered == 20


def plan_of(law, tilt, first, size):
    """A plan for one law, with further tilts that are good for no window in particular."""
    return Plan(
        tilt=tilt,
        step=STEP,
        rasters=(law.raster,),
        log_scales=(Fraction(0),),
        first=first,
        size=size,
        chernoff=(Fraction(2, 3), Fraction(3, 4)),
        near=(Fraction(-100), Fraction(100)),
    )


def weighted(exact, masses, tilt, epsilon, count):
    """What tilted masses contribute to delta."""
    total = mpf(0)
    for place, mass in masses.items():
        loss = place * STEP + count * Fraction(1, 50)
        if loss > epsilon:
            total += exact.number(mass) * mp.exp(-exact.number(tilt * loss)) * -mp.expm1(exact.number(epsilon - loss))
    return total


def rounding_is_taken_off_and_added(exact):
    """A tilt much too small for its epsilon: true masses lie below what rounding leaves in every one of them."""
    tilt, count = Fraction(1, 2**12), 4
    for index, masses in (
        ([-8, -7, 16], [0.6, 0.3999, 1e-6]),
        ([-5, 1, 16], [0.3, 0.6999, 1e-6]),
        ([-4, 3, 16], [0.5, 0.4999, 1e-6]),
    ):
        law, whole = lattice(index, masses, masses, count, offset="1/50"), power(index, masses, count)
        for first in (-63, -62, -40, -33):
            built = Evaluated(plan_of(law, tilt, first, 128), (law,))
            for epsilon in (Fraction(6), Fraction(161, 20)):
                found = built.delta(epsilon)
                with mp.workdps(40):
                    assert exact.number(found.lower) <= weighted(exact, whole, tilt, epsilon, count) <= exact.number(found.upper)


def spread_points_claim_no_more_than_all_outcomes_show(exact):
    """Losses that no lattice carries, at epsilons next to where delta bends, on a lattice with wide cells."""
    first, second = (("1/2", "1/3", "1/6"), ("1/6", "1/2", "1/3")), (("3/5", "1/4", "3/20"), ("1/4", "7/20", "2/5"))
    loss = compose(2 * explicit_pair(*first), 3 * explicit_pair(*second))
    both = exact.products([exact.sides(first)] * 2 + [exact.sides(second)] * 3)
    bends = sorted({round(math.log(p / q), 9) for p, q in both if p > q})
    for epsilon in (Fraction(bend) + Fraction(side, 10**6) for bend in bends[2:20:8] for side in (-1, 1)):
        built = lattice_for(loss.composition, epsilon=epsilon, width=0.5)
        assert any(law.spread for law in built.lattices)
        found, (low, high) = built.delta(epsilon), exact.delta(both, epsilon)
        assert found.lower <= high
        assert found.upper >= low
        assert found.width < found.upper / 2


def integers_count_what_they_lose(exact):
    for index, upper, lower, count, _ in SHAPES:
        law = lattice(index, upper, lower, count, offset="1/50")
        built = Evaluated(plan_of(law, TILT, -70, 256), (law,))
        for epsilon in (Fraction(0), Fraction(1)):
            found = finite_part(built, epsilon)
            with mp.workdps(50):
                above, below = (weighted(exact, power(index, masses, count), TILT, epsilon, count) for masses in (upper, lower))
                assert below * (1 - mpf(10) ** -12) <= exact.number(found[0]) <= below
                assert above <= exact.number(found[1]) <= above * (1 + mpf(10) ** -12)


CHECKS = [
    mixed_compositions_are_means_over_one_of_their_losses,
    masses_are_folded_outward,
    powers_and_moments_are_those_of_balls,
    transforms_are_within_their_error_of_the_sum,
    the_error_constant_is_not_below_that_of_the_theorem,
    composed_masses_are_within_their_error,
    the_error_counts_every_use_and_every_product,
    windows_lose_and_wrap_no_more_than_is_added,
    rounding_is_taken_off_and_added,
    spread_points_claim_no_more_than_all_outcomes_show,
    integers_count_what_they_lose,
]
