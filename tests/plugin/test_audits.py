"""Audits inside tests: a mechanism with too little noise fails its test and says why, one with enough passes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpaudit.cli import main

TESTS = """
import pytest
from dpaudit import Claim, PureDP, Target


def count_with(scale):
    def noisy_count(data, rng):
        return len(data) + rng.laplace(scale=scale)

    return Target(run=noisy_count, claim=Claim(PureDP(epsilon=1)), neighbours=[([982451, 653000], [982451])], name=f"count {scale}")


HELD = (count_with(1.0), count_with(0.4))


def test_sound(dpaudit_check):
    assert 0 == dpaudit_check(count_with(1.0), runs=40_000).exit_code


def test_broken(dpaudit_check):
    dpaudit_check(count_with(0.5), runs=40_000)


@pytest.mark.dp(weight=2)
def test_together(dpaudit_check):
    dpaudit_check([count_with(1.0), count_with(0.5), HELD[1]], runs=40_000)


def test_weak(dpaudit_check):
    dpaudit_check(count_with(1.0), runs=1_000)


def test_raising(dpaudit_check):
    def release(data, rng):
        raise ValueError(f"the first record is {data[0]}")

    dpaudit_check(Target(run=release, claim=Claim(PureDP(epsilon=1)), neighbours=[([982451, 653000], [982451])]), runs=1_000)
"""


@dataclass(frozen=True)
class Run:
    """A run of the tests above in a folder: its output by test, the lines after it, and the evidence that it wrote."""

    folder: Path
    failures: dict[str, str]
    ending: list[str]
    evidence: dict[str, object]

    @property
    def last(self) -> str:
        """The line that counts the tests."""
        return self.ending[-1]


def run(folder: Path, evidence_folder: str, *options: str) -> Run:
    """Run the tests above in a process of their own."""
    (folder / "test_counts.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--dp-evidence", evidence_folder, *options]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    parts = re.split(r"^_+ (test_\w+) _+\n", shown, flags=re.MULTILINE)
    failures = dict(zip(parts[1::2], (part.split("\n====")[0] for part in parts[2::2]), strict=True))
    files = sorted((folder / evidence_folder).iterdir())
    evidence = {file.name: json.loads(file.read_text(encoding="utf-8"))["evidence"] for file in files}
    ending = [line for line in shown.splitlines() if line.startswith("dpaudit: ") and " is " not in line]
    return Run(folder, failures, [*ending, shown.splitlines()[-1]], evidence)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Run:
    """All tests, one after another."""
    return run(tmp_path_factory.mktemp("alone"), "evidence")


def test_enough_noise_passes_and_every_other_test_fails(alone):
    assert {"test_broken", "test_together", "test_weak", "test_raising"} == set(alone.failures)
    assert "4 failed, 1 passed" in alone.last


@pytest.mark.parametrize(
    "line",
    [
        r"dpaudit: count 0\.5 is refuted\. The claim epsilon = 1 \(.+\) is false: epsilon is at least 1\.\d+\.",
        r"  With(out)? record \d.*, the output is among the .+; with(out)? it, in .+ %\.",
        r"  Repair: .*Below 1\.\d times( the noise)? is refuted.*",
        r"  claim:    epsilon = 1 \(one record added or removed; adjacency=add_remove\)",
        r"  source:   test_counts\.py:\d+",
        r"  pair:     record \d removed, 2 -> 1 records.*",
        r"  event:    .+",
        r"  counts:   in [\d,]+ runs.*: [\d,]+ times on the \w+ dataset, [\d,]+ times on the \w+",
        r"  bound:    epsilon >= 1\.\d+, wrong with probability at most .+",
        r"  bets:     .+ at run [\d,]+",
        r"  seed:     \d+",
        r"  repeat:   pytest test_counts\.py::test_broken --dp-seed 0 --dp-budget 1/6000000",
        r"  evidence: .*evidence.*test-counts-py-test-broken-[0-9a-f]{16}\.json",
    ],
)
def test_the_failure_says_what_was_found_and_how_to_repeat_it(alone, line):
    assert re.search(f"^{line}$", alone.failures["test_broken"], flags=re.MULTILINE), alone.failures["test_broken"]


def test_of_several_targets_only_the_broken_one_is_described(alone):
    assert ["count 0.5", "count 0.4"] == re.findall(
        r"^dpaudit: (.*?) is \w+\.", alone.failures["test_together"], flags=re.MULTILINE
    )


def test_an_audit_without_power_fails_and_says_what_to_do(alone):
    assert "dpaudit: count 1.0 is inconclusive. Undecided. " in alone.failures["test_weak"]
    assert "  remedy:   more runs=, or allow_inconclusive=True" in alone.failures["test_weak"]
    assert "  power:    not even the largest violation would have been found" in alone.failures["test_weak"]


def test_the_run_ends_with_what_was_spent_and_what_would_have_been_found(alone):
    spent, power, _ = alone.ending
    assert "dpaudit: audits in 5 tests, false-alarm budget spent 1e-06 of 1e-06, --dp-seed 0" == spent
    assert re.fullmatch(
        r"dpaudit: least power: epsilon 1\.\d+ times the claimed one would have been found with probability 0\.9 "
        r"\(test_counts\.py::test_sound\)",
        power,
    )


def test_a_target_that_the_module_holds_can_be_replayed_and_one_that_a_test_made_is_repeated_by_the_test(alone, monkeypatch):
    [line] = re.findall(r"^  replay:   dpaudit replay (.*)$", alone.failures["test_together"], flags=re.MULTILINE)
    assert "  replay:" not in alone.failures["test_broken"]
    monkeypatch.chdir(alone.folder)
    found = CliRunner().invoke(main, ["replay", f"{line}#count 0.4"])
    assert (0, "count 0.4: identical, seed") == (found.exit_code, found.stdout[:26])
    assert "it was given as an object" in CliRunner().invoke(main, ["replay", f"{line}#count 0.5"]).stdout


def test_a_target_that_raises_fails_and_is_named_with_its_error(alone):
    assert "dpaudit: release is failed. Not audited: DPA405" in alone.failures["test_raising"]
    assert re.search(r"^dpaudit: release is failed\. .*ValueError", alone.failures["test_raising"], flags=re.MULTILINE)


def test_no_record_is_shown_unless_the_target_says_that_it_is_public(alone):
    shown = [line for text in alone.failures.values() for line in text.splitlines() if line.startswith(("dpaudit:", "  "))]
    assert 20 <= len(shown)
    assert [] == [line for line in shown if "982451" in line or "653000" in line]


def test_the_command_in_the_failure_repeats_it_exactly(alone):
    found = re.search(r"  repeat:   pytest (.*)", alone.failures["test_broken"])
    again = run(alone.folder, "repeated", *shlex.split(found[1]))
    assert "1 failed" in again.last
    [(name, evidence)] = again.evidence.items()
    assert evidence == alone.evidence[name]


def test_evidence_is_written_for_each_audit_and_two_workers_find_the_same(alone):
    shared = run(alone.folder, "shared", "-n", "2")
    assert 5 == len(alone.evidence)
    assert alone.evidence == shared.evidence
    assert set(alone.failures) == set(shared.failures)
