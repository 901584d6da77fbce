"""Counterexamples: found for false claims, computed anew, never given for true ones."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpaudit.catalogue import PROGRAMS, Specimen
from dpaudit.exact import Enclosure
from dpaudit.spec import Inc, Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.ir import Program
from dpaudit.verifier.refuter.events import Box, Event, probability
from dpaudit.verifier.refuter.neighbours import InputPair, is_admissible
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.refuter.witness import measure_event, recheck

FALSE = [case for case in PROGRAMS if case.verdict == "refuted"]
TRUE = [case for case in PROGRAMS if case.verdict == "proven"]


def program(source: str, claim: str = "eps", adjacency: str = "one", requires: tuple[str, ...] = ("eps > 0",)) -> Program:
    """A program from its text."""
    return parse(source, Spec(claim=claim, adjacency=adjacency, requires=requires))


def holds(enclosure: Enclosure, value: float) -> bool:
    """Whether an enclosure is about this number."""
    return float(enclosure.lower) * (1 - 1e-12) <= value <= float(enclosure.upper) * (1 + 1e-12)


@pytest.mark.parametrize("case", FALSE, ids=lambda case: case.program.__name__)
def test_false_claims_of_the_suite_get_a_witness_that_can_be_computed_again(case: Specimen) -> None:
    """Every program of the suite whose claim is false is refuted without a hint."""
    target = parse(case.program)
    witness = search(target, seconds=60)
    assert witness is not None
    assert recheck(target, witness)


@pytest.mark.parametrize("case", TRUE, ids=lambda case: case.program.__name__)
def test_true_claims_are_not_refuted(case: Specimen) -> None:
    """A short search finds nothing against what is true."""
    assert search(parse(case.program), seconds=1.0) is None


LAPLACE = "def f(q: list[Fraction], eps: Fraction, *, laplace):\n    return q[0] + laplace(1 / eps)\n"


def test_probabilities_are_those_of_the_law() -> None:
    """A box of Laplace noise, against the closed form."""
    inputs = {"q": (Fraction(1),), "eps": Fraction(2)}
    found = probability(program(LAPLACE), inputs, Event((Box(Fraction(2), Fraction(3)),)))
    assert holds(found, (math.exp(-2) - math.exp(-4)) / 2)


def test_two_noises_that_are_compared_are_integrated_exactly() -> None:
    """P(X >= 1 + Y) for Laplace noises of scales 1 and 1: e^-1 (1/2 + 1/4)."""
    source = (
        "def f(q: list[Fraction], *, laplace):\n    t = laplace(Fraction(1, 1))\n"
        "    return q[0] + laplace(Fraction(1, 1)) >= 1 + t\n"
    )
    found = probability(program(source, "1", requires=()), {"q": (Fraction(0),)}, Event((True,)))
    assert holds(found, 0.75 * math.exp(-1))


def test_rare_events_keep_their_sign() -> None:
    """A probability of 1e-44 is a number between positive ends, where quadrature with a cut would give nothing."""
    source = "def f(q: list[Fraction], *, laplace):\n    return q[0] + laplace(Fraction(1, 1)) > 100\n"
    found = probability(program(source, "1", requires=()), {"q": (Fraction(0),)}, Event((True,)))
    assert found.lower > 0
    assert holds(found, math.exp(-100) / 2)


def test_the_smaller_epsilon_is_where_joint_injectivity_fails() -> None:
    """Four unit squares mapped onto two: the ratio passes e^epsilon only for small epsilon."""
    source = """
def f(q: list[Fraction], eps: Fraction, *, laplace):
    x = laplace(2 / eps)
    y = laplace(2 / eps)
    inside = 0 <= x and x < 2 and 0 <= y and y < 2
    if inside and (q[0] <= 0 or (x < 1) == (y < 1)):
        return 1
    return 0
"""
    witness = search(program(source, requires=("eps > 0", "len(q) == 1")), seconds=30)
    assert witness is not None
    assert witness.pair.first["eps"] == Fraction(1, 10)
    assert math.isclose(0.6925, float(witness.lower or 0), abs_tol=1e-4)


def test_noise_used_twice_is_refuted_by_the_space_of_outputs() -> None:
    """The difference of the outputs tells the data whatever the noise is."""
    source = (
        "def f(q: list[Fraction], eps: Fraction, *, laplace):\n    out = []\n    e = laplace(1 / eps)\n"
        "    out.append(q[0] + e)\n    out.append(q[1] + e)\n    return out\n"
    )
    target = program(source, requires=("eps > 0", "len(q) == 2"))
    witness = search(target, seconds=30)
    assert witness is not None
    assert witness.lower is None
    assert recheck(target, witness)


COSETS = """
def f(q: list[int], *, discrete_laplace, uniform_int):
    x = discrete_laplace(Fraction(1, 1))
    r = uniform_int(2)
    z = discrete_laplace(Fraction(1, 1), 2)
    out = []
    if q[0] <= 0:
        out.append(x)
    else:
        out.append(z + r)
    return out
"""


def test_lattice_noise_is_not_refuted_by_spaces() -> None:
    """Outputs on Z against those on 2Z and 2Z + 1: different cosets, yet every point has mass and the claim 6/5 holds."""
    target = program(COSETS, "Fraction(6, 5)", "one", ("len(q) == 1",))
    assert search(target, seconds=2.0) is None


MEASURE_ZERO = """
def f(q: list[Fraction], eps: Fraction, *, laplace):
    x = laplace(1 / eps)
    if x == 0:
        return q[0]
    return q[0] + x
"""


def test_a_path_of_probability_zero_proves_nothing() -> None:
    """A branch that leaks, but only where continuous noise is exactly 0, breaks no claim."""
    target = program(MEASURE_ZERO, requires=("eps > 0", "len(q) == 1"))
    assert search(target, seconds=2.0) is None


def test_pairs_outside_the_specification_are_no_witnesses() -> None:
    """Too far apart, against the direction, of the wrong type, of another length: all refused."""
    grows = parse(LAPLACE, Spec(claim="eps", adjacency=Inc(1), requires=["eps > 0"]))
    one = Fraction(1)
    good = InputPair({"q": (one,), "eps": one}, {"q": (2 * one,), "eps": one})
    assert is_admissible(grows, good)
    assert not is_admissible(grows, good.reversed())
    for second in (
        {"q": (3 * one,), "eps": one},
        {"q": (2 * one,), "eps": 2 * one},
        {"q": (2,), "eps": one},
        {"q": (), "eps": one},
    ):
        assert not is_admissible(grows, InputPair(good.first, second))
    assert not is_admissible(grows, InputPair({"q": (one,), "eps": -one}, {"q": (one,), "eps": -one}))


def test_a_changed_witness_does_not_hold() -> None:
    """Other events, other probabilities and pairs that are no neighbours are all computed anew."""
    target = program(LAPLACE, claim="eps / 2", requires=("eps > 0", "len(q) == 1"))
    witness = search(target, seconds=30)
    assert witness is not None
    assert recheck(target, witness)
    far = InputPair(witness.pair.first, {**witness.pair.second, "q": (Fraction(9),)})
    assert not recheck(target, replace(witness, pair=far))
    assert not recheck(target, replace(witness, event=Event((Box(Fraction(-(10**6)), Fraction(10**6)),))))
    assert not recheck(program(LAPLACE, requires=("eps > 0", "len(q) == 1")), witness)


def test_what_cannot_be_integrated_is_said_to_be_undecided() -> None:
    """Noise that is multiplied or of a discrete Gaussian law gives no number rather than a wrong one."""
    product = "def f(q: list[Fraction], eps: Fraction, *, laplace):\n    x = laplace(1 / eps)\n    return q[0] + x * x\n"
    normal = "def f(q: list[Fraction], eps: Fraction, *, discrete_gaussian):\n    return q[0] + discrete_gaussian(1 / eps)\n"
    inputs = {"q": (Fraction(0),), "eps": Fraction(1)}
    pair = InputPair(inputs, {**inputs, "q": (Fraction(1),)})
    for source in (product, normal):
        with pytest.raises(Undecided):
            measure_event(program(source), pair, Event((Box(Fraction(0), Fraction(1)),)))


def test_types_of_outputs_count() -> None:
    """True is not 1, and a whole number is not the rational one."""
    source = "def f(q: list[int], eps: Fraction):\n    if q[0] > 0:\n        return True\n    return False\n"
    target = program(source, "0", requires=("eps > 0", "len(q) == 1"))
    inputs = {"q": (1,), "eps": Fraction(1)}
    assert probability(target, inputs, Event((True,))).lower == 1
    assert probability(target, inputs, Event((1,))).upper == 0
