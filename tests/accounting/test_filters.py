"""Filters admit what their currency covers and nothing more; odometers bound what was counted, at every time at once."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accounting import (
    Filter,
    Odometer,
    approx_dp,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    gdp,
    laplace,
    pure_dp,
    rdp,
    zcdp,
)
from dpaudit.accounting.engines.currencies import APPROXIMATE, CONCENTRATED, add_amounts, max_rho
from dpaudit.claims import GDP, RDP, ZCDP, Adjacency, ApproxDP, Curve, PureDP
from dpaudit.errors import AdjacencyMismatch, BudgetExceeded, InvalidArgument, Unsupported

ADD = Adjacency("add_remove")
COSTS = st.fractions(0, 2, max_denominator=1000)


@pytest.mark.parametrize(
    ("budget", "spending", "times"),
    [
        (PureDP(epsilon=1), PureDP(epsilon="1/10"), 10),
        (PureDP(epsilon=1), laplace(scale=4), 4),
        (PureDP(epsilon=1), discrete_laplace(scale=4), 4),
        (PureDP(epsilon=1), bounded_range(epsilon="1/4"), 4),
        (ZCDP(rho=1), gaussian(sigma=2), 8),
        (ZCDP(rho=1), discrete_gaussian(sigma=2), 8),
        (ZCDP(rho=1), zcdp("1/8"), 8),
        (ZCDP(rho=1), pure_dp("1/2"), 8),
        (ZCDP(rho=1), bounded_range(epsilon=1), 8),
        (GDP(mu=2), gaussian(sigma=2), 16),
        (GDP(mu=2), gdp("1/2"), 16),
        (RDP({3: 3}), gaussian(sigma=1), 2),
        (RDP({3: 3, 5: 6}), rdp({3: 1, 5: 2}), 3),
    ],
    ids=str,
)
def test_a_budget_covers_exactly_so_many_releases(budget, spending, times):
    account = Filter(budget)
    account.spend(spending, times=times - 1)
    account.spend(spending)
    assert {Fraction(0)} == set(account.remaining.values())
    with pytest.raises(BudgetExceeded, match="DPA204"):
        account.spend(spending)
    assert {Fraction(0)} == set(account.remaining.values())


@given(st.lists(COSTS, max_size=30), st.fractions(0, 10, max_denominator=1000))
def test_what_is_admitted_never_passes_the_budget_and_refusals_spend_nothing(costs, limit):
    account, total = Filter(PureDP(epsilon=limit)), Fraction(0)
    for cost in costs:
        admitted = total + cost <= limit
        assert admitted == account.admits(PureDP(epsilon=cost))
        if admitted:
            account.spend(PureDP(epsilon=cost))
            total += cost
        else:
            with pytest.raises(BudgetExceeded):
                account.spend(PureDP(epsilon=cost))
        assert {"epsilon": total} == account.spent


@given(st.lists(st.tuples(COSTS, st.integers(0, 5)), max_size=8))
def test_the_order_of_releases_does_not_matter(costs):
    totals = set()
    for order in (costs, costs[::-1]):
        account = Filter(ZCDP(rho=10**6))
        for cost, times in order:
            account.spend(pure_dp(cost), times=times)
        totals.add(account.spent["rho"])
    assert {sum((cost**2 / 2 * times for cost, times in costs), Fraction(0))} == totals


def test_the_cost_of_a_composition_is_that_of_its_parts():
    loss = compose(3 * gaussian(sigma=2), 2 * pure_dp("1/2"), discrete_gaussian(sigma=4))
    assert (Fraction(3, 8) + Fraction(1, 4) + Fraction(1, 32),) == CONCENTRATED.cost(loss.composition, ADD)


@pytest.mark.parametrize("loss", [gaussian(sigma=1), laplace(scale=2), discrete_laplace(scale=1), bounded_range(epsilon=1), gdp(2)])
@pytest.mark.parametrize("order", [Fraction(3, 2), 2, 8, 64])
def test_renyi_costs_are_upper_ends(loss, order):
    account = Filter(RDP({order: 10**6}))
    account.spend(loss)
    (spent,) = account.spent.values()
    (rho,) = CONCENTRATED.cost(loss.composition, ADD)
    assert 0 < spent <= order * rho + Fraction(1, 10**9)


def test_the_renyi_cost_of_laplace_noise_is_its_divergence():
    account = Filter(RDP({2: 10}))
    account.spend(laplace(scale=1))
    with mpmath.workdps(40):
        # (1/(a-1)) log(a/(2a-1) e^(a-1) + (a-1)/(2a-1) e^(-a)) at a = 2, by integration of the two densities.
        density = lambda x, centre: mpmath.exp(-abs(x - centre)) / 2  # noqa: E731
        moment = mpmath.quad(lambda x: density(x, 1) ** 2 / density(x, 0), [-60, 0, 1, 120])
        truth = mpmath.log(moment)
    (spent,) = account.spent.values()
    assert abs(mpmath.mpf(spent.numerator) / spent.denominator - truth) < mpmath.mpf(10) ** -15


def test_an_approximate_budget_is_kept_in_rho_that_its_slack_allows():
    account = Filter(ApproxDP(epsilon=1, delta="1e-6"), slack="4e-7")
    assert Fraction(6, 10**7) == account.remaining["delta"]
    rho = account.remaining["rho"]
    assert zcdp(rho).delta(epsilon=1).upper <= Fraction(4, 10**7)
    assert zcdp(rho * Fraction(1001, 1000)).delta(epsilon=1).upper > Fraction(4, 10**7)
    account.spend(ApproxDP(epsilon="1/100", delta="1e-8"), times=10)
    account.spend(gaussian(sigma=100))
    assert rho - Fraction(10, 2 * 100**2) - Fraction(1, 2 * 100**2) == account.remaining["rho"]
    with pytest.raises(BudgetExceeded, match="delta would reach"):
        account.spend(ApproxDP(epsilon=0, delta="6e-7"))


def test_an_approximate_budget_beats_advanced_composition_and_is_met_by_its_own_accounting():
    # Whitehouse et al. 2023, Theorem 1: sqrt(2 log(1/delta') S) + S/2 <= epsilon for S the sum of squared epsilons.
    epsilon, slack = 1, 1e-6
    root = math.sqrt(2 * math.log(1 / slack))
    published = (math.sqrt(root**2 + 2 * epsilon) - root) ** 2 / 2
    ours = max_rho(Fraction(epsilon), Fraction(1, 10**6))
    assert published < float(ours) < 2 * published


@pytest.mark.parametrize(
    ("budget", "spending"),
    [
        (PureDP(epsilon=1), gaussian(sigma=1)),
        (PureDP(epsilon=1), ApproxDP(epsilon="1/2", delta="1e-9")),
        (ZCDP(rho=1), approx_dp("1/2", delta="1e-9")),
        (GDP(mu=1), laplace(scale=100)),
        (RDP({2: 1}), approx_dp("1/2", delta="1e-9")),
        (RDP({32: 1}), rdp({2: "1/100"})),
    ],
    ids=str,
)
def test_a_loss_without_a_finite_cost_is_refused_and_spends_nothing(budget, spending):
    account = Filter(budget)
    with pytest.raises(Unsupported, match="DPA202"):
        account.spend(spending)
    assert not any(account.spent.values())


def test_another_neighbouring_relation_is_refused():
    with pytest.raises(AdjacencyMismatch, match="DPA201"):
        Filter(ZCDP(rho=1)).spend(gaussian(sigma=5, adjacency="replace_one"))


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: Filter(1), "DPA105"),
        (lambda: Filter(Curve(gaussian(sigma=1))), "DPA202"),
        (lambda: Filter(ApproxDP(epsilon=1, delta=0)), "DPA103"),
        (lambda: Filter(PureDP(epsilon=1), slack="1e-9"), "DPA106"),
        (lambda: Filter(ApproxDP(epsilon=1, delta="1e-6"), slack="1e-5"), "DPA103"),
        (lambda: Filter(PureDP(epsilon=1)).spend(0.5), "DPA105"),
        (lambda: Filter(PureDP(epsilon=1)).spend(PureDP(epsilon="1/2"), times=-1), "DPA103"),
        (lambda: Filter(PureDP(epsilon=1)).spend(PureDP(epsilon="1/2"), times=0.5), "DPA105"),
        (lambda: Filter(PureDP(epsilon=1)).restore({"rho": "1"}), "DPA106"),
        (lambda: Filter(PureDP(epsilon=1)).restore({"epsilon": "-1"}), "DPA103"),
        (lambda: Odometer(delta=0), "DPA103"),
        (lambda: Odometer(delta="1e-6", scale=0), "DPA104"),
        (lambda: Odometer(delta="1e-6").count(approx_dp(1, delta="1e-9")), "DPA202"),
    ],
)
def test_what_makes_no_sense_is_refused(make, code):
    with pytest.raises((InvalidArgument, Unsupported), match=code):
        make()


def test_a_state_goes_on_where_it_was_left():
    before = Filter(ApproxDP(epsilon=1, delta="1e-6"))
    before.spend(gaussian(sigma=50))
    after = Filter(ApproxDP(epsilon=1, delta="1e-6"))
    after.restore(before.state())
    assert before.remaining == after.remaining
    with pytest.raises(InvalidArgument, match="new filter"):
        after.restore(before.state())


def test_threads_never_overspend():
    account, admitted = Filter(PureDP(epsilon=1)), []

    def spend():
        for _ in range(50):
            try:
                account.spend(PureDP(epsilon="1/100"))
            except BudgetExceeded:
                continue
            admitted.append(1)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 100 == len(admitted)


def test_totals_with_long_denominators_are_rounded_up():
    total, exact = (Fraction(0),), Fraction(0)
    for prime in (p for p in range(3, 4000) if all(p % q for q in range(2, math.isqrt(p) + 1))):
        total, exact = add_amounts(total, (Fraction(1, prime),), 1), exact + Fraction(1, prime)
    assert exact <= total[0] <= exact * (1 + Fraction(1, 2**200))
    assert total[0].denominator.bit_length() < 4200


def test_a_hundred_thousand_releases_are_counted_in_seconds():
    account, loss = Filter(ZCDP(rho=10**9)), gaussian(sigma=3)
    start = time.process_time()
    for number in range(50_000):
        account.spend(loss)
        account.spend(ZCDP(rho=Fraction(number % 100, 7)))
    assert time.process_time() - start < 6, "the bar is 2 s on a quiet machine"


def test_an_odometer_shows_the_sum_of_pure_releases_while_that_is_less():
    odometer = Odometer(delta="1e-6")
    odometer.count(pure_dp("1/10"), times=3)
    assert Fraction(3, 10) == odometer.epsilon().upper
    odometer.count(pure_dp("1/10"), times=10_000)
    assert odometer.epsilon().upper < 200
    assert "Ville" in odometer.epsilon().why()


@settings(max_examples=20)
@given(st.fractions("1/1000", 50, max_denominator=1000), st.fractions("1/100", 5, max_denominator=100))
def test_an_odometer_shows_more_than_a_filter_for_the_same_releases(rho, scale):
    odometer = Odometer(delta="1e-6", scale=scale)
    odometer.count(ZCDP(rho=rho))
    fixed = zcdp(rho).epsilon(delta="1e-6").upper
    assert fixed <= odometer.epsilon().upper


def test_an_odometer_grows_with_every_release():
    odometer, shown = Odometer(delta="1e-6"), []
    for _ in range(20):
        odometer.count(gaussian(sigma=4))
        shown.append(odometer.epsilon().upper)
    assert sorted(set(shown)) == shown


def test_the_odometers_bound_holds_at_all_times_together():
    # Losses of the Gaussian mechanism with rho = 1/32 a release: normal steps of mean rho and variance 2 rho.
    rho, runs, length, delta = 1 / 32, 4000, 256, 0.05
    odometer, bounds = Odometer(delta="1/20"), []
    for _ in range(length):
        odometer.count(gaussian(sigma=4))
        bounds.append(float(odometer.epsilon().upper))
    steps = np.random.default_rng(11).normal(rho, math.sqrt(2 * rho), (runs, length))
    passed = (steps.cumsum(axis=1) > np.array(bounds)).any(axis=1).sum()
    # A count of at most runs * delta on average; 321 or more has a probability below 1e-9 for a binomial with that mean.
    assert passed < 321
    at_the_end = (steps.sum(axis=1) > bounds[-1]).sum()
    assert at_the_end <= passed
    assert delta * runs > passed > 0, "a bound that is never passed would be far too wide to mean anything"


def test_approximate_costs_split_into_rho_and_delta():
    assert (Fraction(1, 8), Fraction(1, 10**9)) == APPROXIMATE.cost(approx_dp("1/2", delta="1e-9").composition, ADD)
    assert (Fraction(1, 8), Fraction(0)) == APPROXIMATE.cost(PureDP(epsilon="1/2"), ADD)


@pytest.mark.parametrize("account", [Filter(PureDP(epsilon=1)), Odometer(delta="1e-6")], ids=["filter", "odometer"])
def test_budgets_in_use_are_not_copied(account):
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copied(account)
