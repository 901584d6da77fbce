"""A function has one value at equal arguments: certificates may name pairs of values, and nothing else follows from a pair."""

from __future__ import annotations

import pytest

from dpaudit.verifier.certify import certificate
from dpaudit.verifier.kernel import KernelRejects, check
from dpaudit.verifier.terms import Sort, add, apply, conjunction, constant, implies, less_equal, variable

N, K = (variable(name, Sort.INT) for name in "nk")
SAME = conjunction(less_equal(N, K), less_equal(K, N))


def q(place, name="q", sort=Sort.REAL):
    """An element of a list."""
    return apply(name, (place,), sort)


EQUAL = implies(SAME, less_equal(q(N), q(K)))


def test_equal_arguments_give_equal_values():
    found = certificate(EQUAL)
    assert 1 == len(found["pairs"])
    check(EQUAL, found)


@pytest.mark.parametrize(
    "false",
    [
        less_equal(q(N), q(K)),
        implies(less_equal(N, K), less_equal(q(N), q(K))),
        implies(SAME, less_equal(q(N), q(K, "p"))),
        implies(SAME, less_equal(q(N), q(add(K, constant(1))))),
        implies(SAME, less_equal(q(N), q(K, sort=Sort.INT))),
    ],
    ids=str,
)
def test_what_does_not_follow_has_no_certificate(false):
    assert certificate(false, seconds=5) is None
    forged = certificate(EQUAL)
    for pairs in (forged["pairs"], [], [[0, 1]], [[2, 2]], [[2, 99]], [[2]], "x"):
        with pytest.raises(KernelRejects):
            check(false, {**forged, "pairs": pairs})


def test_without_the_pair_the_lemma_closes_nothing():
    forged = certificate(EQUAL)
    with pytest.raises(KernelRejects):
        check(EQUAL, {key: value for key, value in forged.items() if key != "pairs"})
