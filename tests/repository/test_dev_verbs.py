"""The commands of `python3 dev`: what each starts, and that exit codes come through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from devtools import verbs
from devtools.affected import Change
from devtools.failures import FAILED, SetupFailure
from devtools.survey import ROOT
from devtools.wheels import PYTHONS, locked_packages, missing_wheels

STEPS = ("lint", "docs", "test")


@pytest.mark.parametrize("code", [0, 1, 3, 6])
def test_audit_runs_the_story_and_passes_its_exit_code_through(fake, monkeypatch, code):
    verbs.prepare(fake.checkout)
    fake.program("dpaudit", code)
    monkeypatch.chdir(fake.checkout.root)
    assert code == verbs.main(["audit", "--jobs", "2"])
    expected = "audit --jobs 2 --seed 1 --report report --jobs 2"
    assert [f"dpaudit in {fake.checkout.root}: {expected}"] == fake.calls


def test_audit_from_another_folder_still_writes_to_the_checkout(fake, monkeypatch, tmp_path):
    verbs.prepare(fake.checkout)
    fake.program("dpaudit")
    monkeypatch.chdir(tmp_path)
    assert 0 == verbs.main(["audit", "mine.py:target"])
    assert f"--report {fake.checkout.root / 'report'} mine.py:target" in fake.calls[0]


def test_test_gives_its_arguments_to_pytest(fake):
    verbs.prepare(fake.checkout)
    fake.program("python", 5)
    assert 5 == verbs.main(["test", "tests/core", "-k", "a or b"])
    assert [f"python in {fake.checkout.root}: -m pytest -p devtools.tiers tests/core -k a or b"] == fake.calls


@pytest.fixture
def changed(fake, monkeypatch):
    """A checkout with two tests, of which a change affects the second."""
    for name in ("test_a.py", "test_b.py"):
        (fake.checkout.root / "tests").mkdir(exist_ok=True)
        (fake.checkout.root / "tests" / name).touch()
    monkeypatch.setattr(verbs, "changed_files", lambda root: Change(frozenset({"tests/test_b.py"}), "abc"))
    verbs.prepare(fake.checkout)
    fake.program("python", 3)
    return fake


def test_test_without_arguments_runs_all_but_the_campaign_and_what_is_affected_first(changed, capsys):
    assert 3 == verbs.main(["test"])
    expected = "-m pytest -p devtools.tiers -n auto -m not campaign --first tests/test_b.py"
    assert [f"python in {changed.checkout.root}: {expected}"] == changed.calls
    assert "1 files differ from abc; they affect 1 test files" in capsys.readouterr().err


def test_fast_runs_what_is_affected_alone_and_says_what_it_leaves_out(changed, capsys):
    before = time.time()
    assert 3 == verbs.main(["test", "--fast"])
    (call,) = changed.calls
    assert "-m not slow and not campaign --until" in call
    assert call.endswith("--first tests/test_b.py tests/test_b.py")
    assert verbs.FAST_SECONDS - 1 <= float(call.split("--until ")[1].split()[0]) - before <= 120
    assert "tests marked slow or campaign were left out" in capsys.readouterr().err


def test_fast_passes_when_every_affected_test_is_left_out_by_its_marks(changed):
    changed.program("python", verbs.NO_TESTS)
    assert 0 == verbs.main(["test", "--fast"])


def test_fast_without_a_change_that_tests_reach_runs_nothing_and_says_so(changed, monkeypatch, capsys):
    monkeypatch.setattr(verbs, "changed_files", lambda root: Change(frozenset(), "abc"))
    assert 0 == verbs.main(["test", "--fast"])
    assert [] == changed.calls
    assert "nothing to run" in capsys.readouterr().err


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 1)])
def test_the_campaign_is_every_test_at_full_size_and_the_fuzzing(fake, code, expected, capsys):
    verbs.prepare(fake.checkout)
    fake.program("python", code)
    assert expected == verbs.main(["campaign"])
    tests, fuzzing = fake.calls
    assert tests.endswith(": -m pytest -p devtools.tiers -n auto --full-size")
    assert fuzzing.endswith(f": {fake.checkout.root / 'benchmarks' / 'fuzzing.py'} --workers 2")
    assert f"campaign {'failed' if expected else 'passed'}: tests, fuzzing" in capsys.readouterr().err


def test_docs_makes_every_warning_an_error(fake):
    verbs.prepare(fake.checkout)
    fake.program("python", 2)
    assert 2 == verbs.main(["docs", "-E"])
    assert [f"python in {fake.checkout.root}: {' '.join(verbs.SITE)} -E"] == fake.calls
    assert {"-n", "-W", "--keep-going"} <= set(verbs.SITE)


def test_benchmark_gives_names_and_options_to_the_one_program_that_knows_them(fake):
    verbs.prepare(fake.checkout)
    fake.program("python", 3)
    assert 3 == verbs.main(["benchmark", "vectors", "--repeats", "1"])
    (call,) = fake.calls
    assert call.endswith(f": {fake.checkout.root / 'benchmarks' / 'run.py'} vectors --repeats 1")


@pytest.mark.parametrize(("broken", "expected"), [((), 0), (("ruff",), 1), (("lint-imports",), 1), (("ruff", "mypy"), 1)])
def test_lint_runs_every_check_whatever_the_first_ones_find(fake, capsys, broken, expected):
    verbs.prepare(fake.checkout)
    for name in ("ruff", "mypy", "lint-imports", "python"):
        fake.program(name, 2 if name in broken else 0)
    assert expected == verbs.main(["lint"])
    assert ["ruff", "ruff", "mypy", "lint-imports", "python", "python"] == [call.split(" in ")[0] for call in fake.calls]
    last = capsys.readouterr().err.splitlines()[-1]
    assert all(name in last for name in broken)
    assert last.startswith("dev: lint failed" if broken else "dev: lint passed")


def test_lock_runs_the_uv_of_the_environment(fake):
    fake.program("uv")
    assert 0 == verbs.main(["lock", "--upgrade"])
    assert fake.calls[0].startswith(f"uv in {fake.checkout.root}: pip compile --universal --generate-hashes")
    assert fake.calls[0].endswith("--output-file requirements.lock --upgrade")


def test_lock_without_uv_says_how_to_get_it(fake, capsys, monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    assert FAILED == verbs.main(["lock"])
    assert "-m pip install uv` and repeat the command." in capsys.readouterr().err


def test_a_signal_becomes_the_exit_code_that_shells_use(fake):
    verbs.prepare(fake.checkout)
    fake.program("dpaudit").write_text("#!/bin/sh\nkill -TERM $$\n", encoding="utf-8")
    assert 128 + 15 == verbs.main(["audit"])


def test_a_program_that_does_not_start_is_named(fake, capsys):
    verbs.prepare(fake.checkout)
    assert FAILED == verbs.main(["audit"])
    assert "delete .venv and repeat the command." in capsys.readouterr().err


def test_help_names_every_command(capsys):
    assert 0 == verbs.main([]) == verbs.main(["help"]) == verbs.main(["--help"])
    shown = capsys.readouterr().out
    assert all(f"\n  {name}" in shown for name in verbs.VERBS)


def test_an_unknown_command_is_answered_with_the_known_ones(capsys):
    assert FAILED == verbs.main(["tset"])
    assert "dev: there is no command 'tset'; the commands are audit, test, campaign, lint" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["campaign", "lint", "wheels", "help"])
def test_a_command_without_arguments_refuses_them(fake, capsys, verb):
    assert FAILED == verbs.main([verb, "--fix"])
    assert f"`dev {verb}` takes no arguments, got '--fix'" in capsys.readouterr().err
    assert [] == fake.steps


@pytest.mark.parametrize(("error", "code"), [(SetupFailure("it is broken; mend it."), FAILED), (KeyboardInterrupt(), 130)])
def test_a_failed_or_interrupted_set_up_ends_with_its_own_code_and_one_line(fake, capsys, error, code):
    fake.fail["create"] = error
    assert code == verbs.main(["test"])
    assert 1 == len([line for line in capsys.readouterr().err.splitlines() if "setting up" not in line])


def test_the_script_itself_runs_and_shows_its_help():
    ran = subprocess.run([sys.executable, ROOT / "dev", "help"], capture_output=True, text=True, check=False)
    assert (0, "") == (ran.returncode, ran.stderr)
    assert "python3 dev COMMAND" in ran.stdout


def test_the_lock_file_is_read_as_requirements_and_digests():
    text = "one==1 ; sys_platform == 'win32' \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
    text += "two-three==2 \\\n    --hash=sha256:cc\n"
    expected = {
        "one": ("one==1 ; sys_platform == 'win32'", frozenset({"aa", "bb"})),
        "two-three": ("two-three==2", frozenset({"cc"})),
    }
    assert expected == locked_packages(text)


@pytest.mark.parametrize(("digest", "missing"), [("00", []), ("11", ["the wheel of one is not among the locked files"])])
def test_wheels_compares_what_the_index_offers_with_what_is_locked(fake, digest, missing):
    answer = {"install": [{"metadata": {"name": "One"}, "download_info": {"archive_info": {"hashes": {"sha256": digest}}}}]}
    verbs.prepare(fake.checkout)
    fake.program("python", output=json.dumps(answer))
    assert [f"Python {version}: {line}" for version in PYTHONS for line in missing] == missing_wheels(fake.checkout)
    assert all("--only-binary :all:" in call for call in fake.calls)
    assert bool(missing) is bool(verbs.main(["wheels"]))


def ci(folder: Path, *codes: int) -> tuple[int, list[str]]:
    """Exit code of `.ci/run` and the commands it gave, with a python3 that only takes note of them."""
    (folder / ".ci").mkdir()
    run = folder / ".ci" / "run"
    run.write_bytes((ROOT / ".ci" / "run").read_bytes())
    python = folder / "python3"
    python.write_text(
        f'#!/bin/sh\necho "$*" >> "{folder}/calls"\n'
        + "".join(f'[ "$2" = {verb} ] && exit {code}\n' for verb, code in zip(STEPS, codes, strict=True)),
        encoding="utf-8",
    )
    python.chmod(0o755)
    search = os.pathsep.join([str(folder), os.environ["PATH"]])
    ran = subprocess.run(["bash", run], env={**os.environ, "PATH": search}, check=False, cwd="/", stdin=subprocess.DEVNULL)  # noqa: S607
    return ran.returncode, (folder / "calls").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("codes", "expected"), [((0, 0, 0), 0), ((1, 0, 0), 1), ((0, 1, 0), 1), ((1, 4, 0), 1), ((0, 0, 2), 2)])
def test_ci_runs_every_step_and_fails_when_one_does(tmp_path, codes, expected):
    code, calls = ci(tmp_path, *codes)
    # Lint runs beside the others, which keep their order.
    beside, *others = (f"dev {step}" for step in STEPS)
    assert (expected, others, len(STEPS)) == (code, [call for call in calls if call != beside], len(calls))
