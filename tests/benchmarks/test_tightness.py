"""How much of a claim is needed: nothing is proven that an event refutes, and the Laplace mechanism has no slack."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit.catalogue.programs import basic, sums
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.refuter.witness import recheck

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from tightness import Tightness, scaled, tightness

LOOSE = "def f(q: list[Fraction], eps: Fraction, *, laplace):\n    return q[0] + laplace(2 / eps)\n"


@pytest.mark.parametrize("function", [basic.laplace_mechanism, sums.partial_sum])
def test_the_laplace_mechanism_is_proven_at_its_claim_and_refuted_below(function):
    found = tightness(parse(function), seconds=5)
    assert found.proven == 1
    assert 1 - Fraction(1, 10**9) < found.refuted <= 1
    assert found.gap < Fraction(1, 10**9)


def test_a_claim_with_slack_is_proven_at_the_multiple_that_is_needed():
    found = tightness(parse(LOOSE, Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])), seconds=1)
    assert found.refuted <= Fraction(1, 2) <= found.proven
    assert found.gap <= Fraction(1, 64)


def test_a_false_claim_is_refuted_beyond_itself_and_never_proven():
    found = tightness(parse(sums.bad_partial_sum), seconds=1)
    assert found.proven is None
    assert Fraction(199, 100) < found.refuted <= 2
    assert found.gap is None


def test_data_given_away_are_an_infinite_loss():
    assert Tightness(None, None) == tightness(parse(sums.bad_smart_sum), seconds=5)


def test_a_multiple_of_a_claim_is_refuted_by_a_witness_of_its_own():
    half = scaled(parse(basic.laplace_mechanism), Fraction(1, 2))
    witness = search(half, seconds=5)
    assert witness is not None
    assert recheck(half, witness)
    assert not recheck(parse(basic.laplace_mechanism), witness)


def test_a_logarithm_has_no_multiples():
    with pytest.raises(Undecided, match="logarithm"):
        tightness(parse(basic.randomised_response))
