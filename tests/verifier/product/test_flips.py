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


def status(source, claim, requires=REQUIRED, seconds=8):
    """The verdict where one person's number may become any other near it."""
    return verify(source, claim=claim, adjacency="one", requires=requires, seconds=seconds).status


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


NAMED = """
def f(q: list[int], k: int, r: Fraction{more}) -> list[bool]:
    out = []
    for b in range(k):
        {before}
        out.append(randomized_response({bit}, p))
        {after}
    return out
"""
P = "p = r / (1 + r)"


@pytest.mark.parametrize(
    ("bit", "before", "after", "claim", "holds"),
    [
        ("q[0] == b", P, "x = 0", "log(r ** 2)", True),
        pytest.param("q[0] == b or q[0] + 1 == b", P, "x = 0", "log(r ** 4)", True, marks=[pytest.mark.campaign, pytest.mark.slow]),
        pytest.param(
            "q[0] == b or q[0] + 1 == b", P, "x = 0", "log(r ** 2)", False, marks=[pytest.mark.campaign, pytest.mark.slow]
        ),
        pytest.param("q[0] == b", P, "x = 0", "log(r)", False, marks=[pytest.mark.campaign, pytest.mark.slow]),
        # In the first round the name is a parameter's, about which nothing is known.
        ("q[0] == b", "x = 0", P, "log(r ** 2)", False),
        # The name has another value in every second round.
        ("q[0] == b", "p = r / (1 + r) if b % 2 == 0 else r * r / (1 + r * r)", "x = 0", "log(r ** 2)", False),
    ],
)
def test_odds_may_have_a_name_if_it_means_the_same_at_each_draw(bit, before, after, claim, holds):
    more = ", p: Fraction" if before == "x = 0" else ""
    requires = [*REQUIRED, "k >= 1", *(["p >= 1/4", "p <= 3/4"] if more else [])]
    source = NAMED.format(bit=bit, before=before, after=after, more=more)
    assert holds is ("proven" == status(source, claim, requires, 20 if holds else 3))
