"""Functions and local clients that draw from global generators: seeded for each run, whatever they draw from."""

from __future__ import annotations

import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit import Claim, PureDP, audit
from dpaudit.auditor import check_properties
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


class Mechanism:
    """A mechanism as many libraries have it."""

    def __init__(self, epsilon, sensitivity):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def add_noise(self, value, *, scale=1.0):
        return value + random.choice((-1, 1)) * random.expovariate(self.epsilon / self.sensitivity / scale)  # noqa: S311


class Own(Mechanism):
    """One that inherits its method."""


def overspent(data):
    return [Own(1.0, 1.0).add_noise(sum(data), scale=1.0) for _ in range(3)]


def test_mechanisms_of_a_library_are_noted_and_their_epsilons_summed():
    before = Mechanism.add_noise
    target = from_function(overspent, claim=CLAIM, mechanisms={Own: "add_noise"}, neighbours=[([0], [1])], public_data=True)
    found = {law.property.name: law.property for law in check_properties(target)}
    assert "holds" == found["sensitivities of logged releases"].status
    assert "were asked for epsilon 3 in all" in found["epsilons that mechanisms were asked for add up to the claim"].detail
    assert before is Mechanism.add_noise
    assert "add_noise" not in vars(Own)


@pytest.mark.parametrize("mechanisms", [{Mechanism: "draw"}, {"Mechanism": "add_noise"}, {Mechanism: 3}])
def test_classes_without_such_a_method_are_refused(mechanisms):
    with pytest.raises(InvalidArgument, match="DPA105"):
        from_function(draws, claim=CLAIM, mechanisms=mechanisms, data=[1])
