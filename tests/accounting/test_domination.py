"""Mixtures are priced by their worst case: random vectors in the plane, families of finite mechanisms, and references by erfc."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import binomial, erfc, exp, log, mpf, sqrt, workdps

from dpaudit.accounting import Poisson, compose, gaussian, gaussian_mixture, pure_dp
from dpaudit.exact import ball, ball_endpoints, working_precision

NORMAL, NIGHTLY = 8, 1000  # Cases of a usual run and of a campaign
SIZES = [NORMAL, pytest.param(NIGHTLY, marks=pytest.mark.campaign)]
EPSILONS = ("0", "1/4", "1", "3")


def number(value):
    return mpf(Fraction(value).numerator) / Fraction(value).denominator


def drawn_weights(source, size):
    weights = [source.randint(1, 20) for _ in range(size)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def in_the_plane(components, places):
    """The density of unit normal laws around some points, on a grid."""
    return sum(weight * np.exp(-((places[0] - x) ** 2 + (places[1] - y) ** 2) / 2) / (2 * np.pi) for (x, y), weight in components)


def excess(first, second, growth, area):
    return float(np.maximum(first - growth * second, 0).sum() * area)


@pytest.mark.parametrize("size", SIZES)
def test_vectors_in_any_position_lose_no_more_than_the_collinear_ones_that_are_priced(size):
    source, line = random.Random(5), np.linspace(-9, 9, 241)  # noqa: S311 - cases, no noise
    places, area = np.meshgrid(line, line), (line[1] - line[0]) ** 2
    for _ in range(size):
        turns = [source.uniform(0, 2 * np.pi) for _ in range(3)]
        norms, weights = [Fraction(source.randint(1, 250), 100) for _ in turns], drawn_weights(source, 3)
        vectors = [(float(r) * np.cos(turn), float(r) * np.sin(turn)) for r, turn in zip(norms, turns, strict=True)]
        given = in_the_plane([(v, float(w)) for v, w in zip(vectors, weights, strict=True)], places)
        nothing = in_the_plane([((0, 0), 1)], places)
        mixture = gaussian_mixture(sigma=1, sensitivities=norms, weights=weights)
        rate = Fraction(source.randint(1, 9), 10)
        pair = [
            in_the_plane([((0, 0), float(1 - rate)), ((np.cos(turn), np.sin(turn)), float(rate))], places) for turn in turns[:2]
        ]
        group = gaussian(sigma=1).sampled(Poisson(rate)).group(removed=1, added=1)
        for text in EPSILONS:
            growth = float(np.exp(float(Fraction(text))))
            for loss, (one, other), direction in (
                (mixture, (given, nothing), "remove"),
                (mixture, (nothing, given), "add"),
                (group, pair, "remove"),
            ):
                assert excess(one, other, growth, area) <= float(loss.delta(epsilon=text, direction=direction).upper) + 1e-4


@pytest.mark.parametrize("size", SIZES)
def test_no_family_of_finite_mechanisms_loses_more_than_a_group_of_a_pure_promise(size):
    source = random.Random(6)  # noqa: S311 - cases, no noise
    for _ in range(size):
        most = source.randint(1, 3)
        rows = [drawn_weights(source, 4)]
        while len(rows) <= most:
            rows.append(drawn_weights(source, 4) if source.random() < 0.5 else [rows[-1][place] for place in (1, 2, 3, 0)])
        ratio = max(max(a / b, b / a) for one, other in pairwise(rows) for a, b in zip(one, other, strict=True))
        with working_precision(128):
            promised = ball_endpoints(ball(max(ratio, Fraction(11, 10))).log())[1]
        rate, growth = Fraction(source.randint(1, 9), 10), Fraction(source.randint(4, 40), 4)
        chances = [Fraction(int(binomial(most, i))) * rate**i * (1 - rate) ** (most - i) for i in range(most + 1)]
        mixed = [sum(chance * row[place] for chance, row in zip(chances, rows, strict=True)) for place in range(4)]
        with working_precision(128):
            epsilon = ball_endpoints(ball(growth).log())[0]
        group = pure_dp(promised).sampled(Poisson(rate)).group(removed=most, added=0)
        for one, other, direction in ((mixed, rows[0], "remove"), (rows[0], mixed, "add")):
            true = sum(max(a - growth * b, Fraction(0)) for a, b in zip(one, other, strict=True))
            assert true <= group.delta(epsilon=max(epsilon, Fraction(0)), direction=direction).upper


def tail(gap):
    return erfc(gap / sqrt(mpf(2))) / 2


def along_the_line(up, down, sigma, growth):
    """P - growth Q beyond the output where the ratio of two mixtures reaches the growth, found by halving."""

    def beyond(place):
        sides = [log(sum(w * exp((c * place - c * c / 2) / sigma**2) for c, w in side)) for side in (up, down)]
        return sides[0] - sides[1] > log(growth)

    low, high = -4000 * (sigma + 1), 4000 * (sigma + 1)
    if not beyond(high):
        return mpf(0)
    if beyond(low):
        return 1 - growth
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return sum(w * tail((high - c) / sigma) for c, w in up) - growth * sum(w * tail((high - c) / sigma) for c, w in down)


def binomial_places(size, rate, sign):
    return [(mpf(sign * i), binomial(size, i) * rate**i * (1 - rate) ** (size - i)) for i in range(size + 1)]


@pytest.mark.parametrize("size", SIZES)
def test_groups_users_and_joint_samples_have_their_reference_values(size):
    """Small deviations, tiny deltas, groups of up to 64, both directions; the interval is never wider than a thousandth."""
    source = random.Random(7)  # noqa: S311 - cases, no noise
    with workdps(32):
        for _ in range(size):
            sigma = Fraction(source.choice([source.randint(10, 50), source.randint(50, 200), source.randint(200, 800)]), 100)
            rate = Fraction(source.choice([source.randint(1, 20), source.randint(20, 900)]), 1000)
            epsilon = source.choice([Fraction(0), Fraction(source.randint(1, 300), 100), Fraction(source.randint(300, 1200), 100)])
            size_of, joint = source.choice([1, 2, 3, 8, 20, 64]), source.choice([1, 4, 9])
            removed = source.randint(0, size_of)
            growth, q = exp(number(epsilon)), number(rate)
            up, down = binomial_places(removed, q, 1), binomial_places(size_of - removed, q, -1)
            mirrored = [[(-c, w) for c, w in side] for side in (down, up)]
            sampled = gaussian(sigma=sigma).sampled(Poisson(rate))
            cases = [
                (sampled.group(removed=removed, added=size_of - removed), "remove", (up, down), number(sigma)),
                (sampled.group(removed=removed, added=size_of - removed), "add", mirrored, number(sigma)),
                (
                    compose(*[gaussian(sigma=sigma)] * joint).sampled(Poisson(rate), together=True),
                    "remove",
                    (binomial_places(1, q, 1), [(mpf(0), mpf(1))]),
                    number(sigma) / sqrt(mpf(joint)),
                ),
            ]
            for loss, direction, sides, deviation in cases:
                found, exact = loss.delta(epsilon=epsilon, direction=direction), along_the_line(*sides, deviation, growth)
                assert number(found.lower) <= exact * (1 + mpf(10) ** -18) + mpf(10) ** -300
                assert exact * (1 - mpf(10) ** -18) <= number(found.upper) + mpf(10) ** -300
                assert exact < mpf(10) ** -300 or found.width <= found.upper / 1000
