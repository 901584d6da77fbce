"""Laws on a lattice, built as the engine builds them, and their exact values where those are known."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from mpmath import mp, mpf

from dpaudit.accounting.engines.tilted import lattice_for


def growth_between(epsilon):
    """Rationals at or just below, and at or just above, e^epsilon."""
    with mp.workdps(60):
        near = Fraction(mp.nstr(mp.exp(mpf(epsilon.numerator) / epsilon.denominator), 50, min_fixed=0, max_fixed=0))
    return (near, near) if epsilon == 0 else (near * (1 - Fraction(1, 10**45)), near * (1 + Fraction(1, 10**45)))


def brute_delta(pairs, growth):
    """H_growth of a product of pairs in one direction by going through all its outcomes, exactly."""
    total = Fraction(0)
    for outcome in product(*(range(len(p)) for p, _ in pairs)):
        over = under = Fraction(1)
        for (p, q), index in zip(pairs, outcome, strict=True):
            over, under = over * p[index], under * q[index]
        total += max(Fraction(0), over - growth * under)
    return total


@pytest.fixture(scope="session")
def encloses():
    """A function: does the lattice enclose what brute force gives for a product of pairs."""

    def check(loss, pairs, epsilon, width=1e-3):
        built = lattice_for(loss.composition, epsilon=epsilon, width=width)
        if built is None:
            return None
        found = built.delta(epsilon)
        low, high = growth_between(epsilon)
        return found.lower <= brute_delta(pairs, low) and brute_delta(pairs, high) <= found.upper

    return check
