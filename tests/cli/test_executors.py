"""`dpaudit executors check`: a line for each check, and an exit code."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

POOLS = """
from concurrent.futures import Future, ThreadPoolExecutor


class Forgetting(ThreadPoolExecutor):
    def submit(self, function, *arguments):
        return super().submit(Exception)


class Silent:
    def submit(self, function, *arguments):
        return Future()
"""


@pytest.fixture
def pools(folder):
    (folder / "crews.py").write_text(POOLS)
    return folder


def test_an_executor_that_passes_gives_0_and_a_line_for_each_check(dpaudit):
    result = dpaudit("executors", "check", "concurrent.futures:ThreadPoolExecutor")
    assert (0, "") == (result.exit_code, result.stderr)
    assert 7 == len(result.stdout.splitlines())
    assert result.stdout.splitlines()[5].split()[:2] == ["evidence", "passed"]


def test_an_executor_that_fails_gives_4_in_json_too(dpaudit, pools):
    result = dpaudit("executors", "check", "crews:Forgetting", "--json")
    document = json.loads(result.stdout)
    assert (4, False) == (result.exit_code, document["conforms"])
    assert {"name": "errors", "state": "FAILED", "detail": "a TargetFailure came back as NoneType"} in document["checks"]


def test_worker_processes_are_checked_where_nothing_is_named(dpaudit):
    result = dpaudit("executors", "check", "--jobs", "2", "--end-a-worker")
    assert 0 == result.exit_code
    assert "a worker was ended during an audit; the evidence is the same" in result.stdout
    assert "workers died and were replaced, 1 times" in result.stderr


def test_an_executor_that_is_stuck_does_not_keep_the_program(pools):
    command = [sys.executable, "-m", "dpaudit", "executors", "check", "crews:Silent", "--timeout", "1/4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (4, 7) == (done.returncode, len(done.stdout.splitlines()))
    assert done.stdout.split()[:2] == ["calls", "STUCK"]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("mend", "crews:Silent"), 2, "Invalid value"),
        (("check", "crews"), 2, "DPA105"),
        (("check", "crews:Silent", "--timeout", "0"), 2, "DPA103"),
        (("check", "crews:Silent", "--jobs", "2"), 2, "give one of them"),
        (("check", "--jobs", "1"), 2, "--jobs"),
    ],
)
def test_wrong_usage_gives_2(dpaudit, pools, arguments, code, text):
    result = dpaudit("executors", *arguments)
    assert code == result.exit_code
    assert text in result.stderr
