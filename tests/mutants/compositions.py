"""Checks of composition and conversion: pairs against all outcomes in fractions, ends on their side, best tests for trade-offs."""

from __future__ import annotations

import math
from fractions import Fraction

from mpmath import mp, mpf

from dpaudit.accounting import (
    approx_dp,
    bounded_range,
    compose,
    explicit_pair,
    gaussian,
    laplace,
    pure_dp,
    randomized_response,
    zcdp,
)
from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.closed_forms import Profile
from dpaudit.accounting.engines.moments import moment_bound
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.accounting.model.search import crossing
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.exact import Enclosure

PAIRS = {
    "even": (("3/4", "1/4"), ("1/4", "3/4")),
    "skew": (("1/2", "1/3", "1/6"), ("1/6", "1/2", "1/3")),
    "revealing": (("1/8", "5/8", "1/4"), ("0", "1/4", "3/4")),
    "missing": (("1", "0"), ("1/2", "1/2")),
}
COMPOSITIONS = (
    {"even": 5},
    {"skew": 3},
    {"even": 2, "skew": 2},
    {"revealing": 3},
    {"missing": 2, "even": 1},
    {"revealing": 1, "skew": 2, "missing": 1},
)
EPSILONS = (Fraction(0), Fraction(1, 3), Fraction(6, 5))


def built(parts):
    """The loss of a composition of pairs."""
    return compose(*(count * explicit_pair(*PAIRS[name]) for name, count in parts.items()))


def outcomes(exact, parts, turn):
    """Its outcomes in one direction."""
    return exact.products([exact.sides(PAIRS[name], turn) for name, count in parts.items() for _ in range(count)])


def compositions_are_sums_over_all_outcomes(exact):
    for parts in COMPOSITIONS:
        for epsilon in EPSILONS:
            found = built(parts).delta(epsilon=epsilon)
            ends = [exact.delta(outcomes(exact, parts, turn), epsilon) for turn in (1, -1)]
            assert found.lower <= max(end[1] for end in ends)
            assert found.upper >= max(end[0] for end in ends)
            assert found.width < Fraction(1, 10**12)


def many_equal_answers_add_up_to_a_binomial_law(exact):
    """A hundred answers, more than rational masses are kept for: the sum over how many of them are as likely as not."""
    count = 100
    loss = count * randomized_response("1/10", adjacency="add_remove")
    with mp.workdps(40):
        likely = 1 / (1 + mp.exp(mpf(-1) / 10))
        for epsilon in (0, 1, 3):
            ways = ((mp.binomial(count, ups), ups) for ups in range(count + 1))
            both = [(w * likely**u * (1 - likely) ** (count - u), w * likely ** (count - u) * (1 - likely) ** u) for w, u in ways]
            exact.encloses(loss.delta(epsilon=epsilon), exact.gain(both, mp.exp(epsilon)), width="1e-12")


def finite_losses_add_up_beside_a_gaussian(exact, oracle):
    found = compose(2 * gaussian(1), 3 * approx_dp("1/2", delta="1/50")).delta(epsilon=1)
    with mp.workdps(30):
        expected = oracle.responses(1, step="1/2", categories=2, count=3, delta="1/50", mu_squared=2)
        exact.encloses(found, expected, width="1e-12")


def values_beyond_a_bounded_loss_are_added_up(exact):
    """A range of 1/2 beside eight binary losses of 1/4: the mean of its profile over their values."""
    found = compose(bounded_range("1/2"), 8 * pure_dp("1/4")).delta(epsilon="1/3")
    with mp.workdps(30):
        width, high = mpf(1) / 2, mp.exp(mpf(1) / 4) / (1 + mp.exp(mpf(1) / 4))

        def profile(at):
            inside = (mp.exp(width / 2) - mp.exp(at / 2)) ** 2 / mp.expm1(width)
            return 1 - mp.exp(at) if at <= -width else inside if at < width else mpf(0)

        expected = sum(
            mp.binomial(8, up) * high**up * (1 - high) ** (8 - up) * profile(mpf(1) / 3 - mpf(2 * up - 8) / 4) for up in range(9)
        )
        exact.encloses(found, expected, width="1e-12")


def several_laplace_releases_are_a_convolution(exact, oracle):
    """The profile of one release averaged over the loss of the other: two points, and a density between them."""
    for first, second, epsilon in ((1, 1, "1/2"), (2, "1/3", "1/4"), (2, "1/3", "39/10")):
        one, other, at = 1 / exact.number(first), 1 / exact.number(second), exact.number(epsilon)
        found = compose(laplace(first), laplace(second)).delta(epsilon=epsilon)
        with mp.workdps(25):

            def beyond(loss, at=at, one=one):
                """Delta of the first release, of any sign of its epsilon."""
                left = at - loss
                return max(mpf(0), 1 - mp.exp((left - one) / 2)) if left >= -one else 1 - mp.exp(left)

            kinks = sorted({-other, other, *(place for place in (at - one, at + one) if -other < place < other)})
            expected = mp.quad(lambda loss, other=other: beyond(loss) * mp.exp((loss - other) / 2) / 4, kinks)
            expected += beyond(other) / 2 + mp.exp(-other) / 2 * beyond(-other)
            exact.encloses(found, expected, room="1e-18", width="1e-12")
    found = (6 * laplace(3)).delta(epsilon="19/10")  # next to the greatest loss: all six at their ends, or one of them just before
    with mp.workdps(25):
        gap = (2 - exact.number("19/10")) / 2
        tail = sum(mp.binomial(6, j) * (mp.exp(-gap) * _odd_tail(gap, j)) for j in range(7)) / 32
        exact.encloses(found, tail, room="1e-18", width="1e-12")


def _odd_tail(gap, j):
    """Sum of gap^n/n! over n = j + 1, j + 3, ..."""
    return mp.nsum(lambda i: gap ** (j + 1 + 2 * i) / mp.factorial(j + 1 + 2 * i), [0, mp.inf])


def epsilons_invert_the_profile(exact):
    for parts in COMPOSITIONS[:4]:
        for delta in (Fraction(1, 100), Fraction(1, 3)):
            found = built(parts).epsilon(delta=delta)
            if max(exact.delta(outcomes(exact, parts, turn), Fraction(100))[0] for turn in (1, -1)) > delta:
                assert found.lower == math.inf
                continue
            at = [max(exact.delta(outcomes(exact, parts, turn), end)[0] for turn in (1, -1)) for end in (found.upper, found.lower)]
            assert at[0] <= delta <= at[1] * (1 + Fraction(1, 10**8))
            assert found.width <= found.upper / 10**8
    for copies in (1, 3):
        loss, revealed = copies * approx_dp(1, delta="1/100"), 1 - Fraction(99, 100) ** copies
        assert copies == loss.epsilon(delta=revealed).upper == loss.epsilon(delta=revealed).lower
        assert loss.epsilon(delta=revealed - Fraction(1, 10**9)).lower == math.inf
    assert laplace(1).epsilon(delta="1/2").upper == 0 < laplace(1).epsilon(delta=0).lower  # its total variation is below 1/2


def ends_of_epsilon_come_from_the_matching_ends_of_delta(exact):
    """Between two normal laws: the upper end belongs to the larger one, the lower end to the smaller one."""
    apart = one_release(Between("between", Gaussian(Fraction(2), "above"), Gaussian(Fraction(1), "below"), "stated"), "add_remove")
    with mp.workdps(30):
        for delta in (Fraction(1, 10), Fraction(1, 10**6)):
            found = apart.epsilon(delta=delta)
            for mu, end in ((2, found.upper), (1, found.lower)):
                epsilon = exact.number(end)
                profile = mp.ncdf(mpf(mu) / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mpf(mu) / 2 - epsilon / mu)
                assert abs(profile - exact.number(delta)) < exact.number(delta) * mpf("1e-6")
        assert apart.delta(epsilon=1).lower < apart.delta(epsilon=1).upper / 2
    wide = Profile(lambda place, _: Enclosure(1 / (1 + place) ** 2, 1 / (1 + place)), Enclosure.point(0), None)
    found = wide.answer(EpsilonAt(Fraction(1, 4)))
    assert 1 - Fraction(1, 10**6) < found.lower < 1
    assert 3 < found.upper < 3 + Fraction(1, 10**6)


def a_search_keeps_both_sides_of_a_jump():
    def falls(place):
        return Fraction(1, 2) if place < 3 else Fraction(1, 4)

    for target, jump in ((Fraction(1, 2), 0), (Fraction(3, 8), 3), (Fraction(1, 4), 3)):
        low, high = crossing(falls, target, math.inf)
        assert low <= jump <= high <= jump + Fraction(1, 10**6)
    assert crossing(falls, Fraction(1, 8), math.inf)[1] == math.inf


def moment_bounds_are_those_of_the_best_order(exact):
    """The factor is the largest (1 - e^(e - x)) e^(-order x), looked for numerically; infinite losses are added."""
    with mp.workdps(25):
        for rho, epsilon, count, revealing in ((mpf(1) / 2, 4, 1, 0), (mpf(1) / 50, 3, 20, 0), (mpf(1) / 8, 2, 2, mpf(1) / 1000)):

            def logarithm(order, rho=rho, epsilon=epsilon, count=count):
                best = mp.findroot(lambda x: mp.exp(epsilon - x) * (1 + order) - order, epsilon + 1 / order)
                return count * order * (1 + order) * rho + mp.log1p(-mp.exp(epsilon - best)) - order * best

            order = mp.findroot(lambda order: mp.diff(logarithm, order), mpf(epsilon) / (2 * count * rho))
            parts = [count * zcdp(exact.rational(rho))] + ([count * approx_dp(0, delta="1/1000")] if revealing else [])
            expected = mp.exp(logarithm(order)) * (1 - revealing) ** count + 1 - (1 - revealing) ** count
            found = exact.number(moment_bound(compose(*parts).composition, Fraction(epsilon)).upper)
            assert expected * (1 - mpf(10) ** -12) <= found <= expected * (1 + mpf(10) ** -4)


def losses_just_beyond_epsilon_count(exact):
    """Nearer than floats can tell: what is gained there is small, and more than nothing."""
    for gap in (Fraction(1, 10**14), Fraction(1, 10**20)):
        found = approx_dp(1, delta="1/1000").delta(epsilon=1 - gap)
        with mp.workdps(60):
            gain = mpf(999) / 1000 / (1 + mp.exp(-1)) * -mp.expm1(-exact.number(gap))
            assert exact.number(found.lower) - mpf(1) / 1000 >= gain * mpf("0.99")
            assert exact.number(found.upper) - mpf(1) / 1000 <= gain * mpf("1.01")


def trade_offs_are_those_of_the_best_tests(exact):
    """The likeliest outputs are rejected first; the tests of both null hypotheses, and the lines between their corners."""
    for parts in ({"even": 2}, {"skew": 1}, {"revealing": 1}, {"missing": 1}, {"revealing": 1, "skew": 1}):
        loss = built(parts)
        for alpha in (Fraction(0), Fraction(1, 50), Fraction(1, 5), Fraction(3, 5), Fraction(1)):
            expected = min(best_error(outcomes(exact, parts, turn), alpha) for turn in (1, -1))
            assert loss.tradeoff(alpha=alpha).contains(expected)
            found = loss.tradeoff(alpha=alpha, of="profile")
            assert found.lower <= expected
            assert found.upper >= convex_hull(exact, parts, alpha)
            assert found.width <= Fraction(1, 10**5)


def best_error(both, alpha):
    """Least Q mass that is not rejected when at most `alpha` of P is."""
    left, missed = alpha, Fraction(1)
    for p, q in sorted(both, key=lambda pair: pair[1] / pair[0] if pair[0] else math.inf, reverse=True):
        share = min(Fraction(1), left / p) if p else Fraction(1)
        left, missed = left - share * p, missed - share * q
    return missed


def convex_hull(exact, parts, alpha):
    """The greatest convex function below the errors of both null hypotheses."""
    corners = set()
    for turn in (1, -1):
        both = outcomes(exact, parts, turn)
        error, power = Fraction(0), Fraction(1)
        corners |= {(error, power)}
        for p, q in sorted(both, key=lambda pair: pair[1] / pair[0] if pair[0] else math.inf, reverse=True):
            error, power = error + p, power - q
            corners |= {(error, power)}
    ends = [power for error, power in corners if error == alpha]
    for left, high in corners:
        for right, low in corners:
            if left < alpha < right:
                ends.append(high + (low - high) * (alpha - left) / (right - left))
    return min(ends)


def promises_on_moments_bound_trade_offs_on_their_side(exact):
    """The normal law at mu = 1 is 1/2-concentrated, so no bound from below lies above its curve."""
    with mp.workdps(30):
        for alpha in (Fraction(1, 20), Fraction(1, 2)):
            error = mp.ncdf(mp.sqrt(2) * mp.erfinv(1 - 2 * exact.number(alpha)) - 1)
            found = zcdp("1/2").tradeoff(alpha=alpha)
            assert exact.number(found.lower) <= error <= exact.number(found.upper)
            exact.encloses(gaussian(1).tradeoff(alpha=alpha), error, width="1e-8")


def divergences_add_up_and_the_worse_direction_counts(exact):
    for parts in COMPOSITIONS[:3]:
        for order in (2, 3):
            sums = [sum(p**order / q ** (order - 1) for p, q in outcomes(exact, parts, turn)) for turn in (1, -1)]
            with mp.workdps(30):
                exact.encloses(built(parts).renyi(order=order), mp.log(exact.number(max(sums))) / (order - 1), width="1e-12")
    assert built({"missing": 1}).renyi(order=2).upper == math.inf
    assert 3 == zcdp("1/2").renyi(order=6).upper
    assert zcdp("1/2").renyi(order=6).lower == 0
    apart = one_release(Between("between", Gaussian(Fraction(2), "above"), Gaussian(Fraction(1), "below"), "stated"), "add_remove")
    assert (1, 4) == (apart.renyi(order=2).lower, apart.renyi(order=2).upper)


def concentration_is_between_what_pairs_show_and_what_is_proved(exact):
    with mp.workdps(30):
        likely = 1 / (1 + mp.exp(-1))
        shown = max(
            mp.log(likely**a * (1 - likely) ** (1 - a) + (1 - likely) ** a * likely ** (1 - a)) / (a * (a - 1))
            for a in [1 + mpf(2) ** (power / 4) for power in range(-40, 40)]
        )
        found = pure_dp(1).zcdp()
        assert exact.number(found.lower) <= shown * (1 + mpf(10) ** -3)
        assert shown <= exact.number(found.upper)
    assert Fraction(1, 2) == pure_dp(1).zcdp().upper
    assert Fraction(1, 8) == gaussian(2).zcdp().upper == gaussian(2).zcdp().lower
    assert Fraction(1, 8) == bounded_range(1).zcdp().upper
    assert Fraction(3, 4) == (3 * zcdp("1/4")).zcdp().upper


def gaussian_parameters_meet_the_kink_and_the_total_variation(exact):
    with mp.workdps(30):
        for epsilon in (1, 3):
            found = pure_dp(epsilon).gdp()
            kink = 1 / (1 + mp.exp(epsilon))
            quantile = mp.sqrt(2) * mp.erfinv(1 - 2 * kink)
            error = mp.ncdf(quantile - exact.number(found.upper))
            assert kink * (1 - mpf(10) ** -6) <= error <= kink * (1 + mpf(10) ** -15)
        apart = one_release(
            Between("between", Gaussian(Fraction(2), "above"), Gaussian(Fraction(1), "below"), "stated"), "add_remove"
        )
        assert apart.gdp().lower <= 1 + Fraction(1, 10**9)
        assert 2 <= apart.gdp().upper <= 2 + Fraction(1, 10**9)
        exact.encloses((9 * laplace(2)).zcdp(), mpf(9) / 8)


def a_class_that_is_known_from_above_promises_nothing_from_below():
    for loss in (zcdp("1/2"), compose(zcdp("1/2"), pure_dp(0))):
        for epsilon in (0, 1):
            assert certified_bounds(loss.composition, DeltaAt(Fraction(epsilon))).lower == 0
    between = one_release(
        Between("between", Gaussian(Fraction(2), "above"), Gaussian(Fraction(1), "below"), "stated"), "add_remove"
    )
    found, below = certified_bounds((3 * between).composition, DeltaAt(Fraction(1))), (3 * gaussian(1)).delta(epsilon=1)
    assert found.lower <= below.upper
    assert found.upper >= (3 * gaussian("1/2")).delta(epsilon=1).lower


def one_release_of_a_class_loses_what_its_worst_member_does(exact, oracle):
    with mp.workdps(25):
        for epsilon in ("1/2", "3/2"):
            found = certified_bounds(bounded_range(2).composition, DeltaAt(Fraction(epsilon)))
            exact.encloses(found, oracle.bounded_range(exact.number(epsilon), width=2), room="1e-15", width="1e-12")


CHECKS = [
    compositions_are_sums_over_all_outcomes,
    many_equal_answers_add_up_to_a_binomial_law,
    finite_losses_add_up_beside_a_gaussian,
    values_beyond_a_bounded_loss_are_added_up,
    several_laplace_releases_are_a_convolution,
    epsilons_invert_the_profile,
    ends_of_epsilon_come_from_the_matching_ends_of_delta,
    a_search_keeps_both_sides_of_a_jump,
    moment_bounds_are_those_of_the_best_order,
    losses_just_beyond_epsilon_count,
    trade_offs_are_those_of_the_best_tests,
    promises_on_moments_bound_trade_offs_on_their_side,
    divergences_add_up_and_the_worse_direction_counts,
    concentration_is_between_what_pairs_show_and_what_is_proved,
    gaussian_parameters_meet_the_kink_and_the_total_variation,
    a_class_that_is_known_from_above_promises_nothing_from_below,
    one_release_of_a_class_loses_what_its_worst_member_does,
]
