"""What the reader learned from a fifth list: stored attributes, receivers, edges and small sorts, each with its false twin."""

from __future__ import annotations

import pytest

from dpaudit.verifier import verify

BOX = """
class Budget:
    def __init__(self, total):
        self.left = total

    def spend(self, part):
        self.left -= part
        return part

def f(q: list[int], eps: Fraction):
    budget = Budget(eps)
    first = len(q) + laplace(1 / budget.spend(eps / 4))
    return first, len(q) + laplace(1 / budget.left)
"""
CLIP = "def f(q: list[int], eps: Fraction):\n    return sum(sorted((0, x, 1))[1] for x in q) + laplace(1 / eps)\n"
PARTS = """
def f(q: list[int], eps: Fraction):
    low, high = [], []
    for x in q:
        (low if x < 3 else high).append(x)
    return len(low) + laplace(1 / eps), len(high) + laplace(1 / eps)
"""
EDGES = """
from bisect import bisect

def f(q: list[int], eps: Fraction):
    return sum(bisect([0, 10], x) for x in q) + laplace(2 / eps)
"""


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (BOX, "self.left -= part", "self.left -= 0"),
        (CLIP, "(0, x, 1)", "(0, x, 2)"),
        (PARTS, "len(high) + laplace(1 / eps)", "len(high)"),
        (EDGES, "[0, 10]", "[0, 10, 20]"),
    ],
)
def test_what_is_read_now_is_proven_and_its_twin_is_not(text, old, new):
    promise = {"claim": "eps", "adjacency": "add_remove", "requires": ["eps > 0"]}
    assert "proven" == verify(text, **promise).status
    assert "refuted" == verify(text.replace(old, new), **promise).status
