"""Every certified number says why it holds: theorem, assumptions, error terms, and which end is only a bound."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpaudit.accounting import (
    bounded_range,
    compose,
    discrete_gaussian,
    explicit_pair,
    gaussian,
    laplace,
    price_releases,
    pure_dp,
    rdp,
    zcdp,
)
from dpaudit.claims import Adjacency
from dpaudit.releases import Release

ROUNDED = Release("rounded_gaussian", (("lattice", Fraction(1)), ("sigma", Fraction(2))), Fraction(1), Adjacency("add_remove"))


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (gaussian(1), ["Balle and Wang 2018", "rounding only", "128 bits"]),
        (1000 * gaussian(1), ["mu^2 adds up", "Dong, Roth, Su 2022"]),
        (laplace(1), ["Balle, Barthe, Gaboardi 2018"]),
        (3 * pure_dp(1), ["value by value to 4 loss values", "Zhu, Dong, Wang 2022"]),
        (bounded_range(1), ["Dong, Durfee, Rogers 2020"]),
        (discrete_gaussian(2), ["threshold"]),
        (compose(gaussian(1), 3 * pure_dp(1)), ["Balle and Wang 2018", "4 loss values", "3 * pure_dp(epsilon=1)"]),
        (500 * laplace(1), ["inverted along a line", "images of the trapezoidal rule", "a coarse lattice agree"]),
        (
            zcdp(1),
            ["nothing is known from below", "Canonne, Kamath, Steinke 2020", "a mechanism that satisfies it may lose nothing"],
        ),
        (rdp({2: 1}), ["nothing is known from below", "Mironov 2017"]),
        (price_releases([ROUNDED]), ["rounding is post-processing"]),
        (explicit_pair(["1/2", "1/2"], ["1/3", "2/3"]), ["the worse of the two directions"]),
        (0 * gaussian(1), ["nothing is released"]),
    ],
)
def test_the_reason_of_a_delta_names_what_it_rests_on(loss, words):
    why = loss.delta(epsilon="1/2").why()
    assert [] == [word for word in words if word not in why]


@pytest.mark.parametrize(
    ("loss", "delta", "words"),
    [
        (gaussian(1), "1e-6", ["Sommer, Meiser, Mohammadi 2019", "Balle and Wang 2018"]),
        (laplace(1), "0", ["sum of the greatest finite losses"]),
        (2 * laplace(1), "0", ["sum of the greatest finite losses"]),
        (explicit_pair([1, 0], ["1/2", "1/2"]), "1/4", ["an infinite loss has a larger probability than delta"]),
        (500 * laplace(1), "1e-6", ["delta on both sides of epsilon decides its ends", "inverted along a line"]),
    ],
)
def test_the_reason_of_an_epsilon_names_what_it_rests_on(loss, delta, words):
    why = loss.epsilon(delta=delta).why()
    assert [] == [word for word in words if word not in why]
