"""Paths: together they have the whole probability, share what comes before they part, and lead to an event if asked."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from dpaudit.exact import working_precision
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.interpreter import Machine
from dpaudit.verifier.refuter.events import Event, Toward, event_conditions
from dpaudit.verifier.refuter.paths import paths_of
from dpaudit.verifier.refuter.regions import mass_of

TESTS = """
def f(q: list[int], eps: Fraction, *, discrete_laplace) -> list[bool]:
    out = []
    noise = discrete_laplace(1 / eps)
    for i in range(0, len(q)):
        out.append(q[i] >= noise)
    return out
"""
BRANCHES = """
def f(q: list[int], eps: Fraction, *, discrete_laplace, bernoulli) -> list[int]:
    out = []
    limit = discrete_laplace(2 / eps)
    i = 0
    while i < len(q):
        x = q[i] + discrete_laplace(4 / eps)
        if x > limit:
            out.append(1)
            ends = bernoulli(Fraction(1, 3))
            if ends:
                break
        elif x == limit and q[i] > 0:
            i = i + 1
            continue
        else:
            out.append(0)
        i = i + 1
    return out
"""
COINS = """
def f(q: list[int], k: int, *, bernoulli, randomized_response) -> tuple[bool, bool, int]:
    hits = 0
    for i in range(0, k):
        for j in range(0, 2):
            first = bernoulli(Fraction(1, 2))
            second = bernoulli(Fraction(1, 3))
            if first and second:
                continue
            hits = hits + 1
    kept = randomized_response(q[0] > 0, Fraction(2, 3))
    return kept, hits > 1, hits
"""
COIN = "    coin = bernoulli(Fraction(1, 2))\n"
DATA = {"eps": Fraction(1), "q": (0, 1, -2)}
TWO = {"eps": Fraction(1), "q": (0, 1)}


def program(text, requires=("eps > 0",)):
    return parse(text, Spec("1", "one", requires=list(requires)))


def masses(found, event=None):
    """The probability of some paths, each with an event."""
    with working_precision(256):
        added = [() if event is None else event_conditions(path, event) for path in found]
        return sum(
            float(path.weight * mass_of(path.noises, (*path.conditions, *more)))
            for path, more in zip(found, added, strict=True)
            if more is not None
        )


@pytest.mark.parametrize(("text", "data"), [(TESTS, DATA), (BRANCHES, TWO)])
def test_all_paths_together_have_probability_1(text, data):
    assert abs(masses(list(paths_of(program(text), data))) - 1) < 1e-12


def test_finite_choices_together_have_probability_1():
    found = list(paths_of(program(COINS, ()), {"q": (1,), "k": 1}))
    assert abs(sum(float(path.weight) for path in found) - 1) < 1e-12
    assert {0, 1, 2} == {path.values[2] for path in found}


@pytest.mark.parametrize(("text", "data", "values"), [(TESTS, DATA, (True, False)), (BRANCHES, TWO, (0, 1))])
def test_an_event_has_the_same_probability_on_the_paths_that_lead_to_it(text, data, values):
    target = program(text)
    everything = list(paths_of(target, data))
    for length in range(4):
        for one in product(values, repeat=length):
            event = Event((one,))
            led = list(paths_of(target, data, Toward(target, event)))
            assert abs(masses(led, event) - masses(everything, event)) < 1e-15


def test_what_contradicts_itself_is_no_path():
    # -2 >= noise, 0 >= noise and 1 >= noise follow from each other.
    assert 4 == len(list(paths_of(program(TESTS), DATA)))


def test_paths_share_what_comes_before_they_part(monkeypatch):
    made, before = [], Machine.step
    monkeypatch.setattr(Machine, "step", lambda self: made.append(1) or before(self))
    coins = "def f(q: list[int], *, bernoulli) -> bool:\n" + "    x = len(q)\n" * 200 + COIN * 2 + "    return x > 3\n"
    assert 4 == len(list(paths_of(program(coins, ()), {"q": ()})))
    assert len(made) < 220
