"""The GitHub action and the hooks of pre-commit: their files say what their programs do, and their scripts run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click import Context

from devtools.survey import ROOT
from dpaudit.cli import main

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
TARGETS = """
from dpaudit import Claim, PureDP, Target

def noise(data, count, rng):
    return len(data) + rng.laplace(scale={scale}, size=count)

count = Target(sample=noise, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])])
"""

Step = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """Run the script of a step as a runner does; inputs and outputs of steps are given by name, the defaults stand for others."""
    defaults = {f"inputs.{name}": given.get("default", "") for name, given in ACTION["inputs"].items()}

    def run(name: str, programs: str = "", **given: str) -> subprocess.CompletedProcess[str]:
        values = defaults | {place.replace("__", "."): value for place, value in given.items()}
        values = {place.replace("_", "-"): value for place, value in values.items()}
        variables = {key: values[re.fullmatch(r"\$\{\{ (\S+) \}\}", text)[1]] for key, text in STEPS[name].get("env", {}).items()}
        surroundings = {
            "PATH": os.pathsep.join([programs or str(Path(sys.executable).parent), os.environ["PATH"]]),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
        environment = os.environ | surroundings | variables
        return subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


def outputs(folder: Path) -> dict[str, str]:
    """What a step gave to later ones."""
    return dict(line.split("=", 1) for line in (folder / "output").read_text(encoding="utf-8").splitlines())


def test_every_input_is_used_and_explained_and_every_output_is_set():
    text = yaml.safe_dump(ACTION["runs"])
    assert set(ACTION["inputs"]) == set(re.findall(r"inputs\.([a-z-]+)", text))
    assert all(given["description"].endswith(".") for given in [*ACTION["inputs"].values(), *ACTION["outputs"].values()])
    assert ["targets"] == [name for name, given in ACTION["inputs"].items() if given.get("required")]
    assert {"exit-code", "sarif"} == set(ACTION["outputs"]) == set(re.findall(r'"([a-z-]+)=\$', STEPS["Audit"]["run"]))


def test_no_script_holds_the_text_of_an_input():
    assert [] == [name for name, step in STEPS.items() if "${{" in step.get("run", "")]
    assert all("shell" in step for step in STEPS.values() if "run" in step)


def test_actions_of_others_are_pinned_to_a_major_version():
    used = [step["uses"] for step in STEPS.values() if "uses" in step]
    assert 3 == len(used)
    assert [] == [name for name in used if not re.fullmatch(r"[\w-]+(/[\w-]+)+@v\d+", name)]


def test_the_verdict_comes_last_and_the_reports_are_kept_whatever_it_is():
    names = list(STEPS)
    assert "Verdict" == names[-1]
    kept = names[names.index("Audit") + 1 : -1]
    assert all(STEPS[name]["if"].startswith("always() && ") for name in kept)


@pytest.mark.parametrize(("given", "installed"), [("", f"{ROOT}[all]"), ("dpaudit==9 --pre", "dpaudit==9 --pre")])
def test_pip_installs_one_thing_the_action_itself_unless_told_otherwise(step, tmp_path, given, installed):
    (tmp_path / "python").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    (tmp_path / "python").chmod(0o755)
    ran = step("Install dpaudit", programs=str(tmp_path), inputs__install=given)
    assert (0, ["-m", "pip", "install"], installed) == (
        ran.returncode,
        ran.stdout.splitlines()[:3],
        ran.stdout.splitlines()[-1],
    )


@pytest.mark.parametrize(("scale", "code"), [("1", "0"), ("0.4", "1")])
def test_the_audit_writes_every_report_and_leaves_the_verdict_to_the_last_step(step, tmp_path, scale, code):
    (tmp_path / "release.py").write_text(TARGETS.format(scale=scale), encoding="utf-8")
    ran = step("Audit", inputs__targets="release.py:count\n", inputs__options="--runs 20000\n --alpha 1e-6", inputs__report="kept")
    assert 0 == ran.returncode, ran.stderr
    assert {"exit-code": code, "sarif": "kept/dpaudit.sarif"} == outputs(tmp_path)
    assert {"index.html", "report.json", "junit.xml", "dpaudit.sarif"} == {file.name for file in (tmp_path / "kept").iterdir()}
    assert (code == "1") == ("::error file=release.py,line=4,title=DPA-E01 noise::" in ran.stderr)
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("## 1 of 1 claim ")
    evidence = json.loads((tmp_path / "kept" / "report.json").read_text(encoding="utf-8"))["evidence"]
    assert (20_000, "1/1000000") == (evidence["settings"]["runs"], evidence["settings"]["alpha"])
    assert int(code) == step("Verdict", steps__audit__outputs__exit_code=code).returncode


def test_a_mistake_in_an_input_is_told_and_is_never_a_success(step, tmp_path):
    nothing = step("Audit", inputs__targets=" \n")
    assert (2, True) == (nothing.returncode, nothing.stdout.startswith("::error title=dpaudit::the input targets is empty"))
    assert 0 == step("Audit", inputs__targets="absent.py; touch hacked", inputs__profile="slow").returncode
    assert {"exit-code": "2"} == outputs(tmp_path)
    assert not (tmp_path / "hacked").exists()
    assert 0 != step("Verdict", steps__audit__outputs__exit_code="").returncode


def test_the_page_shows_inputs_and_hooks_that_exist():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    job, hooks, more, steps = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL))
    assert set() == set(job["jobs"]["claims"]["steps"][-1]["with"]) - set(ACTION["inputs"])
    assert set() == {hook["id"] for hook in [*hooks["repos"][0]["hooks"], *more]} - set(HOOKS)
    shown = [shlex.split(step["run"]) for step in steps if step.get("run", "").startswith("dpaudit ")]
    assert ["audit", "audit", "diff"] == [verb for _, verb, *_ in shown]
    for _, verb, *words in shown:
        known = {option for parameter in main.get_command(Context(main), verb).params for option in parameter.opts}
        assert set() == {word for word in words if word.startswith("--")} - known


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_names_a_verb_with_options_that_exist(name):
    program, verb, *options = shlex.split(HOOKS[name]["entry"])
    command = main.get_command(Context(main), verb)
    assert ("dpaudit", "python", True) == (program, HOOKS[name]["language"], HOOKS[name]["require_serial"])
    known = {option for parameter in command.params for option in parameter.opts}
    assert set() == {option for option in options if option.startswith("--")} - known


@pytest.mark.parametrize(
    ("name", "taken", "left"),
    [
        (
            "dpaudit-audit",
            ["targets.py", "a/targets.py", "a/survey_targets.py"],
            ["survey.py", "targets.pyi", "mytargets.py"],
        ),
        ("dpaudit-prove", ["specs.py", "pkg/noise_specs.py"], ["specs/noise.py", "inspects.py"]),
    ],
)
def test_a_hook_takes_the_files_that_its_description_names(name, taken, left):
    assert taken == [file for file in [*taken, *left] if re.search(HOOKS[name]["files"], file)]
