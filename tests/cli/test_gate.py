"""The gate never opens by itself: whatever a user's file does to its process, no verb ends with code 0 or 1 because of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dpaudit.report import from_json

TARGET = """
import os, time, sys
from dpaudit import Claim, PureDP, Target

def leave(data, rng):
    os._exit({status})

def sound(data, rng):
    return len(data) + rng.laplace(scale=1.0)

def target(run):
    return Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])

dead, live = target(leave), target(sound)
some = [live, 3, dead]
"""
PROGRAM = """
import os
from dpaudit.spec import spec
{line}

@spec(claim="eps", adjacency="one", requires=["eps > 0"])
def nothing(eps: float, values: list[int]) -> int:
    return 0
"""


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_target_that_exits_is_failed_and_named_and_the_code_is_4(dpaudit, folder, status, jobs):
    (folder / "mine.py").write_text(TARGET.format(status=status))
    result = dpaudit("audit", "mine.py:dead", "--runs", "2000", "--jobs", jobs, "--json")
    (found,) = from_json(result.stdout).results
    assert (4, "failed", ("mine.py", 5)) == (result.exit_code, str(found.verdict), found.source)
    assert "DPA4" in found.failure


def test_what_a_target_writes_to_inherited_descriptors_is_not_among_the_results(folder):
    (folder / "mine.py").write_text(TARGET.format(status=0).replace("os._exit(0)", WRITES))
    command = [sys.executable, "-m", "dpaudit", "audit", "mine.py:dead", "--runs", "2000", "--json"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert 4 == result.returncode
    assert "forged" not in result.stdout
    assert 1 == len(from_json(result.stdout).results)


WRITES = """
    for number in range(3, 64):
        try:
            os.write(number, b'{"verdict": "forged"}' + bytes([10]))
        except OSError:
            pass
    os._exit(0)
"""


def test_a_bad_part_of_a_list_fails_alone(dpaudit, folder):
    (folder / "mine.py").write_text(TARGET.format(status=0))
    result = dpaudit("audit", "mine.py:some", "releases.py:broken", "--runs", "60000", "--alpha", "1e-9", "--json")
    verdicts = [(found.name, str(found.verdict)) for found in from_json(result.stdout).results]
    assert [("sound", "consistent"), ("mine.py:some[1]", "failed"), ("leave", "failed"), ("broken", "refuted")] == verdicts


@pytest.mark.parametrize("limit", [("--time-limit", "0"), ("--time-limit", "soon"), ("--memory-limit", "4 apples")])
def test_limits_that_make_no_sense_are_wrong_usage(dpaudit, limit):
    assert 2 == dpaudit("audit", "releases.py:sound", *limit).exit_code


def test_a_time_limit_ends_a_target(dpaudit, folder):
    (folder / "mine.py").write_text(TARGET.format(status=0).replace("os._exit(0)", "time.sleep(600)"))
    result = dpaudit("audit", "mine.py:dead", "--time-limit", "1")
    assert 4 == result.exit_code
    assert "DPA414" in result.stdout


@pytest.mark.parametrize(
    "line", ["os._exit(0)", "os._exit(1)", "raise KeyboardInterrupt", "class Odd(BaseException): pass\nraise Odd"]
)
def test_a_file_that_ends_its_process_proves_nothing(dpaudit, folder, line):
    (folder / "program.py").write_text(PROGRAM.format(line=line))
    assert 4 == dpaudit("prove", "program.py").exit_code
    result = dpaudit("prove", "program.py", "dpaudit.catalogue.programs.basic:histogram", "--json")
    assert 4 == result.exit_code
    assert ["unsupported", "proven"] == [found["status"] for found in json.loads(result.stdout)["programs"]]


@pytest.mark.parametrize("status", [0, 1])
def test_a_target_that_exits_in_a_replay_is_a_difference(dpaudit, folder, status):
    (folder / "mine.py").write_text(TARGET.format(status=status))
    dpaudit("audit", "mine.py:live", "--runs", "2000", "--report", "out")
    (folder / "mine.py").write_text(TARGET.format(status=status).replace("scale=1.0)", f"scale=1.0, size=os._exit({status}))"))
    for options in ((), ("--fresh",)):
        assert 4 == dpaudit("replay", "out/report.json", *options).exit_code


@pytest.mark.parametrize("verb", [("audit", "releases.py:sound", "--runs", "2000"), ("executors", "check"), ("audit", "papers")])
def test_an_executor_that_exits_is_refused(dpaudit, folder, verb):
    (folder / "pools.py").write_text("import os\ndef make():\n    os._exit(0)\n")
    name = ("pools:make",) if verb[0] == "executors" else ("--executor", "pools:make")
    assert 4 == dpaudit(*verb, *name).exit_code
