"""Trade-off functions, Renyi divergences, rho, mu and groups against closed forms and direct integration."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import (
    Poisson,
    RandomAllocation,
    WithoutReplacement,
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gdp,
    laplace,
    permute_and_flip,
    pure_dp,
    randomized_response,
    rdp,
    zcdp,
)
from dpaudit.errors import InvalidArgument, Unsupported

ALPHAS = st.fractions("1/100000", "99999/100000", max_denominator=10**5)


def normal(x):
    """Phi, to 40 digits."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def number(value):
    """A Fraction as an mpmath number."""
    return mpmath.mpf(value.numerator) / value.denominator


def holds(enclosure, truth, width=None):
    """Whether an enclosure contains a number computed to 40 digits, and is as narrow as asked."""
    slack = mpmath.mpf(10) ** -35
    inside = number(enclosure.lower) - slack <= truth <= number(enclosure.upper) + slack
    return inside and (width is None or enclosure.width <= width)


@settings(max_examples=40, deadline=None)
@given(ALPHAS, st.fractions("1/10", 6, max_denominator=50))
def test_the_tradeoff_of_gaussian_noise_is_its_closed_form(alpha, mu):
    with mpmath.workdps(40):
        quantile = -mpmath.sqrt(2) * mpmath.erfinv(2 * number(alpha) - 1)
        assert holds(gdp(mu).tradeoff(alpha=alpha), normal(quantile - number(mu)), Fraction(1, 10**6))


@settings(max_examples=40, deadline=None)
@given(ALPHAS, st.fractions("1/10", 6, max_denominator=50), st.sampled_from([Fraction(0), Fraction(1, 100)]))
def test_the_tradeoff_of_a_promise_is_its_broken_line(alpha, epsilon, delta):
    loss = approx_dp(epsilon, delta=delta) if delta else pure_dp(epsilon)
    with mpmath.workdps(40):
        power, rest = mpmath.exp(number(epsilon)), 1 - number(delta)
        truth = max(0, rest - power * number(alpha), (rest - number(alpha)) / power)
        assert holds(loss.tradeoff(alpha=alpha), truth, Fraction(1, 10**5))


@settings(max_examples=40, deadline=None)
@given(ALPHAS, st.fractions("1/10", 3, max_denominator=50))
def test_the_tradeoff_of_laplace_noise_is_that_of_thresholds(alpha, scale):
    # Dong, Roth, Su 2022, Lemma A.6: 1 - e^m a, then e^-m/(4 a), then e^-m (1 - a), for m = 1/scale.
    with mpmath.workdps(40):
        a, shift = number(alpha), 1 / number(scale)
        if a < mpmath.exp(-shift) / 2:
            truth = 1 - mpmath.exp(shift) * a
        elif a <= mpmath.mpf(1) / 2:
            truth = mpmath.exp(-shift) / (4 * a)
        else:
            truth = mpmath.exp(-shift) * (1 - a)
        assert holds(laplace(scale=scale).tradeoff(alpha=alpha), truth, Fraction(1, 10**5))


def test_the_tradeoff_of_two_different_laws_is_the_worse_convex_hull():
    # Two outputs: the hull of (0, 1), (1/4, 1/2), (1, 0) and its mirror image; a profile knows their common hull only.
    loss = explicit_pair(["1/2", "1/2"], ["1/4", "3/4"])
    assert holds(loss.tradeoff(alpha="1/4", of="profile"), mpmath.mpf(1) / 2, Fraction(1, 10**5))
    assert holds(loss.tradeoff(alpha="3/8", of="profile"), mpmath.mpf(3) / 8, Fraction(1, 10**5))
    assert holds(loss.tradeoff(alpha="3/8"), mpmath.mpf(5) / 12, Fraction(1, 10**5))
    assert holds(loss.tradeoff(alpha="3/8", direction="remove"), mpmath.mpf(5) / 12, Fraction(1, 10**5))
    assert holds(loss.tradeoff(alpha="3/8", direction="add"), mpmath.mpf(7) / 16, Fraction(1, 10**5))


def test_the_ends_of_a_tradeoff_are_exact():
    assert Fraction(99, 100) == approx_dp(1, delta="1/100").tradeoff(alpha=0).upper
    assert Fraction(99, 100) == approx_dp(1, delta="1/100").tradeoff(alpha=0).lower
    assert Fraction(0) == gdp(1).tradeoff(alpha=1).upper
    assert Fraction(1) == gdp(1).tradeoff(alpha=0).lower


def test_a_promise_known_from_above_only_has_a_tradeoff_known_from_below_only():
    found = zcdp("1/2").tradeoff(alpha="1/20")
    assert Fraction(19, 20) == found.upper
    with mpmath.workdps(40):
        assert number(found.lower) <= normal(-mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(-9) / 10) - 1), "mu = 1 has rho = 1/2"


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(9)])
@pytest.mark.parametrize(
    ("loss", "densities", "points"),
    [
        (gaussian(sigma=2), lambda x, c: mpmath.npdf(x, c, 2), [-60, 0, 30, 80]),
        (laplace(scale=2), lambda x, c: mpmath.exp(-abs(x - c) / 2) / 4, [-300, 0, 1, 300]),
    ],
    ids=["gaussian", "laplace"],
)
def test_renyi_divergences_are_those_of_the_densities(order, loss, densities, points):
    with mpmath.workdps(40):
        moment = mpmath.quad(lambda x: densities(x, 1) ** number(order) * densities(x, 0) ** (1 - number(order)), points)
        found = (3 * loss).renyi(order=order)
        truth = 3 * mpmath.log(moment) / (number(order) - 1)
        assert abs(number(found.upper) - truth) < mpmath.mpf(10) ** -15
        assert found.width < Fraction(1, 10**30)


def test_renyi_divergences_of_finite_pairs_are_sums():
    found = explicit_pair(["3/4", "1/4"], ["1/4", "3/4"]).renyi(order=2)
    with mpmath.workdps(40):
        assert holds(found, mpmath.log(mpmath.mpf(7) / 3), Fraction(1, 10**30))


@pytest.mark.parametrize("loss", [approx_dp(1, delta="1e-9"), explicit_pair(["1/2", "1/2"], [1, 0])], ids=str)
def test_an_infinite_loss_has_an_infinite_divergence(loss):
    assert math.inf == loss.renyi(order=2).lower


def test_what_is_only_bounded_has_a_divergence_of_at_least_zero():
    assert (0, Fraction(1)) == (zcdp("1/2").renyi(order=2).lower, zcdp("1/2").renyi(order=2).upper)
    assert math.inf == rdp({2: 1}).renyi(order=3).upper
    assert (0, Fraction(2)) == (discrete_gaussian(sigma=1).renyi(order=4).lower, discrete_gaussian(sigma=1).renyi(order=4).upper)


@pytest.mark.parametrize(
    ("loss", "rho"),
    [
        (8 * gaussian(sigma=2), Fraction(1)),
        (2 * discrete_gaussian(sigma=1), Fraction(1)),
        (pure_dp(1), Fraction(1, 2)),
        (bounded_range(epsilon=2), Fraction(1, 2)),
        (compose(zcdp("1/4"), laplace(scale=2)), Fraction(3, 8)),
    ],
    ids=str,
)
def test_rho_adds_up(loss, rho):
    found = loss.zcdp()
    assert rho == found.upper
    assert 0 <= found.lower <= rho


@pytest.mark.parametrize("loss", [pure_dp("1/8"), laplace(scale=4), discrete_laplace(scale=1), bounded_range(epsilon=1)], ids=str)
@pytest.mark.parametrize("order", [Fraction(17, 16), 3, 40])
def test_no_divergence_exceeds_rho_times_its_order(loss, order):
    assert loss.renyi(order=order).lower <= order * loss.zcdp().upper


def test_mu_is_exact_for_gaussian_noise_and_bounded_for_pure_promises():
    assert (3, 3) == ((9 * gaussian(sigma=1)).gdp().lower, (9 * gaussian(sigma=1)).gdp().upper)
    found = pure_dp(1).gdp()
    with mpmath.workdps(40):
        top = mpmath.e / (1 + mpmath.e)
        truth = 2 * mpmath.sqrt(2) * mpmath.erfinv(2 * top - 1)
        assert holds(found, truth, Fraction(1, 10**20))
    loose = laplace(scale=1).gdp()
    assert loose.lower < loose.upper == pytest.approx(float(found.upper))
    for alpha in ("1/100", "1/4", "1/2"):
        assert gdp(found.upper).tradeoff(alpha=alpha).lower <= laplace(scale=1).tradeoff(alpha=alpha).upper


@given(st.integers(1, 6), st.fractions("1/10", 5, max_denominator=20), st.fractions(0, 3, max_denominator=20))
@settings(max_examples=30, deadline=None)
def test_a_group_of_noise_laws_is_the_law_at_that_distance(size, scale, epsilon):
    for group, direct in (
        (gaussian(sigma=scale).group(size), gaussian(sigma=scale, sensitivity=size)),
        (laplace(scale=scale).group(size), laplace(scale=scale, sensitivity=size)),
        (discrete_laplace(scale=scale).group(size), discrete_laplace(scale=scale, sensitivity=size)),
        (discrete_gaussian(sigma=scale).group(size), discrete_gaussian(sigma=scale, sensitivity=size)),
    ):
        one, other = group.delta(epsilon=epsilon), direct.delta(epsilon=epsilon)
        assert (one.lower, one.upper) == (other.lower, other.upper)


def test_groups_of_promises():
    assert Fraction(9, 2) == zcdp("1/2").group(3).zcdp().upper
    assert 6 == gdp(2).group(3).gdp().upper
    for loss in (pure_dp(1), bounded_range(epsilon=1), randomized_response(1, categories=5, adjacency="add_remove")):
        found = loss.group(3).epsilon(delta=0)
        assert loss.epsilon(delta=0).lower <= found.lower <= found.upper == 3
    assert pure_dp(1) == pure_dp(1).group(1)


def test_groups_of_groups_are_groups():
    assert laplace(scale=3).group(6) == laplace(scale=3).group(2).group(3)


@pytest.mark.parametrize("loss", [explicit_pair(["3/4", "1/4"], ["1/4", "3/4"]), rdp({2: 1}), approx_dp(1, delta="1e-6")], ids=str)
def test_a_law_without_a_larger_distance_is_refused(loss):
    with pytest.raises(Unsupported, match="DPA202"):
        loss.group(2)


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda: gdp(1).tradeoff(alpha=2), "DPA103"),
        (lambda: gdp(1).tradeoff(alpha=math.nan), "DPA102"),
        (lambda: gdp(1).renyi(order=1), "DPA103"),
        (lambda: gdp(1).group(0), "DPA103"),
        (lambda: gdp(1).group(1.5), "DPA105"),
        (lambda: approx_dp(1, delta="1e-6").zcdp(), "DPA202"),
        (lambda: zcdp(1).gdp(), "DPA202"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, code):
    with pytest.raises((InvalidArgument, Unsupported), match=code):
        ask()


BOUNDED_FROM_ABOVE = [
    gaussian(sigma=1).sampled(RandomAllocation(steps=10)),
    gaussian(sigma=1).sampled(Poisson("1/10")),
    permute_and_flip(1).sampled(Poisson("1/10")),
    rdp({2: 1}),
]


@pytest.mark.parametrize("loss", BOUNDED_FROM_ABOVE, ids=str)
def test_an_infinite_bound_is_no_infinite_loss(loss):
    # The law above may count rare outputs as revealing; that says nothing about what the worst neighbours lose.
    assert loss.renyi(order=2).lower < math.inf
    assert 1 == loss.tradeoff(alpha=0).upper
    assert loss.tradeoff(alpha=0).lower <= 1


@pytest.mark.parametrize("order", [2, 3, 9])
@pytest.mark.parametrize(("sigma", "rate"), [("2", "1/10"), ("1/2", "1/1000")])
def test_divergences_of_a_sampled_gaussian_are_binomial_sums(order, sigma, rate):
    found = gaussian(sigma=sigma).sampled(Poisson(rate)).renyi(order=order)
    q, spread = Fraction(rate), Fraction(sigma)
    with mpmath.workdps(60):
        terms = (
            math.comb(order, j)
            * number(q) ** j
            * number(1 - q) ** (order - j)
            * mpmath.exp(j * (j - 1) / (2 * number(spread) ** 2))
            for j in range(order + 1)
        )
        truth = mpmath.log(mpmath.fsum(terms)) / (order - 1)
        assert holds(found, truth, Fraction(1, 10**30))


@pytest.mark.parametrize("order", [Fraction(5, 4), Fraction(5, 2), Fraction(43, 4)])
def test_divergences_of_other_orders_lie_between_those_of_whole_ones(order):
    found = gaussian(sigma=2).sampled(Poisson("1/10")).renyi(order=order)
    with mpmath.workdps(40):

        def density(x, centre):
            """The normal density with deviation 2."""
            return mpmath.npdf(x, centre, 2)

        def one(x):
            """The integrand of a removal."""
            mixture = mpmath.mpf(9) / 10 * density(x, 0) + density(x, 1) / 10
            return (mixture / density(x, 0)) ** number(order) * density(x, 0)

        truth = mpmath.log(mpmath.quad(one, [-40, -5, 0, 5, 10, 20, 60])) / (number(order) - 1)
        assert found.lower <= truth <= found.upper
        assert found.upper < gaussian(sigma=2).sampled(Poisson("1/10")).renyi(order=math.ceil(order)).upper * 2


@given(st.fractions("1/10", 4, max_denominator=10), st.fractions("1/50", "49/50", max_denominator=50), st.integers(2, 12))
@settings(max_examples=40, deadline=None)
def test_an_addition_diverges_no_more_than_a_removal_where_the_law_is_symmetric(epsilon, rate, order):
    with mpmath.workdps(40):
        likely, rare = mpmath.exp(number(epsilon)), mpmath.mpf(1)
        p, q = (likely / (likely + 1), rare / (likely + 1)), (rare / (likely + 1), likely / (likely + 1))
        mixed = [number(1 - rate) * b + number(rate) * a for a, b in zip(p, q, strict=True)]
        removal = sum(m * (m / b) ** (order - 1) for m, b in zip(mixed, q, strict=True))
        addition = sum(b * (b / m) ** (order - 1) for m, b in zip(mixed, q, strict=True))
        assert addition <= removal * (1 + mpmath.mpf(10) ** -30)
        found = pure_dp(epsilon).sampled(Poisson(rate)).renyi(order=order)
        assert holds(found, mpmath.log(removal) / (order - 1), Fraction(1, 10**25))


@pytest.mark.parametrize(
    ("loss", "rho"),
    [
        (7 * gaussian(sigma=2).sampled(Poisson("1/100")), Fraction(7, 8)),
        (gaussian(sigma=2, adjacency="replace_one").sampled(WithoutReplacement(size=1, of=100)), Fraction(1, 8)),
        (3 * gaussian(sigma=1).sampled(RandomAllocation(steps=4)), Fraction(3, 2)),
    ],
    ids=str,
)
def test_sampling_does_not_lower_the_rho_of_a_gaussian(loss, rho):
    assert (rho, rho) == (loss.zcdp().lower, loss.zcdp().upper)


def test_sampling_lowers_the_rho_of_a_pure_promise():
    found = pure_dp(1).sampled(Poisson("1/10")).zcdp()
    assert 0 < found.lower < found.upper < Fraction(126, 10_000)
