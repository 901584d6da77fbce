"""Pipelines of PipelineDP as targets, by a stand-in of its shape; the library itself in examples/wild/sound/of_pipeline_dp.py."""

from __future__ import annotations

import random
import sys
from collections import Counter
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from dpaudit import audit
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.interop import from_pipeline_dp


class Metrics(NamedTuple):
    """Metrics of one partition."""

    count: float


class Accountant:
    """A budget that is known only after the pipeline is built."""

    def __init__(self, total_epsilon, total_delta):
        self.total, self.epsilon = (total_epsilon, total_delta), None

    def compute_budgets(self):
        self.epsilon = self.total[0]


@pytest.fixture(autouse=True)
def _library(monkeypatch):
    monkeypatch.setitem(sys.modules, "pipeline_dp", SimpleNamespace(NaiveBudgetAccountant=Accountant, LocalBackend=lambda: "local"))


def noisy(value, epsilon):
    return value + random.choice((-1, 1)) * random.expovariate(epsilon)  # noqa: S311 - a stand-in


def counts(rows, backend, accountant, *, keys=("x", "y")):
    """Noisy counts by key, made lazily, in an order that the data decide."""
    assert "local" == backend
    found = Counter(key for _, key in rows)
    order = [*[key for key in found if key in keys], *[key for key in keys if key not in found]]
    return ((key, Metrics(noisy(found[key], accountant.epsilon))) for key in order)


def keys_as_they_are(rows, backend, accountant):
    return (key for key in {key for _, key in rows})


PAIR = ([(1, "y"), (2, "x")], [(1, "y"), (2, "x"), (3, "x")])


def test_metrics_come_by_partition_in_an_order_that_says_nothing():
    target = from_pipeline_dp(counts, epsilon=1, neighbours=[PAIR])
    for data in PAIR:
        found = target.run(data, np.random.default_rng(1))
        assert ["x", "y"] == list(found)
        assert ["count"] == list(found["x"])
    assert "epsilon = 1 under add_remove" == str(target.claim)
    assert "epsilon = 1, delta = 1e-06 under replace_one" == str(
        from_pipeline_dp(counts, epsilon=1, delta="1e-6", adjacency="replace_one", data=PAIR[0]).claim
    )


def test_a_sound_pipeline_is_left_alone_and_partitions_as_they_are_are_refuted():
    sound = audit(from_pipeline_dp(counts, epsilon=1, neighbours=[PAIR]), runs=1_000, seed=1).results[0]
    broken = audit(
        from_pipeline_dp(keys_as_they_are, epsilon=1, neighbours=[(PAIR[0], [*PAIR[0], (3, "z")])]), runs=500, seed=1
    ).results[0]
    assert "refuted" != str(sound.verdict)
    assert "refuted" == str(broken.verdict)
    assert broken.source[0].endswith("test_pipelines.py")


def test_a_backend_that_is_given_is_used():
    seen = []
    target = from_pipeline_dp(lambda rows, backend, _: seen.append(backend) or rows, epsilon=1, backend="other", data=[("a", 1)])
    assert [("a", 1)] == target.run(target.data, np.random.default_rng(1))
    assert ["other"] == seen


def test_what_is_no_pipeline_is_refused_and_the_library_is_named_where_it_is_missing(monkeypatch):
    with pytest.raises(InvalidArgument, match="DPA105"):
        from_pipeline_dp(3, epsilon=1, data=PAIR[0])
    monkeypatch.setitem(sys.modules, "pipeline_dp", None)
    target = from_pipeline_dp(counts, epsilon=1, data=PAIR[0])
    with pytest.raises(Unsupported, match="DPA205 pipeline-dp is not installed"):
        target.run(target.data, np.random.default_rng(1))
