"""No verdict on a mutant of a proven program is wrong: a sample of benchmarks/verifier_mutants.py, with its true verdicts."""

from __future__ import annotations

from functools import cache

import pytest

from dpaudit.verifier.proving import Proof, prove
from dpaudit.verifier.refuter.search import search
from dpaudit.verifier.refuter.witness import recheck
from tests.verifier.fuzz.mutants import mutants

SAMPLE = {
    "prefix_sum: element: q[i] -> 2 * q[i]": "refuted",
    "prefix_sum: scale: laplace(1 / eps) -> laplace(Fraction(1, 2) * (1 / eps))": "refuted",
    "smart_sum: leak: out.append(released) -> out.append(q[i])": "refuted",
    "laplace_mechanism: adjacency: one by 2": "refuted",
    "smart_sum: adjacency: dec by 1": "refuted",
    "partial_sum: adjacency: inc by 1": "refuted",
    "sparse_vector: leak: out.append(True) -> out.append(q[i])": "refuted",
    "adaptive_sparse_vector: leak: out.append(far) -> out.append(q[i])": "refuted",
    "noisy_max: noise used again: laplace(2 / eps)": "refuted",
    "exponential_mechanism: requirement: no len(q) >= 1": "unknown",
    "above_threshold: no noise: laplace(4 / eps) -> Fraction(0)": "unknown",
    "laplace_mechanism: off by one: 1 -> 0": "unknown",
    "exponential_mechanism: adjacency: inc by 1": "proven",
    "randomised_response: comparison: q[i] == 1 -> q[i] != 1": "proven",
    "laplace_mechanism: noise turned: laplace(1 / eps) -> 2 * laplace(1 / eps)": "proven",
    "partial_sum: other list: q[i] of a public list": "proven",
    "above_threshold: adjacency: all by 1/2": "proven",
}
"""Verdicts of a short search; a longer one may refute what is unknown here."""

every_mutant = cache(mutants)
"""Made when a test asks for it: collecting the tests does not have to wait."""


@pytest.mark.parametrize("name", SAMPLE)
def test_a_mutant_gets_the_verdict_that_is_true_of_it(name):
    program = {one.name: one for one in every_mutant()}[name].program()
    proven = isinstance(prove(program, seconds=20), Proof)
    witness = search(program, seconds=20, longest=3, events=40)
    assert not (proven and witness)
    assert SAMPLE[name] == ("proven" if proven else "refuted" if witness else "unknown")
    assert witness is None or recheck(program, witness)


def test_there_are_enough_mutants_of_every_kind():
    every = every_mutant()
    assert 1000 <= len(every) == len({(one.source, one.promise) for one in every})
    assert 16 == len({one.base for one in every})
    kinds = {"scale", "no noise", "statement lost", "outputs exchanged", "leak", "comparison", "noise used again", "off by one"}
    assert kinds | {"other list", "claim", "adjacency"} <= {one.kind for one in every}
