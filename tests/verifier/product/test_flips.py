"""Randomized truth values are counted where the claim is a power of their one factor."""

from __future__ import annotations

import pytest

from dpaudit import verify

BITS = """
def f(q: list[int], k: int, r: Fraction) -> list[bool]:
    out = []
    for b in range(k):
        out.append(randomized_response({bit}, {p}))
    return out
"""
TWO = """
def f(q: list[int], r: Fraction) -> tuple[bool, bool]:
    a = randomized_response(q[0] == 1, r / (1 + r))
    b = randomized_response(q[0] == 2, {p})
    return a, b
"""
REQUIRED = ["len(q) >= 1", "r >= 1"]


def status(source, claim, requires=REQUIRED):
    """The verdict where one person's number may become any other near it."""
    return verify(source, claim=claim, adjacency="one", requires=requires, seconds=8).status


def test_a_report_with_one_bit_set_costs_two_factors():
    assert "proven" == status(BITS.format(bit="q[0] == b", p="r / (1 + r)"), "log(r * r)", [*REQUIRED, "k >= 1"])


@pytest.mark.parametrize(
    ("source", "claim", "requires"),
    [
        (BITS.format(bit="q[0] == b", p="r / (1 + r)"), "log(r)", REQUIRED),
        (BITS.format(bit="q[0] > b", p="r * r / (1 + r * r)"), "log(r * r)", REQUIRED),
        (BITS.format(bit="q[0] % 2 == 0", p="r / (1 + r)"), "log(r * r)", REQUIRED),
        (BITS.format(bit="q[0] == b", p="1 / (1 + r)"), "log(1 + r - r)", REQUIRED),
        (TWO.format(p="r * r / (1 + r * r)"), "log(r * r)", REQUIRED),
        (TWO.format(p="r / (1 + r)"), "log(r * r)", ["len(q) >= 1", "r > 0"]),
        (TWO.format(p="r / (1 + r)"), "log(r * r)", ["len(q) >= 1", "r <= -1"]),
    ],
)
def test_no_smaller_power_is_proven(source, claim, requires):
    assert "proven" != status(source, claim, requires)


def test_unequal_factors_are_multiplied():
    assert "proven" == status(TWO.format(p="r * r / (1 + r * r)"), "log(r * r * r)")
