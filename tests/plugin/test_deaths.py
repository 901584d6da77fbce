"""Targets that end, hang or exhaust their process inside a test: the test fails with the reason, and the session goes on."""

from __future__ import annotations

import pytest

TESTS = """
import os, time
from dpaudit import Claim, PureDP, Target

def target(run, name):
    return Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], name=name)

def test_exits(dpaudit_check):
    def leave(data, rng):
        os._exit(0)
    dpaudit_check(target(leave, "leaver"), runs=2_000)

def test_hangs(dpaudit_check):
    dpaudit_check(target(lambda data, rng: time.sleep(600), "sleeper"), runs=2_000, time_limit=1)

def test_takes_memory(dpaudit_check):
    held = []
    def hold(data, rng):
        held.append(bytearray(2**25) + b"1")
        return rng.laplace()
    dpaudit_check(target(hold, "holder"), runs=2_000, memory_limit="256 MiB")

def test_leaves_its_own_exception(dpaudit_check):
    class Odd(BaseException):
        pass
    def odd(data, rng):
        raise Odd
    dpaudit_check(target(odd, "odd"), runs=2_000)

def test_changes_its_process_alone(dpaudit_check):
    here = os.getcwd()
    def wander(data, rng):
        os.chdir("/")
        return len(data) + rng.laplace()
    dpaudit_check(target(wander, "wanderer"), runs=20_000)
    assert here == os.getcwd()

def test_is_honest(dpaudit_check):
    dpaudit_check(target(lambda data, rng: len(data) + rng.laplace(), "honest"), runs=20_000)
"""


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")])
def test_only_their_own_tests_fail_with_name_file_line_and_reason(pytester, workers):
    pytester.makepyfile(test_strange=TESTS)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *workers)

    result.assert_outcomes(failed=4, passed=2)
    assert pytest.ExitCode.TESTS_FAILED == result.ret
    shown = result.stdout.str()
    for line in (
        "dpaudit: leaver is failed. Not audited: DPA413 it ended its process with exit status 0.",
        "source:   test_strange.py:8",
        "dpaudit: sleeper is failed. Not audited: DPA414 it took longer than the limit of 1 seconds",
        "dpaudit: holder is failed. Not audited: DPA415",
        "every run raised; the last error was BaseException at test_strange.py:",
    ):
        assert line in shown


def test_limits_come_from_the_command_line_or_the_ini_file(pytester):
    pytester.makepyfile(test_strange=TESTS)
    pytester.makeini("[pytest]\ndp_time_limit = 500\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-k", "honest", "--dp-memory-limit", "4 apples")
    result.assert_outcomes(failed=1)
    assert "memory_limit must be a size such as 4 GiB" in result.stdout.str()
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-k", "honest")
    result.assert_outcomes(passed=1)
