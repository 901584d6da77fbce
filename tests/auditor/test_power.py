"""The power statement: what the final test would have found."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound
from dpaudit.auditor.statistics.power import detectable_epsilon
from dpaudit.errors import InvalidArgument
from dpaudit.results import Counts


def power_by_enumeration(*, epsilon, mass, runs, point, alpha):
    """Probability that the bound refutes, summed over every pair of counts."""
    theta = (math.exp(epsilon) + float(point.delta) / (2 * mass)) / (1 + math.exp(epsilon))
    total = 0.0
    for hits in range(runs + 1):
        bounds = [epsilon_lower_bound(Counts(ones, hits - ones, runs), delta=point.delta, alpha=alpha) for ones in range(hits + 1)]
        refutes = np.array([bound is not None and bound >= point.epsilon for bound in bounds])
        total += binom.pmf(hits, runs, mass) * float(binom.pmf(np.arange(hits + 1), hits, theta) @ refutes)
    return total


@pytest.mark.parametrize(("delta", "mass"), [("0", 0.6), ("0.01", 0.7)])
def test_power_statement_agrees_with_full_enumeration(delta, mass):
    point, runs = ClaimPoint("0.2", delta), 50
    least = detectable_epsilon(mass=mass, runs=runs, point=point, alpha=0.1)
    assert 0.9 == pytest.approx(power_by_enumeration(epsilon=least, mass=mass, runs=runs, point=point, alpha="0.1"), abs=1e-6)


def test_strata_of_many_runs_agree_with_the_sum_over_all_hits(monkeypatch):
    point = ClaimPoint(1, 0)
    strata = detectable_epsilon(mass=0.3, runs=20_000, point=point, alpha=0.025)
    monkeypatch.setattr("dpaudit.auditor.statistics.power._STRATA", 10**6)
    assert detectable_epsilon(mass=0.3, runs=20_000, point=point, alpha=0.025) == pytest.approx(strata, rel=1e-3)


def test_more_runs_and_more_mass_find_smaller_violations():
    point = ClaimPoint(1, 0)
    found = [detectable_epsilon(mass=0.3, runs=runs, point=point, alpha=0.025) for runs in (10**3, 10**4, 10**5, 10**6)]
    assert sorted(found, reverse=True) == found
    assert found[-1] > 1
    rare = detectable_epsilon(mass=0.01, runs=10**5, point=point, alpha=0.025)
    assert rare > detectable_epsilon(mass=0.3, runs=10**5, point=point, alpha=0.025)


def test_nothing_is_promised_where_nothing_would_be_found():
    assert None is detectable_epsilon(mass=0.01, runs=100, point=ClaimPoint(1, 0), alpha=0.05)
    assert None is detectable_epsilon(mass=0.01, runs=10**6, point=ClaimPoint(1, "0.5"), alpha=0.05)


@pytest.mark.parametrize(("mass", "runs", "alpha"), [(0.0, 10, 0.05), (1.5, 10, 0.05), (0.5, 0, 0.05), (0.5, 10, 1.0)])
def test_impossible_arguments_are_refused(mass, runs, alpha):
    with pytest.raises(InvalidArgument):
        detectable_epsilon(mass=mass, runs=runs, point=ClaimPoint(1, 0), alpha=alpha)
