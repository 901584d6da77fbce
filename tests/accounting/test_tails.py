"""Sums and tails that the exact laws rest on, each against a second way to compute it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpaudit.accounting import approx_dp, pure_dp
from dpaudit.accounting.engines.grid import is_zero
from dpaudit.accounting.laws.gaussian import _euler_maclaurin, _term_by_term, normal_sum, twice_upper_tail
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.coordinates import Coordinates, common_unit
from dpaudit.accounting.model.law import LossValue, sum_of_losses
from dpaudit.accounting.model.search import crossing
from dpaudit.accounting.privacy_loss import PrivacyLoss
from dpaudit.exact import ball_endpoints, working_precision

VARIANCES = st.fractions(min_value=Fraction(1, 2), max_value=3000, max_denominator=20)
RATIOS = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)


@settings(max_examples=200)
@given(VARIANCES, st.integers(1, 60), st.sampled_from([64, 128, 256]))
def test_the_two_ways_to_sum_a_discrete_gaussian_agree(variance, start, bits):
    """For small variances the Euler-Maclaurin remainder is visible, so this tests its bound."""
    with working_precision(bits):
        exact, formula = _term_by_term(start, variance, bits), _euler_maclaurin(start, variance, bits)
        assert exact.overlaps(formula)
        assert exact.rel_accuracy_bits() >= bits - 20


@pytest.mark.parametrize("variance", [Fraction(1, 10**6), Fraction(1, 3), Fraction(2304), Fraction(10**9), Fraction(10**30)])
@pytest.mark.parametrize("deviations", [0, 3, 30])
def test_sums_of_discrete_gaussians_are_narrow(variance, deviations):
    start = 1 + int(deviations * Fraction(variance) ** Fraction(1, 2))
    with working_precision(128):
        found = normal_sum(start, variance)
        assert found.rel_accuracy_bits() >= 90
        assert found > 0


@pytest.mark.parametrize("place", ["0", "1", "-3", "37", "999", "1001", "30000", "1e9"])
def test_normal_tails_agree_with_mpmath(place):
    with mp.workdps(60):
        reference = mp.nstr(mp.log(mp.erfc(mpf(place))), 30)
    with working_precision(256):
        found = twice_upper_tail(arb(place)).log()
        assert found.overlaps(arb(reference) * (1 + arb(0, 1e-25)))
        assert found.rel_accuracy_bits() > 60 or place == "0"


@pytest.mark.parametrize(("count", "delta"), [(20_000, "1e-4"), (10**9, "1e-9"), (10**9, "1e-20"), (1000, "1e-3")])
def test_the_chance_of_an_infinite_loss_adds_up(count, delta):
    with mp.workdps(60):
        truth = Fraction(mp.nstr(-mp.expm1(count * mp.log1p(-mpf(delta))), 40))
    found = (count * approx_dp(0, delta=delta)).delta(epsilon=0)
    assert abs(found.lower - truth) <= truth / 10**20
    assert abs(found.upper - truth) <= truth / 10**20
    assert found.upper <= (count * approx_dp("1e-12", delta=delta)).delta(epsilon=0).upper


@pytest.mark.parametrize(("count", "delta"), [(20_000, "1e-4"), (500, "1e-3")])
def test_the_chance_of_an_infinite_loss_is_what_is_left_next_to_the_greatest_finite_one(count, delta):
    with mp.workdps(60):
        truth = Fraction(mp.nstr(-mp.expm1(count * mp.log1p(-mpf(delta))), 40))
    found = (count * approx_dp(1, delta=delta)).delta(epsilon=count - Fraction(1, 100))
    assert abs(found.lower - truth) <= truth / 10**20
    assert abs(found.upper - truth) <= truth / 10**20


@given(st.lists(st.tuples(RATIOS, st.integers(-9, 9)), max_size=5), st.fractions(max_denominator=30, min_value=-9, max_value=9))
def test_coordinates_keep_the_value_of_a_loss(logs, nats):
    value = sum_of_losses([(LossValue.of_ratio(ratio), times) for ratio, times in logs] + [(LossValue(nats), 1)])
    product = Fraction(1)
    for ratio, times in logs:
        product *= ratio**times
    coordinates = Coordinates.of([value, *(LossValue.of_ratio(ratio) for ratio, _ in logs)])
    with working_precision(128):
        direct = arb(nats.numerator) / nats.denominator + (arb(product.numerator) / product.denominator).log()
        assert direct.overlaps(value.ball())
        assert direct.overlaps(coordinates.balls()(coordinates.place(value)))


@given(st.lists(RATIOS, min_size=1, max_size=6))
def test_equal_losses_have_equal_coordinates(ratios):
    product = Fraction(1)
    for ratio in ratios:
        product *= ratio
    summed, whole = sum_of_losses((LossValue.of_ratio(ratio), 1) for ratio in ratios), LossValue.of_ratio(product)
    coordinates = Coordinates.of([summed, whole])
    assert coordinates.place(summed) == coordinates.place(whole)


@given(st.lists(st.fractions(max_denominator=100), min_size=1, max_size=6))
def test_a_common_unit_measures_every_value_in_whole_numbers(values):
    unit = common_unit(values)
    if not any(values):
        assert 0 == unit
    else:
        assert all(1 == (value / unit).denominator for value in values)
        assert all(any((value / (unit * prime)).denominator > 1 for value in values) for prime in (2, 3, 5, 7))


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**12), st.fractions(min_value=Fraction(1, 10**9), max_value=1))
def test_the_search_brackets_where_a_function_falls_to_its_target(scale, target):
    def falling(point):
        return Fraction(1) / (1 + point / scale) ** 2

    low, high = crossing(falling, target, float("inf"))
    assert falling(high) <= target
    assert falling(low) > target or 0 == low
    assert high - low <= high / 10**10


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_the_search_finds_a_jump(edge):
    low, high = crossing(lambda point: Fraction(point < edge), Fraction(1, 2), float("inf"))
    assert low <= edge <= high
    assert high - low <= high / 10**10


def test_a_loss_value_is_a_number_of_nats_or_enclosed():
    assert (Fraction(3), Fraction(3)) == sum_of_losses([(LossValue(Fraction(1)), 3)]).ends()
    low, high = LossValue.of_ratio(Fraction(3)).ends()
    assert low < high
    with working_precision(200):
        exact = ball_endpoints(arb(3).log())
    assert low <= exact[1]
    assert high >= exact[0]
    assert LossValue() == sum_of_losses([(LossValue.of_ratio(Fraction(3)), 1), (LossValue.of_ratio(Fraction(1, 3)), 1)])


def test_a_mass_that_may_be_positive_is_not_zero():
    assert is_zero(arb(0))
    assert is_zero(fmpq(0))
    assert not is_zero(arb(0, 1e-300))
    assert not is_zero(fmpq(1, 10**300))


def test_many_small_responses_agree_with_few_of_their_parts():
    """A thousand copies, composed as one power and as a product of powers of two different laws."""
    whole = (1000 * pure_dp("1/100")).delta(epsilon="1/2")
    parts = (600 * pure_dp("1/100")).parts + (400 * approx_dp("1/100", delta=0)).parts
    unmerged = PrivacyLoss(Composition(parts, pure_dp(1).adjacency))
    assert whole.meets(unmerged.delta(epsilon="1/2"))
