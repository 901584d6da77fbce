"""Rounded noise on the lattice: listed outputs and step functions say the same, and compositions lose what direct sums say."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest
from flint import arb
from mpmath import mp, mpf

from dpaudit.accounting import gaussian
from dpaudit.accounting.engines import tilted
from dpaudit.accounting.laws import discrete_gaussian
from dpaudit.accounting.laws.discrete_gaussian import RoundedGaussian
from dpaudit.accounting.laws.stepped import Stepped
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.exact import ball, working_precision


def rounded(sigma, steps=1):
    """The loss of one rounded coordinate."""
    return one_release(RoundedGaussian(Fraction(sigma), steps), "add_remove")


@pytest.mark.parametrize(("sigma", "steps"), [("5", 1), ("3/2", 2), ("7/3", 7)])
def test_step_functions_are_sums_over_the_listed_outputs(sigma, steps):
    law = RoundedGaussian(Fraction(sigma), steps)
    with working_precision(160):
        points = law.points(400).finite
        places = [(one[0] + other[0]) / 2 for one, other in pairwise(points)][::7]
        for place, sides in zip(places, Stepped(law).sides(places), strict=True):
            for side, masses in ((0, sides[:2]), (1, sides[2:])):
                below = sum((point[1 + side] for point in points if point[0] < place), arb(0))
                above = sum((point[1 + side] for point in points if point[0] > place), arb(0))
                assert abs(masses[0] - below) < ball(Fraction(1, 10**20))
                assert abs(masses[1] - above) < ball(Fraction(1, 10**20))


def test_a_place_on_an_output_leaves_open_only_on_which_side_it_is():
    law = RoundedGaussian(Fraction(4), 1)
    with working_precision(100):
        loss = law.loss_at(3)
        (sides,) = Stepped(law).sides([loss])
        (low,), (high,) = (Stepped(law).sides([loss + shift]) for shift in (-0.01, 0.01))
        assert sides.p_below.contains(low.p_below)
        assert sides.p_below.contains(high.p_below)
        assert not low.p_below.overlaps(high.p_below)


@pytest.mark.parametrize(("sigma", "steps", "count", "epsilon"), [("1", 1, 3, "1"), ("3/2", 2, 2, "2"), ("1/2", 1, 2, "7")])
def test_composed_rounded_gaussians_lose_what_a_direct_sum_says(sigma, steps, count, epsilon):
    with mp.workdps(30):
        width, reach = mpf(Fraction(sigma).numerator) / Fraction(sigma).denominator, 12
        edges = [[mp.ncdf((x - mpf(1) / 2 - centre) / width) for x in range(-reach, reach + 2)] for centre in (steps, 0)]
        pairs = list(zip(*([right - left for left, right in pairwise(side)] for side in edges), strict=True))
        growth, total = mp.exp(mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator), mpf(0)
        for outcome in product(pairs, repeat=count):
            total += max(mpf(0), mp.fprod(p for p, _ in outcome) - growth * mp.fprod(q for _, q in outcome))
        truth = Fraction(mp.nstr(total, 15, min_fixed=0, max_fixed=0))
    found = (count * rounded(sigma, steps)).delta(epsilon=epsilon)
    assert found.lower <= truth * (1 + Fraction(1, 10**9))
    assert found.upper >= truth * (1 - Fraction(1, 10**9))
    assert found.width <= found.upper / 1000


def test_listed_outputs_and_steps_give_answers_that_meet(monkeypatch):
    answers = []
    for most in (1 << 14, 0):
        monkeypatch.setattr(discrete_gaussian, "MOST_LISTED", most)
        answers.append(tilted.lattice_for(100 * rounded(12), epsilon=Fraction(1)).delta(Fraction(1)))
    assert answers[0].meets(answers[1])
    assert answers[0].width <= answers[0].upper / 1000


@pytest.mark.parametrize(("sigma", "share"), [("200", "0.98"), ("2000", "0.999")])
def test_rounding_costs_less_and_less_as_the_noise_grows(sigma, share):
    count = int(Fraction(sigma)) ** 2 // 16
    found, above = (count * rounded(sigma)).delta(epsilon=1), (count * gaussian(sigma)).delta(epsilon=1)
    assert found.lower <= above.upper
    assert found.lower >= above.lower * Fraction(share)
