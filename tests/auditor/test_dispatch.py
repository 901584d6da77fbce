"""Chunks on their way to executors: in one call where they are short, never more than a window of them, in their order."""

import math
from concurrent.futures import Future
from dataclasses import replace

import pytest

from dpaudit import Claim, PureDP, Target
from dpaudit.auditor.events.ranking import Threshold
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.runs import dispatch
from dpaudit.auditor.runs.chunks import PILOT, Chunk, Manner, Task, perform
from dpaudit.auditor.runs.dispatch import in_order
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.errors import TargetFailure

WINDOW = 100
"""More calls than may be under way on any machine of this kind."""


def noisy(data, rng):
    return data + rng.laplace()


def tasks(count, size=32, events=()):
    target = Target(run=noisy, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])
    work, manner = Workload("", Subject(target, candidate_pairs(target))), Manner(fit_features([0.5]))
    return [Task(work, 1, Chunk(0, 0, PILOT, index, size), manner, events) for index in range(count)]


class Eager:
    """An executor that runs at once, says that this took so many seconds a chunk, and keeps what it was given."""

    def __init__(self, seconds=None):
        self.seconds, self.batches = seconds, []

    def submit(self, function, batch):
        self.batches.append(len(batch))
        outcomes, seconds = function(batch)
        future = Future()
        future.set_result((outcomes, seconds if self.seconds is None else self.seconds * len(batch)))
        return future


class Lost:
    """An executor whose workers never come back."""

    def submit(self, function, *args):
        future = Future()
        future.set_exception(OSError("the machine is gone"))
        return future


def test_a_broken_executor_is_a_coded_error():
    with pytest.raises(TargetFailure, match="DPA408"):
        list(in_order(Lost(), tasks(1)))


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.04, 10.0])
def test_outcomes_are_those_of_the_tasks_one_by_one_however_many_go_into_a_call(seconds):
    asked = [replace(task, chunk=replace(task.chunk, size=10 + task.chunk.index)) for task in tasks(300)]
    expected = [(outcome.features.tolist(), outcome.labels.tolist()) for outcome in map(perform, asked)]

    for executor in (None, Eager(seconds)):
        assert expected == [(found.features.tolist(), found.labels.tolist()) for found in in_order(executor, asked)]


@pytest.mark.parametrize(("seconds", "most"), [(0.03, 4), (0.011, 10), (0.2, 1), (math.inf, 1)])
def test_a_call_has_as_many_chunks_as_fill_its_time_by_the_pace_of_the_latest(seconds, most):
    executor = Eager(seconds)
    list(in_order(executor, tasks(2000, size=1, events=(Threshold(0, 0.5, at_most=True),))))

    assert 2000 == sum(executor.batches)
    assert 1 == executor.batches[0]
    assert {most} == set(executor.batches[WINDOW:-1])


def test_a_call_brings_back_rows_up_to_a_limit_and_counts_without_one():
    width, seconds = len(tasks(1)[0].manner.features.names), dispatch._SECONDS_A_CALL / 1000
    limit = dispatch._CELLS_A_CALL // (width * 512)
    batches = []
    for events in ((), (Threshold(0, 0.5, at_most=True),)):
        supply = iter(tasks(2000, size=512, events=events))
        batches.append(len(dispatch._batch(supply, seconds / 512)))

    assert limit <= batches[0] <= limit + 1
    assert 1000 <= batches[1] <= 1001


def test_only_a_window_of_tasks_is_under_way():
    executor = Eager(seconds=1.0)
    outcomes = in_order(executor, iter(tasks(1000)))
    next(outcomes)
    outcomes.close()

    assert sum(executor.batches) <= WINDOW


def test_only_a_window_of_calls_of_the_time_asked_for_is_under_way():
    executor, supply = Eager(seconds=0.01), iter(tasks(5000))
    outcomes = in_order(executor, supply)
    for _ in range(200):
        next(outcomes)
    outcomes.close()

    assert sum(executor.batches) <= 200 + WINDOW * 10
    assert 5000 == sum(executor.batches) + len(list(supply))
