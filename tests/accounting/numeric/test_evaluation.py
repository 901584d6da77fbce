"""Weighted sums by blocks and moments of both laws: against plain sums, for every position and whatever the length of a block."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from dpaudit.accounting import gaussian, laplace
from dpaudit.accounting.engines import evaluation
from dpaudit.accounting.engines.evaluation import Evaluated
from dpaudit.accounting.engines.lattice import log_moments, unit_sum
from dpaudit.accounting.engines.tilted import lattice_for

LOSSES = {"laplace": (20 * laplace(scale=2), Fraction(2)), "gaussian": (50 * gaussian(sigma=4), Fraction(6))}


def built(name):
    """A composition on a coarse lattice, not remembered by the engine."""
    loss, epsilon = LOSSES[name]
    found = lattice_for(loss.composition, epsilon=epsilon, width=0.02)
    return Evaluated(found.plan, found.lattices)


def plain_sum(masses, rate, first):
    """Masses from a position on, each times e^(-rate * places from there), in exact products added up without rounding."""
    step = float(rate)
    return math.fsum(float(mass) * float(mp.exp(-step * place)) for place, mass in enumerate(masses[first:]) if mass > 0)


@pytest.mark.parametrize("block", [4, 64, 1 << 12])
@pytest.mark.parametrize("name", LOSSES)
def test_weighted_sums_are_those_of_all_places_from_a_position_on(monkeypatch, name, block):
    monkeypatch.setattr(evaluation, "BLOCK", block)
    found = built(name)
    tilt, step, size = found.plan.tilt, found.plan.step, found.plan.size
    allowed = unit_sum(block + 8 * size // block)
    for first in (0, 1, size // 3, size // 2 - 1, size // 2, size - 1):
        for side, masses in enumerate((found._masses.upper, found._masses.lower)):
            sums = iter(found._sums(first, side))
            for rate in (tilt * step, (1 + tilt) * step):
                expected = plain_sum(masses, rate, first)
                assert abs(next(sums) - expected) <= (allowed + 2.0**-40) * expected


@pytest.mark.parametrize("name", LOSSES)
def test_the_length_of_a_block_changes_no_answer(monkeypatch, name):
    epsilon = LOSSES[name][1]
    answers = []
    for block in (8, 1 << 12):
        monkeypatch.setattr(evaluation, "BLOCK", block)
        answers.append(built(name).delta(epsilon))
    assert answers[0].meets(answers[1])
    assert abs(answers[0].upper - answers[1].upper) <= answers[0].upper / 10**9
    assert abs(answers[0].lower - answers[1].lower) <= answers[0].lower / 10**9


@pytest.mark.parametrize("further", [Fraction(0), Fraction(1, 3), Fraction(-2, 3)])
@pytest.mark.parametrize("name", LOSSES)
def test_moments_of_both_laws_are_bounded_from_above_and_narrowly(name, further):
    lattices = built(name).lattices
    for bound, side in zip(log_moments(lattices, further), ("upper", "lower"), strict=True):
        with mp.workdps(30):
            truth = mpf(0)
            for lattice in lattices:
                losses = [lattice.raster.place(int(index)) for index in lattice.index]
                terms = zip(getattr(lattice, side), losses, strict=True)
                rate = mpf(further.numerator) / further.denominator
                moment = mp.fsum(mpf(float(mass)) * mp.exp(rate * mpf(loss.numerator) / loss.denominator) for mass, loss in terms)
                truth += lattice.count * mp.log(moment)
            assert truth <= float(bound.upper()) + 1e-14
            assert float(bound.upper()) <= truth + 1e-9


@pytest.mark.parametrize("name", LOSSES)
def test_the_error_of_a_mass_counts_at_every_place_with_its_weight(name):
    found, epsilon, off = built(name), LOSSES[name][1], 2.0**-20
    before, masses, plan = found.delta(epsilon), found._masses, found.plan
    found.__dict__["_masses"] = replace(masses, upper_error=masses.upper_error + off, lower_error=masses.lower_error + off)
    after = found.delta(epsilon)
    losses = [float(found._place(place) - epsilon) for place in range(plan.size)]
    weights = math.fsum(math.exp(-float(plan.tilt) * loss) * -math.expm1(-loss) for loss in losses if loss > 0)
    scale = float(sum(lattice.count * lattice.log_scale for lattice in found.lattices) - plan.tilt * epsilon)
    expected = math.exp(scale) * off * weights
    assert float(after.upper - before.upper) == pytest.approx(expected, rel=1e-2)
    assert float(before.lower - after.lower) == pytest.approx(min(expected, float(before.lower)), rel=1e-2)


def test_a_sum_that_ends_with_the_window_counts_what_lies_beyond():
    """At the last place of the window nothing is left to add up, and the upper end still holds the bound on the rest."""
    found = built("gaussian")
    last = found._place(found.plan.size - 1) - found.plan.step / 2
    assert np.all(found._masses.upper >= 0)
    assert found.delta(last).upper > 0


@pytest.mark.parametrize("name", LOSSES)
def test_an_end_that_is_asked_for_alone_is_that_of_both(name):
    found, epsilon = built(name), LOSSES[name][1]
    for place in (epsilon * Fraction(9, 10), epsilon, epsilon + Fraction(1, 3), Fraction(10**6)):
        both, upper, lower = (found.delta(place, ends) for ends in ("both", "upper", "lower"))
        assert (both.lower, both.upper) == (lower.lower, upper.upper)
        assert (0, 1) == (upper.lower, lower.upper)


@pytest.mark.parametrize("rate", [Fraction(-1), Fraction(-3, 4), Fraction(-7, 10), Fraction(7, 10), Fraction(1)])
def test_moments_are_bounded_where_weights_are_lost_to_underflow(rate):
    """All mass at the far end of a law a thousand nats wide: its weight is below all doubles until it is moved to the middle."""
    law = built("laplace").lattices[0]
    ends, masses = (0, 1000), np.array([0.0, 1.0])
    raster = replace(law.raster, step=Fraction(1), offset=Fraction(0), ends=ends)
    far = replace(law, count=1, raster=raster, index=np.array(ends), upper=masses, lower=masses)
    assert all(float(bound.upper()) >= rate * 1000 - 1e-9 for bound in log_moments([far], rate))
