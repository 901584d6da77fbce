"""The release log: every open log sees what was released in its context, and no other."""

from __future__ import annotations

import threading
from contextvars import copy_context
from fractions import Fraction

import pytest

from dpaudit.claims import Adjacency
from dpaudit.releases import Release, note, recording


def release(scale: int) -> Release:
    return Release("discrete_laplace", (("scale", Fraction(scale)),), Fraction(1), Adjacency("add_remove"))


def test_a_release_outside_any_log_is_made_and_not_kept():
    note(release(1))
    with recording() as log:
        pass
    assert [] == log


def test_a_log_keeps_the_releases_of_its_block_in_their_order():
    with recording() as log:
        note(release(2))
        note(release(1))
    note(release(3))
    assert [release(2), release(1)] == log


def test_an_inner_log_does_not_hide_a_release_from_the_outer_one():
    with recording() as outer:
        note(release(1))
        with recording() as inner:
            note(release(2))
        note(release(3))
    assert [release(2)] == inner
    assert [release(1), release(2), release(3)] == outer


def test_what_was_released_before_an_error_stays_in_the_log():
    kept: list[Release] = []

    def fail_after_releasing() -> None:
        with recording() as log:
            kept.append(log)
            note(release(1))
            raise RuntimeError("after the release")

    with pytest.raises(RuntimeError, match="after the release"):
        fail_after_releasing()
    note(release(2))
    assert [[release(1)]] == kept


def test_logs_of_different_threads_are_apart():
    logs: dict[int, list[Release]] = {}
    barrier = threading.Barrier(4)

    def work(scale: int) -> None:
        with recording() as log:
            barrier.wait(timeout=30)
            for _ in range(50):
                note(release(scale))
            logs[scale] = log

    threads = [threading.Thread(target=work, args=(scale,)) for scale in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {scale: [release(scale)] * 50 for scale in range(1, 5)} == logs


def test_a_copied_context_writes_to_the_log_that_was_open_when_it_was_copied():
    with recording() as log:
        context = copy_context()
    context.run(note, release(1))
    assert [release(1)] == log


def test_a_parameter_is_found_by_its_name():
    assert Fraction(5) == release(5).parameter("scale")
    with pytest.raises(KeyError):
        release(5).parameter("sigma")


def test_equal_releases_are_equal_values():
    assert {release(1)} == {release(1), release(1)}
    assert release(1) != release(2)
