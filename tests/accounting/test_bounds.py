"""Bounds contain the truth: against exact answers where both exist, and against independent numerical ones where only bounds do."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpaudit.accounting import (
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    laplace,
    price_releases,
    pure_dp,
    randomized_response,
    rdp,
    zcdp,
)
from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.engines.finishing import FIXED
from dpaudit.accounting.engines.moments import moment_bound
from dpaudit.accounting.engines.tails import FiniteLoss, compose_atoms
from dpaudit.accounting.laws.discrete_gaussian import RoundedGaussian
from dpaudit.accounting.laws.response import BoundedRange, Response
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.claims import Adjacency
from dpaudit.exact import Enclosure, ball, working_precision
from dpaudit.releases import Release

POSITIVE = st.fractions(min_value=Fraction(1, 10), max_value=5, max_denominator=12)
EPSILONS = st.fractions(min_value=0, max_value=5, max_denominator=20)
LAWS = st.one_of(
    st.builds(gaussian, POSITIVE),
    st.builds(laplace, POSITIVE),
    st.builds(discrete_laplace, POSITIVE, sensitivity=st.integers(1, 5)),
    st.builds(lambda variance, steps: discrete_gaussian(sigma_squared=variance, sensitivity=steps), POSITIVE, st.integers(1, 4)),
    st.builds(lambda epsilon, k: randomized_response(epsilon, categories=k, adjacency="add_remove"), POSITIVE, st.integers(2, 5)),
    st.builds(lambda epsilon, delta: approx_dp(epsilon, delta=delta), POSITIVE, st.sampled_from(["0", "1e-3"])),
    st.builds(bounded_range, POSITIVE),
)
COMPOSITIONS = st.lists(st.tuples(LAWS, st.integers(1, 3)), min_size=1, max_size=3).map(
    lambda parts: compose(*(count * loss for loss, count in parts))
)
SOME = settings(max_examples=60)


@SOME
@given(COMPOSITIONS, EPSILONS)
def test_the_moment_bound_lies_above_the_exact_answer(loss, epsilon):
    exact = closed_form(loss.composition, DeltaAt(epsilon))
    if exact is not None:
        assert moment_bound(loss.composition, epsilon).upper >= exact.lower


@SOME
@given(COMPOSITIONS, EPSILONS, st.sampled_from([Fraction(1, 10), Fraction(1, 10**6), Fraction(0)]))
def test_bounds_are_ordered_and_meet_the_exact_answer(loss, epsilon, delta):
    for question in (DeltaAt(epsilon), EpsilonAt(delta)):
        bounds, exact = certified_bounds(loss.composition, question), closed_form(loss.composition, question)
        assert 0 <= bounds.lower <= bounds.upper
        assert exact is None or bounds.meets(exact)


def laplace_loss_mean(function, pure):
    """E of function(L) over the loss of a Laplace mechanism: two atoms and a density."""
    inner = mp.quad(lambda loss: function(loss) * mp.exp((loss - pure) / 2) / 4, mp.linspace(-pure, pure, 9))
    return function(pure) / 2 + mp.exp(-pure) / 2 * function(-pure) + inner


def laplace_profile(epsilon, pure):
    """Delta of one Laplace mechanism at any epsilon."""
    if epsilon >= pure:
        return mpf(0)
    return 1 - mp.exp((epsilon - pure) / 2) if epsilon >= -pure else 1 - mp.exp(epsilon)


def gaussian_profile(epsilon, mu):
    """Delta of one Gaussian mechanism at any epsilon."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(
    ("first", "second", "epsilon"), [("1", "1", "1"), ("2", "1/2", "0"), ("1/3", "3", "2.9"), ("5", "4", "0.1")]
)
def test_two_laplace_releases_lose_what_integration_gives(first, second, epsilon):
    pures = [1 / Fraction(first), 1 / Fraction(second)]
    with mp.workdps(30):
        one, other, at = (mpf(value.numerator) / value.denominator for value in (*pures, Fraction(epsilon)))
        kinks = sorted({-other, other, *(mpf(x) for x in (at - one, at + one) if -other < x < other)})
        inner = mp.quad(lambda loss: laplace_profile(at - loss, one) * mp.exp((loss - other) / 2) / 4, kinks)
        ends = laplace_profile(at - other, one) / 2 + mp.exp(-other) / 2 * laplace_profile(at + other, one)
        truth = Fraction(mp.nstr(inner + ends, 20, min_fixed=0, max_fixed=0))
    slack = Fraction(1, 10**15)
    found = compose(laplace(first), laplace(second)).delta(epsilon=epsilon)
    assert Enclosure(truth - slack, truth + slack).meets(found)
    assert found.width <= slack


@pytest.mark.parametrize(("sigma", "scale", "epsilon"), [("1", "1", "1"), ("2", "1/2", "0"), ("1/3", "3", "9"), ("5", "4", "0.1")])
def test_a_gaussian_and_a_laplace_release_lie_within_their_bounds(sigma, scale, epsilon):
    with mp.workdps(30):
        mu, pure, at = (
            mpf(value.numerator) / value.denominator for value in (1 / Fraction(sigma), 1 / Fraction(scale), Fraction(epsilon))
        )
        truth = laplace_loss_mean(lambda loss: gaussian_profile(at - loss, mu), pure)
        shown = Fraction(mp.nstr(truth, 12, min_fixed=0, max_fixed=0))
    digits = Enclosure(shown * (1 - Fraction(1, 10**11)), shown * (1 + Fraction(1, 10**11)))
    assert compose(gaussian(sigma), laplace(scale)).delta(epsilon=epsilon).meets(digits)


def rounded_gaussian_masses(sigma, centre, reach):
    """Probabilities of a normal variable rounded to integers."""
    edges = [mp.ncdf((x - mpf(1) / 2 - centre) / sigma) for x in range(-reach, reach + 2)]
    return [right - left for left, right in pairwise(edges)]


def lattice_delta(p, q, count, epsilon):
    """Direct sum over all outcomes of `count` independent draws."""
    outcomes = [(mpf(1), mpf(1))]
    for _ in range(count):
        outcomes = [(a * x, b * y) for a, b in outcomes for x, y in zip(p, q, strict=True)]
    growth = mp.exp(mpf(epsilon))
    return sum(max(mpf(0), a - growth * b) for a, b in outcomes)


@pytest.mark.parametrize(
    ("sigma", "steps", "count", "epsilon"),
    [("2", 1, 1, "0.2"), ("2", 2, 1, "1"), ("1", 1, 2, "1"), ("3/2", 3, 2, "2"), ("1", 1, 3, "0.5")],
)
def test_the_price_of_rounded_gaussian_releases_contains_what_they_lose(sigma, steps, count, epsilon):
    parameters = (("lattice", Fraction(1)), ("sigma", Fraction(sigma)))
    release = Release("rounded_gaussian", parameters, Fraction(steps), Adjacency("add_remove"), count=count)
    with mp.workdps(30):
        width = mpf(Fraction(sigma).numerator) / Fraction(sigma).denominator
        p, q = rounded_gaussian_masses(width, steps, 18), rounded_gaussian_masses(width, 0, 18)
        truth = Fraction(mp.nstr(lattice_delta(p, q, count, epsilon), 12, min_fixed=0, max_fixed=0))
    found = price_releases([release]).delta(epsilon=epsilon)
    assert found.lower <= truth * (1 + Fraction(1, 10**10))
    assert found.upper >= truth * (1 - Fraction(1, 10**10))
    assert (count * gaussian(sigma, sensitivity=steps)).delta(epsilon=epsilon).upper == found.upper


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [("2", 1, "0.2"), ("2", 2, "1"), ("1/2", 1, "3"), ("20", 7, "0.01")])
def test_one_rounded_coordinate_is_exact(sigma, steps, epsilon):
    with mp.workdps(40):
        width, reach = mpf(Fraction(sigma).numerator) / Fraction(sigma).denominator, int(20 * Fraction(sigma)) + 20
        p, q = rounded_gaussian_masses(width, steps, reach), rounded_gaussian_masses(width, 0, reach)
        truth = Fraction(mp.nstr(lattice_delta(p, q, 1, epsilon), 25, min_fixed=0, max_fixed=0))
    found = one_release(RoundedGaussian(Fraction(sigma), steps), "add_remove").delta(epsilon=epsilon)
    assert abs(found.lower - truth) <= truth / 10**20
    assert abs(found.upper - truth) <= truth / 10**20


FIXED_POINT = 1500
"""Bits after the point in the direct sums over discrete Gaussians."""


@pytest.mark.parametrize(
    ("variance", "steps", "count", "epsilon"), [("1", 1, 3, "45"), ("4", 1, 6, "9"), ("1/2", 2, 4, "0"), ("9", 3, 3, "70")]
)
def test_composed_discrete_gaussians_are_exact_down_to_the_smallest_deltas(variance, steps, count, epsilon):
    """The sum of the outputs is sufficient, so the truth is a one-dimensional sum, here in fixed point."""
    reach = 45 * (1 + int(Fraction(variance) ** Fraction(1, 2)))
    with mp.workprec(2 * FIXED_POINT):
        halved = 2 * mpf(Fraction(variance).numerator) / Fraction(variance).denominator
        weights = [mp.exp(-mpf(x * x) / halved) for x in range(-reach, reach + 1)]
        draw = [int(weight / sum(weights) * 2**FIXED_POINT) for weight in weights]
        growth = int(mp.exp(mpf(epsilon)) * 2**FIXED_POINT)
    total = [1 << FIXED_POINT]
    for _ in range(count):
        grown = [0] * (len(total) + len(draw) - 1)
        for at, mass in enumerate(total):
            for x, other in enumerate(draw):
                grown[at + x] += mass * other
        total = [mass >> FIXED_POINT for mass in grown]
    shift = count * steps
    shifted, fixed = [0] * shift + total, total + [0] * shift
    truth = Fraction(sum(max(0, p - (growth * q >> FIXED_POINT)) for p, q in zip(shifted, fixed, strict=True)), 1 << FIXED_POINT)
    found = (count * discrete_gaussian(sigma_squared=variance, sensitivity=steps)).delta(epsilon=epsilon)
    assert abs(found.lower - truth) <= truth / 10**12
    assert abs(found.upper - truth) <= truth / 10**12


@pytest.mark.parametrize("epsilon", ["0", "0.3", "0.7", "1.1"])
def test_the_price_of_a_laplace_vector_covers_every_split_of_its_sensitivity(epsilon):
    parameters = (("lattice", Fraction(1)), ("scale", Fraction(2)))
    release = Release("discrete_laplace", parameters, Fraction(3), Adjacency("add_remove"), dimension=2)
    found = price_releases([release]).delta(epsilon=epsilon)
    spread = compose(discrete_laplace(2, sensitivity=1), discrete_laplace(2, sensitivity=2)).delta(epsilon=epsilon)
    alone = discrete_laplace(2, sensitivity=3).delta(epsilon=epsilon)
    assert found.upper >= spread.upper
    assert found.upper >= alone.upper
    assert found.lower <= alone.upper
    assert found.upper == pure_dp("3/2").delta(epsilon=epsilon).upper


@pytest.mark.parametrize("epsilon", ["0", "0.3", "1"])
def test_the_price_of_a_discrete_gaussian_vector_covers_every_split_of_its_sensitivity(epsilon):
    parameters = (("lattice", Fraction(1)), ("sigma_squared", Fraction(9)))
    release = Release("discrete_gaussian", parameters, Fraction(5), Adjacency("add_remove"), dimension=2)
    found = price_releases([release]).delta(epsilon=epsilon)
    three, four, five = (discrete_gaussian(3, sensitivity=steps) for steps in (3, 4, 5))
    assert found.upper >= compose(three, four).delta(epsilon=epsilon).upper
    assert found.upper >= five.delta(epsilon=epsilon).upper >= found.lower


@pytest.mark.parametrize("epsilon", ["0", "0.5", "1.2"])
@pytest.mark.parametrize("tops", [("1/4", "1/2"), ("1/2", "1/2"), ("3/4", "1/10")])
def test_every_pair_of_bounded_range_mechanisms_stays_below_the_bound_on_two(tops, epsilon):
    """Two-point mechanisms with losses t and t - 1, probabilities rounded to rationals so that the ratio stays within e."""
    pairs = []
    for top in tops:
        with mp.workdps(40):
            t = mpf(Fraction(top).numerator) / Fraction(top).denominator
            p = Fraction(mp.nstr((mp.e - mp.exp(t)) / (mp.e - 1), 30, min_fixed=0, max_fixed=0))
            q = Fraction(mp.nstr((mp.e - mp.exp(t)) / (mp.e - 1) * mp.exp(-t), 30, min_fixed=0, max_fixed=0)) + Fraction(1, 10**28)
        pairs.append(explicit_pair([p, 1 - p], [q, 1 - q]))
    assert compose(*pairs).delta(epsilon=epsilon).lower <= (2 * bounded_range(1)).delta(epsilon=epsilon).upper
    assert pairs[0].delta(epsilon=epsilon).lower <= bounded_range(1).delta(epsilon=epsilon).upper


@SOME
@given(POSITIVE, EPSILONS)
def test_guarantees_on_moments_cover_the_mechanisms_that_satisfy_them(sigma, epsilon):
    mu_squared = 1 / sigma**2
    truth = gaussian(sigma).delta(epsilon=epsilon)
    assert zcdp(mu_squared / 2).delta(epsilon=epsilon).upper >= truth.upper
    orders = {order: order * mu_squared / 2 for order in (Fraction(3, 2), 2, 4, 32)}
    assert rdp(orders).delta(epsilon=epsilon).upper >= zcdp(mu_squared / 2).delta(epsilon=epsilon).lower
    assert rdp(orders).delta(epsilon=epsilon).upper >= truth.upper
    assert 0 == zcdp(1).delta(epsilon=epsilon).lower == rdp(orders).delta(epsilon=epsilon).lower


def test_the_conversion_from_zcdp_is_the_published_one():
    """Canonne, Kamath, Steinke 2020, Proposition 12 at its best order, evaluated on a fine grid of orders in mpmath."""
    with mp.workdps(30):
        rho, epsilon = mpf(1) / 2, mpf(3)
        logs = [
            (a - 1) * (a * rho - epsilon) + (a - 1) * mp.log(1 - 1 / a) - mp.log(a)
            for a in (1 + mpf(step) / 2000 for step in range(1, 20000))
        ]
        best = Fraction(mp.nstr(mp.exp(min(logs)), 15, min_fixed=0, max_fixed=0))
    found = zcdp("1/2").delta(epsilon=3).upper
    assert best * (1 - Fraction(1, 10**5)) <= found <= best * (1 + Fraction(1, 10**9))


def test_a_composition_off_any_grid_falls_back_to_bounds_around_the_truth():
    pair = explicit_pair(["1/2", "1/3", "1/12", "1/12"], ["5/17", "7/17", "3/17", "2/17"])
    assert closed_form((10 * pair).composition, DeltaAt(Fraction(1))) is not None
    assert closed_form((400 * pair).composition, DeltaAt(Fraction(1))) is None
    few, many = (10 * pair).delta(epsilon=2), (400 * pair).delta(epsilon=2)
    assert few.lower <= many.lower <= many.upper <= 1
    assert many.lower > 0


def test_epsilons_without_a_common_unit_are_bounded_closely():
    loss = compose(*(pure_dp(Fraction(1, part)) for part in range(2, 40)))
    found = loss.epsilon(delta="1e-6")
    assert closed_form(loss.composition, DeltaAt(Fraction(1))) is None
    assert found.width <= found.upper / 100


@SOME
@given(st.fractions(min_value=Fraction(1, 20), max_value=1, max_denominator=40), st.integers(2, 40), EPSILONS)
def test_bounded_range_mechanisms_together_lose_no_more_than_their_zcdp_guarantee(width, count, epsilon):
    """Bounded range r implies zCDP with rho = r^2/8, so what is certified from below must respect it."""
    found = (count * bounded_range(width)).delta(epsilon=epsilon)
    assert found.lower <= zcdp(count * width**2 / 8).delta(epsilon=epsilon).upper
    assert found.upper <= zcdp(count * width**2 / 8).delta(epsilon=epsilon).upper * (1 + Fraction(1, 10**4))


@given(
    st.dictionaries(st.fractions(1, 40, max_denominator=30).filter(lambda one: one > 1), EPSILONS, min_size=1, max_size=12),
    st.data(),
)
def test_moments_between_stated_orders_are_the_least_of_all_chords(orders, data):
    """From 0 and from every stated order to every one that is not smaller: what a convex function below all of them may be."""
    place = data.draw(st.one_of(POSITIVE, st.sampled_from([order - 1 for order in orders])))
    points = [(Fraction(0), Fraction(0)), *((order - 1, (order - 1) * bound) for order, bound in orders.items())]
    chords = [
        low + (value - low) * (place - left) / (right - left)
        for left, low in points
        for right, value in points
        if left < place <= right
    ]
    found = rdp(orders).parts[0][0].log_moment(place)
    assert found.overlaps(ball(min(chords))) if chords else found is None


@given(width=POSITIVE, level=POSITIVE, count=st.integers(1, 12), epsilon=EPSILONS)
def test_values_that_a_bounded_loss_leaves_on_one_side_are_added_up_at_once(width, level, count, epsilon):
    law = BoundedRange(width)
    with working_precision(128):
        others = compose_atoms([(Response(level, "others", infinity=Fraction(1, 1000)).atoms(64), count)])
        assert isinstance(others, FiniteLoss)
        one, all_terms = (others.averaged(law.profile, epsilon, within) for within in ((-width, width), None))
        assert one.overlaps(all_terms)
        assert abs(one - all_terms) < ball(Fraction(1, 2**100))


@pytest.mark.parametrize("epsilon", ["0", "1/20", "1/3"])
def test_chords_of_promises_beside_a_release_ask_for_nothing_from_below(monkeypatch, epsilon):
    """Fixed points of chords take no lattice; the answer stays above the mechanisms that keep the promise."""
    from dpaudit.accounting.engines import evaluate

    loss, asked = compose(3 * zcdp("1/50"), laplace(scale=7), gaussian(sigma="27/4")), []
    plain = evaluate.tilted_lattice
    monkeypatch.setattr(evaluate, "ENGINES", tuple(
        (lambda *question: asked.append(question) or plain(*question)) if engine is plain else engine for engine in evaluate.ENGINES
    ))  # fmt: skip
    found = loss.delta(epsilon=epsilon)
    assert len(asked) <= 2 < len(FIXED)
    member = compose(gaussian(sigma="27/4"), 3 * gaussian(sigma=5), laplace(scale=7)).delta(epsilon=epsilon)
    assert member.lower <= found.upper < 1


@SOME
@given(
    st.dictionaries(st.fractions(2, 64, max_denominator=4), EPSILONS.filter(bool), min_size=1, max_size=12),
    EPSILONS,
    st.integers(1, 3),
)
def test_the_bound_of_stated_orders_is_at_least_as_good_as_at_each_of_them(orders, epsilon, count):
    found = (count * rdp(orders)).delta(epsilon=epsilon).upper
    with mp.workdps(30):
        for order, divergence in orders.items():
            power, gap = mpf(order.numerator) / order.denominator - 1, count * divergence - epsilon
            bound = mp.exp(power * gap.numerator / gap.denominator + power * mp.log(power) - (1 + power) * mp.log(1 + power))
            assert mpf(found.numerator) / found.denominator <= min(bound * (1 + mpf(10) ** -7), 1)


@pytest.mark.parametrize("orders", [{10**400: 1}, {1 + Fraction(1, 10**400): 1}, {2: 1, 10**400: 3}], ids=str)
def test_stated_orders_beyond_all_floats_are_answered(orders):
    assert 0 < rdp(orders).delta(epsilon="1/2").upper <= 1
