"""What holds for every public mechanism: its pickle carries no key and no bits, and without entropy it releases nothing."""

from __future__ import annotations

import inspect
import os
import pickle
import pickletools
import threading

import numpy as np
import pytest

import mechanisms
from dpaudit.auditor.checks.replay import Recorder
from dpaudit.errors import EntropyFailure
from dpaudit.releases import taping

EVERY_MECHANISM = {
    "AboveThreshold": (lambda: mechanisms.AboveThreshold(sensitivity=1, epsilon=2), lambda made: made.release(9, [3, 5, 9])),
    "AdditiveMechanism": (
        lambda: mechanisms.AdditiveMechanism(mechanisms.Staircase(sensitivity=4, epsilon=1), sensitivity=4),
        lambda made: made.release(4),
    ),
    "DiscreteGaussianMechanism": (
        lambda: mechanisms.DiscreteGaussianMechanism(sensitivity=1, sigma=7),
        lambda made: made.release(np.arange(3)),
    ),
    "EuclideanMechanism": (
        lambda: mechanisms.EuclideanMechanism(sensitivity=2, epsilon=1),
        lambda made: made.release(np.arange(3)),
    ),
    "ExponentialMechanism": (lambda: mechanisms.ExponentialMechanism(sensitivity=1, epsilon=1), lambda made: made.release([0, 1])),
    "GaussianMechanism": (lambda: mechanisms.GaussianMechanism(sensitivity=1, sigma=1000), lambda made: made.release(4)),
    "HistogramMechanism": (lambda: mechanisms.HistogramMechanism(["a", "b"], epsilon=1), lambda made: made.release(["a"])),
    "LaplaceMechanism": (
        lambda: mechanisms.LaplaceMechanism(sensitivity=1, epsilon="1/1000", fixed_work=True),
        lambda made: made.release(4),
    ),
    "NoisyMax": (lambda: mechanisms.NoisyMax(sensitivity=1, epsilon=1), lambda made: made.release([0, 1])),
    "PartitionSelection": (
        lambda: mechanisms.PartitionSelection(epsilon=1, delta="1e-6"),
        lambda made: made.release(["a"] * 9),
    ),
    "PermuteAndFlip": (lambda: mechanisms.PermuteAndFlip(sensitivity=1, epsilon=1), lambda made: made.release([0, 1])),
    "PrefixSums": (lambda: mechanisms.PrefixSums(steps=4, sensitivity=1, sigma=3), lambda made: made.release(np.arange(4))),
    "RandomizedResponse": (lambda: mechanisms.RandomizedResponse(epsilon=1), lambda made: made.release(1)),
    "RealGaussianMechanism": (lambda: mechanisms.RealGaussianMechanism(sensitivity=1, sigma=2), lambda made: made.release(0.5)),
    "RealLaplaceMechanism": (lambda: mechanisms.RealLaplaceMechanism(sensitivity=1, epsilon=1), lambda made: made.release(0.5)),
    "SparseVector": (
        lambda: mechanisms.SparseVector(sensitivity=1, epsilon=2),
        lambda made: made.releases(0, [-9000, 9000, 5], 2),
    ),
    "StabilityHistogram": (
        lambda: mechanisms.StabilityHistogram(epsilon=1, delta="1e-6"),
        lambda made: made.release(["a"] * 9),
    ),
    "TopK": (lambda: mechanisms.TopK(k=2, sensitivity=1, epsilon=1), lambda made: made.release([0, 1, 4])),
    "VectorMechanism": (lambda: mechanisms.VectorMechanism(norm_bound=1, sigma=3), lambda made: made.release(np.ones((2, 4)))),
}
"""How each public mechanism is made, and one of its releases."""


def test_every_public_mechanism_is_among_these():
    public = {name: getattr(mechanisms, name) for name in mechanisms.__all__}
    assert {name for name, value in public.items() if hasattr(value, "releases")} == set(EVERY_MECHANISM)


@pytest.mark.parametrize(("make", "release"), EVERY_MECHANISM.values(), ids=EVERY_MECHANISM)
def test_a_pickled_mechanism_carries_neither_key_nor_bits(make, release):
    mechanism = make()
    release(mechanism)
    once = pickle.dumps(mechanism)
    release(mechanism)
    assert once == pickle.dumps(mechanism), "what was drawn changed the mechanism"
    assert mechanism == pickle.loads(once)
    named = [str(argument) for _, argument, _ in pickletools.genops(once)]
    assert not [name for name in named if "sampling.random" in name or "sampling.keystream" in name or "Source" in name]


@pytest.mark.parametrize("make", [make for make, _ in EVERY_MECHANISM.values()], ids=EVERY_MECHANISM)
def test_its_methods_can_be_handed_to_another_process(make):
    mechanism = make()
    methods = [name for name, _ in inspect.getmembers(type(mechanism), inspect.isfunction) if not name.startswith("_")]
    assert {"releases", "to_dict"} <= set(methods)
    for name in methods:
        again = pickle.loads(pickle.dumps(getattr(mechanism, name)))
        assert (mechanism, getattr(type(mechanism), name)) == (again.__self__, again.__func__)


@pytest.mark.parametrize(("make", "release"), EVERY_MECHANISM.values(), ids=EVERY_MECHANISM)
def test_no_mechanism_releases_anything_without_entropy(monkeypatch, make, release):
    def fail(count):
        raise OSError("no entropy")

    def attempt():
        # This thread has no source yet.
        with pytest.raises(EntropyFailure, match="DPA301"):
            release(make())
        finished.append(True)

    finished = []
    monkeypatch.setattr(os, "urandom", fail)
    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    assert [True] == finished


class ManyAtOnce:
    """A mechanism whose release makes three copies at once."""

    def __init__(self, mechanism):
        self.mechanism = mechanism

    def release(self, *values):
        return self.mechanism.releases(*values, 3)

    def releases(self, *values):
        return self.mechanism.releases(*values)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(("make", "release"), EVERY_MECHANISM.values(), ids=EVERY_MECHANISM)
def test_on_a_tape_every_mechanism_shows_what_it_read_and_gives_what_was_recorded(make, release, many):
    mechanism = ManyAtOnce(make()) if many else make()

    def taped(recorded=()):
        with taping(tape := Recorder(recorded)):
            output = release(mechanism)
        return np.array(output, dtype=object).tolist(), tape.entries

    for _ in range(24):
        output, entries = taped()
        again, replayed = taped(entries)
        assert output == again
        assert 1 <= len(entries[0].values)
        assert repr(entries[0].values) == repr(replayed[0].values)
