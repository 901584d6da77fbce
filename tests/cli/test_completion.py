"""Completion: what each shell is told by click's protocol, and the shells themselves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.cli import VERBS

BASH, FISH, ZSH = (shutil.which(shell) or "" for shell in ("bash", "fish", "zsh"))
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def completed(shell, line, folder):
    """The lines that the program answers a shell; the last word of the line is being written."""
    words = line.split(" ")
    asked = {"_DPAUDIT_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        asked["COMP_CWORD"] = words[-1]
    command = [sys.executable, "-c", "from dpaudit.cli import main; main(prog_name='dpaudit')"]
    ran = subprocess.run(command, env=ENVIRONMENT | asked, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert "" == ran.stderr
    return ran.stdout.splitlines()


def test_verbs_codes_and_options_are_completed_in_each_shell(tmp_path):
    assert ["plain,account", "plain,audit"] == completed("bash", "dpaudit a", tmp_path)
    assert ["plain,DPA101", "plain,DPA102"] == completed("bash", "dpaudit explain dpa10", tmp_path)[:2]
    assert ["plain,--profile"] == completed("bash", "dpaudit audit --pro", tmp_path)
    assert ["plain", "spend"] == completed("zsh", "dpaudit ledger sp", tmp_path)[:2]
    assert "plain,DPA104\tnot positive" in completed("fish", "dpaudit explain DPA104", tmp_path)


def test_bundled_targets_are_completed_and_files_elsewhere(tmp_path):
    assert ["plain,laplace"] == completed("bash", "dpaudit audit lapl", tmp_path)
    assert {"plain,zoo", "plain,papers"} <= set(completed("bash", "dpaudit audit ", tmp_path))
    assert ["file,my_"] == completed("bash", "dpaudit audit my_", tmp_path)
    assert ["file,out/"] == completed("bash", "dpaudit report out/", tmp_path)


def test_settings_that_are_wrong_do_not_disturb_the_shell(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.dpaudit.audti]\n")
    assert ["plain,--profile"] == completed("bash", "dpaudit audit --pro", tmp_path)


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_each_shell_is_shown_what_to_run(dpaudit, shell):
    shown = dpaudit("--show-completion", shell)
    assert 0 == shown.exit_code
    assert f"_DPAUDIT_COMPLETE={shell}_complete" in shown.stdout
    assert 2 == dpaudit("--show-completion", "cmd").exit_code


def test_bash_completes_what_it_was_told_to_run(tmp_path):
    script = """
    eval "$(dpaudit --show-completion bash)"
    complete -p dpaudit
    COMP_WORDS=(dpaudit explain DPA10) COMP_CWORD=2 COMPREPLY=()
    _dpaudit_completion dpaudit
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    ran = subprocess.run(
        [BASH, "--norc", "-c", script], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    first, *offered = ran.stdout.splitlines()
    assert first.endswith(" _dpaudit_completion dpaudit")
    assert [f"DPA10{digit}" for digit in range(1, 10)] == offered


@pytest.mark.skipif(not FISH, reason="fish is not installed")
def test_fish_completes_what_it_was_told_to_run(tmp_path):
    (tmp_path / "my_release.py").touch()
    lines = ("dpaudit aud", "dpaudit explain dpa109", "dpaudit ledger sp", "dpaudit audit my_")
    asked = "".join(f"complete -C '{line}'; " for line in lines)
    ran = subprocess.run(
        [FISH, "--no-config", "-c", f"dpaudit --show-completion fish | source; {asked}"],
        env=ENVIRONMENT | {"HOME": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    offered = [f"audit\t{VERBS['audit']}", "DPA109\tempty input", "spend\tCharge a budget and print the receipt.", "my_release.py"]
    assert "," in VERBS["audit"]
    assert offered == [line for line in ran.stdout.splitlines() if line]


@pytest.mark.skipif(not ZSH, reason="zsh is not installed")
def test_zsh_completes_what_it_was_told_to_run(tmp_path):
    script = """
    compdef() { print -r -- "registered $*" }
    compadd() { print -rl -- ${(P)argv[-1]} }
    _describe() { print -rl -- ${(P)3} }
    _path_files() { print files }
    eval "$(dpaudit --show-completion zsh)"
    offer() { words=(dpaudit $*) CURRENT=$(( $# + 1 )); _dpaudit_completion }
    offer aud
    offer explain DPA109
    offer ledger sp
    offer audit lapl
    offer audit my_
    """
    ran = subprocess.run(
        [ZSH, "-f", "-c", script], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=100
    )
    offered = [f"audit:{VERBS['audit']}", "DPA109:empty input", "spend:Charge a budget and print the receipt.", "laplace", "files"]
    assert ["registered _dpaudit_completion dpaudit", *offered] == ran.stdout.splitlines()


BROKEN = {"raises": "raise KeyError('secret 4711')\n", "leaves": "import sys\nsys.exit(0)\n", "lacks": "OTHER = 3\n"}


def test_a_broken_plug_in_is_reported_and_never_fatal(tmp_path):
    """A package beside ours, installed as pip leaves it, whose entry points do not load."""
    for name, code in BROKEN.items():
        (tmp_path / f"{name}_plug_in.py").write_text(code)
    information = tmp_path / "plug_in-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    points = [f"{name} = {name}_plug_in:TARGETS\n" for name in (*BROKEN, "missing")]
    (information / "entry_points.txt").write_text("[dpaudit.targets]\n" + "".join(points))
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])}

    def run(*words):
        command = [sys.executable, "-m", "dpaudit", *words]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100)

    listed = run("targets", "--json")
    document = json.loads(listed.stdout)
    assert 0 == listed.returncode
    assert "laplace" in {target["name"] for target in document["targets"]}
    codes = {failure["location"].partition("_")[0]: failure["code"] for failure in document["broken"]}
    assert {"raises": "DPA402", "leaves": "DPA402", "lacks": "DPA401", "missing": "DPA401"} == codes
    assert "4711" not in listed.stdout + listed.stderr
    assert 3 == run("audit", "laplace", "--runs", "500", "--alpha", "1e-9").returncode
