"""The contour: exact values, the lattice, every error term against what it bounds, and failing loudly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpaudit.accounting import (
    Poisson,
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    laplace,
    price_releases,
    randomized_response,
    zcdp,
)
from dpaudit.accounting.engines import contour as module
from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.characteristic import moments_of
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.engines.contour import Contour, contour, contour_along, contour_for
from dpaudit.accounting.engines.evaluate import evaluate
from dpaudit.accounting.engines.tilted import lattice_for, parts_of
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.claims import Adjacency
from dpaudit.errors import EngineDisagreement
from dpaudit.exact import Enclosure, working_precision
from dpaudit.releases import Release

FINE = Fraction(1, 10**12)
SAMPLED = gaussian("0.8").sampled(Poisson("0.01"))


def line_for(loss, epsilon):
    return contour_for(parts_of(loss.composition, lower=False), Fraction(epsilon))[0]


def moments_along(loss, *, greatest, place):
    """The moment functions of a composition, for `contour_along`."""
    with working_precision(module.BITS):
        found = [moments_of(*part, greatest=greatest, place=place, tail=1200) for part in parts_of(loss.composition, lower=False)]
    return [(entry[0], count) for entry, (_, count) in zip(found, parts_of(loss.composition, lower=False), strict=True)]


def along(loss, *, theta, step, side, orders):
    """A contour with parameters of our own choice, for losses that are never infinite."""
    moments = moments_along(loss, greatest=orders[1], place=(side * side - 1) * step)
    return contour_along(moments, arb(0), theta=theta, step=step, side=side, orders=orders)


@pytest.mark.parametrize(("count", "epsilon"), [(1, 0), (1, 1), (100, 40), (1000, 500), (1000, 721), (1000, 862), (1000, 1130)])
def test_gaussian_compositions_have_their_closed_form(count, epsilon):
    loss = count * gaussian(1)
    exact, found = closed_form(loss.composition, DeltaAt(Fraction(epsilon))), line_for(loss, epsilon).delta(Fraction(epsilon))
    assert exact.meets(found)
    assert found.width <= found.upper * FINE


PUBLISHED = [
    (10**4 * SAMPLED, "1e-6", "11.1831642"),
    (10**4 * SAMPLED, "1e-12", "16.7626250"),
    (10**4 * SAMPLED, "1e-30", "29.5494140"),
    (10**6 * SAMPLED, "1e-20", "357.7248822"),
]


@pytest.mark.parametrize(("loss", "delta", "epsilon"), PUBLISHED)
def test_epsilon_of_sampled_gaussians_is_known_to_many_digits(loss, delta, epsilon):
    found = contour(loss.composition, EpsilonAt(Fraction(delta)))
    assert abs(found.lower - Fraction(epsilon)) <= Fraction(1, 10**7)
    assert 0 < found.width <= found.upper / 10**9
    line = line_for(loss, epsilon)
    assert line.delta(found.upper).upper <= Fraction(delta) < line.delta(found.lower).lower


@pytest.mark.parametrize(
    ("epsilon", "value"), [(250, "7.829414176e-5"), (300, "6.646136005e-12"), (400, "9.552317e-42"), (499, "3.57769e-140")]
)
def test_delta_of_many_laplace_releases_is_known_to_many_digits(epsilon, value):
    found = line_for(500 * laplace(1), epsilon).delta(Fraction(epsilon))
    assert found.meets(Enclosure(Fraction(value) * (1 - Fraction(2, 10**6)), Fraction(value) * (1 + Fraction(2, 10**6))))
    assert found.width <= found.upper / 10**7


COMPOSITIONS = [
    (compose(gaussian(1), 5 * laplace(2)), "4"),
    (compose(gaussian(2), 3 * laplace(1), 4 * discrete_laplace(1), randomized_response(1, adjacency="add_remove")), "3"),
    (compose(2 * gaussian(3), approx_dp(1, delta="1e-3"), 5 * bounded_range(1)), "2"),
    (compose(gaussian(3), 4 * discrete_gaussian(2)), "1"),
    (compose(100 * SAMPLED, gaussian(4), 6 * laplace(3)), "2"),
    (compose(10 * gaussian(1).sampled(Poisson("0.4")), 7 * gaussian(2).sampled(Poisson("0.9"))), "5"),
    (compose(gaussian(2), 9 * explicit_pair(["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]).sampled(Poisson("1/3"))), "1"),
    (60000 * gaussian("1.1").sampled(Poisson("0.001")), "2"),
    (300 * laplace(4), "20"),
]


@pytest.mark.parametrize(("loss", "epsilon"), COMPOSITIONS, ids=lambda value: str(value)[:60])
def test_a_line_and_a_lattice_meet_in_both_directions(loss, epsilon):
    for direction in (loss, loss.reversed()):
        found, other = line_for(direction, epsilon), lattice_for(direction.composition, epsilon=Fraction(epsilon), width=0.02)
        narrow = found.delta(Fraction(epsilon))
        assert narrow.width <= narrow.upper / 10**6
        assert narrow.meets(other.delta(Fraction(epsilon)))


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_one_direction_follows_from_the_other(epsilon):
    """delta of (Q, P) at e is 1 - e^e + e^e delta of (P, Q) at -e."""
    loss, place = 50 * gaussian(1).sampled(Poisson("0.2")), Fraction(epsilon)
    backward = line_for(loss.reversed(), place).delta(place)
    forward = along(loss, theta=Fraction(1, 2), step=Fraction(1, 40), side=15, orders=(Fraction(1, 8), Fraction(1))).delta(-place)
    with mp.workdps(40):
        rise = Fraction(mp.nstr(mp.exp(mpf(place.numerator) / place.denominator), 35, min_fixed=0, max_fixed=0))
    room = Fraction(1, 10**30)
    ends = 1 - rise + rise * forward.lower - room, 1 - rise + rise * forward.upper + room
    assert Enclosure(*ends).meets(backward)
    assert forward.width <= Fraction(1, 10**4)


def distributions(size):
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return weights.map(lambda parts: tuple(Fraction(part, sum(parts)) for part in parts))


PAIRS = st.integers(2, 4).flatmap(lambda size: st.tuples(distributions(size), distributions(size)))
PARTS = st.lists(st.tuples(PAIRS, st.integers(1, 2)), min_size=1, max_size=2)
EPSILONS = st.fractions(min_value=0, max_value=3, max_denominator=20)


def outcomes(parts):
    """P and Q mass of every outcome of a product of pairs."""
    for outcome in product(*(tuple(zip(*pair, strict=True)) for pair, count in parts for _ in range(count))):
        over = under = Fraction(1)
        for p_mass, q_mass in outcome:
            over, under = over * p_mass, under * q_mass
        yield over, under


def growth(epsilon):
    """e^epsilon, to 50 digits."""
    with mp.workdps(60):
        return Fraction(mp.nstr(mp.exp(mpf(epsilon.numerator) / epsilon.denominator), 50, min_fixed=0, max_fixed=0))


@settings(max_examples=60, deadline=None)
@given(PARTS, EPSILONS, st.integers(1, 8), st.integers(2, 12))
def test_whatever_the_line_it_encloses_what_fractions_give(parts, epsilon, tilt, side):
    loss = compose(*(count * explicit_pair(*pair) for pair, count in parts))
    theta, factor = Fraction(tilt, 2), growth(epsilon)
    moments, safe = [], Fraction(1)
    with working_precision(module.BITS):
        for law, count in parts_of(loss.composition, lower=False):
            moments.append((moments_of(law, count, greatest=2 * theta, place=Fraction(1), tail=1200)[0], count))
    for pair, count in parts:
        safe *= sum(p_mass for p_mass, q_mass in zip(*pair, strict=True) if q_mass) ** count
    if not safe:
        return
    infinity = arb(1) - arb(safe.numerator) / safe.denominator
    line = contour_along(moments, infinity, theta=theta, step=Fraction(1, 3), side=side, orders=(theta / 2, 2 * theta))
    found = line.delta(epsilon)
    exact = sum((max(over - factor * under, Fraction(0)) for over, under in outcomes(parts)), Fraction(0))
    assert found.lower <= exact + FINE**3
    assert found.upper >= exact - FINE**3


@settings(max_examples=20, deadline=None)
@given(PARTS, EPSILONS)
def test_next_to_a_gaussian_rational_pairs_are_enclosed_narrowly(parts, epsilon):
    loss = compose(gaussian(1), *(count * explicit_pair(*pair) for pair, count in parts))
    line = line_for(loss, epsilon)
    total = mpf(0)
    with mp.workdps(40):
        place = mpf(epsilon.numerator) / epsilon.denominator
        for over, under in outcomes(parts):
            p_mass, q_mass = (mpf(mass.numerator) / mass.denominator for mass in (over, under))
            if under and over:
                moved = place - mp.log(p_mass / q_mass)
                total += p_mass * (mp.ncdf(mpf(1) / 2 - moved) - mp.exp(moved) * mp.ncdf(-mpf(1) / 2 - moved))
            elif over:
                total += p_mass
        exact = Fraction(mp.nstr(total, 30, min_fixed=0, max_fixed=0))
    if line is None:  # all mass is at infinity
        return
    found = line.delta(epsilon)
    assert found.lower <= exact * (1 + FINE)
    assert found.upper >= exact * (1 - FINE)
    assert found.width <= found.upper / 10**9


def test_images_are_positive_and_below_their_bound():
    """A coarse step adds images to the sum; the whole error is theirs, and the bound on them is honest and not idle."""
    loss, epsilon = 9 * gaussian(1), Fraction(8)
    truth = closed_form(loss.composition, DeltaAt(epsilon))
    for step in ("1/2", "1/3", "2/5"):
        line = along(loss, theta=Fraction(1), step=Fraction(step), side=6, orders=(Fraction(1, 4), Fraction(2)))
        found = line.delta(epsilon)
        with working_precision(200):
            images = line._images(line.above, epsilon) + line._images(line.below, epsilon)
        excess = found.upper - truth.lower
        assert found.contains(truth.lower)
        assert truth.upper / 10**9 < excess < float(images.upper()) < 30 * excess


def test_what_is_left_out_is_below_its_bound():
    loss, epsilon = 3 * laplace(1), Fraction(1)
    truth = closed_form(compose(3 * laplace(1)).composition, DeltaAt(epsilon)) or lattice_for(
        loss.composition, epsilon=epsilon
    ).delta(epsilon)
    for side in (2, 4, 9, 20):
        found = along(loss, theta=Fraction(1), step=Fraction(1, 8), side=side, orders=(Fraction(0), Fraction(6))).delta(epsilon)
        assert found.meets(truth)
        assert found.lower < truth.lower
        assert found.upper > truth.upper


def test_a_line_never_stops_where_its_integrand_only_pauses():
    """Points of mass revive the integrand of 100 Laplace releases: stopping when it first falls below 1e-13 is off by 6e-7."""
    loss, epsilon = 100 * laplace(4), Fraction(11)
    line = line_for(loss, epsilon)
    sizes = [abs(complex(value / line.values[0, 0])) for value in line.values.entries()]
    paused = next(index for index, size in enumerate(sizes) if size < 1e-13)
    assert max(sizes[paused:]) > 1e-7
    side = paused // 4
    short = contour_along(
        moments_along(loss, greatest=line.above.order, place=Fraction(1)),
        arb(0),
        theta=line.theta,
        step=line.step,
        side=side + 1,
        orders=(line.below.order, line.above.order),
    )
    careless = replace(short, left_out=arb(0)).delta(epsilon)
    truth = line.delta(epsilon)
    assert abs(careless.upper - truth.upper) > truth.upper * Fraction(5, 10**7)
    assert not careless.meets(truth)
    assert short.delta(epsilon).meets(truth)
    assert short.delta(epsilon).width > 1000 * truth.width
    assert truth.width < truth.upper / 10**6


def test_the_probability_of_an_infinite_loss_is_added():
    loss = compose(gaussian(1), 3 * approx_dp(1, delta="1e-2"))
    found = line_for(loss, 40).delta(Fraction(40))
    assert found.contains(1 - Fraction(99, 100) ** 3)
    assert found.width <= FINE


def test_an_answer_says_which_errors_it_contains():
    why = evaluate((500 * laplace(1)).composition, DeltaAt(Fraction(250))).why()
    words = [
        "inverted along a line",
        "images of the trapezoidal rule",
        "beyond the last node",
        "lattice: spreading raises",
        "agree",
    ]
    assert [] == [word for word in words if word not in why]


def test_an_answer_without_a_line_says_so():
    why = evaluate((3 * laplace(1).sampled(Poisson("1/10"))).composition, DeltaAt(Fraction(1, 10))).why()
    assert "the contour was not run" in why


@pytest.mark.parametrize("question", [DeltaAt(Fraction(250)), EpsilonAt(Fraction(1, 10**6))])
@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
def test_a_line_that_contradicts_the_lattice_fails_loudly(monkeypatch, question, factor):
    original = Contour.ends

    def moved(self, epsilon):
        least, most, terms = original(self, epsilon)
        return least * factor, most * factor, terms

    monkeypatch.setattr(Contour, "ends", moved)
    with pytest.raises(EngineDisagreement, match="DPA203"):
        evaluate((500 * laplace(1)).composition, question)


@pytest.mark.parametrize("loss", [3 * laplace(1), 40 * laplace(20), 2 * zcdp("1/2"), 5 * laplace(1).sampled(Poisson("0.1"))])
def test_where_points_of_mass_never_fade_or_a_law_is_unknown_there_is_no_line(loss):
    assert contour(loss.composition, DeltaAt(Fraction(1))) is None
    assert contour(loss.composition, EpsilonAt(Fraction(1, 1000))) is None


def test_an_infinite_loss_that_is_too_likely_has_no_epsilon_on_a_line():
    assert contour(compose(gaussian(1), approx_dp(1, delta="1e-2")).composition, EpsilonAt(Fraction(1, 100))) is None


def test_the_finest_tilt_serves_every_smaller_epsilon():
    loss = 10**9 * gaussian(1).sampled(Poisson("0.01"))
    for epsilon in (0, 1, 40_000, 70_000):
        found = line_for(loss, epsilon).delta(Fraction(epsilon))
        assert 1 - FINE < found.lower <= found.upper <= 1


def test_a_billion_laplace_releases_are_answered_narrowly():
    loss = 10**9 * laplace(1000)
    found = evaluate(loss.composition, EpsilonAt(Fraction(1, 10**6)))
    assert 0 < found.width <= found.upper / 10**9
    assert certified_bounds(loss.composition, EpsilonAt(Fraction(1, 10**6))).meets(found)


def test_epsilon_is_zero_where_delta_is_at_least_that_at_zero():
    loss = compose(gaussian(10), laplace(10))
    found = evaluate(loss.composition, EpsilonAt(Fraction(1, 2)))
    assert (0, 0) == (found.lower, found.upper)


def test_a_law_between_two_others_gets_its_upper_end_from_the_line():
    rounded = Release("rounded_gaussian", (("lattice", Fraction(1)), ("sigma", Fraction(3))), Fraction(1), Adjacency("add_remove"))
    loss, question = compose(price_releases([rounded] * 4), 100 * laplace(8)), DeltaAt(Fraction(10))
    above = line_for(compose(4 * gaussian(3), 100 * laplace(8)), 10).delta(Fraction(10))
    found = evaluate(loss.composition, question)
    assert above.upper == found.upper
    assert found.lower < above.lower * (1 - FINE)


@pytest.mark.parametrize("gap", ["1e-9", "1e-25"])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_an_epsilon_next_to_0_is_answered(gap, direction):
    """There no step from the root of a line in floats is far enough to decide on which side of delta it is."""
    loss = compose(*(gaussian(sigma=Fraction(20 + index, 20)).sampled(Poisson("1/50")) for index in range(module.MANY)))
    most = loss.delta(epsilon=0, direction=direction)
    for target in (most.lower - Fraction(gap), most.upper - Fraction(gap)):
        found = loss.epsilon(delta=target, direction=direction)
        assert loss.delta(epsilon=found.upper, direction=direction).lower <= target
        assert found.lower == 0 or loss.delta(epsilon=found.lower, direction=direction).upper > target
