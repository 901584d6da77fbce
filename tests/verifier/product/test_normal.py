"""Claims of Gaussian noise by the sum of its squared shifts: exact, adaptive, and for nothing else."""

from __future__ import annotations

from fractions import Fraction
from math import erfc, exp, sqrt

import pytest

from dpaudit import verify
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.normal import excess, largest_shift
from dpaudit.verifier.proving import obligations
from dpaudit.verifier.terms import ONE, TRUE, ZERO, Sort, choose, less, variable

ONE_RELEASE = "def f(q: list[Fraction]) -> Fraction: return q[0] + gaussian(Fraction({}, 10000))"
CLAIM = {"claim": ("1", "1e-5"), "adjacency": "one", "requires": ["len(q) >= 1"]}
MIXED = """
def f(q: list[Fraction]) -> tuple[Fraction, Fraction]:
    x = q[0] + gaussian(100)
    return x, {} + laplace(1000)
"""
OWN = """
def f(q: list[Fraction]) -> bool:
    x = gaussian(1)
    return q[0] + x > 0
"""


def delta(epsilon, shift):
    """The smallest delta, in floats."""
    upper, lower = shift / 2 - epsilon / shift, -shift / 2 - epsilon / shift
    return (erfc(-upper / sqrt(2)) - exp(epsilon) * erfc(-lower / sqrt(2))) / 2


@pytest.mark.parametrize(("epsilon", "wanted"), [(1, Fraction(1, 10**5)), (0, Fraction(1, 2)), (Fraction(1, 10), Fraction(1, 100))])
def test_the_largest_shift_is_the_largest(epsilon, wanted):
    found = largest_shift(Fraction(epsilon), wanted)
    assert excess(Fraction(epsilon), found) <= wanted < excess(Fraction(epsilon), found + Fraction(1, 2**40))
    assert float(wanted) == pytest.approx(delta(float(epsilon), float(found)), rel=1e-6)


def test_nothing_may_move_where_delta_is_zero():
    assert (0, 0) == (largest_shift(Fraction(1), Fraction(0)), largest_shift(Fraction(0), Fraction(0)))


@pytest.mark.parametrize(("sigma", "status"), [(37307, "proven"), (37306, "unknown"), (36930, "refuted")])
def test_one_release_is_proven_at_the_exact_sigma_and_not_below(sigma, status):
    assert status == verify(ONE_RELEASE.format(sigma), **CLAIM).status


@pytest.mark.parametrize(("value", "status"), [("0", "proven"), ("q[0]", "unknown")])
def test_other_noise_may_occur_where_it_is_not_moved(value, status):
    promise = {"claim": ("1/10", "1/10"), "adjacency": "one", "requires": ["len(q) >= 1"]}
    assert status == verify(MIXED.format(value), **promise).status


def test_a_shift_that_looks_at_its_own_noise_fails_by_its_form():
    program = parse(OWN, Spec(claim=("1", "1/10"), adjacency="one", requires=["len(q) >= 1"]))
    shift = choose(less(ZERO, variable("x", Sort.REAL)), ONE, ZERO)
    made = obligations(program, directions(program)[0], {1: shift}, {})
    assert [one for one in made if one.kind == "piecewise" and one.goal is not TRUE]


def test_a_discrete_law_is_not_priced_by_it():
    source = "def f(q: list[int]) -> int: return q[0] + discrete_gaussian(100)"
    assert "unknown" == verify(source, **CLAIM).status


def test_a_call_with_a_price_of_its_own_is_not_priced_by_it():
    helper = "def h(q: list[Fraction]) -> Fraction: return q[0] + laplace(1)"
    source = "def f(q: list[Fraction]) -> tuple[Fraction, Fraction]: return h(q), q[0] + gaussian(10**3)"
    common = {"adjacency": "one", "requires": ["len(q) >= 1"]}
    found = verify(source, claim=("1/2", "9/10"), helpers={"h": (helper, Spec(claim="1", **common))}, **common)
    assert "proven" != found.status
