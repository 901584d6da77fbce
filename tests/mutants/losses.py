"""Checks of the laws of single releases, of groups, and of prices: masses, profiles and moments against the definitions."""

from __future__ import annotations

import contextlib
from fractions import Fraction

from flint import arb
from mpmath import mp, mpf

from dpaudit.accounting import (
    bounded_range,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    gdp,
    laplace,
    noisy_max,
    permute_and_flip,
    price_releases,
    pure_dp,
    randomized_response,
    rdp,
    sparse_vector,
    staircase,
    zcdp,
)
from dpaudit.accounting.laws.bounded_noise import finite_noise, truncated_noise
from dpaudit.accounting.laws.discrete_gaussian import RoundedGaussian
from dpaudit.accounting.laws.gaussian import normal_sum
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.claims import Adjacency
from dpaudit.errors import DpauditError
from dpaudit.exact import working_precision
from dpaudit.releases import Release

EPSILONS = (Fraction(0), Fraction(3, 10), Fraction(1))
ORDERS = (Fraction(1, 2), Fraction(3))


def noises(exact):
    """Losses of noise on the integers, and P and Q masses of all outputs."""
    return [
        (discrete_laplace("5/4", sensitivity=3), exact.on_integers(lambda k: mp.exp(-abs(k) * mpf(4) / 5), 3, 90)),
        (discrete_laplace(2, sensitivity=1), exact.on_integers(lambda k: mp.exp(-mpf(abs(k)) / 2), 1, 140)),
        (discrete_gaussian(sigma_squared=3, sensitivity=2), exact.on_integers(lambda k: mp.exp(-mpf(k * k) / 6), 2, 35)),
        (discrete_gaussian("1/2", sensitivity=1), exact.on_integers(lambda k: mp.exp(-mpf(k * k) * 2), 1, 12)),
        (staircase(1, step=4, width=3, sensitivity=2), exact.on_integers(steps(4, 3), 2, 200)),
        (staircase("1/2", step=5, width=1), exact.on_integers(steps(5, 1, mpf(1) / 2), 5, 600)),
        (staircase(1, step=5, width=2, sensitivity=5), exact.on_integers(steps(5, 2), 5, 250)),
        (one_release(RoundedGaussian(Fraction(3, 4), 2), "add_remove"), exact.on_integers(cells(mpf(3) / 4), 2, 14)),
        (one_release(RoundedGaussian(Fraction(2), 1), "add_remove"), exact.on_integers(cells(mpf(2)), 1, 36)),
    ]


def steps(length, width, epsilon=1):
    """Weights of staircase noise."""
    return lambda k: mp.exp(-epsilon * ((abs(k) - width) // length + 1)) if abs(k) >= width else mpf(1)


def cells(sigma):
    """Masses of a normal law rounded to the integers, from the tail on the side where it is smaller."""
    return lambda k: mp.ncdf((mpf(1) / 2 - abs(k)) / sigma) - mp.ncdf((-mpf(1) / 2 - abs(k)) / sigma)


def profiles_of_noise_are_sums_over_all_outputs(exact):
    with mp.workdps(40):
        for loss, both in noises(exact):
            for epsilon in EPSILONS:
                expected = exact.gain(both, mp.exp(exact.number(epsilon)))
                if expected > mpf(10) ** -20:
                    exact.encloses(loss.delta(epsilon=epsilon), expected, room="1e-14", width="1e-12")


def profiles_of_densities_are_their_integrals(exact, oracle):
    with mp.workdps(25):
        for epsilon in map(exact.number, EPSILONS):
            at = exact.rational(epsilon)
            exact.encloses(gaussian(2, sensitivity=3).delta(epsilon=at), oracle.gaussian(epsilon, mu_squared="9/4"), width="1e-12")
            exact.encloses((3 * gdp(1)).delta(epsilon=at), oracle.gaussian(epsilon, mu_squared=3), width="1e-12")
            exact.encloses(
                laplace(2, sensitivity=3).delta(epsilon=at), oracle.laplace(epsilon, scale=2, sensitivity=3), room="1e-12"
            )
            exact.encloses(bounded_range(2).delta(epsilon=at), oracle.bounded_range(epsilon, width=2), room="1e-12", width="1e-12")
            answers = oracle.responses(epsilon, step=1, categories=4, count=1)
            exact.encloses(randomized_response(1, categories=4).delta(epsilon=at), answers, width="1e-12")


def moments_are_sums_and_integrals(exact):
    """Equal to the definition where the law states its own, never below it where it states a bound."""
    with mp.workdps(40), working_precision(128):
        for loss, both in noises(exact):
            law = loss.parts[0][0]
            for order in ORDERS:
                power = exact.number(order)
                expected = mp.log(sum(p ** (1 + power) / q**power for p, q in both))
                low, high = exact.ball_of(law.log_moment(order))
                assert high >= expected * (1 - mpf(10) ** -20)
                if not isinstance(law, RoundedGaussian) and "gaussian" not in law.describe():
                    assert low <= expected * (1 + mpf(10) ** -20)
        for order in ORDERS:
            power = exact.number(order)
            for loss, expected in (
                (laplace(2, sensitivity=3), of_laplace(mpf(3) / 2, power)),
                (randomized_response(1, categories=3), of_answers(power)),
                (gaussian(2, sensitivity=3), mpf(9) / 8 * power * (1 + power)),
                (bounded_range(2), of_range(mpf(2), power)),
            ):
                low, high = exact.ball_of(loss.parts[0][0].log_moment(order))
                assert low * (1 - mpf(10) ** -12) <= expected <= high * (1 + mpf(10) ** -12)


def of_laplace(gap, power):
    """Logarithm of the integral of p^(1 + power) q^-power over outputs beyond, between and before the two centres."""
    between = mp.quad(lambda x: mp.exp(-(1 + power) * (gap - x) + power * x) / 2, [0, gap])
    return mp.log(mp.exp(power * gap) / 2 + between + mp.exp(-(1 + power) * gap) / 2)


def of_answers(power):
    """The same for three categories at epsilon 1."""
    whole = mp.e + 2
    return mp.log(mp.exp(1 + power) / whole + mp.exp(-power) / whole + 1 / whole)


def of_range(width, power):
    """The same for losses t and t - width, at the worst t."""

    def moment(top):
        mass = (mp.exp(width) - mp.exp(top)) / (mp.exp(width) - 1)
        return mass * mp.exp(power * top) + (1 - mass) * mp.exp(power * (top - width))

    low, high = mpf(0), width
    for _ in range(120):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if moment(left) < moment(right) else (low, right)
    return mp.log(moment(low))


def values_of_a_law_hold_all_its_mass(exact):
    """Masses by value of the loss; what is cut at a tail of four bits is accounted for on both ends."""
    with mp.workdps(90), working_precision(256):
        for loss, both in noises(exact)[:7]:
            for tail in (4, 400):
                found = loss.parts[0][0].atoms(tail)
                for atom in found.atoms:
                    value = exact.ball_of(atom.loss.ball())[0]
                    same = [(p, q) for p, q in both if abs(mp.log(p / q) - value) < mpf(10) ** -20]
                    low, high = exact.ball_of(arb(atom.p_mass))
                    if tail == 400 and sum(p for p, _ in same) > mpf(10) ** -25:
                        assert low <= sum(p for p, _ in same) * (1 + mpf(10) ** -20)
                        assert high >= sum(p for p, _ in same) * (1 - mpf(10) ** -20)
                    assert (atom.loss.ball().exp() * atom.q_mass - atom.p_mass).contains(0)
                whole = sum((arb(atom.p_mass).upper() for atom in found.atoms), arb(found.infinity).upper())
                assert not whole < 1
                assert not sum((arb(atom.p_mass).lower() for atom in found.atoms), arb(0)) > 1


def sums_of_normal_terms_are_those_of_their_terms(exact):
    with mp.workdps(40), working_precision(96):
        for start, variance in ((1, Fraction(1, 2)), (7, Fraction(40)), (1, Fraction(2500)), (130, Fraction(2601))):
            low, high = exact.ball_of(normal_sum(start, variance))
            terms = mp.fsum(mp.exp(-mpf(k * k) / (2 * exact.number(variance))) for k in range(start, start + 900))
            assert low <= terms <= high
            assert high - low <= terms * mpf(10) ** -24


def bounded_noise_loses_what_its_worst_shift_loses(exact):
    odds = ([-2, 0, 1, 3], [Fraction(1, 8), Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)])
    for reach in (1, 2):
        shifts = [
            [
                (dict(zip(*odds, strict=True)).get(k - shift, Fraction(0)), dict(zip(*odds, strict=True)).get(k, Fraction(0)))
                for k in range(-6, 7)
            ]
            for shift in range(-reach, reach + 1)
            if shift
        ]
        for epsilon in EPSILONS:
            worst = [max(exact.delta(both, epsilon)[end] for both in shifts) for end in (0, 1)]
            found = one_release(finite_noise(*odds, reach), "add_remove").delta(epsilon=epsilon)
            assert found.lower <= worst[1]
            assert found.upper >= worst[0]
    with mp.workdps(40):
        for power, weight in ((1, lambda k: mp.exp(-mpf(abs(k)) / 2)), (2, lambda k: mp.exp(-mpf(k * k) / 4))):
            both = exact.on_integers(lambda k, weight=weight: weight(k) if abs(k) <= 6 else mpf(0), 2, 8)
            for epsilon in EPSILONS:
                expected = exact.gain(both, mp.exp(exact.number(epsilon)))
                law = truncated_noise(power, Fraction(2), 6, 2)
                exact.encloses(one_release(law, "add_remove").delta(epsilon=epsilon), expected, width="1e-12")


def stated_divergences_bound_those_between_them(exact):
    """Divergences of a normal law at two orders, looked at elsewhere: a bound from them is never below its own."""
    with working_precision(128), mp.workdps(30):
        law = rdp({3: 3, 9: 9}).parts[0][0]
        for order in (Fraction(1, 2), Fraction(2), Fraction(5), Fraction(8)):
            bound = exact.ball_of(law.log_moment(order))[1]
            true = exact.number(order * (1 + order))
            assert true * (1 - mpf(10) ** -20) <= bound <= true * 3
        assert law.log_moment(Fraction(9)) is None
        # A divergence is no larger than that of a larger order: here at most 3 at order 2 as well.
        assert exact.ball_of(rdp({2: 5, 3: 3}).parts[0][0].log_moment(Fraction(1)))[1] < 4


def choices_lose_at_least_what_two_candidates_show(exact):
    """Permute-and-flip: the first of two that is looked at is taken with probability e^-gap, where the gap is its distance."""
    with mp.workdps(30):
        for epsilon in (mpf(1) / 2, mpf(2)):
            worse = mp.exp(-epsilon / 2) / 2
            both = [(1 - worse, worse), (worse, 1 - worse)]
            at = exact.rational(epsilon)
            shown = mp.log((1 - worse) / worse)
            flipped = permute_and_flip(at)
            found = flipped.epsilon(delta=0)
            assert exact.number(found.lower) <= shown * (1 + mpf(10) ** -25)
            assert found.lower > exact.rational(shown) * (1 - Fraction(1, 10**9))
            for law in (flipped, noisy_max(at), sparse_vector(at)):
                assert law.epsilon(delta=0).upper == at
                for place in (mpf(0), epsilon / 3):
                    assert law.delta(epsilon=exact.rational(place)).upper >= exact.rational(exact.gain(both, mp.exp(place)))


def a_group_is_as_far_apart_as_its_steps(exact, oracle):
    with mp.workdps(30):
        for size in (2, 5):
            for near, far in (
                (laplace(7), laplace(7, sensitivity=size)),
                (discrete_laplace(7), discrete_laplace(7, sensitivity=size)),
                (discrete_gaussian(3), discrete_gaussian(3, sensitivity=size)),
            ):
                assert near.group(size).parts == far.parts
            moved = gaussian(4).group(size)
            exact.encloses(moved.delta(epsilon=1), oracle.gaussian(1, mu_squared=Fraction(size * size, 16)), width="1e-12")
            assert Fraction(size, 3) == pure_dp("1/3").group(size).epsilon(delta=0).upper
            assert Fraction(size, 3) == bounded_range("1/3").group(size).epsilon(delta=0).upper
            assert Fraction(size * size, 7) == zcdp("1/7").group(size).zcdp().upper


def release(kind, sensitivity, dimension=1, count=1, **parameters):
    """An entry of the log."""
    known = tuple(sorted((name, Fraction(value)) for name, value in parameters.items()))
    return Release(kind, known, Fraction(sensitivity), Adjacency("add_remove"), dimension, count)


def noise_is_priced_at_the_sensitivity_that_was_logged(exact, oracle):
    with mp.workdps(30):
        both = exact.on_integers(lambda k: mp.exp(-mpf(abs(k)) / 4), 6, 280)
        for epsilon in EPSILONS[1:2]:
            at = exact.number(epsilon)
            expected = exact.gain(both, mp.exp(at))
            found = price_releases([release("discrete_laplace", "3/2", lattice="1/4", scale=1)]).delta(epsilon=epsilon)
            exact.encloses(found, expected, width="1e-12")
            found = price_releases([release("discrete_laplace", "3/2", dimension=3, lattice="1/4", scale=1)]).delta(epsilon=epsilon)
            exact.encloses(found, expected)
            assert found.upper >= exact.rational(oracle.responses(at, step="3/2", categories=2, count=1)) * (
                1 - Fraction(1, 10**12)
            )
            rounded = exact.on_integers(cells(mpf(1) / 2), 1, 9)
            found = price_releases([release("rounded_gaussian", 2, lattice=2, sigma=1)]).delta(epsilon=epsilon)
            exact.encloses(found, exact.gain(rounded, mp.exp(at)), room="1e-14")
            for kind in ("rounded_gaussian", "real_gaussian"):
                found = price_releases([release(kind, 2, dimension=5, lattice="1/64", sigma=1, count=3)]).delta(epsilon=epsilon)
                assert found.upper >= exact.rational(oracle.gaussian(at, mu_squared=12)) * (1 - Fraction(1, 10**9))
            found = price_releases([release("real_laplace", 3, scale=2)]).delta(epsilon=epsilon)
            exact.encloses(found, oracle.laplace(at, scale=2, sensitivity=3))
        assert (
            Fraction(9, 8)
            == price_releases([release("discrete_gaussian", 3, dimension=4, lattice=1, sigma_squared=4)]).zcdp().upper
        )
        assert Fraction(3, 2) == price_releases([release("euclidean_laplace", 3, dimension=2, scale=2)]).epsilon(delta=0).upper


def choices_are_priced_by_how_far_scores_can_move():
    """Two scores can move towards each other unless all move the same way; every positive answer pays again."""
    for monotonic, moves in ((0, 2), (1, 1)):
        for kind in ("exponential_mechanism", "permute_and_flip", "noisy_max"):
            found = price_releases([release(kind, 3, monotonic=monotonic, temperature=8)]).epsilon(delta=0)
            assert Fraction(3 * moves, 8) == found.upper
        found = price_releases([release("top_k", 3, count=5, monotonic=monotonic, temperature=8, flips=1)]).epsilon(delta=0)
        assert Fraction(15 * moves, 8) == found.upper
        scales = {"threshold_scale": 6, "query_scale": 12}
        once = price_releases([release("above_threshold", 3, monotonic=monotonic, **scales)]).epsilon(delta=0)
        assert Fraction(3, 6) + Fraction(3 * moves, 12) == once.upper
        many = price_releases([release("sparse_vector", 3, monotonic=monotonic, cutoff=4, number_scale=24, **scales)]).epsilon(
            delta=0
        )
        assert Fraction(3, 6) + 4 * Fraction(3 * moves, 12) + 4 * Fraction(3, 24) == many.upper


def rare_keys_are_priced_by_the_chance_that_noise_lifts_them(exact):
    with mp.workdps(40):
        fall = mp.exp(-mpf(1) / 2)
        lifted = fall ** (20 - 1) / (1 + fall)
        entry = release("stability_histogram", 3, scale=2, threshold=20, contributions=3)
        found = price_releases([entry])
        assert exact.number(found.delta(epsilon=Fraction(3, 2)).upper) >= (1 - (1 - lifted) ** 3) * (1 - mpf(10) ** -20)
        assert exact.number(found.delta(epsilon=Fraction(3, 2)).upper) <= (1 - (1 - lifted) ** 3) * (1 + mpf(10) ** -9)
        with contextlib.suppress(DpauditError):
            assert found.delta(epsilon=Fraction(4, 3)).upper > found.delta(epsilon=Fraction(3, 2)).upper
    keys = price_releases([release("partition_selection", 3, epsilon="1/2", delta="1/1000")])
    assert Fraction(3, 1000) == keys.delta(epsilon=Fraction(3, 2)).upper
    assert keys.delta(epsilon=Fraction(7, 5)).upper > Fraction(3, 1000)


CHECKS = [
    profiles_of_noise_are_sums_over_all_outputs,
    profiles_of_densities_are_their_integrals,
    moments_are_sums_and_integrals,
    values_of_a_law_hold_all_its_mass,
    sums_of_normal_terms_are_those_of_their_terms,
    bounded_noise_loses_what_its_worst_shift_loses,
    stated_divergences_bound_those_between_them,
    choices_lose_at_least_what_two_candidates_show,
    a_group_is_as_far_apart_as_its_steps,
    noise_is_priced_at_the_sensitivity_that_was_logged,
    choices_are_priced_by_how_far_scores_can_move,
    rare_keys_are_priced_by_the_chance_that_noise_lifts_them,
]
