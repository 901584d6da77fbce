"""Nothing is proven about nobody: a proof needs neighbours that differ, and a specification without them is vacuous."""

from __future__ import annotations

import pytest

from dpaudit.spec import L1, L2, All, Inc, One, Spec
from dpaudit.verifier import verify
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.product import witness
from dpaudit.verifier.product.witness import VACUOUS, Witnesses, witnesses
from dpaudit.verifier.refuter.neighbours import is_admissible
from dpaudit.verifier.terms import TRUE
from tests.verifier.product.test_removals import take_out

TOTAL = "def f(q: list[int]) -> int:\n    s = 0\n    for i in range(len(q)):\n        s = s + q[i]\n    return s\n"
NOISY = "def f(q: list[Fraction], eps: Fraction) -> Fraction: return q[0] + laplace(1 / eps)"
PAIR = "def f(q: list[int], p: list[int]) -> int:\n    return q[0] - q[0] if len(q) == 0 else 0\n"
CONSTANT = "def f(q: list[int], p: list[int], n: int) -> int: return 0"

VACUOUS_ONES = {
    "domain that contradicts itself": (TOTAL, {"domain": ["q[each] >= 1", "q[each] <= 0"]}),
    "domain that contradicts itself in one clause": (TOTAL, {"domain": ["q[each] < q[each]"]}),
    "a radius of 1/2 on integers": (TOTAL, {"adjacency": One("1/2")}),
    "a radius of 99/100 for every integer": (TOTAL, {"adjacency": All("99/100")}),
    "a sum of changes below 1 of integers": (TOTAL, {"adjacency": L1("1/2")}),
    "a sum of squares below 1 of integers": (TOTAL, {"adjacency": L2("3/4")}),
    "growth by less than 1 of integers": (TOTAL, {"adjacency": Inc("1/3")}),
    "no record": (TOTAL, {"requires": ["len(q) == 0"]}),
    "less than one record": (TOTAL, {"requires": ["len(q) < 1"]}),
    "a bound of 0": (TOTAL, {"adjacency": One(0)}),
    "a bound of a - a": (TOTAL, {"adjacency": One("len(q) - len(q)")}),
    "one value only": (TOTAL, {"domain": ["q[each] == 3"]}),
    "even numbers that differ by 1": (TOTAL, {"domain": ["q[each] % 2 == 0"]}),
    "twice a number is odd": (TOTAL, {"domain": ["2 * q[each] % 2 == 1"]}),
    "multiples of 5 that differ by 4": (TOTAL, {"adjacency": One(4), "domain": ["q[each] % 5 == 0"]}),
    "a square below 0": (TOTAL, {"domain": ["q[each] * q[each] < 0"]}),
    "a requirement that contradicts itself": (TOTAL, {"requires": ["len(q) >= 2", "len(q) <= 1"]}),
    "a length that is not whole": (TOTAL, {"requires": ["2 * len(q) == 5"]}),
    "false": (TOTAL, {"domain": ["False"]}),
    "an element that must not be": (TOTAL, {"requires": ["len(q) >= 1"], "domain": ["q[0] != q[0]"]}),
    "a division by 0": (TOTAL, {"domain": ["1 / (q[each] - q[each]) > 0"]}),
    "equal to a public list": (
        CONSTANT,
        {"adjacency": {"q": "one"}, "public": ["p"], "requires": ["len(q) == len(p)"], "domain": ["q[each] == p[each]"]},
    ),
    "tied to a parameter": (CONSTANT, {"adjacency": {"q": "one", "p": "one"}, "domain": ["q[each] == n"]}),
    "one of two lists does not change": (CONSTANT, {"adjacency": {"q": One(1), "p": One(0)}}),
}
SOUND_TWINS = {
    "domain of two values": (TOTAL, {"domain": ["q[each] >= 0", "q[each] <= 1"]}),
    "a radius of 1": (TOTAL, {"adjacency": One(1)}),
    "a radius of 3/2 for every integer": (TOTAL, {"adjacency": All("3/2")}),
    "a sum of changes of 1": (TOTAL, {"adjacency": L1(1)}),
    "a sum of squares of 1": (TOTAL, {"adjacency": L2(1)}),
    "growth by 1": (TOTAL, {"adjacency": Inc(1)}),
    "seven records": (TOTAL, {"requires": ["len(q) == 7"]}),
    "at least 60 records": (TOTAL, {"requires": ["len(q) >= 60"]}),
    "even numbers that differ by 2": (TOTAL, {"adjacency": One(2), "domain": ["q[each] % 2 == 0"]}),
    "multiples of 5 that differ by 5": (TOTAL, {"adjacency": One(5), "domain": ["q[each] % 5 == 0"]}),
    "a square at most 4": (TOTAL, {"domain": ["q[each] * q[each] <= 4"]}),
    "lists of different lengths": (CONSTANT, {"adjacency": {"q": "one", "p": "one"}, "requires": ["len(q) == 2 * len(p) + 1"]}),
    "equal to a public list where there is one": (
        CONSTANT,
        {"adjacency": {"q": "one"}, "public": ["p"], "domain": ["q[each] == p[each]"]},
    ),
    "a bound that is a parameter": (CONSTANT, {"adjacency": {"q": One("n"), "p": "one"}, "requires": ["n >= 1"]}),
    "the sum of squares on two records": (
        TOTAL,
        {"adjacency": L2(2), "requires": ["len(q) >= 2"], "domain": ["q[0] + q[1] == 5 or len(q) > 2"]},
    ),
}


def verdict(row):
    """What the verifier says of a claim of no loss at all."""
    text, rest = row
    return verify(text, **{"claim": 0, "adjacency": "one", "seconds": 10, **rest})


@pytest.mark.parametrize("name", VACUOUS_ONES)
def test_a_specification_that_no_different_neighbours_meet_is_vacuous(name):
    found = verdict(VACUOUS_ONES[name])
    assert "unknown" == found.status
    assert found.reason.startswith(VACUOUS)
    assert "the claim says nothing" in found.reason


@pytest.mark.parametrize("name", SOUND_TWINS)
def test_its_twin_has_neighbours_that_are_checked_in_exact_numbers(name):
    text, rest = SOUND_TWINS[name]
    parts = {"claim": 0, "adjacency": "one", **rest}
    program = parse(text, Spec(**parts))
    found = witnesses(program)
    assert isinstance(found, Witnesses)
    for (private, _), pair in zip(program.contract.changes, found.pairs, strict=True):
        assert pair.first[private] != pair.second[private]
        assert is_admissible(program, pair)
        assert is_admissible(program, pair.reversed()) or "inc" == program.contract.changes[0][1].relation.value


@pytest.mark.parametrize(
    "requires", ["len(q) >= 6", "len(q) >= 40", "len(q) == 17", "len(q) % 7 == 3", "len(q) >= 2 and len(q) != 2"]
)
def test_a_claim_about_long_lists_is_proven(requires):
    found = verify(NOISY, claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1", requires])
    assert ("proven", "") == (found.status, found.reason)


def test_what_no_solver_decides_is_not_proven():
    found = verdict((CONSTANT, {"adjacency": {"q": "one", "p": "one"}, "domain": ["q[each] ** 3 + n ** 3 == 42 and q[each] > 9"]}))
    assert "unknown" == found.status
    assert "vacu" in found.reason


def test_equal_neighbours_are_no_witness_and_without_the_check_a_vacuous_claim_is_proven(monkeypatch):
    row = VACUOUS_ONES["a radius of 1/2 on integers"]
    assert "unknown" == verdict(row).status
    take_out(monkeypatch, [(witness._differing, " and pair.first[name] != pair.second[name]", "")])
    monkeypatch.setattr(witness, "_moves", lambda *_: TRUE)
    assert "proven" == verdict(row).status


def test_an_output_that_only_much_noise_reaches_is_reached():
    text = "def f(q: list[Fraction], eps: Fraction) -> Fraction:\n    x = q[0] + laplace(1 / eps)\n"
    text += "    if x > 999:\n        return x\n    return x\n"
    found = verify(text, claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 6"])
    assert ("proven", "") == (found.status, found.reason)
