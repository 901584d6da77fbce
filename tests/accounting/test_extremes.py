"""Extreme parameters: a certified answer or a coded refusal, never NaN, a negative number or an empty interval.

With DPAUDIT_EVERY_EXTREME set, every law is asked everything under every sampling scheme, which takes hours; otherwise a sample
that is spread over them. `extremes.py` lists them.
"""

from __future__ import annotations

import importlib.util
import math
import os
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from dpaudit.accounting import (
    Filter,
    IndividualFilter,
    Odometer,
    Poisson,
    approx_dp,
    bounded_range,
    calibrate,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gdp,
    laplace,
    pure_dp,
    randomized_response,
    rdp,
    zcdp,
)
from dpaudit.claims import GDP, RDP, ZCDP, ApproxDP, PureDP
from dpaudit.errors import BudgetExceeded, DpauditError

_SPECIFICATION = importlib.util.spec_from_file_location("extremes", Path(__file__).with_name("extremes.py"))
extremes = importlib.util.module_from_spec(_SPECIFICATION)
_SPECIFICATION.loader.exec_module(extremes)

EVERY = bool(os.environ.get("DPAUDIT_EVERY_EXTREME"))
LONG = ("2 steps", "10^6 steps", "shuffle of 10^9", "bootstrap of 10^6", "Poisson 1/100")
SPREAD = [case for case in extremes.CASES if case.sample not in LONG][11::190]
SCALES = ["1e-3", "1", "1e3", "1e6"]
COUNTS = [0, 1, 10**9]
EPSILONS = ["0", "1e-12", "1", "1e3"]
DELTAS = ["0", "1e-300", "1e-6", "0.9"]
LAWS = {
    "gaussian": gaussian,
    "laplace": laplace,
    "discrete_laplace": discrete_laplace,
    "discrete_gaussian": discrete_gaussian,
    "randomized_response": randomized_response,
    "pure_dp": pure_dp,
    "bounded_range": bounded_range,
    "zcdp": zcdp,
    "approx_dp": lambda epsilon: approx_dp(epsilon, delta="1e-12"),
    "rdp": lambda bound: rdp({2: bound}),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_extreme_parameters_give_ordered_answers(name, scale):
    for count in COUNTS:
        loss = count * LAWS[name](scale)
        deltas = [loss.delta(epsilon=epsilon) for epsilon in EPSILONS]
        assert all(0 <= found.lower <= found.upper <= 1 for found in deltas)
        assert all(far.lower <= near.upper for near, far in pairwise(deltas))
        epsilons = [loss.epsilon(delta=delta) for delta in DELTAS]
        assert all(0 <= found.lower <= found.upper for found in epsilons)
        assert all(far.lower <= near.upper for near, far in pairwise(epsilons))


@pytest.mark.parametrize("case", extremes.CASES if EVERY else SPREAD, ids=str)
def test_every_question_at_the_ends_of_its_range_is_answered_or_refused(case):
    answers = list(extremes.asked(case, skip=() if EVERY else ("tradeoff", "gdp")))
    assert [] == [answer for answer in answers if answer[2]]


@pytest.mark.parametrize("name", LAWS)
def test_no_release_loses_nothing(name):
    loss = 0 * LAWS[name]("1/2")
    assert (0, 0) == (loss.delta(epsilon=0).lower, loss.delta(epsilon=0).upper)
    assert (0, 0) == (loss.epsilon(delta=0).lower, loss.epsilon(delta=0).upper)
    assert loss == 3 * loss


@pytest.mark.parametrize("law", [gaussian, discrete_gaussian])
def test_an_unbounded_loss_has_no_pure_epsilon(law):
    found = law(1).epsilon(delta=0)
    assert (math.inf, math.inf) == (found.lower, found.upper)


def test_an_epsilon_is_infinite_exactly_where_the_infinite_loss_is_too_likely():
    loss = 2 * approx_dp(1, delta="1e-3")
    revealing = 1 - (1 - Fraction(1, 1000)) ** 2
    assert math.inf == loss.epsilon(delta=revealing - Fraction(1, 10**12)).lower
    assert (2, 2) == (loss.epsilon(delta=revealing).lower, loss.epsilon(delta=revealing).upper)
    assert loss.epsilon(delta=revealing + Fraction(1, 1000)).upper < 2


def test_pairs_without_a_common_output_lose_everything():
    loss = explicit_pair([1, 0], [0, 1])
    assert (1, 1) == (loss.delta(epsilon=1000).lower, loss.delta(epsilon=1000).upper)
    assert math.inf == compose(loss, gaussian(1)).epsilon(delta="0.99").lower


def test_equal_pairs_lose_nothing():
    loss = 50 * explicit_pair(["1/3", "2/3"], ["1/3", "2/3"])
    assert (0, 0) == (loss.delta(epsilon=0).lower, loss.delta(epsilon=0).upper)
    assert (0, 0) == (loss.epsilon(delta="1/2").lower, loss.epsilon(delta="1/2").upper)


@pytest.mark.parametrize("epsilon", [Fraction(1) - Fraction(1, 10**30), Fraction(1), Fraction(1) + Fraction(1, 10**30)])
def test_the_greatest_loss_is_the_sharp_edge_of_a_pure_law(epsilon):
    for loss in (pure_dp(1), laplace(1), discrete_laplace(1), bounded_range(1), randomized_response(1)):
        found = loss.delta(epsilon=epsilon)
        assert (found.upper > 0) == (epsilon < 1)
        assert (found.lower > 0) == (epsilon < 1)


def test_an_epsilon_beyond_all_floats_is_answered():
    for loss in (2 * discrete_gaussian(1), compose(gaussian(1), pure_dp(1)), 3 * laplace(1), 2 * approx_dp(1, delta="1/2")):
        found = loss.delta(epsilon="1e400")
        assert 0 <= found.lower <= found.upper <= Fraction(3, 4)


def test_huge_and_tiny_numbers_are_answered_or_refused_with_a_code():
    for size in ("1e-4000", "1e-300", "1e300", "1e4000"):
        for law in (gaussian, laplace, discrete_laplace, pure_dp, bounded_range, zcdp):
            try:
                found = law(size).delta(epsilon=1)
            except DpauditError:
                continue
            assert 0 <= found.lower <= found.upper <= 1


def test_a_loss_that_is_reported_as_a_million_small_ones_stays_exact_for_gaussians():
    found, single = (10**6 * gaussian(1000)).delta(epsilon=3), gaussian(1).delta(epsilon=3)
    assert (single.lower, single.upper) == (found.lower, found.upper)


@pytest.mark.parametrize(
    "guarantee",
    [PureDP(epsilon="1e-12"), PureDP(epsilon="1e300"), ApproxDP(epsilon=1000, delta="1e-300"), ZCDP(rho="1e-300"), GDP(mu="1e6")],
    ids=str,
)
def test_budgets_at_the_ends_of_their_range_are_spent_exactly_or_refused(guarantee):
    for spending in (PureDP(epsilon="1e-300"), pure_dp("1e6"), gaussian("1e6"), gaussian("1e-3"), zcdp("1e-300"), gdp("1e-9")):
        for times in (0, 1, 10**9, 10**400):
            account = Filter(guarantee)
            try:
                account.spend(spending, times=times)
            except DpauditError:
                continue
            assert all(left >= 0 for left in account.remaining.values())
            assert not times or any(spent > 0 for spent in account.spent.values())


def test_what_is_left_of_a_budget_is_exact_at_any_size():
    account = Filter(PureDP(epsilon="1e300"))
    account.spend(PureDP(epsilon="1e-300"), times=10**9)
    assert {"epsilon": Fraction(10**300) - Fraction(10**9, 10**300)} == account.remaining
    with pytest.raises(BudgetExceeded):
        account.spend(PureDP(epsilon="1e300"))
    with pytest.raises(BudgetExceeded):
        Filter(RDP({2: "1e-300"})).spend(gaussian("1e-3"))


@pytest.mark.parametrize("delta", ["1e-300", "1e-6", "0.9"])
@pytest.mark.parametrize("scale", ["1e-300", "1", "1e300"])
def test_an_odometer_shows_a_finite_number_at_any_size(delta, scale):
    odometer, shown = Odometer(delta=delta, scale=scale), []
    for spending, times in ((gaussian("1e6"), 1), (zcdp("1e-300"), 10**9), (gaussian("1e-3"), 10**9), (pure_dp("1e6"), 10**9)):
        odometer.count(spending, times=times)
        shown.append(odometer.epsilon())
    assert all(0 <= found.lower <= found.upper < math.inf for found in shown)
    assert all(earlier.upper <= later.upper for earlier, later in pairwise(shown))


def test_an_individual_account_takes_tiny_and_huge_costs():
    accounts = IndividualFilter(ZCDP(rho=1), records=3)
    assert [True, True, False] == accounts.admit(np.array([0, 1, 2**62]), unit="1e-9").tolist()
    assert [True, True, True] == accounts.admit(np.array([0, 1, 1]), unit="1e-300").tolist()


@pytest.mark.parametrize(
    ("make", "epsilon", "delta"),
    [
        (gaussian, "1e-12", "1e-300"),
        (lambda sigma: 10**9 * gaussian(sigma), "1e3", "0.9"),
        (lambda scale: 10**9 * laplace(scale), "1e-4", 0),
        (discrete_laplace, "1e3", "1e-300"),
    ],
)
def test_noise_is_calibrated_to_the_ends_of_budgets(make, epsilon, delta):
    found = calibrate(make, epsilon=epsilon, delta=delta, low="1e-4", high="1e15")
    assert 0 < found.parameter < 10**15
    assert found.tight


def test_a_rate_is_calibrated_down_to_almost_nothing():
    loss = gaussian("1/2")
    found = calibrate(
        lambda rate: loss.sampled(Poisson(rate)), epsilon=1, delta="1e-9", low="1e-9", high=1, increasing=True, precision="1/10"
    )
    assert Fraction(1, 10**9) < found.parameter < 1
    assert found.reached.upper <= Fraction(1, 10**9)
