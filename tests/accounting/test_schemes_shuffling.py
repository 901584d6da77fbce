"""Shuffling against direct sums, real shuffles of few reports, and floating-point binomial tails for many."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats

from dpaudit.accounting import Shuffle, approx_dp, gaussian, laplace, pure_dp, randomized_response
from dpaudit.accounting.laws.seen import Seen
from dpaudit.accounting.laws.shuffling import Alike, Shuffled
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, ball_endpoints, working_precision


def number(value):
    """An mpmath number from a rational."""
    return mpf(value.numerator) / value.denominator


def pair_of(epsilon, reports):
    """P and Q masses of all outcomes of the pair, by definition."""
    growth = mp.exp(number(epsilon))
    likely, hidden, found = growth / (1 + growth), 1 / growth, []
    for count in range(reports):
        chance = comb(reports - 1, count) * hidden**count * (1 - hidden) ** (reports - 1 - count) / mpf(2) ** count
        for place in range(count + 2):
            moved, kept = (comb(count, place - 1) if place else 0), comb(count, place)
            found.append((chance * (likely * moved + (1 - likely) * kept), chance * ((1 - likely) * moved + likely * kept)))
    return found


def divergence(pairs, epsilon):
    """Sum of the positive parts of P - e^epsilon Q."""
    growth = mp.exp(number(epsilon))
    return sum(max(mpf(0), p - growth * q) for p, q in pairs)


@given(st.fractions("1/4", 4, max_denominator=8), st.integers(1, 14), st.fractions(-2, 4, max_denominator=16))
@settings(max_examples=60, deadline=None)
def test_the_profile_is_the_sum_over_all_outcomes(epsilon, reports, at):
    with mp.workdps(60), working_precision(192):
        low, high = ball_endpoints(Shuffled(epsilon, reports).profile(ball(at)))
        expected = divergence(pair_of(epsilon, reports), at)
        assert number(low) - mpf(10) ** -50 <= expected <= number(high) + mpf(10) ** -50
        assert high - low < Fraction(1, 10**18)


@pytest.mark.parametrize(("epsilon", "reports", "at"), [(1, 6, "1/2"), (2, 9, "1/2"), (1, 3, 0)])
def test_two_shuffles_are_bounded_and_not_by_much_more_than_they_lose(epsilon, reports, at):
    loss = pure_dp(epsilon, adjacency="replace_one").sampled(Shuffle(reports=reports))
    with mp.workdps(40):
        once = pair_of(Fraction(epsilon), reports)
        twice = [(p * a, q * b) for (p, q), (a, b) in product(once, once)]
        expected = divergence(twice, Fraction(at))
        found = (2 * loss).delta(epsilon=at)
        assert expected * (1 - mpf(10) ** -12) <= number(found.upper) <= expected * mpf("1.002")
        assert 0 < found.lower <= found.upper


@pytest.mark.parametrize("others", [(0, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("odds", [2, 5])
def test_no_real_shuffle_of_three_answers_exceeds_the_bound(odds, others):
    likely = Fraction(odds, odds + 1)

    def ones(answers):
        """Probability of each number of ones among randomised answers."""
        found = [Fraction(0)] * 4
        for outcome in product((0, 1), repeat=3):
            chance = Fraction(1)
            for answer, output in zip(answers, outcome, strict=True):
                chance *= likely if answer == output else 1 - likely
            found[sum(outcome)] += chance
        return found

    with working_precision(192):
        epsilon = ball_endpoints(ball(odds).log())[1]
        law = Shuffled(Fraction(epsilon), 3, binary=True)
        for growth in (Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(3)):
            bound = ball_endpoints(law.profile(ball(growth).log()))[1]
            for first, second in ((0, 1), (1, 0)):
                pairs = zip(ones((first, *others)), ones((second, *others)), strict=True)
                assert sum(max(Fraction(0), p - growth * q) for p, q in pairs) <= bound


@pytest.mark.parametrize(("epsilon", "reports", "at"), [(4, 100_000, 0.05), (1, 10_000, 0.02)])
def test_many_reports_agree_with_floating_point_tails(epsilon, reports, at):
    likely, growth = 1 / (1 + np.exp(-epsilon)), np.exp(at)
    middle, spread = reports * np.exp(-epsilon), np.sqrt(reports * np.exp(-epsilon))
    counts = np.arange(max(0, int(middle - 12 * spread)), int(middle + 12 * spread))
    share = (growth * likely - (1 - likely)) / ((2 * likely - 1) * (1 + growth))
    most = np.floor(share * (counts + 1))
    gains = (likely - growth * (1 - likely)) * stats.binom.pmf(most, counts, 0.5) - (growth - 1) * stats.binom.sf(most, counts, 0.5)
    expected = float(stats.binom.pmf(counts, reports - 1, np.exp(-epsilon)) @ gains)
    with working_precision(128):
        found = float(Shuffled(Fraction(epsilon), reports).profile(ball(Fraction(at))))
    assert expected == pytest.approx(found, rel=1e-6)


def test_a_million_reports_hide_each_other():
    law = Shuffled(Fraction(1), 10**6)
    with working_precision(128):
        assert float(law.profile(ball(Fraction(1, 250)))) == pytest.approx(2.06353e-6, rel=1e-5)
        assert law.profile(ball(Fraction(1, 20))) < 1e-200


def test_one_report_alone_is_not_hidden():
    loss = pure_dp(1, adjacency="replace_one")
    assert loss.delta(epsilon="1/2").lower <= loss.sampled(Shuffle(reports=1)).delta(epsilon="1/2").upper
    assert loss.sampled(Shuffle(reports=1)).delta(epsilon="1/2").upper <= loss.delta(epsilon="1/2").upper * (
        1 + Fraction(1, 10**12)
    )


def test_laplace_reports_are_shuffled_at_their_greatest_loss():
    noisy = laplace(scale=2, adjacency="replace_one").sampled(Shuffle(reports=100))
    pure = pure_dp("1/2", adjacency="replace_one").sampled(Shuffle(reports=100))
    assert pure.delta(epsilon="1/10").upper == noisy.delta(epsilon="1/10").upper


@pytest.mark.parametrize(
    "loss", [gaussian(sigma=1, adjacency="replace_one"), approx_dp(1, delta="1e-6", adjacency="replace_one"), pure_dp(1)]
)
def test_reports_that_no_theorem_covers_are_refused(loss):
    with pytest.raises(Unsupported, match="DPA202"):
        loss.sampled(Shuffle(reports=10))


@pytest.mark.parametrize(("reports", "code"), [(0, "DPA103"), ("10", "DPA105")])
def test_the_number_of_reports_is_checked(reports, code):
    with pytest.raises(InvalidArgument, match=code):
        Shuffle(reports=reports)


def ones_of(likely, reports):
    """Probability of each number of ones when one report is about a one (P) or a zero (Q), and all others are about zeros."""
    rest = [comb(reports - 1, k) * (1 - likely) ** k * likely ** (reports - 1 - k) for k in range(reports)]
    return [
        [chance * moved + (1 - chance) * kept for moved, kept in zip([Fraction(0), *rest], [*rest, Fraction(0)], strict=True)]
        for chance in (likely, 1 - likely)
    ]


@pytest.mark.parametrize(("odds", "reports"), [(2, 1), (2, 5), (5, 12), (Fraction(11, 10), 30)])
def test_from_below_stand_reports_that_are_all_alike(odds, reports):
    likely = Fraction(odds) / (Fraction(odds) + 1)
    p, q = ones_of(likely, reports)
    with working_precision(192):
        epsilon = Fraction(ball_endpoints(ball(Fraction(odds)).log())[0])
        law = Seen(Alike(epsilon, reports))
        for growth in (Fraction(1), Fraction(21, 20), Fraction(3, 2)):
            for direction, first, second in ((law, p, q), (law.reversed(), q, p)):
                expected = sum(max(Fraction(0), a - growth * b) for a, b in zip(first, second, strict=True))
                low, high = ball_endpoints(direction.profile(ball(growth).log()))
                assert low - Fraction(1, 10**30) <= expected <= high + Fraction(1, 10**30)


def test_groups_of_many_numbers_are_below_single_ones():
    with working_precision(128):
        law = Seen(Alike(Fraction(1), 50_000))
        points = law.points(1200)
        assert abs(sum(p for _, p, _ in points.finite) - 1) < 1e-30
        assert abs(sum(q for _, _, q in points.finite) - 1) < 1e-30
    likely, growth = 1 / (1 + np.exp(-1)), np.exp(0.01)
    ones = np.arange(50_001)
    rest = stats.binom.pmf(ones, 49_999, 1 - likely)
    moved = stats.binom.pmf(ones - 1, 49_999, 1 - likely)
    expected = np.maximum(likely * moved + (1 - likely) * rest - growth * ((1 - likely) * moved + likely * rest), 0).sum()
    with working_precision(128):
        found = float(law.profile(ball(Fraction(0.01))))
    assert 0.999 * expected <= found <= expected * (1 + 1e-6)


@pytest.mark.parametrize(
    "loss", [pure_dp(1, adjacency="replace_one"), randomized_response(1), laplace(scale=1, adjacency="replace_one")]
)
def test_a_shuffle_is_known_from_both_sides(loss):
    found = loss.sampled(Shuffle(reports=200)).epsilon(delta="1e-4")
    assert Fraction(1, 8) < found.lower < found.upper < Fraction(1, 2)
    assert randomized_response(1).sampled(Shuffle(reports=200)).epsilon(delta="1e-4").upper <= found.upper * (
        1 + Fraction(1, 10**6)
    )


def test_reports_that_say_nothing_stay_so():
    nothing = pure_dp(0, adjacency="replace_one")
    assert nothing == nothing.sampled(Shuffle(reports=10))
