"""Work in a process of its own: its result, every way in which it can end without one, and what it may not leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpaudit.auditor.runs import pulse
from dpaudit.auditor.supervision import apart as module
from dpaudit.auditor.supervision.apart import SHOWN, run_apart
from dpaudit.auditor.supervision.candidates import Candidate
from dpaudit.auditor.supervision.limits import Limits, limits_of, size_in_words
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.results import ClaimSummary

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc says who descends from whom")


def failure_of(work, limits=None):
    with pytest.raises(TargetFailure) as caught:
        run_apart(work, limits or Limits(seconds=20, memory=2**28))
    return str(caught.value)


def test_result_and_messages_arrive_in_order():
    heard = []

    def work(send):
        for number in range(100):
            send([number])
        return {"sum": "1/3"}

    assert {"sum": "1/3"} == run_apart(work, Limits(), heard.append)
    assert [[number] for number in range(100)] == heard


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (lambda _: os._exit(0), "DPA413 it ended its process with exit status 0."),
        (lambda _: os._exit(1), "DPA413 it ended its process with exit status 1."),
        (lambda _: os.abort(), "signal 6 (SIGABRT)"),
        (lambda _: os.kill(os.getpid(), signal.SIGSTOP), "signal 19 (SIGSTOP)"),
        (lambda _: (os.kill(os.getppid(), signal.SIGKILL), time.sleep(60)), "ended the process that supervised it"),
        (lambda _: os.closerange(0, 256), "DPA413"),
        (lambda _: sys.exit(0), "it ended with SystemExit"),
        (lambda _: object(), "it ended with TypeError"),
        (lambda _: [bytearray(2**24) + b"1" for _ in range(64)], "DPA415"),
    ],
)
def test_every_end_without_a_result_is_a_failure_that_says_how(work, says):
    assert says in failure_of(work)


def test_the_text_of_an_error_stays_hidden():
    def work(_):
        raise ValueError("Ada is 36")

    said = failure_of(work)
    assert "ValueError at test_apart.py:" in said
    assert "Ada" not in said


def test_silence_ends_a_process_and_signs_of_life_keep_it():
    def beating(_):
        for _ in range(20):
            pulse.end_call(pulse.mark_call())
            time.sleep(0.1)
        return "alive"

    limits = Limits(silence=0.6)
    assert "no call of its function came back within 0.6 seconds" in failure_of(lambda _: time.sleep(60), limits)
    assert "alive" == run_apart(beating, limits)


def test_a_time_limit_takes_the_place_of_silence():
    assert "longer than the limit of 0.5 seconds" in failure_of(lambda _: time.sleep(60), Limits(seconds=0.5))
    assert 1 == run_apart(lambda _: time.sleep(0.5) or 1, Limits(seconds=60, silence=0.1))


@LINUX
def test_nothing_that_it_started_outlives_it():
    def work(_):
        alone = subprocess.Popen(["sleep", "600"], start_new_session=True)  # noqa: S607 - found as a user finds it
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        return [alone.pid]

    (process,) = run_apart(work, Limits())
    assert not Path(f"/proc/{process}").exists()


@LINUX
def test_processes_without_end_are_ended():
    def work(_):
        while True:
            os.fork()

    assert "DPA415" in failure_of(work, Limits(memory=2**30))


def test_a_forked_process_does_not_speak_for_the_one_that_forked_it():
    heard = []

    def work(send):
        if os.fork() == 0:
            send("from the fork")
        os.wait()
        return "from the one"

    assert "from the one" == run_apart(work, Limits(), heard.append)
    assert [] == heard


def test_a_function_that_returns_in_two_processes_goes_on_in_one():
    def work(send):
        mark = pulse.mark_call()
        os.fork()
        pulse.end_call(mark)
        send(os.getpid())

    heard = []
    run_apart(work, Limits(), heard.append)
    assert 1 == len(heard)


def test_a_flood_of_output_is_cut_and_counted(capsys):
    assert 3 == run_apart(lambda _: os.write(2, b"x" * 10**6) and 3, Limits())
    shown = capsys.readouterr().err
    assert SHOWN <= len(shown) < SHOWN + 100
    assert f"[{10**6 - SHOWN:,} more bytes of output dropped]" in shown


@pytest.mark.parametrize(
    "line", [b"[]\n", b"3\n", b"\xff\n", b'{"failed": 3}\n', b'{"failed": ["DPA413"]}\n', b"[" * 10**5 + b"\n"]
)
def test_what_is_no_message_is_no_result(monkeypatch, line):
    from dpaudit.auditor.supervision import keeper

    monkeypatch.setattr(keeper, "live", lambda work, messages, output, memory: (os.write(messages, line), os._exit(0)))
    assert "something that is none" in failure_of(lambda _: 1)


@pytest.mark.parametrize("name", ["the builtin len", "the module dpaudit.errors"])
def test_a_verdict_of_an_auditor_that_was_changed_is_none(name):
    def work(_):
        import builtins

        if "builtin" in name:
            builtins.len = lambda _: 1
        else:
            sys.modules["dpaudit.errors"] = sys
        return 1

    assert f"it replaced {name}" in failure_of(work)


def test_where_nothing_can_be_forked_the_work_is_done_here(monkeypatch):
    monkeypatch.setattr(module, "can_supervise", lambda: False)
    assert os.getpid() == run_apart(lambda _: os.getpid(), Limits())
    assert "it ended with SystemExit" in failure_of(lambda _: sys.exit(0))


def test_sizes_are_read_and_written():
    assert 2**31 == limits_of(None, "2 GiB").memory == limits_of(None, 2**31).memory
    assert 512 * 10**6 == limits_of("7/2", "512mb").memory
    assert 3.5 == limits_of("7/2").seconds
    assert ["4 GiB", "1500 MB", "64 MiB"] == [size_in_words(size) for size in (2**32, 15 * 10**8, 2**26)]


@pytest.mark.parametrize(
    ("time_limit", "memory_limit"), [(0, None), (-1, None), (None, "4 apples"), (None, 1), (None, "1 B"), (None, 2.5)]
)
def test_limits_that_make_no_sense_are_refused(time_limit, memory_limit):
    with pytest.raises(InvalidArgument):
        limits_of(time_limit, memory_limit)


def test_a_candidate_is_named_as_it_loads_again():
    claim = ClaimSummary("unknown", (), "", "unknown")
    assert ["a.py:b", "a.py:b#2", None] == [
        Candidate("b", "", claim, None, "", text, place).reference for text, place in (("a.py:b", 0), ("a.py:b", 2), ("", 0))
    ]
