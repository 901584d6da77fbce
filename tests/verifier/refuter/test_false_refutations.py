"""True claims that a careless refuter refutes: each is kept by one check, and refuted where it is taken out."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpaudit.exact import Enclosure
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.refuter import regions, supports, witness
from dpaudit.verifier.refuter.events import Box, Event
from dpaudit.verifier.refuter.neighbours import InputPair
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.refuter.witness import Witness, measure_event, measure_space, recheck
from tests.verifier.product.test_removals import take_out

ON_LATTICE = """
def f(q: list[int], *, discrete_laplace):
    x = discrete_laplace(Fraction(1, 1))
    w = discrete_laplace(Fraction(1, 3))
    out = []
    out.append(x)
    out.append(x if q[0] <= 0 else x + w)
    return out
"""
ON_A_LINE = """
def f(q: list[Fraction], *, laplace, uniform_int):
    x = laplace(Fraction(1, 1))
    r = uniform_int(2)
    if r == 0 and x == 0:
        return q[0]
    return q[0] + x
"""
LAPLACE = "def f(q: list[Fraction], *, laplace):\n    return q[0] + laplace(Fraction(1, 1))\n"
ONE = Fraction(1)


def test_a_smaller_lattice_has_mass_on_both_sides(monkeypatch):
    # The two outputs are equal on one side, and equal with probability 0.905 on the other: ln(1/0.905) = 0.1 and delta = 0.095 do.
    program = parse(ON_LATTICE, Spec(claim=("1/5", "1/8"), adjacency="one", requires=["len(q) == 1"]))
    pair = InputPair({"q": (0,)}, {"q": (1,)})
    assert search(program, seconds=1.0) is None
    with pytest.raises(Undecided, match="not all continuous"):
        measure_space(program, pair)
    take_out(monkeypatch, [(supports.spaces_of, "if any(noise.whole for noise in path.noises.values()):", "if False:")])
    assert isinstance(measure_space(program, pair), Witness)


def test_an_equality_of_continuous_noise_has_probability_0(monkeypatch):
    program = parse(ON_A_LINE, Spec(claim=1, adjacency="one", requires=["len(q) == 1"]))
    pair = InputPair({"q": (0 * ONE,)}, {"q": (ONE,)})
    near = Event((Box(-ONE / 10, ONE / 10),))
    assert measure_event(program, pair, near).witness is None
    asked = 'if any(condition.relation == "==" for condition in left):'
    take_out(monkeypatch, [(regions.mass_of, asked, 'left = [one for one in left if one.relation != "=="]\n    if False:')])
    assert isinstance(measure_event(program, pair, near).witness, Witness)


def test_data_that_are_too_far_apart_show_nothing(monkeypatch):
    program = parse(LAPLACE, Spec(claim=1, adjacency="one", requires=["len(q) == 1"]))
    pair = InputPair({"q": (0 * ONE,)}, {"q": (2 * ONE,)})
    far = measure_event(program, pair, Event((Box(-2 * ONE, -ONE),))).witness
    assert isinstance(far, Witness)
    assert isinstance(far.first, Enclosure)
    assert not recheck(program, far)
    take_out(monkeypatch, [(witness.recheck, "if not is_admissible(program, witness.pair):", "if False:")])
    assert recheck(program, far)
