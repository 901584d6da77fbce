"""How many runs show an event: enough nine times in ten where it breaks the claim, and out of reach where it is allowed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import binom

from dpaudit.catalogue.programs import basic
from dpaudit.exact import Enclosure
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.refuter.witness import runs_needed


def exactly(value):
    """An enclosure of one number."""
    return Enclosure(Fraction(value), Fraction(value))


@pytest.mark.parametrize(("first", "second", "epsilon", "delta"), [(0.3, 0.05, 1, 0), (0.02, 0.001, 1, 0), (0.5, 0.1, 1, 0.1)])
def test_so_many_runs_are_enough_nine_times_in_ten(first, second, epsilon, delta):
    """The one-binomial test of the auditor, its power summed over all numbers of hits."""
    runs = runs_needed(exactly(first), exactly(second), math.exp(epsilon), Fraction(delta))
    mass = (first + second) / 2
    most = (math.exp(epsilon) + delta / (2 * mass)) / (1 + math.exp(epsilon))
    power = 0.0
    for hits in range(1, runs + 1):
        chance = binom.pmf(hits, runs, mass)
        if chance > 1e-9:
            critical = binom.isf(0.05, hits, most) + 1
            power += chance * binom.sf(critical - 1, hits, first / (first + second))
    assert 0.85 <= power <= 0.97


def test_an_event_that_is_allowed_takes_more_runs_than_anyone_makes():
    assert 10**17 < runs_needed(exactly(0.3), exactly(0.2), math.exp(1))


def test_a_true_claim_has_no_witness_to_start_from():
    assert search(parse(basic.laplace_mechanism), seconds=1, events=20) is None
