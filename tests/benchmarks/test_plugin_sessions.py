"""Simulated sessions of the pytest plugin: their tests are exact, and pytest itself raises the same alarms."""

import sys
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.stats import binom

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import plugin_sessions
from plugin_sessions import EVEN, HITS, POINT, VISIBLE

from dpaudit.auditor.statistics.bounds import p_value
from dpaudit.results import Counts


@pytest.mark.parametrize("level", [VISIBLE, VISIBLE / 41, Fraction(1, 10**8)])
def test_an_alarm_begins_where_the_auditors_p_value_reaches_the_level(level):
    least = plugin_sessions.least_alarm(level)
    values = [p_value(Counts(ones=ones, zeros=HITS - ones, runs=HITS), point=POINT) for ones in (least, least - 1)]
    assert values[0] <= level < values[1]
    assert values[0] == pytest.approx(plugin_sessions.size_of(level), rel=1e-9)


def test_pytest_raises_the_alarms_of_the_simulation(pytester):
    pytester.makepyfile(test_nulls=plugin_sessions.NULLS)
    seed = next(seed for seed in range(100) if plugin_sessions.simulated(seed, VISIBLE, EVEN))
    ran = pytester.runpytest_inprocess("--dp-seed", str(seed), "--dp-budget", str(VISIBLE))
    failed = {report.nodeid for report in ran.reprec.getfailures()}
    assert plugin_sessions.simulated(seed, VISIBLE, EVEN) == failed
    ran.assert_outcomes(passed=len(EVEN) - len(failed), failed=len(failed))


def test_the_limit_is_the_exact_one_of_the_binomial_law():
    row = plugin_sessions.simulate("even", VISIBLE, EVEN, sessions=40)
    assert binom.sf(row.most, 40, 0.05) <= plugin_sessions.MISSED < binom.sf(row.most - 1, 40, 0.05)
    assert 0.04 < row.expected <= 0.05
    [sessions, unlike] = plugin_sessions.bars_of([row], different=1)
    assert (True, False) == (sessions.met, unlike.met)
