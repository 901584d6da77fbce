"""How far a long command is: timed lines for logs, made of what audits and proofs say while they run."""

from __future__ import annotations

import inspect
import re

import pytest

from dpaudit import audit
from dpaudit.auditor import Progress
from dpaudit.cli import progress
from dpaudit.cli.audit import audit as audit_verb
from dpaudit.cli.progress import line_of, timed_lines
from dpaudit.report import evidence_bytes, from_json

PROGRAM = """
from collections.abc import Callable
from fractions import Fraction

from dpaudit.spec import spec


@spec(claim="eps", adjacency="one", requires=["eps > 0", "len(q) >= 1"])
def {name}(q: list[Fraction], eps: Fraction, *, laplace: Callable) -> Fraction:
    return q[0] + laplace(1 / eps)
"""

LINE = re.compile(r"audit: target (?P<target>.+), stage (?P<stage>\w+)( \(\d+ % of its runs\))?, 0:00:\d\d elapsed")


class Clock:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def lines_at(*times):
    """The lines that are written when something is said at these seconds after the start."""
    clock, written = Clock(), []
    tell = timed_lines("audit", clock=clock, write=written.append)
    for seconds in times:
        clock.now = 1000.0 + seconds
        tell(f"said at {seconds}")
    return written


def test_a_short_command_writes_nothing():
    assert [] == lines_at(0, 0.1, 5, 9.99)


def test_a_long_command_writes_at_most_one_line_every_ten_seconds():
    assert ["audit: said at 10, 0:00:10 elapsed", "audit: said at 21.5, 0:00:21 elapsed"] == lines_at(3, 10, 10.5, 19.9, 21.5, 31.4)


def test_after_a_silence_there_is_one_line_and_not_one_for_each_that_was_due():
    assert ["audit: said at 3700, 1:01:40 elapsed"] == lines_at(3700, 3700.1, 3709)


@pytest.mark.parametrize(
    ("stage", "done", "planned", "line"),
    [
        ("pilot", 4100, 10_000, "target 3 of 12, noisy count, stage pilot (41 % of its runs)"),
        ("pilot", 4100, None, "target 3 of 12, noisy count, stage pilot"),
        ("bound", 10_500, 10_000, "target 3 of 12, noisy count, stage bound (100 % of its runs)"),
    ],
)
def test_a_line_says_which_target_of_how_many_and_which_stage(stage, done, planned, line):
    assert line == line_of(Progress("noisy count", 2, 12, stage, done, planned, 0.5, 3.0))


def test_the_name_of_a_target_cannot_write_lines_of_its_own():
    written = []
    tell = timed_lines("audit", clock=iter((0.0, 60.0)).__next__, write=written.append)
    tell(line_of(Progress("one\n\x1b[2Jtwo", 0, 1, "pilot", 1, None, 0.0, 3.0)))
    assert [r"audit: target 1 of 1, one\n\x1b[2Jtwo, stage pilot, 0:01:00 elapsed"] == written


def test_an_audit_in_a_log_names_every_target_on_stderr_and_leaves_stdout_to_the_results(monkeypatch, dpaudit):
    arguments = ("audit", "releases.py:sound", "releases.py:broken", "--runs", "2000", "--json")
    quiet = dpaudit(*arguments)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    told = dpaudit(*arguments)
    said = [LINE.fullmatch(line) for line in told.stderr.splitlines() if line.startswith("audit:")]
    assert "elapsed" not in quiet.stderr
    assert evidence_bytes(from_json(quiet.stdout)) == evidence_bytes(from_json(told.stdout))
    assert ["1 of 2, sound", "2 of 2, broken"] == list(dict.fromkeys(line["target"] for line in said))
    assert {"checks", "pilot", "betting", "bound", "diagnosis", "done"} >= {line["stage"] for line in said} > {"checks", "done"}


def test_a_proof_in_a_log_counts_the_programs(monkeypatch, dpaudit, folder):
    for name in ("first", "second"):
        (folder / f"{name}.py").write_text(PROGRAM.format(name=name))
    arguments = ("prove", "first.py", "second.py")
    assert "elapsed" not in dpaudit(*arguments).stderr
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    said = dpaudit(*arguments)
    assert 0 == said.exit_code
    expected = ["prove: program 1, first", "prove: program 2, second"]
    assert expected == [line.rpartition(", ")[0] for line in said.stderr.splitlines() if line.endswith("elapsed")]


def test_one_false_alarm_level_holds_in_python_and_on_the_command_line():
    option = next(one for one in audit_verb.params if one.name == "alpha")
    assert "0.001" == option.default == inspect.signature(audit).parameters["alpha"].default
