"""Functions and local clients that draw from global generators: seeded for each run, whatever they draw from."""

from __future__ import annotations

import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit import Claim, PureDP, audit
from dpaudit.errors import InvalidArgument
from dpaudit.interop import from_client, from_function
from dpaudit.plain import streams

CLAIM = Claim(PureDP(epsilon=1), "replace_one")


def draws(_: object) -> tuple[float, float, float]:
    return random.random(), np.random.random(), np.random.laplace()  # noqa: NPY002, S311 - what libraries draw from


def respond(bit: int) -> int:
    return bit if random.random() < 0.75 else 1 - bit  # noqa: S311 - a client of another library


def test_a_run_repeats_from_the_seed_of_the_audit_and_differs_for_another():
    target = from_function(draws, claim=CLAIM, data=[1])
    first, again, other = (target.run([1], np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again
    assert all(one != two for one, two in zip(first, other, strict=True))


def test_runs_that_share_a_generator_are_different():
    target, rng = from_function(draws, claim=CLAIM, data=[1]), np.random.default_rng(1)
    assert 50 == len({target.run([1], rng) for _ in range(50)})


def test_generators_of_compiled_code_are_seeded_where_numba_is_there(monkeypatch):
    seeds: list[int] = []
    streams._compiled_seed.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=lambda seed: seeds.append))
    target = from_function(draws, claim=CLAIM, data=[1])
    for seed in (1, 1, 2):
        target.run([1], np.random.default_rng(seed))
    streams._compiled_seed.cache_clear()
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_client_is_compared_on_every_pair_of_values():
    target = from_client(respond, epsilon="1.0986", values=[0, 1, 2])
    assert [([0], [1]), ([0], [2]), ([1], [2])] == list(target.neighbours)
    assert "respond" == target.name
    assert "replace_one" == str(target.claim.adjacency)


def test_a_client_that_spends_too_much_is_refuted_and_its_twin_is_not():
    refuted, sound = (
        audit(from_client(respond, epsilon=epsilon, values=[0, 1]), runs=4_000, seed=1).results[0].verdict
        for epsilon in ("0.8", "1.0987")
    )
    assert "refuted" == str(refuted)
    assert "refuted" != str(sound)


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: from_function([4711], claim=CLAIM), "got a list"),
        (lambda: from_client([4711], epsilon=1, values=[0, 1]), "got a list"),
        (lambda: from_client(respond, epsilon=1, values=[4711]), "got 1"),
    ],
)
def test_what_cannot_be_audited_is_refused_without_a_value(make, shown):
    with pytest.raises(InvalidArgument, match=shown) as caught:
        make()
    assert "4711" not in str(caught.value)
