"""Counterexamples where an output is no linear form of Laplace noise: Gaussian tails, products and quotients beside what leaks."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpaudit import verify
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.refuter.events import ANY, Box, Event, probability
from dpaudit.verifier.refuter.neighbours import InputPair
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.refuter.witness import measure_event

ONE = Fraction(1)
BELL = "def f(q: list[Fraction], *, gaussian):\n    return q[0] + gaussian({sigma})\n"
QUOTIENT = """
def f(q: list[Fraction], eps: Fraction, *, laplace):
    total = Fraction(0)
    for i in range(0, len(q)):
        total = total + q[i]
    x = total + laplace(1 / eps)
    n = laplace(1 / eps)
    if n < 1:
        return Fraction(0), {shown}
    return x / n, {shown}
"""


def bell(sigma, claim):
    """One Gaussian release with its claim."""
    return parse(BELL.format(sigma=sigma), Spec(claim=claim, adjacency="one", requires=["len(q) == 1"]))


@pytest.mark.parametrize(("low", "high"), [(1, 2), (-2, -1), (-1, 2), (0, 200), (8, 300)])
def test_a_box_of_gaussian_noise_has_the_probability_of_the_normal_law(low, high):
    found = probability(bell(2, 1), {"q": (0 * ONE,)}, Event((Box(low * ONE, high * ONE),)))
    wanted = (math.erfc(low / 2 / math.sqrt(2)) - math.erfc(high / 2 / math.sqrt(2))) / 2
    assert float(found.lower) == pytest.approx(wanted, rel=1e-12)
    assert found.lower <= found.upper


def test_a_gaussian_claim_is_refuted_below_the_exact_sigma_and_not_above():
    # The exact sigma for (1, 1e-5) is 3.7306 (Balle and Wang 2018).
    assert search(bell("Fraction(7, 2)", ("1", "1e-5")), seconds=20) is not None
    assert search(bell("Fraction(3731, 1000)", ("1", "1e-5")), seconds=1) is None


def test_what_leaks_beside_a_quotient_of_noise_is_found():
    specification = {"claim": "2 * eps", "adjacency": "one", "requires": ["eps > 0", "len(q) >= 1"]}
    found = verify(QUOTIENT.format(shown="total"), seconds=15, **specification)
    assert ("refuted", True) == (found.status, "any number" in found.words[2] or "returns" in " ".join(found.words))
    assert "refuted" != verify(QUOTIENT.format(shown="total * 0"), seconds=4, **specification).status


def test_an_event_on_a_number_of_which_nothing_is_known_is_not_measured():
    product = QUOTIENT.format(shown="total").replace("x / n", "x * n")
    program = parse(product, Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) == 1"]))
    pair = InputPair({"q": (0 * ONE,), "eps": ONE}, {"q": (ONE,), "eps": ONE})
    with pytest.raises(ArithmeticError, match="nothing is known"):
        measure_event(program, pair, Event((Box(0 * ONE, ONE), 0 * ONE)))
    assert measure_event(program, pair, Event((ANY, 0 * ONE))).witness is not None


def test_a_quotient_is_measured_where_its_divisor_is_above_zero_and_not_else():
    promise = Spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) == 1"])
    program = parse(QUOTIENT.format(shown="total"), promise)
    event = Event((Box(ONE / 2, ONE), 0 * ONE))
    found = probability(program, {"q": (0 * ONE,), "eps": ONE}, event)
    # n / 2 <= x < n and n >= 1, for two Laplace draws of scale 1.
    assert float(found.lower) == pytest.approx((math.exp(-1.5) / 1.5 - math.exp(-2) / 2) / 4, rel=1e-9)
    loose = parse(QUOTIENT.format(shown="total").replace("if n < 1", "if n < 0 - 1"), promise)
    with pytest.raises(ArithmeticError, match="may be anywhere"):
        probability(loose, {"q": (0 * ONE,), "eps": ONE}, event)
