"""Checks of budgets: nothing spent is forgotten, limits are met exactly, costs and calibrated parameters are on their side."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

from dpaudit.accounting import (
    Filter,
    IndividualFilter,
    Odometer,
    approx_dp,
    bounded_range,
    calibrate,
    compose,
    discrete_gaussian,
    explicit_pair,
    gaussian,
    laplace,
    pure_dp,
    rdp,
    zcdp,
)
from dpaudit.accounting.engines.currencies import add_amounts
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, PureDP
from dpaudit.errors import DpauditError

HAIR = Fraction(1, 10**30)
SPENDINGS = [
    (PureDP(epsilon="7/2"), laplace(2), Fraction(1, 2)),
    (PureDP(epsilon="7/3"), PureDP(epsilon="1/3"), Fraction(1, 3)),
    (ZCDP(rho="7/8"), gaussian(2), Fraction(1, 8)),
    (ZCDP(rho="7/8"), ZCDP(rho="1/8"), Fraction(1, 8)),
    (ZCDP(rho="7/2"), pure_dp(1), Fraction(1, 2)),
    (ZCDP(rho="7/8"), bounded_range(1), Fraction(1, 8)),
    (ZCDP(rho="7/4"), discrete_gaussian(2, sensitivity=1) * 2, Fraction(1, 4)),
    (RDP({3: "21/8"}), gaussian(2), Fraction(3, 8)),
    (RDP({3: 7}), rdp({3: 1}), Fraction(1)),
    (GDP(mu=3), gaussian(2) * 4, Fraction(1)),
    (GDP(mu=3), GDP(mu=1), Fraction(1)),
]


def refused(call):
    """Whether a call is refused."""
    with contextlib.suppress(DpauditError):
        call()
        return False
    return True


def budgets_are_spent_to_the_last_and_not_beyond():
    for guarantee, spending, cost in SPENDINGS:
        times, budget = 9 if isinstance(guarantee, GDP) else 7, Filter(guarantee)
        assert budget.admits(spending, times=times)
        assert not budget.admits(spending, times=times + 1)
        for done in range(times):
            assert not budget.admits(spending, times=times + 1 - done)
            budget.spend(spending)
            assert [(done + 1) * cost] == list(budget.spent.values())
        assert [0] == list(budget.remaining.values())
        assert refused(lambda budget=budget, spending=spending: budget.spend(spending))
        assert [times * cost] == list(budget.spent.values())
        assert not budget.admits(PureDP(epsilon=HAIR) if isinstance(guarantee, PureDP) else gaussian(10**16))


def states_go_on_where_they_were():
    first, second = Filter(ZCDP(rho=1)), Filter(ZCDP(rho=1))
    first.spend(gaussian(1))
    second.restore(first.state())
    assert refused(lambda: second.spend(gaussian(1), times=2))
    second.spend(gaussian(1))
    assert refused(lambda: second.restore(first.state()))
    assert {"rho": 0} == second.remaining


def approximate_budgets_are_kept_within_their_slack():
    """The rho that is allowed has a delta at epsilon of at most the slack by its best moment, and nearly that."""
    budget = Filter(ApproxDP(epsilon=2, delta="1/100000"), slack="1/200000")
    (name, rho), (_, delta) = budget.remaining.items()
    assert ("rho", Fraction(1, 200000)) == (name, delta)
    with mp.workdps(25):
        rho = mpf(rho.numerator) / rho.denominator
        best = min(mp.exp(a * (a + 1) * rho - 2 * a) * (a / (1 + a)) ** a / (1 + a) for a in (1 + mpf(i) / 20 for i in range(1500)))
        assert mpf("0.99") < best * 200000 < mpf("1.001")
    assert not budget.admits(approx_dp(0, delta="1/190000"))
    budget.spend(approx_dp(0, delta="1/400000"), times=2)
    assert 0 == budget.remaining["delta"]
    assert refused(lambda: budget.spend(approx_dp(0, delta="1/10000000")))


def infinite_losses_have_no_price_in_pure_or_concentrated_budgets():
    for guarantee in (PureDP(epsilon=9), ZCDP(rho=9), RDP({2: 9})):
        assert refused(lambda guarantee=guarantee: Filter(guarantee).spend(approx_dp("1/2", delta="1/10")))
    assert refused(lambda: Odometer(delta="1/10").count(approx_dp("1/2", delta="1/10")))


def costs_are_those_of_the_worse_direction(exact):
    pair = ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 5), Fraction(4, 5)))
    for first in (pair, pair[::-1]):
        budget = Filter(RDP({2: 9, 3: 9}))
        budget.spend(explicit_pair(*first), times=2)
        with mp.workdps(30):
            for order, spent in zip((2, 3), budget.spent.values(), strict=True):
                sums = (sum(p**order / q ** (order - 1) for p, q in zip(*pair[::turn], strict=True)) for turn in (1, -1))
                expected = 2 * mp.log(exact.number(max(sums))) / (order - 1)
                assert expected <= exact.number(spent) * (1 + mpf(10) ** -25)
                assert exact.number(spent) <= expected * (1 + mpf(10) ** -12)
    budget = Filter(PureDP(epsilon=5))
    budget.spend(explicit_pair(*pair))
    assert math.log(2.5) <= float(budget.spent["epsilon"]) * (1 + 1e-15)
    between = one_release(
        Between("between", Gaussian(Fraction(2), "above"), Gaussian(Fraction(1), "below"), "stated"), "add_remove"
    )
    for guarantee, cost in ((ZCDP(rho=9), 2), (GDP(mu=9), 4), (RDP({2: 9}), 4)):
        budget = Filter(guarantee)
        budget.spend(between)
        assert [cost] == list(budget.spent.values())


def long_sums_are_rounded_up():
    total, exact_total = (Fraction(0),), Fraction(0)
    for index in range(1, 40):
        amount = Fraction(1, 3**200 + 2 * index)
        total, exact_total = add_amounts(total, (amount,), 1), exact_total + amount
        assert exact_total <= total[0] <= exact_total * (1 + Fraction(1, 10**20)) + Fraction(1, 2**200)


def odometers_show_what_a_mixture_of_martingales_allows(exact):
    """exp(t (loss - rho) - t^2 rho), mixed over a normal t of variance 1/scale, reaches 1/delta at what is shown."""
    for rho, scale, delta in ((Fraction(1, 2), Fraction(1, 4), Fraction(1, 10**6)), (Fraction(9), Fraction(1), Fraction(1, 50))):
        odometer, shown = Odometer(delta=delta, scale=scale), []
        for _ in range(4):
            odometer.count(zcdp(rho / 8), times=2)
            shown.append(odometer.epsilon().upper)
        assert shown == sorted(set(shown))
        with mp.workdps(25):
            mixed = mixture(exact.number(rho), exact.number(scale), exact.number(shown[-1] - rho))
            assert mixed >= (1 - mpf(10) ** -15) / exact.number(delta)
            assert mixed <= mpf("1.001") / exact.number(delta)


def mixture(rho, scale, beyond):
    """Integral of the martingales over their parameter, around its peak, where the loss passes rho by so much."""
    width = 1 / mp.sqrt(scale + 2 * rho)
    marks = [beyond * width**2 + step * width for step in (-12, -6, -2, 0, 2, 6, 12)]
    return mp.quad(lambda t: mp.sqrt(scale / (2 * mp.pi)) * mp.exp(-scale * t * t / 2 + t * beyond - t * t * rho), marks)


def odometers_add_pure_epsilons_while_that_is_less():
    odometer = Odometer(delta="1/1000000")
    for done in range(1, 5):
        odometer.count(PureDP(epsilon="1/4"))
        assert Fraction(done, 4) == odometer.epsilon().upper
    odometer.count(gaussian(100))
    assert odometer.epsilon().upper > 1


def records_pay_for_every_round_and_not_longer_than_they_can():
    """Accounts in exact fractions beside the filter: within its stated rounding up, never less is charged."""
    for unit, budget in (("1/8", 1), ("1/7", 2), ("3/1000003", "1/3"), (Fraction(1, 3 * 2**50), "1/1024")):
        squares = np.array([1, 3, 4, 10**3, 2**41 + 1, 0], dtype=np.int64)
        accounts, left = IndividualFilter(ZCDP(rho=budget), records=6), [Fraction(budget)] * 6
        for _ in range(9):
            admitted = accounts.admit(squares, unit=unit).tolist()
            for place, (square, took_part) in enumerate(zip(squares.tolist(), admitted, strict=True)):
                cost = square * Fraction(unit)
                if took_part:
                    left[place] -= cost
                    assert left[place] >= 0
                else:
                    assert cost * (1 + Fraction(1, 2**16)) + Fraction(budget) / 2**34 >= left[place]
    accounts = IndividualFilter(RDP({4: 1}), records=1)
    assert [True] * 8 + [False] == [bool(accounts.admit(np.array([2]), unit="1/16")[0]) for _ in range(9)]


def costs_of_records_are_rounded_up():
    """The smallest account left after a round tells what it was charged: units that do not divide the budget are rounded up."""
    for square, unit in (
        (5, Fraction(1, 7)),
        (2**45 + 1, Fraction(1, 2**47 + 9)),
        (1, Fraction(1, 3 * 2**39)),
        (7 * 2**38 + 1, Fraction(1, 2**42)),
    ):
        accounts = IndividualFilter(ZCDP(rho=1), records=1)
        accounts.admit(np.array([square]), unit=unit)
        charged = Fraction(2**40 - int(accounts._left[0]), 2**40)
        assert square * unit <= charged <= square * unit * (1 + Fraction(1, 2**18)) + Fraction(1, 2**37)


def calibrated_parameters_meet_the_budget_and_smaller_ones_do_not(exact):
    with mp.workdps(30):

        def profile(sigma):
            mu = 1 / exact.number(sigma)
            return mp.ncdf(mu / 2 - 1 / mu) - mp.e * mp.ncdf(-mu / 2 - 1 / mu)

        found = calibrate(gaussian, epsilon=1, delta="1/1000", low=1, high=20)
        assert profile(found.parameter) <= mpf(1) / 1000 < profile(found.beyond)
        assert Fraction(999998, 10**6) < found.beyond / found.parameter < 1
        assert found.tight
        assert found.reached.upper <= Fraction(1, 1000) < found.missed.lower
        found = calibrate(lambda mu: gaussian(1 / mu), epsilon=1, delta="1/1000", low="1/20", high=1, increasing=True)
        assert profile(1 / found.parameter) <= mpf(1) / 1000 < profile(1 / found.beyond)
    assert 2 <= calibrate(laplace, epsilon="1/2", delta=0, low=1, high=10).parameter < Fraction(2000002, 10**6)


def calibration_does_not_call_tight_what_is_known_from_above_only():
    def make(rho):
        return compose(zcdp(rho), one_release(Between("between", Gaussian(rho, "above"), None, "stated"), "add_remove"))

    found = calibrate(make, epsilon=1, delta="1/1000", low="1/1000", high=1, increasing=True, precision="1/100")
    assert found.reached.upper <= Fraction(1, 1000)
    assert not found.tight
    apart = calibrate(wide, epsilon=1, delta="1/1000", low="1/100", high=4, increasing=True, precision="1/100")
    assert gaussian(1 / apart.parameter).delta(epsilon=1).upper <= Fraction(1, 1000)
    assert not apart.tight


def wide(mu):
    """A loss that lies between two normal laws."""
    return one_release(Between("between", Gaussian(mu, "above"), Gaussian(mu / 2, "below"), "stated"), "add_remove")


CHECKS = [
    budgets_are_spent_to_the_last_and_not_beyond,
    states_go_on_where_they_were,
    approximate_budgets_are_kept_within_their_slack,
    infinite_losses_have_no_price_in_pure_or_concentrated_budgets,
    costs_are_those_of_the_worse_direction,
    long_sums_are_rounded_up,
    odometers_show_what_a_mixture_of_martingales_allows,
    odometers_add_pure_epsilons_while_that_is_less,
    records_pay_for_every_round_and_not_longer_than_they_can,
    costs_of_records_are_rounded_up,
    calibrated_parameters_meet_the_budget_and_smaller_ones_do_not,
    calibration_does_not_call_tight_what_is_known_from_above_only,
]
