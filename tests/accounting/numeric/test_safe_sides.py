"""Conversions to doubles stay on their side of the ball, and points that are spread claim no more than all outcomes show."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from dpaudit.accounting import compose, explicit_pair
from dpaudit.accounting.engines.cells import _at_least, _at_most
from dpaudit.accounting.engines.tilted import lattice_for
from dpaudit.exact import ball, working_precision

FIRST = (("1/2", "1/3", "1/6"), ("1/6", "1/2", "1/3"))
SECOND = (("3/5", "1/4", "3/20"), ("1/4", "7/20", "2/5"))


@pytest.mark.parametrize("middle", [Fraction(1, 3), Fraction(10**30 + 1, 7), Fraction(1, 3**200)])
@pytest.mark.parametrize("radius", ["0", "1e-12", "1/10"])
def test_a_double_is_on_the_safe_side_of_its_ball(middle, radius):
    low, high = (middle * (1 + sign * Fraction(radius)) for sign in (-1, 1))
    with working_precision(100):
        value = ball(low).union(ball(high))
        assert Fraction(_at_most(value)) <= low
        assert Fraction(_at_least(value)) >= high


def outcomes():
    """P and Q mass of all outcomes of two uses of the first pair and three of the second."""
    pairs = [tuple(tuple(Fraction(mass) for mass in side) for side in pair) for pair in (FIRST, FIRST, SECOND, SECOND, SECOND)]
    for rows in product(*(zip(*pair, strict=True) for pair in pairs)):
        yield math.prod(p for p, _ in rows), math.prod(q for _, q in rows)


def test_spread_points_claim_no_more_than_all_outcomes_show():
    """Losses that no lattice carries, at epsilons next to where delta bends, on wide cells; in doubles, good to 1e-12 here."""
    both = [(float(p), float(q)) for p, q in outcomes()]
    bends = sorted({round(math.log(p / q), 9) for p, q in both if p > q})
    for bend in bends[2:20:4]:
        epsilon = Fraction(bend)
        built = lattice_for(compose(2 * explicit_pair(*FIRST), 3 * explicit_pair(*SECOND)).composition, epsilon=epsilon, width=0.5)
        assert any(law.spread for law in built.lattices)
        expected = math.fsum(max(0.0, p - math.exp(bend) * q) for p, q in both)
        assert built.delta(epsilon).lower <= expected * (1 + 1e-12)
        assert built.delta(epsilon).upper >= expected * (1 - 1e-12)
