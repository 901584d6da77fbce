"""Tools and models of diffprivlib as targets; a stand-in with two of its mechanisms here, the library in benchmarks/adapters.py."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from dpaudit import audit
from dpaudit.auditor import check_properties
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.interop import from_diffprivlib
from dpaudit.releases import recording


class Laplace:
    """Adds noise of scale sensitivity / epsilon."""

    def __init__(self, *, epsilon, sensitivity, random_state):
        self.epsilon, self.sensitivity = epsilon, sensitivity
        self._rng = np.random.RandomState(random_state)

    def randomise(self, value):
        return value + self._rng.laplace(scale=self.sensitivity / self.epsilon) if self.sensitivity else value


class Folded(Laplace):
    """The same, folded at 0, by a call of the class above."""

    def randomise(self, value):
        return abs(super().randomise(value))


class Choice:
    """Reads no number."""

    def randomise(self):
        return 1


OWN = {kind: kind.randomise for kind in (Laplace, Folded, Choice)}


@pytest.fixture(autouse=True)
def _library(monkeypatch):
    """The stand-in in the place of the library."""
    mechanisms = SimpleNamespace(Laplace=Laplace, Folded=Folded, Choice=Choice, number=3)
    monkeypatch.setitem(sys.modules, "diffprivlib", SimpleNamespace(mechanisms=mechanisms))
    monkeypatch.setitem(sys.modules, "diffprivlib.mechanisms", mechanisms)


def total(data, epsilon=1.0, bounds=(0, 10), sensitivity=None, random_state=None):
    """A sum within bounds, under replacement, whose sensitivity may be stated wrongly."""
    span = bounds[1] - bounds[0] if sensitivity is None else sensitivity
    return Folded(epsilon=epsilon, sensitivity=span, random_state=random_state).randomise(float(np.clip(data, *bounds).sum()))


class Model(BaseEstimator):
    """Keeps a noisy sum, and what its accountant was told."""

    def __init__(self, epsilon=1.0, accountant=None, random_state=None):
        self.epsilon, self.accountant, self.random_state = epsilon, accountant, random_state

    def fit(self, rows, labels=None):
        if self.accountant is not None:
            self.accountant.spend(self.epsilon)
        self.total_ = total(rows, epsilon=self.epsilon, random_state=self.random_state)
        return self


class Accountant:
    """A limit that may be spent once."""

    def __init__(self, epsilon, delta):
        self.epsilon, self.delta, self.spent = epsilon, delta, 0.0

    def spend(self, epsilon):
        self.spent += epsilon
        if self.spent > self.epsilon:
            raise ValueError


def test_the_claim_is_in_the_parameters():
    assert "epsilon = 1 under replace_one" == str(from_diffprivlib(total).claim)
    assert "epsilon = 1/2 under add_remove" == str(from_diffprivlib(partial(total, epsilon=0.5), adjacency="add_remove").claim)
    assert "epsilon = 1/4 under replace_one" == str(from_diffprivlib(Model(epsilon=0.25)).claim)


def test_the_claim_of_an_accountant_is_its_limit_and_every_run_spends_it_anew():
    accountant = Accountant(0.5, 0.125)
    target = from_diffprivlib(Model(epsilon=0.5), accountant=accountant, labels=False)
    assert "epsilon = 1/2, delta = 1/8 under replace_one" == str(target.claim)
    for seed in (1, 2):
        assert "total_" in target.run(np.array([[1.0]]), np.random.default_rng(seed))
    assert 0 == accountant.spent


def test_a_pipeline_gets_an_accountant_and_a_seed():
    def pipeline(data, random_state, accountant):
        accountant.spend(0.5)
        return total(data, epsilon=0.25, random_state=random_state) + total(data, epsilon=0.25, random_state=random_state + 1)

    target = from_diffprivlib(pipeline, accountant=Accountant(0.5, 0))
    assert "epsilon = 1/2 under replace_one" == str(target.claim)
    first, again = (target.run([1.0], np.random.default_rng(1)) for _ in range(2))
    assert first == again


def test_a_mechanism_that_calls_another_is_noted_once():
    with recording() as log:
        from_diffprivlib(total).run([1.0, 2.0], np.random.default_rng(1))
    assert [("float_noise", 10)] == [(release.kind, release.sensitivity) for release in log]


def test_what_reads_no_number_is_left_alone():
    with recording() as log:
        assert 1 == from_diffprivlib(lambda data, epsilon=1.0, random_state=None: Choice().randomise()).run(
            [], np.random.default_rng(1)
        )
    assert [] == log


def test_the_library_is_as_it_was_after_every_run():
    def failing(data, epsilon=1.0, random_state=None):
        raise ValueError

    for what in (total, failing):
        with contextlib.suppress(ValueError):
            from_diffprivlib(what).run([1.0], np.random.default_rng(1))
        assert {kind: kind.randomise for kind in OWN} == OWN


PAIR = ([1.0, 1.0], [1.0, 9.0])


def test_a_sensitivity_of_zero_is_found_without_statistics_and_by_them():
    target = from_diffprivlib(partial(total, sensitivity=0), neighbours=[PAIR])
    found = {law.property.name: law.property for law in check_properties(target)}
    assert "violated" == found["sensitivities of logged releases"].status
    assert "its sensitivity 0" in found["sensitivities of logged releases"].detail
    assert "refuted" == str(audit(target, runs=500, seed=1).results[0].verdict)


def test_a_true_sensitivity_holds_and_nothing_is_priced():
    result = audit(from_diffprivlib(total, neighbours=[PAIR]), runs=500, seed=1).results[0]
    assert [] == [law.name for law in result.properties if law.status == "violated"]
    assert "unpriced" == result.price.status


@pytest.mark.parametrize("what", [3, lambda data, random_state=None: 0, partial(total, epsilon="one")])
def test_what_claims_nothing_is_refused(what):
    with pytest.raises(InvalidArgument, match="DPA105"):
        from_diffprivlib(what)


def test_a_limit_that_is_none_is_no_claim():
    with pytest.raises(InvalidArgument, match="DPA102"):
        from_diffprivlib(total, accountant=Accountant(float("inf"), 1.0))


def test_the_library_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "diffprivlib.mechanisms", None)
    with pytest.raises(Unsupported, match="DPA205 diffprivlib is not installed"):
        from_diffprivlib(total).run([1.0], np.random.default_rng(1))


def twice(data, epsilon=1.0, share=0.5, random_state=None):
    """Two sums of the same data, each with a share of the budget."""
    return [total(data, epsilon=share * epsilon, random_state=random_state) for _ in range(2)]


def by_parity(data, epsilon=1.0, random_state=None):
    """A count of each of two disjoint parts, each with the whole budget."""
    parts = ([one for one in data if one % 2 == part] for part in (0, 1))
    return [Laplace(epsilon=epsilon, sensitivity=1, random_state=random_state).randomise(len(part)) for part in parts]


def asked(target):
    return next(one.property for one in check_properties(target) if one.property.name.startswith("epsilons"))


@pytest.mark.parametrize(
    ("what", "adjacency", "pair", "status"),
    [
        (partial(twice, share=1.0), "replace_one", ([0.0, 1.0], [10.0, 1.0]), "note"),
        (twice, "replace_one", ([0.0, 1.0], [10.0, 1.0]), "holds"),
        (partial(twice, share=1.0), "replace_one", ([0.0, 1.0], [4.0, 1.0]), "holds"),  # two times 4/10 of epsilon
        (by_parity, "add_remove", ([2, 3], [2, 3, 5]), "holds"),
        (by_parity, "replace_one", ([2, 3], [2, 4]), "note"),
        (partial(twice, epsilon=0.3, share=0.5), "replace_one", ([0.0], [10.0]), "holds"),
    ],
)
def test_what_mechanisms_were_asked_for_is_summed_over_those_that_read_something_else(what, adjacency, pair, status):
    found = asked(from_diffprivlib(what, adjacency=adjacency, neighbours=[pair], public_data=True))
    assert status == found.status
    if status == "note":
        assert "2 mechanisms that read other values on a neighbour were asked for epsilon 2 in all" in found.detail


def test_a_sum_is_not_shown_of_private_data_and_refutes_nothing():
    target = from_diffprivlib(partial(twice, share=1.0), neighbours=[([0.0, 1.0], [10.0, 1.0])])
    found = asked(target)
    assert "note" == found.status
    assert "more epsilon than is claimed" in found.detail
    assert "10" not in found.detail
