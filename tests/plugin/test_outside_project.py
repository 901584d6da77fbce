"""A project of somebody else, in a folder of its own: its workflow is red for a false claim, at the line, and green without one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

CLINIC = Path(__file__).parents[2] / "examples" / "clinic"
SOUND = "total = sum(min(max(visit, 0), LONGEST) for visit in minutes)"
STEPS = ("Test", "Audit")
BROKEN = "total = sum(max(visit, 0) for visit in minutes)"


@dataclass(frozen=True)
class Job:
    """How the workflow went: exit code and output of each step that runs a command, by name."""

    codes: dict[str, int]
    output: dict[str, str]

    @property
    def commands(self) -> list[str]:
        """The workflow commands that annotate code."""
        return [line for line in self.output["Audit"].splitlines() if line.startswith("::")]


def workflow(folder: Path, *names: str) -> Job:
    """Run commands of the project's workflow as a runner does: the named steps, or all but the installation."""
    steps = yaml.safe_load((folder / ".github/workflows/privacy.yml").read_text(encoding="utf-8"))["jobs"]["claims"]["steps"]
    named = {step["name"]: step["run"] for step in steps if "run" in step and step["name"] in (names or STEPS)}
    settings = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
    }
    codes, output = {}, {}
    for name, command in named.items():
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
        ran = subprocess.run(shell, cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False)
        codes[name], output[name] = ran.returncode, ran.stdout + ran.stderr
    return Job(codes, output)


def edit(folder: Path, *changes: tuple[str, str]) -> None:
    """Replace parts of the mechanism's file."""
    file = folder / "survey.py"
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert 1 == text.count(old)
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def line_of(folder: Path, function: str) -> int:
    """The line on which a function of the mechanism's file begins."""
    lines = (folder / "survey.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if line.startswith(f"def {function}("))


@pytest.fixture(scope="module")
def red(tmp_path_factory) -> tuple[Path, Job]:
    """The project with a clamp forgotten, and its workflow."""
    folder = tmp_path_factory.mktemp("red") / "clinic"
    shutil.copytree(CLINIC, folder, ignore=shutil.ignore_patterns("__pycache__"))
    edit(folder, (SOUND, BROKEN))
    return folder, workflow(folder)


def findings(folder: Path) -> list[tuple[str, str, int, str]]:
    """Target, file, line and fingerprint of every result in the SARIF file."""
    [run] = json.loads((folder / "reports" / "claims.sarif").read_text(encoding="utf-8"))["runs"]
    places = [found["locations"][0]["physicalLocation"] for found in run["results"]]
    return [
        (
            found["properties"]["target"],
            place["artifactLocation"]["uri"],
            place["region"]["startLine"],
            next(iter(found["partialFingerprints"].values())),
        )
        for found, place in zip(run["results"], places, strict=True)
    ]


def test_a_false_claim_makes_the_workflow_red_and_its_line_is_annotated(red):
    folder, job = red
    line = line_of(folder, "minutes_published")
    assert {"Test": 1, "Audit": 1} == job.codes
    assert "1 failed, 1 passed" in job.output["Test"]
    assert f"  source:   survey.py:{line}\n" in job.output["Test"]
    assert job.commands
    assert any(one.startswith("::error ") for one in job.commands)
    # A refutation comes early, so that a check with too few runs is said not to have been made: a warning at the same line.
    assert all(re.match(rf"::(error|warning) file=survey.py,line={line},title=DPA-", one) for one in job.commands)
    assert {("minutes_published", "survey.py", line)} == {found[:3] for found in findings(folder)}
    assert "## 1 of 2 claims refuted" in (folder / "summary.md").read_text(encoding="utf-8")


def test_the_reports_of_a_red_workflow_are_kept(red):
    folder, _ = red
    tests = ET.parse(folder / "reports" / "tests.xml").getroot()[0]  # noqa: S314 - made here
    claims = ET.parse(folder / "reports" / "claims.xml").getroot()  # noqa: S314 - made here
    assert ("2", "1", "0") == tuple(tests.get(name) for name in ("tests", "failures", "errors"))
    assert ("2", "1", "0") == tuple(claims.get(name) for name in ("tests", "failures", "errors"))
    properties = [{entry.get("name"): entry.get("value") for entry in case.iter("property")} for case in tests]
    assert {"visits_published: consistent", "minutes_published: refuted"} == {found["dp_verdict"] for found in properties}
    assert all({"dp_alpha", "dp_seed", "dp_power", "dp_evidence"} <= found.keys() for found in properties)
    assert 2 == len(list((folder / "reports" / "evidence").iterdir()))
    assert (folder / "reports" / "index.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_evidence_of_the_projects_test_is_replayed_from_its_folder(red):
    folder, job = red
    command = re.search(r"^  replay:   dpaudit (.*)$", job.output["Test"], flags=re.MULTILINE)[1]
    shell = ["bash", "-c", f"{sys.executable} -m dpaudit {command}"]
    ran = subprocess.run(shell, cwd=folder, capture_output=True, text=True, check=False)
    assert (0, True) == (ran.returncode, ran.stdout.startswith("minutes_published: identical")), ran.stdout + ran.stderr


def test_a_finding_keeps_its_fingerprint_through_edits_that_have_nothing_to_do_with_it(red):
    folder, _ = red
    before = findings(folder)
    edit(folder, ("\n\ndef visits_published", "\n\nTITLE = 'visits'\n\n\ndef visits_published"))
    edit(folder, ("# Public: longer", "# Agreed in May.\n# Public: longer"), (BROKEN, f"visits = minutes\n    {BROKEN}"))
    assert {"Audit": 1} == workflow(folder, "Audit").codes
    after = findings(folder)
    assert {line + 4 for _, _, line, _ in before} == {line for _, _, line, _ in after}
    assert [found[3] for found in before] == [found[3] for found in after]
    assert 2 <= len(before) == len({found[3] for found in before}), "two findings are two alerts"


@pytest.mark.parametrize("name", STEPS)
def test_the_workflow_of_the_repaired_project_is_green(red, tmp_path, name):
    folder = tmp_path / "green"
    shutil.copytree(red[0], folder, ignore=shutil.ignore_patterns("reports"))
    edit(folder, (BROKEN, SOUND))
    job = workflow(folder, name)
    assert {name: 0} == job.codes
    assert "::" not in job.output[name].replace(".py::", "")
