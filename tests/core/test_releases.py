"""The release log: every open log sees what was released in its context, and no other."""

from __future__ import annotations

import threading
from contextvars import copy_context
from fractions import Fraction

import pytest

from dpaudit.auditor.checks.replay import Recorder
from dpaudit.claims import Adjacency
from dpaudit.releases import Release, note, recording, taping


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


def test_a_release_is_held_only_while_a_tape_is_open():
    assert note(release(1)) is None
    with recording() as log:
        assert note(release(1)) is None
        with taping(tape := Recorder()):
            hold = note(release(2))
        assert note(release(3)) is None
    assert hold is not None
    assert [release(1), release(2), release(3)] == log
    assert [release(2)] == [entry.release for entry in tape.entries]


def test_a_tape_gives_back_outputs_by_place_and_keeps_what_was_read():
    with taping(recorded := Recorder()):
        outputs = [note(release(scale))(scale, 10 * scale) for scale in (1, 2)]
    with taping(replayed := Recorder(recorded.entries)):
        again = [note(release(scale))(scale + 5, 99) for scale in (1, 2, 3)]

    assert [10, 20] == outputs
    assert [10, 20, 99] == again
    assert [[6], [7], [8]] == [entry.values for entry in replayed.entries]


def test_what_a_tape_keeps_does_not_change_with_what_becomes_of_it():
    with taping(tape := Recorder()):
        value, output = [1], [2]
        note(release(1))(value, output)
        value.append(0)
        output.append(0)

    assert ([[1]], [[2]]) == (tape.entries[0].values, tape.entries[0].outputs)


def test_the_innermost_tape_decides_what_is_given():
    recorded = _held(41)
    with taping(outer := Recorder()), taping(Recorder(recorded)):
        assert note(release(1))(0, 5) == 41
    assert [[]] == [entry.outputs for entry in outer.entries]


def _held(output: int):
    with taping(tape := Recorder()):
        note(release(1))(0, output)
    return tape.entries
