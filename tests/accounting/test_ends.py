"""Each end of an answer comes from the end that it needs: profiles, searches, divergences and conversions between two laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accounting import Filter, IndividualFilter, Odometer, explicit_pair, gaussian, laplace, pure_dp
from dpaudit.accounting.budgets.individual import BUDGET_UNITS
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.model.search import crossing
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.claims import RDP, ZCDP, PureDP

HAIR = Fraction(1, 10**9)


def between(above, below):
    """A loss that lies between two normal laws."""
    return one_release(
        Between("between", Gaussian(Fraction(above), "above"), Gaussian(Fraction(below), "below"), "stated"), "add_remove"
    )


@pytest.mark.parametrize("delta", ["1/10", "1e-6"])
def test_each_end_of_epsilon_is_that_of_its_own_law(delta):
    found, above, below = between(2, 1).epsilon(delta=delta), gaussian("1/2").epsilon(delta=delta), gaussian(1).epsilon(delta=delta)
    assert above.lower * (1 - HAIR) <= found.upper <= above.upper * (1 + HAIR)
    assert below.lower * (1 - HAIR) <= found.lower <= below.upper * (1 + HAIR)


@pytest.mark.parametrize(("target", "jump"), [("1/2", 0), ("3/8", 3), ("1/4", 3)])
def test_a_search_keeps_the_two_sides_of_a_jump(target, jump):
    """Where the function equals the target it does not exceed it, however far that goes on."""
    low, high = crossing(lambda place: Fraction(1, 2) if place < 3 else Fraction(1, 4), Fraction(target), math.inf)
    assert low <= jump <= high <= jump + Fraction(1, 10**6)


def test_a_search_that_finds_no_end_says_so():
    assert crossing(lambda place: Fraction(1, 2), Fraction(1, 4), math.inf)[1] == math.inf


@pytest.mark.parametrize("gap", ["1e-14", "1e-20"])
def test_losses_nearer_to_epsilon_than_floats_can_tell_still_count(gap):
    gain = Fraction(gap) / Fraction(1 + math.exp(-1))
    found = pure_dp(1).delta(epsilon=1 - Fraction(gap))
    assert gain * (1 - Fraction(1, 10**6)) <= found.lower <= found.upper <= gain * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("order", [2, 3])
def test_divergences_are_those_of_the_worse_direction(order):
    p, q = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 5), Fraction(4, 5))
    sums = [sum(a**order / b ** (order - 1) for a, b in zip(one, other, strict=True)) for one, other in ((p, q), (q, p))]
    expected = math.log(max(sums)) / (order - 1)
    for pair in ((p, q), (q, p)):
        found = explicit_pair(*pair).renyi(order=order)
        assert float(found.lower) == pytest.approx(expected, rel=1e-12)
        assert float(found.upper) == pytest.approx(expected, rel=1e-12)
    assert sums[0] != sums[1]


def test_rho_from_below_is_at_most_what_the_worst_pair_needs():
    """Randomised response at epsilon 1 by its own divergences: the largest over an order, of many orders, is the rho it needs."""
    likely = 1 / (1 + math.exp(-1))
    orders = [1 + 2.0 ** (power / 4) for power in range(-40, 32)]
    moments = [(a, likely**a * (1 - likely) ** (1 - a) + (1 - likely) ** a * likely ** (1 - a)) for a in orders]
    needed = max(math.log(moment) / (a * (a - 1)) for a, moment in moments)
    found = pure_dp(1).zcdp()
    assert 0 < found.lower <= Fraction(needed * 1.001)
    assert Fraction(needed) <= found.upper


def test_mu_from_below_is_that_of_the_law_below():
    found = between(2, 1).gdp()
    assert found.lower <= 1 + HAIR
    assert 2 <= found.upper <= 2 + HAIR


@pytest.mark.parametrize("turn", [1, -1])
def test_a_budget_pays_for_the_worse_direction(turn):
    pair = (("1/2", "1/2"), ("1/5", "4/5"))[::turn]
    pure, renyi = Filter(PureDP(epsilon=2)), Filter(RDP({2: 2}))
    pure.spend(explicit_pair(*pair))
    renyi.spend(explicit_pair(*pair))
    assert float(pure.spent["epsilon"]) == pytest.approx(math.log(2.5), rel=1e-12)
    assert [pytest.approx(math.log(1.5625), rel=1e-12)] == [float(spent) for spent in renyi.spent.values()]


@pytest.mark.parametrize("pair", [(("1", "0"), ("1/2", "1/2")), (("1/2", "1/2"), ("1", "0"))])
def test_a_test_without_type_one_error_rejects_what_either_dataset_cannot_give(pair):
    found = explicit_pair(*pair).tradeoff(alpha=0)
    assert (Fraction(1, 2), Fraction(1, 2)) == (found.lower, found.upper)


@pytest.mark.parametrize(
    ("square", "unit"), [(5, Fraction(1, 7)), (2**45 + 1, Fraction(1, 2**47 + 9)), (7 * 2**38 + 1, Fraction(1, 2**42))]
)
def test_what_a_record_pays_is_never_less_than_its_cost(square, unit):
    """Costs that are no whole number of the budget's units, or have more digits than are kept."""
    accounts = IndividualFilter(ZCDP(rho=1), records=1)
    accounts.admit(np.array([square]), unit=unit)
    paid = 1 - Fraction(int(accounts._left[0]), BUDGET_UNITS)
    assert square * unit <= paid <= square * unit * (1 + Fraction(1, 2**18)) + Fraction(1, 2**37)


def test_an_odometer_stops_showing_a_pure_sum_once_a_release_is_not_pure():
    odometer = Odometer(delta="1e-6")
    for _ in range(2):
        odometer.count(laplace(4))
    assert Fraction(1, 2) == odometer.epsilon().upper
    odometer.count(gaussian(100))
    assert odometer.epsilon().upper > Fraction(1, 2)


def test_a_search_that_may_stop_near_its_target_does_not_stop_far_from_the_crossing():
    """Just below the target the function stays where it is: being near the target says nothing there."""
    target = Fraction(1, 4)
    value = lambda place: Fraction(1, 2) if place < 3 else target * (1 - Fraction(1, 10**6))  # noqa: E731
    for near in (None, (Fraction(5), -1.0)):
        low, high = crossing(value, target, math.inf, near, slack=(0.0, 1e-3))
        assert low < 3 <= high <= 3 * (1 + Fraction(1, 1 << 11))


def test_an_upper_end_stops_where_it_is_good_enough():
    asked = []

    def value(place: Fraction) -> Fraction:
        asked.append(place)
        return Fraction(math.exp(-5 * float(place)))

    target, near = Fraction(math.exp(-10)), (Fraction(2) - Fraction(1, 10**4), -4.99)
    high = crossing(value, target, math.inf, near, slack=(0.0, 1e-3))[1]
    assert value(high) <= target < value(high - Fraction(1, 10**3))
    quick, asked[:] = len(asked), []
    assert crossing(value, target, math.inf, near)[1] <= high
    assert quick < len(asked)
