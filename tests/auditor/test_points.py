"""A claimed curve is tested at one of its points, each implied by the claim."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Claim, Curve, PureDP
from dpaudit.accounting import gaussian, loss_of_claim
from dpaudit.auditor.events.points import easiest_line, excess, first_line, lines_of
from dpaudit.auditor.events.ranking import RankedEvent, Threshold
from dpaudit.auditor.statistics.bounds import ClaimPoint

EVENT = Threshold(0, 0.0, at_most=True)


@given(epsilon=st.fractions(0, 20), delta=st.fractions(0, 1).filter(lambda value: value < 1))
def test_a_claim_that_is_a_point_is_tested_there(epsilon, delta):
    assert (ClaimPoint(epsilon, Fraction(0)),) == lines_of(Claim(PureDP(epsilon=epsilon)))
    assert (ClaimPoint(epsilon, delta),) == lines_of(Claim(ApproxDP(epsilon=epsilon, delta=delta)))


@pytest.mark.parametrize(
    "guarantee", [GDP(mu=1), GDP(mu="1/100"), GDP(mu=8), ZCDP(rho="1/2"), RDP({2: "1/2", 8: 2}), Curve(gaussian(sigma=2))]
)
def test_every_line_of_a_curve_is_implied_by_the_claim(guarantee):
    claim = Claim(guarantee)
    lines = lines_of(claim)

    assert len(lines) >= 2
    for line in lines:
        assert loss_of_claim(claim).delta(epsilon=line.epsilon).upper <= line.delta < 1
    assert list(lines) == sorted(lines, key=lambda line: line.epsilon)


def test_a_claim_of_perfect_privacy_is_tested_at_the_origin():
    assert (ClaimPoint(Fraction(0), Fraction(0)),) == lines_of(Claim(GDP(mu=0)))


def test_the_excess_is_that_of_the_statistic_it_is_named_for():
    point = ClaimPoint(Fraction(1), Fraction(1, 100))
    ranked = RankedEvent(EVENT, reverse=False, predicted=1.0, mass=0.3, theta=0.8)
    rng = np.random.default_rng(1)
    hits = rng.random(1_000_000) < 0.3
    ones = rng.random(1_000_000) < 0.8
    values = 2 * hits * np.where(ones, 1.0, -np.e)

    # Mean of a million bounded values: the standard error is below 0.002, so ten of them are 0.02.
    assert (values.mean() - 0.01) / values.std() * 1000 == pytest.approx(excess(ranked, point, 1_000_000), rel=0.02)


def test_the_first_line_stays_unless_another_is_clearly_easier():
    lines = lines_of(Claim(GDP(mu=1)))
    start, other = first_line(lines), lines[0]

    def events(line, extra):
        odds, mass = float(np.exp(float(line.epsilon))), 0.5
        boundary = (odds + float(line.delta) / (2 * mass)) / (1 + odds)
        return (RankedEvent(EVENT, reverse=False, predicted=1.0, mass=mass, theta=boundary + extra),)

    assert start == easiest_line(lines, lambda line: events(line, 0.0), 10_000)
    assert start == easiest_line(lines, lambda line: (), 10_000)
    assert other == easiest_line(lines, lambda line: events(line, 0.1 if line == other else 0.0), 10_000)
