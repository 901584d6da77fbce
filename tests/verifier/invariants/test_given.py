"""Invariants and alignments that users give are candidates: true ones help, false ones are dropped and reported."""

from __future__ import annotations

import pytest

from dpaudit import verify

SUM = """def f(q: list[Fraction], eps: Fraction) -> Fraction:
    s = Fraction(0)
    for i in range(len(q)):
        s = s + q[i]
    return s + laplace(1 / eps)
"""
EACH = """def f(q: list[Fraction], eps: Fraction) -> list[Fraction]:
    out = []
    for i in range(len(q)):
        eta = laplace(1 / eps)
        out.append(q[i] + eta)
    return out
"""
PROMISE = {"claim": "eps", "adjacency": "one", "requires": ["eps > 0"]}


@pytest.mark.parametrize(
    ("source", "true", "false"),
    [(SUM, "abs(other.s - s) <= 1", "s == other.s"), (EACH, "ghost.k < i or spent('eta') == 0", "spent('eta') <= 0")],
)
def test_a_false_invariant_is_dropped_and_its_round_shown(source, true, false):
    found = verify(source, invariants={3: [true, false]}, **PROMISE)
    assert "proven" == found.status
    assert repr(false) in found.reason
    assert "does not survive a round: " in found.reason
    assert true not in found.reason


def test_a_false_invariant_proves_nothing():
    found = verify(SUM.replace("1 / eps", "1 / (2 * eps)"), invariants={3: ["s == other.s", "False"]}, seconds=5, **PROMISE)
    assert "proven" != found.status


@pytest.mark.parametrize(
    ("line", "text", "reason"),
    [
        (4, "s == other.s", "no loop begins"),
        (3, "spent('eta') <= 1", "names no draw"),
        (3, "s + 1", "truth value"),
        (3, "x > 0", "x"),
    ],
)
def test_what_cannot_be_read_is_said(line, text, reason):
    found = verify(SUM, invariants={line: [text]}, **PROMISE)
    assert "unknown" == found.status
    assert reason in found.reason


def test_a_draw_without_a_name_is_named_by_its_line():
    assert "proven" == verify(SUM, align={"line 5": "s - other.s"}, **PROMISE).status
    twice = SUM.replace("laplace(1 / eps)", "laplace(2 / eps) + laplace(2 / eps)")
    assert "names no draw" in verify(twice, align={"line 5": "0"}, **PROMISE).reason
