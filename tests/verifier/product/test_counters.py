"""Loops that count: they end whatever is drawn, so that one output at a time may be looked at; others may not."""

from __future__ import annotations

import pytest

from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.walk import counter_of, loops
from dpaudit.verifier.proving import Proof, modes, prove

LARGEST = """
def largest(q: list[Fraction], n: int, eps: Fraction) -> int:
    winner = 0
    best = q[0] + laplace(2 / eps)
    i = 1
    while i < len(q):
        x = q[i] + laplace(2 / eps)
        if x > best:
            winner = i
            best = x
        i += 1
    return winner
"""


def read(source):
    """A program with its promise."""
    return parse(source, Spec(claim="eps", adjacency="all", requires=["eps > 0", "len(q) >= 1"]))


def test_a_noisy_maximum_by_while_is_proven():
    program = read(LARGEST)
    assert "i" == counter_of(loops(program)[0])
    assert True in modes(program, directions(program)[0])
    assert isinstance(prove(program, seconds=40), Proof)


ENDLESS = {
    "a round that is not counted": ("        i += 1\n", "        if x > 0:\n            i += 1\n"),
    "a round that is left before": ("        x = q", "        if best > 0:\n            continue\n        x = q"),
    "counted down as well": ("        i += 1\n", "        if x > 0:\n            i = i - 2\n        i += 1\n"),
    "counted by two": ("i += 1", "i += 2"),
    "no limit": ("while i < len(q)", "while i < 2 or best < 5"),
    "a limit from below": ("while i < len(q)", "while 0 < i"),
    "a limit that moves": (
        "    while i < len(q):\n",
        "    m = 3\n    while i < m:\n        m = m + 1\n",
    ),
}


@pytest.mark.parametrize(("old", "new"), ENDLESS.values(), ids=ENDLESS)
def test_loops_that_may_not_end_are_not_counted(old, new):
    source = LARGEST.replace(old, new).replace("q[i]", "q[0]")
    program = read(source)
    assert counter_of(loops(program)[0]) is None
    assert (False,) == modes(program, directions(program)[0])


@pytest.mark.parametrize("wrong", ["half the noise", "answers without noise"])
def test_broken_ones_are_not_proven(wrong):
    source = LARGEST.replace("2 / eps", "1 / eps") if wrong == "half the noise" else LARGEST.replace("x > best", "q[i] > best")
    assert not isinstance(prove(read(source), seconds=4), Proof)
